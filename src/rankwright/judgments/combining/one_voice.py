"""Raters who copy from each other, or from the same source: their grades count once for each document.

A model of raters takes their errors for independent, so that copies would look like the most careful raters of all.
Two groups are assumed: raters who agree with each other on practically all that they share, and all others. Who is in
the first follows from pairs of grades of the same document, by expectation and maximisation. Careful raters agree, too,
but seldom on everything; and copies are merged only where that foretells held-out grades of all other raters better.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IdArray, IntArray, text_ids
from rankwright.judgments.combining.rater_model import RaterModel, fit_raters, learned_from
from rankwright.judgments.ratings import Ratings

MOST_NAMED = 5
MOST_STEPS, TOLERANCE = 50, 1e-4
FIRST_SHARE = 0.4  # of raters, those who agree most, that the search begins with
FIRST_CHANCES = (0.1, 0.7)  # of the others and of these
LEAST_AGREED = 0.99  # share of what copies share on which they agree; careful raters err more often
HIGHEST_AGREED = 0.98  # the same, as the search may think
LEAST_GAP = 0.2  # between that and how often others agree
LEAST_SHARE, MOST_SHARE = 0.01, 0.6  # of raters who copy, as the search may think
FOLDS, FEWEST = 3, 10  # for held-out grades, and how many there must be
FEWEST_OTHERS = 10  # raters: what few others say does not tell copies from the only careful raters
SURE = 2.0  # standard errors by which others are to be foretold better
LEAST_CHANCE = 1e-6  # of a held-out grade


@dataclass(frozen=True, slots=True, eq=False)
class OneVoice:
    """Raters whose grades count once, and how often they, and others, give a document the same grade."""

    raters: IntArray
    agreed: float
    others_agreed: float

    def names(self, rater_ids: IdArray) -> list[str]:
        """What these raters are called, by the ids of all."""
        return [str(name) for name in text_ids(rater_ids[self.raters]).tolist()]

    def told(self, rater_ids: IdArray) -> str:
        """The same in words."""
        names = self.names(rater_ids)
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        who = f"{', '.join(names[:MOST_NAMED])}{more} agree on {self.agreed:.0%} of what they share"
        return f"{who}, others on {self.others_agreed:.0%}: as copies of each other, they count once in combined labels"

    def merged(self, ratings: Ratings) -> Ratings:
        """The ratings with one grade of these raters for each pair, their most frequent one, by the first of them."""
        theirs = np.isin(ratings.raters, self.raters)
        own = ratings.take(theirs)
        first = np.zeros(len(theirs), np.bool_)
        first[np.flatnonzero(theirs)[np.unique(own.pairs, return_index=True)[1]]] = True
        one = replace(
            ratings,
            raters=np.where(theirs, self.raters[0], ratings.raters).astype(np.int32),
            levels=np.where(theirs, own.counts().argmax(axis=1)[ratings.pairs], ratings.levels).astype(np.int32),
        ).take(~theirs | first)
        order = np.lexsort((one.raters, one.pairs))
        return replace(one, pairs=one.pairs[order], raters=one.raters[order], levels=one.levels[order])

    def known(self, model: RaterModel) -> RaterModel:
        """The model of merged ratings, in which all of these raters are what was learned of their voice."""
        arrays = (model.log_confusion, model.confusion, model.leniency, model.careless)
        for array in arrays:
            array[self.raters] = array[self.raters[0]]
        return model


def one_voice(ratings: Ratings, *, model: str = "ordinal", trusted: IntArray | None = None) -> OneVoice | None:
    """The raters who seem to be copies; None where there are none, or where too little overlaps to tell."""
    learned = learned_from(ratings)
    found = _agreeing(learned, trusted)
    if found is None:
        return None
    gains = np.concatenate([*_gains(learned, found, model, trusted), np.empty(0)])
    if len(gains) < FEWEST:
        return None
    return found if gains.sum() > SURE * np.sqrt((gains**2).sum()) else None


def _agreeing(ratings: Ratings, trusted: IntArray | None) -> OneVoice | None:
    """The raters who agree on practically all that they share, where others do not."""
    pairs, raters = ratings.pairs.astype(np.int64), ratings.raters
    cells = pairs * ratings.n_levels + ratings.levels

    def sums(of: IntArray, weights: Float64Array) -> Float64Array:
        return np.asarray(np.bincount(of, weights=weights), np.float64)

    ones = np.ones(len(pairs))
    n_same, n_shared = sums(cells, ones)[cells] - 1, sums(pairs, ones)[pairs] - 1
    all_same, all_shared = float(n_same.sum()), float(n_shared.sum())
    shared = np.bincount(raters, weights=n_shared, minlength=ratings.n_raters)
    rates = np.bincount(raters, weights=n_same, minlength=ratings.n_raters) / np.maximum(shared, 1)
    if (shared > 0).sum() < FEWEST_OTHERS + 2:
        return None
    chance = np.where(rates >= np.quantile(rates[shared > 0], 1 - FIRST_SHARE), FIRST_CHANCES[1], FIRST_CHANCES[0])
    share = FIRST_SHARE
    for _ in range(MOST_STEPS):
        own = chance[raters]
        same, every = sums(cells, own)[cells] - own, sums(pairs, own)[pairs] - own
        both, both_same = float(own @ every), float(own @ same)
        agreed = float(np.clip((both_same + 1) / (both + 1), 0.5, HIGHEST_AGREED))
        others = (all_same - both_same + 1) / (all_shared - both + 2)
        told = same * np.log(agreed / others) + (every - same) * np.log((1 - agreed) / (1 - others))
        score = np.bincount(raters, weights=told, minlength=ratings.n_raters) + np.log(share / (1 - share))
        before, chance = chance, 1 / (1 + np.exp(-np.clip(score, -30, 30)))
        chance[shared == 0] = 0.0
        chance[[] if trusted is None else trusted] = 0.0
        share = float(np.clip((chance.sum() + 0.5) / (ratings.n_raters + 5), LEAST_SHARE, MOST_SHARE))
        if float(np.abs(chance - before).mean()) < TOLERANCE:
            break
    is_one = chance > 0.5
    own = is_one[raters].astype(np.float64)
    both, both_same = float(own @ (sums(pairs, own)[pairs] - own)), float(own @ (sums(cells, own)[cells] - own))
    if both == 0 or (~is_one & (shared > 0)).sum() < FEWEST_OTHERS:
        return None
    agreed, others = both_same / both, (all_same - both_same) / (all_shared - both)
    if agreed < LEAST_AGREED or agreed - others < LEAST_GAP:
        return None
    return OneVoice(np.flatnonzero(is_one), agreed, others)


def _gains(ratings: Ratings, voice: OneVoice, model: str, trusted: IntArray | None) -> Iterator[Float64Array]:
    """By how much better held-out grades of others are foretold where the voice counts once, in logarithms."""
    merged = voice.merged(ratings)
    theirs = np.isin(ratings.raters, voice.raters)
    n_theirs = np.bincount(ratings.pairs, weights=theirs, minlength=ratings.n_pairs)
    candidates = np.flatnonzero((n_theirs[ratings.pairs] >= 2) & ~theirs)
    keys = _keys(ratings)[candidates]
    for fold in range(FOLDS if len(candidates) >= FEWEST else 0):
        apart, once = (
            _log_chances(some, np.isin(_keys(some), keys[fold::FOLDS]), model, trusted) for some in (ratings, merged)
        )
        yield once - apart


def _keys(ratings: Ratings) -> IntArray:
    return np.asarray(ratings.pairs.astype(np.int64) * ratings.n_raters + ratings.raters, np.int64)


def _log_chances(ratings: Ratings, held: BoolArray, model: str, trusted: IntArray | None) -> Float64Array:
    """The logarithm of how likely held-out grades are, by what the others tell."""
    seen, unseen = ratings.take(~held), ratings.take(held)
    fitted = fit_raters(seen, model=model, trusted=trusted)
    given = fitted.confusion[unseen.raters, :, unseen.levels]
    likely = (fitted.chances(seen)[unseen.pairs] * given).sum(axis=1)
    return np.asarray(np.log(np.maximum(likely, LEAST_CHANCE)), np.float64)

"""What judgments tell before they are used: coverage, agreement, what raters are like, and what contradicts itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IdArray, Int32Array, IntArray, text_ids
from rankwright.data.frames import Tabular
from rankwright.errors import require_type
from rankwright.judgments.agreement import (
    DISTANCES,
    Coefficient,
    RaterPair,
    SharedCounts,
    fleiss_kappa,
    krippendorff_alpha,
    rater_pairs,
    shared_rows,
)
from rankwright.judgments.combining.one_voice import OneVoice, one_voice
from rankwright.judgments.combining.rater_model import fit_raters
from rankwright.judgments.judgment_table import KINDS, Judgments
from rankwright.judgments.ratings import NO_REPEATS, Ratings, Repeats, ratings_of
from rankwright.metrics.confidence_intervals import HALF_WIDTH, Interval, none_unless_finite
from rankwright.progress.stages import announce
from rankwright.tables.text import ShownTable, ShownTables, counted

FEWEST_SHARED = 5  # grades that a rater must share with others before anything is said of it
CARELESS = 0.4  # the share of answers that have nothing to do with the truth, above which a rater is called careless
FAR_OFF = 0.25  # levels by which a strict or lenient rater differs from others, at least
SUSPICIOUS = 20  # documents on which raters agree without exception
MOST_SHOWN = 20  # raters and pairs of raters in a table for people


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """What is known of one rater.

    Attributes
    ----------
    rater, kind : str
        Its name, and whether it is a person, a model or a source of clicks.
    n_judgments, n_shared, n_flips : int
        How many judgments it made, how many grades others gave the same documents too, and how many documents it
        graded twice and differently.
    mean : float
        Its mean grade.
    leniency, interval : float, Interval
        How far its grades lie above those of others on the same documents, on average, and the 95 % interval.
    same : float
        The share of other raters' grades of the same documents that are equal to its own.
    careless : float
        The expected share of its answers that have nothing to do with the document.
    """

    rater: str
    kind: str
    n_judgments: int
    n_shared: int
    mean: float
    leniency: float
    interval: Interval
    same: float
    careless: float
    n_flips: int

    @property
    def verdict(self) -> str:
        """In a word or two, what to know of the rater."""
        if self.n_judgments == 1:
            return "one judgment"
        if self.n_shared < FEWEST_SHARED:
            return "too little shared to tell"
        words = []
        if self.careless > CARELESS:
            words.append("careless")
        if abs(self.leniency) > FAR_OFF and not self.interval.low <= 0 <= self.interval.high:
            words.append("lenient" if self.leniency > 0 else "strict")
        return ", ".join(words)

    def to_dict(self) -> dict[str, Any]:
        """The figures in types JSON can hold."""
        return {
            "rater": self.rater,
            "kind": self.kind,
            "judgments": self.n_judgments,
            "shared": self.n_shared,
            "mean": none_unless_finite(self.mean),
            "leniency": {"mean": none_unless_finite(self.leniency)} | self.interval.to_dict(),
            "same": none_unless_finite(self.same),
            "careless": none_unless_finite(self.careless),
            "flips": self.n_flips,
            "verdict": self.verdict,
        }


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class JudgmentSummary(Tabular):
    """What judgments tell of themselves. Print it for tables; `summarise_judgments` makes it.

    Attributes
    ----------
    counts : mapping from str to int
        How many judgments, queries, documents, raters and preferences there are, and how many documents were graded
        by two raters or more.
    scale : array of float64
        The grades that were given.
    alpha : mapping from str to Coefficient
        Krippendorff's α by how grades are compared: `nominal`, `ordinal`, `interval`.
    fleiss : Coefficient
        Fleiss' κ.
    raters : sequence of RaterSummary
        What is known of each rater.
    rater_pairs : sequence of dict
        Cohen's κ of raters who judged the same documents, those that share most first.
    n_rater_pairs : int
        How many pairs of raters share documents; κ is told of the first thousand.
    contradictions : mapping from str to int
        Documents that a rater judged twice alike (`judged twice`), or differently (`flipped`); of these, those without
        times that tell which grade came last, which are left out (`undecided`); pairs of documents of which raters
        prefer either one (`preferences both ways`), and the same by one rater (`by one rater`).
    problems : mapping from str to int
        What was wrong in the files, and how often.
    first_problems : mapping from str to str
        Where each was found first.
    repeats : Repeats
        What was judged twice.
    voice : OneVoice or None
        Raters who seem to copy from each other, or from the same source.
    rater_ids : array of int64 or str
        The raters' names.
    """

    counts: Mapping[str, int]
    scale: Float64Array
    alpha: Mapping[str, Coefficient]
    fleiss: Coefficient
    raters: Sequence[RaterSummary]
    rater_pairs: Sequence[Mapping[str, Any]]
    n_rater_pairs: int
    contradictions: Mapping[str, int]
    problems: Mapping[str, int]
    first_problems: Mapping[str, str]
    repeats: Repeats
    voice: OneVoice | None
    rater_ids: IdArray

    def to_dict(self) -> dict[str, Any]:
        """Return all of it in types that JSON can hold, as `rankwright judgments --json` prints it."""
        pairs = [
            {**pair, "kappa": pair["kappa"].to_dict(), "weighted_kappa": pair["weighted_kappa"].to_dict()}
            for pair in self.rater_pairs
        ]
        return {
            **self.counts,
            "scale": self.scale.tolist(),
            "krippendorff_alpha": {name: one.to_dict() for name, one in self.alpha.items()},
            "fleiss_kappa": self.fleiss.to_dict(),
            "raters_in_detail": [one.to_dict() for one in self.raters],
            "rater_pairs": pairs,
            "rater_pairs_that_overlap": self.n_rater_pairs,
            "contradictions": dict(self.contradictions),
            "problems": dict(self.problems),
            "one_voice": [] if self.voice is None else self.voice.names(self.rater_ids),
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the raters as columns by name."""
        rows = [one.to_dict() for one in self.raters]
        flat = [row | {"leniency": row["leniency"]["mean"]} for row in rows]
        return {name: [row[name] for row in flat] for name in flat[0]}

    def shown(self) -> ShownTables:
        """Return the tables as people read them."""
        pairs = [self._pairs_table()] if self.rater_pairs else []
        return ShownTables((self._agreement_table(), self._raters_table(), *pairs), tuple(self.notes))

    def _agreement_table(self) -> ShownTable:
        rows = [[f"Krippendorff's α, {name}", str(one), f"{one.n_pairs:,}"] for name, one in self.alpha.items()]
        rows.append(["Fleiss' κ", str(self.fleiss), f"{self.fleiss.n_pairs:,}"])
        return ShownTable(self.headline, ["agreement", "value (95 % interval)", "documents"], rows, ["documents"])

    @property
    def headline(self) -> str:
        """One line: how many judgments of what, by whom."""
        counts = self.counts
        what = f"{counted(counts['judgments'], 'judgment')} of {counted(counts['documents'], 'document')}"
        of = f"{what} of {counted(counts['queries'], 'query')} by {counted(counts['raters'], 'rater')}"
        grades = f"grades {self.scale[0]:g} to {self.scale[-1]:g}" if len(self.scale) else "no grades"
        return f"{of}; {grades}; {counted(counts['judged_by_several'], 'document')} judged by two raters or more"

    def _raters_table(self) -> ShownTable:
        names = ["rater", "verdict", "kind", "judgments", "shared", "mean", "leniency (95 %)", "same", "careless"]
        chosen = sorted(self.raters, key=lambda one: (-one.n_judgments, one.rater))[:MOST_SHOWN]
        rows = [
            [one.rater, one.verdict, one.kind, f"{one.n_judgments:,}", f"{one.n_shared:,}", _number(one.mean, ".2f"),
             _with_interval(one), _number(one.same, ".0%"), _number(one.careless, ".0%")]
            for one in chosen
        ]  # fmt: skip
        more = len(self.raters) - len(chosen)
        notes = [f"and {more:,} more raters: --json tells of all"] if more else []
        return ShownTable("Raters: how they differ from others on the same documents", names, rows, names[3:6], notes)

    def _pairs_table(self) -> ShownTable:
        rows = [
            [str(pair["first"]), str(pair["second"]), f"{pair['kappa'].n_pairs:,}", str(pair["kappa"]),
             str(pair["weighted_kappa"])]
            for pair in self.rater_pairs[:MOST_SHOWN]
        ]  # fmt: skip
        more = self.n_rater_pairs - len(rows)
        notes = [f"and {more:,} more pairs of raters: --json tells of the first 1,000"] if more else []
        names = ["rater", "other", "documents", "Cohen's κ", "κ, quadratic weights"]
        return ShownTable("Pairs of raters: agreement on documents that both judged", names, rows, names[2:], notes)

    @property
    def notes(self) -> list[str]:
        """What contradicts itself and what could not be used, a line each."""
        texts = {
            "preferences both ways": "of which raters prefer one or the other",
            "by one rater": "of which the same rater prefers one and the other",
        }
        lines = self.repeats.told + [f"{counted(count, 'pair')} of documents {text}"
                  for name, text in texts.items() if (count := self.contradictions[name])]  # fmt: skip
        lines += [f"{problem}: {count:,}, left out (first at {self.first_problems[problem]})"
                  for problem, count in self.problems.items()]  # fmt: skip
        if self.voice is not None:
            lines.append(self.voice.told(self.rater_ids))
        if self.alpha["nominal"].value == 1 and self.counts["judged_by_several"] >= SUSPICIOUS:
            lines.append("raters agree on every document that they share: the grades of one may be copies of another's")
        if self.counts["judged_by_several"] == 0:
            lines.append("no document was judged by two raters: agreement cannot be told")
        return lines


def _number(value: float, style: str) -> str:
    return "-" if math.isnan(value) else format(value, style)


def _with_interval(one: RaterSummary) -> str:
    if math.isnan(one.leniency):
        return "-"
    if math.isnan(one.interval.low):
        return f"{one.leniency:+.2f}"
    return f"{one.leniency:+.2f} ({one.interval.low:+.2f} to {one.interval.high:+.2f})"


def summarise_judgments(judgments: Judgments) -> JudgmentSummary:
    """Tell coverage, agreement, what raters are like, and what contradicts itself.

    Parameters
    ----------
    judgments : Judgments
        The judgments.

    Returns
    -------
    JudgmentSummary
        The figures; print it for tables.

    Examples
    --------
    >>> import rankwright as rw
    >>> one = rw.judgments.Judgment
    >>> graded = [one("q", d, r, g) for d, r, g in (("a", "ann", 2), ("a", "bob", 2), ("b", "ann", 0), ("b", "bob", 1))]
    >>> round(rw.judgments.summarise_judgments(rw.judgments.gather(graded)).alpha["interval"].value, 3)
    0.727
    """
    require_type(judgments, Judgments, "judgments", "Judgments, as read_judgments gives them")
    announce("measuring agreement")
    is_grade = judgments.is_grade
    counts = {
        "judgments": len(judgments),
        "preferences": int((~is_grade).sum()),
        "queries": len(judgments.query_ids),
        "documents": judgments.n_pairs,
        "raters": len(judgments.rater_ids),
    }
    counts |= {f"{kind}_raters": int((judgments.kinds == place).sum()) for place, kind in enumerate(KINDS)}
    ratings = ratings_of(judgments) if is_grade.any() else None
    repeats = NO_REPEATS if ratings is None else ratings.repeats
    alpha, fleiss = _agreement(ratings)
    pairs, n_pairs = ([], 0) if ratings is None else rater_pairs(ratings)
    voice = None if ratings is None else one_voice(ratings)
    names = text_ids(judgments.rater_ids).tolist()
    return JudgmentSummary(
        counts | {"judged_by_several": fleiss.n_pairs},
        np.empty(0) if ratings is None else ratings.scale,
        alpha,
        fleiss,
        _raters(judgments, ratings, voice),
        [_named_pair(pair, names) for pair in pairs],
        n_pairs,
        repeats.to_dict() | _contradictions(judgments),
        judgments.problems,
        judgments.first_problems,
        repeats,
        voice,
        judgments.rater_ids,
    )


def _agreement(ratings: Ratings | None) -> tuple[dict[str, Coefficient], Coefficient]:
    """Krippendorff's α by how grades are compared, and Fleiss' κ."""
    if ratings is None:
        nothing = Coefficient.undefined(0)
        return dict.fromkeys(DISTANCES, nothing), nothing
    shared = SharedCounts.of(ratings)
    return {kind: krippendorff_alpha(shared, kind) for kind in DISTANCES}, fleiss_kappa(shared)


def _named_pair(pair: RaterPair, names: Sequence[str]) -> dict[str, Any]:
    both = {"first": names[pair.first], "second": names[pair.second]}
    return both | {"kappa": pair.kappa, "weighted_kappa": pair.weighted}


def _raters(judgments: Judgments, ratings: Ratings | None, voice: OneVoice | None) -> list[RaterSummary]:
    """What is known of each rater, by name."""
    n_raters = len(judgments.rater_ids)
    n_judgments = np.bincount(judgments.raters, minlength=n_raters)
    if ratings is None or not len(ratings.pairs):
        absent = np.full(n_raters, np.nan)
        mean = leniency = low = high = same = careless = absent
        shared, flips = np.zeros(n_raters, np.int64), np.zeros(n_raters, np.int64)
    else:
        mean = _mean_of(ratings.raters, ratings.scale[ratings.levels], n_raters)
        shared, leniency, low, high = _leniency(ratings)
        same = _same(ratings)
        fitted = fit_raters(ratings) if voice is None else voice.known(fit_raters(voice.merged(ratings)))
        careless = np.where(shared >= FEWEST_SHARED, fitted.careless, np.nan)
        flips = ratings.repeats.flips_of_rater
    names = text_ids(judgments.rater_ids).tolist()
    columns = (n_judgments, shared, mean, leniency, low, high, same, careless, flips)
    return [
        RaterSummary(name, KINDS[kind], count, n_shared, average, off, Interval(below, above), alike, blind, n_flips)
        for name, kind, (count, n_shared, average, off, below, above, alike, blind, n_flips) in zip(
            names, judgments.kinds.tolist(), zip(*(one.tolist() for one in columns), strict=True), strict=True
        )
    ]


def _mean_of(groups: IntArray | Int32Array, values: Float64Array, n_groups: int) -> Float64Array:
    sums, counts = np.bincount(groups, weights=values, minlength=n_groups), np.bincount(groups, minlength=n_groups)
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts, np.float64)


def _leniency(ratings: Ratings) -> tuple[IntArray, Float64Array, Float64Array, Float64Array]:
    """How many grades of each rater others gave too, how far it lies above those on average, and the interval."""
    grades, sizes = ratings.scale[ratings.levels], ratings.sizes[ratings.pairs]
    sums = np.bincount(ratings.pairs, weights=grades, minlength=ratings.n_pairs)[ratings.pairs]
    is_shared = sizes >= 2
    above = (grades - (sums - grades) / np.maximum(sizes - 1, 1))[is_shared]
    raters = ratings.raters[is_shared]
    counts = np.bincount(raters, minlength=ratings.n_raters)
    mean = _mean_of(raters, above, ratings.n_raters)
    squares = np.bincount(raters, weights=(above - mean[raters]) ** 2, minlength=ratings.n_raters)
    with np.errstate(invalid="ignore", divide="ignore"):
        error = np.where(counts >= 2, np.sqrt(squares / (counts - 1) / counts), np.nan)
    return counts, mean, mean - HALF_WIDTH * error, mean + HALF_WIDTH * error


def _same(ratings: Ratings) -> Float64Array:
    """The share of other raters' grades of the same documents that are equal to a rater's own."""
    alike, compared = np.zeros(ratings.n_raters), np.zeros(ratings.n_raters)
    for first, second in shared_rows(ratings):
        equal = (ratings.levels[first] == ratings.levels[second]).astype(np.float64)
        for rows in (first, second):
            alike += np.bincount(ratings.raters[rows], weights=equal, minlength=ratings.n_raters)
            compared += np.bincount(ratings.raters[rows], minlength=ratings.n_raters)
    with np.errstate(invalid="ignore"):
        return np.asarray(alike / compared, np.float64)


def _contradictions(judgments: Judgments) -> dict[str, int]:
    """Pairs of documents that were preferred both ways."""
    told = judgments.preferred()
    first, second = np.minimum(told.documents, told.others), np.maximum(told.documents, told.others)
    for_first = np.where(told.documents == first, told.values, 1 - told.values)
    ways = np.sign(for_first - 0.5).astype(np.int64)
    pairs = np.stack([told.queries, first, second], axis=1).astype(np.int64)
    return {
        "preferences both ways": _both_ways(pairs, ways),
        "by one rater": _both_ways(np.column_stack([pairs, told.raters]), ways),
    }


def _both_ways(keys: IntArray, ways: IntArray) -> int:
    """Of how many keys some rows go one way and some the other."""
    decided = ways != 0
    if not decided.any():
        return 0
    distinct = np.unique(np.column_stack([keys[decided], ways[decided]]), axis=0)
    _, times = np.unique(distinct[:, :-1], axis=0, return_counts=True)
    return int((times == 2).sum())

"""One label out of many grades, with the chances of all grades and a weight; and data to train on that has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IdArray, Int32Array, IntArray, text_ids
from rankwright.clicks.preferences import row_lookup
from rankwright.data.dataset import RankingDataset
from rankwright.data.frames import Tabular
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, UnknownNameError, require_type
from rankwright.formats.trec import Qrels
from rankwright.judgments.combining.held_out import HeldOutComparison, compare_held_out
from rankwright.judgments.combining.one_voice import OneVoice, one_voice
from rankwright.judgments.combining.rater_model import MODELS, RaterModel, fit_raters
from rankwright.judgments.combining.simple_labels import SIMPLE_LABELS
from rankwright.judgments.judgment_table import Judgments
from rankwright.judgments.ratings import Repeats, ratings_of
from rankwright.progress.stages import announce
from rankwright.tables.text import ShownTable, counted

METHODS = (*MODELS, *SIMPLE_LABELS)
LEAST_WEIGHT = 0.05  # of a label that is as uncertain as if nobody had judged
LEAST_DIFFERENCE = 0.01  # chance that two grades differ, below which they form no pair
VOTES_ADDED = 1.0  # to each side of a pair that raters compared, so that one vote is not certainty
ROWS_SHOWN = 10
HIGHEST_GAINED = 30.0  # the highest grade whose gain is 2^l - 1; higher ones are no grades for NDCG


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CombinedLabels(Tabular):
    """One label for each document that was graded. Print it for a table; `combine` makes it.

    Attributes
    ----------
    labels : array of float64
        The expected grade.
    chances : array of float64, shape (n_labels, n_grades)
        How likely each grade of `scale` is the true one.
    weights : array of float64
        How sure a label is, from 0.05 to 1: the share of the variance of grades that its judgments have settled.
    n_grades : array of int64
        How many raters graded each document.
    scale : array of float64
        The grades, ascending.
    queries, documents : array of int32
        What each label is of, as places in `query_ids` and `document_ids`.
    query_ids, document_ids, rater_ids : array of int64 or str
        The ids.
    method : str
        How grades were combined.
    share : float
        The share of the model in the labels; the rest is the mean of a document's grades. 1 where the model foretells
        held-out grades better.
    held_out : HeldOutComparison
        How well the model and simple rules foretell grades that were held out.
    raters : RaterModel or None
        What was learned of raters, where a model was.
    voice : OneVoice or None
        Raters who seem to copy from each other, or from the same source: their grades count once for each document.
    preferred : Judgments
        The preferences among the judgments, which `preferences_for` takes too.
    repeats : Repeats
        What a rater judged twice: the later grade counts, and none where no times tell which it is.
    """

    labels: Float64Array
    chances: Float64Array
    weights: Float64Array
    n_grades: IntArray
    scale: Float64Array
    queries: Int32Array
    documents: Int32Array
    query_ids: IdArray
    document_ids: IdArray
    rater_ids: IdArray
    method: str
    share: float
    held_out: HeldOutComparison
    raters: RaterModel | None
    voice: OneVoice | None
    preferred: Judgments
    repeats: Repeats

    def __len__(self) -> int:
        return len(self.labels)

    def qrels(self) -> Qrels:
        """Return the labels as TREC judgments.

        Returns
        -------
        Qrels
            A line for each document that was graded.
        """
        queries, documents = text_ids(self.query_ids[self.queries]), text_ids(self.document_ids[self.documents])
        return Qrels(queries, documents, self.labels)

    def labelled(self, data: RankingDataset, *, weights: bool = True) -> RankingDataset:
        """Return documents with labels to train on, and with weights.

        A label is the one whose gain, 2^l - 1, is the expected gain of the document: what NDCG adds up. It is the
        expected grade where grades are certain, and a little more elsewhere.

        Parameters
        ----------
        data : RankingDataset
            Documents with features and ids; those that nobody graded become unjudged.
        weights : bool, default True
            Whether documents get the weights of their labels, too.

        Returns
        -------
        RankingDataset
            The same documents, ready to train on.
        """
        rows = self._rows_in(data)
        labels = np.full(data.n_docs, np.nan, np.float32)
        labels[rows[rows >= 0]] = self._trained_labels()[rows >= 0]
        if not weights:
            return replace(data, labels=labels)
        of_row = np.ones(data.n_docs, np.float32)
        of_row[rows[rows >= 0]] = self.weights[rows >= 0]
        return replace(data, labels=labels, document_weights=of_row)

    def _trained_labels(self) -> Float64Array:
        """Labels whose gains are the expected ones; expected grades where a scale has grades below 0."""
        if self.scale[0] < 0 or self.scale[-1] > HIGHEST_GAINED:
            return self.labels
        return np.asarray(np.log2(1 + self.chances @ (2.0**self.scale - 1)), np.float64)

    def _rows_in(self, data: RankingDataset) -> IntArray:
        require_type(data, RankingDataset, "data", "a RankingDataset")
        rows: IntArray = row_lookup(data, self.query_ids, self.document_ids)(self.queries, self.documents)
        if not (rows >= 0).any():
            raise InputError("no document with a label is in the data: the ids of both must be the same")
        return rows

    def n_missing_from(self, data: RankingDataset) -> int:
        """Return how many labels are of documents that the data does not have.

        Parameters
        ----------
        data : RankingDataset
            Documents with ids.

        Returns
        -------
        int
            How many labels would be lost.
        """
        return int((self._rows_in(data) < 0).sum())

    def preferences_for(self, data: RankingDataset) -> RankingDataset:
        """Return documents with these labels, and pairs by the chance that one is better than the other.

        A pair's target is the chance that its first document has the higher grade, given that grades differ; its
        weight is the chance that they differ. What raters said of two documents side by side is added, with the share
        of the votes as target and their number as weight.

        Parameters
        ----------
        data : RankingDataset
            Documents with features and ids.

        Returns
        -------
        RankingDataset
            The same documents with labels and preferences, which rankers train on in place of pairs of labels.
        """
        labelled = self.labelled(data, weights=False)
        rows = self._rows_in(data)
        chances = np.full((data.n_docs, len(self.scale)), np.nan)
        chances[rows[rows >= 0]] = self.chances[rows >= 0]
        parts = [_pairs_of(chances[docs], docs.start) for docs in data.groups.slices()]
        parts.append(self._compared(data))
        better, worse, target, weight = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return replace(labelled, preferences=Preferences(better, worse, target, weight).sorted())

    def _compared(self, data: RankingDataset) -> tuple[IntArray, IntArray, Float64Array, Float64Array]:
        """Pairs that raters compared side by side, with their votes added up."""
        told = self.preferred
        place = row_lookup(data, told.query_ids, told.document_ids)
        one, other = place(told.queries, told.documents), place(told.queries, told.others)
        known = (one >= 0) & (other >= 0)
        one, other, votes = one[known], other[known], told.values[known].astype(np.float64)
        first, second = np.minimum(one, other), np.maximum(one, other)
        keys, at = np.unique(first * max(1, data.n_docs) + second, return_inverse=True)
        total = np.bincount(at, minlength=len(keys)).astype(np.float64)
        for_first = np.bincount(at, weights=np.where(one == first, votes, 1 - votes), minlength=len(keys))
        share = (for_first + VOTES_ADDED) / (total + 2 * VOTES_ADDED)
        first, second = keys // max(1, data.n_docs), keys % max(1, data.n_docs)
        ahead = share >= 0.5
        return np.where(ahead, first, second), np.where(ahead, second, first), np.maximum(share, 1 - share), total

    def to_dict(self) -> dict[str, Any]:
        """Return what was found, without the labels, in types that JSON can hold.

        Returns
        -------
        dict
            The method, the numbers of labels and grades, the model's share, and the comparison on held-out grades.
        """
        return {
            "method": self.method,
            "labels": len(self),
            "grades": int(self.n_grades.sum()),
            "scale": self.scale.tolist(),
            "share_of_model": self.share,
            "held_out": self.held_out.to_dict(),
            "mean_weight": float(self.weights.mean()),
            "repeats": self.repeats.to_dict(),
            "one_voice": [] if self.voice is None else self.voice.names(self.rater_ids),
            "preferences": len(self.preferred),
        }

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the labels by name, with ids: a row for each document that was graded."""
        chances = {f"chance_{grade:g}": self.chances[:, place].tolist() for place, grade in enumerate(self.scale)}
        return {
            "query": self.query_ids[self.queries].tolist(),
            "document": self.document_ids[self.documents].tolist(),
            "label": self.labels.tolist(),
            "weight": self.weights.tolist(),
            "grades": self.n_grades.tolist(),
        } | chances

    def shown(self) -> ShownTable:
        """Return the first labels as people read them."""
        names = ["query", "document", "label", "weight", "grades"]
        rows = list(self._first_rows())
        more = len(self) - len(rows)
        notes = (
            [f"and {more:,} more: `--out FILE` writes all of them, and `to_frame` gives them in Python"] if more else []
        )
        title = f"{counted(len(self), 'label')} from {counted(int(self.n_grades.sum()), 'grade')}, by {self.method}"
        return ShownTable(title, names, rows, names[2:], [*notes, *self.told])

    def _first_rows(self) -> Iterator[list[str]]:
        for row in range(min(ROWS_SHOWN, len(self))):
            ids = str(self.query_ids[self.queries[row]]), str(self.document_ids[self.documents[row]])
            yield [*ids, f"{self.labels[row]:.3f}", f"{self.weights[row]:.2f}", str(self.n_grades[row])]

    @property
    def told(self) -> list[str]:
        """What was judged twice or compared, and what the comparison on held-out grades found, in words."""
        apart = (
            []
            if not len(self.preferred)
            else [
                f"{counted(len(self.preferred), 'preference is', 'preferences are')} not in the labels: "
                "preferences_for (--preferences) adds what raters compared to the pairs"
            ]
        )
        copies = [] if self.voice is None else [self.voice.told(self.rater_ids)]
        return [*self.repeats.told, *copies, *apart, *([] if self.raters is None else self._comparison_told())]

    def _comparison_told(self) -> list[str]:
        share = f"the model's share in the labels is {self.share:.2f}, the rest is the mean of a document's grades"
        if not self.held_out.errors:
            few = f"({self.held_out.n_grades} could be held out)"
            return [f"too few grades overlap to learn what raters are like {few}", share]
        errors = ", ".join(f"{name} {error:.3f}" for name, error in self.held_out.errors.items())
        return [f"error in foretelling {self.held_out.n_grades:,} held-out grades: {errors}", share]


def combine(
    judgments: Judgments,
    *,
    method: str = "ordinal",
    trusted: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
) -> CombinedLabels:
    """Make one label of the grades of each document.

    Parameters
    ----------
    judgments : Judgments
        Grades of raters who overlap: what each is like is learned from documents that others graded, too.
    method : {"ordinal", "dawid-skene", "mean", "median", "majority"}, default "ordinal"
        The ordinal model describes a rater by leniency, noise, the spread of grades and carelessness, so that a few
        grades of each are enough. Dawid and Skene's learns a confusion matrix of each rater, which needs many.
    trusted : sequence of str, optional
        Raters whose grades are taken as unbiased: all others are measured by them.
    scale : tuple of two floats, optional
        The lowest and the highest grade, where nobody gave them; by default the scale is that of the grades.

    Returns
    -------
    CombinedLabels
        Expected grades, chances of all grades, and weights. They are the same for any order of the judgments.

    Examples
    --------
    >>> import rankwright as rw
    >>> one = rw.judgments.Judgment
    >>> told = rw.judgments.gather([one("q", "a", "ann", 2), one("q", "a", "bob", 1), one("q", "b", "bob", 0)])
    >>> rw.judgments.combine(told, method="mean").labels
    array([1.5, 0. ])
    """
    require_type(judgments, Judgments, "judgments", "Judgments, as read_judgments gives them")
    if method not in METHODS:
        raise UnknownNameError("method to combine grades", method, known=METHODS)
    announce("combining grades")
    ratings = ratings_of(judgments, scale)
    if not len(ratings.pairs):
        only_measured = "measurements alone say nothing of grades"
        why = only_measured if len(ratings.estimates.pairs) else ratings.repeats.told[-1]
        raise InputError(f"there are no grades on a scale to combine: {why}")
    places = judgments.places_of_raters(trusted, "trusted rater") if len(trusted) else None
    raters, voice, held_out, share = None, None, HeldOutComparison(0, {}, 1.0), 1.0
    if method in MODELS:
        voice = one_voice(ratings, model=method, trusted=places)
        heard = ratings if voice is None else voice.merged(ratings)
        raters = fit_raters(heard, model=method, trusted=places)
        chances = raters.chances(heard)
        held_out = compare_held_out(heard, model=method, trusted=places)
        share = held_out.share
        labels, chances = _blended(chances, heard.counts(), ratings.scale, share)
        raters = raters if voice is None else voice.known(raters)
    else:
        counts = ratings.counts()
        labels = SIMPLE_LABELS[method](counts, ratings.scale)
        chances = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    known = ~np.isnan(labels) & ratings.has_something
    return CombinedLabels(
        labels[known],
        chances[known],
        _weights(chances[known], ratings.scale, raters),
        ratings.sizes[known],
        ratings.scale,
        ratings.queries[known],
        ratings.documents[known],
        judgments.query_ids,
        judgments.document_ids,
        judgments.rater_ids,
        method,
        share,
        held_out,
        raters,
        voice,
        judgments.preferred(),
        ratings.repeats,
    )


def _blended(
    chances: Float64Array, counts: Float64Array, scale: Float64Array, share: float
) -> tuple[Float64Array, Float64Array]:
    """Labels and chances of which the model has a share, and the plain shares of a pair's grades the rest."""
    if share < 1:
        totals = counts.sum(axis=1, keepdims=True)
        plain = np.where(totals > 0, counts / np.maximum(totals, 1), chances)
        chances = share * chances + (1 - share) * plain
    return chances @ scale, chances


def _weights(chances: Float64Array, scale: Float64Array, raters: RaterModel | None) -> Float64Array:
    """The share of the variance of true grades that is settled; 1 for rules that know no chances."""
    if raters is None:
        return np.ones(len(chances))
    beforehand = float(raters.frequency @ scale**2 - (raters.frequency @ scale) ** 2)
    left = chances @ scale**2 - (chances @ scale) ** 2
    return np.asarray(np.clip(1 - left / max(beforehand, 1e-12), LEAST_WEIGHT, 1.0), np.float64)


def _pairs_of(chances: Float64Array, start: int) -> tuple[IntArray, IntArray, Float64Array, Float64Array]:
    """The pairs of a query whose grades may differ: rows, the chance that the first is better, and the weight."""
    rows = np.flatnonzero(~np.isnan(chances[:, 0]))
    first, second = (rows[one] for one in np.triu_indices(len(rows), k=1))
    below = np.cumsum(chances, axis=1) - chances  # of a lower grade than each
    ahead = (chances[first] * below[second]).sum(axis=1)
    behind = (chances[second] * below[first]).sum(axis=1)
    differ = ahead + behind
    kept = differ > LEAST_DIFFERENCE
    first, second, ahead, behind, differ = (one[kept] for one in (first, second, ahead, behind, differ))
    is_ahead = ahead >= behind
    better, worse = np.where(is_ahead, first, second) + start, np.where(is_ahead, second, first) + start
    return better, worse, np.maximum(ahead, behind) / differ, differ

"""Combined regression and ranking: stochastic descent on documents and pairs drawn in turn."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from rankwright import kernels
from rankwright.arrays import Arrays
from rankwright.features.missing import ROWS_AT_A_TIME
from rankwright.kernels.records import DrawnPairs, DrawnRows, DrawSettings
from rankwright.linear.linear_ranker import JudgedRows, LinearRanker, LinearRecipe
from rankwright.linear.settings import CRRSettings
from rankwright.training.driver import RemembersArrays

STIFFNESS = 4.0  # times the mean squared length of a document: about the most that a pair's difference has


def pairs_to_draw(rows: JudgedRows) -> DrawnPairs:
    """The places of each document's partners of other labels."""
    by_label = rows.by_label()
    labels, query = rows.labels[by_label], rows.groups.query_of_row[by_label]
    place = np.arange(len(by_label))
    begins = np.ones(len(by_label), np.bool_)
    begins[1:] = (labels[1:] != labels[:-1]) | (query[1:] != query[:-1])
    ends = np.append(begins[1:], True)[: len(by_label)]
    same_first = np.maximum.accumulate(np.where(begins, place, 0)) if len(place) else place
    same_last = np.minimum.accumulate(np.where(ends, place + 1, len(place))[::-1])[::-1] if len(place) else place
    n_partners = rows.groups.sizes[query] - (same_last - same_first)
    return DrawnPairs(
        by_label=by_label,
        query_first=rows.groups.offsets[query],
        same_first=same_first,
        same_last=np.ascontiguousarray(same_last),
        pairs_before=np.concatenate([[0], np.cumsum(n_partners)]),
    )


def mean_square(rows: JudgedRows) -> float:
    """The mean squared length of a document."""
    starts = range(0, len(rows.features), ROWS_AT_A_TIME)
    parts = (rows.features[start : start + ROWS_AT_A_TIME].astype(np.float64) for start in starts)
    return sum(float((part**2).sum()) for part in parts) / max(1, len(rows.features))


class CombinedDescent(RemembersArrays):
    """Weights that follow draws; an epoch has as many draws as there are documents."""

    remembered: ClassVar[tuple[str, ...]] = ("weights",)  # draws depend on the seed and their number alone

    def __init__(self, settings: CRRSettings, rows: JudgedRows, threads: int) -> None:
        self.documents = DrawnRows(rows.features, rows.labels, rows.weights, rows.document_weights)
        self.pairs, self.threads = pairs_to_draw(rows), threads
        stiffness = STIFFNESS * mean_square(rows) or 1.0
        key = int(np.random.default_rng(settings.seed).integers(2**63))
        self.draws = DrawSettings(settings.alpha, settings.l2, stiffness, settings.loss == "logistic", key)
        self.weights = np.zeros(rows.features.shape[1])

    def take_step(self, step: int) -> bool:
        """As many draws as there are documents."""
        n_docs = len(self.documents.labels)
        first, last = step * n_docs, (step + 1) * n_docs
        kernels.combined_draws(
            self.documents, self.pairs, self.draws, first, last, weights=self.weights, threads=self.threads
        )
        return True

    def model(self) -> Arrays:
        """The weights."""
        return {"weights": self.weights.copy()}


class CRR(LinearRanker, CRRSettings):
    """Minimises α · regression loss + (1 - α) · ranking loss + ½ · l2 · |w|², where `alpha` is α. With probability α a
    draw is a document, whose score is pulled to its label; else it is a pair of different labels of one query, and the
    difference of its scores is pulled to that of its labels. `loss="logistic"` regresses whether the label is above 0,
    and whether the first of a pair is the better one. Pairs are drawn evenly from all there are, without forming them.
    An epoch has as many draws as there are documents; the rate falls as 1 / (4 · mean |x|² + l2 · draws), and no step
    goes past the point of no error. `select` on validation documents chooses the epoch. A document's weight, times that
    of its query, multiplies its steps; for a pair, the weights of both documents do.
    """

    recipe = LinearRecipe(CombinedDescent, alone=True)

"""Position bias in clicks: what was found about it, a value that model files hold, and pairwise debiasing.

Pairwise debiasing learns along with a ranker how much clicks and their absence at each position count. After Unbiased
LambdaMART (Hu et al. 2019): of a pair of a clicked document and another, the first counts 1 / t⁺ of its position and
the second 1 / t⁻ of its own. Both ratios are those of what pairs at the position still cost, compared with the first
position. Here they are a function of the scores alone, so that training keeps no state between steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rankwright import kernels
from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.container.checks import read_field, read_number, read_number_list, read_optional_field
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.objectives.objective import GRADIENT_DTYPE, Judged, LambdaFn, Lambdas, Objective, finite_scores

FIGURES = ("fading", "better_than_position", "better_than_features", "trust", "effective_size")

ROUNDS = 2  # of finding each ratio from the other
POWER = 0.5  # that ratios of costs are raised to: less than 1 keeps rare positions from counting too much
LEAST_RATIO = 0.1  # so that no click counts more than ten times
STEADYING = 50  # all the data counts as this many queries more, where ratios come from a few (nets learn so)


class PositionRatios(NamedTuple):
    """How much more likely clicks, and their absence, are recorded at each position than at the first.

    Attributes
    ----------
    clicked : array of float64
        t⁺ of each position.
    other : array of float64
        t⁻ of each position.
    """

    clicked: Float64Array
    other: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Debiasing:
    """What was found about position bias in clicks, and what was done about it.

    Attributes
    ----------
    applied : bool
        Whether the bias was corrected.
    reason : str
        Why, or why not, in a sentence.
    examination : array of float64
        How likely each position is examined, relative to the first, where nothing was clicked above; empty where
        propensities were given.
    fading : float
        The share of the attention that a click above takes away, or one that satisfies: 0 in the position-based model,
        1 in the cascade model.
    held_out : dict from str to float
        The log-likelihood of held-out clicks of a document by its position alone, by its features alone, and by both.
    better_than_position, better_than_features : float
        By how many standard errors position and features together predict held-out clicks better than either alone.
    trust : float
        How far a document's own clicks count, on average, compared with what its features tell: from 0 to 1.
    effective_size : float
        How many documents with equal weights would tell as much as the examined ones: (Σ w)² / Σ w² of inverse
        examinations.
    ratios : PositionRatios or None
        How much each position counts, where documents were weighed during training (`debias="pairwise"`).
    """

    applied: bool
    reason: str
    examination: Float64Array
    fading: float
    held_out: Mapping[str, float]
    better_than_position: float
    better_than_features: float
    trust: float
    effective_size: float
    ratios: PositionRatios | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give all of it in types that JSON can hold.

        Returns
        -------
        dict
            What `from_dict` reads.
        """
        ratios = self.ratios and {"clicked": self.ratios.clicked.tolist(), "other": self.ratios.other.tolist()}
        return {
            "applied": self.applied,
            "reason": self.reason,
            "examination": self.examination.tolist(),
            "held_out": dict(self.held_out),
            "ratios": ratios,
        } | {name: float(getattr(self, name)) for name in FIGURES}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Debiasing:
        """Read what a file holds.

        Parameters
        ----------
        stored : mapping
            What `to_dict` gave.

        Returns
        -------
        Debiasing
            The same.
        """
        held_out, ratios = read_field(stored, "held_out", dict), read_optional_field(stored, "ratios", dict)
        curves = None if ratios is None else [np.array(read_number_list(ratios, name)) for name in ("clicked", "other")]
        return cls(
            applied=read_field(stored, "applied", bool),
            reason=read_field(stored, "reason", str),
            examination=np.array(read_number_list(stored, "examination")),
            held_out={name: read_number(held_out, name) for name in held_out},
            ratios=None if curves is None else PositionRatios(*curves),
            **{name: read_number(stored, name) for name in FIGURES},
        )


@dataclass(frozen=True, slots=True)
class PairwiseDebiased:
    """An objective whose documents are weighed anew at every step, by the positions at which they were shown."""

    objective: Objective

    @property
    def name(self) -> str:
        """The name of the objective that is debiased."""
        return self.objective.name

    def bind(self, dataset: Judged, *, threads: int = 1, dtype: type[np.floating[Any]] = GRADIENT_DTYPE) -> LambdaFn:
        """Return the λ-function of a dataset of clicks; see `Objective.bind`."""
        documents: Any = getattr(dataset, "documents", dataset)  # a binned dataset's, without features
        alike = PositionRatios(*np.ones((2, _n_positions(documents))))
        costs = _position_costs(documents, np.zeros(documents.n_docs), alike, threads)
        usual = costs / max(documents.n_queries, 1)
        return _BoundPairs(self.objective, documents, usual, threads, dtype)


@dataclass(frozen=True, slots=True, eq=False)
class _BoundPairs:
    objective: Objective
    data: RankingDataset
    usual: Float64Array  # costs of positions before anything is learned, per query
    threads: int
    dtype: type[np.floating[Any]]

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas:
        """Return the forces on documents; see `LambdaFn`."""
        data = self.data if queries is None else self.data.take_queries(np.asarray(queries))
        values = finite_scores(scores, length=data.n_docs)
        beside = None if queries is None else self.usual * STEADYING
        ratios = position_ratios(data, values, threads=self.threads, beside=beside)
        weighed = replace(data, document_weights=_weights(data, ratios))
        return self.objective.bind(weighed, threads=self.threads, dtype=self.dtype)(values, key=key)


def position_ratios(
    data: RankingDataset, scores: Float64Array, *, threads: int = 1, beside: Float64Array | None = None
) -> PositionRatios:
    """The ratios of all positions, from what pairs still cost under the scores plus the costs `beside`."""
    n = _n_positions(data) if beside is None else beside.shape[1]
    ratios = PositionRatios(np.ones(n), np.ones(n))
    for _ in range(ROUNDS):
        costs = _position_costs(data, scores, ratios, threads)
        ratios = PositionRatios(*map(_ratio, costs if beside is None else costs + beside))
    return ratios


def _n_positions(data: RankingDataset) -> int:
    return int(check_clicks(data)[1].max(initial=0)) + 1


def _position_costs(data: RankingDataset, scores: Float64Array, ratios: PositionRatios, threads: int) -> Float64Array:
    """What pairs cost at each position, of clicks and of others."""
    (labels, positions), costs = check_clicks(data), np.empty((2, len(ratios.clicked)))
    weights = 1 / ratios.clicked, 1 / ratios.other
    kernels.position_losses(data.groups.offsets, labels, scores, positions, *weights, costs[0], costs[1], threads)
    return costs


def _ratio(costs: Float64Array) -> Float64Array:
    if not costs[0] > 0:
        return np.ones(len(costs))
    ratios = (costs / costs[0]) ** POWER
    return np.where(costs > 0, np.maximum(ratios, LEAST_RATIO), 1.0)


def check_clicks(data: RankingDataset) -> tuple[Float32Array, IntArray]:
    """The clicks, 0 or 1, and their positions; raises an error if labels are not such clicks."""
    if data.labels is None or data.positions is None:
        raise InputError("pairwise debiasing needs clicks as labels, with the position of each document")
    if not np.isin(data.labels[~np.isnan(data.labels)], (0, 1)).all():
        raise InputError("pairwise debiasing needs clicks, 0 or 1, not click rates: leave debias at auto for those")
    return data.labels, data.positions


def _weights(data: RankingDataset, ratios: PositionRatios) -> Float32Array:
    labels, positions = check_clicks(data)
    weights = np.where(labels > 0, 1 / ratios.clicked[positions], 1 / ratios.other[positions])
    own = 1.0 if data.document_weights is None else data.document_weights
    return (weights * own).astype(np.float32)

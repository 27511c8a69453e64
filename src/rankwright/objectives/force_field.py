"""The forces on one query's documents as a function of their scores: values, derivatives, jumps and integrals.

Everything is in float64. The random choices of an objective are made from one key, so that it is the same function at
every call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray, as_vector
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.objectives.objective import LambdaFn, Lambdas, Objective

KEY = 0
DOCS_AT_ONCE = 1_000_000  # the most documents, over all points, in one call
STEP = 1e-6  # of a difference quotient, whose errors, about STEP² and 1e-16 / STEP, are far below what matters
NEAR = 1e-10  # how far from a rank change its two sides are looked at
MOST_HALVINGS = 48


def _lobatto(n_nodes: int) -> tuple[Float64Array, Float64Array]:
    """The nodes between -1 and 1, and their weights. The ends are nodes too, so that a kink next to an end is noticed.

    The ends lie slightly inside, on this side of a rank change.
    """
    legendre = np.polynomial.Legendre.basis(n_nodes - 1)
    nodes = np.concatenate([[-1.0], np.real(legendre.deriv().roots()), [1.0]])
    return np.clip(nodes, -1.0 + 1e-9, 1.0 - 1e-9), 2.0 / (n_nodes * (n_nodes - 1) * legendre(nodes) ** 2)


NODES, NODE_WEIGHTS = _lobatto(9)


@dataclass(frozen=True, slots=True, eq=False)
class ForceField:
    """The λ-function of one query; `kinks` are the gaps between two scores at which forces may not be smooth."""

    forces: LambdaFn
    n_docs: int
    kinks: Float64Array

    @classmethod
    def of(cls, objective: Objective, query: ArrayLike | RankingDataset, kinks: Sequence[float] = ()) -> ForceField:
        """The forces on the documents of a query, given by its labels, or as a dataset of one query.

        `kinks` are further gaps, besides 0, where ranks change, and those that the objective's pair loss has.
        """
        if not isinstance(query, RankingDataset):
            labels = as_vector(query, name="labels", dtype=np.float32)
            query = RankingDataset.from_arrays(np.zeros((len(labels), 0)), labels, group=[len(labels)])
        if query.n_queries != 1:
            raise InputError(f"forces are looked at one query at a time, but the dataset has {query.n_queries}")
        gaps = np.array([0.0, *getattr(objective, "kinks", ()), *kinks])
        return cls(objective.bind(query, dtype=np.float64), query.n_docs, np.unique([-gaps, gaps]))

    def gradient(self, points: Float64Array) -> Float64Array:
        """The gradient dC/ds at each point: a row of forces for each row of scores (Burges's λ is their negative)."""
        parts = [self._at(points[chunk]).gradient.reshape(-1, self.n_docs) for chunk in self._chunks(len(points))]
        return np.concatenate([np.empty((0, self.n_docs)), *parts])

    def cost(self, points: Float64Array) -> Float64Array:
        """The objective's own cost at each point; NaN where it has none."""
        return np.concatenate([np.empty(0), *(self._at(points[chunk]).cost for chunk in self._chunks(len(points)))])

    def jacobian(self, scores: Float64Array, documents: IntArray) -> Float64Array:
        """∂g_i/∂s_j of the given documents at `scores`, by differences that cross no rank change."""
        ordered = np.sort(scores)
        place = np.searchsorted(ordered, scores[documents])
        gaps = np.concatenate([[np.inf], np.diff(ordered), [np.inf]])
        steps = np.minimum(STEP, np.minimum(gaps[place], gaps[place + 1]) / 4)
        moved = np.tile(scores, (2, len(documents), 1))
        each = np.arange(len(documents))
        moved[0, each, documents] += steps
        moved[1, each, documents] -= steps
        widths = moved[0, each, documents] - moved[1, each, documents]  # what the sums came to
        above, below = self.gradient(moved.reshape(-1, self.n_docs)).reshape(moved.shape)
        return np.asarray(((above - below) / widths[:, None])[:, documents].T, np.float64)

    def jump(self, scores: Float64Array, a: int, b: int) -> Float64Array:
        """The change of all forces as `a`, coming from below, overtakes `b`."""
        sides = np.tile(scores, (2, 1))
        sides[:, a] = scores[b] + NEAR * np.array([1.0, -1.0])
        above, below = self.gradient(sides)
        return np.asarray(above - below, np.float64)

    def work_of_move(self, scores: Float64Array, document: int, target: float) -> float:
        """The integral of the gradient as one document moves to `target`: the growth of the cost."""
        start = float(scores[document])

        def force(values: Float64Array) -> Float64Array:
            points = np.tile(scores, (len(values), 1))
            points[:, document] = values
            return self.gradient(points)[:, document]

        low, high = sorted((start, target))
        grown = integral(force, _cuts(low, high, np.delete(scores, document)[:, None] + self.kinks))
        return grown if target > start else -grown

    def work_from_zero(self, scores: Float64Array) -> float:
        """The integral of the gradient along the straight line from all scores 0, on which no rank changes."""
        gaps = np.subtract.outer(scores, scores)[np.triu_indices(self.n_docs, 1)]
        shares = self.kinks[self.kinks > 0] / np.abs(gaps[gaps != 0])[:, None]  # of the way, where a gap is a kink
        return integral(lambda at: self.gradient(at[:, None] * scores) @ scores, _cuts(0.0, 1.0, shares))

    def _at(self, points: Float64Array) -> Lambdas:
        return self.forces(points.ravel(), queries=np.zeros(len(points), np.int64), key=KEY)

    def _chunks(self, n_points: int) -> list[slice]:
        size = max(1, DOCS_AT_ONCE // max(1, self.n_docs))
        return [slice(start, start + size) for start in range(0, n_points, size)]


def _cuts(low: float, high: float, between: Float64Array) -> Float64Array:
    inside = between[(between > low) & (between < high)]
    return np.unique(np.concatenate([[low], inside, [high]]))


def integral(function: Callable[[Float64Array], Float64Array], cuts: Float64Array, tolerance: float = 1e-11) -> float:
    """The integral of `function` from the first cut to the last; intervals are halved until halves and whole agree.

    Halving closes in on a kink between cuts that a node notices; a bump narrower than the gap between nodes is missed.
    """

    def over(low: Float64Array, high: Float64Array) -> Float64Array:
        half = (high - low) / 2
        values = function(((low + high) / 2 + half * NODES[:, None]).ravel()).reshape(len(NODES), len(low))
        return np.asarray(half * (NODE_WEIGHTS @ values), np.float64)

    low, high = cuts[:-1], cuts[1:]
    whole, total = over(low, high), 0.0
    for _ in range(MOST_HALVINGS):
        middle = (low + high) / 2
        low, high = np.concatenate([low, middle]), np.concatenate([middle, high])
        halves = over(low, high)
        first, second = np.split(halves, 2)
        open_ = np.abs(first + second - whole) > tolerance
        total += float((first + second)[~open_].sum())
        if not open_.any():
            return total
        again = np.tile(open_, 2)
        low, high, whole = low[again], high[again], halves[again]
    return total + float(whole.sum())


# Good and bad documents, some in the right order and some in the wrong one.
EXAMPLE_LABELS = (3.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0)
EXAMPLE_SCORES = (0.6, 2.0, -0.4, 1.3, 0.1, -1.0, -1.7, -2.2)
IDS_SHOWN = 5


def example_query() -> tuple[RankingDataset, Float64Array]:
    """A query of eight documents without features, and scores that put some of them in the wrong order."""
    n_docs = len(EXAMPLE_LABELS)
    return RankingDataset.from_arrays(np.zeros((n_docs, 0)), EXAMPLE_LABELS, group=[n_docs]), np.array(EXAMPLE_SCORES)


def query_with_scores(
    documents: RankingDataset, query: str | None = None, scores: Float64Array | None = None, *, name: str = "the data"
) -> tuple[RankingDataset, Float64Array]:
    """The query of that id, by default the first, and the scores of its documents.

    `scores` has one for each document, in the caller's order; by default they are random. `name` is what errors call
    the data.
    """
    given = np.random.default_rng(0).normal(size=documents.n_docs) if scores is None else scores
    ids = [str(one) for one in documents.qid[documents.groups.offsets[:-1]]]
    if query is not None and query not in ids:
        more = ", …" if len(ids) > IDS_SHOWN else ""
        raise InputError(f"{name} has no query {query!r}; its queries are {', '.join(ids[:IDS_SHOWN])}{more}")
    chosen = 0 if query is None else ids.index(query)
    rows = documents.groups.rows_of(np.array([chosen]))
    return documents.take_queries([chosen]), documents.from_source_order(given)[rows]

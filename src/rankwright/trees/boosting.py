"""Boosting: one tree after another, each grown on the forces that the trees before it leave.

Everything random in step t is drawn from the seed and t alone, so a run that is stopped and taken up again, with the
same trees so far, goes on as if it had never stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.errors import require
from rankwright.objectives.objective import LambdaFn
from rankwright.trees.binned import BinnedDataset
from rankwright.trees.forest import Forest, forest_of
from rankwright.trees.grower import GrowerMemory, grow_tree
from rankwright.trees.merging import merge_forests
from rankwright.trees.params import TreeParams


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostingParams:
    """What each step draws, and how its tree may grow."""

    tree: TreeParams = field(default_factory=TreeParams)
    query_fraction: float = 1.0  # share of the queries drawn for each tree
    feature_fraction: float = 1.0  # share of the features drawn for each tree
    monotone: dict[int, int] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("query_fraction", "feature_fraction"):
            value = getattr(self, name)
            require(0 < value <= 1, f"{name} must lie above 0 and be at most 1, got {value}")


@dataclass(frozen=True, slots=True)
class _Draw:
    """What is random in one step."""

    queries: IntArray | None
    features: IntArray | None
    key: int
    rounding_seed: int


class Boosting:
    """A forest in the making: its trees so far and what they say of the documents it is trained on.

    `scores` start from `initial_scores`, which are not part of the forest. `watched` are other documents whose scores
    are kept up to date, such as those of a validation set. Where `queries` are given, in ascending order, trees are
    grown on these alone, and the scores of other documents are kept up to date only if `score_all` asks for it.
    """

    def __init__(
        self,
        data: BinnedDataset,
        lambda_fn: LambdaFn,
        params: BoostingParams,
        *,
        initial_scores: Float64Array | None = None,
        watched: BinnedDataset | None = None,
        watched_initial_scores: Float64Array | None = None,
        queries: IntArray | None = None,
        score_all: bool = True,
        threads: int = 1,
    ) -> None:
        self.data, self.lambda_fn, self.params, self.threads = data, lambda_fn, params, threads
        self.queries, self.score_all = queries, score_all
        self._rows = None if queries is None else data.groups.rows_of(queries)
        self.trees: list[Forest] = []  # of one tree each
        self.scores = _start(initial_scores, data.n_docs)
        self.watched = watched
        self.watched_scores = _start(watched_initial_scores, 0 if watched is None else watched.n_docs)
        self._memory = GrowerMemory(data, params.tree.max_leaves)

    def take_up(self, forest: Forest) -> None:
        """Continue after the trees of `forest`, as if this object had grown them."""
        for number in range(forest.n_trees):
            tree = forest.part(number, number + 1)  # one at a time: sums come out as they did when it was grown
            self._keep(tree)

    def take_step(self, step: int) -> bool:
        """Grow tree number `step`; False where no split of all documents on all features gains anything."""
        draw = self._draw(step)
        gradient, curvature, rows = self._forces(draw)
        grown = grow_tree(
            self.data,
            gradient,
            curvature,
            self.params.tree,
            rows=rows,
            features=draw.features,
            monotone=self.params.monotone,
            seed=draw.rounding_seed,
            memory=self._memory,
            threads=self.threads,
        )
        all_queries = draw.queries is self.queries
        if grown.tree.n_leaves == 1 and all_queries and draw.features is None:
            return False
        tree = forest_of([grown.tree], self.data.mapper)
        from_rows = all_queries and (rows is None or not self.score_all)
        self._keep(tree, scores_own=not from_rows)
        if from_rows:
            grown.add_to(self.scores, threads=self.threads)
        return True

    def forest(self) -> Forest:
        """The trees so far as one forest."""
        if not self.trees:
            return forest_of([], self.data.mapper)
        return merge_forests(self.trees, np.ones(len(self.trees)))

    def _keep(self, tree: Forest, *, scores_own: bool = True) -> None:
        """Add a tree, and what it says to the scores of watched documents and, where asked for, of our own."""
        self.trees.append(tree)
        if self.watched is None and not scores_own:
            return
        add = tree.scorer_of_codes(self.data.mapper)
        if self.watched is not None:
            add(self.watched.codes, self.watched_scores, threads=self.threads)
        if scores_own:
            add(self.data.codes, self.scores, threads=self.threads)

    def _draw(self, step: int) -> _Draw:
        rng = np.random.default_rng([self.params.seed, step])
        key, rounding_seed = (int(number) for number in rng.integers(0, 2**63, size=2))
        return _Draw(
            self._drawn_queries(rng),
            _drawn(rng, self.data.n_features, self.params.feature_fraction),
            key,
            rounding_seed,
        )

    def _drawn_queries(self, rng: np.random.Generator) -> IntArray | None:
        """The queries of one tree: a share of those trained on, or the very array of them where all are."""
        if self.queries is None:
            return _drawn(rng, self.data.n_queries, self.params.query_fraction)
        places = _drawn(rng, len(self.queries), self.params.query_fraction)
        return self.queries if places is None else self.queries[places]

    def _forces(self, draw: _Draw) -> tuple[Float32Array, Float32Array, IntArray | None]:
        if draw.queries is None:
            lambdas = self.lambda_fn(self.scores, key=draw.key)
            return lambdas.gradient, lambdas.curvature, None
        rows = self._rows if draw.queries is self.queries else self.data.groups.rows_of(draw.queries)
        assert rows is not None
        lambdas = self.lambda_fn(self.scores[rows], queries=draw.queries, key=draw.key)
        return (
            _spread(lambdas.gradient, rows, self.data.n_docs),
            _spread(lambdas.curvature, rows, self.data.n_docs),
            rows,
        )


def _start(scores: Float64Array | None, n_docs: int) -> Float64Array:
    return np.zeros(n_docs) if scores is None else scores.astype(np.float64)


def _drawn(rng: np.random.Generator, n: int, fraction: float) -> IntArray | None:
    """A random share of 0 to n - 1 in ascending order, one at least; None for all."""
    if fraction >= 1:
        return None
    size = max(1, round(fraction * n))
    return np.sort(rng.choice(n, size=size, replace=False))


def _spread(values: Float32Array, rows: IntArray, n_docs: int) -> Float32Array:
    spread = np.zeros(n_docs, np.float32)
    spread[rows] = values
    return spread

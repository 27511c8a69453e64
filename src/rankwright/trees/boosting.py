"""Boosting: one tree after another, each grown on the forces that the trees before it leave.

Everything random in step t is drawn from the seed and t alone, so a run that is stopped and taken up again, with the
same trees so far, goes on as if it had never stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.errors import require
from rankwright.trees.binned import BinnedDataset
from rankwright.trees.forest import Forest, add_tree_scores
from rankwright.trees.grower import GrowerMemory, Tree, grow_tree
from rankwright.trees.params import TreeParams


class Lambdas(Protocol):
    """What a step needs of an objective's answer."""

    @property
    def gradient(self) -> Float32Array: ...

    @property
    def curvature(self) -> Float32Array: ...


class LambdaFn(Protocol):
    """Scores to forces, for all queries or some, as objectives give them."""

    def __call__(self, scores: ArrayLike, queries: ArrayLike | None = None, key: int | None = None) -> Lambdas: ...


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
    are kept up to date, such as those of a validation set.
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
        threads: int = 1,
    ) -> None:
        self.data, self.lambda_fn, self.params, self.threads = data, lambda_fn, params, threads
        self.trees: list[Tree] = []
        self.scores = _start(initial_scores, data.n_docs)
        self.watched = watched
        self.watched_scores = _start(watched_initial_scores, 0 if watched is None else watched.n_docs)
        self._memory = GrowerMemory(data, params.tree.max_leaves)

    def take_up(self, trees: list[Tree]) -> None:
        """Continue after `trees`, as if this object had grown them."""
        for tree in trees:
            self._keep(tree)
            add_tree_scores(tree, self.data, self.scores, threads=self.threads)

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
        if grown.tree.n_leaves == 1 and rows is None and draw.features is None:
            return False
        self._keep(grown.tree)
        if rows is None:
            grown.add_to(self.scores, threads=self.threads)
        else:
            add_tree_scores(grown.tree, self.data, self.scores, threads=self.threads)
        return True

    def forest(self, n_trees: int | None = None) -> Forest:
        """The first `n_trees` trees, all of them where it is None, as one forest."""
        return Forest.of_trees(self.trees[:n_trees], n_features=self.data.n_features)

    def _keep(self, tree: Tree) -> None:
        self.trees.append(tree)
        if self.watched is not None:
            add_tree_scores(tree, self.watched, self.watched_scores, threads=self.threads)

    def _draw(self, step: int) -> _Draw:
        rng = np.random.default_rng([self.params.seed, step])
        key, rounding_seed = (int(number) for number in rng.integers(0, 2**63, size=2))
        return _Draw(
            _drawn(rng, self.data.n_queries, self.params.query_fraction),
            _drawn(rng, self.data.n_features, self.params.feature_fraction),
            key,
            rounding_seed,
        )

    def _forces(self, draw: _Draw) -> tuple[Float32Array, Float32Array, IntArray | None]:
        if draw.queries is None:
            lambdas = self.lambda_fn(self.scores, key=draw.key)
            return lambdas.gradient, lambdas.curvature, None
        rows = self.data.groups.rows_of(draw.queries)
        lambdas = self.lambda_fn(self.scores[rows], queries=draw.queries, key=draw.key)
        return _spread(lambdas.gradient, rows, self.data.n_docs), _spread(lambdas.curvature, rows, self.data.n_docs), rows


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

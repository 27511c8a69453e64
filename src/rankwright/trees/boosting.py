"""Boosting: one tree after another, each grown on the forces that the trees before it leave.

Everything random in step t is drawn from the seed and t alone, so a run that is stopped and resumed, with the same
trees so far, goes on as if it had never stopped.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float32Array, Float64Array, IntArray
from rankwright.errors import InputError, require
from rankwright.objectives.objective import LambdaFn, Lambdas
from rankwright.training.driver import Earlier
from rankwright.training.loop import History
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.forests.arrays import forest_from_arrays, forest_to_arrays
from rankwright.trees.forests.forest import Forest, Tree, forest_of
from rankwright.trees.forests.merging import merge_forests
from rankwright.trees.grower import GrowerMemory, grow_tree
from rankwright.trees.params import TreeParams
from rankwright.trees.share import RowShare


@dataclass(frozen=True, slots=True, kw_only=True)
class BoostingParams:
    """What each step draws, and how its tree may grow."""

    tree: TreeParams = field(default_factory=TreeParams)
    query_fraction: float = 1.0  # share of the queries drawn for each tree
    feature_fraction: float = 1.0  # share of the features drawn for each tree
    query_bootstrap: float = 0.0  # how far the weights of queries go from 1 to exponential draws
    monotone: dict[int, int] = field(default_factory=dict)
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("query_fraction", "feature_fraction"):
            value = getattr(self, name)
            require(0 < value <= 1, f"{name} must lie above 0 and be at most 1, got {value}")
        require(0 <= self.query_bootstrap <= 1, f"query_bootstrap must lie between 0 and 1, got {self.query_bootstrap}")


@dataclass(frozen=True, slots=True)
class _Draw:
    """What is random in one step."""

    queries: IntArray | None
    features: IntArray | None
    query_weights: Float32Array | None  # of the drawn queries
    key: int
    tree_seed: int  # of the rounding of forces, and of what is random in splits


class Boosting:
    """A forest in training: its trees so far, and their scores of the training documents.

    `scores` start from `base_score` plus the initial scores of the data; neither is part of the forest. `watched` are
    other documents whose scores are kept up to date, such as those of a validation set. Where `queries` are given, in
    ascending order, trees are grown on these alone, and the scores of other documents are kept up to date only if
    `score_all` asks for it. With a `share`, this is one worker of several that grow the same forest.
    """

    def __init__(
        self,
        data: BinnedDataset,
        lambda_fn: LambdaFn,
        params: BoostingParams,
        *,
        base_score: float = 0.0,
        watched: BinnedDataset | None = None,
        queries: IntArray | None = None,
        score_all: bool = True,
        share: RowShare | None = None,
        threads: int = 1,
    ) -> None:
        self.data, self.lambda_fn, self.params, self.threads = data, lambda_fn, params, threads
        self.share = share
        # Those that other workers have are empty here: objectives are not asked for them.
        self._present = None if share is None else np.flatnonzero(data.groups.sizes)
        self.queries, self.score_all = queries, score_all
        self._rows = None if queries is None else data.groups.rows_of(queries)
        self._taken_up: Forest | None = None
        self._grown: list[Tree] = []
        _check_starts(data, watched)
        self.scores = _start_of(data, base_score)
        self.watched = watched
        self.watched_scores = np.empty(0) if watched is None else _start_of(watched, base_score)
        self._memory = GrowerMemory(data, params.tree.max_leaves, threads=threads)

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue after the trees of another run, as if this object had grown them."""
        self._taken_up = forest = forest_from_arrays(memory)
        for number in range(forest.n_trees):
            tree = forest.part(number, number + 1)  # one at a time: sums come out as they did when it was grown
            tree.add_scores_of_codes(self.data, self.scores, threads=self.threads)
            if self.watched is not None:
                tree.add_scores_of_codes(self.watched, self.watched_scores, threads=self.threads)

    @property
    def n_taken(self) -> int:
        """How many steps the trees come from."""
        return len(self._grown) + (0 if self._taken_up is None else self._taken_up.n_trees)

    def model(self) -> Arrays:
        """The number of trees: trees never change, so the first n of them are the model after n steps."""
        return n_trees_array(self.n_taken)

    def model_after(self, n_steps: int) -> Arrays:
        """The model after that many steps."""
        return n_trees_array(n_steps)

    def memory(self) -> Arrays:
        """The trees so far."""
        return forest_to_arrays(self.forest())

    def take_step(self, step: int) -> bool:
        """Grow tree number `step`; False where no split of all documents on all features can gain anything."""
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
            seed=draw.tree_seed,
            memory=self._memory,
            share=self.share,
            threads=self.threads,
        )
        all_queries = draw.queries is self.queries
        # Nothing is left to gain where another draw would give the same splits.
        draws_anew = draw.features is not None or draw.query_weights is not None
        if grown.tree.n_leaves == 1 and all_queries and not draws_anew and self.params.tree.split_feature_fraction == 1:
            return False
        self._grown.append(grown.tree)
        if all_queries and (rows is None or not self.score_all):
            grown.add_to(self.scores, threads=self.threads)
        else:
            grown.add_to_all(self.data, self.scores, threads=self.threads)
        if self.watched is not None:
            grown.add_to_all(self.watched, self.watched_scores, threads=self.threads)
        return True

    def forest(self) -> Forest:
        """The trees so far as one forest."""
        grown = forest_of(self._grown, self.data.mapper)
        return grown if self._taken_up is None else merge_forests([self._taken_up, grown], np.ones(2))

    def last_tree(self) -> Forest:
        """The tree that was grown last, as a forest."""
        return forest_of(self._grown[-1:], self.data.mapper)

    def _draw(self, step: int) -> _Draw:
        rng = np.random.default_rng([self.params.seed, step])
        key, tree_seed = (int(number) for number in rng.integers(0, 2**63, size=2))
        queries = self._drawn_queries(rng)
        features = _drawn(rng, self.data.n_features, self.params.feature_fraction)
        n_queries = self.data.n_queries if queries is None else len(queries)
        weights, bootstrap = None, self.params.query_bootstrap
        if bootstrap > 0:  # random weights of mean 1
            weights = (1 + bootstrap * (rng.standard_exponential(n_queries) - 1)).astype(np.float32)
        return _Draw(queries, features, weights, key, tree_seed)

    def _drawn_queries(self, rng: np.random.Generator) -> IntArray | None:
        """The queries of one tree: a share of those trained on, or that same array if all are drawn."""
        if self.queries is None:
            return _drawn(rng, self.data.n_queries, self.params.query_fraction)
        places = _drawn(rng, len(self.queries), self.params.query_fraction)
        return self.queries if places is None else self.queries[places]

    def _forces(self, draw: _Draw) -> tuple[Float32Array, Float32Array, IntArray | None]:
        sizes = self.data.groups.sizes
        if draw.queries is None:
            lambdas = self.lambda_fn(self.scores, queries=self._present, key=draw.key)
            return *_weighed(lambdas, draw.query_weights, sizes), None
        rows = self._rows if draw.queries is self.queries else self.data.groups.rows_of(draw.queries)
        assert rows is not None
        present = draw.queries if self.share is None else draw.queries[sizes[draw.queries] > 0]
        lambdas = self.lambda_fn(self.scores[rows], queries=present, key=draw.key)
        gradient, curvature = _weighed(lambdas, draw.query_weights, sizes[draw.queries])
        return _spread(gradient, rows, self.data.n_docs), _spread(curvature, rows, self.data.n_docs), rows


def n_trees_array(n_trees: int) -> Arrays:
    """What a checkpoint holds of the model to keep: its number of trees."""
    return {"n_trees": np.array([n_trees])}


def resumed_after(forest: Forest, history: History) -> Earlier:
    """The state of a run that has grown these trees and kept them all."""
    going_on = history.continued()
    del going_on.values[forest.n_trees :]  # those of trees that were not kept
    n_trees = forest.n_trees
    return Earlier(forest_to_arrays(forest), n_trees, n_trees_array(n_trees), n_trees, going_on)


def _start_of(data: BinnedDataset, base_score: float) -> Float64Array:
    """The scores of the documents before the first tree."""
    return np.full(data.n_docs, base_score) if data.initial_scores is None else data.initial_scores + base_score


def _check_starts(data: BinnedDataset, valid: BinnedDataset | None) -> None:
    """Raise if only one of the two has initial scores: validation would then choose the wrong number of trees."""
    if valid is not None and (data.initial_scores is None) != (valid.initial_scores is None):
        has, lacks = ("validation", "training") if data.initial_scores is None else ("training", "validation")
        raise InputError(f"the {has} data has initial scores and the {lacks} data has none: give both or neither")


def _drawn(rng: np.random.Generator, n: int, fraction: float) -> IntArray | None:
    """A random share of 0 to n - 1 in ascending order, one at least; None for all."""
    if fraction >= 1:
        return None
    size = max(1, round(fraction * n))
    return np.sort(rng.choice(n, size=size, replace=False))


def _weighed(lambdas: Lambdas, weights: Float32Array | None, sizes: IntArray) -> tuple[Float32Array, Float32Array]:
    """Gradient and curvature, times the weights of queries that have so many documents each."""
    if weights is None:
        return lambdas.gradient, lambdas.curvature
    of_rows = np.repeat(weights, sizes)
    return lambdas.gradient * of_rows, lambdas.curvature * of_rows


def _spread(values: Float32Array, rows: IntArray, n_docs: int) -> Float32Array:
    spread = np.zeros(n_docs, np.float32)
    spread[rows] = values
    return spread

"""How a net's weights follow an objective's forces, some queries per step.

Pairs made from labels go through one kernel, which computes scores, forces and derivatives query by query, and so reads
each row of features from memory once. For other objectives a step is three calls: scores, forces, derivatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright import kernels
from rankwright.arrays import Arrays, Float64Array, IntArray
from rankwright.container.checks import MOST, check_alike, check_between
from rankwright.data.groups import Groups
from rankwright.kernels.records import QueryWalk, StepRule
from rankwright.nets.descent import Walked, batches, pull_of
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.params import DescentParams
from rankwright.nets.plain_net import PlainNet
from rankwright.objectives.objective import BoundKernel, LambdaFn, batch_of

DOCUMENTS_A_CALL = 100_000  # of the kernel: Ctrl-C takes effect between calls


def mean_of(members: Iterable[Float64Array]) -> Float64Array:
    """The mean of what members gave, added up in their order."""
    first, *others = members
    total = first.copy()
    for own in others:
        total += own
    return np.asarray(total / (1 + len(others)), np.float64)


class PlainDescent:
    """A plain net in training, by our own kernels."""

    def __init__(
        self, net: PlainNet, rows: FeatureRows, groups: Groups, lambda_fn: LambdaFn, params: DescentParams
    ) -> None:
        self.net, self.rows, self.groups, self.lambda_fn, self.params = net, rows, groups, lambda_fn, params
        self.learning_rate = params.learning_rate
        self.mean, self.square = np.zeros_like(net.weights), np.zeros_like(net.weights)
        self.n_steps = 0

    def walk(self, order: IntArray, keys: IntArray, seed: int) -> Walked:  # noqa: ARG002
        """Go through the queries in this order, with one step for each key."""
        found = self.lambda_fn
        if isinstance(found, BoundKernel) and found.kernel is kernels.label_pair_lambdas and found.dtype is np.float32:
            return self._walk_on_label_pairs(found, order, keys)
        scores, costs = np.empty(self.groups.n_docs), [np.empty(0)]
        for queries, key in zip(batches(order, self.params.batch_queries), keys.tolist(), strict=True):
            rows = self.groups.rows_of(queries)
            stepped = self._step(queries, rows, key)
            if stepped is None:
                return Walked(scores, np.empty(0), is_finite=False)
            scores[rows] = stepped[0]
            costs.append(stepped[1])
        return Walked(scores, np.concatenate(costs), is_finite=True)

    def _step(self, queries: IntArray, rows: IntArray, key: int) -> tuple[Float64Array, Float64Array] | None:
        """Take one step; the scores before it and the costs of its queries, or None where scores are not finite."""
        net, threads = self.net.as_record(self.net.shape.dropout), self.rows.threads
        n_members = net.n_members
        scores = np.empty((len(rows), n_members))
        kernels.net_member_scores(net, self.rows, rows, key, scores.reshape(-1), threads)
        if not np.isfinite(scores).all():
            return None
        of_members = [self.lambda_fn(own.copy(), queries=queries, key=key) for own in scores.T]
        gradients = np.stack([own.gradient for own in of_members], axis=1)
        forces = (gradients / (len(queries) * n_members)).astype(np.float32).ravel()
        gradient = np.empty_like(self.net.weights)
        kernels.net_gradient(net, self.rows, rows, key, forces, gradient, threads)
        kernels.follow_gradient(self._rule(), gradient, self.net.weights)
        self.n_steps += 1
        return mean_of(scores.T), mean_of([own.cost for own in of_members])

    def _walk_on_label_pairs(self, lambda_fn: BoundKernel, order: IntArray, keys: IntArray) -> Walked:
        order, starts = batch_of(self.groups, order)
        scores, costs = np.empty(self.groups.n_docs), np.full(len(order), np.nan)
        size, net = self.params.batch_queries, self.net.as_record(self.net.shape.dropout)
        steps_a_call = max(1, len(keys) * DOCUMENTS_A_CALL // max(1, len(scores)))
        for first in range(0, len(keys), steps_a_call):
            some_keys = keys[first : first + steps_a_call]
            begin, end = first * size, min((first + len(some_keys)) * size, len(order))
            walk = QueryWalk(
                queries=order[begin:end],
                starts=starts[begin : end + 1],
                keys=some_keys,
                batch_queries=size,
                scores=scores,
                cost=costs[begin:end] if lambda_fn.has_cost else np.empty(0),
            )
            pairs, rule = lambda_fn.arguments["pairs"], self._rule()
            taken = kernels.descend_net(net, self.rows, pairs, rule, walk, lambda_fn.threads)
            self.n_steps += taken
            if taken < len(some_keys):
                return Walked(scores, costs, is_finite=False)
        by_row = np.empty_like(scores)
        by_row[self.groups.rows_of(order)] = scores
        return Walked(by_row, costs, is_finite=True)

    def _rule(self) -> StepRule:
        return StepRule(
            optimizer=self.params.optimizer,
            learning_rate=self.learning_rate,
            weight_decay=self.params.weight_decay,
            pull=pull_of(self.params, self.groups),
            mean=self.mean,
            square=self.square,
            n_steps=self.n_steps,
        )

    def memory(self) -> Arrays:
        """What the optimizer remembers."""
        return {"mean": self.mean.copy(), "square": self.square.copy(), "n_steps": np.array(self.n_steps)}

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue with the memory of another descent."""
        check_alike(memory, self.memory())
        check_between("square", memory["square"], 0, np.inf)
        check_between("n_steps", memory["n_steps"], 0, MOST)
        self.mean, self.square = memory["mean"].copy(), memory["square"].copy()
        self.n_steps = int(memory["n_steps"])

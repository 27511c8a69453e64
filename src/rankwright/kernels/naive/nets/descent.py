"""Twins of the kernels that change a net's weights: one step along derivatives, or many on forces of label pairs."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.kernels.naive.nets.plain_net import derivatives, forward
from rankwright.kernels.naive.objectives.lambdas import label_pair_lambdas
from rankwright.kernels.records import (
    Batch,
    Forces,
    LabelledQueries,
    LayeredNet,
    QueryWalk,
    StandardisedRows,
    StepRule,
)


@np.errstate(over="ignore", invalid="ignore")  # the result says whether the walk diverged
def descend_net(
    net: LayeredNet, inputs: StandardisedRows, pairs: LabelledQueries, rule: StepRule, walk: QueryWalk, threads: int
) -> int:
    """Change the net's weights step after step, and return how many steps were taken.

    A step goes along the mean derivative of its queries; `walk.scores` and `walk.cost` are filled with the values
    before the step. A step whose scores are not finite ends the walk.
    """
    for number, key in enumerate(walk.keys.tolist()):
        some = slice(number * walk.batch_queries, (number + 1) * walk.batch_queries)
        queries = walk.queries[some]
        starts = walk.starts[some.start :][: len(queries) + 1]
        rows = np.concatenate([np.arange(*pairs.groups.offsets[query : query + 2]) for query in queries])
        passed = forward(net, inputs, rows, key)
        scores = walk.scores[starts[0] : starts[-1]]
        scores[:] = passed.scores.astype(np.float32)
        if not np.isfinite(scores).all():
            return number
        forces = Forces(np.empty(len(rows)), np.empty(len(rows)), walk.cost[some])
        label_pair_lambdas(Batch(scores, queries, starts - starts[0], key), pairs, forces, threads)
        slope = derivatives(net, passed, forces.gradient / len(queries))
        follow_gradient(rule._replace(n_steps=rule.n_steps + number), slope.astype(np.float32), net.weights)
    return len(walk.keys)


def follow_gradient(rule: StepRule, gradient: Float32Array, weights: Float32Array) -> None:
    """Change the weights by one step along the derivatives of the cost."""
    slope, step = gradient + rule.pull * weights.astype(np.float64), rule.n_steps + 1
    if rule.optimizer == "sgd":
        weights -= (rule.learning_rate * (slope + rule.weight_decay * weights)).astype(np.float32)
    else:
        rule.mean[:] = 0.9 * rule.mean + 0.1 * slope
        rule.square[:] = 0.999 * rule.square + 0.001 * slope**2
        unbiased_mean, unbiased_square = rule.mean / (1.0 - 0.9**step), rule.square / (1.0 - 0.999**step)
        change = unbiased_mean / (np.sqrt(unbiased_square) + 1e-8) + rule.weight_decay * weights
        weights -= (rule.learning_rate * change).astype(np.float32)

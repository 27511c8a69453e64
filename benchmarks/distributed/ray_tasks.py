"""The task whose overhead `ray_overhead` measures, where workers can import it: a forest grown on shared codes."""

from __future__ import annotations

from rankwright.mart.lambdamart import LambdaMART


def grow_forest(data, task, report):  # noqa: ARG001
    """Grow `n_trees` trees on one thread; the result is as small as a tuning trial's."""
    n_trees, seed = task
    forest = LambdaMART(n_trees=n_trees, max_leaves=31, seed=seed, threads=1, query_fraction=0.5).fit_binned(data)
    return forest.n_trees_


def do_nothing(data, task, report):  # noqa: ARG001
    """What is left of a task without its work."""
    return task

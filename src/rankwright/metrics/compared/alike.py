"""Whether two evaluations can be compared: the same queries, counted the same way."""

from __future__ import annotations

import numpy as np

from rankwright.errors import InputError
from rankwright.metrics.evaluation import Evaluation


def check_same(first: str, one: Evaluation, second: str, other: Evaluation) -> None:
    """Raise where two evaluations are not of the same queries, or are counted differently."""
    if one.convention != other.convention:
        raise InputError(
            f"{first} was evaluated under convention {one.convention.name}, {second} under {other.convention.name}: "
            f"only numbers of one convention can be compared"
        )
    if list(one.results) != list(other.results):
        raise InputError(f"{first} has the metrics {', '.join(one.results)}, {second} has {', '.join(other.results)}")
    if one.n_queries != other.n_queries:
        raise InputError(f"{first} was evaluated on {one.n_queries} queries, {second} on {other.n_queries}")
    same = np.asarray(one.query_ids) == np.asarray(other.query_ids)
    same &= one.groups.sizes == other.groups.sizes
    if not same.all():
        query = int(np.flatnonzero(~same)[0])
        raise InputError(
            f"{first} and {second} were evaluated on different data: query number {query} is {one.query_ids[query]} "
            f"with {one.groups.sizes[query]} documents for one, {other.query_ids[query]} with "
            f"{other.groups.sizes[query]} for the other"
        )
    if one.nothing_relevant != other.nothing_relevant:
        raise InputError(
            f"{first} and {second} were evaluated on different labels: {one.nothing_relevant} and "
            f"{other.nothing_relevant} queries have nothing relevant"
        )

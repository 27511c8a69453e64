"""The systems of a comparison: their scored lists and, where there are any, the documents and the rankers.

Systems may be fused into further ones. All of them are evaluated on the same queries and counted the same way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.metrics.evaluation import Evaluation, ScoredLists
from rankwright.ranking.fusion import fuse


@dataclass(frozen=True, slots=True, eq=False)
class ComparedSystems:
    """The scored lists of each system by its name; their queries are the same, in the same order."""

    lists: Mapping[str, ScoredLists]
    data: RankingDataset | None = None
    rankers: Mapping[str, Any] = field(default_factory=dict)  # those systems that score documents by themselves


def with_fused_scores(
    lists: Mapping[str, ScoredLists], data: RankingDataset, methods: str | Sequence[str]
) -> dict[str, ScoredLists]:
    """The lists of the systems, and one more for each method of fusion."""
    found = dict(lists)
    for method in _free_names(methods, lists):
        in_source_order = {name: data.in_source_order(own.scores) for name, own in lists.items()}
        fused = data.from_source_order(np.asarray(fuse(in_source_order, method, data=data)))
        found[method] = replace(next(iter(lists.values())), scores=fused)
    return found


def with_fused_runs(runs: Mapping[str, Any], methods: str | Sequence[str]) -> dict[str, Any]:
    """The runs, and one more for each method of fusion."""
    return dict(runs) | {method: fuse(runs, method) for method in _free_names(methods, runs)}


def _free_names(methods: str | Sequence[str], systems: Mapping[str, Any]) -> list[str]:
    """The methods, whose names become those of systems."""
    names = [methods] if isinstance(methods, str) else list(dict.fromkeys(methods))
    taken = [name for name in names if name in systems]
    if taken:
        raise InputError(f"a system is called {taken[0]} already: give it another name, or leave out that fusion")
    return names


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

"""What a comparison was made of: the lists of every system, and where there are any, the documents and the rankers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.metrics.evaluation import ScoredLists
from rankwright.ranking.fusion import fuse


@dataclass(frozen=True, slots=True, eq=False)
class Material:
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

"""Whether there is anything in the data that a ranker can learn from, and if not, why."""

from __future__ import annotations

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError

REMEDY = "allow_empty=True trains such a model all the same"


class NothingToLearnError(InputError):
    """The data holds nothing that this ranker could learn from."""


def check_something_to_learn(name: str, data: RankingDataset, *, alone: bool) -> None:
    """Raise where the ranker `name` would learn nothing from `data`; it learns from documents `alone`, or from pairs.

    Without labels there is nothing to check: preferences say by themselves what to learn.
    """
    if data.preferences is not None and len(data.preferences.better):
        return
    why = _why_nothing(data, alone=alone)
    if why is not None:
        raise NothingToLearnError(f"there is nothing for {name} to learn from: {why}; {REMEDY}")


def _why_nothing(data: RankingDataset, *, alone: bool) -> str | None:
    if data.n_docs == 0:
        return "the data has no documents"
    if data.labels is None:
        return "the data has neither labels nor preferences"
    judged = data.labels[~np.isnan(data.labels)]
    if not len(judged):
        return f"none of the {data.n_docs:,} documents has a label, all are missing"
    if data.n_docs == 1:
        return "there is one document alone (n_samples=1)"
    if not alone and data.groups.sizes.max() == 1:
        return (
            f"each of the {data.n_queries:,} queries has one document (are these the query ids, and not those of "
            f"documents?)"
        )
    if judged.min() == judged.max():
        return f"all {len(judged):,} labels are {judged[0]:g}"
    if not alone and not _some_query_differs(data):
        return "no query has two documents with different labels"
    return None


def _some_query_differs(data: RankingDataset) -> bool:
    assert data.labels is not None
    starts = data.groups.offsets[:-1][data.groups.sizes > 0]
    highest, lowest = np.fmax.reduceat(data.labels, starts), np.fmin.reduceat(data.labels, starts)
    return bool((highest > lowest).any())

"""The figures of a dataset, and what in it deserves a second look, in plain words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.profile.feature_facts import duplicate_columns, feature_facts
from rankwright.profile.suspicions import suspicions

MOST_LEVELS = 40  # more different labels than this are summed up by their range


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The range of a number, over queries or over documents."""

    smallest: float
    median: float
    mean: float
    largest: float


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of a dataset. Features are named; where they have no names, they are numbered from 1."""

    queries: int
    documents: int
    features: int
    documents_per_query: NumberRange | None  # None where there are no queries
    labels: dict[str, int] | None  # label to documents; None where there are no labels or very many different ones
    label_spread: NumberRange | None  # None where no document is judged
    unjudged: int
    queries_with_nothing_relevant: int
    queries_with_one_label: int  # their order cannot be right or wrong
    missing_values: int
    missing_share_of: dict[str, float]  # of every feature with missing values
    constant_features: tuple[str, ...]
    duplicate_features: tuple[tuple[str, ...], ...]  # constant ones are left out: they are listed above
    also_has: tuple[str, ...]  # ids, weights, positions, preferences
    remarks: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """The summary as plain dictionaries and lists, ready for JSON."""
        return asdict(self)


def summarise(data: RankingDataset) -> Summary:
    """The summary of `data`."""
    facts = feature_facts(data.features, data.groups)
    names = np.array(data.names, dtype=object)
    duplicates = [same for same in duplicate_columns(data.features, facts) if not facts.is_constant[same[0]]]
    labels = np.full(data.n_docs, np.nan, np.float32) if data.labels is None else data.labels
    judged = labels[~np.isnan(labels)]
    values, counts = np.unique(judged, return_counts=True)
    few = data.labels is not None and len(values) <= MOST_LEVELS
    with_missing = facts.n_missing > 0
    shares = facts.n_missing / max(data.n_docs, 1)
    return Summary(
        queries=data.n_queries,
        documents=data.n_docs,
        features=data.n_features,
        documents_per_query=_range(data.groups.sizes),
        labels={f"{value:g}": int(n) for value, n in zip(values, counts, strict=True)} if few else None,
        label_spread=_range(judged),
        unjudged=len(labels) - len(judged),
        queries_with_nothing_relevant=data.n_queries - _queries_where(labels > 0, data.groups),
        queries_with_one_label=data.n_queries - _queries_where(_differs_from_first(labels, data.groups), data.groups),
        missing_values=int(facts.n_missing.sum()),
        missing_share_of=dict(zip(names[with_missing], shares[with_missing].tolist(), strict=True)),
        constant_features=tuple(names[facts.is_constant]) if data.n_docs > 1 else (),
        duplicate_features=tuple(tuple(names[columns]) for columns in duplicates),
        also_has=tuple(_extras(data)),
        remarks=tuple(suspicions(data, facts)),
    )


def _range(values: NDArray[Any]) -> NumberRange | None:
    if len(values) == 0:
        return None
    middle = float(values.mean(dtype=np.float64))
    return NumberRange(float(values.min()), float(np.median(values)), middle, float(values.max()))


def _queries_where(chosen: BoolArray, groups: Groups) -> int:
    """The number of queries that have a chosen document."""
    return len(np.unique(groups.query_of_row[chosen]))


def _differs_from_first(labels: Float32Array, groups: Groups) -> BoolArray:
    """Which documents have another label than the first of their query; here, unjudged counts as a label."""
    filled = np.where(np.isnan(labels), np.float32(-1), labels)
    differs: BoolArray = filled != filled[np.repeat(groups.offsets[:-1], groups.sizes)]
    return differs


def _extras(data: RankingDataset) -> Iterator[str]:
    if data.feature_names:
        yield "feature names"
    for field in ("query_ids", "document_ids", "query_weights", "document_weights", "positions", "propensities"):
        if getattr(data, field) is not None:
            yield field.replace("_", " ")
    if data.preferences is not None:
        yield f"{len(data.preferences):,} preferences"

"""Comparing models and files of scores on the same file of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.catalog.rankers import load
from rankwright.formats.reading import DataFile
from rankwright.formats.sidecars import read_scores
from rankwright.formats.storage.places import FilePath
from rankwright.metrics.comparison.system_comparison import SystemComparison, compare
from rankwright.metrics.evaluation import DEFAULT_METRICS
from rankwright.rankers.ranker import Ranker


def compare_files(
    data: FilePath,
    *,
    models: Mapping[str, FilePath],
    scores: Mapping[str, FilePath],
    metrics: Sequence[str] = DEFAULT_METRICS,
    convention: str = "standard",
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    seed: int = 0,
    fuse: Sequence[str] = (),
) -> SystemComparison:
    """The comparison of the named model files and files of scores on the documents of `data`.

    A file of scores has one number per line, in the order of the documents. For each method of fusion, all of them
    fused are one more system.
    """
    rankers = {name: load(path) for name, path in models.items()}
    file = DataFile(data, format=format, **(options or {}))
    if rankers:
        file = file.with_defaults(**_features_of(list(rankers.values()))).with_categories(_categories_of(rankers))
    documents = file.read()
    given = {name: read_scores(path, n_docs=documents.n_docs) for name, path in scores.items()}
    systems: dict[str, Any] = {**rankers, **given}
    return compare(systems, documents, metrics, convention, threads=threads, seed=seed, fuse=fuse)


def _categories_of(rankers: Mapping[str, Ranker]) -> dict[str, tuple[str, ...]]:
    """The categories that any of the rankers knows; each of them then takes those that it was trained with."""
    texts: dict[str, set[str]] = {}
    for ranker in rankers.values():
        for name, own in (ranker.categories_ or {}).items():
            texts.setdefault(name, set()).update(own)
    return {name: tuple(sorted(own)) for name, own in texts.items()}


def _features_of(rankers: Sequence[Ranker]) -> dict[str, Any]:
    """Options that read the features that any of the rankers looks at: by name, if all have names."""
    names = [list(ranker.trained_.feature_names) for ranker in rankers]
    widths = [width for ranker in rankers if (width := ranker.width_to_read) is not None]
    widest = {"n_features": max(widths)} if widths else {}
    return widest | ({"features": list(dict.fromkeys(name for own in names for name in own))} if all(names) else {})

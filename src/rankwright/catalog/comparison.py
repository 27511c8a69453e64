"""Comparing models and files of scores on the same file of documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rankwright.catalog.rankers import load
from rankwright.formats.reading import read, read_wide
from rankwright.formats.sidecars import read_scores
from rankwright.formats.sources import FilePath
from rankwright.metrics.evaluation import DEFAULT_METRICS
from rankwright.metrics.systems import SystemComparison, compare


def compare_files(
    data: FilePath,
    *,
    models: Mapping[str, FilePath],
    scores: Mapping[str, FilePath],
    metrics: Sequence[str] = DEFAULT_METRICS,
    convention: str = "standard",
    format: str | None = None,
    threads: int | None = None,
    seed: int = 0,
) -> SystemComparison:
    """The comparison of the named model files and files of scores on the documents of `data`.

    A file of scores has one number per line, in the order of the documents.
    """
    rankers = {name: load(path) for name, path in models.items()}
    if rankers:
        widths = [width for ranker in rankers.values() if (width := ranker.width_to_read) is not None]
        documents = read_wide(data, max(widths, default=None), format=format)
    else:
        documents = read(data, format=format)
    given = {name: read_scores(path, n_docs=documents.n_docs) for name, path in scores.items()}
    systems: dict[str, Any] = {**rankers, **given}
    return compare(systems, documents, metrics, convention, threads=threads, seed=seed)

"""Size and speed: what each model is made of, how large its file is, and how long it takes to score a document."""

from __future__ import annotations

import copy
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import PageTable, Section
from rankwright.report.sections.subject import Origin
from rankwright.tables.text import ShownTable, short

TIMED_DOCS = 2000
REPEATS = 5
MOST_FACTS = 3


def models_section(rankers: Mapping[str, Ranker], data: RankingDataset | None, origin: Origin) -> Section | None:
    """A row for each ranker."""
    if not rankers:
        return None
    rows = [
        [
            name,
            ranker.name,
            made_of(ranker),
            f"{_used(ranker):,} of {ranker.n_features_in_:,}",
            size_text(_bytes_of(ranker, origin.models.get(name))),
            *([] if data is None else [f"{microseconds(ranker, data):.2f} µs"]),
        ]
        for name, ranker in rankers.items()
    ]
    columns = ["system", "ranker", "made of", "features used", "file", *([] if data is None else ["time a document"])]
    note = (
        f"Time to score a document: the best of {REPEATS} runs with one thread over {TIMED_DOCS:,} documents "
        "or fewer, on the machine that made this page."
    )
    table = ShownTable("", columns, rows, columns[3:], [] if data is None else [note])
    return Section("models", "Size and speed", "What it takes to keep and to run each model.", (PageTable(table),))


def made_of(ranker: Ranker) -> str:
    """The first figures of a model, in words."""
    facts = {name: value for name, value in ranker.facts().items() if isinstance(value, int | float | str)}
    told = [f"{_figure(value)} {name.replace('_', ' ')}" for name, value in list(facts.items())[:MOST_FACTS]]
    return ", ".join(told) or "–"


def _figure(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else short(value)


def _used(ranker: Ranker) -> int:
    return int(ranker.used_features().sum())


def _bytes_of(ranker: Ranker, path: str | None) -> int | None:
    """The size of the model file, as it lies on the disk or as it would be written; None where it cannot be."""
    if path is not None and Path(path).is_file():
        return Path(path).stat().st_size
    with TemporaryDirectory() as folder:
        target = Path(folder, "model.rw")
        try:
            ranker.save(target)
        except (ValueError, TypeError, OSError):  # a model with parts of the user's own
            return None
        return target.stat().st_size


def size_text(size: int | None) -> str:
    """A number of bytes in a unit that people read."""
    if size is None:
        return "–"
    for unit, factor in (("MB", 1e6), ("kB", 1e3)):
        if size >= factor:
            return f"{size / factor:.1f} {unit}"
    return f"{size} B"


def microseconds(ranker: Ranker, data: RankingDataset) -> float:
    """The time to score a document with one thread: the best of several runs on some of the documents."""
    alone = copy.copy(ranker)
    alone.threads = 1
    n_queries = int(np.searchsorted(data.groups.offsets[1:], TIMED_DOCS)) + 1
    documents = data.take_queries(np.arange(min(n_queries, data.n_queries)))
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        alone.predict(documents)
        seconds.append(time.perf_counter() - start)
    return 1e6 * min(seconds) / max(documents.n_docs, 1)

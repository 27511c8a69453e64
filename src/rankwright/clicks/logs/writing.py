"""Logs written to files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np

from rankwright.clicks.logs.log import ClickLog
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import atomic_text_output


def write_log(log: ClickLog, path: FilePath) -> None:
    """Write a click log as JSON lines, which `read_log` and the commands read.

    Parameters
    ----------
    log : ClickLog
        The log; a list that counts several times is written as often.
    path : path
        Where to write it, compressed if it ends in `.gz` or `.zst`. An existing file is replaced in one step.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> log = rw.clicks.ClickLog.from_lists(["q"], [["a", "b"]], [[2]])
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "log.jsonl")
    ...     rw.clicks.write_log(log, path)
    ...     path.read_text()
    '{"query": "q", "shown": ["a", "b"], "clicks": [2]}\\n'
    """
    with atomic_text_output(path) as file:
        for event, times in _events(log):
            file.write((json.dumps(event, ensure_ascii=False) + "\n") * times)


def _events(log: ClickLog) -> Iterator[tuple[dict[str, Any], int]]:
    """The event of each list, and how often it was seen."""
    for number, times in enumerate(log.list_counts.tolist()):
        rows = slice(log.offsets[number], log.offsets[number + 1])
        event: dict[str, Any] = {
            "query": log.query_ids[log.queries[number]],
            "shown": log.document_ids[log.documents[rows]].tolist(),
            "clicks": (np.flatnonzero(log.clicked[rows]) + 1).tolist(),
        }
        if isinstance(event["query"], np.integer):
            event["query"] = int(event["query"])
        if log.first_ranks is not None and log.first_ranks[number]:
            event["first"] = int(log.first_ranks[number]) + 1
        if log.propensities is not None and not np.isnan(log.propensities[rows]).all():
            event["propensity"] = log.propensities[rows].tolist()
        if log.policies is not None and log.policy_ids is not None:
            event["policy"] = str(log.policy_ids[log.policies[number]])
        yield event, times

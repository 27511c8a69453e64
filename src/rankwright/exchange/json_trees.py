"""JSON documents of large forests, written tree by tree: all trees as Python's objects take many times their text."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

TREES = "\x00trees"  # stands in a document where its list of trees goes


def json_of(document: Any, trees: Iterable[Any], *, compact: bool = False) -> bytes:
    """The JSON of a document in which `TREES` stands for the list of trees."""
    separators = (",", ":") if compact else (", ", ": ")

    def written(value: Any) -> bytes:
        return json.dumps(value, separators=separators).encode()

    before, after = written(document).split(written(TREES))
    parts = [before, b"["]
    for number, tree in enumerate(trees):
        parts += [separators[0].encode(), written(tree)] if number else [written(tree)]
    return b"".join([*parts, b"]", after])

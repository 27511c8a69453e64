"""Rankers by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rankwright.container.file import read_container
from rankwright.errors import ContainerError, UnknownNameError
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.mart import MART
from rankwright.rankers.ranker import MODEL_KIND, Ranker
from rankwright.rankers.sortnet import SortNet

RANKERS: Mapping[str, type[Ranker]] = {kind.name: kind for kind in (LambdaMART, MART, SortNet)}


def ranker_named(name: str) -> type[Ranker]:
    """The kind of ranker of that name."""
    if name not in RANKERS:
        raise UnknownNameError("ranker", name, known=RANKERS)
    return RANKERS[name]


def load(path: str | os.PathLike[str]) -> Ranker:
    """The ranker in a model file; reading it runs no code."""
    return read_model(path)[0]


def read_model(path: str | os.PathLike[str]) -> tuple[Ranker, dict[str, Any]]:
    """The ranker in a model file, and the file's header."""
    model = read_container(path, MODEL_KIND)
    name = str(model.header.get("ranker"))
    if name not in RANKERS:
        raise ContainerError(os.fspath(path), f"holds a ranker of kind {name!r}, which this release does not know")
    try:
        return RANKERS[name].from_state(model.header, model.arrays), model.header
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        # The checksum holds, so the file is whole: it was written by a later release, or by a stranger.
        problem = f"{error} is not there" if isinstance(error, KeyError) else str(error)
        raise ContainerError(os.fspath(path), f"the parts of the model do not fit together: {problem}") from None

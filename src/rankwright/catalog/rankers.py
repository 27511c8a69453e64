"""Rankers by name."""

from __future__ import annotations

import os
from collections.abc import Mapping

from rankwright.container.file import read_container
from rankwright.errors import ContainerError, UnknownNameError
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.mart import MART
from rankwright.rankers.ranker import MODEL_KIND, Ranker

RANKERS: Mapping[str, type[Ranker]] = {kind.name: kind for kind in (LambdaMART, MART)}


def ranker_named(name: str) -> type[Ranker]:
    """The kind of ranker of that name."""
    if name not in RANKERS:
        raise UnknownNameError("ranker", name, known=RANKERS)
    return RANKERS[name]


def load(path: str | os.PathLike[str]) -> Ranker:
    """The ranker in a model file; reading it runs no code."""
    model = read_container(path, MODEL_KIND)
    name = str(model.header.get("ranker"))
    if name not in RANKERS:
        raise ContainerError(os.fspath(path), f"holds a ranker of kind {name!r}, which this release does not know")
    return RANKERS[name].from_state(model.header, model.arrays)

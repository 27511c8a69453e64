"""Rankers by name, and out of model files."""

from __future__ import annotations

import os
from typing import Any

from rankwright.catalog.kinds import RANKERS, kind_named, model_errors, open_model
from rankwright.errors import require
from rankwright.nets.settings import NetSettings
from rankwright.rankers.ranker import Ranker

__all__ = ["RANKERS", "load", "ranker_named", "read_model"]


def ranker_named(name: str) -> type[Ranker]:
    """The kind of ranker of that name; hyphens may be left out."""
    return kind_named(name).ranker_class()


def load(path: str | os.PathLike[str], *, module: Any = None) -> Ranker:
    """Read a trained ranker from its model file; reading it runs no code.

    Parameters
    ----------
    path : path
        A file that `save`, or the command line, wrote.
    module : torch.nn.Module, optional
        A net that was trained from a module of the user's own needs such a module again, to put the weights into.

    Returns
    -------
    Ranker
        The trained ranker.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.quickstart()
    >>> folder = getfixture("tmp_path")
    >>> rw.LambdaMART(n_trees=3, max_leaves=4).fit(data).save(folder / "ranker.rw")
    >>> rw.load(folder / "ranker.rw").n_trees_
    3
    """
    return read_model(path, module=module)[0]


def read_model(path: str | os.PathLike[str], *, module: Any = None) -> tuple[Ranker, dict[str, Any]]:
    """The ranker in a model file, and the file's header."""
    model, kind = open_model(path)
    require(
        module is None or issubclass(kind.settings, NetSettings) or kind.name == "bagging",
        f"{os.fspath(path)} holds a {kind.name}, which has no module",
    )
    given: dict[str, Any] = {} if module is None else {"module": module}
    if kind.name == "bagging":
        given["kinds"] = RANKERS
    with model_errors(path):
        return kind.ranker_class().from_state(model.header, model.arrays, **given), model.header

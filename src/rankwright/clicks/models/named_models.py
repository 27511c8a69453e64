"""The table of click models, and models read from files."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rankwright.clicks.models.click_model import KIND, ClickModel, restore
from rankwright.clicks.models.counted import Cascade, DependentClicks, DocumentRate, RankRate, SimplifiedDBN
from rankwright.clicks.models.expected import DynamicBayesianNetwork, PositionBasedModel, UserBrowsingModel
from rankwright.container.checks import file_faults, read_field, read_integer, read_number, read_optional_number
from rankwright.container.file import container_kind, read_container
from rankwright.errors import UnknownNameError, require_type

CLICK_MODELS: Mapping[str, type[ClickModel]] = {
    kind.name: kind
    for kind in (
        *(RankRate, DocumentRate, Cascade, DependentClicks, SimplifiedDBN),
        *(PositionBasedModel, UserBrowsingModel, DynamicBayesianNetwork),
    )
}
SETTINGS = ("iterations", "tolerance", "strength", "threads")


def click_model(name: str, **settings: Any) -> ClickModel:
    """A click model, ready to be fitted.

    Parameters
    ----------
    name : str
        One of `CLICK_MODELS`: rank-rate, document-rate, cascade, dcm, sdbn, pbm, ubm or dbn.
    **settings
        `iterations`, `tolerance`, `strength` and `threads`; see `ClickModel`.

    Returns
    -------
    ClickModel
        The model.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q"] * 4, [["a", "b"]] * 4, [[1], [1], [2], []])
    >>> model = rw.clicks.click_model("sdbn", strength=0).fit(log)
    >>> model.parameters_["attraction"].round(2).tolist()
    [0.5, 0.5]
    """
    require_type(name, str, "the name of a click model", "a text")
    if name not in CLICK_MODELS:
        raise UnknownNameError("click model", name, known=CLICK_MODELS)
    for setting in settings:
        if setting not in SETTINGS:
            raise UnknownNameError("setting of a click model", setting, known=SETTINGS)
    return CLICK_MODELS[name](**settings)


def is_click_model(path: str | os.PathLike[str]) -> bool:
    """Whether a file is one of a click model, by its beginning."""
    return container_kind(path) == KIND


def load_click_model(path: str | os.PathLike[str]) -> ClickModel:
    """Read a click model from a file that `ClickModel.save` wrote.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    ClickModel
        The fitted model.
    """
    container = read_container(path, KIND)
    with file_faults(path, "click model"):
        settings = read_field(container.header, "settings", dict)
        model = click_model(
            read_field(container.header, "name", str),
            iterations=read_integer(settings, "iterations", least=1),
            tolerance=read_number(settings, "tolerance"),
            strength=read_optional_number(settings, "strength"),
        )
        model.n_iterations_ = read_integer(container.header, "n_iterations")
        return restore(model, container.header, container.arrays)

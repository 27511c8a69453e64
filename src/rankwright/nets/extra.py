"""The one door to torch, which is an extra: what needs it comes through here."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from rankwright.errors import MissingExtraError


def torch_part(purpose: str) -> Any:
    """The module `torch_net`; one line says how to get torch if `purpose` needs it and it is not installed."""
    if find_spec("torch") is None:
        raise MissingExtraError(purpose, "torch", "nets")
    from rankwright.nets import torch_net

    return torch_net

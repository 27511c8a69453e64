"""Every compiled kernel has a naive twin with the same name and the same arguments."""

from __future__ import annotations

import inspect
import re

import pytest

from rankwright import kernels
from rankwright.kernels import reference

_core = pytest.importorskip("rankwright.kernels._core")
COMPILED = sorted(name for name in vars(_core) if not name.startswith("_"))


def test_the_door_opens_to_every_kernel():
    assert sorted(kernels.NAMES) == COMPILED


@pytest.mark.parametrize("name", COMPILED)
def test_twins_have_the_same_arguments(name):
    signature = getattr(_core, name).__doc__.splitlines()[0]
    compiled_arguments = re.findall(r"[(,] ?(\w+):", signature)
    assert compiled_arguments == list(inspect.signature(getattr(reference, name)).parameters)

"""Every compiled kernel has a naive twin with the same name and the same arguments."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

from rankwright import kernels
from rankwright.kernels import reference
from rankwright.kernels.records import RankedLists

_core = pytest.importorskip("rankwright.kernels._core")
COMPILED = sorted(name for name in vars(_core) if not name.startswith("_"))


def test_the_door_opens_to_every_kernel():
    assert sorted(kernels.NAMES) == COMPILED


@pytest.mark.parametrize("name", COMPILED)
def test_twins_have_the_same_arguments(name):
    signature = getattr(_core, name).__doc__.splitlines()[0]
    compiled_arguments = re.findall(r"[(,] ?(\w+):", signature)
    assert compiled_arguments == list(inspect.signature(getattr(reference, name)).parameters)


@pytest.mark.parametrize("kind", [np.int32, np.float64])
def test_arrays_in_a_record_are_never_converted(kind):
    offsets, n_ranked, tied = np.array([0, 1]), np.array([1]), np.empty(0, np.bool_)
    rows, means = np.zeros(1, np.int64), np.empty(1)
    _core.mean_gain_shares(np.ones(1), RankedLists(offsets, n_ranked, rows, tied), np.ones(1), means, 1)
    assert means[0] == 1.0
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.mean_gain_shares(
            np.ones(1), RankedLists(offsets, n_ranked, rows.astype(kind), tied), np.ones(1), means, 1
        )

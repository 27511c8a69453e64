"""The same data, the same model, on another kind of processor.

NumPy's library of matrices can be told to compute as an old processor does, which adds up in another order.
"""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest
from tests.contracts.trained import learnable, small

from rankwright.catalog.rankers import RANKERS

OLD = {"OPENBLAS_CORETYPE": "Prescott", "NPY_DISABLE_CPU_FEATURES": "AVX2 FMA3"}


def print_models(folder: Path) -> None:
    """A line for each ranker: its name and a digest of its model file."""
    data, path = learnable(), folder / "model.rw"
    for name in RANKERS:
        small(name).fit(data).save(path)
        print(name, hashlib.sha256(path.read_bytes()).hexdigest())  # noqa: T201


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the old processor is one of this kind")
def test_every_ranker_learns_the_same_on_an_old_processor(tmp_path):
    code = "from tests.contracts.test_processors import *; print_models(Path(sys.argv[1]))"
    told = [
        subprocess.run(
            [sys.executable, "-W", "ignore", "-c", code, str(tmp_path)],
            env=os.environ | changes,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        for changes in ({}, OLD)
    ]
    assert len(told[0]) == len(RANKERS)
    assert told[0] == told[1]

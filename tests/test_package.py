"""What a user meets first: the names, their laziness, and the cost of importing."""

from __future__ import annotations

import subprocess
import sys

import pytest

import rankwright

HEAVY = ("scipy", "sklearn", "pandas", "polars", "pyarrow", "torch", "ray", "typer", "rich", "safetensors")


@pytest.mark.parametrize("name", rankwright.__all__)
def test_every_exported_name_exists(name):
    assert getattr(rankwright, name) is not None


def test_the_names_shown_are_the_names_exported():
    assert dir(rankwright) == sorted(rankwright.__all__)
    assert "LambdaMART" in rankwright.__all__


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'LambdaMort'; did you mean LambdaMART"):
        _ = rankwright.LambdaMort  # type: ignore[attr-defined]


def test_importing_loads_nothing_heavier_than_numpy():
    code = f"import sys, rankwright; print([name for name in {HEAVY!r} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"

"""The example of Burges 2005, section 3, says what its page says."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "winner_takes_all.py"


@pytest.fixture(scope="module")
def example():
    return runpy.run_path(str(EXAMPLE))


def test_the_move_mends_996_pairs_and_loses_the_winner(example, capsys):
    example["main"](None)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("998 → 2")
    assert lines[2].endswith("0 → 1")
    assert lines[-1].endswith("has a cost: True, convex: False")


def test_the_cost_of_pairs_falls_all_the_way(example):
    along = example["costs"](example["np"].linspace(0, 1, 21))
    assert (example["np"].diff(along["ranknet"]) < 0).all()
    assert (example["np"].diff(along["pair-error"]) <= 0).all()
    assert (example["np"].diff(along["wta"]) >= 0).all()


def test_who_is_pulled(example):
    alike, swaps, best = (float(first) for first, _ in example["pulls"]().values())
    assert 0.1 < alike < 0.15
    assert swaps == pytest.approx(1 / 3, abs=0.01)
    assert best == 1.0


def test_the_picture_is_drawn(example, tmp_path):
    example["draw"](str(tmp_path / "picture.svg"))
    assert "Pairs get better" in (tmp_path / "picture.svg").read_text()

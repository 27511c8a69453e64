"""Pictures of forces: written whole, the same each time, in the format their name says."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import MissingExtraError, SettingError
from rankwright.objectives import paper_lambdarank, ranknet
from rankwright.report.forces import draw_forces
from rankwright.report.picture import write_picture
from rankwright.report.specs.look import chart

STARTS = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}


def one_query(labels, **parts) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=[len(labels)], **parts)


@pytest.mark.parametrize("kind", STARTS)
def test_the_same_picture_has_the_same_bytes(kind, tmp_path):
    for name in ("one", "two"):
        draw_forces(ranknet(), one_query([1, 0, np.nan]), [0.0, 1.0, 2.0], tmp_path / f"{name}.{kind}")
    one, two = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "two"))
    assert one == two or kind == "pdf"  # whose parts come in any order
    assert one.startswith(STARTS[kind])
    assert two.startswith(STARTS[kind])


def test_the_forces_are_those_of_the_paper(tmp_path):
    found = draw_forces(ranknet(), one_query([1, 0]), [0.0, 0.0], tmp_path / "forces.svg")
    assert_allclose(found, [0.5, -0.5])  # λ = -dC/ds: up for the relevant one
    assert "Forces of ranknet" in (tmp_path / "forces.svg").read_text()


@pytest.mark.parametrize(
    "labels", [[1, 0], [0, 0], [np.nan, np.nan], np.arange(30) / 7, np.arange(100) % 2], ids=lambda labels: len(labels)
)
def test_any_query_can_be_drawn(labels, tmp_path):
    scores = np.random.default_rng(0).normal(size=len(labels))
    draw_forces(paper_lambdarank("ndcg@3"), one_query(labels), scores, tmp_path / "forces.svg")


def test_a_query_of_preferences_alone_can_be_drawn(tmp_path):
    data = RankingDataset.from_arrays(np.zeros((2, 1)), group=[2], preferences=Preferences([0], [1]))
    draw_forces(ranknet(), data, [0.0, 0.0], tmp_path / "forces.svg")


EMPTY = chart("nothing", [], mark="point")


def test_another_ending_is_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(SettingError, match=r"must end in \.svg, \.png, \.pdf"):
        write_picture(EMPTY, tmp_path / "forces.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="Vega-Lite"):
        write_picture(EMPTY | {"mark": "no such mark"}, tmp_path / "forces.svg")
    assert list(tmp_path.iterdir()) == []


def test_without_the_converter_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("vl_convert"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install '[.a-z]+\[report\]'"):
        write_picture(EMPTY, tmp_path / "forces.svg")

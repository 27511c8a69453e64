"""Pictures: written whole, the same bytes each time, in the format their name says."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.objectives import paper_lambdarank, ranknet
from rankwright.report.drawing import draw_compression, draw_examination, draw_forces, draw_training
from rankwright.report.specs.theme import IN_PICTURES, colours_of

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


CURVES: dict[str, Any] = {"pbm": [1.0, 0.6, 0.3], "clicks": np.array([1.0, 0.4, 0.1])}


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_curves_of_examination_are_drawn_with_the_same_bytes(kind, tmp_path):
    pytest.importorskip("vl_convert")
    paths = [tmp_path / f"{n}.{kind}" for n in range(2)]
    for path in paths:
        draw_examination(CURVES, path, title="Curves")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    if kind == "svg":
        assert all(text in paths[0].read_text() for text in ("pbm", "clicks", "Curves", "rank"))


def test_curves_that_cannot_be_drawn_are_refused(tmp_path):
    wrong: list[dict[str, Any]] = [{}, {"a": []}, {"a": [[1.0]]}, {"a": [np.nan]}]
    for curves in wrong:
        with pytest.raises(SettingError, match="curve"):
            draw_examination(curves, tmp_path / "a.svg")
    with pytest.raises(SettingError, match=r"must end in \.svg"):
        draw_examination(CURVES, tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def parts():
    return rw.synthetic.web_search(n_queries=20, seed=0).split(valid=0.3, seed=0)


@pytest.mark.parametrize(("kind", "start"), [("svg", b"<svg"), ("png", b"\x89PNG")])
def test_sortnets_iterations_are_drawn_the_same_each_time(kind, start, parts, tmp_path):
    ranker = rw.SortNet(hidden=3, max_iter=2, epochs=3).fit(parts[0], valid=parts[1])
    for name in ("one", "two"):
        draw_training(ranker, tmp_path / f"{name}.{kind}")
    one, two = ((tmp_path / f"{name}.{kind}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert one.startswith(start)
    if kind == "svg":
        assert "Pairs held" in one.decode()
        assert f"training: {ranker.iterations_[-1].n_pairs:,}" in one.decode()
        assert f"{ranker.history_.best_value:.4f}" in one.decode()


def test_what_a_forest_watched_is_drawn(parts, tmp_path):
    ranker = rw.LambdaMART(n_trees=3, max_leaves=3).fit(parts[0], valid=parts[1])
    draw_training(ranker, tmp_path / "training.svg")
    assert "ndcg@10" in (tmp_path / "training.svg").read_text()


def test_where_nothing_was_watched_there_is_nothing_to_draw(parts, tmp_path):
    ranker = rw.LambdaMART(n_trees=1, max_leaves=3).fit(parts[0])
    with pytest.raises(InputError, match="this lambdamart was trained without validation data"):
        draw_training(ranker, tmp_path / "training.svg")


def test_the_picture_of_a_compression_names_the_metric_and_the_means(compressed, tmp_path):
    pytest.importorskip("vl_convert")
    draw_compression(compressed, tmp_path / "curve.svg")
    text = (tmp_path / "curve.svg").read_text()
    for words in ("ndcg@10, validation part", "nodes", "microseconds to score a document", "exact", "prune", "chosen"):
        assert words in text


def test_every_click_model_has_a_colour_of_its_own():
    colours = colours_of(len(rw.clicks.CLICK_MODELS))
    assert len(set(colours)) == len(colours)
    assert len({IN_PICTURES[colour[1:]] for colour in colours}) == len(colours)
    theme = files("rankwright.report").joinpath("page/assets/theme.css").read_text()
    assert all(theme.count(f"--{colour[1:]}: #") == 2 for colour in colours)  # light and dark

"""Pictures of training."""

from __future__ import annotations

import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.report.training import draw_training


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

"""What a ranker and its results show: frames, pictures, names to complete."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.settings.spaces import Choice


@pytest.fixture(scope="module")
def parts():
    return rw.synthetic.web_search(n_queries=20, seed=0).split(valid=0.4, seed=0)


@pytest.fixture(scope="module")
def ranker(parts):
    train, valid = parts
    return rw.LambdaMART(n_trees=5, max_leaves=4).fit(train, valid=valid)


def test_the_curve_and_the_importances_are_drawn_on_the_axes_given(ranker):
    figure = pytest.importorskip("matplotlib.figure").Figure()
    left, right = figure.subplots(1, 2)
    assert ranker.plot(ax=left) is left
    assert ranker.plot_importances(top=3, ax=right) is right
    assert left.get_ylabel() == "ndcg@10"
    assert len(right.patches) == 3


def test_without_validation_there_is_no_curve(parts):
    with pytest.raises(InputError, match="there is no curve to draw"):
        rw.LambdaMART(n_trees=1).fit(parts[0]).plot()


def test_internals_are_not_among_the_names_to_complete(ranker, parts):
    names = dir(ranker)
    assert {"fit", "predict", "top", "plot", "history_", "n_trees"} <= set(names)
    assert not {"seen_by_model", "scores_in_place", "from_state", "_lesson"} & set(names)
    found = rw.evaluate(ranker.predict(parts[1]), parts[1], ["ndcg@10"])
    assert not [name for name in dir(found) if name.startswith("_") and not name.startswith("__")]


def test_results_are_frames(ranker, parts):
    _, valid = parts
    found = rw.evaluate(ranker.predict(valid), valid, ["ndcg@10", "map"])
    assert found.to_frame()["metric"].tolist() == ["ndcg@10", "map"]
    assert repr(found) == str(found)
    both = rw.compare({"ranker": ranker, "first": valid.features[:, 0]}, valid, ["ndcg@10"])
    assert len(both.to_frame()) == 2
    assert "<table>" in both._repr_html_()
    frame = valid.to_frame()
    assert frame.shape == (valid.n_docs, valid.n_features + 2)
    np.testing.assert_array_equal(frame["label"], valid.in_source_order(valid.labels))
    assert repr(valid) in valid._repr_html_()


def test_searches_are_frames_and_a_listener_ends_them(parts, here):
    train, valid = parts
    space = {"max_leaves": Choice((2, 3, 4))}
    seen = []

    def enough(progress):
        seen.append((progress.done, progress.total, progress.metric))
        return len(seen) == 2

    found = rw.tune(
        rw.LambdaMART(n_trees=2), train, valid=valid, space=space, strategy="grid", engine=here, listeners=[enough]
    )
    assert seen == [(1, 3, "ndcg@10"), (2, 3, "ndcg@10")]
    assert len(found.trials) == 2
    assert found.to_frame()["max_leaves"].tolist() == [2, 3]
    assert "2 trials, 2 experiments" in str(found)
    validated = rw.cross_validate(rw.LambdaMART(n_trees=2), train, folds=2, metrics=["map"], engine=here)
    assert list(validated.to_frame().columns) == ["metric", "mean", "low", "high", "fold 1", "fold 2"]
    assert repr(validated).startswith("lambdamart: 2 folds, 1 seed, ")


def test_verbose_is_no_setting(ranker):
    assert "verbose" not in ranker.get_params()

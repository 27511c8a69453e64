"""A user's own λ: called as promised, weighed, and checked."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.objectives import SquaredError, from_function

SIZES = [3, 0, 1, 4]
LABELS = np.array([0, 1, 2, 1, 0, 0, 3, 1], dtype=np.float32)


def data_of(**parts) -> RankingDataset:
    return RankingDataset.from_arrays(np.zeros((8, 1)), LABELS, group=SIZES, **parts)


def pull(scores, labels):
    return scores - labels


def pull_with_cost(scores, labels):
    return scores - labels, np.ones(len(scores)), 0.5 * ((scores - labels) ** 2).sum()


def pull_all(scores, labels, offsets):
    cost = [0.5 * ((scores[a:b] - labels[a:b]) ** 2).sum() for a, b in pairwise(offsets)]
    return scores - labels, np.ones(len(scores)), np.array(cost)


SCORES = np.random.default_rng(0).normal(size=8)


@pytest.mark.parametrize(
    "objective", [from_function(pull_with_cost), from_function(pull_all, scope="all")], ids=["query", "all"]
)
@pytest.mark.parametrize("queries", [None, [3], [3, 0], []])
def test_it_is_as_good_as_a_built_in_one(objective, queries):
    data = data_of(query_weights=[1, 1, 2, 3], document_weights=np.ones(8))
    scores = SCORES if queries is None else SCORES[data.groups.rows_of(np.array(queries, dtype=np.int64))]
    own, built_in = objective.bind(data)(scores, queries=queries), SquaredError().bind(data)(scores, queries=queries)
    for mine, theirs in zip(own, built_in, strict=True):
        assert_allclose(mine, theirs, rtol=1e-6)
    assert own.gradient.dtype == np.float32


def test_a_document_weight_multiplies_its_own_force():
    weights = np.arange(8, dtype=np.float32)
    found = from_function(pull).bind(data_of(document_weights=weights), dtype=np.float64)(SCORES)
    assert_allclose(found.gradient, weights * (SCORES - LABELS))
    assert_allclose(found.curvature, weights)


def test_without_curvature_it_is_one_and_without_cost_there_is_none():
    found = from_function(pull).bind(data_of())(SCORES)
    assert_array_equal(found.curvature, 1.0)
    assert np.isnan(found.cost).all()
    assert len(found.cost) == len(SIZES)


def test_it_sees_one_query_at_a_time_in_float64_scores_and_float32_labels():
    seen = []

    def remember(scores, labels):
        seen.append((scores.dtype, labels.dtype, scores.tolist(), labels.tolist()))
        return np.zeros(len(scores))

    from_function(remember).bind(data_of())(SCORES)
    assert [len(scores) for _, _, scores, _ in seen] == SIZES
    assert {(scores, labels) for scores, labels, *_ in seen} == {(np.dtype(np.float64), np.dtype(np.float32))}
    assert [label for *_, labels in seen for label in labels] == LABELS.tolist()


def test_a_function_may_work_in_place():
    def shift_in_place(scores, labels):
        scores -= labels
        labels[:] = 0
        return scores

    scores, data = SCORES.copy(), data_of()
    bound = from_function(shift_in_place).bind(data)
    first, second = bound(scores), bound(scores)
    assert_array_equal(scores, SCORES)
    assert_array_equal(data.labels, LABELS)
    assert_array_equal(first.gradient, second.gradient)


def test_integers_count_as_numbers():
    found = from_function(lambda scores, labels: np.zeros(len(scores), int)).bind(data_of())(SCORES)  # noqa: ARG005
    assert_array_equal(found.gradient, 0.0)


@pytest.mark.parametrize(
    ("function", "problem"),
    [
        (lambda s, _: s[:-1], r"gradient of shape \(2,\) for query 0 with 3 documents; wanted shape \(3,\)"),
        (lambda s, _: np.stack([s, s], axis=1), r"gradient of shape \(3, 2\)"),
        (lambda s, _: s + np.nan, "gradient with nan for query 0"),
        (lambda s, _: s / 0.0, "gradient with -?inf"),
        (lambda s, _: s + 1j, "gradient of complex128"),
        (lambda s, _: ["a"] * len(s), "wanted real numbers"),
        (lambda s, _: {"gradient": s}, "gradient of object"),
        (lambda s, _: (s, s[:-1]), r"curvature of shape \(2,\)"),
        (lambda s, _: (s, -np.ones(len(s))), "curvature of -1 for query 0 with 3 documents; wanted 0 or more"),
        (lambda s, _: (s, abs(s), s), r"cost of shape \(3,\)"),
        (lambda s, _: (s, abs(s), 0.0, 0.0), "4 parts"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero")
def test_what_is_wrong_is_said(function, problem):
    bound = from_function(function, name="mine").bind(data_of())
    with pytest.raises(InputError, match=f"λ-function 'mine' gave .*{problem}"):
        bound(SCORES)


def test_the_query_where_it_went_wrong_is_named():
    def breaks_on_four(scores, labels):
        return labels if len(scores) < 4 else labels[1:]

    with pytest.raises(InputError, match="for query 3 with 4 documents"):
        from_function(breaks_on_four).bind(data_of())(SCORES)


def test_names():
    assert from_function(pull).name == "pull"
    assert from_function(pull, name="mine").name == "mine"
    assert from_function(pull) == from_function(pull)


@pytest.mark.parametrize("kind", ["LambdaMART", "NetRanker"])
def test_a_plain_function_is_an_objective(kind, small_data, tmp_path):
    few = {"n_trees": 2} if kind == "LambdaMART" else {"epochs": 1}
    plain, made = (
        getattr(rw, kind)(objective=one, threads=1, **few).fit(small_data) for one in (pull, from_function(pull))
    )
    for number, ranker in enumerate((plain, made)):
        ranker.save(tmp_path / f"{number}.rw")
    assert (tmp_path / "0.rw").read_bytes() == (tmp_path / "1.rw").read_bytes()
    assert rw.load(tmp_path / "0.rw").objective == "pull"
    assert rw.diagnose(pull, [1, 0], points=2, loops=2).objective == "pull"


def test_it_needs_labels():
    data = RankingDataset.from_arrays(np.zeros((2, 1)), group=[2], preferences=Preferences([0], [1]))
    with pytest.raises(InputError, match="objective pull needs labels"):
        from_function(pull).bind(data)


def test_it_must_be_callable_and_have_a_scope():
    with pytest.raises(SettingError, match="must be callable, got 3"):
        from_function(3)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="scope must be 'query' or 'all', got 'list'"):
        from_function(pull, scope="list")  # type: ignore[arg-type]

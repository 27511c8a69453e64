"""The generic delta, which scores a list, swaps two documents and scores it again, against every closed form."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError, UnknownNameError
from rankwright.metrics.evaluation import evaluate
from rankwright.objectives import Hinge, PairwiseObjective, delta_named
from rankwright.objectives.deltas import ERR, NDCG, Delta
from rankwright.ranking.gains import LETOR, LINEAR, Gain

WIDE = Hinge(margin=1e6)  # so wide that every pair pushes with its delta alone

CASES: dict[str, tuple[Delta, str]] = {
    name: (delta_named(name), name)
    for name in ("ndcg", "ndcg@3", "dcg@4", "map", "map@3", "mrr", "mrr@2", "wta", "p@3", "recall@3", "hit@2")
} | {
    "err@4": (ERR(4, max_grade=4), "err@4"),
    "err of all": (ERR(max_grade=4), "err@1000"),
    "linear ndcg": (NDCG(5, gain=LINEAR), "ndcg@5:standard(gain=linear)"),
    "letor ndcg": (NDCG(5, discounted_by=LETOR), "ndcg@5:standard(discount=letor)"),
}

lists = st.lists(
    st.tuples(st.sampled_from([0, 0, 0, 1, 2, 4, 2.5, np.nan]), st.integers(-50, 50)),
    min_size=2,
    max_size=9,
    unique_by=lambda document: document[1],
)


def generic_deltas(metric: str, labels: np.ndarray, scores: np.ndarray) -> dict[tuple[int, int], float]:
    """Score the list, swap the scores of two documents, score it again."""
    pairs = list(combinations(range(len(labels)), 2))
    swapped = np.tile(scores, (len(pairs) + 1, 1))
    for row, (a, b) in enumerate(pairs, start=1):
        swapped[row, [a, b]] = scores[[b, a]]
    data = copies(labels, len(pairs) + 1)
    (result,) = evaluate(swapped.ravel(), data, [metric]).results.values()
    return dict(zip(pairs, np.abs(result.values[1:] - result.values[0]), strict=True))


def copies(labels: np.ndarray, n: int, preferences: Preferences | None = None) -> RankingDataset:
    return RankingDataset.from_arrays(
        np.zeros((n * len(labels), 1)), np.tile(labels, n), group=[len(labels)] * n, preferences=preferences
    )


@pytest.mark.parametrize("name", CASES)
@given(documents=lists)
def test_the_closed_form_is_the_change_of_the_metric(name, documents):
    delta, metric = CASES[name]
    labels, scores = (np.array(values, dtype=float) for values in zip(*documents, strict=True))
    wanted = generic_deltas(metric, labels, scores)
    first, second = np.array(list(wanted)).T + len(labels) * np.arange(len(wanted))
    data = copies(labels, len(wanted), Preferences(first, second))
    found = PairwiseObjective(WIDE, delta).bind(data, dtype=np.float64)(np.tile(scores, len(wanted))).gradient
    assert_allclose(-found[first], list(wanted.values()), atol=1e-12)


@pytest.mark.parametrize("name", CASES)
@given(documents=lists)
def test_pairs_of_labels_feel_the_same_change(name, documents):
    delta, metric = CASES[name]
    labels, scores = (np.array(values, dtype=float) for values in zip(*documents, strict=True))
    wanted = np.zeros(len(labels))
    for (a, b), change in generic_deltas(metric, labels, scores).items():
        towards_a = np.nan_to_num(np.sign(labels[a] - labels[b]))
        wanted[a] -= change * towards_a
        wanted[b] += change * towards_a
    found = PairwiseObjective(WIDE, delta).bind(copies(labels, 1), dtype=np.float64)(scores).gradient
    assert_allclose(found, wanted, atol=1e-11)


def test_a_gain_of_the_users_own():
    squares = Gain.of_function("squares", lambda labels: labels.astype(float) ** 2)
    data = RankingDataset.from_arrays(np.zeros((2, 1)), [3, 1], group=[2])
    found = PairwiseObjective(WIDE, NDCG(gain=squares)).bind(data, dtype=np.float64)([1.0, 0.0]).gradient
    discount = 1 / np.log2(3)
    assert_allclose(-found[0], (9 - 1) * (1 - discount) / (9 + 1 * discount))


def test_a_tail_tells_documents_beyond_the_cutoff_apart():
    data = RankingDataset.from_arrays(np.zeros((4, 1)), [0, 0, 0, 1], group=[4])
    scores = [4.0, 3.0, 2.0, 1.0]
    cut, tailed = (
        PairwiseObjective(WIDE, NDCG(2, tail=tail)).bind(data, dtype=np.float64)(scores).gradient
        for tail in (False, True)
    )
    at = 1 / np.log2(np.arange(2, 6))
    assert_allclose(cut, [at[0], at[1], 0, -at[0] - at[1]])
    assert_allclose(tailed, [at[0] - at[3], at[1] - at[3], at[2] - at[3], 3 * at[3] - at[0] - at[1] - at[2]])


def test_grades_beyond_the_highest_are_refused():
    data = RankingDataset.from_arrays(np.zeros((2, 1)), [3, 1], group=[2])
    with pytest.raises(InputError, match="max_grade 2, but there is a label 3"):
        PairwiseObjective(delta=ERR(max_grade=2)).bind(data)


@pytest.mark.parametrize("grade", [20, 25, 40])
def test_a_stop_that_is_all_but_sure_has_forces_in_single_precision_too(grade):
    data = RankingDataset.from_arrays(np.zeros((6, 1)), [grade, 0, grade - 1, 1, grade, 3], group=[6])
    scores = [0.3, 0.9, 0.1, 0.5, -0.2, 0.4]
    single, double = (
        PairwiseObjective(WIDE, ERR()).bind(data, dtype=dtype)(scores).gradient for dtype in (np.float32, np.float64)
    )
    assert_allclose(single, double, atol=1e-6)


@pytest.mark.parametrize("name", ["wta@3", "constant@2"])
def test_some_metrics_have_no_cutoff(name):
    with pytest.raises(SettingError, match="has no cutoff"):
        delta_named(name)


@pytest.mark.parametrize("name", ["ndgc@10", "ndcg@", "NDCG@10", "pair-error"])
def test_unknown_metrics_are_named_with_the_known_ones(name):
    with pytest.raises(UnknownNameError, match="unknown metric to aim at"):
        delta_named(name)


def test_a_cutoff_of_nothing_is_refused():
    with pytest.raises(SettingError, match="cutoff must be 1 or more"):
        delta_named("ndcg@0")

"""What a swap changes, for every metric and convention that can be aimed at.

The oracle scores a list, swaps two documents and scores it again, under the convention as far as a swap can see it.
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError, UnknownNameError
from rankwright.metrics.convention import (
    CONVENTIONS,
    RULES,
    Convention,
    Empty,
    MapOver,
    PrecisionOver,
    Relevance,
    ScorePrecision,
    Short,
    Stop,
    Unjudged,
)
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.list_metrics import NDCG, AveragePrecision
from rankwright.metrics.metric_table import METRICS, Measure, parse_metric
from rankwright.objectives import DELTAS, Hinge, MetricDelta, PairwiseObjective, delta_named
from rankwright.objectives.deltas import Constant, as_delta
from rankwright.ranking.gains import LETOR, LINEAR, Gain
from rankwright.ranking.order import Ties

WIDE = Hinge(margin=1e6)  # so wide that every pair pushes with its delta alone

AIMED_AT = [
    name + cutoff
    for name, family in METRICS.items()
    if family.has_swaps
    for cutoff in {"": [""], "@k": ["@3"], "[@k]": ["", "@3"]}[family.cutoff]
]
OWN_CONVENTIONS = ["standard(gain=0/1/5/5/6)", "standard(discount=reciprocal, relevant>=2)", "letor(gain=linear)"]
MEASURES = [parse_metric(name, convention) for name in AIMED_AT for convention in (*CONVENTIONS, *OWN_CONVENTIONS)]

# A value other than the standard one for each rule, by whether a swap can see the rule.
SEEN = {
    "gain": LINEAR,
    "discount": LETOR,
    "precision_over": PrecisionOver.LIST,
    "map_over": MapOver.RELEVANT,
    "relevant": Relevance(2.0, inclusive=True),
    "stop": Stop.LABEL,
    "max_grade": 9.0,
}
UNSEEN = {
    "empty": Empty.SKIP,
    "empty_map": Empty.ONE,
    "short": Short.ZERO,
    "ties": Ties.PESSIMISTIC,
    "scores": ScorePrecision.SINGLE,
    "unjudged": Unjudged.SKIP,
}
OTHER_VALUES: dict[str, Any] = SEEN | UNSEEN


def as_a_swap_sees_it(measure: Measure) -> Measure:
    """The measure with the standard choice for every rule that a swap does not see or the metric does not depend on."""
    seen = measure.metric.depends_on & SEEN.keys()
    choices: dict[str, Any] = {rule: getattr(measure.convention, rule) for rule in seen}
    return Measure(measure.metric, replace(Convention(), **choices))


# One measure of those that look the same to a swap; its forces must be the changes of the measure as a swap sees it.
DISTINCT = {as_a_swap_sees_it(measure): measure for measure in reversed(MEASURES)}
every_measure = pytest.mark.parametrize(
    ("measure", "seen"), [(measure, seen) for seen, measure in DISTINCT.items()], ids=lambda measure: measure.name
)


def random_lists(measure: Measure, n_lists: int = 40) -> list[tuple[np.ndarray, np.ndarray]]:
    """Labels, as the measure can take them, and scores, no two of them equal, of lists of 2 to 9 documents."""
    rng = np.random.default_rng(0)
    fractions = [] if "/" in measure.convention.gain.name else [2.5, 0.75]
    scale = 0.25 if measure.convention.stop is Stop.LABEL else 1.0
    lists = []
    for size in rng.integers(2, 10, size=n_lists):
        labels = scale * rng.choice([0, 0, 0, 1, 2, 4, np.nan, *fractions], size=size)
        lists.append((labels, rng.permutation(size).astype(float)))
    return lists


def data_of(lists: list[np.ndarray], preferences: Preferences | None = None) -> RankingDataset:
    labels = np.concatenate(lists)
    return RankingDataset.from_arrays(
        np.zeros((len(labels), 1)), labels, group=[len(own) for own in lists], preferences=preferences
    )


def changes_by_swaps(measure: Measure, labels: np.ndarray, scores: np.ndarray) -> dict[tuple[int, int], float]:
    """Score the list, swap the scores of two documents, score it again."""
    pairs = list(combinations(range(len(labels)), 2))
    swapped = np.tile(scores, (len(pairs) + 1, 1))
    for row, (a, b) in enumerate(pairs, start=1):
        swapped[row, [a, b]] = scores[[b, a]]
    (result,) = evaluate(swapped.ravel(), data_of([labels] * len(swapped)), [measure]).results.values()
    return dict(zip(pairs, np.abs(result.values[1:] - result.values[0]), strict=True))


@every_measure
def test_the_closed_form_is_the_change_of_the_metric(measure, seen):
    lists, scores, better, worse, wanted = [], [], [], [], []  # one list a swap
    n_docs = 0
    for labels, own_scores in random_lists(measure):
        for (a, b), change in changes_by_swaps(seen, labels, own_scores).items():
            lists.append(labels)
            scores.append(own_scores)
            better.append(n_docs + a)
            worse.append(n_docs + b)
            wanted.append(change)
            n_docs += len(labels)
    data = data_of(lists, Preferences(np.array(better), np.array(worse)))
    found = PairwiseObjective(WIDE, as_delta(measure)).bind(data, dtype=np.float64)(np.concatenate(scores)).gradient
    assert_allclose(-found[better], wanted, atol=1e-7 if measure.metric.name.startswith("err") else 1e-12)
    assert max(wanted) > 0.1


@every_measure
def test_pairs_of_labels_feel_the_same_change(measure, seen):
    lists = random_lists(measure)
    wanted = [np.zeros(len(labels)) for labels, _ in lists]
    for forces, (labels, scores) in zip(wanted, lists, strict=True):
        for (a, b), change in changes_by_swaps(seen, labels, scores).items():
            towards_a = np.nan_to_num(np.sign(labels[a] - labels[b]))
            forces[a] -= change * towards_a
            forces[b] += change * towards_a
    bound = PairwiseObjective(WIDE, as_delta(measure)).bind(data_of([labels for labels, _ in lists]), dtype=np.float64)
    found = bound(np.concatenate([scores for _, scores in lists])).gradient
    assert_allclose(found, np.concatenate(wanted), atol=1e-6 if measure.metric.name.startswith("err") else 1e-11)


@pytest.mark.parametrize("rule", RULES)
def test_a_swap_sees_the_rules_that_decide_worth_and_discount_and_no_others(rule):
    rng = np.random.default_rng(1)
    groups = Groups.of_sizes(rng.integers(1, 6, size=30))
    labels = rng.choice([0, 0, 1, 1] if rule == "stop" else [0, 0, 0.75, 1, 4], size=groups.n_docs).astype(np.float32)
    other = replace(Convention(), **{rule: OTHER_VALUES[rule]})
    for name in AIMED_AT:
        usual, changed = (as_delta(parse_metric(name, convention)) for convention in (Convention(), other))
        is_same = np.array_equal(usual.worth(labels, groups, 1), changed.worth(labels, groups, 1)) and np.array_equal(
            usual.discount(9), changed.discount(9)
        )
        depends = (
            rule in SEEN and rule in parse_metric(name).metric.depends_on and not (rule == "map_over" and name == "map")
        )
        assert is_same == (not depends), name


def test_the_documentation_names_the_rules_that_a_swap_sees():
    page = (Path(__file__).parents[2] / "docs" / "objectives.md").read_text().split("### Conventions\n")[1]
    rows = [line.split("|")[1:3] for line in page.split("\n### ")[0].splitlines() if line.startswith("| `")]
    told = {rule: answer.strip().startswith("yes") for rules, answer in rows for rule in re.findall(r"`(\w+)`", rules)}
    assert told == {rule: rule in SEEN for rule in RULES}


def test_every_name_reads_back():
    for name in ["constant", *AIMED_AT, *(measure.name for measure in MEASURES), "ndcg@3:standard"]:
        assert delta_named(name).name == name
        assert delta_named(delta_named(name).name) == delta_named(name)


def test_every_metric_with_swaps_can_be_aimed_at():
    assert set(DELTAS) == {Constant.name} | {name for name, family in METRICS.items() if family.has_swaps}
    assert DELTAS["ndcg"](cutoff=3) == delta_named("ndcg@3")


@pytest.mark.parametrize(
    ("name", "full"), [("p", "p@10"), ("recall", "recall@10"), ("hit", "hit@10"), ("dcg", "dcg"), ("err", "err")]
)
def test_a_cutoff_may_be_left_out(name, full):
    delta = delta_named(name)
    assert delta.name == full
    assert len(delta.discount(1000)) == (10 if "@" in full else 1000)


def test_without_a_convention_the_highest_grade_is_the_highest_label():
    labels, groups = np.array([0, 2, 1], np.float32), Groups.of_sizes([3])
    assert_array_equal(delta_named("err").worth(labels, groups, 1), [0, 3 / 2**2, 1 / 2**2])
    assert_array_equal(delta_named("err:standard").worth(labels, groups, 1), [0, 3 / 2**4, 1 / 2**4])
    assert_array_equal(delta_named("err").worth(0 * labels, groups, 1), [0, 0, 0])


def test_a_gain_of_the_users_own():
    squares = Gain.of_function("squares", lambda labels: labels.astype(float) ** 2)
    data = RankingDataset.from_arrays(np.zeros((2, 1)), [3, 1], group=[2])
    aimed_at = as_delta(parse_metric("ndcg", Convention(gain=squares)))
    found = PairwiseObjective(WIDE, aimed_at).bind(data, dtype=np.float64)([1.0, 0.0]).gradient
    discount = 1 / np.log2(3)
    assert_allclose(-found[0], (9 - 1) * (1 - discount) / (9 + 1 * discount))


def test_a_tail_tells_documents_beyond_the_cutoff_apart():
    data = RankingDataset.from_arrays(np.zeros((4, 1)), [0, 0, 0, 1], group=[4])
    scores = [4.0, 3.0, 2.0, 1.0]
    cut, tailed = (
        PairwiseObjective(WIDE, MetricDelta(NDCG(2), tail=tail)).bind(data, dtype=np.float64)(scores).gradient
        for tail in (False, True)
    )
    at = 1 / np.log2(np.arange(2, 6))
    assert_allclose(cut, [at[0], at[1], 0, -at[0] - at[1]])
    assert_allclose(tailed, [at[0] - at[3], at[1] - at[3], at[2] - at[3], 3 * at[3] - at[0] - at[1] - at[2]])


def test_only_ndcg_has_a_tail():
    with pytest.raises(SettingError, match="only ndcg has a tail, not map@3"):
        MetricDelta(AveragePrecision(3), tail=True)


def test_grades_beyond_the_highest_are_refused():
    data = RankingDataset.from_arrays(np.zeros((2, 1)), [3, 1], group=[2])
    with pytest.raises(InputError, match="takes labels from 0 to 2, but there is a label 3"):
        PairwiseObjective(delta=delta_named("err:standard(max_grade=2)")).bind(data)


@pytest.mark.parametrize("grade", [20, 25, 40])
def test_a_stop_that_is_all_but_sure_has_forces_in_single_precision_too(grade):
    data = RankingDataset.from_arrays(np.zeros((6, 1)), [grade, 0, grade - 1, 1, grade, 3], group=[6])
    scores = [0.3, 0.9, 0.1, 0.5, -0.2, 0.4]
    single, double = (
        PairwiseObjective(WIDE, delta_named("err")).bind(data, dtype=dtype)(scores).gradient
        for dtype in (np.float32, np.float64)
    )
    assert_allclose(single, double, atol=1e-6)


@pytest.mark.parametrize("name", ["wta@3", "constant@2", "constant:letor"])
def test_some_metrics_have_no_cutoff(name):
    with pytest.raises(SettingError, match="takes no cutoff"):
        delta_named(name)


@pytest.mark.parametrize("name", ["ndgc@10", "ndcg@", "NDCG@10", "pair-error", "mean-ndcg:letor"])
def test_other_metrics_are_refused_with_those_that_can_be_aimed_at(name):
    with pytest.raises(UnknownNameError, match=r"unknown metric to aim at .*Known: constant, dcg, err, hit, map"):
        delta_named(name)


def test_a_measure_that_no_swap_can_change_is_refused():
    with pytest.raises(
        UnknownNameError,
        match=r"unknown metric to aim at 'pair-accuracy'.*Known: constant, dcg, err, hit, map",
    ):
        as_delta(parse_metric("pair-accuracy:letor"))


def test_an_unknown_convention_is_named_with_the_known_ones():
    with pytest.raises(UnknownNameError, match="unknown convention 'lettor'; did you mean 'letor'"):
        delta_named("ndcg@10:lettor")


def test_a_cutoff_of_nothing_is_refused():
    with pytest.raises(SettingError, match="cutoff must be a whole number, 1 or more"):
        delta_named("ndcg@0")

"""Laws of every registered metric under every named convention.

A metric is tried once for each choice of the rules it depends on; that it depends on no others is a law too. All of a
metric's measures are counted in one evaluation; a failure names the one that broke the law.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rankwright import kernels
from rankwright.data.dataset import RankingDataset
from rankwright.kernels import reference
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
from rankwright.metrics.metric_table import METRICS, Measure, parse_metric
from rankwright.ranking.gains import LETOR, LINEAR
from rankwright.ranking.order import Ties

NAMES = [
    name + cutoff
    for name, family in METRICS.items()
    for cutoff in {"": [""], "@k": ["@4"], "[@k]": ["", "@4"]}[family.cutoff]
]
MEASURES = [parse_metric(name, convention) for name in NAMES for convention in CONVENTIONS]


def as_far_as_it_matters(measure: Measure) -> Measure:
    """The measure with the standard choice for every rule that its metric does not depend on."""
    choices: dict[str, Any] = {rule: getattr(measure.convention, rule) for rule in measure.metric.depends_on}
    return Measure(measure.metric, replace(Convention(), **choices))


def is_of_probabilities(measure: Measure) -> bool:
    return measure.convention.stop is Stop.LABEL


# The distinct measures of each metric; those that take labels for probabilities are apart, because they need other
# labels.
DISTINCT: dict[str, tuple[Measure, ...]] = {}
for measure in dict.fromkeys(map(as_far_as_it_matters, MEASURES)):
    group = measure.metric.name + (" of probabilities" if is_of_probabilities(measure) else "")
    DISTINCT[group] = (*DISTINCT.get(group, ()), measure)

every_metric = pytest.mark.parametrize("measures", DISTINCT.values(), ids=DISTINCT)


def ids_of(n_docs: int) -> np.ndarray:
    return np.array([f"d{row}" for row in range(n_docs)], dtype=np.dtypes.StringDType())


def data_of(labels, sizes) -> RankingDataset:
    n = len(labels)
    return RankingDataset.from_arrays(np.zeros((n, 1)), labels, group=sizes, document_ids=ids_of(n))


def random_lists(seed: int, measures: Sequence[Measure], n_queries: int = 18):
    """Sizes and labels of queries, some empty, some of one document; labels as the measures can take them."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[0, 1, 1, 2], rng.integers(1, 13, size=n_queries - 4)])
    labels = rng.choice([0, 0, 0, 1, 2, 4, 0.75], size=int(sizes.sum()))
    labels[np.repeat(np.arange(n_queries) % 5 == 1, sizes)] = 0
    if is_of_probabilities(measures[0]):
        labels = labels / 4
    return rng, sizes, labels


def all_values(measures: Sequence[Measure], scores, data: RankingDataset, threads: int = 1) -> dict[str, np.ndarray]:
    results = evaluate(scores, data, measures, threads=threads).results.values()
    return {result.measure.name: result.values for result in results}


def values_of(measure: Measure, scores, data: RankingDataset, threads: int = 1) -> np.ndarray:
    return all_values([measure], scores, data, threads)[measure.name]


def assert_same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray], rtol: float = 0.0) -> None:
    assert list(found) == list(wanted)
    for name, values in found.items():
        np.testing.assert_allclose(values, wanted[name], rtol=rtol, atol=0.0, equal_nan=True, err_msg=name)


def is_never_better(measure: Measure, values: np.ndarray, than: np.ndarray) -> bool:
    np.testing.assert_array_equal(np.isnan(values), np.isnan(than))
    counted = ~np.isnan(than)
    gain = (values - than)[counted] if measure.higher_is_better else (than - values)[counted]
    return bool((gain <= 1e-12).all())


def test_every_name_parses_back():
    for measure in MEASURES:
        assert parse_metric(measure.name) == measure
        assert parse_metric(measure.name).name == measure.name


@every_metric
def test_the_ideal_order_has_the_best_value(measures):
    rng, sizes, labels = random_lists(0, measures)
    data = data_of(labels, sizes)
    best = all_values(measures, labels, data)
    for _ in range(5):
        values = all_values(measures, rng.integers(0, 6, size=len(labels)), data)
        for measure in measures:
            assert is_never_better(measure, values[measure.name], than=best[measure.name]), measure


@every_metric
def test_a_worse_swap_never_improves_it(measures):
    rng, sizes, labels = random_lists(1, measures)
    data = data_of(labels, sizes)
    scores = rng.permutation(len(labels)).astype(float)
    before = all_values(measures, scores, data)
    for _ in range(8):
        swapped = scores.copy()
        for rows in data.groups.slices():
            if rows.stop - rows.start > 1:
                one, other = rng.choice(np.arange(rows.start, rows.stop), size=2, replace=False)
                if (labels[one] - labels[other]) * (scores[one] - scores[other]) > 0:
                    swapped[[one, other]] = scores[[other, one]]
        after = all_values(measures, swapped, data)
        for measure in measures:
            assert is_never_better(measure, after[measure.name], than=before[measure.name]), measure


@every_metric
@pytest.mark.parametrize("ties_are_ruled", [True, False])
def test_row_order_does_not_matter_beyond_the_tie_rule(measures, ties_are_ruled):
    chosen = [measure for measure in measures if (measure.convention.ties is not Ties.INPUT) == ties_are_ruled]
    if not chosen:
        pytest.skip("there is no such convention of this metric")
    rng, sizes, labels = random_lists(2, measures)
    scores = rng.integers(0, 4, size=len(labels)) if ties_are_ruled else rng.permutation(len(labels))
    data = data_of(labels, sizes)
    shuffled = np.concatenate([rng.permutation(np.arange(rows.start, rows.stop)) for rows in data.groups.slices()])
    moved = replace(data, labels=labels[shuffled], document_ids=ids_of(len(labels))[shuffled])
    assert_same(all_values(chosen, scores[shuffled], moved), all_values(chosen, scores, data), rtol=1e-12)


@every_metric
def test_query_order_does_not_matter(measures):
    rng, sizes, labels = random_lists(3, measures)
    scores = rng.integers(0, 6, size=len(labels))
    data = data_of(labels, sizes)
    order = rng.permutation(len(sizes))
    rows = data.groups.rows_of(order)
    in_order = all_values(measures, scores, data)
    moved = all_values(measures, scores[rows], data.take_queries(order))
    assert_same(moved, {name: values[order] for name, values in in_order.items()})


@every_metric
def test_one_query_at_a_time_equals_all_at_once(measures):
    rng, sizes, labels = random_lists(4, measures)
    scores = rng.integers(0, 6, size=len(labels))
    data = data_of(labels, sizes)
    together = all_values(measures, scores, data)
    for query, rows in enumerate(data.groups.slices()):
        alone = all_values(measures, scores[rows], data.take_queries([query]))
        assert_same(alone, {name: values[[query]] for name, values in together.items()})


@every_metric
def test_kernels_equal_their_twins(measures, monkeypatch):
    rng, sizes, labels = random_lists(5, measures)
    scores, data = rng.integers(0, 6, size=len(labels)), data_of(labels, sizes)
    compiled = all_values(measures, scores, data)
    for name in kernels.NAMES:
        monkeypatch.setattr(kernels, name, getattr(reference, name))
    assert_same(all_values(measures, scores, data), compiled)


@every_metric
def test_threads_do_not_matter(measures):
    rng, sizes, labels = random_lists(6, measures, n_queries=150)
    scores, data = rng.integers(0, 6, size=len(labels)), data_of(labels, sizes)
    alone = all_values(measures, scores, data, threads=1)
    for threads in (2, 7):
        assert_same(all_values(measures, scores, data, threads), alone)


@every_metric
def test_an_unjudged_document_counts_0_or_is_not_there(measures):
    rng, sizes, labels = random_lists(7, measures)
    scores = rng.integers(0, 6, size=len(labels))
    unjudged = rng.random(len(labels)) < 0.3
    data = data_of(np.where(unjudged, np.nan, labels), sizes)

    as_zero = data_of(np.where(unjudged, 0, labels), sizes)
    assert_same(all_values(measures, scores, data), all_values(measures, scores, as_zero))

    skipping = [
        replace(measure, convention=replace(measure.convention, unjudged=Unjudged.SKIP)) for measure in measures
    ]
    left = np.bincount(np.repeat(np.arange(len(sizes)), sizes)[~unjudged], minlength=len(sizes))
    without = replace(data_of(labels[~unjudged], left), document_ids=ids_of(len(labels))[~unjudged])
    assert_same(all_values(skipping, scores, data), all_values(skipping, scores[~unjudged], without))


OTHER_RULES = {
    "gain": LINEAR,
    "discount": LETOR,
    "empty": Empty.SKIP,
    "empty_map": Empty.ONE,
    "short": Short.ZERO,
    "precision_over": PrecisionOver.LIST,
    "map_over": MapOver.RELEVANT,
    "relevant": Relevance(2.0, inclusive=True),
    "ties": Ties.PESSIMISTIC,
    "scores": ScorePrecision.SINGLE,
    "unjudged": Unjudged.SKIP,
    "stop": Stop.LABEL,
    "max_grade": 9.0,
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("family", METRICS)
def test_a_metric_depends_on_the_rules_it_names_and_no_others(family, rule):
    rng = np.random.default_rng(8)
    sizes = rng.integers(1, 13, size=200)
    labels = rng.choice([0, 0, 0, 0.5, 1] if rule == "stop" else [0, 0, 0, 0, 0.75, 1, 4, np.nan], size=sizes.sum())
    data = data_of(labels, sizes)
    # Whole scores tie in any precision; the others only in single precision.
    scores = rng.integers(0, 6, size=len(labels)) + (rule == "scores") * rng.uniform(0, 1e-12, size=len(labels))
    other = replace(Convention(), **{rule: OTHER_RULES[rule]})  # type: ignore[arg-type]  # a value of its rule's type
    metrics = [parse_metric(name).metric for name in NAMES if name.split("@")[0] == family]
    differs = [
        not np.array_equal(
            values_of(Measure(metric), scores, data), values_of(Measure(metric, other), scores, data), equal_nan=True
        )
        for metric in metrics
    ]
    assert any(differs) == (rule in metrics[0].depends_on)


@pytest.mark.parametrize("name", NAMES)
def test_skipped_queries_are_left_out_of_every_metric(name):
    data = data_of([0, 0, 0, 4, 0, 1], [3, 3])
    values = values_of(parse_metric(name, "skip-empty"), np.arange(6), data)
    assert math.isnan(values[0])
    assert not math.isnan(values[1])


@pytest.mark.parametrize("name", NAMES)
def test_a_query_of_no_documents_counts_as_one_with_nothing_relevant(name):
    nothing, empty = data_of([0], [1]), data_of([], [0])
    measures = [parse_metric(name, convention) for convention in CONVENTIONS]
    assert_same(all_values(measures, [], empty), all_values(measures, [1.0], nothing))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("labels", [[0, 1, 2, 1, 0, 3], [1, 0, 0, 0, 2, 0], [2, 2, 1, 0.5, 0, 4]])
@pytest.mark.parametrize("scores", [[1, 1, 1, 1, 1, 1], [2, 1, 1, 1, 0, 0], [1, 2, 1, 2, 3, 3]])
def test_averaged_ties_give_the_expectation_over_all_orders(name, labels, scores):
    averaged, plain = parse_metric(name, "standard(ties=averaged)"), parse_metric(name)
    orders = np.array(list(itertools.permutations(range(6))))  # one query for each
    data = data_of(np.array(labels)[orders].ravel(), np.full(len(orders), 6))
    expected = values_of(plain, np.array(scores)[orders].ravel(), data).mean()
    assert values_of(averaged, scores, data_of(labels, [6]))[0] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_pessimistic_and_optimistic_ties_bound_all_others(name):
    rng, sizes, labels = random_lists(9, [parse_metric(name)])
    data, scores = data_of(labels, sizes), rng.integers(0, 3, size=len(labels))
    worst, best = (
        values_of(parse_metric(name, f"standard(ties={ties})"), scores, data) for ties in ("pessimistic", "optimistic")
    )
    for ties in ("input", "docid", "averaged"):
        measure = parse_metric(name, f"standard(ties={ties})")
        values = values_of(measure, scores, data)
        assert is_never_better(measure, values, than=best)
        assert is_never_better(measure, worst, than=values)


@pytest.mark.slow
@pytest.mark.skipif(kernels.rank_rows is reference.rank_rows, reason="the twins are naive: far too slow for this")
@pytest.mark.parametrize("convention", ["standard", "catboost(stop=graded)", "sklearn"])
def test_a_query_of_two_million_documents(convention):
    n = 2_000_000
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 5, size=n)
    data = RankingDataset.from_arrays(np.zeros((n, 0)), labels, group=[n])
    scores = labels + rng.normal(size=n)
    evaluations = [evaluate(scores, data, NAMES, convention, threads=threads) for threads in (1, 2, 7)]
    for name in NAMES:
        values = [evaluation[name].values for evaluation in evaluations]
        assert 0 <= values[0][0] <= (1e9 if name.startswith("dcg") else 1)
        np.testing.assert_array_equal(values[0], values[1])
        np.testing.assert_array_equal(values[0], values[2])

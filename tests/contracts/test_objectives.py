"""Laws of every registered objective, and of the switches of pairwise ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rankwright.data.dataset import RankingDataset
from rankwright.kernels import reference
from rankwright.metrics.metric_table import METRICS
from rankwright.objectives import (
    OBJECTIVES,
    Hinge,
    Logistic,
    Objective,
    PairwiseObjective,
    Spring,
    delta_named,
    lambdarank,
    objective_named,
    paper_lambdarank,
    ranknet,
    yetirank,
)
from rankwright.objectives.deltas import Constant
from rankwright.objectives.families import UsualForces

AIMED_AT = [
    name + cutoff
    for name, family in METRICS.items()
    if family.has_swaps
    for cutoff in {"": [""], "@k": ["@4"], "[@k]": ["", "@4"]}[family.cutoff]
] + ["err", "ndcg@4:letor", "map:mslr"]
ONE_OF_EACH_KIND = list({delta_named(metric).kind: metric for metric in reversed(AIMED_AT)}.values())


def metrics_of(family: str) -> list[str]:
    """What a family is tried with: a kernel sees only the kind of a metric, so one family is tried with all of them."""
    if not OBJECTIVES[family].takes_metric:
        return []
    return AIMED_AT if family == "lambdarank" else ONE_OF_EACH_KIND


NAMED = [name for family in OBJECTIVES for name in (family, *(f"{family}:{metric}" for metric in metrics_of(family)))]
SWITCHED: dict[str, Objective] = {
    "paper": paper_lambdarank("ndcg@5"),
    "truncated": PairwiseObjective(Logistic(0.7), delta_named("ndcg"), truncation=4),
    "truncated ranknet": PairwiseObjective(Logistic(0.7), truncation=4),
    "query norm": PairwiseObjective(Logistic(), delta_named("ndcg"), query_norm=True),
    "gap norm": PairwiseObjective(Logistic(), delta_named("ndcg"), gap_norm=True),
    "equal labels": ranknet(pair_equal_labels=True),
    "uncertain": ranknet(certainty=0.8, sigma=1.5),
    "uncertain spring": PairwiseObjective(Spring(0.6), certainty=0.8),
    "equal hinge": PairwiseObjective(Hinge(0.37), pair_equal_labels=True),
    "sampled ranknet": ranknet(sampled_pairs=2),
    "sampled lambdarank": lambdarank("ndcg@5", truncation=None, sampled_pairs=3),
    "sampled equal labels": ranknet(sampled_pairs=2, pair_equal_labels=True),
    **{f"perturbed {metric}": lambdarank(metric, truncation=4, perturbations=3) for metric in ONE_OF_EACH_KIND},
    "perturbed": PairwiseObjective(Logistic(), delta_named("ndcg"), perturbations=4, noise=0.3),
    "perturbed hinge": PairwiseObjective(Hinge(), delta_named("map"), perturbations=2),
    "perturbed, long lists": lambdarank("map", truncation=2, perturbations=3),
    "perturbed and sampled": lambdarank("ndcg@5", truncation=None, sampled_pairs=3, perturbations=3),
    "perturbed ties": lambdarank("err", truncation=4, perturbations=3, noise=0.0),
    "perturbed mixture": lambdarank("ndcg@5", truncation=4, perturbations=3, constant_share=0.4),
    "uncertain yetirank": replace(yetirank("ndcg@5", truncation=4), certainty=0.8),
    "expected ties": PairwiseObjective(Logistic(), delta_named("ndcg"), expected_ties=True),
    "truncated expected ties": lambdarank("ndcg@5", truncation=4, expected_ties=True),
    "expected ties of precision": lambdarank("p@4", truncation=4, expected_ties=True),
    "sampled expected ties": lambdarank("ndcg@5", truncation=None, sampled_pairs=3, expected_ties=True),
    "mixture": lambdarank("ndcg@5", truncation=4, constant_share=0.4),
    "mixture for map": PairwiseObjective(Logistic(), delta_named("map"), constant_share=0.7),
    "all constant": lambdarank("err", truncation=4, constant_share=1.0),
    "sampled mixture": lambdarank("ndcg@5", truncation=None, sampled_pairs=3, constant_share=0.4),
    "expected mixture": lambdarank("ndcg@5", truncation=4, expected_ties=True, constant_share=0.4),
}
ALL = {name: objective_named(name) for name in NAMED} | SWITCHED

PAIRWISE = {name: objective for name, objective in ALL.items() if isinstance(objective, PairwiseObjective)}
UNMIXED = {name: objective for name, objective in PAIRWISE.items() if not objective.pair_equal_labels}
CERTAIN = {name: objective for name, objective in UNMIXED.items() if objective.certainty == np.inf}
SHIFT_FREE = {name: objective for name, objective in ALL.items() if not name.endswith("-error")}
SAMPLED = {name for name in ALL if "sampled" in name}
# Those whose choices depend on where a row stands: random numbers are made from the row's number.
PERTURBED = {name for name, objective in PAIRWISE.items() if objective.perturbations}
PERTURBED |= {name for name in ALL if name.startswith("usual")}
ROW_BLIND = {name: objective for name, objective in ALL.items() if name not in SAMPLED | PERTURBED | {"xendcg"}}
SMOOTH = ("ranknet", "softmax", "gain-softmax", "squared-error", "logistic-error", "equal labels", "uncertain")


def every(objectives):
    return pytest.mark.parametrize("objective", objectives.values(), ids=objectives)


def sample_data(seed: int = 0, *, weights: bool = True, unjudged: bool = True) -> RankingDataset:
    """Queries of 0 to 20 documents; fractional labels, some missing."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[0, 1, 2, 20], rng.integers(2, 12, size=12)])
    n_docs = int(sizes.sum())
    labels = rng.choice([0, 0, 0, 1, 1, 2, 3, 2.5], size=n_docs)
    if unjudged:
        labels[rng.random(n_docs) < 0.1] = np.nan
    return RankingDataset.from_arrays(
        np.zeros((n_docs, 1)),
        labels,
        group=sizes,
        query_weights=rng.uniform(0.5, 2.0, len(sizes)) if weights else None,
        document_weights=rng.uniform(0.5, 2.0, n_docs) if weights else None,
    )


def labels_of(data: RankingDataset) -> np.ndarray:
    assert data.labels is not None
    return data.labels


def scores_of(data: RankingDataset, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=data.n_docs)


def sums_by_query(values: np.ndarray, data: RankingDataset) -> np.ndarray:
    return np.array([values[docs].sum() for docs in data.groups.slices()])


@pytest.mark.parametrize("name", NAMED)
def test_a_name_reads_back(name):
    objective = objective_named(name)
    assert objective.name.startswith(name)
    assert objective_named(objective.name) == objective


@pytest.mark.parametrize("metric", AIMED_AT)
def test_the_name_of_the_default_forces_reads_back(metric):
    objective = UsualForces(metric)
    assert objective_named(objective.name) == objective


@every(ALL)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1, 64])  # scores within reach of each other, and far apart
def test_the_kernel_does_what_its_twin_does(objective, dtype, scale):
    compiled = pytest.importorskip("rankwright.kernels._core")
    data = sample_data()
    bound = objective.bind(data, dtype=dtype)
    # Some ties, and gaps that are a margin to the last bit: eighths and 1024ths are exact in float32 too.
    scores = np.round(8 * scores_of(data)) / 8 + np.round(scores_of(data, 2)) / 1024 * (np.arange(data.n_docs) % 3 > 0)
    kernel_name = bound.kernel.__name__
    found, wanted = (
        replace(bound, kernel=getattr(module, kernel_name))(scale * scores, key=5) for module in (compiled, reference)
    )
    rtol, atol = (2e-5, 2e-6) if dtype is np.float32 else (1e-10, 1e-12)
    assert found.gradient.dtype == found.curvature.dtype == dtype
    assert_allclose(found.gradient, wanted.gradient, rtol=rtol, atol=atol)
    assert_allclose(found.curvature, wanted.curvature, rtol=rtol, atol=atol)
    assert_allclose(found.cost, wanted.cost, rtol=2e-5, atol=1e-5)


@every(ALL)
def test_threads_do_not_matter(objective):
    data = sample_data()
    alone, *others = (objective.bind(data, threads=threads)(scores_of(data), key=3) for threads in (1, 2, 7))
    for other in others:
        for mine, theirs in zip(alone, other, strict=True):
            assert_array_equal(mine, theirs)


@every(ALL)
def test_queries_do_not_see_each_other(objective):
    data = sample_data()
    bound = objective.bind(data)
    scores = scores_of(data)
    together = bound(scores, key=9)
    for query, docs in enumerate(data.groups.slices()):
        alone = bound(scores[docs], queries=[query], key=9)
        assert_array_equal(alone.gradient, together.gradient[docs])
        assert_array_equal(alone.curvature, together.curvature[docs])
        assert_array_equal(alone.cost, together.cost[query : query + 1])


@every(ALL)
def test_the_order_of_queries_does_not_matter(objective):
    data = sample_data()
    bound = objective.bind(data)
    order = np.random.default_rng(0).permutation(data.n_queries)
    rows = data.groups.rows_of(order)
    scores = scores_of(data)
    in_order, mixed = bound(scores, key=1), bound(scores[rows], queries=order, key=1)
    assert_array_equal(mixed.gradient, in_order.gradient[rows])
    assert_array_equal(mixed.curvature, in_order.curvature[rows])
    assert_array_equal(mixed.cost, in_order.cost[order])


@every(ROW_BLIND)
def test_the_order_of_rows_does_not_matter(objective):
    data = sample_data()
    rng = np.random.default_rng(0)
    rows = np.concatenate([rng.permutation(np.arange(docs.start, docs.stop)) for docs in data.groups.slices()])
    weights = np.asarray(data.document_weights)
    moved = replace(data, labels=labels_of(data)[rows], document_weights=weights[rows])
    scores = scores_of(data)
    before, after = objective.bind(data)(scores), objective.bind(moved)(scores[rows])
    assert_allclose(after.gradient, before.gradient[rows], rtol=1e-5, atol=1e-6)
    assert_allclose(after.curvature, before.curvature[rows], rtol=1e-5, atol=1e-6)
    assert_allclose(after.cost, before.cost, rtol=1e-5, atol=1e-6)


@every(SHIFT_FREE)
def test_only_score_gaps_matter(objective):
    data = sample_data()
    bound = objective.bind(data)
    shift = np.repeat(np.random.default_rng(0).normal(scale=100, size=data.n_queries), data.groups.sizes)
    before, after = bound(scores_of(data)), bound(scores_of(data) + shift)
    assert_allclose(after.gradient, before.gradient, rtol=1e-4, atol=1e-5)
    assert_allclose(after.curvature, before.curvature, rtol=1e-4, atol=1e-5)


@every(SHIFT_FREE)
def test_forces_of_a_query_cancel(objective):
    data = sample_data()
    gradient = objective.bind(data, dtype=np.float64)(scores_of(data), key=2).gradient
    assert_allclose(sums_by_query(gradient, data), 0.0, atol=1e-12 * max(1.0, np.abs(gradient).max()))


def costs_exist(objective: Objective) -> bool:
    data = sample_data()
    return not np.isnan(objective.bind(data)(scores_of(data)).cost).all()


WITH_COST = {name: objective for name, objective in ALL.items() if costs_exist(objective)}


def test_costs_exist_where_forces_do_not_depend_on_ranks():
    without = {name for name, objective in PAIRWISE.items() if not isinstance(objective.delta, Constant)}
    without |= {name for name in ALL if name.startswith("usual")}
    assert set(WITH_COST) == set(ALL) - without


@every(WITH_COST)
def test_the_gradient_is_the_slope_of_the_cost(objective):
    data = sample_data()
    bound = objective.bind(data, dtype=np.float64)
    scores, step = scores_of(data), 1e-5
    found = bound(scores, key=4)
    for query, docs in enumerate(data.groups.slices()):
        if np.isnan(found.cost[query]):
            continue
        for row in range(docs.start, docs.stop):
            nudge = step * (np.arange(docs.start, docs.stop) == row)
            up, down = (bound(scores[docs] + sign * nudge, queries=[query], key=4).cost[0] for sign in (1, -1))
            assert (up - down) / (2 * step) == pytest.approx(found.gradient[row], rel=1e-6, abs=1e-8)


@every(ALL)
def test_curvature_is_not_negative(objective):
    data = sample_data()
    found = objective.bind(data)(3 * scores_of(data))
    assert (found.curvature >= 0).all()
    assert (found.curvature > 0).any()


@pytest.mark.parametrize("name", SMOOTH)
def test_curvature_is_the_slope_of_the_gradient_where_the_loss_is_smooth(name):
    data = sample_data()
    bound = ALL[name].bind(data, dtype=np.float64)
    scores, step = scores_of(data), 1e-5
    found = bound(scores)
    for row in range(data.n_docs):
        nudge = step * (np.arange(data.n_docs) == row)
        up, down = (bound(scores + sign * nudge).gradient[row] for sign in (1, -1))
        assert (up - down) / (2 * step) == pytest.approx(found.curvature[row], rel=1e-6, abs=1e-8)


@every(CERTAIN)
def test_the_ideal_order_with_a_wide_margin_feels_little(objective):
    data = sample_data()
    labels = np.nan_to_num(labels_of(data))
    ideal, reverse = (objective.bind(data)(scale * labels, key=1).gradient for scale in (100.0, -100.0))
    assert np.abs(ideal).max() < 1e-6
    assert np.abs(reverse).max() > 1e-2


@every(CERTAIN)
def test_forces_push_the_better_document_up(objective):
    labels = np.zeros(9)
    labels[5] = 2
    data = RankingDataset.from_arrays(np.zeros((9, 1)), labels, group=[9])
    gradient = objective.bind(data)(np.linspace(0.2, 0, 9)).gradient
    assert gradient[5] < 0
    assert (np.delete(gradient, 5) >= 0).all()


@every(UNMIXED)
def test_one_document_or_one_label_feels_nothing(objective):
    data = RankingDataset.from_arrays(
        np.zeros((9, 1)), [2, 1, 1, 1, np.nan, np.nan, np.nan, 0, np.nan], group=[1, 4, 2, 2]
    )
    found = objective.bind(data)(scores_of(data))
    assert_array_equal(found.gradient, 0.0)
    assert_array_equal(found.curvature, 0.0)


@every(ALL)
def test_unjudged_documents_feel_nothing(objective):
    data = sample_data()
    found = objective.bind(data)(scores_of(data))
    assert_array_equal(found.gradient[np.isnan(labels_of(data))], 0.0)
    assert_array_equal(found.curvature[np.isnan(labels_of(data))], 0.0)


@every(ALL)
def test_a_query_of_weight_two_counts_twice(objective):
    data = sample_data(weights=False)
    twice = replace(data, query_weights=np.full(data.n_queries, 2, np.float32))
    scores = scores_of(data)
    single, double = objective.bind(data)(scores), objective.bind(twice)(scores)
    assert_allclose(double.gradient, 2 * single.gradient, rtol=1e-6)
    assert_allclose(double.curvature, 2 * single.curvature, rtol=1e-6)
    assert_allclose(double.cost, 2 * single.cost, rtol=1e-6)


@pytest.mark.parametrize("name", ["ranknet", "hinge", "spring", "squared-error", "logistic-error"])
def test_a_document_of_weight_two_is_two_documents(name):
    labels, scores = np.array([0.0, 1.0, 2.0, 1.0]), np.array([0.3, -0.2, 0.5, 0.1])
    weighted = RankingDataset.from_arrays(np.zeros((4, 1)), labels, group=[4], document_weights=[1, 1, 2, 1])
    repeated = RankingDataset.from_arrays(np.zeros((5, 1)), labels[[0, 1, 2, 3, 2]], group=[5])
    one = objective_named(name).bind(weighted)(scores)
    two = objective_named(name).bind(repeated)(scores[[0, 1, 2, 3, 2]])
    for mine, theirs in ((one.gradient, two.gradient), (one.curvature, two.curvature)):
        assert_allclose(mine, [theirs[0], theirs[1], theirs[2] + theirs[4], theirs[3]], rtol=1e-6)
    assert_allclose(one.cost, two.cost, rtol=1e-6)


@every(ALL)
def test_zero_weight_is_no_document_and_no_query(objective):
    data = sample_data()
    nothing = replace(data, query_weights=np.zeros(data.n_queries, np.float32))
    found = objective.bind(nothing)(scores_of(data))
    assert_array_equal(found.gradient, 0.0)
    assert_array_equal(found.curvature, 0.0)


@every(ALL)
def test_the_same_key_gives_the_same_forces(objective):
    data = sample_data()
    bound = objective.bind(data)
    tied = np.zeros(data.n_docs)
    assert_array_equal(bound(tied, key=7).gradient, bound(tied, key=7).gradient)
    assert_array_equal(bound(tied).gradient, bound(tied, key=0).gradient)


@every(ALL)
def test_binding_and_calling_change_nothing_they_are_given(objective):
    data = sample_data()
    scores = scores_of(data)
    labels_before, scores_before = labels_of(data).copy(), scores.copy()
    bound = objective.bind(data)
    first = bound(scores)
    bound(scores[::-1].copy())
    assert_array_equal(bound(scores).gradient, first.gradient)
    assert_array_equal(labels_of(data), labels_before)
    assert_array_equal(scores, scores_before)

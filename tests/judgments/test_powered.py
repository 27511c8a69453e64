"""Few human labels and many by a model: no bias, intervals that hold, and the plan of what to judge next."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright import judgments
from rankwright.errors import InputError, SettingError
from rankwright.judgments import Judgment, gather, plan_comparison, powered_evaluation, powered_mean
from rankwright.judgments.choosing.training_plan import training_order
from rankwright.metrics.evaluation import ScoredLists


def test_a_model_that_tells_all_gives_the_mean_of_all():
    rng = np.random.default_rng(0)
    y = rng.random(200)
    found = powered_mean(y[:20], y[:20] + 0.3, y[20:] + 0.3)  # it overrates, always by the same
    assert found.mean == pytest.approx(y.mean())
    assert found.correlation == pytest.approx(1.0)


def test_a_model_that_tells_nothing_does_no_harm():
    rng = np.random.default_rng(0)
    y = rng.random(50)
    found = powered_mean(y, np.full(50, 0.7), np.full(300, 0.7))
    assert found.mean == y.mean()
    assert found.width_ratio == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_intervals_hold_and_are_as_wide_as_theory_says(noise):
    rng = np.random.default_rng(0)
    n, others, inside, width, alone = 50, 400, 0, 0.0, 0.0
    for _ in range(800):
        y = rng.beta(2, 2, n + others)
        x = 0.3 + 0.5 * y + rng.normal(0, noise, n + others)
        found = powered_mean(y[:n], x[:n], x[n:])
        inside += found.interval.low <= 0.5 <= found.interval.high
        width += found.interval.high - found.interval.low
        alone += found.human_interval.high - found.human_interval.low
    rho = 0.5 * np.sqrt(0.05) / np.sqrt(0.25 * 0.05 + noise**2)
    assert 0.93 <= inside / 800 <= 0.97
    assert width / alone == pytest.approx(np.sqrt(1 - rho**2 * others / (others + n)), rel=0.05)


@pytest.mark.parametrize(
    ("people", "model", "elsewhere", "told"),
    [
        ([0.1, 0.2], [0.1, 0.2], [0.3], "by_people must have 3 values or more, got 2"),
        ([0.1, 0.2, 0.3], [0.1, 0.2], [0.3], "by_model must have 3 values, got 2"),
        ([0.1, 0.2, np.nan], [0.1, 0.2, 0.3], [0.3], "by_people must hold finite numbers"),
        ([0.1, 0.2, 0.3], [0.1, 0.2, 0.3], [np.inf], "by_model_elsewhere must hold finite numbers"),
    ],
)
def test_values_that_cannot_be_estimated_from_are_refused(people, model, elsewhere, told):
    with pytest.raises(InputError, match=told):
        powered_mean(people, model, elsewhere)


def test_where_people_judged_every_query_the_model_changes_nothing():
    assert powered_mean([0.1, 0.4, 0.7], [0.5, 0.2, 0.9], []).mean == pytest.approx(0.4)


def documents(n_queries: int = 40, n_docs: int = 12, seed: int = 0) -> rw.RankingDataset:
    rng = np.random.default_rng(seed)
    labels = rng.choice(3, n_queries * n_docs, p=[0.6, 0.3, 0.1])
    features = labels[:, None] + rng.normal(0, [1.0, 2.5], (len(labels), 2))
    ids = [f"d{row}" for row in range(len(labels))]
    return rw.RankingDataset.from_arrays(
        features, labels, qid=[f"q{row // n_docs}" for row in range(len(labels))], document_ids=ids
    )


def lists_of(data: rw.RankingDataset, column: int) -> ScoredLists:
    return ScoredLists.of_dataset(data.in_source_order(data.features[:, column]).astype(float), data)


def labels_of(data: rw.RankingDataset, queries: set[str], more: float = 0.0) -> judgments.Judgments:
    rows = zip(data.qid.tolist(), np.asarray(data.document_ids).tolist(), np.asarray(data.labels).tolist(), strict=True)
    return gather(Judgment(query, name, "r", label + more) for query, name, label in rows if query in queries)


def test_where_people_judged_all_the_estimate_is_the_metric():
    data = documents()
    everything = labels_of(data, set(data.qid.tolist()))
    found = powered_evaluation({"a": lists_of(data, 0)}, everything, metrics=["ndcg@10", "p@5"])
    plain = rw.evaluate(data.in_source_order(data.features[:, 0]), data, ["ndcg@10", "p@5"])
    for metric in ("ndcg@10", "p@5"):
        assert found[metric].mean == pytest.approx(plain[metric].mean)
    assert found["p@5"].n_human == 40


def test_intervals_end_where_the_metric_does():
    data = documents()
    rows = list(zip(data.qid.tolist(), np.asarray(data.document_ids).tolist(), strict=True))
    some = gather(Judgment(query, name, "r", float(name != "d3")) for query, name in rows if int(query[1:]) < 8)
    ones = gather(Judgment(query, name, "m", 1.0, "model") for query, name in rows)
    found = powered_evaluation({"a": lists_of(data, 0)}, some, model_labels=ones, metrics=["p@12"])
    assert found["p@12"].mean == pytest.approx(1 - 1 / 96)
    assert found["p@12"].interval.high == found["p@12"].human_interval.high == 1.0
    assert "nan" not in str(found)  # the model's labels are all alike, and go together with nothing


def test_differences_are_paired():
    data = documents()
    some = labels_of(data, {f"q{n}" for n in range(15)})
    found = powered_evaluation({"a": lists_of(data, 0), "b": lists_of(data, 1)}, some, metrics=["ndcg@10"])
    difference = found.estimates["b - a"]["ndcg@10"]
    values = [rw.evaluate(data.in_source_order(data.features[:, column]), data, ["ndcg@10"])["ndcg@10"].values
              for column in (0, 1)]  # fmt: skip
    judged = np.isin(np.asarray(data.query_ids), [f"q{n}" for n in range(15)])
    assert difference.human_mean == pytest.approx(float((values[1] - values[0])[judged].mean()))
    assert difference.n_human == 15
    assert difference.mean < 0


def test_queries_judged_in_part_do_not_count_and_unknown_documents_are_told():
    data = documents()
    people = list(labels_of(data, {f"q{n}" for n in range(10)}).rows())
    partly = next(labels_of(data, {"q20"}).rows())
    table = gather([*people, partly, Judgment("q3", "nowhere", "r", 1.0)])
    found = powered_evaluation({"a": lists_of(data, 0)}, table, metrics=["ndcg@10"])
    assert (found["ndcg@10"].n_human, found.n_partly, found.n_unknown) == (10, 1, 1)
    with pytest.raises(InputError, match="people judged 2 queries as far as the metric looks; wanted 5"):
        powered_evaluation({"a": lists_of(data, 0)}, labels_of(data, {"q1", "q2"}), metrics=["ndcg@10"])
    with pytest.raises(SettingError, match="choose another convention"):
        powered_evaluation({"a": lists_of(data, 0)}, table, metrics=["ndcg@10"], convention="skip-empty")
    with pytest.raises(InputError, match="no label is of a document in the lists"):
        powered_evaluation({"a": lists_of(data, 0)}, gather([Judgment("x", "y", "r", 1.0)]), metrics=["ndcg@10"])


def test_people_who_changed_their_mind_are_told():
    data = documents()
    people = [replace(one, time=1.0) for one in labels_of(data, {f"q{n}" for n in range(10)}).rows()]
    table = gather([*people, replace(people[0], grade=1 - people[0].value, time=0.0)])
    found = powered_evaluation({"a": lists_of(data, 0)}, table, metrics=["ndcg@10"])
    alone = powered_evaluation({"a": lists_of(data, 0)}, gather(people), metrics=["ndcg@10"])
    assert found["ndcg@10"].mean == alone["ndcg@10"].mean
    assert found.to_dict()["repeats"]["flipped"] == 1
    assert "human labels: 1 document judged twice" in str(found)


# --- what to judge next ---


def test_a_plan_leaves_out_what_both_rank_alike():
    data = documents(4)
    with pytest.raises(InputError, match="the same lists: there is nothing to tell apart"):
        plan_comparison(lists_of(data, 0), lists_of(data, 0))
    with pytest.raises(InputError, match="ndcg@10 is no sum over documents"):
        plan_comparison(lists_of(data, 0), lists_of(data, 1), "ndcg@10")


def test_a_plan_that_is_carried_out_gives_the_difference_itself():
    data = documents()
    plan = plan_comparison(lists_of(data, 0), lists_of(data, 1), "dcg@10")
    everything = labels_of(data, set(data.qid.tolist()))
    values = [rw.evaluate(data.in_source_order(data.features[:, column]), data, ["dcg@10"])["dcg@10"].mean
              for column in (0, 1)]  # fmt: skip
    found = plan.difference(plan.gains_of(everything))
    assert found.mean == pytest.approx(values[1] - values[0])
    assert found.error == 0
    assert found.is_sure


def test_estimates_of_a_plan_have_no_bias_and_honest_errors():
    data = documents()
    everything = labels_of(data, set(data.qid.tolist()))
    truth, apart = None, []
    for seed in range(120):
        plan = plan_comparison(lists_of(data, 0), lists_of(data, 1), "dcg@10", seed=seed)
        gains = plan.gains_of(everything)
        truth = plan.difference(gains).mean
        gains[60:] = np.nan
        found = plan.difference(gains)
        apart.append((found.mean - truth) / found.error)
    assert abs(np.mean(apart)) < 0.3
    assert 0.85 < np.std(apart) < 1.25


def test_the_order_of_a_plan_depends_on_ids_and_seed_alone():
    data = documents()
    order = np.random.default_rng(1).permutation(data.n_docs)
    ids = np.asarray(data.document_ids)[order]
    other = rw.RankingDataset.from_arrays(
        data.features[order], np.asarray(data.labels)[order], qid=data.qid[order], document_ids=ids
    )
    plans = [plan_comparison(lists_of(one, 0), lists_of(one, 1), "p@5") for one in (data, other)]
    assert plans[0].document_ids.tolist() == plans[1].document_ids.tolist()
    again = plan_comparison(lists_of(data, 0), lists_of(data, 1), "p@5", seed=1)
    assert again.document_ids.tolist() != plans[0].document_ids.tolist()
    judged = labels_of(data, {"q1"})
    proposed = plans[0].proposed(judged, 10)
    assert not {"q1"} & set(plans[0].query_ids[proposed].tolist())


def test_expected_grades_change_the_order_but_not_what_is_estimated():
    data = documents()
    everything = labels_of(data, set(data.qid.tolist()))
    plan = plan_comparison(lists_of(data, 0), lists_of(data, 1), "dcg@10", expected=everything)
    gains = plan.gains_of(everything)
    truth = plan.difference(gains).mean
    gains[25:] = np.nan
    assert plan.difference(gains).mean == pytest.approx(truth)  # what was foretold is exactly right
    with pytest.raises(SettingError, match="no expected grade is of a document"):
        plan_comparison(lists_of(data, 0), lists_of(data, 1), expected=gather([Judgment("x", "y", "r", 1.0)]))


def test_for_training_unsure_documents_at_the_top_come_first():
    data = documents(6)
    made = judgments.combine(labels_of(data, {"q0", "q1"}))
    order, worth = training_order(lists_of(data, 0), made)
    assert sorted(order.tolist()) == list(range(data.n_docs))
    assert (worth[-24:] == 0).all()  # the documents of two queries whose grades are sure
    assert (worth[:-24] > 0).all()
    first = lists_of(data, 0).groups.query_of_row[order[:7]]
    assert len(set(first.tolist())) == 1  # a query's documents come together: pairs teach
    again, _ = training_order(lists_of(data, 0), made, seed=1)
    assert again.tolist() != order.tolist()
    queries = np.unique(data.qid)[lists_of(data, 0).groups.query_of_row[order[:10]]]
    assert not {"q0", "q1"} & set(queries.tolist())  # these were judged

"""Names of metrics, to values and back."""

from __future__ import annotations

import pickle

import pytest

from rankwright.errors import RankwrightError
from rankwright.metrics.convention import CONVENTIONS
from rankwright.metrics.list_metrics import NDCG, AveragePrecision
from rankwright.metrics.metric_table import METRICS, Measure, parse_metric, split_metrics


def test_a_name_gives_the_metric_and_its_convention():
    assert parse_metric("ndcg@10") == Measure(NDCG(10))
    assert parse_metric("ndcg@10:letor") == Measure(NDCG(10), CONVENTIONS["letor"])
    assert parse_metric("map", "mslr") == Measure(AveragePrecision(), CONVENTIONS["mslr"])
    assert parse_metric("map:trec", "mslr").convention == CONVENTIONS["trec"]
    assert parse_metric("map:standard(relevant>=2)").name == "map:standard(relevant>=2)"


def test_measures_are_values():
    measure = parse_metric("ndcg@10:catboost")
    assert pickle.loads(pickle.dumps(measure)) == measure
    assert len({measure, parse_metric("ndcg@10:catboost"), parse_metric("ndcg@10")}) == 2


def test_costs_are_better_where_lower():
    assert {name for name, family in METRICS.items() if not family.higher_is_better} == {"wta", "pair-error"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndgc", "unknown metric 'ndgc'; did you mean 'ndcg'"),
        ("bprf", "unknown metric 'bprf'; did you mean 'bpref'"),
        ("map(0.5)", "metric map takes no number in brackets"),
        ("precison@5", "unknown metric 'precison@5'; did you mean 'p@5'"),
        ("", "unknown metric"),
        ("p", "needs a cutoff, such as p@10"),
        ("wta@3", "takes no cutoff"),
        ("ndcg@0", "a cutoff must be"),
        ("ndcg@-1", "a cutoff must be"),
        ("ndcg@", "a cutoff must be"),
        ("ndcg@1.5", "a cutoff must be"),
        ("ndcg@10:nope", "unknown convention"),
    ],
)
def test_what_is_no_metric_is_refused_with_a_reason(text, message):
    with pytest.raises(RankwrightError, match=message):
        parse_metric(text)


def test_a_metric_cannot_hold_nonsense():
    with pytest.raises(RankwrightError, match="cutoff of ndcg"):
        NDCG(0)


def test_commas_inside_a_convention_do_not_separate_metrics():
    names = ["ndcg@10:standard(gain=linear, empty=skip)", "map", "p@5:letor"]
    assert split_metrics(", ".join(names)) == names
    assert split_metrics(" , ") == []


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("NDCG@10", "ndcg@10"),
        ("nDCG @ 5", "ndcg@5"),
        ("ndcg_cut_10", "ndcg@10"),
        ("ndcg10", "ndcg@10"),
        ("precision@5", "p@5"),
        ("P_5", "p@5"),
        ("ap", "map"),
        ("MAP@3:letor", "map@3:letor"),
        ("recip_rank", "mrr"),
        ("hit_rate@3", "hit@3"),
        ("MeanNDCG", "mean-ndcg"),
    ],
)
def test_names_are_taken_as_people_type_them(typed, meant):
    assert parse_metric(typed).name == meant

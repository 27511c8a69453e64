"""Several systems on the same data."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import wilcoxon

import rankwright as rw
from rankwright.errors import InputError
from rankwright.metrics.significance import holm


@pytest.fixture
def scores(small_data):
    rng = np.random.default_rng(0)
    noise = rng.normal(size=(3, small_data.n_docs))
    return {"good": small_data.labels + noise[0], "as good": small_data.labels + noise[1], "chance": noise[2]}


def test_holm_multiplies_by_what_is_left_and_never_falls():
    assert np.allclose(holm([0.01, 0.04, 0.03]), [3 * 0.01, max(2 * 0.03, 0.04), 2 * 0.03])
    assert np.allclose(holm([0.5, 0.6]), [1.0, 1.0])
    assert holm([]).shape == (0,)


def test_the_worse_is_marked_and_the_equal_is_not(scores, small_data):
    found = rw.compare(scores, small_data, ["ndcg@10", "map"])
    assert found.marks("chance", "ndcg@10") == "rw"
    other = ({"good", "as good"} - {found.best["ndcg@10"]}).pop()
    assert found.marks(other, "ndcg@10") == ""
    assert found.marks(found.best["ndcg@10"], "ndcg@10") == "*"


def test_its_numbers_are_those_of_evaluate_and_of_the_tests(scores, small_data):
    found = rw.compare(scores, small_data, ["ndcg@10"], "letor")
    evaluations = {name: rw.evaluate(own, small_data, ["ndcg@10"], "letor")["ndcg@10"] for name, own in scores.items()}
    best = found.best["ndcg@10"]
    for name, against in found.against_best["ndcg@10"].items():
        assert against.paired == rw.paired_test(evaluations[best], evaluations[name])
        differences = evaluations[name].values - evaluations[best].values
        assert against.wilcoxon == wilcoxon(differences[differences != 0]).pvalue
        assert against.randomisation_holm >= against.paired.p_value


def test_less_is_better_where_the_metric_says_so(scores, small_data):
    assert rw.compare(scores, small_data, ["pair-error"]).best["pair-error"] != "chance"


@pytest.mark.parametrize(("metric", "sign"), [("ndcg@10", -1), ("pair-error", 1)])
def test_the_table_begins_with_the_best_by_the_first_metric(scores, small_data, metric, sign):
    given = {"chance": scores["chance"], "first": scores["good"], "same": scores["good"]}
    found = rw.compare(given, small_data, [metric, "map"])
    assert [row[0] for row in found.table()] == ["first", "same", "chance"]
    means = [sign * found.evaluations[name][metric].mean for name in found.ordered()]
    assert means == sorted(means)


def test_equal_systems_do_not_differ(small_data):
    scores = np.arange(small_data.n_docs)
    found = rw.compare({"one": scores, "same": scores}, small_data, ["map"])
    against = found.against_best["map"]["same"]
    assert (found.best["map"], against.paired.p_value, against.wilcoxon) == ("one", 1.0, 1.0)


def test_rankers_are_systems(small_data):
    ranker = rw.RankBoost(n_rounds=3).fit(small_data)
    found = rw.compare({"model": ranker, "scores": ranker.predict(small_data)}, small_data, ["map"])
    assert found.evaluations["model"]["map"].mean == found.evaluations["scores"]["map"].mean


def test_it_can_be_written_as_json_and_as_text(scores, small_data):
    found = rw.compare(scores, small_data, ["map"])
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["systems"][document["best"]["map"]]["map"]["against_best"] is None
    assert "95" not in str(found).splitlines()[0]
    assert all(name in str(found) for name in scores)
    assert list(found.per_query()) == ["query", "documents", *(f"{name}:map" for name in scores)]


def test_what_cannot_be_compared_is_refused(scores, small_data):
    some = small_data.take_queries(np.arange(10))
    one = rw.evaluate(scores["good"], small_data, ["map"])
    with pytest.raises(InputError, match="two systems or more, got 1"):
        rw.compare({"good": scores["good"]}, small_data)
    with pytest.raises(InputError, match="short: scores must have 612 values, got 3"):
        rw.compare({"good": scores["good"], "short": [1.0, 2.0, 3.0]}, small_data)
    for other, message in (
        (rw.evaluate(scores["good"], small_data, ["map"], "letor"), "one convention"),
        (rw.evaluate(scores["good"], small_data, ["mrr"]), "has the metrics map, b has mrr"),
        (rw.evaluate(np.zeros(some.n_docs), some, ["map"]), "on 40 queries, b on 10"),
        (
            rw.evaluate(scores["good"], small_data.take_queries(np.arange(40)[::-1]), ["map"]),
            "different data: query number 0 is 100 with 26 documents for one, 139",
        ),
    ):
        with pytest.raises(InputError, match=message):
            rw.compare_evaluations({"a": one, "b": other})

"""Several systems on the same data."""

from __future__ import annotations

import html
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


def test_all_metrics_and_systems_are_one_family_of_tests(scores, small_data):
    found = rw.compare(scores, small_data, ["ndcg@10", "map"])
    tests = [(metric, name) for metric, against in found.against_best.items() for name in against]
    corrected = holm([found.against_best[metric][name].paired.p_value for metric, name in tests])
    assert [found.against_best[metric][name].randomisation_holm for metric, name in tests] == corrected.tolist()
    assert "correction for 4 tests" in found.legend
    assert found.to_dict()["tests"] == 4


def test_the_order_of_systems_and_of_queries_does_not_matter(scores, small_data):
    found = rw.compare(scores, small_data, ["ndcg@10", "map"])
    queries = np.random.default_rng(1).permutation(small_data.n_queries)
    rows = np.concatenate([np.arange(small_data.n_docs)[part] for part in small_data.groups.slices()])
    of_query = np.split(rows, small_data.groups.offsets[1:-1])
    order = np.concatenate([of_query[query] for query in queries])
    moved = rw.RankingDataset.from_arrays(
        small_data.features[order], small_data.labels[order], qid=small_data.qid[order]
    )
    turned = rw.compare({name: scores[name][order] for name in reversed(scores)}, moved, ["ndcg@10", "map"])
    assert turned.conclusion == found.conclusion
    for metric, against in found.against_best.items():
        assert turned.best[metric] == found.best[metric]
        for name, one in against.items():
            assert turned.against_best[metric][name] == one
        for name in scores:
            assert turned.evaluations[name][metric].interval == found.evaluations[name][metric].interval


def test_threads_do_not_matter(scores, small_data):
    one, seven = (rw.compare(scores, small_data, ["map"], threads=threads).to_dict() for threads in (1, 7))
    assert one == seven


def test_the_frame_has_every_number_of_the_tests(scores, small_data):
    found = rw.compare(scores, small_data, ["map", "ndcg@10"])
    frame = found.to_frame()
    assert len(frame) == len(scores) * 2
    for row in frame.to_dict("records"):
        against = found.against_best[row["metric"]].get(row["system"])
        if against is None:
            assert np.isnan(row["difference"])
            continue
        test = against.paired
        assert (row["wins"], row["ties"], row["losses"]) == (test.wins, test.ties, test.losses)
        assert (row["t_p_value"], row["effect_size"]) == (against.t_holm, test.effect.size)
        assert (row["difference_low"], row["difference_high"]) == test.interval
        assert row["queries_needed"] == test.effect.needed


def test_every_form_tells_the_same(scores, small_data):
    found = rw.compare(scores, small_data, ["map"])
    for form in (str(found), found.shown().markdown(), found._repr_html_()):
        for told in ("t-test", "won/tied/lost", "four times out of five", "how the others differ from"):
            assert told in form
        assert html.unescape(form).find(found.conclusion) > 0


def of_differences(differences):
    """A comparison of two systems whose reciprocal ranks differ as told: 1 the second is better, -1 worse, 0 equal."""
    n = len(differences)
    data = rw.RankingDataset.from_arrays(np.zeros((2 * n, 1)), [1, 0] * n, group=[2] * n)
    good, poor = [1.0, 0.0], [0.0, 1.0]
    first = np.concatenate([poor if one == 1 else good for one in differences])
    second = np.concatenate([poor if one == -1 else good for one in differences])
    return rw.compare({"first": first, "second": second}, data, ["mrr"])


@pytest.mark.parametrize(
    ("differences", "told"),
    [
        ([1], "second is ahead of first by 0.5000 mrr, but one query tells nothing of chance."),
        (
            [1, 0],
            "but on 2 queries that may be chance: p > 0.99; to be sure of a difference of this size you would need",
        ),
        ([0, 0, 0], "first and second are equal in mrr on 3 queries."),
        ([1] * 20, "on 20 queries; that is hardly chance: p < 0.001, the same on every query."),
        ([1] * 15 + [-1] * 2 + [0] * 3, "on 20 queries; that is hardly chance: p = "),
    ],
)
def test_the_conclusion_is_one_plain_sentence(differences, told):
    found = of_differences(differences)
    assert told in found.conclusion
    assert found.conclusion.count(". ") == 0
    json.dumps(found.to_dict(), allow_nan=False)
    assert found.conclusion in str(found)


def test_queries_that_count_for_no_system_are_left_out():
    data = rw.RankingDataset.from_arrays(np.zeros((6, 1)), [1, 0, np.nan, np.nan, 0, 1], group=[2, 2, 2])
    found = rw.compare({"a": [1, 0] * 3, "b": [0, 1] * 3}, data, ["mrr"], "skip-empty")
    assert found.against_best["mrr"]["b"].paired.queries == 2
    assert "on 2 queries" in found.conclusion


def test_fused_systems_are_compared_too(scores, small_data):
    found = rw.compare(scores, small_data, ["map"], fuse=["rrf", "borda"])
    fused = rw.fuse(scores, "rrf", data=small_data)
    assert list(found.evaluations) == [*scores, "rrf", "borda"]
    assert found.evaluations["rrf"]["map"].mean == rw.evaluate(fused, small_data, ["map"])["map"].mean
    with pytest.raises(InputError, match="called rrf already"):
        rw.compare(scores | {"rrf": fused}, small_data, ["map"], fuse="rrf")

"""Metrics that look at which documents were judged, counted by hand."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.metrics.metric_table import METRICS_OF_JUDGMENTS, parse_metric

NAN = np.nan


def value(name, scores, labels, **options):
    data = rw.RankingDataset.from_arrays(np.zeros((len(labels), 1)), labels, group=[len(labels)])
    return rw.evaluate(scores, data, [name], **options)[name].values[0]


@pytest.mark.parametrize("name", ["bpref", "judged@5", "alpha-ndcg@10", "alpha-ndcg(0.3)@10", "rbp", "rbp(0.5)@3"])
def test_names_parse_back(name):
    assert parse_metric(name).name == name


def test_every_metric_of_judgments_has_a_name_that_lists_it():
    assert set(METRICS_OF_JUDGMENTS) == {"bpref", "judged", "alpha-ndcg"}


def test_judged_is_the_share_of_the_top_with_a_label():
    assert value("judged@4", [5, 4, 3, 2, 1], [1, NAN, 0, NAN, NAN]) == 2 / 4
    assert value("judged@9", [2, 1], [NAN, 1]) == 1 / 2  # of the two there are


def test_bpref_counts_judged_irrelevant_documents_above_relevant_ones():
    # Ranked: relevant, irrelevant, unjudged, relevant, irrelevant, irrelevant. R = 2, N = 3, so the bound is 2.
    labels = [1, 0, NAN, 1, 0, 0]
    assert value("bpref", [6, 5, 4, 3, 2, 1], labels) == pytest.approx((1 + (1 - 1 / 2)) / 2)


def test_bpref_ignores_where_unjudged_documents_stand():
    assert value("bpref", [4, 3, 2, 1], [NAN, NAN, 1, 0]) == 1.0


def test_rbp_is_a_sum_over_what_a_reader_sees():
    assert value("rbp(0.5)", [3, 2, 1], [1, 0, 2]) == pytest.approx(0.5 * (1 + 0.5**2))
    assert value("rbp@1", [3, 2, 1], [1, 0, 2]) == pytest.approx(0.2)


def test_averaged_ties_are_refused():
    with pytest.raises(InputError, match="bpref has no average over the orders of tied documents"):
        value("bpref", [1, 1], [1, 0], convention="standard(ties=averaged)")


QRELS = rw.Qrels(
    ["q", "q", "q", "q"], ["a", "a", "b", "c"], [1, 1, 1, 1], subtopics=["1", "2", "1", "3"]
)  # a covers 1 and 2, b covers 1, c covers 3


def alpha_ndcg(order, name="alpha-ndcg@10"):
    run = rw.Run(["q"] * len(order), list(order), list(range(len(order), 0, -1)))
    return rw.evaluate_run(run, QRELS, [name])[name].values[0]


def test_alpha_ndcg_counts_what_is_new():
    best = 2 + 1 / log2(3) + 0.5 / log2(4)  # a, c, b
    assert alpha_ndcg("acb") == pytest.approx(1.0)
    assert alpha_ndcg("abc") == pytest.approx((2 + 0.5 / log2(3) + 1 / log2(4)) / best)
    assert alpha_ndcg("b") == pytest.approx(1 / best)
    assert alpha_ndcg("ba", "alpha-ndcg(1)@2") == pytest.approx((1 + 1 / log2(3)) / (2 + 1 / log2(3)))


def test_alpha_ndcg_needs_subtopics():
    with pytest.raises(InputError, match="needs the subtopics of documents"):
        value("alpha-ndcg@10", [2, 1], [1, 0])


def test_other_metrics_see_the_highest_label_of_a_document():
    run = rw.Run(["q", "q"], ["x", "a"], [2, 1])
    assert rw.evaluate_run(run, QRELS, ["mrr"])["mrr"].mean == 0.5


def test_qrels_with_subtopics_are_read_from_a_file(tmp_path):
    (tmp_path / "qrels").write_text("q 1 a 1\nq 2 a 1\nq 1 b 1\nq 3 c 1\n")
    read = rw.read_qrels(tmp_path / "qrels", subtopics=True)
    assert read.subtopics is not None
    assert read.subtopics.tolist() == ["1", "2", "1", "3"]


class TestCompareRuns:
    def runs(self):
        rng = np.random.default_rng(0)
        queries = np.repeat([f"q{number}" for number in range(40)], 10)
        documents = [f"d{number}" for number in range(400)]
        labels = rng.integers(0, 2, size=400)
        qrels = rw.Qrels(queries, documents, labels)
        good = rw.Run(queries, documents, labels + rng.normal(0, 0.2, size=400))
        poor = rw.Run(queries[:-10], documents[:-10], rng.normal(size=390))
        return {"poor": poor, "good": good}, qrels

    def test_a_query_that_a_run_lacks_counts_as_nothing_found(self):
        runs, qrels = self.runs()
        found = rw.compare_runs(runs, qrels, ["map"])
        assert found.best == {"map": "good"}
        assert found.evaluations["poor"]["map"].values[-1] == 0.0 or found.evaluations["poor"].n_queries == 40
        assert found.conclusion.startswith("good is better than poor by 0.")
        assert found.conclusion.endswith("on 40 queries; that is hardly chance: p < 0.001, a large effect.")

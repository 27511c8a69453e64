"""What is said of systems that were compared in several metrics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.metrics.comparison.verdict import trained_for
from rankwright.report.page.document import Sureness
from rankwright.report.sections.results import comparison_verdict

SURE, PERHAPS, NEVER = [0.1] * 20, [0.1] * 11 + [-0.1] * 9, [0.0] * 20


def quality(_, scores):
    return scores[0]


def reach(_, scores):
    return scores[1]


def compared(in_quality, in_reach):
    """A comparison of two systems whose values of the two metrics differ by so much on each query."""
    n = len(in_quality)
    data = rw.RankingDataset.from_arrays(np.zeros((2 * n, 1)), [1, 0] * n, group=[2] * n)
    forest = 0.5 + np.column_stack([in_quality, in_reach]).reshape(-1)
    return rw.compare({"forest": forest, "net": np.full(2 * n, 0.5)}, data, [quality, reach])


LOST = [-0.1] * 20


@pytest.mark.parametrize(
    ("in_reach", "headline", "told", "conflicts", "sureness"),
    [
        (SURE, "forest wins", "forest is ahead in reach, too.", [], Sureness.SURE),
        (
            LOST,
            "forest wins in quality, but net wins in reach",
            "But in reach net is better than forest by 0.1000, p < 0.001.",
            ["reach"],
            Sureness.CONFLICT,
        ),
        (
            [-own for own in PERHAPS],
            "forest wins",
            "In reach net is ahead of forest, which may be chance.",
            [],
            Sureness.SURE,
        ),
    ],
)
def test_a_winner_in_one_metric_may_lose_in_another(in_reach, headline, told, conflicts, sureness):
    found = compared(SURE, in_reach)
    page = comparison_verdict(found)
    assert (page.headline, page.sureness) == (headline, sureness)
    assert found.conclusion.endswith(told)
    assert page.sentence == found.conclusion == found.to_dict()["conclusion"]
    assert found.conclusion in str(found)
    assert found.to_dict()["conflicts"] == conflicts


@pytest.mark.parametrize(
    ("in_quality", "in_reach", "headline", "told"),
    [
        (
            PERHAPS,
            LOST,
            "forest leads in quality, but that may be chance; net wins in reach",
            "But in reach net is better than forest by 0.1000, p < 0.001.",
        ),
        (
            PERHAPS,
            SURE,
            "forest leads in quality, but that may be chance; it wins in reach",
            "And in reach forest is better than net by 0.1000, p < 0.001.",
        ),
        (
            NEVER,
            LOST,
            "forest and net are equal in quality; net wins in reach",
            "But in reach net is better than forest by 0.1000, p < 0.001.",
        ),
    ],
)
def test_what_may_be_chance_in_one_metric_may_be_sure_in_another(in_quality, in_reach, headline, told):
    found = compared(in_quality, in_reach)
    assert found.verdict.headline == headline
    assert found.conclusion.endswith(told)


def test_what_is_corrected_and_what_is_not_is_told_where_both_stand():
    nearly = [0.1] * 15 + [-0.1] * 5  # p is small, and twice as much is not
    found = compared(nearly, PERHAPS)
    against = found.against_best["quality"]["net"]
    assert against.paired.p_value < found.alpha <= against.randomisation_holm
    assert against.paired.interval.high < 0
    alone = f"without it, as the interval is, p = {against.paired.p_value:.2g}"
    assert f"p = {against.randomisation_holm:.2g} after correction for 2 tests ({alone})" in found.conclusion
    assert str(found).count("p-values are corrected for 2 tests (Holm), intervals are not") == 1
    labels = [figure.about for figure in comparison_verdict(found).figures]
    assert "95 % interval of the difference, not corrected" in labels
    assert "p, randomisation test, corrected for 2 tests" in labels
    assert "intervals are not corrected" in str(found.slice_by({"half": [0, 1] * 10}))


def test_a_single_test_needs_no_correction():
    data = rw.RankingDataset.from_arrays(np.zeros((4, 1)), [1, 0] * 2, group=[2, 2])
    found = rw.compare({"a": [1, 0, 1, 0], "b": [0, 1, 1, 0]}, data, ["mrr"])
    assert "correct" not in found.conclusion
    assert "intervals are not" not in str(found)


def test_no_p_value_is_told_to_be_one():
    found = compared([0.1, -0.1] * 10, [0.1, -0.1] * 10)
    moved = replace(found, aim="reach")
    assert "p = 1" not in found.conclusion + moved.conclusion
    assert "1.000" not in str(found)


def test_the_headline_is_the_metric_that_was_trained_for(small_data):
    by_map = rw.AdaRank(n_rounds=2, metric="map").fit(small_data)
    also, by_ndcg = (
        rw.AdaRank(n_rounds=1, metric="map").fit(small_data.take_queries(range(9))),
        rw.RankBoost(n_rounds=2).fit(small_data),
    )
    asked = ["ndcg@5", "ndcg@10", "map"]
    unseen = replace(small_data, features=-small_data.features)
    first = unseen.features[:, 0]
    headlines = {
        "both for map": rw.compare({"a": by_map, "b": also, "first": first}, unseen, asked),
        "different ones": rw.compare({"a": by_map, "b": by_ndcg}, unseen, asked),
        "one not asked for": rw.compare({"a": by_map, "first": first}, unseen, asked[:2]),
        "another convention": rw.compare({"a": by_map, "first": first}, unseen, asked, "letor"),
    }
    usual = rw.compare({"one": first, "two": unseen.features[:, 1]}, unseen)
    assert {name: found.headline_metric for name, found in headlines.items()} == {
        "both for map": "map",
        "different ones": "ndcg@5",
        "one not asked for": "ndcg@5",
        "another convention": "map",
    }
    assert usual.headline_metric == "ndcg@10"
    found = headlines["both for map"]
    assert found.table()[0][0] == found.ordered()[0] == found.best["map"]
    assert found.conclusion.startswith(found.best["map"])
    assert " map " in found.conclusion.split(";")[0]


def test_what_is_no_ranker_was_trained_for_nothing(small_data):
    evaluation = rw.evaluate(small_data.labels, small_data, ["map"])
    assert trained_for({"scores": object()}, evaluation) is None

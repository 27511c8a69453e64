"""The examples run, on data smaller than theirs, and what each of them shows is so."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name: str, **sizes: Any) -> Any:
    return runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](**sizes)


def mean(comparison: Any, system: str, metric: str) -> float:
    return float(comparison.evaluations[system][metric].mean)


def test_a_ranker_learned_from_judgments_is_ahead_of_the_best_feature():
    found = run("web_search_judgments", n_trees=30)
    comparison = found["comparison"]
    assert mean(comparison, "lambdamart", "ndcg@10") > mean(comparison, found["best feature"], "ndcg@10")


def test_a_click_log_tells_how_far_users_look():
    found = run("click_log", n_queries=40, sessions=20, n_trees=5)
    examination = np.asarray(found["examination"])
    assert examination[:3].mean() > 1.5 * examination[-3:].mean()
    assert set(found["comparison"].evaluations) >= {"clicks as they are", "corrected for position", "preferences"}


def test_a_force_of_ones_own_earns_more_and_costs_relevance():
    found = run("shop_margin", n_queries=80, n_trees=30)
    systems = ("fit and margin", "fit alone")
    earned = [mean(found["earnings"], system, "earned") for system in systems]
    fits = [mean(found["fits"], system, "ndcg@10") for system in systems]
    assert earned[0] > 1.05 * earned[1]
    assert fits[0] < fits[1]


def test_a_server_learns_from_the_clicks_on_its_lists(tmp_path):
    found = run("live_loop", n_queries=30, visits=8, n_trees=10, folder=str(tmp_path))
    made, kept = found["clicks"]
    assert made == kept
    assert found["lists"] == 8 * 18
    assert found["same"]
    assert found["after"] > found["before"]


def test_a_compressed_model_is_smaller_and_its_c_file_gives_the_same_scores(tmp_path):
    found = run("compress_and_deploy", folder=str(tmp_path), n_bags=4, n_trees=15)
    assert found["sizes"]["small"] < 0.7 * found["sizes"]["large"]
    if found["difference"] is None:
        pytest.skip("no C compiler here")
    assert found["difference"] == 0.0


def test_a_ranker_on_texts_is_ahead_of_tuned_bm25f():
    found = run("texts", n_queries=40, n_trees=20, trials=20)
    assert mean(found["comparison"], "lambdamart", "ndcg@10") > mean(found["comparison"], "bm25f", "ndcg@10") + 0.1

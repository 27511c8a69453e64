"""What the report says of metrics."""

from __future__ import annotations

import numpy as np

import rankwright as rw
from rankwright.report.sections.results import comparison_verdict


def test_the_verdict_says_for_how_many_tests_p_is_corrected():
    data = rw.synthetic.web_search(n_queries=20, seed=0)
    scores = {name: np.random.default_rng(seed).normal(size=data.n_docs) for seed, name in enumerate("abc")}
    two = {name: scores[name] for name in "ab"}
    assert label_of_p(rw.compare(two, data, ["ndcg@10"])) == "p, randomisation test"
    assert label_of_p(rw.compare(two, data, ["ndcg@10", "map"])) == "p, randomisation test, corrected for 2 tests"
    assert label_of_p(rw.compare(scores, data, ["ndcg@10", "map"])) == "p, randomisation test, corrected for 4 tests"


def label_of_p(comparison: rw.SystemComparison) -> str:
    (label,) = [figure.about for figure in comparison_verdict(comparison).figures if figure.about.startswith("p, ")]
    return label

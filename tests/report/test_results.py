"""What the report says of metrics."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.report.measured import Origin
from rankwright.report.pages.result_pages import page_of_comparison
from rankwright.report.sections.results import comparison_verdict


def test_the_verdict_says_for_how_many_tests_p_is_corrected():
    data = rw.synthetic.web_search(n_queries=20, seed=0)
    scores = {name: np.random.default_rng(seed).normal(size=data.n_docs) for seed, name in enumerate("abc")}
    two = {name: scores[name] for name in "ab"}
    assert label_of_p(rw.compare(two, data, ["ndcg@10"])) == "p, randomisation test"
    assert label_of_p(rw.compare(two, data, ["ndcg@10", "map"])) == "p, randomisation test, corrected for 2 tests"
    assert label_of_p(rw.compare(scores, data, ["ndcg@10", "map"])) == "p, randomisation test, corrected for 4 tests"


def test_the_outcome_of_a_gate_stands_first(tmp_path):
    data = rw.synthetic.web_search(n_queries=20, seed=0)
    scores = {"old": data.in_source_order(np.asarray(data.labels)), "new": np.zeros(data.n_docs)}
    compared = rw.compare(scores, data, ["ndcg@10"])
    gate = compared.gate({"ndcg@10": 0.002})
    page = page_of_comparison(compared, Origin(), gate=gate)
    assert [section.key for section in page.sections][:2] == ["gate", "metrics"]
    assert page.sections[0].lead.startswith("Gate failed: new is worse than old by ")
    rw.write_report(compared, tmp_path / "report.html", gate=gate)
    assert page.sections[0].lead.partition("<")[0] in (tmp_path / "report.html").read_text()
    with pytest.raises(rw.RankwrightError, match="a gate goes with the comparison that made it"):
        rw.write_report(compared.evaluations["old"], tmp_path / "other.html", gate=gate)


def label_of_p(comparison: rw.SystemComparison) -> str:
    (label,) = [figure.about for figure in comparison_verdict(comparison).figures if figure.about.startswith("p, ")]
    return label

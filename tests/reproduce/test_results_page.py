"""docs/results.md is what its generator makes from the results that are kept."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from rankwright.reproduce.registry import EXPERIMENTS

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def results_page():
    spec = importlib.util.spec_from_file_location("results_page", DOCS / "results_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def kept():
    return json.loads((DOCS / "results.json").read_text(encoding="utf-8"))


def test_the_page_is_made_from_what_is_kept(results_page, kept):
    assert (DOCS / "results.md").read_text(encoding="utf-8") == results_page.page(kept), "run make results"


def test_every_experiment_is_on_it_with_its_command(results_page, kept):
    page = results_page.page(kept)
    for name in EXPERIMENTS:
        assert f"\n### {name}\n" in page
        assert f"`rankwright reproduce {name} --quick`" in page
        assert f"(#{name})" in page


def test_what_did_not_come_out_is_told(results_page, kept):
    failures = [
        claim["text"] for one in kept["experiments"].values() for claim in one["claims"] if claim["holds"] is not True
    ]
    told = results_page.page(kept).split("## What did not come out")[1].split("\n## ")[0]
    assert failures
    assert all(text.replace("|", "\\|") in told for text in failures)


def test_nothing_is_computed_where_all_is_kept(results_page, kept, monkeypatch, tmp_path):
    monkeypatch.setattr(results_page, "BENCHMARKS", tmp_path)
    monkeypatch.setattr(results_page, "reproduce", None)
    assert results_page.collected(kept, [], None) == kept


def test_timings_of_benchmarks_are_told_as_ratios_with_their_command(results_page, kept, monkeypatch, tmp_path):
    record = {"question": "Reading", "ours": "rankwright", "seconds": {"rankwright": [2.0, 1.0], "other": [3.0]}}
    (tmp_path / "nameless.json").write_text(json.dumps(record | {"notes": {}}))
    (tmp_path / "reading.json").write_text(
        json.dumps(record | {"notes": {}, "command": "python -m benchmarks.reading"})
    )
    monkeypatch.setattr(results_page, "BENCHMARKS", tmp_path)
    found = results_page.collected(kept, [], None)
    assert set(found["benchmarks"]) - set(kept["benchmarks"]) == {"reading"}  # one without its command stays off
    page = results_page.page(found)
    assert "| other | 3.0000 | 3.00 |" in page
    assert "Command: `python -m benchmarks.reading`" in page

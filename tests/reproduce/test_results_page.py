"""docs/results.md is what its generator makes from the results that are kept."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from rankwright.reproduce.experiment_table import EXPERIMENTS

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
    pages = {"results.md": results_page.page(kept), "letor.md": results_page.letor_page(kept["benchmarks"])}
    if results_page.TABLES in kept["experiments"]:
        pages[f"images/{results_page.PICTURE}"] = results_page.picture(kept["experiments"][results_page.TABLES])
    for name, page in pages.items():
        assert (DOCS / name).read_text(encoding="utf-8") == page, "run make results"


def test_every_experiment_is_on_it_with_its_command_and_size(results_page, kept):
    page = results_page.page(kept)
    for name in EXPERIMENTS:
        size = kept["experiments"][name]["size"]
        assert f"\n### {name}\n" in page
        assert f"`rankwright reproduce {name}{' --quick' if size == 'quick' else ''}`" in page
        assert f"| [{name}](#{name}) | {size}" in page


def test_what_did_not_come_out_is_told_with_its_reason(results_page, kept):
    failures = [claim for one in kept["experiments"].values() for claim in one["claims"] if claim["holds"] is not True]
    told = results_page.page(kept).split("## What did not come out")[1].split("\n## ")[0]
    assert failures
    for claim in failures:
        why = claim.get("why", results_page.NO_REASON)
        assert why
        answer = claim["answer"].capitalize()
        assert f"- *{claim['text']}*. {answer}: {claim['found']}. **Why**: {why}." in told


def test_every_script_has_a_row_and_every_record_its_command(results_page, kept):
    page = results_page.page(kept)
    assert set(results_page._questions()) >= {
        "quality.rankers",
        "speed.train_lambdamart",
        "speed.score_imported",
        "clicks.speed",
    }
    for script in kept["scripts"]:
        assert f"| `python -m benchmarks.{script}` |" in page
    page += results_page.letor_page(kept["benchmarks"])
    for record in kept["benchmarks"].values():
        assert f"Command: `{record['command']}`" in page


def test_tuned_peers_and_ranklib_are_on_it(kept):
    tuned = kept["benchmarks"]["quality-tuned"]
    assert {one.partition("(")[0] for one in tuned["systems"]} == {
        "tuned-lambdamart", "tuned-lightgbm", "tuned-xgboost", "tuned-catboost"}  # fmt: skip
    assert {"low", "high", "p_value"} <= tuned["metrics"]["map"]["others"][tuned["systems"][1]].keys()
    assert any("RankLib" in row["system"] for row in kept["benchmarks"]["ranklib-figures"]["rows"])


def test_nothing_is_computed_where_all_is_kept(results_page, kept, monkeypatch, tmp_path):
    for place in ("BENCHMARKS", "FULL_OUT", "QUICK_OUT"):
        monkeypatch.setattr(results_page, place, tmp_path)
    monkeypatch.setattr(results_page, "reproduce", None)
    found = results_page.collected(kept, runs=False)
    assert (found["experiments"], found["benchmarks"]) == (kept["experiments"], kept["benchmarks"])


def test_a_run_of_the_papers_size_takes_the_place_of_a_quick_one(results_page, kept, monkeypatch, tmp_path):
    for place in ("BENCHMARKS", "FULL_OUT"):
        monkeypatch.setattr(results_page, place, tmp_path)
    monkeypatch.setattr(results_page, "QUICK_OUT", tmp_path / "quick")
    for name, size in (("sortnet-table1", "full"), ("sortnet-table2", "quick")):
        one = kept["experiments"][name] | {"size": size, "title": "another run"}
        (tmp_path / f"{name}.json").write_text(json.dumps(one))
    found = results_page.collected(kept, runs=False)
    assert found["experiments"]["sortnet-table1"]["title"] == "another run"
    assert found["experiments"]["sortnet-table2"] == kept["experiments"]["sortnet-table2"]
    monkeypatch.setattr(results_page, "FULL_OUT", tmp_path / "nothing")
    monkeypatch.setattr(results_page, "QUICK_OUT", tmp_path)
    quick = json.loads((tmp_path / "sortnet-table1.json").read_text()) | {"size": "quick"}
    (tmp_path / "sortnet-table1.json").write_text(json.dumps(quick))
    assert results_page.collected(found, runs=False)["experiments"]["sortnet-table1"]["size"] == "full"


def test_timings_of_benchmarks_are_told_as_ratios_with_their_command(results_page, kept, monkeypatch, tmp_path):
    record = {"question": "Reading", "ours": "rankwright", "seconds": {"rankwright": [2.0, 1.0], "other": [3.0]}}
    record |= {"notes": {"our speed": "9 MB/s"}, "versions": {"other": "4.5"}, "machine": {"processors": 2}}
    record |= {"date": "2026-01-02"}
    (tmp_path / "nameless.json").write_text(json.dumps(record))
    (tmp_path / "reading.json").write_text(
        json.dumps(record | {"command": "python -m benchmarks.speed.tables --threads 2"})
    )
    for place in ("FULL_OUT", "QUICK_OUT"):
        monkeypatch.setattr(results_page, place, tmp_path / "nothing")
    monkeypatch.setattr(results_page, "BENCHMARKS", tmp_path)
    found = results_page.collected(kept, runs=False)
    assert set(found["benchmarks"]) - set(kept["benchmarks"]) == {"reading"}  # one without its command stays off
    page = results_page.page(found)
    assert "| other | 3.0000 | 3.00 |" in page
    assert "2026-01-02, 2 processors; other 4.5. Command: `python -m benchmarks.speed.tables --threads 2`" in page
    (row,) = [line for line in page.splitlines() if line.startswith("| `python -m benchmarks.speed.tables`")]
    assert "[2026-01-02](#reading)" in row


def test_runs_without_reasons_are_run_again(results_page, kept, monkeypatch, tmp_path):
    for place in ("BENCHMARKS", "FULL_OUT", "QUICK_OUT"):
        monkeypatch.setattr(results_page, place, tmp_path)
    asked = []

    def reproduce(names, *_, **__):
        asked.extend(names)
        return []

    monkeypatch.setattr(results_page, "reproduce", reproduce)
    whole = {
        name: one | {"claims": [claim | {"why": "so"} for claim in one["claims"]]}
        for name, one in kept["experiments"].items()
    }
    claims = [{"text": claim["text"], "holds": False} for claim in whole["lambdarank-wta"]["claims"]]
    results_page.collected(
        kept | {"experiments": whole | {"lambdarank-wta": whole["lambdarank-wta"] | {"claims": claims}}}
    )
    assert asked == ["lambdarank-wta"]


def test_headlines_come_first_with_the_papers_and_the_best_peers_figures(results_page, kept):
    table = {"title": "MQ2007", "rows": {"BL-MART with overfitting": {"map": FIGURE}}, "digits": 4, "comparable": True}
    document = kept["experiments"]["blmart-tables"] | {"experiment": results_page.TABLES, "tables": [table]}
    rows = [{"whose": "peers", "ranker": f"{name}, tuned", "map": value} for name, value in (("A", 0.46), ("B", 0.465))]
    record = {"letor": "MQ2007", "rows": rows}
    found = kept | {
        "experiments": {results_page.TABLES: document},
        "benchmarks": kept["benchmarks"] | {"letor-table-mq2007": record},
    }
    page = results_page.page(found)
    assert "| MQ2007, BL-MART with overfitting: map | 0.4741 ±0.0100 | 0.4731 | 0.4650 (B) |" in page
    assert page.index("## Headline figures") < page.index("## Verdicts") < page.index("## What did not come out")
    assert "BL-MART with overfitting" in results_page.picture(document)


FIGURE = {"ours": 0.4741, "paper": 0.4731, "low": 0.4641, "high": 0.4841}


def test_the_best_figure_of_each_column_is_marked_whoever_has_it(results_page):
    metrics = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "mean-ndcg")
    rows = [
        {
            "whose": whose,
            "ranker": whose,
            **{metric: 0.4 + 0.01 * ((number + place) % 3) for place, metric in enumerate(metrics)},
        }
        for number, whose in enumerate(("published", "ours", "peers"))
    ]
    told = {"date": "2026-01-02", "versions": {"a": "1"}, "notes": {"trials": 4}, "command": "it"}
    page = results_page.letor_page({"letor-table-mq2008": told | {"letor": "MQ2008", "rows": rows}})
    marked = [
        line.split("|")[3:9] for line in page.splitlines() if line.startswith(("| published", "| ours", "| peers"))
    ]
    for column in zip(*marked, strict=True):
        assert sum(cell.strip() == "**0.4200**" for cell in column) == 1


def test_a_run_that_is_not_at_its_end_says_so(results_page, kept):
    document = kept["experiments"]["sortnet-table1"]
    assert results_page._size(document | {"parts": 3, "parts_wanted": 30}) == "full, so far: 3 of 30 parts"
    assert results_page._size(document) == "full"
    assert "full takes about" in results_page._size(kept["experiments"]["blmart-tables"])


def test_a_new_run_takes_the_place_of_an_older_one_on_the_same_data(results_page, kept):
    def told(name, *sets):
        return kept["experiments"]["sortnet-table2"] | {"experiment": name, "data": [{"name": one} for one in sets]}

    old = {"a": told("sortnet-table2, of old", "A", "B"), "b": told("sortnet-table2, on A", "A")}
    new = {"sortnet-table2, on A and B": told("sortnet-table2, on A and B", "A", "B")}
    assert results_page._with(old, new) == {"b": old["b"]} | new

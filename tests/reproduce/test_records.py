"""What benchmarks leave for the page of results."""

from __future__ import annotations

import json
import sys
from datetime import date

import numpy as np
import pytest
from benchmarks import short_runs
from benchmarks.helpers import places, records
from benchmarks.helpers.timing import Timing, report
from benchmarks.quality import against_time, rankers, stored
from benchmarks.speed import before_and_after


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setattr(records, "RESULTS", tmp_path / "results")
    monkeypatch.setattr(sys, "argv", ["/somewhere/benchmark.py", "--data", "/home/of/somebody/MQ2008", "--seeds", "3"])
    return tmp_path / "results"


def test_a_record_tells_question_command_day_machine_and_versions(place, capsys):
    records.show(
        "Two rows", "Which is faster?", [{"tool": "ours", "s": 0.5}, {"tool": "theirs", "note": "slow"}], size=7
    )
    record = json.loads((place / "two-rows.json").read_text())
    assert record["question"] == "Which is faster?"
    assert record["date"] == date.today().isoformat()
    assert record["machine"]["processors"] >= 1
    assert record["versions"].keys() >= {"python", "numpy", "rankwright"}
    assert (record["rows"][0], record["notes"]) == ({"tool": "ours", "s": 0.5}, {"size": 7})
    assert "theirs  " in capsys.readouterr().out


def test_a_command_has_no_folder_of_this_machine():
    assert records.command().endswith("--data MQ2008 --seeds 3")
    assert "somebody" not in records.command()


def test_times_are_left_with_what_is_ours(place):
    report("Reading 5 MB", {"ours": Timing("ours", [2.0, 1.0]), "other": Timing("other", [3.0])}, "ours")
    record = json.loads((place / "reading-5-mb.json").read_text())
    assert (record["ours"], record["seconds"]["other"], record["notes"]) == ("ours", [3.0], {})


def test_comparisons_are_made_from_results_that_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(rankers, "FOLDER", tmp_path / "quality")
    assert stored.stored("quality-tuned") is None
    title, systems, folds, _ = stored.COMPARISONS["quality-tuned"]
    for number, system in enumerate(systems):
        for own, n_kept in (("mq2008", folds), ("ohsumed", folds - (number == 3))):
            for fold in range(n_kept):
                path = rankers.Task(system, own, fold).path
                path.parent.mkdir(parents=True, exist_ok=True)
                values = [0.5 - 0.1 * number + 0.01 * query for query in range(20)]
                record = {"ndcg@10": values, "map": values, "seconds": 2.0, "versions": {"lightgbm": "9.9"}}
                path.write_text(json.dumps(record))
    found = stored.stored("quality-tuned")
    assert found is not None
    assert (found["title"], found["place"], list(found["metrics"]["map"]["sets"])) == (title, 1, ["mq2008"])
    assert found["left_out"]["ohsumed"] == [systems[3]]  # which lacks a fold there
    assert found["versions"]["lightgbm"] == "9.9"
    assert found["metrics"]["map"]["others"][systems[1]]["difference"] == pytest.approx(0.1)
    assert f"--sets mq2008 --folds {folds}" in found["command"]


def test_every_short_run_names_a_script():
    for line in short_runs.RUNS.strip().splitlines():
        room, _, script = line.split()[0].partition(".")
        assert (places.CHECKOUT / "benchmarks" / room / f"{script}.py").is_file(), line


def test_a_ratio_of_versions_is_the_median_over_pairs_within_its_interval():
    found = before_and_after.median_ratio([1.0, 2.0, 4.0], [1.1, 2.0, 3.6])
    assert found == pytest.approx((1.0, 0.9, 1.1))


def test_a_point_of_a_peer_is_answered_by_our_best_that_is_as_fast():
    rng = np.random.default_rng(0)

    def point(tool, system, seconds, mean):
        return against_time.Point(tool, system, seconds, mean + 0.01 * rng.standard_normal(50))

    points = [
        point("rankwright", "quick", 1.0, 0.5),
        point("rankwright", "good", 2.09, 0.6),
        point("rankwright", "slow", 9.0, 0.9),
        point("lightgbm", "peer", 2.0, 0.55),
        point("xgboost", "quickest", 0.1, 0.4),
    ]
    found = against_time.answers(points)
    assert found["quickest"] is None
    assert found["peer"] is not None
    own, verdict, chance = found["peer"]
    assert own.system == "good"  # within 5 %
    assert verdict.difference == pytest.approx(0.05, abs=0.01)
    assert chance < 0.05
    rows = {row["system"]: row for row in against_time.rows_of("a set", points)}
    assert rows["`peer`"]["its lead"].endswith("*")
    assert rows["`quickest`"]["ours as fast"] == "none"
    drawn = against_time.picture({"a set": points})
    assert drawn.count("<circle") == len(points) + len(against_time.COLOURS)  # with those of the legend

"""Reports on studies: tables that add up, pictures that are drawn."""

from __future__ import annotations

import csv
import json
from typing import Any

import numpy as np
import pytest
from tests.here_engine import HereEngine

import rankwright as rw
from rankwright.errors import InputError, SettingError
from rankwright.report.study_report import searches_table, write_study_report
from rankwright.settings.spaces import Choice
from rankwright.tuning.studies.study_summary import SearchCurve, summarise
from rankwright.tuning.tuner import tune

SPACE = {"max_leaves": Choice((3, 5, 8)), "learning_rate": Choice((0.05, 0.2)), "query_fraction": Choice((0.5, 1.0))}


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 15, size=30)
    features = rng.normal(size=(int(sizes.sum()), 3))
    labels = np.digitize(features[:, 0] + 0.5 * rng.normal(size=len(features)), [0, 1])
    data = rw.RankingDataset.from_arrays(features, labels, group=sizes)
    folder = tmp_path_factory.mktemp("study")
    options: dict[str, Any] = {"space": SPACE, "folds": 2, "study": folder, "engine": HereEngine()}
    for strategy in ("grid", "halving"):
        tune(rw.LambdaMART(n_trees=9), data, strategy=strategy, **options)
    return folder


@pytest.fixture(scope="module")
def summary(study):
    return summarise(study)


def test_a_summary_counts_the_work_of_each_search_as_its_own(summary):
    curves = {curve.name: curve for curve in summary.curves}
    assert curves["grid"].steps[-1] == 12 * 2 * 9
    # 12 configurations for 1 tree, 4 for 3, 1 for 9, on two folds.
    assert curves["halving"].steps[-1] == 2 * (12 * 1 + 4 * 2 + 1 * 6)
    assert curves["grid"].best[-1] == summary.best[0].value
    assert np.all(np.diff(curves["grid"].best) >= 0)
    assert len(summary.best) == 12
    assert summary.refit is not None


def test_a_report_has_tables_and_pictures(summary, tmp_path):
    written = write_study_report([summary], tmp_path, picture="png")
    names = {path.name for path in written.files}
    assert {"report.md", "report.json", "searches.csv", "best.csv", "importance.csv"} <= names
    assert {"searches.png", "importance.png", "effects.png"} <= names
    assert all(path.stat().st_size > 0 for path in written.files)
    for heading in ("Did we need this many", "Best configurations", "Which settings matter", "all the data"):
        assert heading in written.text
    best = list(csv.DictReader((tmp_path / "best.csv").read_text().splitlines()))
    assert [float(row["ndcg@10"]) for row in best] == sorted((float(row["ndcg@10"]) for row in best), reverse=True)
    document = json.loads((tmp_path / "report.json").read_text())
    assert [row["search"] for row in document["searches"]] == ["grid", "halving"]


def test_two_reports_on_one_study_are_the_same(study, summary, tmp_path):
    for name, one in (("one", summary), ("two", summarise(study))):
        write_study_report([one], tmp_path / name)
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()


def test_how_much_work_it_took_to_come_near_the_best():
    def curve(steps, best):
        zeros = np.zeros(len(steps))
        return SearchCurve("", np.array(steps, float), zeros, zeros, np.array(best))

    rows = searches_table({"a": curve([10, 20, 40], [0.5, 0.599, 0.6]), "b": curve([4, 8], [0.3, 0.4])}, "ndcg@10")
    assert [row["steps_until_near"] for row in rows] == [20, None]
    assert [row["share_of_most"] for row in rows] == [1.0, 8 / 40]
    assert rows[1]["below_best"] == pytest.approx(0.6 - 0.4)


def test_what_is_no_study_and_pictures_of_no_kind_are_refused(summary, tmp_path):
    with pytest.raises(InputError, match="holds no study"):
        summarise(tmp_path)
    with pytest.raises(SettingError, match="picture's name"):
        write_study_report([summary], tmp_path, picture="gif")

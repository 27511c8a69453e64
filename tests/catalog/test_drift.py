"""Fresh documents of the same source raise no alarm; features that moved are found, and the words fit."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.drift import drift_of, profile_of
from rankwright.catalog.rankers import load_trained
from rankwright.catalog.training import TrainingFiles, train_on_files
from rankwright.errors import InputError

N_FEATURES, N_QUERIES = 12, 50


def source(seed: int, n_queries: int = N_QUERIES) -> rw.RankingDataset:
    """Documents of which some features are of the query, one is a count, and one is often missing."""
    rng = np.random.default_rng(seed)
    features = rng.standard_normal((20 * n_queries, N_FEATURES)).astype(np.float32)
    features[:, 0] = np.repeat(rng.standard_normal(n_queries), 20)
    features[:, 1] = rng.poisson(1.0, len(features))
    features[rng.random(len(features)) < 0.3, 2] = np.nan
    labels = np.clip(np.round(features[:, 3] + features[:, 4]), 0, 4)
    return rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(n_queries), 20))


def shifted(data: rw.RankingDataset, column: int, by: float) -> rw.RankingDataset:
    features = data.features.copy()
    features[:, column] += by
    return data.with_features(features, (), None)


@pytest.fixture(scope="module")
def trained():
    data = source(0, 1000)
    ranker = rw.LambdaMART(n_trees=10, max_leaves=6).fit(data)
    return ranker.trained_.with_profile(profile_of(ranker.trained_, data.features))


def test_documents_of_the_same_source_raise_no_alarm(trained):
    alarms = sum(drift_of(trained, source(1000 + seed)).verdict != "as in training" for seed in range(100))
    assert alarms <= 5


def test_a_shift_of_half_a_deviation_is_found_in_a_thousand_documents(trained):
    found = [drift_of(trained, shifted(source(2000 + seed), 5, 0.5)).moved for seed in range(40)]
    assert sum("6" in {one.name for one in moved} for moved in found) >= 38
    assert all(one.direction == "values are higher" for moved in found for one in moved if one.name == "6")


def test_a_shift_of_the_few_values_that_a_feature_of_the_query_has_is_found_more_often_than_not(trained):
    found = [drift_of(trained, shifted(source(3000 + seed), 0, 0.6)).moved for seed in range(40)]
    assert sum("1" in {one.name for one in moved} for moved in found) > 20


def test_the_order_of_queries_makes_no_difference(trained):
    data = shifted(source(1), 0, 0.3)
    turned = data.take_queries(list(range(N_QUERIES))[::-1])
    told, again = (drift_of(trained, one).to_dict()["features"] for one in (data, turned))
    assert [one["name"] for one in told] == [one["name"] for one in again]
    assert [one["chance"] for one in told] == pytest.approx([one["chance"] for one in again])


def test_what_the_model_looks_at_makes_its_order_doubtful(trained):
    looked_at = drift_of(trained, shifted(source(1), 3, -1.0))
    assert looked_at.verdict == "distrust"
    assert "the ranking should be distrusted" in "\n".join(looked_at.lines())
    not_looked_at = drift_of(trained, shifted(source(1), 5, 1.0))
    assert not_looked_at.verdict == "watch"
    gone = source(1)
    features = gone.features.copy()
    features[:, 7] = np.nan
    report = drift_of(trained, gone.with_features(features, (), None))
    assert report.moved[0].direction == "more values are missing (100.0%)"
    assert report.to_dict()["features"][0]["missing_now"] == 1.0
    assert "nothing moved" in next(iter(drift_of(trained, source(1)).lines()))


def test_reports_have_a_section_of_drift(trained, tmp_path):
    from typer.testing import CliRunner

    from rankwright.cli.app import app
    from rankwright.report.page.document import PageTable
    from rankwright.report.pages.result_pages import page_of

    ranker = rw.LambdaMART.of_trained(trained)
    today = shifted(source(1), 3, -1.0)
    section = next(one for one in page_of(ranker, today).sections if one.key == "drift")
    assert [block.kind for block in section.blocks] == ["remarks", "chart", "table"]
    assert isinstance(section.blocks[2], PageTable)
    table = section.blocks[2].table
    assert table.rows[0][0] == "scores"
    assert [row[-1] for row in table.rows if row[0] == "4"] == ["values are lower"]
    without = rw.LambdaMART(n_trees=2).fit(source(0))
    assert "drift" not in {one.key for one in page_of(without, today).sections}
    ranker.save(tmp_path / "m.rw")
    rw.write(today, tmp_path / "today.parquet")
    files = [str(tmp_path / name) for name in ("m.rw", "today.parquet", "drift.html")]
    assert CliRunner().invoke(app, ["drift", *files[:2], "--report", files[2]]).exit_code == 0
    assert "The ranking should be distrusted" in (tmp_path / "drift.html").read_text()


def test_training_leaves_a_profile_that_does_not_depend_on_the_order_of_rows(tmp_path):
    data = source(3)
    rw.write(data, tmp_path / "a.txt")
    rw.write(data.take_queries(list(range(N_QUERIES))[::-1]), tmp_path / "b.txt")
    profiles = []
    for name, threads in (("a", 1), ("b", 2)):
        files = TrainingFiles(train=str(tmp_path / f"{name}.txt"))
        train_on_files(rw.LambdaMART(n_trees=3, threads=threads), files, str(tmp_path / f"{name}.rw"), profile=True)
        profile = load_trained(tmp_path / f"{name}.rw").findings.profile
        assert profile is not None
        profiles.append(profile.arrays())
    assert profiles[0].keys() == profiles[1].keys()
    assert all(profiles[0][key].tobytes() == profiles[1][key].tobytes() for key in profiles[0])
    files = TrainingFiles(train=str(tmp_path / "a.txt"))
    train_on_files(rw.LambdaMART(n_trees=3), files, str(tmp_path / "c.rw"))
    rw.LambdaMART(n_trees=3).fit(tmp_path / "a.txt").save(tmp_path / "d.rw")
    assert (tmp_path / "c.rw").read_bytes() == (tmp_path / "d.rw").read_bytes()
    with pytest.raises(InputError, match="holds no profile"):
        drift_of(load_trained(tmp_path / "c.rw"), data)


def test_a_model_that_looks_at_queries_has_no_spread_of_scores():
    data = source(4)
    ranker = rw.LinearRegression(scaling="query-minmax").fit(data)
    profile = profile_of(ranker.trained_, data.features)
    assert profile.scores is None

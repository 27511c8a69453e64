"""Propensities as a column: read, written, weighed by, and told from Python and from the command line.

Here they are taken as they are; what is corrected by them after a look at held-out clicks is in `test_debiasing.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.cli.app import app
from rankwright.errors import InputError, RankwrightError

QUICK: dict[str, Any] = {"n_trees": 3, "max_leaves": 4, "min_docs_in_leaf": 2, "threads": 1, "debias": "none"}


@pytest.fixture
def clicked() -> Any:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(60, 3)).astype(np.float32)
    return rw.RankingDataset.from_arrays(
        features, (features[:, 0] + rng.normal(size=60) > 0.3).astype(float), qid=np.repeat(np.arange(12), 5),
        propensities=np.tile([1.0, 0.5, 0.25, 0.125, 0.01], 12), feature_names=["a", "b", "c"],
    )  # fmt: skip


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.tsv"])
def test_a_file_holds_them(clicked, name, tmp_path):
    rw.write(clicked, tmp_path / name)
    back = rw.read(tmp_path / name)
    np.testing.assert_array_equal(back.propensities, clicked.propensities)
    assert back.feature_names == ("a", "b", "c")
    assert rw.from_frame(clicked.to_frame()).propensities is not None


def test_wrong_ones_are_refused_with_their_place(tmp_path):
    (tmp_path / "data.csv").write_text("qid,label,propensity,a\n1,1,0.5,2\n1,0,1.5,3\n")
    with pytest.raises(RankwrightError, match=r"propensity.*above 0 and be at most 1, got 1\.5"):
        rw.read(tmp_path / "data.csv")
    with pytest.raises(InputError, match="row 0 has 0"):
        rw.RankingDataset.from_arrays([[1.0]], [1], qid=[1], propensities=[0.0])


def test_a_file_a_dataset_and_arrays_give_the_same_ranker(clicked, tmp_path):
    rw.write(clicked, tmp_path / "data.parquet")
    by_dataset: Any = rw.LambdaMART(**QUICK).fit(clicked)
    by_file = rw.LambdaMART(**QUICK).fit(tmp_path / "data.parquet")
    by_arrays = rw.LambdaMART(**QUICK).fit(
        clicked.features, clicked.labels, qid=clicked.qid, propensity=clicked.propensities
    )
    by_frame = rw.LambdaMART(**QUICK).fit(clicked.to_frame(), propensity="propensity")
    unweighed = rw.LambdaMART(**QUICK).fit(clicked.features, clicked.labels, qid=clicked.qid)
    scores = by_dataset.predict(clicked)
    others: Any = (by_file, by_arrays, by_frame)
    for other in others:
        np.testing.assert_array_equal(other.predict(clicked), scores)
        assert other.propensity_weights_.clipped_share == by_dataset.propensity_weights_.clipped_share > 0
    assert not np.array_equal(unweighed.predict(clicked), scores)


def test_the_command_line_names_the_column(clicked, tmp_path, capsys):
    frame = clicked.to_frame().rename(columns={"propensity": "looked", "qid": "search"})
    frame.to_csv(tmp_path / "data.csv", index=False)
    given = ["train", str(tmp_path / "data.csv"), "--out", str(tmp_path / "model.rw"), "--set", "n_trees=3"]
    given += [
        "--set",
        "debias=none",
        "--set",
        "max_leaves=4",
        "--set",
        "min_docs_in_leaf=2",
        "--query",
        "search",
        "--propensity",
        "looked",
    ]
    app(given, standalone_mode=False)
    assert "clicks count as" in capsys.readouterr().out
    expected = rw.LambdaMART(**QUICK).fit(clicked).predict(clicked)
    np.testing.assert_array_equal(rw.load(tmp_path / "model.rw").predict(clicked), expected)


def test_preferences_have_weights_of_their_own():
    pairs = rw.Preferences(np.array([0]), np.array([1]))
    with pytest.raises(InputError, match="propensities weigh clicks"):
        rw.RankNet(hidden=(2,), epochs=1).fit(
            rw.RankingDataset.from_arrays([[1.0], [2.0]], qid=[1, 1], propensities=[0.5, 1.0], preferences=pairs)
        )


@pytest.mark.parametrize(("ranker", "settings"), [(rw.LambdaMART, {}), (rw.BLMART, {"n_bags": 2})])
def test_weighed_clicks_have_the_forces_of_clicks(clicked: Any, ranker: Any, settings: dict[str, Any]) -> None:
    plain = ranker(**QUICK, **settings).fit(clicked)
    by_swaps = ranker(**QUICK, **settings, objective="lambdarank").fit(clicked)
    assert plain.forest_.equals(by_swaps.forest_)

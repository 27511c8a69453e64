"""SortNet's Table 1 on a small LETOR folder."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.experiments.sortnet_table1 import HIDDEN, METRICS, sortnet_table1

QUICK: dict[str, Any] = {"max_iter": 1, "epochs": 2}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("letor")
    data = rw.synthetic.topic_distillation(10, docs_per_query=30, n_features=44, seed=0)
    for number, parts in enumerate(data.letor_folds(), start=1):
        if number <= 2:
            (folder / f"Fold{number}").mkdir()
            for part, name in zip(parts, ("train", "vali", "test"), strict=True):
                rw.write(part, folder / f"Fold{number}" / f"{name}.txt")
    return folder


def test_a_row_is_the_mean_over_folds_of_rankers_of_that_size(folder):
    table = sortnet_table1(folder, settings=QUICK)
    means = table.means()
    assert list(means) == ["10", "20", "30", "chosen"]
    by_hand = []
    for fold in ("Fold1", "Fold2"):
        train, vali, test = (rw.read(folder / fold / f"{part}.txt") for part in ("train", "vali", "test"))
        ranker = rw.SortNet(hidden=20, select="map:letor", **QUICK).fit(train, valid=vali)
        by_hand.append(rw.evaluate(ranker.predict(test), test, ["p@3"], "letor")["p@3"].mean)
    assert means["20"]["p@3"] == pytest.approx(np.mean(by_hand), abs=1e-12)


def test_the_size_is_chosen_by_validation_quality(folder):
    table = sortnet_table1(folder, settings=QUICK)
    for place, (hidden, result) in enumerate(table.chosen()):
        assert result.quality == max(table.results[size][place].quality for size in HIDDEN)
        assert result is table.results[hidden][place]


def test_the_command_prints_the_table(folder, rankwright_json):
    told = rankwright_json(
        "reproduce", "sortnet-table1", "--data", str(folder), "--set", "max_iter=1", "--set", "epochs=2"
    )
    assert told == sortnet_table1(folder, settings=QUICK).to_dict()
    assert set(told["test"]["10"]) == set(METRICS)


def test_a_folder_without_folds_is_refused(tmp_path, folder):
    with pytest.raises(InputError, match="has no folders Fold1"):
        sortnet_table1(tmp_path)
    (tmp_path / "Fold1").mkdir()
    with pytest.raises(InputError, match=r"has no train\.txt"):
        sortnet_table1(tmp_path)
    with pytest.raises(InputError, match="sets hidden"):
        sortnet_table1(folder, settings={"hidden": 5})


@pytest.fixture
def rankwright_json(capsys):
    def run(*arguments):
        from rankwright.cli.app import app

        app([*arguments, "--json"], standalone_mode=False)
        return json.loads(capsys.readouterr().out)

    return run

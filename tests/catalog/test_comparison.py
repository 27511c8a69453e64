"""Models and files of scores on the same file of documents."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.catalog.training import compare_files
from rankwright.errors import RankwrightError


def test_files_are_compared_as_what_they_hold_is(tmp_path, small_data):
    rw.write(small_data, tmp_path / "data.txt")
    ranker = rw.AdaRank(n_rounds=2).fit(small_data)
    ranker.save(tmp_path / "ada.rw")
    chance = np.random.default_rng(0).normal(size=small_data.n_docs)
    np.savetxt(tmp_path / "chance.txt", chance)
    found = compare_files(
        tmp_path / "data.txt",
        models={"ada": tmp_path / "ada.rw"},
        scores={"chance": tmp_path / "chance.txt"},
        metrics=["map"],
    )
    expected = rw.compare({"ada": ranker, "chance": chance}, small_data, ["map"])
    assert found.to_dict() == expected.to_dict()


def test_scores_of_other_documents_are_refused(tmp_path, small_data):
    rw.write(small_data, tmp_path / "data.txt")
    for name in ("one", "two"):
        np.savetxt(tmp_path / name, [1.0, 2.0])
    with pytest.raises(RankwrightError, match="has 2 scores, but the data has"):
        compare_files(tmp_path / "data.txt", models={}, scores={"one": tmp_path / "one", "two": tmp_path / "two"})

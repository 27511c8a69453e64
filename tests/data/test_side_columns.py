"""Side columns go with their documents wherever these go, and reach functions by name."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.side_columns import columns_asked_for
from rankwright.errors import FileFormatError, InputError, InputTypeError
from rankwright.objectives import from_function
from rankwright.training.digest import data_digest
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.bins.fingerprints import binned_digest

SMALL: dict[str, Any] = {"n_trees": 3, "max_leaves": 4, "min_docs_in_leaf": 5, "threads": 1}


def towards_margin(scores, labels, margin):
    assert len(margin) == len(scores) == len(labels)
    return scores - margin


def margin_of_first(labels, scores, margin):
    assert len(margin) == len(labels)
    return float(margin[np.argmax(scores)])


@pytest.fixture(scope="module")
def shop() -> rw.RankingDataset:
    data = rw.synthetic.random_polynomial(12, n_features=3, seed=0)
    rows = np.random.default_rng(0).permutation(data.n_docs)
    margin = data.features[:, 0] / 2 + 1
    given: Any = (data.features[rows], data.labels[rows])  # type: ignore[index]
    return rw.RankingDataset.from_arrays(*given, qid=data.qid[rows], side={"margin": margin[rows]})


def fits(data: rw.RankingDataset) -> bool:
    """Whether each document has its own margin."""
    return data.side is not None and np.array_equal(data.side["margin"], data.features[:, 0] / 2 + 1)


def test_they_go_where_documents_go(shop):
    assert fits(shop)
    assert fits(shop.take_queries([3, 1]))
    assert fits(shop.in_key_order())
    assert all(map(fits, shop.split(valid=0.5)))


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet"])
def test_they_are_written_and_read(shop, ending, tmp_path):
    path = tmp_path / f"shop.{ending}"
    rw.write(shop, path)
    assert rw.read(path, side=["margin"]).equals(shop)
    both = rw.read(path, side=["margin"], features=["1", "2", "3", "margin"])
    assert both.side is not None
    assert np.array_equal(both.side["margin"], both.features[:, 3])
    frame = shop.to_frame()
    assert rw.from_frame(frame, side=["margin"]).equals(shop)


def test_svmlight_text_has_no_place_for_them(shop, tmp_path, caplog):
    rw.write(shop, tmp_path / "shop.txt")
    assert "has no place for side columns; left out" in caplog.text


def test_functions_ask_for_them_by_name(shop, tmp_path):
    train, valid = shop.split(valid=0.5)
    ranker = rw.LambdaMART(objective=from_function(towards_margin), select=margin_of_first, **SMALL)
    ranker.fit(train, valid={"valid": valid, "train": train})
    best, worst = (
        rw.evaluate(scores, valid, [margin_of_first])["margin_of_first"].mean
        for scores in (ranker.predict(valid), -ranker.predict(valid))
    )
    assert best > worst
    rw.write(train, tmp_path / "train.csv")
    again = rw.LambdaMART(objective=from_function(towards_margin), **SMALL)
    from_file = again.fit(rw.DataFile(tmp_path / "train.csv", side=["margin"])).forest_
    assert from_file.equals(again.fit(train).forest_)


def test_they_are_part_of_what_a_checkpoint_was_begun_on(shop):
    other = replace(shop, side={"margin": shop.features[:, 1]})
    none = replace(shop, side=None)
    assert len({binned_digest(bin_dataset(one)) for one in (shop, other, none)}) == 3
    assert len({data_digest(one) for one in (shop, other, none)}) == 3


def test_a_parameter_with_a_default_is_no_side_column():
    def earned(labels, scores, margin, *, price, seen=3):
        return labels, scores, margin, price, seen

    assert columns_asked_for(earned, 2) == ("margin", "price")


def test_what_is_not_there_is_told(shop, tmp_path):
    plain = rw.RankingDataset.from_arrays(shop.features, shop.labels, qid=shop.qid, side={"price": shop.labels})
    told = "asks for 'margin', and the data has no such side column \\('price'\\)"
    with pytest.raises(InputError, match=f"λ-function 'towards_margin' {told}"):
        rw.LambdaMART(objective=from_function(towards_margin), **SMALL).fit(plain)
    with pytest.raises(InputError, match=f"the metric margin_of_first {told}"):
        rw.evaluate(shop.features[:, 0], plain, [margin_of_first])
    rw.write(shop, tmp_path / "shop.csv")
    with pytest.raises(FileFormatError, match="there is no column 'margn'"):
        rw.read(tmp_path / "shop.csv", side=["margn"])
    with pytest.raises(InputError, match="side column 'a' must have 1 values, got 2"):
        rw.RankingDataset.from_arrays([[1.0]], qid=[1], side={"a": [1, 2]})
    with pytest.raises(InputTypeError, match="side must be a mapping"):
        rw.RankingDataset.from_arrays([[1.0]], qid=[1], side=["a"])  # type: ignore[arg-type]

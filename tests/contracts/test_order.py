"""The same data in any order gives the same model file: a law over every ranker."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import chance, small

from rankwright.catalog.rankers import RANKERS
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.formats.file_formats import write
from rankwright.formats.shards import Shards
from rankwright.rankers.ranker import Ranker

N_ORDERS = 5


def documents(*, alike: bool = True, extras: bool = False) -> Any:
    """Forty queries of a few features, some documents of which are alike, as are some queries."""
    rng = np.random.default_rng(4)
    sizes = rng.integers(3, 15, size=40)
    features = rng.normal(size=(int(sizes.sum()), 4)).astype(np.float32).round(1)
    labels = np.clip(np.round(features[:, 0] + np.abs(features[:, 1])), 0, 4)
    if alike:
        features[1], labels[1] = features[0], labels[0]  # two documents of one query
        features[: 2 * sizes[0]] = np.tile(features[: sizes[0]], (2, 1))
        labels[: 2 * sizes[0]] = np.tile(labels[: sizes[0]], 2)
        sizes = np.concatenate([[sizes[0], sizes[0]], sizes[2:], [sizes[1] - sizes[0]]])
        sizes = sizes[sizes > 0] if sizes[-1] > 0 else sizes[:-1]
    features[rng.random(len(features)) < 0.1, 3] = np.nan
    n_docs = int(sizes.sum())
    given: dict[str, Any] = {}
    if extras:
        given = {"query_weights": rng.random(len(sizes)).round(1) + 0.1}
    return RankingDataset.from_arrays(
        features[:n_docs], labels[:n_docs], qid=np.repeat(np.arange(len(sizes)), sizes), **given
    )


def in_another_order(data: Any, seed: int) -> Any:
    """The same rows, with those of a query apart."""
    rows = np.random.default_rng(seed).permutation(data.n_docs)
    qid = data.qid[rows]
    _, first = np.unique(qid, return_index=True)
    appearing = qid[np.sort(first)].astype(np.int64)
    return RankingDataset.from_arrays(
        data.features[rows],
        data.labels[rows],
        qid=qid,
        query_weights=None if data.query_weights is None else data.query_weights[appearing],
        document_weights=None if data.document_weights is None else data.document_weights[rows],
        initial_scores=None if data.initial_scores is None else data.initial_scores[rows],
        preferences=None if data.preferences is None else data.preferences.moved(np.argsort(rows)),
    )


def file_of(ranker: Ranker, path: Any) -> bytes:
    ranker.save(path)
    return bytes(path.read_bytes())


def valid_for(ranker: Ranker) -> Any:
    return documents(alike=False) if ranker.chooses_steps else None


@pytest.mark.parametrize("name", RANKERS)
def test_the_order_of_rows_and_queries_changes_no_bit(name, tmp_path):
    data, ranker = documents(), small(name, threads=1, **chance(name))
    valid = valid_for(ranker)
    expected = file_of(ranker.fit(data, valid=valid), tmp_path / "model.rw")
    for seed in range(N_ORDERS):
        # Only the queries of validation data move: equal scores are ranked in the order of rows, as `evaluate` does.
        watched = (
            None if valid is None else valid.take_queries(np.random.default_rng(seed).permutation(valid.n_queries))
        )
        again = small(name, threads=1, **chance(name)).fit(in_another_order(data, seed), valid=watched)
        assert file_of(again, tmp_path / "model.rw") == expected, seed


@pytest.mark.parametrize("name", [name for name in RANKERS if RANKERS[name].takes_document_weights])
def test_weights_follow_their_rows(name, tmp_path):
    plain = documents(extras=True)
    data = replace(plain, document_weights=np.random.default_rng(0).random(plain.n_docs).astype(np.float32))
    expected = file_of(small(name, threads=1).fit(data), tmp_path / "model.rw")
    again = small(name, threads=1).fit(in_another_order(data, 1))
    assert file_of(again, tmp_path / "model.rw") == expected


@pytest.mark.parametrize("name", ["lambdamart", "lambdarank", "ranknet"])
def test_preferences_follow_their_rows(name, tmp_path):
    data = documents()
    starts = data.groups.offsets[:-1]
    pairs = Preferences(np.concatenate([starts, starts + 2]), np.concatenate([starts + 1, starts]), 0.8)
    data = data.with_preferences(pairs)
    expected = file_of(small(name, threads=1).fit(data), tmp_path / "model.rw")
    again = small(name, threads=1).fit(in_another_order(data, 1))
    assert file_of(again, tmp_path / "model.rw") == expected


def test_initial_scores_follow_their_rows(tmp_path):
    data = documents()
    data = data.with_initial_scores(np.random.default_rng(0).normal(size=data.n_docs))
    expected = file_of(small("lambdamart").fit(data), tmp_path / "model.rw")
    again = small("lambdamart").fit(in_another_order(data, 1))
    assert file_of(again, tmp_path / "model.rw") == expected


WEIGHTS = [{"perturbations": 3}, {"objective": "yetirank"}, {"expected_ties": True}, {"constant_share": 0.4}]


@pytest.mark.parametrize("setting", WEIGHTS)
def test_weights_of_pairs_do_not_depend_on_the_order_of_the_data(setting, tmp_path):
    data = documents()
    expected = file_of(small("lambdamart", **setting).fit(data), tmp_path / "model.rw")
    again = small("lambdamart", **setting).fit(in_another_order(data, 1))
    assert file_of(again, tmp_path / "model.rw") == expected


@pytest.mark.parametrize("setting", [{"unjudged": 0.5}, {"scaling": "zscore"}, {"scaling": "query-minmax"}])
@pytest.mark.parametrize("name", ["lambdamart", "ranksvm"])
def test_what_is_done_to_the_data_first_does_not_depend_on_its_order(name, setting, tmp_path):
    data = documents(alike=False)
    labels = data.labels.copy()
    labels[::5] = np.nan
    data = replace(data, labels=labels)
    expected = file_of(small(name, **setting).fit(data), tmp_path / "model.rw")
    again = small(name, **setting).fit(in_another_order(data, 1))
    assert file_of(again, tmp_path / "model.rw") == expected


@pytest.mark.parametrize("name", ["lambdamart", "bl-mart", "ranksvm"])
def test_the_order_of_files_and_of_rows_in_them_changes_no_bit(name, tmp_path):
    data = documents()
    queries = np.arange(data.n_queries)
    parts = {"a": queries[::2], "b": queries[1::2]}
    for part, chosen in parts.items():
        write(data.take_queries(chosen), tmp_path / f"{part}.txt")
    expected = file_of(small(name, threads=1).fit(data), tmp_path / "model.rw")
    write(in_another_order(data, 3), tmp_path / "moved.txt")
    lines = (tmp_path / "a.txt").read_text().splitlines() + (tmp_path / "b.txt").read_text().splitlines()
    np.random.default_rng(0).shuffle(lines)
    (tmp_path / "apart.txt").write_text("\n".join(lines) + "\n")
    for source in (["a.txt", "b.txt"], ["b.txt", "a.txt"], ["moved.txt"], ["apart.txt"]):
        again = small(name, threads=1).fit([tmp_path / file for file in source])
        assert file_of(again, tmp_path / "model.rw") == expected, source


def test_the_order_of_shards_changes_no_bit(tmp_path):
    data = documents()
    queries = np.random.default_rng(1).permutation(data.n_queries)
    models = []
    for number, cuts in enumerate([[10, 25], [5, 30]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        for place, chosen in enumerate(np.split(np.roll(queries, number * 7), cuts)):
            write(data.take_queries(chosen), folder / f"{place}.parquet")
        ranker = small("bl-mart", threads=1, overfit=True)
        models.append(file_of(ranker.fit(Shards(folder)), tmp_path / "model.rw"))
    assert models[0] == models[1]


def test_parts_and_folds_have_the_same_queries_in_any_order():
    data = documents(alike=False)
    moved = in_another_order(data, 2)
    for mine, theirs in zip(data.split(valid=0.3, test=0.2), moved.split(valid=0.3, test=0.2), strict=True):
        assert sorted(mine.query_ids) == sorted(theirs.query_ids)
    for mine, theirs in zip(data.k_fold(4), moved.k_fold(4), strict=True):
        assert sorted(mine[1].query_ids) == sorted(theirs[1].query_ids)


def test_scores_out_of_the_bag_come_back_in_the_callers_order():
    data = documents(alike=False)
    rows = np.random.default_rng(0).permutation(data.n_docs)
    first = small("bl-mart", threads=1).fit(data.features, data.labels, qid=data.qid)
    second = small("bl-mart", threads=1).fit(data.features[rows], data.labels[rows], qid=data.qid[rows])
    assert np.array_equal(first.oob_scores_[rows], second.oob_scores_, equal_nan=True)

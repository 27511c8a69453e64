"""Data sets are told by their content, wherever they stand and whatever their folders are called."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import numpy as np
import pytest
from tests.here_engine import HereEngine

import rankwright as rw
from rankwright.errors import InputError
from rankwright.reproduce.experiment import TINY, Setup
from rankwright.reproduce.running import reproduce
from rankwright.reproduce.sources import CLICKS, find_sources, fold, made_like, n_folds

SHARED = Path(os.environ.get("RANKWRIGHT_DATA", Path(__file__).parents[3] / "shared" / "data"))


def lines(queries, n_features, n_relevant):
    """Four documents for each query, of which so many are relevant."""
    features = " ".join(f"{number}:0.{number % 10}" for number in range(1, n_features + 1))
    return "".join(
        f"{int(place < n_relevant)} qid:{query} {features} #docid = D{query}-{place}\n"
        for query in queries
        for place in range(4)
    )


def letor(folder, n_queries, n_features, n_relevant=3, names=("train", "vali", "test")):
    """A LETOR folder of one fold, its queries dealt to the three parts."""
    (folder / "Fold1").mkdir(parents=True)
    for number, name in enumerate(names):
        (folder / "Fold1" / f"{name}.txt").write_text(lines(range(number, n_queries, 3), n_features, n_relevant))
    return folder


@pytest.mark.parametrize(
    ("name", "n_queries", "n_features"),
    [("TD2003", 50, 44), ("TD2004", 75, 64), ("OHSUMED", 106, 25), ("OHSUMED", 106, 45), ("MQ2008", 784, 46)],
)
def test_letor_sets_are_known_by_features_and_queries(tmp_path, name, n_queries, n_features):
    letor(tmp_path / "some" / "Data", n_queries, n_features)
    (source,) = find_sources(tmp_path)
    assert (source.name, source.is_known, source.n_queries) == (name, True, n_queries)
    assert (source.n_features, source.n_docs) == (n_features, 4 * n_queries)


def test_a_set_of_home_pages_is_not_topic_distillation(tmp_path):
    letor(tmp_path / "2004_hp_dataset", 75, 64, n_relevant=1)
    (source,) = find_sources(tmp_path)
    assert (source.name, source.is_known) == ("2004_hp_dataset", False)
    assert "a set that is not known here by name" in source.told


def test_the_normalised_features_of_letor_3_are_taken(tmp_path):
    letor(tmp_path / "NULL", 75, 64, names=("trainingset", "validationset", "testset"))
    letor(tmp_path / "QueryLevelNorm", 75, 64, names=("trainingset", "validationset", "testset"))
    (source,) = find_sources(tmp_path)
    assert "QueryLevelNorm" in source.path
    train, vali, test = fold(source, 0)
    assert (train.n_queries, vali.n_queries, test.n_queries) == (25, 25, 25)


def test_yahoo_and_istella_are_files_of_parts(tmp_path):
    for part, number in (("train", 0), ("valid", 1), ("test", 2)):
        (tmp_path / f"set1.{part}.txt").write_text(lines([number, number + 3], 12, 2))
    (tmp_path / "full").mkdir()
    for part, queries in (("train", range(10)), ("test", range(10, 14))):
        (tmp_path / "full" / f"{part}.txt.gz").write_bytes(gzip.compress(lines(queries, 20, 2).encode()))
    yahoo, istella = find_sources(tmp_path)
    assert (yahoo.name, yahoo.is_known, n_folds(yahoo)) == ("Yahoo set1", True, 1)
    assert [part.n_queries for part in fold(yahoo, 0)] == [2, 2, 2]
    assert (istella.name, istella.n_queries) == ("full", 14)
    assert [part.n_queries for part in fold(istella, 0)] == [8, 2, 4]  # a fifth is held back to validate on


def test_a_wrong_folder_says_what_was_looked_for(tmp_path):
    with pytest.raises(InputError, match=r"holds no data set .* Fold1, Fold2, … .*set1\.train\.txt"):
        find_sources(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        find_sources(tmp_path / "nowhere")
    (tmp_path / "train.txt").write_text("a text\n")
    (tmp_path / "test.txt").write_text("another\n")
    with pytest.raises(InputError, match="hold no line with a qid"):
        find_sources(tmp_path)


def test_made_sets_are_the_same_each_time():
    source = made_like("TD2004", TINY)
    first, again = fold(source, 1), fold.__wrapped__(source, 1)
    assert all(np.array_equal(one.features, other.features) for one, other in zip(first, again, strict=True))
    assert n_folds(source) == 5


def test_given_sets_take_the_place_of_made_ones(tmp_path):
    data = rw.synthetic.topic_distillation(10, docs_per_query=20, n_features=44, seed=0)
    for number, parts in enumerate(data.letor_folds(), start=1):
        (tmp_path / "mine" / f"Fold{number}").mkdir(parents=True)
        for part, name in zip(parts, ("train", "vali", "test"), strict=True):
            rw.write(part, tmp_path / "mine" / f"Fold{number}" / f"{name}.txt")
    setup = Setup(TINY, given=find_sources(tmp_path))
    (found,) = reproduce(["sortnet-table1"], setup, out=tmp_path / "out", engine=HereEngine())
    document = found.to_dict()
    assert [source["name"] for source in document["data"]] == ["mine"]
    assert document["tables"][0]["title"] == "mine, NDCG@n"
    assert document["command"].endswith("--data DIR")


def test_a_log_beside_its_labels_is_compared_with_them(tmp_path):
    rng = np.random.default_rng(0)
    folder = tmp_path / "log-of-a-shop"
    folder.mkdir()
    events = []
    for query in range(12):
        for _ in range(8):
            shown = [f"d{one}" for one in rng.permutation(6)]
            events.append({"query": f"q{query}", "shown": shown, "clicks": [1 + shown.index("d0")]})
    (folder / "log.jsonl").write_text("\n".join(map(json.dumps, events)))
    labels = "".join(f"q{query} 0 d{one} {int(one == 0)}\n" for query in range(12) for one in range(6))
    (folder / "labels.qrels").write_text(labels)
    (source,) = find_sources(tmp_path)
    assert source.kind == CLICKS
    (found,) = reproduce(["blmart-clicks"], Setup(TINY, given=(source,)), out=tmp_path / "out", engine=HereEngine())
    tables = {table.title: table for table in found.outcome.tables}
    agreement = tables["Preferences from log-of-a-shop beside labels"].rows["skip-above"]["agreement"]
    assert agreement.ours == 1.0  # users of this shop only click what is relevant
    assert tables["Rankers trained on log-of-a-shop, measured by labels"].rows["click rates"]["ndcg@10"].ours == 1.0


@pytest.mark.skipif(not (SHARED / "MQ2008").is_dir(), reason="the real data is not here")
def test_real_sets_are_known():
    (source,) = find_sources(SHARED / "MQ2008")
    assert (source.name, source.is_known, n_folds(source)) == ("MQ2008", True, 5)

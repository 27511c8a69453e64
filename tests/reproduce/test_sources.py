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
from rankwright.reproduce.fold_values import convention_of
from rankwright.reproduce.running import reproduce
from rankwright.reproduce.sources import CLICKS, find_sources, fold, known_name, made_like, n_folds

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


def test_links_to_folders_are_followed_and_circles_end(tmp_path):
    letor(tmp_path / "elsewhere" / "MQ2008", 784, 46)
    given = tmp_path / "given"
    given.mkdir()
    (given / "set").symlink_to(tmp_path / "elsewhere" / "MQ2008")
    (given / "back").symlink_to(given)
    assert [source.name for source in find_sources(given)] == ["MQ2008"]


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


def write_parts(folder, n_queries, n_features, *, names, n_relevant=2, start=0):
    """Files of one fold or set, as their authors name them, the queries dealt to them in turn."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, name in enumerate(names):
        queries = range(start + number, start + n_queries, len(names))
        (folder / name).write_text(lines(queries, n_features, n_relevant))


LETOR_2 = ("trainingset.txt", "validationset.txt", "testset.txt")
LETOR_4 = ("train.txt", "vali.txt", "test.txt")
YAHOO = ("train.txt", "valid.txt", "test.txt")


class TestFoldersAsTheirAuthorsShipThem:
    """Each with few and short documents, and with the numbers of queries and features that tell the set."""

    def folds(self, folder, n_queries, n_features, names, n_relevant=2, n_folds=5):
        for number in range(1, n_folds + 1):
            write_parts(folder / f"Fold{number}", n_queries, n_features, names=names, n_relevant=n_relevant)

    def test_letor_2(self, tmp_path):
        self.folds(tmp_path / "OHSUMED" / "Data", 106, 25, LETOR_2)
        self.folds(tmp_path / "TD2003" / "Data", 50, 44, LETOR_2, n_relevant=3)
        self.folds(tmp_path / "TD2004" / "Data", 75, 44, LETOR_2, n_relevant=3)
        (tmp_path / "OHSUMED" / "Data" / "All").mkdir()
        (tmp_path / "OHSUMED" / "Data" / "All" / "OHSUMED.txt").write_text(lines(range(106), 25, 2))
        (tmp_path / "Evaluation Tool").mkdir()
        found = {source.name: source for source in find_sources(tmp_path)}
        assert list(found) == ["OHSUMED", "TD2003", "TD2004"]
        assert all(source.is_known and n_folds(source) == 5 for source in found.values())
        assert [part.n_queries for part in fold(found["TD2003"], 4)] == [17, 17, 16]

    def test_letor_3(self, tmp_path):
        for version in ("Feature_min", "Feature_null", "QueryLevelNorm"):
            for name, queries, relevant in (
                ("2003_td_dataset", 50, 3),
                ("2004_td_dataset", 75, 3),
                ("2003_np_dataset", 150, 1),
            ):
                self.folds(tmp_path / "Gov" / version / name, queries, 64, LETOR_2, relevant, n_folds=1)
            self.folds(tmp_path / "OHSUMED" / version, 106, 45, LETOR_2, n_folds=1)
        found = find_sources(tmp_path)
        assert {source.name: source.is_known for source in found} == {
            "TD2003": True, "2003_np_dataset": False, "TD2004": True, "OHSUMED": True}  # fmt: skip
        assert all("QueryLevelNorm" in source.path for source in found)

    def test_letor_4_and_its_relatives(self, tmp_path):
        self.folds(tmp_path / "MQ2008", 784, 46, LETOR_4, n_folds=1)
        self.folds(tmp_path / "MQ2008-semi", 784, 46, LETOR_4, n_folds=1)
        self.folds(tmp_path / "MQ2008-list", 784, 46, LETOR_4, n_folds=1)
        for relative, label in (("MQ2008-semi", "-1"), ("MQ2008-list", "203")):
            file = tmp_path / relative / "Fold1" / "train.txt"
            file.write_text(file.read_text().replace("0 qid:3 ", f"{label} qid:3 ", 1))
        found = {source.name: source.is_known for source in find_sources(tmp_path)}
        assert found == {"MQ2008": True, "MQ2008-semi": False, "MQ2008-list": False}

    @pytest.mark.parametrize(("name", "n_queries"), [("MSLR-WEB10K", 10_000), ("MSLR-WEB30K", 31_531)])
    def test_mslr(self, tmp_path, name, n_queries):
        for number in range(1, 6):
            folder = tmp_path / name / f"Fold{number}"
            folder.mkdir(parents=True)
            for place, part in enumerate(LETOR_4):
                rows = (f"{query % 5} qid:{query} 1:3 136:{number}\n" for query in range(place, n_queries, 3))
                (folder / part).write_text("".join(rows))
        (source,) = find_sources(tmp_path)
        assert (source.name, source.is_known, n_folds(source), source.n_features) == (name, True, 5, 136)
        assert convention_of(source) == "mslr"
        train, _, test = fold(source, 1)
        assert (train.n_queries, test.n_features) == (len(range(0, n_queries, 3)), 136)
        assert set(train.features[:, 135]) == {2.0}  # of the second fold

    def test_yahoo_as_files_and_as_folders(self, tmp_path):
        write_parts(tmp_path / "a", 9, 700, names=[f"set1.{name}" for name in YAHOO])
        write_parts(tmp_path / "a", 6, 700, names=[f"set2.{name}" for name in YAHOO])
        assert [source.name for source in find_sources(tmp_path / "a")] == ["Yahoo set1", "Yahoo set2"]
        (tmp_path / "b" / "set2").mkdir(parents=True)
        for place, part in enumerate(YAHOO):
            rows = (
                f"{query % 5} qid:{query} 10:0.5 {699 + (part == 'test.txt')}:1\n" for query in range(place, 6330, 3)
            )
            (tmp_path / "b" / "set2" / part).write_text("".join(rows))
        (source,) = find_sources(tmp_path / "b")
        assert (source.name, source.is_known, n_folds(source)) == ("Yahoo set2", True, 1)
        assert [part.n_features for part in fold(source, 0)] == [700, 700, 700]  # the last one is in test.txt alone

    def test_istella(self, tmp_path):
        folder = tmp_path / "istella-s-letor" / "sample"
        folder.mkdir(parents=True)
        (tmp_path / "istella-s-letor" / "README").write_text("Istella LETOR\n")
        for place, part in enumerate(LETOR_4):
            rows = (f"{query % 5} qid:{query} 1:1.79769313486e+308 220:2\n" for query in range(place, 33_018, 3))
            (folder / part).write_text("".join(rows))
        (source,) = find_sources(tmp_path)
        assert (source.name, source.is_known, source.n_queries) == ("Istella-S", True, 33_018)
        train, vali, test = fold(source, 0)
        assert (train.n_queries, vali.n_queries, test.n_queries) == (11_006, 11_006, 11_006)
        assert np.isnan(train.features[:, 0]).all()  # the largest number there is stands for a missing one
        assert np.isfinite(train.features[:, 1:]).all()

    def test_the_whole_istella_has_as_many_queries_and_more_documents(self):
        assert known_name(220, 33_018, relevant=8, docs=10_454_629 / 33_018) == "Istella"
        assert known_name(220, 33_018, relevant=8, docs=3_408_630 / 33_018) == "Istella-S"
        assert known_name(220, 10_000, relevant=5, docs=26_791_447 / 10_000) == "Istella-X"
        assert known_name(220, 33_019, relevant=8, docs=100) is None


@pytest.mark.skipif(not (SHARED / "OHSUMED").is_dir(), reason="the real data is not here")
def test_real_folders_are_found_beside_others():
    found = {source.name: source for source in find_sources(SHARED)}
    assert found["MQ2008"].is_known
    assert found["OHSUMED"].is_known
    assert found["clara2-clicks"].kind == CLICKS
    assert fold(found["OHSUMED"], 0)[0].n_features == 45

"""Files that are split: every query whole, every row as it was, whatever the order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.errors import RankwrightError
from rankwright.formats.splitting import split_file

SHARES = ("train", "valid", "test")


@pytest.fixture
def lines(small_data: RankingDataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The lines of data.txt in the working folder."""
    monkeypatch.chdir(tmp_path)
    rw.write(small_data, "data.txt")
    return Path("data.txt").read_text().splitlines(keepends=True)


def queries_in(path: str | Path) -> set[int]:
    return set(rw.read(path).qid.tolist())


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize("ending", [".txt", ".csv", ".tsv", ".parquet", ".txt.gz"])
def test_queries_are_whole_and_rows_as_they_were(small_data, ending):
    rw.write(small_data, f"all{ending}")
    found = split_file(f"all{ending}", "parts")
    assert [part.path for part in found.parts] == [f"parts/{name}{ending}" for name in SHARES]
    assert [part.queries for part in found.parts] == [24, 8, 8]
    for part in found.parts:
        data = rw.read(part.path)
        assert (data.n_queries, data.n_docs) == (part.queries, part.documents)
        chosen = [query for query, own in enumerate(small_data.query_ids.tolist()) if own in queries_in(part.path)]
        assert data.equals(small_data.take_queries(chosen))
    assert sum(part.documents for part in found.parts) == small_data.n_docs


def test_the_order_of_rows_and_the_format_change_no_part(small_data, lines):
    rw.write(small_data, "data.csv")
    rows = np.random.default_rng(1).permutation(len(lines))
    Path("moved.txt").write_text("".join(lines[row] for row in rows))
    for number, source in enumerate(["data.txt", "moved.txt", "data.csv"]):
        split_file(source, str(number), folds=4)
        split_file(source, f"shares{number}")
    for part in ("Fold1/train", "Fold3/vali", "Fold4/test"):
        assert queries_in(f"0/{part}.txt") == queries_in(f"1/{part}.txt") == queries_in(f"2/{part}.csv")
    assert queries_in("shares0/test.txt") == queries_in("shares1/test.txt") == queries_in("shares2/test.csv")
    assert sorted(Path("0/Fold2/train.txt").read_text()) == sorted(Path("1/Fold2/train.txt").read_text())


@pytest.mark.usefixtures("lines")
def test_folds_are_those_of_a_letor_folder(small_data):
    found = split_file("data.txt", "folds", folds=5)
    assert len(found.parts) == 15
    tested: list[int] = []
    for number in range(1, 6):
        train, vali, test = (queries_in(f"folds/Fold{number}/{name}.txt") for name in ("train", "vali", "test"))
        assert not train & vali
        assert not train & test
        assert not vali & test
        assert len(train | vali | test) == small_data.n_queries
        tested += test
    assert sorted(tested) == sorted(small_data.query_ids.tolist())


@pytest.mark.parametrize(
    ("shares", "names"), [({"test": 0.25}, ["train", "test"]), ({"valid": 0.25}, ["train", "valid"])]
)
@pytest.mark.usefixtures("lines")
def test_one_share_makes_two_parts(shares, names):
    found = split_file("data.txt", "parts", **shares)
    assert [(Path(part.path).stem, part.queries) for part in found.parts] == list(zip(names, [30, 10], strict=True))


def test_texts_comments_and_other_columns_stay(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f'{query},"a ""title"",\nof two lines",{query % 2},0.50' for query in range(10)]
    Path("all.csv").write_text("\n".join(["search,title,stars,bm25", *rows, ""]))
    split_file("all.csv", "parts", test=0.3, columns=rw.Columns(query="search"))
    written = Path("parts/test.csv").read_text()
    assert written.startswith("search,title,stars,bm25\n")
    assert written.count('"a ""title"",\nof two lines"') == 3
    Path("all.txt").write_text("# judged by hand\n" + "".join(f"1 qid:{q} 1:1.50 # doc{q}\n\n" for q in range(10)))
    split_file("all.txt", "text", test=0.3)
    assert Path("text/test.txt").read_text().startswith("# judged by hand\n1 qid:")
    assert Path("text/train.txt").read_text().count("1:1.50 # doc") == 7


def test_what_stands_beside_the_data_goes_along(small_data, lines):
    Path("feature_names.txt").write_text("a\nb\nc\nd\ne\n")
    Path("plain.txt").write_text("".join(" ".join([line.split()[0], *line.split()[2:]]) + "\n" for line in lines))
    Path("plain.txt.query").write_text("".join(f"{size}\n" for size in small_data.groups.sizes))
    found = split_file("plain.txt", "parts")
    for part in found.parts:
        data = rw.read(part.path)
        assert (data.n_queries, data.feature_names) == (part.queries, ("a", "b", "c", "d", "e"))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"folds": 2}, "folds must be 3 to 50"),
        ({"folds": 41}, "41 folds need at least 41 queries, got 40"),
        ({"folds": 3, "test": 0.5}, "folds= goes without shares: leave out test="),
        ({"test": 1.5}, "test= must be a share between 0 and 1, got 1.5"),
        ({"valid": 0.6, "test": 0.5}, "leaves no query for train"),
        ({"drop": ["1"]}, "rows are copied as they are: leave out drop"),
    ],
)
@pytest.mark.usefixtures("lines")
def test_what_cannot_be_done_leaves_nothing_behind(options, told):
    with pytest.raises(RankwrightError, match=told):
        split_file("data.txt", "parts", **options)
    assert not Path("parts").exists()


@pytest.mark.usefixtures("lines")
def test_names_of_other_features_are_not_replaced():
    Path("feature_names.txt").write_text("a\nb\nc\nd\ne\n")
    Path("parts").mkdir()
    Path("parts/feature_names.txt").write_text("mine\n")
    with pytest.raises(RankwrightError, match="has the names of other features"):
        split_file("data.txt", "parts")
    assert [path.read_text() for path in Path("parts").iterdir()] == ["mine\n"]

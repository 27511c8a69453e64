"""Shards are divided between queries, into parts of about as many documents."""

from __future__ import annotations

import os
from itertools import pairwise

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, RankwrightError
from rankwright.formats.shards import divided_shards, query_bounds


@pytest.fixture(scope="module")
def data():
    return rw.synthetic.web_search(n_queries=30, seed=3)


@pytest.fixture(scope="module")
def folder(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("shards")
    for shard, queries in enumerate([range(1), range(1, 25), range(25, 30)]):
        rw.write(data.take_queries(list(queries)), place / f"{shard}.parquet")
    return place


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7, 40])
def test_parts_have_every_query_once(n_parts, data, folder):
    shards = rw.Shards(folder)
    index = shards.index()
    parts = divided_shards(shards, index, n_parts)
    read = [file.stream_rows(lambda _: None).data for part in parts if (file := part.file())]
    assert len(parts) == n_parts
    assert sum(part.n_docs for part in read) == data.n_docs
    np.testing.assert_array_equal(np.concatenate([part.labels for part in read]), data.labels)
    sizes = [index.groups.sizes[low:high].sum() for low, high in pairwise(query_bounds(index, n_parts))]
    assert [part.n_docs for part in read] == [size for size in sizes if size]
    assert max(sizes) <= data.n_docs / n_parts + index.groups.sizes.max()


def test_text_is_divided_by_files(data, tmp_path):
    done = rw.convert(_text(data, tmp_path), tmp_path / "text", shards=5, target_format="svmlight")
    assert done.queries == 30
    shards = rw.Shards(tmp_path / "text")
    parts = divided_shards(shards, None, 3)
    assert [path for part in parts for path, _, _ in part.rows] == list(shards.paths)
    assert max(len(part.rows) for part in parts) == 2
    with pytest.raises(InputError, match="bags find their queries in Parquet"):
        shards.index()


def test_shards_are_written_in_a_stream(data, tmp_path):
    done = rw.convert(_text(data, tmp_path), tmp_path / "many", shards=4)
    assert (done.target_format, done.queries, done.documents) == ("parquet", 30, data.n_docs)
    sizes = [rw.read(path).n_docs for path in sorted((tmp_path / "many").iterdir())]
    assert len(sizes) == 4
    assert sum(sizes) == data.n_docs
    assert max(sizes) - min(sizes) <= data.groups.sizes.max()
    assert done.bytes == sum(path.stat().st_size for path in (tmp_path / "many").iterdir())


def test_what_cannot_be_written_leaves_nothing(data, tmp_path):
    text = _text(data, tmp_path)
    for options, message in (
        ({"shards": 31}, "queries for 30 files only"),
        ({"shards": 0}, "from 1 to"),
        ({"shards": 2, "target_format": "csv"}, "format of shards"),
    ):
        with pytest.raises(RankwrightError, match=message):
            rw.convert(text, tmp_path / "none", **options)
        assert not list((tmp_path / "none").iterdir()) if (tmp_path / "none").exists() else True
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    with pytest.raises(InputError, match="not an empty folder"):
        rw.convert(text, tmp_path / "full", shards=2)


def test_shards_of_two_formats_are_refused(data, tmp_path):
    rw.write(data.take_queries([0]), tmp_path / "0.parquet")
    rw.write(data.take_queries([1]), tmp_path / "1.letor")
    with pytest.raises(InputError, match="one format"):
        rw.Shards([tmp_path / "0.parquet", tmp_path / "1.letor"])


def _text(data, folder):
    path = folder / "all.txt"
    if not path.exists():
        rw.write(data, path)
    return path


@pytest.mark.parametrize(
    "name",
    ["-x", "a\nb", "a\x1b[31mb", "a\u202eb", "a\udcffb", " ", "*", "%s{}", "=1+1", "<b>", "s3:", "x" * 240, "A0"],
)
@pytest.mark.parametrize("ending", [".txt", ".TXT"])
def test_shards_may_have_any_name(data, tmp_path, name, ending):
    rw.write_svmlight(data.take_queries([0]), tmp_path / "a0.txt")
    (tmp_path / f"{name}{ending}").write_text("1 qid:second 1:0.5\n")
    assert rw.Shards(tmp_path).read().n_queries == 2


def test_parquet_is_parquet_in_capitals_too(data, tmp_path):
    rw.write(data.take_queries([0]), tmp_path / "a.parquet")
    rw.write(data.take_queries([1]), tmp_path / "b.parquet")
    (tmp_path / "b.parquet").rename(tmp_path / "B.PARQUET")
    assert rw.Shards(tmp_path).read().n_queries == 2


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes among files here")
@pytest.mark.parametrize("target", ["pipe", "/dev/zero"])
def test_a_shard_that_never_ends_is_refused(data, tmp_path, target):
    rw.write_svmlight(data.take_queries([0]), tmp_path / "a.txt")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "z.txt").symlink_to(target)
    with pytest.raises(InputError, match=r"z\.txt: is a device or a pipe, and shards are files"):
        rw.Shards(tmp_path)


@pytest.mark.parametrize("target", ["nowhere", "z.txt", "."])
def test_a_shard_that_is_no_file_is_named(data, tmp_path, target):
    rw.write_svmlight(data.take_queries([0]), tmp_path / "a.txt")
    (tmp_path / "z.txt").symlink_to(target)
    with pytest.raises(OSError, match=r"z\.txt"):
        rw.Shards(tmp_path).read()

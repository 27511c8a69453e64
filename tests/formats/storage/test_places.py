"""Files at addresses, opened by fsspec, are read like files of this machine."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.formats.storage.places import beside, files_in, is_address, is_file, is_folder, size_of, state_of

fsspec = pytest.importorskip("fsspec")
DATA = rw.synthetic.random_polynomial(12, docs_per_query=10, seed=3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rw.write(DATA.take_queries(range(6)), tmp_path / "0.parquet")
    rw.write(DATA.take_queries(range(6, 12)), tmp_path / "1.parquet")
    rw.write(DATA, tmp_path / "all.txt.gz")
    rw.write(DATA, tmp_path / "all.csv")
    return tmp_path


@pytest.fixture
def address(folder: Path) -> Iterator[str]:
    """The same files in a file system of fsspec's own."""
    system = fsspec.filesystem("memory")
    for file in folder.iterdir():
        system.pipe(f"/places/{file.name}", file.read_bytes())
    yield "memory://places"
    system.rm("/places", recursive=True)


def trees(source: Any) -> Any:
    return rw.LambdaMART(n_trees=3, max_leaves=4, min_docs_in_leaf=5).fit(source).forest_


@pytest.mark.parametrize("name", ["all.txt.gz", "all.csv", "0.parquet"])
def test_a_file_elsewhere_reads_as_one_here(folder: Path, address: str, name: str) -> None:
    here, there = rw.read(folder / name), rw.read(f"{address}/{name}")
    np.testing.assert_array_equal(here.features, there.features)
    np.testing.assert_array_equal(here.labels, there.labels)


def test_shards_elsewhere_make_the_same_forest(folder: Path, address: str) -> None:
    expected = trees(rw.Shards(folder))
    assert trees(rw.Shards(address)).equals(expected)
    assert trees(rw.Shards(f"file://{folder}")).equals(expected)


def test_workers_read_addresses(folder: Path) -> None:
    settings: dict[str, Any] = {"n_trees": 3, "max_leaves": 4, "min_docs_in_leaf": 5}
    with rw.open_engine(workers=2) as engine:
        grown = rw.LambdaMART(**settings).on(engine).fit(rw.Shards(f"file://{folder}"))
    assert grown.forest_.equals(trees(rw.Shards(folder)))


def test_bags_of_shards_elsewhere(address: str) -> None:
    bags = rw.BLMART(n_bags=2, n_trees=2, max_leaves=4, overfit=True, bag_fraction=0.5).fit(rw.Shards(address))
    assert bags.predict(DATA).shape == (DATA.n_docs,)


def test_facts_of_files_are_those_of_this_machine(folder: Path, address: str) -> None:
    assert [Path(name).name for name in files_in(address)] == [Path(name).name for name in files_in(folder)]
    for place in (str(folder), address):
        assert is_folder(place)
        assert not is_file(place)
        assert is_file(beside(f"{place}/0.parquet", "1.parquet"))
    assert size_of(f"{address}/0.parquet") == size_of(folder / "0.parquet")
    before = state_of(f"{address}/0.parquet")
    fsspec.filesystem("memory").pipe("/places/0.parquet", b"another")
    assert state_of(f"{address}/0.parquet") != before


def test_names_of_features_beside_text_elsewhere(address: str) -> None:
    names = "\n".join(f"f{number}" for number in range(DATA.n_features))
    fsspec.filesystem("memory").pipe("/places/feature_names.txt", names.encode())
    assert rw.read(f"{address}/all.txt.gz").names[0] == "f0"


@pytest.mark.parametrize("name", ["none.csv", "none.parquet", "none.txt"])
def test_a_missing_file_is_told_by_its_address(address: str, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=f"{address}/{name}"):
        rw.read(f"{address}/{name}")


def test_an_unknown_kind_of_address_is_told_in_a_line() -> None:
    with pytest.raises(InputError, match=r"nowhere://x/y\.csv: cannot be reached: Protocol not known") as caught:
        rw.read("nowhere://x/y.csv")
    assert "\n" not in str(caught.value)


def test_drives_and_paths_are_no_addresses() -> None:
    assert is_address("s3://bucket/x")
    assert not is_address("C://folder/x")
    assert not is_address("folder/a:b")
    assert not is_address(Path("s3://bucket/x"))

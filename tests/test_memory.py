"""What is too large for the memory there is gets refused in one line, before it is allocated."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from rankwright import memory
from rankwright.cli.app import main
from rankwright.errors import FileFormatError, NotEnoughMemoryError, RankwrightError
from rankwright.formats.growing_matrix import GrowingMatrix, ReusedMemory, fresh_room
from rankwright.memory import free_memory, require_memory
from rankwright.profile.data_summary import summarise
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.bins.binning import empty_codes
from rankwright.trees.grower import GrowerMemory, grow_tree, histogram_words
from rankwright.trees.params import TreeParams

GB = 10**9


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """Sets what the machine has free, and the groups of this process: (files of the group, their folder)."""
    monkeypatch.setattr(memory, "SYSTEM", tmp_path / "meminfo")
    monkeypatch.setattr(memory, "OWN_GROUPS", tmp_path / "own_groups")
    monkeypatch.setattr(memory, "GROUPS", tmp_path / "groups")

    def set_up(n_bytes: int, own_groups: str = "", groups: dict[str, dict[str, str]] | None = None) -> None:
        memory.SYSTEM.write_text(f"MemTotal: {2**40} kB\nMemAvailable: {n_bytes // 1024} kB\n")
        memory.OWN_GROUPS.write_text(own_groups)
        for place, files in (groups or {}).items():
            (memory.GROUPS / place).mkdir(parents=True, exist_ok=True)
            for name, content in files.items():
                (memory.GROUPS / place / name).write_text(content)

    return set_up


VERSION_2 = {"memory.max": f"{3 * GB}\n", "memory.current": f"{2 * GB}\n", "memory.stat": f"inactive_file {GB // 2}\n"}
VERSION_1 = {
    "memory.limit_in_bytes": f"{3 * GB}\n",
    "memory.usage_in_bytes": f"{2 * GB}\n",
    "memory.stat": f"total_inactive_file {GB // 2}\n",
}


@pytest.mark.parametrize(
    ("own", "groups", "free"),
    [
        ("", {}, 8 * GB),
        ("0::/", {"": {"memory.max": "max"}}, 8 * GB),
        ("0::/jobs/job", {"jobs/job": VERSION_2}, 1.5 * GB),
        ("0::/jobs/job", {"jobs": VERSION_2, "jobs/job": VERSION_2 | {"memory.max": "max"}}, 1.5 * GB),
        ("0::/seen/from/outside", {"": VERSION_2}, 1.5 * GB),
        ("4:memory:/job\n1:cpu:/", {"memory/job": VERSION_1}, 1.5 * GB),
        ("4:memory:/job", {"memory/job": VERSION_1 | {"memory.limit_in_bytes": str(2**63 - 4096)}}, 8 * GB),
    ],
)
def test_free_is_what_the_system_and_every_group_leave(machine, own, groups, free):
    machine(8 * GB, own, groups)
    assert free_memory() == pytest.approx(free, abs=1024)


def test_without_the_systems_word_all_memory_counts(machine):
    machine(8 * GB)
    memory.SYSTEM.unlink()
    memory.OWN_GROUPS.unlink()
    assert free_memory() > 0


def test_the_need_and_what_is_free_are_named(machine):
    machine(GB)
    require_memory(GB - 1024, "a small thing")
    with pytest.raises(NotEnoughMemoryError, match=r"^it all needs 1,234\.0 GB of memory, and 1\.0 GB are free$"):
        require_memory(1234 * GB, "it all")
    assert issubclass(NotEnoughMemoryError, RankwrightError)
    assert issubclass(NotEnoughMemoryError, MemoryError)


def data_of(n_features: int) -> rw.RankingDataset:
    features = np.random.default_rng(0).random((40, n_features), np.float32)
    return rw.RankingDataset.from_arrays(features, np.arange(40) % 3, group=[20, 20])


def test_readers_codes_and_trees_refuse_what_does_not_fit(machine):
    binned = bin_dataset(data_of(3))
    machine(GB)
    for ask in (
        lambda: fresh_room(1000, 10**6, 1.0),
        lambda: ReusedMemory().room(1000, 10**6, 1.0),
        lambda: GrowingMatrix(10**9).room(10, 1000, 1.0),
        lambda: empty_codes(10**9, binned.mapper),
        lambda: GrowerMemory(bin_dataset(data_of(20_000)), 64, histogram_memory=10 * GB),
    ):
        with pytest.raises(NotEnoughMemoryError, match=r"needs [\d.,]+ GB of memory, and 1\.0 GB are free"):
            ask()


def test_a_guess_that_is_a_little_too_large_is_not_held_against_a_file(machine):
    machine(GB)
    growing = GrowingMatrix(n_bytes=10**6)  # of which rows of one byte are guessed
    growing.keep(growing.room(1000, 300, 1.0))  # 1.2 GB, were all rows as short as these
    assert growing.finish(0.0).shape == (1000, 300)


def test_an_index_beyond_memory_names_the_line(machine, tmp_path):
    (tmp_path / "data.txt").write_text("1 qid:1 1:2\n0 qid:1 20000000:1\n" * 1000)
    machine(GB)
    with pytest.raises(
        FileFormatError, match=r"data\.txt:2: feature index 20000000 asks for .* 1\.0 GB of memory are free"
    ):
        rw.read(tmp_path / "data.txt")


@pytest.mark.parametrize("index", [400_000_000, 50_000_000])
@pytest.mark.parametrize(
    "command",
    [["inspect"], ["train", "--out", "x.rw"], ["convert", "x.csv"], ["evaluate", "--scores", "x.txt"], ["cv"]],
)
def test_one_short_line_cannot_take_all_memory(machine, tmp_path, monkeypatch, capsys, command, index):
    monkeypatch.chdir(tmp_path)
    Path("data.txt").write_text(f"1 qid:1 {index}:1\n")
    Path("x.txt").write_text("1\n")
    machine(8 * GB)
    monkeypatch.setattr(sys, "argv", ["rankwright", command[0], "data.txt", *command[1:]])
    with pytest.raises(SystemExit, match="2"):
        main()
    told = " ".join(capsys.readouterr().err.split())
    assert told.startswith(f"error: data.txt:1: feature index {index} asks for {300 * index / 1e9:.0f}")
    assert "GB for 1 document alone" in told


def test_what_commands_make_of_features_is_refused_as_well(machine):
    machine(GB)
    wide = rw.RankingDataset.from_arrays(np.zeros((2, 20_000), np.float32), [0, 1], group=[2])
    with pytest.raises(NotEnoughMemoryError, match=r"20,000 features needs 12\.8 GB of memory, and 1\.0 GB are free"):
        rw.LinearRegression().fit(wide)
    for net in (rw.RankNet(hidden=[2000]), rw.SortNet(hidden=[2000])):
        with pytest.raises(NotEnoughMemoryError, match=r"a net of 20,000 features and .* weights needs"):
            net.fit(wide)
    many = rw.RankingDataset.from_arrays(np.zeros((1, 5_000_000), np.float32), [0], group=[1])
    with pytest.raises(NotEnoughMemoryError, match=r"a summary of 5,000,000 features needs 1\.2 GB"):
        summarise(many)


@pytest.mark.parametrize("max_bins", [2, 31, 32, 63, 64, 127, 128, 255, 300])
@pytest.mark.parametrize("n_features", [1, 8, 9, 16, 17, 40])
def test_two_histograms_are_room_enough_for_any_tree(max_bins, n_features):
    rng = np.random.default_rng(0)
    n_docs = 400
    features = (rng.random((n_docs, n_features)) ** np.linspace(1, 9, n_features)).round(3).astype(np.float32)
    data = rw.RankingDataset.from_arrays(features, rng.integers(0, 3, n_docs), group=np.full(20, 20))
    binned = bin_dataset(data, max_bins=max_bins)
    scarce = GrowerMemory(binned, 12, histogram_memory=0)
    assert len(scarce.scratch.histograms) == 2 * histogram_words(binned)
    gradient, params = rng.normal(size=n_docs), TreeParams(max_leaves=12, min_docs_in_leaf=2)
    tree, other = (grow_tree(binned, gradient, np.ones(n_docs), params, memory=own).tree for own in (scarce, None))
    np.testing.assert_array_equal(tree.value, other.value)


def test_few_rows_of_very_many_features_train(tmp_path):
    lines = (f"{row % 3} qid:{row // 10} {row + 1}:1 {200_000 - row % 7}:{row % 5}" for row in range(60))
    (tmp_path / "wide.txt").write_text("\n".join(lines) + "\n")
    ranker = rw.LambdaMART(n_trees=2, max_leaves=4, min_docs_in_leaf=2).fit(tmp_path / "wide.txt")
    assert ranker.n_features_in_ == 200_000

"""Records take finished parts to another machine, and what follows from them stays the same."""

from __future__ import annotations

import lzma

import pytest
from tests.here_engine import HereEngine

from rankwright.errors import FileFormatError, InputError
from rankwright.reproduce.experiment import TINY, Setup
from rankwright.reproduce.experiment_table import experiment_named
from rankwright.reproduce.records import read_record, record_path
from rankwright.reproduce.running import reproduce

TIMES = ("seconds", "processor_seconds")
NAME = "ranknet-table2"  # four parts


class Interrupted(HereEngine):
    """Ends after a few parts, as Ctrl-C does."""

    def __init__(self, n_parts):
        super().__init__()
        self.n_parts = n_parts

    def run(self, *given, **more):
        for number, done in enumerate(super().run(*given, **more)):
            if number == self.n_parts:
                raise KeyboardInterrupt
            yield done


def near(found):
    """What was found, without times and beyond the digits that records keep."""
    told = found.to_dict()
    return {name: value for name, value in told.items() if name not in TIMES}


@pytest.mark.parametrize("name", [NAME, "blmart-tables", "blmart-tuning"])
def test_what_a_record_has_is_not_run_again_and_gives_the_same(tmp_path, name):
    whole = reproduce([name], Setup(TINY), out=tmp_path / "here", record=tmp_path / "records", engine=HereEngine())
    engine = HereEngine()
    again = reproduce([name], Setup(TINY), out=tmp_path / "there", record=tmp_path / "records", engine=engine)
    assert engine.ran == 0
    assert near(again[0])["sentence"] == near(whole[0])["sentence"]
    assert [claim["found"] for claim in near(again[0])["claims"]] == [
        claim["found"] for claim in near(whole[0])["claims"]
    ]


def test_a_record_is_the_same_bytes_however_often_it_is_packed(tmp_path):
    setup, name = Setup(TINY), "blmart-tables"
    path = record_path(tmp_path / "records", name, setup)
    reproduce([name], setup, out=tmp_path / "here", record=tmp_path / "records", engine=HereEngine())
    first = path.read_bytes()
    reproduce([name], setup, out=tmp_path / "there", record=tmp_path / "records", so_far=True)
    assert path.read_bytes() == first
    sums = [one["result"]["sums"] for one in read_record(path, setup).values() if "sums" in one["result"]]
    assert all(sums)  # a tiny run has one part of bags on a fold; more would stand in the first


def test_a_run_that_was_stopped_is_concluded_so_far_and_goes_on_elsewhere(tmp_path):
    setup, name = Setup(TINY), "blmart-tuning"
    parts = experiment_named(name).parts(setup)
    with pytest.raises(KeyboardInterrupt):
        reproduce([name], setup, out=tmp_path / "here", engine=Interrupted(len(parts) - 1))
    found = reproduce([name], setup, out=tmp_path / "here", record=tmp_path / "records", so_far=True)
    assert (found[0].n_parts, found[0].n_wanted) == (len(parts) - 1, len(parts))
    engine = HereEngine()
    whole = reproduce([name], setup, out=tmp_path / "there", record=tmp_path / "records", engine=engine)
    assert engine.ran == 1
    assert whole[0].n_parts == len(parts)


def test_too_few_parts_are_no_conclusion(tmp_path):
    told = []
    assert reproduce([NAME], Setup(TINY), out=tmp_path, so_far=True, tell=told.append) == []
    assert told == [f"{NAME}: 0 of 4 parts are done, too few to conclude from"]


def test_packed_bags_are_the_sums_of_all_parts():
    packed = experiment_named("blmart-tables").packed
    with_, without = "BL-MART with overfitting", "BL-MART without overfitting"
    parts = {
        f"A, fold 1, bags {number}": {"sums": {with_: [number, 2], without: [1, number]}, "trees": [3]}
        for number in range(3)
    } | {"A, fold 1, ListNet": {"values": {"map": [0.5]}}}
    found = packed(parts)
    assert found["A, fold 1, bags 0"]["sums"] == {with_: [0 + 1 + 2, 6], without: [3, 0 + 1 + 2]}
    assert found["A, fold 1, bags 2"] == {"sums": {}, "trees": [3]}
    assert found["A, fold 1, ListNet"] == parts["A, fold 1, ListNet"]
    assert packed(found) == found


def test_a_record_of_something_else_is_refused(tmp_path):
    path = record_path(tmp_path, NAME, Setup(TINY))
    path.write_bytes(lzma.compress(b'{"size": "tiny", "seed": 7, "data": []}\n'))
    with pytest.raises(InputError, match="the record of another size, seed or data: choose another --record"):
        reproduce([NAME], Setup(TINY), out=tmp_path / "out", record=tmp_path, engine=HereEngine())
    for damaged in (b"{}", lzma.compress(b"{}\n{}\n"), lzma.compress(b"no JSON"), lzma.compress(b"")):
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match="is not a record of finished parts, or is damaged"):
            reproduce([NAME], Setup(TINY), out=tmp_path / "out", record=tmp_path, engine=HereEngine())

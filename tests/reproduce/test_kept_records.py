"""Records take finished parts to another machine, and what follows from them stays the same."""

from __future__ import annotations

import lzma

import pytest
from tests.here_engine import HereEngine

from rankwright.errors import FileFormatError, InputError
from rankwright.reproduce.experiment import TINY, Setup
from rankwright.reproduce.experiment_table import experiment_named
from rankwright.reproduce.records import record_path
from rankwright.reproduce.running import reproduce

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


def figures(found):
    return [figure.ours for table in found.outcome.tables for figure in table.figures()]


@pytest.fixture(scope="module", params=[NAME, "blmart-tables", "blmart-tuning"])
def recorded(request, tmp_path_factory):
    """An experiment that was run with a record: its name, what it found, and the folder of records."""
    place = tmp_path_factory.mktemp("recorded")
    (whole,) = reproduce(
        [request.param], Setup(TINY), out=place / "here", record=place / "records", engine=HereEngine()
    )
    return request.param, whole, place / "records"


def test_what_a_record_has_is_not_run_again_and_gives_the_same(recorded, tmp_path):
    name, whole, records = recorded
    path = record_path(records, name, Setup(TINY))
    first = path.read_bytes()
    (again,) = reproduce([name], Setup(TINY), out=tmp_path, record=records, engine=(engine := HereEngine()))
    assert engine.ran == 0
    assert path.read_bytes() == first
    assert [claim.holds for claim in again.outcome.claims] == [claim.holds for claim in whole.outcome.claims]
    assert figures(again) == pytest.approx(figures(whole), abs=1e-4, rel=1e-4)


def test_a_run_that_was_stopped_is_concluded_so_far_and_goes_on_elsewhere(tmp_path):
    setup, name = Setup(TINY), "blmart-tuning"
    parts = experiment_named(name).parts(setup)
    stopped = Interrupted(len(parts) - 1)
    with pytest.raises(KeyboardInterrupt):
        reproduce([name], setup, out=tmp_path / "here", record=tmp_path / "records", engine=stopped)
    found = reproduce([name], setup, out=tmp_path / "elsewhere", record=tmp_path / "records", so_far=True)
    assert (found[0].n_parts, found[0].n_wanted) == (len(parts) - 1, len(parts))
    engine = HereEngine()
    whole = reproduce([name], setup, out=tmp_path / "there", record=tmp_path / "records", engine=engine)
    assert engine.ran == 1
    assert whole[0].n_parts == len(parts)


def test_too_few_parts_are_no_conclusion(tmp_path):
    told: list[str] = []
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

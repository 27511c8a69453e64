"""Whatever a click log holds, reading it gives lists to make votes and models of, or one line that names it."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest
from tests.fuzz.foreign import mutant_of
from tests.fuzz.subject import generator, quiet

import rankwright as rw
from rankwright import clicks

PER_FORMAT = 150


def events() -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    made = []
    for number in range(40):
        shown = rng.permutation(12)[: int(rng.integers(1, 8))].tolist()
        chosen = (np.flatnonzero(rng.random(len(shown)) < 0.4) + 1).tolist()
        made.append({"session": number, "query": f"q{number % 5}", "shown": [f"d{one}" for one in shown],
                     "clicks": chosen, "first": 1 + 10 * (number % 9 == 0), "policy": "a" if number % 2 else "b",
                     "propensity": [0.5] * len(shown)})  # fmt: skip
    return made


def seeds() -> dict[str, bytes]:
    """The same log in every format."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    made = events()
    lines = ["query,shown,clicks,first"]
    long = ["session,query,document,position,click,propensity"]
    blocks = []
    for one in made:
        shown, chosen = one["shown"], one["clicks"]
        lines.append(f"{one['query']},{' '.join(shown)},{' '.join(map(str, chosen))},{one['first']}")
        long += [f"{one['session']},{one['query']},{document},{place},{int(place in chosen)},0.5"
                 for place, document in enumerate(shown, start=1)]  # fmt: skip
        blocks.append(f"{one['query']}\t{','.join(shown)} : {','.join(shown[place - 1] for place in chosen)};")
    file, numbers = io.BytesIO(), io.BytesIO()
    pq.write_table(pa.Table.from_pylist(made), file, compression="none")
    whole = [{"query": n % 4, "shown": [n, n + 1], "clicks": [1 + n % 2]} for n in range(30)]
    pq.write_table(pa.Table.from_pylist(whole), numbers, compression="none")
    return {
        "log.jsonl": "\n".join(map(json.dumps, made)).encode(),
        "list.csv": "\n".join(lines).encode(),
        "long.csv": "\n".join(long).encode(),
        "blocks": "\n".join(blocks).encode(),
        "log.parquet": file.getvalue(),
        "numbers.parquet": numbers.getvalue(),
    }


SEEDS = seeds()


@pytest.fixture(autouse=True)
def small_table_of_votes(monkeypatch):
    """Each log is counted in a new table: to make and empty one of the usual size takes longer than all else."""
    monkeypatch.setattr("rankwright.clicks.votes.LEAST_SLOTS", 1 << 8)


def judge(path) -> bool:
    """Whether the log is refused, in one line that names it; otherwise it must be of use."""
    told = ""
    try:
        log = clicks.read_log(path)
        votes = clicks.count_votes(path)
    except rw.RankwrightError as error:
        told = str(error)
    if told:
        assert "\n" not in told, f"several lines: {told}"
        assert path.name in told, f"no file is named: {told}"
        return True
    assert len(votes) <= log.n_shown**2
    assert all(count > 0 for count in log.problems.values())
    with quiet():
        clicks.summarise_log(log)
        if len(log.first_pages().queries):
            found = clicks.click_model("pbm", iterations=3).fit(log).evaluate(log)
            assert np.isfinite(found.log_likelihood)
    return False


def judge_mutants(name: str, folder, numbers: range) -> int:
    n_refused = 0
    for number in numbers:
        path = folder / f"{number}-{name}"
        path.write_bytes(mutant_of(SEEDS[name], generator(19, number)))
        try:
            n_refused += judge(path)
        except BaseException as error:
            error.add_note(f"mutant {number} of {name}")
            raise
        path.unlink()
    return n_refused


@pytest.mark.parametrize("name", SEEDS)
def test_the_logs_that_are_changed_can_be_read(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(SEEDS[name])
    assert not judge(path)
    assert clicks.read_log(path).n_lists == (30 if "numbers" in name else 40)


@pytest.mark.parametrize("name", SEEDS)
def test_mutants(name, tmp_path):
    assert judge_mutants(name, tmp_path, range(PER_FORMAT)) < PER_FORMAT


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_many_mutants(name, tmp_path):
    assert judge_mutants(name, tmp_path, range(PER_FORMAT, 3000)) < 3000

"""One forest grown by processes that read shards: the file that one process writes, whatever dies on the way."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.cluster.conftest import children

import rankwright as rw
from rankwright.cluster import local_engine
from rankwright.cluster.crew import NoRoomError, Seconds
from rankwright.cluster.fork_server import ForkServer
from rankwright.cluster.opening import open_engine
from rankwright.errors import InputError, RankwrightError, SettingError
from rankwright.training.loop import Progress
from rankwright.trees import sizing
from rankwright.trees.distributed import crew_data

SETTINGS: dict[str, Any] = {"n_trees": 8, "max_leaves": 6, "min_docs_in_leaf": 5}


@pytest.fixture(scope="module")
def data() -> rw.RankingDataset:
    return rw.synthetic.web_search(n_queries=40, seed=3)


@pytest.fixture(scope="module")
def valid() -> rw.RankingDataset:
    return rw.synthetic.web_search(n_queries=15, seed=4)


@pytest.fixture(scope="module")
def folder(data: rw.RankingDataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Shards of very different lengths."""
    place = tmp_path_factory.mktemp("shards")
    for shard, queries in enumerate([range(1), range(1, 31), range(31, 40)]):
        rw.write(data.take_queries(list(queries)), place / f"{shard}.parquet")
    return place


class KeptServer(ForkServer):
    """A server that outlives its crew, for another one: it takes seconds to load PyTorch."""

    def close(self) -> None:
        """Nothing, while it works."""
        if not self.is_alive:
            super().close()

    def end_server(self) -> None:
        super().close()


@pytest.fixture(scope="module")
def servers() -> Iterator[Callable[[int], KeptServer]]:
    """A function that gives a server whose workers have so many threads."""
    started: dict[int, KeptServer] = {}

    def server(threads: int) -> KeptServer:
        if threads not in started or not started[threads].is_alive:
            started[threads] = KeptServer(threads)
        return started[threads]

    yield server
    for one in started.values():
        one.end_server()


@pytest.fixture
def engine(servers: Callable[[int], KeptServer], monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setattr(local_engine, "ForkServer", servers)
    with open_engine(workers=2) as probe:
        servers(probe.threads)  # is there before, and stays
    before = children()
    with open_engine(workers=2) as engine:
        yield engine
    assert children() <= before


class Watched:
    """An engine that remembers the crew it made last."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.made = engine, list[Any]()

    def crew(self, size: int | None = None) -> Any:
        self.made.append(self.engine.crew(size))
        return self.made[-1]


def file_of(ranker: rw.LambdaMART, path: Path) -> bytes:
    ranker.save(path)
    return path.read_bytes()


def test_workers_write_the_file_of_one_process(
    engine: Any, valid: rw.RankingDataset, folder: Path, tmp_path: Path
) -> None:
    ranker = rw.LambdaMART(**(SETTINGS | {"n_trees": 30}), early_stopping=3, query_fraction=0.6, feature_fraction=0.7)
    alone = ranker.fit(rw.Shards(folder), valid=valid)
    expected = file_of(alone, tmp_path / "alone.rw")
    assert expected == file_of(
        ranker.fit(rw.read(list(map(str, sorted(folder.iterdir())))), valid=valid), tmp_path / "b"
    )
    rw.write(valid, tmp_path / "valid.parquet")
    together = ranker.on(engine).fit(rw.Shards(folder), valid=rw.Shards(tmp_path / "valid.parquet"))
    assert expected == file_of(together, tmp_path / "together.rw")
    assert together.history_.stopped_early


def test_workers_choose_by_validation_queries_and_folds_together(
    engine: Any, valid: rw.RankingDataset, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, few in {"RACE": 3, "PATIENCE": 3, "MOST_SLOW_TREES": 12}.items():
        monkeypatch.setattr(sizing, name, few)
    alone = rw.LambdaMART(min_docs_in_leaf=5).fit(rw.Shards(folder), valid=valid)
    assert alone.n_trees_ == 4 * alone.chosen_["n_trees"]
    together = rw.LambdaMART(min_docs_in_leaf=5).on(engine).fit(rw.Shards(folder), valid=valid)
    assert file_of(alone, tmp_path / "alone.rw") == file_of(together, tmp_path / "together.rw")
    assert alone.history_ == together.history_


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
def test_a_worker_that_ends_changes_nothing(
    ending: signal.Signals, engine: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Seconds, "BETWEEN_PINGS", 1.0)
    monkeypatch.setattr(Seconds, "TO_ANSWER", 15.0)
    expected = file_of(rw.MART(**SETTINGS).fit(rw.Shards(folder)), tmp_path / "alone.rw")
    watched: Any = Watched(engine)

    def end_one(progress: Progress) -> None:
        if progress.step == 3:
            os.kill(watched.made[0].process_ids[1], ending)

    ranker = rw.MART(**SETTINGS).on(watched).fit(rw.Shards(folder), listeners=[end_one])
    assert file_of(ranker, tmp_path / "together.rw") == expected


def listening_places(process_ids: Sequence[int]) -> set[tuple[str, int]]:
    """The addresses and ports on which these processes wait for others."""
    own = set()
    for process in process_ids:
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):  # closed meanwhile
                own.add(str(descriptor.readlink()))
    places = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, *_, inode = line.split()[:10]
        if state == LISTENS and f"socket:[{inode}]" in own:
            address, _, port = local.partition(":")
            places.add((socket.inet_ntoa(bytes.fromhex(address)[::-1]), int(port, 16)))
    return places


LISTENS = "0A"  # the state of a socket
SAID_BY_STRANGERS = (
    *(b"", b"\0", b"\0" * 7, b"\xff" * 64, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01" * 1000),
    *(bytes([kind]) + b"\x85\xf3\x3a\x3c" for kind in range(4)),  # half a greeting
    np.random.default_rng(0).bytes(100_000),
)


class Visited:
    """An engine on whose workers strangers call before each task; every other stranger stays and says no more."""

    def __init__(self, engine: Any) -> None:
        self.engine, self.waiting, self.visited = engine, list[socket.socket](), set[tuple[str, int]]()

    def crew(self, size: int | None = None) -> Any:
        crew = self.engine.crew(size)
        call = crew.call

        def visited(function: Any, tasks: Any) -> Any:
            for place in listening_places(crew.process_ids) - self.visited:
                self.visited.add(place)
                self.visit(place)
            return call(function, tasks)

        crew.call = visited
        return crew

    def visit(self, place: tuple[str, int]) -> None:
        for number, said in enumerate(SAID_BY_STRANGERS):
            stranger = socket.create_connection(place, timeout=10)
            stranger.setblocking(False)
            with suppress(OSError):  # nobody takes all of it
                stranger.send(said)
            if number % 2:
                stranger.close()
            else:
                self.waiting.append(stranger)


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="this system does not tell who listens where")
def test_strangers_at_the_ports_of_workers_change_nothing(engine: Any, folder: Path, tmp_path: Path) -> None:
    expected = file_of(rw.MART(**SETTINGS).fit(rw.Shards(folder)), tmp_path / "alone.rw")
    visited: Any = Visited(engine)
    try:
        ranker = rw.MART(**SETTINGS).on(visited).fit(rw.Shards(folder))
    finally:
        for stranger in visited.waiting:
            stranger.close()
    assert len(visited.visited) >= 2  # the store in which workers find each other, and the workers
    assert file_of(ranker, tmp_path / "together.rw") == expected


class Losing:
    """An engine of three workers, one of which dies as a stage begins, with or without room for another."""

    def __init__(self, engine: Any, stage: str, has_room: bool, victim: int = 1) -> None:
        self.engine, self.stage, self.has_room, self.victim = engine, stage, has_room, victim
        self.sizes = list[int]()  # of the crews

    def crew(self, size: int | None = None) -> Any:
        crew = self.engine.crew(size or 3)
        self.sizes.append(crew.size)
        call = crew.call

        def losing(function: Any, tasks: Any) -> Any:
            if function.__name__ == self.stage:
                self.stage = ""
                os.kill(crew.process_ids[self.victim], signal.SIGKILL)
            return call(function, tasks)

        def refuse(members: Any) -> None:
            raise NoRoomError(f"no room for {members}")

        crew.call = losing
        if not self.has_room:
            crew.renew = refuse
        return crew


STAGES = ["read_part", "sampled_values", "code_part", "join_exchange", "measure"]


def test_a_sample_that_comes_out_too_small_is_taken_again(
    engine: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents that are copies of each other have the same priority: fewer may be low than was expected."""
    alone = rw.LambdaMART(**SETTINGS).fit(rw.Shards(folder))
    monkeypatch.setattr(crew_data, "highest_of_sample", lambda _, n_docs: 2**64 // 100 if n_docs else 2**64 - 1)
    together = rw.LambdaMART(**SETTINGS).on(engine).fit(rw.Shards(folder))
    assert together.forest_.equals(alone.forest_)


@pytest.mark.parametrize(
    ("stage", "has_room"),
    [
        ("code_valid_part", False),
        ("grow_next_tree", False),
        ("code_valid_part", True),
        *(pytest.param(stage, False, marks=pytest.mark.slow) for stage in STAGES),
        pytest.param("sampled_values", True, marks=pytest.mark.slow),
    ],
)
def test_others_take_over_where_there_is_no_room(
    stage: str,
    has_room: bool,
    engine: Any,
    valid: rw.RankingDataset,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Seconds, "TO_MEET", 15.0)
    rw.write(valid, tmp_path / "valid.parquet")
    watched = rw.Shards(tmp_path / "valid.parquet")
    expected = file_of(rw.MART(**SETTINGS).fit(rw.Shards(folder), valid=watched), tmp_path / "alone.rw")
    losing: Any = Losing(engine, stage, has_room)
    ranker = rw.MART(**SETTINGS).on(losing).fit(rw.Shards(folder), valid=watched)
    assert file_of(ranker, tmp_path / "together.rw") == expected
    assert losing.sizes == [3] if has_room else [3, 2]
    assert losing.stage == ""


@pytest.mark.slow
def test_a_meeting_whose_keeper_died_is_given_up(
    engine: Any, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The others, who cannot reach the port that worker 0 kept, say so before they are taken for dead themselves."""
    monkeypatch.setattr(Seconds, "TO_MEET", 15.0)
    expected = file_of(rw.MART(**SETTINGS).fit(rw.Shards(folder)), tmp_path / "alone.rw")
    losing: Any = Losing(engine, "join_exchange", has_room=False, victim=0)
    ranker = rw.MART(**SETTINGS).on(losing).fit(rw.Shards(folder))
    assert file_of(ranker, tmp_path / "together.rw") == expected
    assert losing.sizes == [3, 2]


def test_text_cannot_be_taken_over(engine: Any, data: rw.RankingDataset, tmp_path: Path) -> None:
    """It is given out by whole files, so the run ends and says why."""
    for shard in range(3):
        rw.write(data.take_queries(list(range(shard, 40, 3))), tmp_path / f"{shard}.txt")
    losing: Any = Losing(engine, "grow_next_tree", has_room=False)
    with pytest.raises(NoRoomError, match="no room"):
        rw.MART(**SETTINGS).on(losing).fit(rw.Shards(tmp_path))


def test_a_run_is_stopped_here_and_goes_on_there(engine: Any, folder: Path, tmp_path: Path) -> None:
    """Ctrl-C keeps the trees so far, and a checkpoint of either kind of run is continued by the other."""
    expected = file_of(rw.LambdaMART(**SETTINGS).fit(rw.Shards(folder)), tmp_path / "alone.rw")

    def interrupt(progress: Progress) -> None:
        if progress.step == 4:
            raise KeyboardInterrupt

    few = rw.LambdaMART(**(SETTINGS | {"n_trees": 3}))
    few.fit(rw.Shards(folder), checkpoint=tmp_path / "run")
    stopped = rw.LambdaMART(**SETTINGS).on(engine)
    stopped.fit(rw.Shards(folder), checkpoint=tmp_path / "run", listeners=[interrupt])
    assert stopped.history_.interrupted
    assert stopped.n_trees_ == 5
    going_on = rw.LambdaMART(**SETTINGS).on(engine).fit(rw.Shards(folder), checkpoint=tmp_path / "run")
    assert file_of(going_on, tmp_path / "together.rw") == expected


def test_a_checkpoint_of_another_run_is_refused(engine: Any, folder: Path, tmp_path: Path) -> None:
    """One that one process began is continued by workers, but not with other settings."""
    rw.MART(**(SETTINGS | {"n_trees": 3})).fit(rw.Shards(folder), checkpoint=tmp_path / "run")
    with pytest.raises(InputError, match="checkpoint of another run: learning_rate"):
        rw.MART(**SETTINGS, learning_rate=0.3).on(engine).fit(rw.Shards(folder), checkpoint=tmp_path / "run")
    steps = list[int]()
    going_on = rw.MART(**SETTINGS).on(engine)
    going_on.fit(
        rw.Shards(folder), checkpoint=tmp_path / "run", listeners=[lambda progress: steps.append(progress.step)]
    )
    assert steps == [3, 4, 5, 6, 7]


def test_text_shards_and_more_workers_than_files(data: rw.RankingDataset, tmp_path: Path) -> None:
    """Files of different widths, since text leaves out zeros; and a server of the crew's own, which ends with it."""
    before = children()
    place = tmp_path / "text"
    place.mkdir()
    features = data.features.copy()
    features[:200, 100:] = 0.0
    queries = data.groups.query_of_row
    text = rw.RankingDataset.from_arrays(features, data.labels, qid=queries)
    for shard, own in enumerate(np.array_split(np.arange(40), [2])):
        rw.write(text.take_queries(own), place / f"{shard}.txt")
    expected = file_of(rw.LambdaMART(**SETTINGS).fit(rw.Shards(place)), tmp_path / "alone.rw")
    with open_engine(workers=3) as engine:
        assert expected == file_of(rw.LambdaMART(**SETTINGS).on(engine).fit(rw.Shards(place)), tmp_path / "together.rw")
    assert children() <= before


def test_a_query_in_two_files_is_refused(engine: Any, data: rw.RankingDataset, tmp_path: Path) -> None:
    for ending in ("parquet", "letor"):
        place = tmp_path / ending
        place.mkdir()
        for shard, queries in enumerate([range(5), range(4, 9)]):
            rw.write(data.take_queries(list(queries)), place / f"{shard}.{ending}")
        with pytest.raises(RankwrightError, match=r"query \d+ (comes back|is in two files).*"):
            rw.LambdaMART(**SETTINGS).on(engine).fit(rw.Shards(place))


def test_what_needs_all_documents_is_refused(engine: Any, data: rw.RankingDataset, folder: Path) -> None:
    with pytest.raises(SettingError, match="give fit shards"):
        rw.LambdaMART(**SETTINGS).on(engine).fit(data)
    for refused in ({"unjudged": 0.5}, {"scaling": "minmax"}):
        with pytest.raises(RankwrightError):
            rw.LambdaMART(**SETTINGS, **refused).on(engine).fit(rw.Shards(folder))
    with pytest.raises(SettingError, match="one set of documents"):
        rw.LambdaMART(**SETTINGS).on(engine).fit(rw.Shards(folder), valid={"a": data, "b": data})

    def all_at_once(scores: Any, labels: Any, offsets: Any) -> Any:  # noqa: ARG001
        return scores

    objective = rw.objectives.from_function(all_at_once, scope="all")
    with pytest.raises((SettingError, InputError), match="all queries at once"):
        rw.LambdaMART(**SETTINGS, objective=objective).on(engine).fit(rw.Shards(folder))


def test_clicks_are_not_weighed_by_workers(engine: Any, data: rw.RankingDataset, tmp_path: Path) -> None:
    rw.write(replace(data, propensities=np.full(data.n_docs, 0.5, np.float32)), tmp_path / "all.parquet")
    with pytest.raises(SettingError, match="workers do not weigh clicks by propensity"):
        rw.LambdaMART(**SETTINGS, debias="none").on(engine).fit(rw.Shards(tmp_path))


@pytest.mark.slow
def test_ray_actors_write_the_same_file(folder: Path, tmp_path: Path) -> None:
    expected = file_of(rw.LambdaMART(**SETTINGS).fit(rw.Shards(folder)), tmp_path / "alone.rw")
    with open_engine("auto", workers=2) as engine:
        watched: Any = Watched(engine)

        def end_one(progress: Progress) -> None:
            if progress.step == 3:
                os.kill(watched.made[0].process_ids[1], signal.SIGKILL)

        ranker = rw.LambdaMART(**SETTINGS).on(watched).fit(rw.Shards(folder), listeners=[end_one])
        assert file_of(ranker, tmp_path / "together.rw") == expected

"""What is acknowledged is on the disk, once; lists become segments that `rankwright clicks` reads."""

from __future__ import annotations

import asyncio
import json
import time

import numpy as np
import pyarrow.parquet as pq
import pytest
from tests.serve.asking import asked, asked_async
from tests.serve.conftest import NAMES

import rankwright as rw
from rankwright.errors import InputError, SettingError
from rankwright.serve.application import JournalSettings, RankServer, ServeSettings
from rankwright.serve.journal import EVENTS, LISTS, ClickEvent, Journal, ServedList, journal_files, read_lines
from rankwright.serve.segments import write_segments
from rankwright.serve.traffic import Traffic


@pytest.fixture
def journal(tmp_path):
    made = Journal(tmp_path / "journal")
    made.start()
    yield made
    made.stop()


def keep(journal, *events):
    async def all_of_them():
        return await asyncio.gather(*(journal.keep(event) for event in events))

    return asyncio.run(all_of_them())


def test_an_acknowledged_event_is_on_the_disk(journal):
    is_new = keep(journal, ClickEvent("e1", "l1", ["a"]), ClickEvent("e2", "l1", []), ClickEvent("e1", "l1", ["a"]))
    assert is_new == [True, True, False]
    path = journal_files(journal.folder, EVENTS)[-1]
    assert {event.event_id for event in read_lines(path, ClickEvent)} == {"e1", "e2"}


def test_served_lists_are_soon_on_the_disk(journal):
    journal.serve(ServedList(journal.new_list_id(), 1.0, "q", ["a"], "m"))
    end = time.monotonic() + 5
    while not read_lines(journal_files(journal.folder, LISTS)[0], ServedList) and time.monotonic() < end:
        time.sleep(0.01)
    assert len(read_lines(journal_files(journal.folder, LISTS)[0], ServedList)) == 1


def test_lists_become_segments_once_their_clicks_had_time(tmp_path):
    folder, journal = tmp_path / "j", Journal(tmp_path / "j")
    journal.start()
    ids = [journal.new_list_id() for _ in range(3)]
    for number, one in enumerate(ids):
        journal.serve(ServedList(one, 1000.0 + number, f"q{number}", ["a", "b", "c"], "m@1"))
    told: list[tuple[str, int, list[str | int]]] = [
        ("e1", 0, ["c"]),
        ("e2", 0, ["a", "x"]),
        ("e1", 0, ["c"]),
        ("e3", 1, []),
    ]
    events = [
        ClickEvent(name, ids[number], clicked, 1001 + place) for place, (name, number, clicked) in enumerate(told)
    ]
    keep(journal, *events, ClickEvent("e4", "unknown", [], 1.0))
    assert write_segments(folder, window=0.0).segments == 0  # the process still writes to its files
    journal.stop()
    assert write_segments(folder, window=100.0, now=1050.0).segments == 0
    report = write_segments(folder, window=100.0, now=1200.0)
    assert (report.segments, report.lists, report.events, report.stray_clicks) == (1, 3, 3, 1)
    assert journal_files(folder, LISTS) == journal_files(folder, EVENTS) == []
    assert write_segments(folder, window=0.0).segments == 0
    log = rw.clicks.read_log(folder / "segments")
    assert (log.n_lists, log.n_shown, log.n_clicks) == (3, 9, 2)
    assert log.propensities is not None
    assert log.propensities.tolist() == [1.0] * 9
    rows = pq.read_table(next((folder / "segments").glob("*.parquet"))).to_pylist()
    assert [row["events"] for row in rows] == [["e1", "e2"], ["e3"], []]


def test_a_line_that_was_cut_off_is_left_out(tmp_path):
    path = tmp_path / "lists-1-1.jsonl"
    whole = json.dumps({"id": "a", "time": 1.0, "query": "q", "shown": ["x"], "policy": "m"})
    path.write_text(whole + "\n" + whole[:20])
    assert len(read_lines(path, ServedList)) == 1
    assert write_segments(tmp_path, window=0.0).lists == 1


def test_a_segment_that_was_written_before_a_kill_is_not_written_twice(tmp_path):
    path = tmp_path / "lists-1-1.jsonl"
    path.write_text(json.dumps({"id": "a", "time": 1.0, "query": "q", "shown": ["x"], "policy": "m"}) + "\n")
    content = path.read_text()
    write_segments(tmp_path, window=0.0)
    path.write_text(content)  # as if it had been killed before it removed the file
    assert write_segments(tmp_path, window=0.0).segments == 0
    assert rw.clicks.read_log(tmp_path / "segments").n_lists == 1


@pytest.fixture(scope="module")
def two_models(data, model_file, tmp_path_factory):
    path = tmp_path_factory.mktemp("second") / "second.rw"
    rw.LambdaMART(n_trees=3, max_leaves=4, seed=5).fit(data).save(path)
    return [("a", str(model_file)), ("b", str(path))]


def made(models, **parts):
    return RankServer(ServeSettings(models, reload_seconds=0, **parts))


def rank(app, documents, **options):
    rows = [[float(str(value)) for value in row] for row in documents.features]
    answer = asked(app, "POST", "/v1/rank", {"rows": rows, **options})
    assert answer.status == 200, answer.body
    return answer.json()


def test_a_query_always_goes_to_the_same_model_and_shares_are_kept(two_models, query):
    traffic = Traffic(shares=(("a", 0.7), ("b", 0.3)))
    app = made(two_models, traffic=traffic).application()
    assert {rank(app, query, query="x")["model"] for _ in range(5)} == {traffic.model_for("x")}
    assert rank(app, query, query="x", model="b")["model"] == "b"
    counts = [traffic.model_for(number) for number in range(4000)]
    assert counts.count("a") / 4000 == pytest.approx(0.7, abs=0.03)
    other = Traffic(shares=traffic.shares, salt="another")
    assert [other.model_for(number) for number in range(50)] != counts[:50]


def test_two_models_take_turns_and_propensities_are_kept(two_models, query, tmp_path):
    kept = JournalSettings(str(tmp_path), with_features=True)
    server = made(two_models, traffic=Traffic(interleaved=("a", "b")), journal=kept)
    app = server.application()
    for begin in server.service.start:
        begin()
    ids = [f"d{row}" for row in range(query.n_docs)]

    async def served_and_clicked():
        rows = [[float(str(value)) for value in row] for row in query.features]
        found = (await asked_async(app, "POST", "/v1/rank", {"rows": rows, "ids": ids, "query": "q"})).json()
        event = {"event_id": "e", "list_id": found["list_id"], "clicked": found["ids"][:1]}
        return found, await asked_async(app, "POST", "/v1/feedback", event)

    found, answer = asyncio.run(served_and_clicked())
    assert answer.json() == {"event_id": "e", "is_new": True}
    assert found["shown_by"] == "a+b"
    assert sorted(found["order"]) == list(range(query.n_docs))
    for end in server.service.stop:
        end()
    write_segments(tmp_path, window=0.0, feature_names=NAMES)
    row = pq.read_table(next((tmp_path / "segments").glob("*.parquet"))).to_pylist()[0]
    assert row["shown"] == found["ids"]
    assert set(row["teams"]) == {"a", "b"}
    assert all(0 < chance <= 1 for chance in row["propensity"])
    documents = rw.read(tmp_path / "documents.parquet")
    assert documents.document_ids is not None
    place = documents.document_ids.tolist().index("d0")
    assert documents.features[place].tolist() == query.features[0].tolist()
    assert "rankwright_feedback_events_total 1" in asked(app, "GET", "/metrics").body.decode()
    told = asked(app, "GET", "/v1/experiment").json()
    assert (told["a"], told["a_wins"] + told["b_wins"]) == ("a", 1)


def test_a_shadow_scores_and_is_never_shown(two_models, query):
    server = made(two_models, traffic=Traffic(shadow="b"))
    app, plain = server.application(), made(two_models).application()
    assert rank(app, query)["order"] == rank(plain, query)["order"]
    told = asked(app, "GET", "/metrics").body.decode()
    assert 'rankwright_shadow_lists_total{model="b"} 1' in told
    agreement = next(line for line in told.splitlines() if line.startswith("rankwright_shadow_agreement_total"))
    orders = [np.argsort(-server.shelf.named(name).scores(query.features), kind="stable")[:10] for name in "ab"]
    assert float(agreement.split()[-1]) == len(set(orders[0]) & set(orders[1])) / 10


def test_models_that_share_requests_take_the_same_features(model_file, linear_file):
    models = [("a", str(model_file)), ("b", str(linear_file))]
    with pytest.raises(InputError, match="takes other features"):
        made(models, traffic=Traffic(interleaved=("a", "b")))
    for wrong in ({"shares": (("a", 0.5), ("b", 0.4))}, {"shares": (("a", 1.0),), "interleaved": ("a", "b")}):
        with pytest.raises(SettingError):
            Traffic(**wrong)


@pytest.mark.parametrize("body", [{}, {"event_id": "", "list_id": "l"}, {"event_id": "e", "list_id": "l", "x": 1}])
def test_wrong_feedback_is_refused(two_models, tmp_path, body):
    app = made(two_models, journal=JournalSettings(str(tmp_path))).application()
    assert asked(app, "POST", "/v1/feedback", body).status == 422

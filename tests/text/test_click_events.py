"""Logs of shown lists and clicks with times: every document that was shown is an event, and faults are one line."""

from __future__ import annotations

import json

import pytest

from rankwright.errors import FileFormatError
from rankwright.text import read_click_events

EVENT = {"query": "q", "time": "2024-01-01", "shown": ["a", "b"], "clicks": [2]}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("log.jsonl", json.dumps(EVENT)),
        ("log.csv", "query,time,shown,clicks\nq,2024-01-01,a b,2\n"),
        ("long.csv", "query,time,document,position,click\nq,2024-01-01,a,1,0\nq,2024-01-01,b,2,1\n"),
    ],
)
def test_every_document_that_was_shown_is_an_event(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    events = read_click_events(tmp_path / name)
    assert list(events.queries) == ["q", "q"]
    assert list(events.documents) == ["a", "b"]
    assert events.clicked.tolist() == [False, True]
    assert events.times.tolist() == [19723 * 86_400] * 2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"clicks": ["a"]}, "a click is a position, a whole number from 1; got 'a'"),
        ({"clicks": [0]}, "a click is a position, a whole number from 1; got 0"),
        ({"clicks": [True]}, "a click is a position, a whole number from 1; got True"),
        ({"time": None}, "an event needs its time"),
        ({"time": "soon"}, "an event needs its time, got 'soon'"),
        ({"shown": "a"}, "an event needs query, shown and clicks"),
    ],
)
def test_an_event_that_cannot_be_used_is_told_with_its_line(tmp_path, changes, told):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(EVENT) + "\n" + json.dumps(EVENT | changes))
    with pytest.raises(FileFormatError) as raised:
        read_click_events(path)
    assert f"log.jsonl:2: {told}" in str(raised.value)

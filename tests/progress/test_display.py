from __future__ import annotations

import io
import logging
import sys
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace

import numpy as np

import rankwright as rw
from rankwright.progress.display import (
    Notebook,
    Place,
    PlainLines,
    ProgressLine,
    in_notebook,
    on_terminal,
    progress_shown,
    say,
)
from rankwright.progress.stages import announce, is_followed


class Kept(Place):
    """A place that keeps what is said, and every state of the line."""

    def __init__(self, line: ProgressLine) -> None:
        self.line, self.closed = line, False
        self.states: list[str] = []
        self.said: list[str] = []

    def changed(self) -> None:
        self.states.append(self.line.written().split(",")[0])

    def say(self, text: str) -> None:
        self.said.append(text)

    def close(self) -> None:
        self.closed = True


def kept_in(places: list[Kept]) -> Callable[[ProgressLine], Kept]:
    """Makes a place, and puts it into the list."""

    def find(line: ProgressLine) -> Kept:
        places.append(Kept(line))
        return places[-1]

    return find


def test_nobody_follows_unless_progress_is_shown():
    assert not is_followed()
    places: list[Kept] = []
    with progress_shown(find_place=kept_in(places)):
        assert is_followed()
        announce("reading a.txt")
        announce("reading a.txt", 3, unit="documents")
        say("a word in between")
    assert not is_followed()
    assert [state.rpartition(" ")[0] != "" for state in places[0].states] == [True, True]
    assert places[0].states[-1] == "reading a.txt: 3 documents"
    assert places[0].said == ["a word in between"]
    assert places[0].closed


def test_stages_are_listed_once_each_on_request():
    places: list[Kept] = []
    with progress_shown(lists_stages=True, find_place=kept_in(places)):
        for step in range(3):
            announce("training", step + 1, 3)
        announce("measuring")
    assert places[0].said == ["training", "measuring"]


def test_stages_of_other_threads_are_parts_of_one_and_not_shown():
    places: list[Kept] = []
    with progress_shown(find_place=kept_in(places)):
        other = threading.Thread(target=announce, args=("reading in a thread",))
        other.start()
        other.join()
    assert places[0].states == []


def test_a_block_within_another_changes_nothing():
    places: list[Kept] = []
    with progress_shown(find_place=kept_in(places)), progress_shown(find_place=kept_in(places)):
        announce("training")
    assert len(places) == 1


def test_the_log_of_others_is_left_as_it_was(caplog):
    caplog.set_level(logging.WARNING)
    with progress_shown(find_place=Kept):
        announce("training")
    assert caplog.records == []
    with caplog.at_level(logging.INFO, logger="rankwright"):
        announce("reading b.txt")
    assert [record.message for record in caplog.records] == ["reading b.txt"]


def test_a_pipe_gets_a_line_every_few_seconds_and_nothing_for_what_takes_less(monkeypatch):
    pipe = io.StringIO()
    monkeypatch.setattr(sys, "stderr", pipe)
    with progress_shown(find_place=lambda line: PlainLines(line, seconds=60)):
        announce("training", 1, 9)
    assert pipe.getvalue() == ""
    with progress_shown(find_place=lambda line: PlainLines(line, seconds=0.02)):
        announce("training", 2, 9)
        deadline = time.monotonic() + 30
        while not pipe.getvalue() and time.monotonic() < deadline:
            time.sleep(0.01)
    assert pipe.getvalue().splitlines()[0].startswith("training: 2 of 9")


def test_a_notebook_draws_in_place_and_keeps_the_last_state(monkeypatch):
    shown: list[str] = []
    handle = SimpleNamespace(update=lambda thing: shown.append(repr(thing)))

    def show(thing, display_id):
        assert display_id
        shown.append(repr(thing))
        return handle

    display = SimpleNamespace(display=show)
    shell = SimpleNamespace(kernel=object())
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert in_notebook()
    data = rw.RankingDataset.from_arrays(np.eye(6), [0, 1, 2, 0, 1, 0], group=[3, 3])
    rw.LambdaMART(n_trees=3, min_docs_in_leaf=1).fit(data, valid=data, verbose=True)
    assert shown[0] == ""
    assert shown[-1].startswith("training lambdamart: 3 of 3 trees, ndcg@10 ")


def test_without_ipython_there_is_no_notebook(monkeypatch):
    monkeypatch.delitem(sys.modules, "IPython", raising=False)
    assert not in_notebook()
    assert isinstance(Notebook, type)


def test_a_terminal_of_a_ci_system_is_none(monkeypatch):
    monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("CI", raising=False)
    assert on_terminal()
    monkeypatch.setenv("CI", "true")
    assert not on_terminal()

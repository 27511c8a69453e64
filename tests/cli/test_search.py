"""`rankwright search` in the terminal."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from tests.search.small_collection import make_searchable

import rankwright as rw


@pytest.fixture(scope="module")
def searchable(tmp_path_factory):
    return make_searchable(tmp_path_factory.mktemp("search"))


def test_a_list_has_titles_snippets_and_scores(rankwright, searchable):
    done = rankwright("search", str(searchable.index), "harbour lantern", "--top", "3")
    assert done.code == 0
    assert "'harbour lantern': the first 3 of" in done.stdout
    assert "*harbour*" in done.stdout
    assert "\x1b" not in done.stdout


def test_json_tells_the_same_with_reasons(rankwright, searchable):
    given = ("--model", str(searchable.model), "--explain", "--json", "--top", "4")
    found = json.loads(rankwright("search", str(searchable.index), "harbour lantern", *given).stdout)
    (ranked,) = found["lists"]
    assert ranked["ranker"] == "forest"
    assert [one["rank"] for one in ranked["documents"]] == [1, 2, 3, 4]
    scores = [one["score"] for one in ranked["documents"]]
    assert scores == sorted(scores, reverse=True)
    assert all(one["why"][0]["feature"] for one in ranked["documents"])
    assert any(run["match"] for one in ranked["documents"] for run in one["snippet"])


def test_a_file_of_queries_becomes_a_run_that_evaluate_takes(rankwright, searchable, tmp_path):
    run = tmp_path / "forest.run"
    given = ("--queries", str(searchable.queries), "--model", str(searchable.model))
    assert rankwright("search", str(searchable.index), *given, "--out", str(run)).code == 0
    assert rankwright("evaluate", str(searchable.qrels), "--run", str(run), "--json").code == 0
    printed = rankwright("search", str(searchable.index), *given, "--trec", "--top", "5").stdout.splitlines()
    first = [line.split()[:4] for line in run.read_text().splitlines() if int(line.split()[3]) <= 5]
    assert [line.split()[:4] for line in printed] == first
    assert len(rw.read_run(run)) > len(printed)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "give a QUERY"),
        (("x", "--queries", "F"), "not both"),
        (("x", "--trec", "--json"), "give one of them"),
        (("--queries", "F"), "--out RUN"),
        (("x", "--where", "nothing=1"), "no field 'nothing'"),
        (("x", "--model", "absent.rw"), "absent.rw"),
        (("",), "QUERY is empty"),
        (("  ",), "QUERY is empty"),
        (("x", "--judgments", "j.db"), "go with --page"),
        (("x", "--metric", "map"), "go with --page"),
        (("--page", "--top", "3"), "leave out QUERY, --where, --top"),
        (("--page", "--judgments", "absent/j.db"), "there is no folder absent"),
        (("--page", "--judgments", "F"), "no store of judgments"),
        (("--page", "--rater", ""), "a judge's name"),
        (("--page", "--port", "99999"), "a port lies between"),
    ],
)
def test_wrong_usage_is_one_line(rankwright, searchable, arguments, told):
    done = rankwright("search", str(searchable.index), *(str(searchable.queries) if a == "F" else a for a in arguments))
    assert done.code == 2
    assert told in done.stderr
    assert done.stderr.count("\n") == 1


def test_a_long_query_is_not_told_whole(rankwright, searchable):
    done = rankwright("search", str(searchable.index), "harbour lantern " * 700, "--top", "1")
    assert done.code == 0
    assert max(map(len, done.stdout.splitlines())) < 400


def test_a_port_that_is_taken_is_told(rankwright, searchable, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        given = ("--page", "--no-browser", "--judgments", str(tmp_path / "j.db"), "--port", str(taken.getsockname()[1]))
        done = rankwright("search", str(searchable.index), *given)
    assert done.code == 2
    assert "taken: give another one with --port" in done.stderr


def test_a_folder_that_is_no_index_is_named(rankwright, tmp_path):
    done = rankwright("search", str(tmp_path), "words")
    assert done.code == 2
    assert str(tmp_path) in done.stderr.replace("\n", "")


def test_a_run_does_not_replace_another_file(rankwright, searchable, tmp_path):
    Path(tmp_path, "notes.txt").write_text("do not lose this\n")
    done = rankwright("search", str(searchable.index), "x", "--out", str(tmp_path / "notes.txt"))
    assert done.code == 2
    assert Path(tmp_path, "notes.txt").read_text() == "do not lose this\n"

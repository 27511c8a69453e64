"""Queries and judgments: the same from each format; what is wrong with them is counted or refused."""

from __future__ import annotations

import gzip
import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.text import JudgedPairs, Queries, read_judgments, read_queries

QUERY_FILES = {
    "q.tsv": b"q1\tlearning to rank\nq2\tthe \"best\" trees\n",
    "named.tsv": b"qid\tquery\nq1\tlearning to rank\nq2\tthe \"best\" trees\n",
    "q.csv": b'query_id,query\nq1,learning to rank\nq2,"the ""best"" trees"\n',
    "q.jsonl": b'{"_id": "q1", "text": "learning to rank"}\n{"_id": "q2", "text": "the \\"best\\" trees"}\n',
    "q.txt": b"q1\tlearning to rank\nq2\tthe \"best\" trees\n",
    "q.tsv.gz": gzip.compress(b"q1\tlearning to rank\nq2\tthe \"best\" trees\n"),
}  # fmt: skip
JUDGMENT_FILES = {
    "qrels": b"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 1\n",
    "j.qrels": b"# judged\nq1\t0\td1\t2\nq1\t0\td2\t-1\nq2\t0\td1\t1\n",
    "j.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
    "three.tsv": b"q1\td1\t2\nq1\td2\t0\nq2\td1\t1\n",
    "j.csv": b"query,document,median,variance\nq1,d1,2,.5\nq1,d2,0,0\nq2,d1,1,0\n",
    "j.jsonl": b'{"query": "q1", "document": "d1", "grade": 2}\n{"query": "q1", "document": "d2", "grade": 0}\n'
               b'{"query": "q2", "document": "d1", "grade": 1}',
}  # fmt: skip


@pytest.fixture
def written(tmp_path):
    def write(name, content):
        (tmp_path / name).write_bytes(content)
        return tmp_path / name

    return write


@pytest.mark.parametrize("name", QUERY_FILES)
def test_every_format_gives_the_same_queries(name, written):
    found = read_queries(written(name, QUERY_FILES[name]))
    assert (found.ids, found.texts) == (["q1", "q2"], ["learning to rank", 'the "best" trees'])
    assert found.times is None
    assert not found.problems.lines()


def test_queries_without_ids_are_known_by_their_lines(written):
    found = read_queries(written("queries.txt", b"learning to rank\n\nwhat, why and how?\n"))
    assert (found.ids, found.texts) == (["1", "3"], ["learning to rank", "what, why and how?"])


def test_queries_may_have_times_and_other_names(written):
    path = written("q.csv", b"when,what,who\n1970-01-02,trees,u1\n,forests,u2\n")
    found = read_queries(path, columns={"id": "who", "text": "what", "time": "when"})
    assert (found.ids, found.texts) == (["u1", "u2"], ["trees", "forests"])
    np.testing.assert_array_equal(found.times, [86400, np.nan])


@pytest.mark.parametrize("line", [b"q1\tagain\n", b"q3\t \n", b"\ttext\n"])
def test_queries_that_cannot_be_used_are_counted(line, written):
    path = written("q.tsv", QUERY_FILES["q.tsv"] + line)
    found = read_queries(path)
    assert found.ids == ["q1", "q2"]
    assert f": 1, first at {path}:3" in found.problems.lines()[0]
    with pytest.raises(rw.RankwrightError, match=r"q\.tsv:3"):
        read_queries(path, strict=True)


@pytest.mark.parametrize("name", JUDGMENT_FILES)
def test_every_format_gives_the_same_judgments(name, written):
    found = read_judgments(written(name, JUDGMENT_FILES[name]))
    assert (found.query_ids, found.document_ids) == (["q1", "q1", "q2"], ["d1", "d2", "d1"])
    assert found.grades.tolist() == [2, 0, 1]
    assert not found.problems.lines()


def test_several_grades_of_a_pair_make_their_mean(written):
    path = written("j.csv", b"query,document,rater,rating\nq,d,a,3\nq,e,a,1\nq,d,b,2\n")
    found = read_judgments(path)
    assert found.grades.tolist() == [2.5, 1]
    assert found.problems.lines()[0].startswith("judgments of a pair that was judged before (the mean counts): 1,")
    with pytest.raises(rw.RankwrightError, match="judged before"):
        read_judgments(path, strict=True)


def test_a_click_log_gives_rates_and_positions(written):
    events = [{"query": "q", "shown": ["a", "b"], "clicks": [1]}, {"query": "q", "shown": ["b", "a"], "clicks": [2]},
              {"query": "q", "shown": ["a", "b", "c"], "clicks": [2]}]  # fmt: skip
    found = read_judgments(written("log.jsonl", "\n".join(map(json.dumps, events)).encode()))
    assert found.document_ids == ["a", "b", "c"]
    np.testing.assert_allclose(found.grades, [2 / 3, 1 / 3, 0])
    assert found.positions is not None
    assert found.positions.tolist() == [0, 1, 2]


def test_judgments_of_what_is_unknown_are_counted_or_refused():
    grades = np.array([1, 2, 3, 4], np.float32)
    judged = JudgedPairs(["q1", "Learning to Rank", "q9", "q1"], ["d1", "d2", "d1", "d9"], grades)
    queries = Queries(["q1", "q2"], ["trees", "learning to rank"])
    known = judged.of_known(queries, lambda ids: np.isin(ids, ["d1", "d2"]), "judgments")
    assert (known.query_ids, known.document_ids, known.grades.tolist()) == (["q1", "q2"], ["d1", "d2"], [1, 2])
    assert judged.problems.lines() == [
        "judgments of unknown queries (left out): 1, first at judgments: q9",
        "judgments of unknown documents (left out): 1, first at judgments: d9",
    ]
    judged.problems.strict = True
    with pytest.raises(rw.RankwrightError, match="judgments of unknown queries: q9"):
        judged.of_known(queries, lambda ids: np.isin(ids, ["d1", "d2"]), "judgments")


@pytest.mark.parametrize(
    ("read", "name", "content", "told"),
    [
        (read_queries, "q.tsv", b"", "is empty"),
        (read_queries, "q.tsv", b"q1\t\n", "no query could be read"),
        (read_queries, "q.csv", b"id,colour\n1,red\n", "no column is known to hold the text; there are 'id', 'colour'"),
        (read_queries, "q", b"<DOC>", "looks like trec; queries come as tsv, csv, jsonl, parquet"),
        (read_judgments, "qrels", b"", "shows no format"),
        (read_judgments, "qrels", b"q1 0 d1\n", "found 3 fields, wanted query, iteration, document, label"),
        (read_judgments, "j.qrels", b"q1 0 d1 x\n", "no judgment could be read"),
        (read_judgments, "j.csv", b"query,document\nq,d\n", "no column is known to hold the grade"),
    ],
)
def test_hostile_files_are_refused_in_one_line(read, name, content, told, written):
    with pytest.raises(rw.RankwrightError, match=told) as error:
        read(written(name, content))
    assert "\n" not in str(error.value)

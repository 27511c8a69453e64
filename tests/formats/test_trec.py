from __future__ import annotations

import gzip

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.trec import Qrels, Run, qrels_of, read_qrels, read_run, run_of, write_qrels, write_run

IDS = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6).filter(
    lambda text: not text.startswith("#")
)


@pytest.fixture
def file(tmp_path):
    def write(text):
        (tmp_path / "file").write_text(text)
        return tmp_path / "file"

    return write


@given(rows=st.lists(st.tuples(IDS, IDS), min_size=1, unique=True), draw=st.data())
def test_qrels_out_and_back_are_the_same(rows, draw, tmp_path_factory):
    labels = draw.draw(st.lists(st.floats(-3, 1e6, width=32), min_size=len(rows), max_size=len(rows)))
    queries, documents = zip(*rows, strict=True)
    path = tmp_path_factory.mktemp("trec") / "qrels"
    write_qrels(Qrels(queries, documents, labels), path)
    back = read_qrels(path)
    assert (back.query_ids.tolist(), back.document_ids.tolist()) == (list(queries), list(documents))
    np.testing.assert_array_equal(back.labels, np.float32(labels))


@given(rows=st.lists(st.tuples(IDS, IDS), min_size=1, unique=True), draw=st.data())
def test_a_run_out_and_back_has_the_same_scores_best_first(rows, draw, tmp_path_factory):
    numbers = st.floats(allow_nan=False)
    scores = draw.draw(st.lists(numbers, min_size=len(rows), max_size=len(rows)))
    path = tmp_path_factory.mktemp("trec") / "run"
    queries, documents = zip(*rows, strict=True)
    write_run(Run(queries, documents, scores), path)
    back = read_run(path)
    back_rows = list(zip(back.query_ids.tolist(), back.document_ids.tolist(), strict=True))
    assert dict(zip(back_rows, back.scores.tolist(), strict=True)) == dict(zip(rows, scores, strict=True))
    lines = [line.split() for line in path.read_text().splitlines()]
    for query in {row[0] for row in rows}:
        mine = [line for line in lines if line[0] == query]
        assert [int(line[3]) for line in mine] == list(range(1, len(mine) + 1))
        assert [float(line[4]) for line in mine] == sorted((float(line[4]) for line in mine), reverse=True)


def test_equal_scores_keep_their_order_and_the_tag_is_written(file):
    path = file("")
    write_run(Run(["q"] * 3, ["b", "a", "c"], [1, 1, 2]), path, tag="mine")
    assert path.read_text() == "q Q0 c 1 2.0 mine\nq Q0 b 2 1.0 mine\nq Q0 a 3 1.0 mine\n"


def test_any_blanks_part_fields_and_comments_stand_at_the_start_of_a_line(file):
    path = file("# said by judges\n\n  301\t0   d#1 \t 2\r\n\t# more\n301 0 d2 -1 and more\n302 0 d#1 0.5\n")
    qrels = read_qrels(path)
    assert qrels.query_ids.tolist() == ["301", "301", "302"]
    assert qrels.document_ids.tolist() == ["d#1", "d2", "d#1"]
    assert qrels.labels.tolist() == [2, -1, 0.5]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 0 a\n", ":1: found 3 fields, wanted query, iteration, document, label"),
        ("1 0 a x\n", ":1: a label must be a number, found 'x'"),
        ("1 0 a nan\n", ":1: a label must be a number, found 'nan'"),
        ("1 0 a 1\n2 0 a 1\n1 0 a 2\n", ":3: document a of query 1 stood in line 1 already; wanted each once"),
        ("# nothing\n", ": holds no line of query, iteration, document, label"),
        ("1 0 a\0 1\n", ":1: is a binary file; wanted text"),
    ],
)
def test_what_is_wrong_with_qrels_is_said_with_its_line(file, text, message):
    path = file(text)
    with pytest.raises(FileFormatError, match=f"{path}{message}"):
        read_qrels(path)


def test_a_run_needs_its_six_fields(file):
    with pytest.raises(FileFormatError, match=":1: found 5 fields, wanted query, Q0, document, rank, score, tag"):
        read_run(file("1 Q0 a 1 2.5\n"))
    with pytest.raises(FileFormatError, match=":2: a score must be a number, found 'high'"):
        read_run(file("1 Q0 a 1 2.5 x\n1 Q0 b 1 high x\n"))


@pytest.mark.parametrize("document", ["", "a b", "a\n", " "])
def test_ids_that_the_format_cannot_hold_are_refused(file, document):
    with pytest.raises(InputError, match="TREC files cannot hold the id"):
        write_qrels(Qrels(["1"], [document], [1]), file(""))
    with pytest.raises(InputError, match="the line would be a comment"):
        write_run(Run(["#1"], ["a"], [1]), file(""))


def test_a_document_stands_once_in_a_query_when_written_too(file):
    with pytest.raises(InputError, match="document a of query 1 appears twice"):
        write_run(Run([1, 2, 1], ["a", "a", "a"], [1, 2, 3]), file(""))


def test_lengths_must_agree():
    with pytest.raises(InputError, match="document_ids must have 2 values, got 1"):
        Qrels(["1", "2"], ["a"], [1, 2])
    with pytest.raises(InputError, match="scores must have 1 values, got 2"):
        Run(["1"], ["a"], [1, 2])


def test_a_dataset_gives_its_judgments_and_scores_in_the_callers_order(full_data):
    qrels = qrels_of(full_data)
    assert qrels.query_ids.tolist() == ["b", "b", "c", "a"]
    assert qrels.document_ids.tolist() == ["d1", 'd"3', "d 4", "d,5"]
    assert qrels.labels.tolist() == [2, 0, 1, 0.5]
    run = run_of(full_data, [0.1, 0.2, 0.3, 0.4, 0.5])
    assert run.query_ids.tolist() == ["b", "a", "b", "c", "a"]
    assert run.document_ids.tolist() == ["d1", "d2", 'd"3', "d 4", "d,5"]
    assert run.scores.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_documents_without_ids_are_called_by_their_rows():
    data = RankingDataset.from_arrays([[1.0], [2.0], [3.0]], [1, 0, 2], qid=["b", "a", "b"])
    assert qrels_of(data).document_ids.tolist() == ["0", "1", "2"]
    assert run_of(data, [3, 2, 1]).document_ids.tolist() == ["0", "1", "2"]


def test_without_labels_there_are_no_judgments():
    with pytest.raises(InputError, match="without labels"):
        qrels_of(RankingDataset.from_arrays([[1.0]], qid=[1]))


def count_lines(path):
    with gzip.open(path, "rt") as lines:
        return sum(1 for line in lines if line.strip() and not line.startswith("#"))


@pytest.mark.parametrize("name", ["test", "test.with-comments", "comment.test", "rel_level"])
def test_trec_evals_own_qrels_are_read(real_data, name):
    path = real_data(f"trec-eval/qrels.{name}.gz")
    qrels = read_qrels(path)
    assert len(qrels) == count_lines(path)
    assert not any(query.startswith("#") for query in qrels.query_ids.tolist())


@pytest.mark.parametrize("name", ["123", "comments.123"])
def test_qrels_of_several_groups_of_judges_repeat_documents(real_data, name):
    with pytest.raises(FileFormatError, match="document CR93E-10279 of query 301 stood in line 1 already"):
        read_qrels(real_data(f"trec-eval/qrels.{name}.gz"))


@pytest.mark.parametrize("name", ["test", "trunc", "comment.test"])
def test_trec_evals_own_runs_are_read(real_data, name):
    path = real_data(f"trec-eval/results.{name}.gz")
    run = read_run(path)
    assert len(run) == count_lines(path)
    assert np.isfinite(run.scores).all()


def test_a_comment_sign_within_a_document_id_is_part_of_it(real_data):
    qrels = read_qrels(real_data("trec-eval/qrels.test.with-comments.gz"))
    assert "CR#93E-1860" in qrels.document_ids.tolist()

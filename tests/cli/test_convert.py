from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

import rankwright as rw
from rankwright.cli.app import main


class Result(NamedTuple):
    code: object
    out: str
    err: str


@pytest.fixture
def run(monkeypatch, capfdbinary):
    """Runs `rankwright convert` within this process, with bytes for standard input where it reads them."""

    def convert(*arguments: object, given: bytes = b"") -> Result:
        class Input:
            buffer = io.BufferedReader(io.BytesIO(given))

        monkeypatch.setattr(sys, "argv", ["rankwright", "convert", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", Input)
        with pytest.raises(SystemExit) as ended:
            main()
        sys.stdout.flush()
        out, err = capfdbinary.readouterr()
        return Result(ended.value.code or 0, out.decode(), err.decode())

    return convert


@pytest.fixture
def letor(tmp_path):
    path = tmp_path / "train.txt"
    path.write_text("2 qid:1 1:0.5 3:7 #docid = A\n0 qid:1 2:1 #docid = B\n1 qid:2 1:3 #docid = C\n")
    return path


def test_json_says_what_was_converted(run, letor, tmp_path):
    result = run(letor, tmp_path / "train.parquet", "--json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {
        "source_format": "svmlight",
        "target_format": "parquet",
        "queries": 2,
        "documents": 3,
        "features": 3,
        "bytes": (tmp_path / "train.parquet").stat().st_size,
    }
    assert rw.read(tmp_path / "train.parquet").equals(rw.read(letor))


def test_without_json_talk_goes_to_stderr(run, letor, tmp_path):
    result = run(letor, tmp_path / "train.csv")
    assert (result.code, result.out) == (0, "")
    assert result.err.startswith("svmlight to csv: 2 queries, 3 documents, 3 features, ")


def test_from_standard_input_to_standard_output(run, letor):
    table = run("-", "-", "--to", "csv", "--absent", "missing", given=letor.read_bytes())
    assert (table.code, table.out) == (0, "qid,document_id,label,1,2,3\n1,A,2,0.5,,7\n1,B,0,,1,\n2,C,1,3,,\n")
    text = run("-", "-", "--to", "svmlight", "--absent", "missing", given=table.out.encode())
    assert (text.code, text.out.encode()) == (0, letor.read_bytes())


def test_columns_are_named_by_options(run, tmp_path):
    (tmp_path / "a.data").write_text("search;when;grade;x;y\n7;noon;1;2;3\n")
    result = run(
        tmp_path / "a.data", tmp_path / "b.csv", "--query", "search", "--label", "grade", "--drop", "when,y",
        "--delimiter", "semicolon", "--from", "csv",
    )  # fmt: skip
    assert result.code == 0, result.err
    assert (tmp_path / "b.csv").read_text() == "qid,label,x\n7,1,2\n"


def test_files_without_a_header_are_told_their_columns(run, tmp_path):
    (tmp_path / "a.tsv").write_text("7\t1\t2\n")
    (tmp_path / "a.cd").write_text("0 GroupId\n1 Label\n2 Num x\n")
    assert run(tmp_path / "a.tsv", tmp_path / "b.csv", "--names", "qid,label,x").code == 0
    assert (tmp_path / "b.csv").read_text() == "qid,label,x\n7,1,2\n"
    assert run(tmp_path / "a.tsv", tmp_path / "c.csv", "--description", tmp_path / "a.cd").code == 0
    assert (tmp_path / "c.csv").read_text() == (tmp_path / "b.csv").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["absent.csv", "b.csv"], "absent.csv: no such file or directory"),
        (["a.csv", "b"], "the ending of 'b' names no format"),
        (["a.csv", "b.csv", "--from", "qrels"], "qrels files hold no features"),
        (["a.csv", "b.csv", "--absent", "zero"], "has no option 'absent'"),
        (["a.csv", "-", "--to", "csv", "--json"], "--json and the data cannot both go to standard output"),
        (["a.csv", "b.parquet"], "a.csv: query 1 comes back at row 2 after it had ended"),
        ([".", "b.csv"], ".: is a directory"),
        (["empty.csv", "b.csv"], "empty.csv: is empty"),
        (["cut.parquet", "b.csv"], "cut.parquet: is not a whole Parquet file"),
        (["bad.csv", "b.csv"], "bad.csv:3: column 'x': wanted a number, found 'much'"),
    ],
)
def test_a_wrong_call_is_one_line_and_exit_code_2(run, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("qid,x\n1,2\n2,3\n1,4\n")
    Path("empty.csv").write_text("")
    Path("bad.csv").write_text("qid,x\n1,2\n2,much\n")
    Path("cut.parquet").write_bytes(b"PAR1 and no more")
    before = sorted(Path.cwd().iterdir())
    result = run(*arguments)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("error: ")
    assert result.err.count("\n") == 1
    assert message in result.err
    assert sorted(Path.cwd().iterdir()) == before


def test_errors_in_standard_input_say_so(run):
    assert run("-", "-", "--to", "csv", given=b"1 qid:1 1:x\n").err.startswith("error: standard input:1: ")


def test_help_has_an_example(run):
    assert "Example: rankwright convert train.txt.gz train.parquet" in run("--help").out

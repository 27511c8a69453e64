"""Files of judgments: every format gives the same table, in any order of rows; what cannot be used is told."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rankwright import judgments
from rankwright.errors import FileFormatError, InputError, SettingError, UnknownNameError
from rankwright.judgments import Judgment, JudgmentStore, gather, read_judgments, write_judgments


def some(n: int = 60, seed: int = 0) -> list[Judgment]:
    """Grades and preferences with all that a judgment may have."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(n):
        query, document, rater = f"q{rng.integers(5)}", f"d {rng.integers(8)}", f"r{rng.integers(4)}"
        kind = "model" if rater == "r3" else "person"
        more: dict[str, Any] = {"time": float(number), "comment": 'said "so", twice' if number % 7 == 0 else ""}
        if number % 5 == 0:
            made.append(Judgment(query, document, rater, kind=kind, other="another", preference=0.75, **more))
        else:
            made.append(Judgment(query, document, rater, float(rng.integers(0, 4)), kind, error=None, **more))
    return made


def rows(table: judgments.Judgments) -> list[Judgment]:
    return list(table.rows())


def test_the_order_of_rows_does_not_matter():
    made = some()
    again = [made[place] for place in np.random.default_rng(1).permutation(len(made))]
    assert rows(gather(made)) == rows(gather(again))
    assert sorted(map(repr, rows(gather(made)))) == sorted(map(repr, made))


@pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "csv.gz"])
def test_what_is_written_is_read_back(ending, tmp_path):
    table = gather(some())
    write_judgments(table, tmp_path / f"all.{ending}")
    assert rows(read_judgments(tmp_path / f"all.{ending}")) == rows(table)
    assert rows(read_judgments(tmp_path / f"all.{ending}", threads=3)) == rows(table)


def test_quepid_books_as_csv_and_as_json(tmp_path):
    (tmp_path / "book.csv").write_text('query,docid,Ann,bob@x\n"a, b",d1,2,\nc,d2,0,1\n')
    book = {
        "name": "book",
        "query_doc_pairs": [
            {"query_text": "a, b", "doc_id": "d1", "judgements": [{"rating": 2.0, "user_email": "Ann"}]},
            {
                "query_text": "c",
                "doc_id": "d2",
                "judgements": [
                    {"rating": 0.0, "user_email": "Ann", "explanation": None},
                    {"rating": 1.0, "user_email": "bob@x"},
                    {"rating": None, "unrateable": True, "user_email": "cy"},
                ],
            },
        ],
    }
    (tmp_path / "book.json").write_text(json.dumps(book))
    as_csv, as_json = (read_judgments(tmp_path / name) for name in ("book.csv", "book.json"))
    assert rows(as_csv) == rows(as_json)
    assert as_json.problems == {"documents that the rater could not or would not judge yet": 1}


def test_a_case_that_quepid_exports_has_one_rater(tmp_path):
    (tmp_path / "case.csv").write_text("query,docid,rating\nq,d1,3\nq,d2,\n")
    table = read_judgments(tmp_path / "case.csv")
    assert [(one.rater, one.grade) for one in table.rows()] == [("case", 3.0)]
    assert table.problems == {"rows without a grade": 1}
    assert table.first_problems["rows without a grade"].endswith("case.csv:3")


def test_qrels_are_by_whom_the_name_says(tmp_path):
    (tmp_path / "labels.qrels").write_text("q 0 d1 2\nq 0 d2 0\n")
    table = read_judgments({"gpt": tmp_path / "labels.qrels"}, models=["gpt"])
    assert [(one.rater, one.kind, one.grade) for one in table.rows()] == [("gpt", "model", 2.0), ("gpt", "model", 0.0)]
    write_judgments(table, tmp_path / "again.qrels")
    assert (tmp_path / "again.qrels").read_text() == "q 0 d1 2\nq 0 d2 0\n"


def test_grades_outside_the_scale_are_counted_and_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("query,document,rater,grade\nq,d1,ann,2\nq,d2,ann,9\nq,d3,ann,inf\n,d3,ann,1\n")
    table = read_judgments(tmp_path / "a.csv", scale=(0, 3))
    assert len(table) == 1
    assert table.problems == {"rows without a query": 1, "grades that are infinite": 1, "grades outside the scale": 1}


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("a.csv", "x,y\n1,2\n", "found the columns x, y; wanted query, document and grade"),
        ("a.csv", "query,document,grade\nq,d,two\n", "a.csv:2: column 'grade': wanted a number, found 'two'"),
        ("a.csv", "query,document,grade\nq,d\n", "a.csv:2: found 2 cells, wanted 3"),
        ("a.csv", "query,document,grade,kind\nq,d,1,robot\n", "the kind of a rater is 'robot'"),
        ("a.csv", "query,document,grade,time\nq,d,1,now\n", "the time is 'now'"),
        ("a.csv", "query,document,grade\n", "there are no judgments"),
        ("a.jsonl", "[1]\n", "a.jsonl:1: is no JSON object"),
        ("a.jsonl", '{"query": "q", "document": "d", "grade": "two"}', "grade must be a number, found 'two'"),
        ("a.jsonl", '{"query": "q", "document": "d", "grade": 1, "error": -1}', "error must be a finite number"),
        ("a.json", "{}", "is no book of Quepid"),
        ("a.db", "SQLite format 3\0 but not really", "a.db: is damaged"),
        ("a", "one two\n", "which shows no format of judgments"),
        ("a.qrels", "q 0 d one\n", "a label must be a number"),
    ],
)
def test_what_cannot_be_read_is_told_in_one_line(name, content, told, tmp_path):
    (tmp_path / name).write_text(content)
    with pytest.raises(FileFormatError) as error:
        read_judgments(tmp_path / name)
    assert told in str(error.value)
    assert "\n" not in str(error.value)


def test_problems_are_told_with_the_file_and_the_line(tmp_path):
    (tmp_path / "a.qrels").write_text("q 0 d1 2\nq 0 d2 9 and more\n")
    table = read_judgments(tmp_path / "a.qrels", scale=(0, 3))
    assert table.first_problems == {"grades outside the scale": f"{tmp_path / 'a.qrels'}:2"}
    (tmp_path / "a.csv").write_text("query,document,rater,grade,kind\nq,d,ann,1,person\nq,e,ann,1,model\n")
    with pytest.raises(
        FileFormatError, match=r"a\.csv: rater 'ann' is a person in one row and a model in another \(.*:3\)"
    ):
        read_judgments(tmp_path / "a.csv")
    (tmp_path / "a.jsonl").write_text('{"query": ["q"], "document": "d", "grade": 1}\n')
    with pytest.raises(FileFormatError, match=r"^[^:]*a\.jsonl:1: query must be a text or a whole number"):
        read_judgments(tmp_path / "a.jsonl")


def test_wrong_values_of_one_judgment():
    usual: dict[str, Any] = {"query": "q", "document": "d", "rater": "r", "grade": 1.0}
    wrong: dict[str, Any]
    for wrong, told in (
        ({"query": ""}, "query must be a text"),
        ({"grade": None}, "needs a grade"),
        ({"grade": float("nan")}, "needs a grade"),
        ({"kind": "robot"}, "kind must be person, model, click"),
        ({"grade": None, "other": "d"}, "compared with itself"),
        ({"other": "e"}, "a preference has no grade"),
        ({"grade": None, "other": "e", "preference": 2.0}, "preference must lie between 0 and 1"),
    ):
        with pytest.raises(InputError, match=told):
            Judgment(**(usual | wrong))


def test_a_rater_is_of_one_kind_and_models_must_have_judged(tmp_path):
    with pytest.raises(InputError, match="'r' is a person in one row and a model in another"):
        gather([Judgment("q", "d", "r", 1.0), Judgment("q", "e", "r", 1.0, kind="model")])
    (tmp_path / "a.csv").write_text("query,document,rater,grade\nq,d,ann,1\n")
    with pytest.raises(InputError, match="'bob' is named as a model, and has no judgment"):
        read_judgments(tmp_path / "a.csv", models=["bob"])
    with pytest.raises(UnknownNameError, match="format of judgments"):
        read_judgments(tmp_path / "a.csv", format="xls")
    with pytest.raises(SettingError, match="from a lower to a higher grade"):
        read_judgments(tmp_path / "a.csv", scale=(3, 0))
    with pytest.raises(FileFormatError, match="there is no column 'mark'"):
        read_judgments(tmp_path / "a.csv", columns={"grade": "mark"})


def test_preferences_are_exported_with_the_share_of_the_votes(tmp_path):
    told = [Judgment("q", "a", rater, other="b") for rater in ("ann", "bob")]
    table = gather([*told, Judgment("q", "b", "cy", other="a")])
    write_judgments(table, tmp_path / "p.csv", format="preferences")
    assert (tmp_path / "p.csv").read_text() == f"query,better,worse,probability,votes\nq,a,b,{2 / 3},3\n"

    with pytest.raises(InputError, match="there are no preferences to write, only grades"):
        write_judgments(gather([Judgment("q", "a", "ann", 1.0)]), tmp_path / "p.csv", format="preferences")


def test_qrels_hold_one_grade_of_a_document(tmp_path):
    table = gather([Judgment("q", "d", "ann", 1.0), Judgment("q", "d", "bob", 2.0)])
    with pytest.raises(InputError, match="document 'd' of query 'q' has several grades"):
        write_judgments(table, tmp_path / "a.qrels")


def test_qrels_have_the_last_of_the_grades_that_a_rater_gave(tmp_path):
    changed = [Judgment("q", "d", "ann", 1.0, time=2.0), Judgment("q", "d", "ann", 0.0, time=1.0)]
    unknown = [Judgment("q", "e", "ann", 1.0), Judgment("q", "e", "ann", 0.0)]  # nobody knows which came last
    write_judgments(gather([*changed, *unknown]), tmp_path / "a.qrels")
    assert (tmp_path / "a.qrels").read_text() == "q 0 d 1\n"
    with pytest.raises(InputError, match=r"there are no grades: 1 document judged twice .* no times tell"):
        write_judgments(gather(unknown), tmp_path / "b.qrels")


def test_a_pipe_needs_a_format(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileFormatError, match="name the format of judgments that come from a pipe"):
        read_judgments(tmp_path / "pipe")


# --- the store ---


def test_a_store_keeps_each_judgment_once(tmp_path):
    made = some()
    with JudgmentStore(tmp_path / "s.db") as store:
        assert store.add(made) == len(made)
        assert store.add(made) == 0
        assert len(store) == len(made)
        assert rows(store.judgments()) == rows(gather(made))
        with pytest.raises(InputError, match="another judgment has the id 'x'"):
            store.add([Judgment("q", "d", "r", 1.0, id="x"), Judgment("q", "e", "r", 1.0, id="x")])
        assert len(store) == len(made)  # all or nothing
    assert rows(read_judgments(tmp_path / "s.db")) == rows(gather(made))


def test_two_writers_share_a_store(tmp_path):
    path = tmp_path / "s.db"
    code = (
        "import sys; from rankwright.judgments import Judgment, JudgmentStore\n"
        "with JudgmentStore(sys.argv[1]) as store:\n"
        "    for n in range(40): store.add([Judgment('q', f'd{n}', sys.argv[2], n % 3)])\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in ("ann", "bob")]
    assert [writer.wait(60) for writer in writers] == [0, 0]
    with JudgmentStore(path, create=False) as store:
        assert len(store) == 80


def test_several_make_a_store_at_the_same_moment(tmp_path):
    code = (
        "import sys; from multiprocessing import get_context; from rankwright.judgments import JudgmentStore\n"
        "def open_together(path, gate): gate.wait(); JudgmentStore(path).close()\n"
        "processes = get_context('fork')\n"
        "for number in range(30):\n"
        "    gate, path = processes.Barrier(3), f'{sys.argv[1]}/{number}.db'\n"
        "    made = [processes.Process(target=open_together, args=(path, gate)) for _ in range(3)]\n"
        "    for one in made: one.start()\n"
        "    for one in made: one.join()\n"
        "    assert [one.exitcode for one in made] == [0] * 3\n"
    )
    told = subprocess.run([sys.executable, "-c", code, str(tmp_path)], capture_output=True, text=True)
    assert told.returncode == 0, told.stderr


def test_a_writer_that_is_killed_loses_nothing_that_was_acknowledged(tmp_path):
    path = tmp_path / "s.db"
    code = (
        "import sys; from rankwright.judgments import Judgment, JudgmentStore\n"
        "store = JudgmentStore(sys.argv[1]); n = 0\n"
        "while True: store.add([Judgment('q', f'd{n}', 'r', n % 3)]); print(n, flush=True); n += 1\n"
    )
    for _ in range(3):
        writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        last = [int(writer.stdout.readline()) for _ in range(5)][-1]
        writer.kill()
        writer.communicate()
        with JudgmentStore(path, create=False) as store:
            kept = [one.document for one in store.rows()]
        assert len(kept) == len(set(kept))
        assert {f"d{n}" for n in range(last + 1)} <= set(kept)


def test_other_databases_are_refused(tmp_path):
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE things (x)")
    other.commit()
    other.close()
    with pytest.raises(FileFormatError, match=r"other\.db: is a database of something else"):
        JudgmentStore(tmp_path / "other.db")
    (tmp_path / "text.db").write_text("hello")
    with pytest.raises(FileFormatError, match="is no store of judgments"):
        JudgmentStore(tmp_path / "text.db")
    with pytest.raises(FileNotFoundError):
        JudgmentStore(tmp_path / "none.db", create=False)
    with JudgmentStore(tmp_path / "new.db") as store, pytest.raises(FileFormatError, match="there are no judgments"):
        store.judgments()


def test_a_store_of_a_later_version_says_so(tmp_path):
    JudgmentStore(tmp_path / "s.db").close()
    opened = sqlite3.connect(tmp_path / "s.db")
    opened.execute("PRAGMA user_version = 9")
    opened.close()
    with pytest.raises(FileFormatError, match="is a store of version 9; this program knows version 2"):
        JudgmentStore(tmp_path / "s.db")


def test_what_was_taken_back_is_gone_and_may_come_again(tmp_path):
    one, other = Judgment("q", "d", "ann", 1.0, id="x"), Judgment("q", "d", "ann", 3.0, id="x", context="a and b")
    with JudgmentStore(tmp_path / "s.db") as store:
        store.add([one])
        assert store.remove(["x", "absent"]) == 1
        assert len(store) == 0
        store.add([other])
        assert list(store.rows()) == [other]


def test_ids_to_take_back_are_texts(tmp_path):
    with JudgmentStore(tmp_path / "s.db") as store:
        store.add([Judgment("q", "d", "ann", 1.0, id="xy"), Judgment("q", "e", "ann", 1.0, id="5")])
        assert store.remove("xy") == 1
        with pytest.raises(TypeError, match="an id must be a text, got int"):
            store.remove([5])  # type: ignore[list-item]
        assert len(store) == 1


def test_a_full_disk_is_told_and_the_store_goes_on(tmp_path):
    many = [Judgment("q", f"d{n}", "ann", 1.0, comment="x" * 500) for n in range(200)]
    with JudgmentStore(tmp_path / "s.db") as store:
        store.add(many[:1])
        store._connection.execute("PRAGMA max_page_count = 5")
        with pytest.raises(FileFormatError, match="cannot be used as a store: database or disk is full"):
            store.add(many)
        store._connection.execute("PRAGMA max_page_count = 1000000")
        assert len(store) == 1
        assert store.add(many) == 199


@pytest.mark.parametrize("name", ["comment", "context", "id"])
def test_what_goes_with_a_judgment_is_a_text(name):
    with pytest.raises(InputError, match=f"{name} must be a text, got 5"):
        Judgment("q", "d", "ann", 1.0, **{name: 5})  # type: ignore[arg-type]


def test_a_folder_is_no_file_of_judgments(tmp_path):
    with pytest.raises(OSError, match="directory"):
        read_judgments(Path(tmp_path))

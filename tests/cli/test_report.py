"""`--report` of every command that has it: checked before the work, written at the end, named on stderr."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.report.test_writing import state_of

import rankwright as rw

TRAINED = ("--set", "n_trees=4", "--set", "max_leaves=4")


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """Training, validation and test documents, and two models."""
    found: Path = tmp_path_factory.mktemp("report")
    data = rw.synthetic.web_search(n_queries=30, seed=0)
    parts = dict(zip(("train", "valid", "test"), data.split(valid=0.3, test=0.3, seed=0), strict=True))
    for name, part in parts.items():
        rw.write(part, found / f"{name}.txt")
    for seed in (0, 1):
        ranker = rw.LambdaMART(n_trees=4, max_leaves=4, query_fraction=0.5, seed=seed, threads=1)
        ranker.fit(rw.read(found / "train.txt"), valid=rw.read(found / "valid.txt")).save(found / f"{seed}.rw")
    (found / "scores.txt").write_text("\n".join(str(row % 7) for row in range(parts["test"].n_docs)) + "\n")
    return found


COMMANDS = {
    "train": ("train", "train.txt", "--valid", "valid.txt", "--test", "test.txt", *TRAINED, "--out", "new.rw"),
    "train alone": ("train", "train.txt", *TRAINED, "--out", "new.rw"),
    "evaluate": ("evaluate", "test.txt", "--model", "0.rw"),
    "evaluate scores": ("evaluate", "test.txt", "--scores", "scores.txt"),
    "compare": ("compare", "test.txt", "--model", "old=0.rw", "--model", "1.rw", "--scores", "scores.txt"),
    "compare sliced": ("compare", "test.txt", "--model", "0.rw", "--model", "1.rw", "--slice", "documents"),
    "bag": ("bag", "train.txt", "--bags", "2", "--test", "test.txt", *TRAINED, "--out", "new.rw"),
    "bag study": ("bag", "--study", "train.txt", "--samples", "2", "--bags", "2", *TRAINED, "--out", "study"),
    "tune": ("tune", "train.txt", "--valid", "valid.txt", "--strategy", "grid", "--search", "max_leaves=3,4",
             "--set", "n_trees=3", "--study", "kept", "--out", "new.rw"),
    "tune, shown": ("tune", "--show", "kept"),
    "compress": ("compress", "0.rw", "--data", "valid.txt", "--means", "exact,prune", "--max-loss", "0.5",
                 "--out", "small.rw"),
    "explain importance": ("explain", "0.rw", "test.txt", "--importance", "contribution"),
    "explain dependence": ("explain", "0.rw", "test.txt", "--dependence", "1"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_writes_its_report(name, folder, rankwright, monkeypatch):
    monkeypatch.chdir(folder)
    page = folder / f"{name.replace(' ', '-')}.html"
    made = rankwright(*COMMANDS[name], "--report", page.name)
    assert made.code == 0, made.stderr
    assert f"wrote {page.name}" in made.stderr
    text = page.read_text()
    assert text.startswith("<!doctype html>")
    assert len(text) < 4_000_000
    assert "Do it again" in text


def test_a_query_and_two_documents_are_explained_in_a_report(folder, rankwright, monkeypatch):
    monkeypatch.chdir(folder)
    query = str(rw.read("test.txt").query_ids[0])  # type: ignore[index]
    for more in ((), ("--documents", "0,1")):
        made = rankwright("explain", "0.rw", "test.txt", "--query", query, *more, "--report", "why.html")
        assert made.code == 0, made.stderr
        assert f"Query {query}" in Path("why.html").read_text()


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("page.pdf", "must end in .html"),
        ("nowhere/page.html", "there is no folder nowhere"),
        ("folder.html", "is a folder"),
    ],
)
def test_a_report_that_cannot_be_written_is_told_before_the_work(path, told, folder, rankwright, monkeypatch):
    monkeypatch.chdir(folder)
    Path("folder.html").mkdir(exist_ok=True)
    made = rankwright("train", "train.txt", *TRAINED, "--out", "never.rw", "--report", path)
    assert made.code == 2
    assert told in made.stderr
    assert made.stderr.count("\n") == 1
    assert not Path("never.rw").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_that_may_not_be_written_to_is_told(folder, rankwright, tmp_path):
    tmp_path.chmod(0o500)
    made = rankwright(
        "train", str(folder / "train.txt"), *TRAINED, "--out", "never.rw", "--report", str(tmp_path / "a.html")
    )
    assert made.code == 2
    assert "is write-protected" in made.stderr


def test_a_study_is_shown_and_no_folder_is_a_page(folder, rankwright, monkeypatch):
    monkeypatch.chdir(folder)
    assert rankwright(*COMMANDS["tune"]).code == 0
    made = rankwright("tune", "--show", "kept")
    assert made.code == 0
    assert "Best configurations" in made.stdout
    assert rankwright("tune", "--report", "kept").code == 2


def test_titles_and_texts_are_columns_that_a_report_shows(rankwright, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"q{n // 4},some words {n // 4},title {n},{n % 2},{n % 3}" for n in range(16)]
    Path("data.csv").write_text("\n".join(["qid,words,name,label,x", *rows]) + "\n")
    Path("old.txt").write_text("1\n2\n" * 8)
    Path("new.txt").write_text("2\n1\n" * 8)
    columns = ("--title", "name", "--text", "words")
    trained = ("train", "data.csv", "--valid", "data.csv", "--ranker", "linear-regression", "--out", "m.rw")
    for command in (
        (*trained, *columns, "--report", "trained.html"),
        ("evaluate", "data.csv", "--model", "m.rw", *columns, "--report", "measured.html"),
        ("compare", "data.csv", "--scores", "old.txt", "--scores", "new.txt", *columns, "--report", "compared.html"),
    ):
        result = rankwright(*command)
        assert result.code == 0, result.stderr
        queries = state_of(Path(command[-1]).read_text())["queries"]
        assert queries["texts"][0] == "some words 0"
        assert queries["lists"]["0"]["docs"][0][3].startswith("title ")
    for wrong, message in (
        (("evaluate", "data.csv", "--scores", "old.txt", *columns), "--title and --text go with --report"),
        (("evaluate", "data.csv", "--model", "m.rw", "--title", "nam", "--report", "x.html"), "no column 'nam'"),
        (
            ("evaluate", "data.csv", "--scores", "old.txt", "--format", "svmlight", *columns, "--report", "x.html"),
            "CSV",
        ),
    ):
        result = rankwright(*wrong)
        assert result.code == 2
        assert message in result.stderr

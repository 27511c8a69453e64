"""No command destroys an input, or a file of another kind; and what cannot be written is told before the work."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from tests.compatibility.public_commands import commands

import rankwright as rw
from rankwright.cli.app import COMMANDS, FILES

SMALL = ["--set", "n_trees=2", "--set", "max_leaves=3"]
WRITES = re.compile(r"(?<!How )\b([Tt]o write|Write a|Draw|A folder (that|to))\b")

# Each option that names an output, in a command whose inputs all exist; OUT stands for the output.
OUTPUTS: dict[str, list[str]] = {
    "train": ["train", "data.txt", "--valid", "valid.txt", *SMALL, "--out", "OUT"],
    "train --report": ["train", "data.txt", "--valid", "valid.txt", *SMALL, "--out", "new.rw", "--report", "OUT.html"],
    "bag": ["bag", "data.txt", "--bags", "2", *SMALL, "--out", "OUT"],
    "tune": ["tune", "data.txt", "--trials", "1", "--out", "OUT"],
    "blend": ["blend", "data.txt", "--model", "model.rw", "--model", "other.rw", "--out", "OUT"],
    "auto": ["auto", "data.txt", "--trials", "1", "--folds", "2", "--out", "OUT"],
    "cv": ["cv", "data.txt", *SMALL, "--per-query", "OUT"],
    "benchmark": ["benchmark", "data.txt", "--rankers", "prank", "--per-query", "OUT"],
    "score": ["score", "model.rw", "data.txt", "--out", "OUT"],
    "score --to": ["score", "model.rw", "data.txt", "--to", "csv", "--out", "OUT"],
    "evaluate": ["evaluate", "data.txt", "--model", "model.rw", "--per-query", "OUT"],
    "compare": ["compare", "data.txt", "--model", "a=model.rw", "--scores", "b=scores.txt", "--per-query", "OUT"],
    "fuse": ["fuse", "a.run", "b.run", "--out", "OUT"],
    "explain": ["explain", "model.rw", "data.txt", "--importance", "gain", "--plot", "OUT.svg"],
    "inspect": ["inspect", "model.rw", "--data", "data.txt", "--plot", "OUT.svg"],
    "compress": ["compress", "model.rw", "--data", "data.txt", "--out", "OUT"],
    "compress --curve": ["compress", "model.rw", "--data", "data.txt", "--out", "new.rw", "--curve", "OUT.csv"],
    "export": ["export", "model.rw", "--to", "onnx", "--out", "OUT"],
    "convert": ["convert", "data.txt", "OUT", "--to", "svmlight"],
    "clicks": ["clicks", "log.jsonl", "--features", "data.csv", "--preferences", "--out", "OUT.csv"],
    "clicks --save": ["clicks", "log.jsonl", "--model", "pbm", "--save", "OUT"],
    "features": ["features", "--log", "rows.csv", "--qrels", "q.qrels", "--out", "OUT.csv"],
    "judgments": ["judgments", "judged.csv", "--export", "OUT.csv"],
    "judgments combine": ["judgments combine", "judged.csv", "--out", "OUT.csv"],
    "judgments next": [
        "judgments next",
        "data.txt",
        "--scores",
        "scores.txt",
        "--model",
        "model.rw",
        "--out",
        "OUT.csv",
    ],
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outputs")
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, size=40)
    features = np.column_stack([labels + rng.normal(size=40), rng.normal(size=40)])
    data = rw.RankingDataset.from_arrays(features, labels, group=[8] * 5)
    for name in ("data.txt", "valid.txt", "data.csv"):
        rw.write(data, folder / name)
    rw.LambdaMART(n_trees=2, min_docs_in_leaf=2).fit(data).save(folder / "model.rw")
    rw.LambdaMART(n_trees=3, min_docs_in_leaf=2).fit(data).save(folder / "other.rw")
    (folder / "scores.txt").write_text("1\n" * 40)
    (folder / "a.run").write_text("q Q0 x 1 3 a\nq Q0 y 2 2 a\n")
    (folder / "b.run").write_text("q Q0 y 1 9 b\nq Q0 z 2 1 b\n")
    (folder / "log.jsonl").write_text('{"query": "q", "shown": ["a", "b"], "clicks": [2]}\n')
    (folder / "judged.csv").write_text("query,document,rater,grade\nq,a,ann,1\nq,a,bob,0\n")
    (folder / "rows.csv").write_text("query,document,words\nq,a,1\nq,b,2\n")
    (folder / "q.qrels").write_text("q 0 a 1\nq 0 b 0\n")
    (folder / "notes").write_text("what I found out\n")
    return folder


@pytest.fixture
def files(made, tmp_path, monkeypatch):
    folder = shutil.copytree(made, tmp_path / "files")
    monkeypatch.chdir(folder)
    return folder


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def refused(rankwright, folder, arguments):
    """The one line that the command prints; nothing has changed."""
    before = contents(folder)
    result = rankwright(*arguments)
    assert result.code == 2, (arguments, result)
    assert contents(folder) == before
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1, result.stderr
    return result.stderr


def with_output(what, out):
    return [one.replace("OUT", out) for one in OUTPUTS[what]]


def test_every_option_that_writes_says_what():
    wrong = []
    for name, command in commands().items():
        for option in command.params:
            if name and WRITES.search(option.help or "") and option.name != "allow_empty":
                module = __import__(f"rankwright.cli.{FILES.get(name, name)}", fromlist=["_"])
                wrong += [] if _says_what(getattr(module, FILES.get(name, name)), option.name) else [(name, option)]
    assert not wrong
    assert {one[0] for one in OUTPUTS.values()} == set(COMMANDS) - {
        "quickstart",
        "split",
        "index",  # as split does, it writes a folder of its own: tests/cli/test_index.py
        "search",  # it reads an index, which is a folder: tests/cli/test_search.py
        "serve",
        "drift",
        "reproduce",
        "list",
    }


def _says_what(command, name):
    import inspect

    return inspect.signature(command).parameters[name].default.writes is not None


@pytest.mark.parametrize("what", OUTPUTS)
class TestEveryOutput:
    def test_no_input_is_replaced(self, what, files, rankwright):
        ending = Path(OUTPUTS[what][-1] if "OUT" in OUTPUTS[what][-1] else "OUT").suffix
        arguments = OUTPUTS[what]
        given = [
            one.partition("=")[2] or one for one in arguments if (files / (one.partition("=")[2] or one)).is_file()
        ]
        assert given
        for name in given:
            (files / f"link{ending}").unlink(missing_ok=True)
            (files / f"link{ending}").symlink_to(name)
            told = refused(rankwright, files, [*with_output(what, "link"), "--force"])
            assert f"link{ending} is the same file as the input {name}" in told

    def test_a_file_of_another_kind_stays(self, what, files, rankwright):
        (name,) = [one for one in with_output(what, "mine") if "mine" in one]
        shutil.copy("notes", name)
        assert "or give --force to replace it" in refused(rankwright, files, with_output(what, "mine"))

    def test_a_folder_that_is_not_there_is_told_before_the_work(self, what, files, rankwright):
        for path in files.iterdir():
            path.unlink()  # so that any work would fail
        told = refused(rankwright, files, with_output(what, "none/new"))
        assert "cannot be written: there is no folder none" in told


@pytest.mark.parametrize("what", ["score", "score --to", "evaluate", "fuse", "export", "convert", "inspect"])
@pytest.mark.usefixtures("files")
def test_what_a_command_wrote_it_may_write_again(what, rankwright):
    rw.LambdaMART(n_trees=2, min_docs_in_leaf=2).fit(rw.read("data.txt"), valid=rw.read("valid.txt")).save("model.rw")
    for _ in range(2):
        result = rankwright(*with_output(what, "new"))
        assert result.code == 0, result.stderr


def test_force_replaces_a_file_of_another_kind(files, rankwright):
    assert rankwright("score", "model.rw", "data.txt", "--out", "notes", "--force").code == 0
    assert len((files / "notes").read_text().splitlines()) == 40


def test_documents_are_not_taken_for_scores_or_tables(files, rankwright):
    shutil.copy("data.txt", "mine.txt")
    shutil.copy("data.csv", "mine.csv")
    assert "mine.txt exists and is not scores" in refused(
        rankwright, files, ["score", "model.rw", "data.txt", "--out", "mine.txt"]
    )
    for command in (
        ["score", "model.rw", "data.txt", "--out"],
        ["evaluate", "data.txt", "--model", "model.rw", "--per-query"],
    ):
        assert "mine.csv exists and is not" in refused(rankwright, files, [*command, "mine.csv"])


def test_an_empty_file_has_nothing_to_lose(files, rankwright):
    (files / "new.csv").touch()
    assert rankwright("score", "model.rw", "data.txt", "--out", "new.csv").code == 0


def test_what_goes_beside_an_output_is_checked_too(files, rankwright):
    shutil.copy("notes", "new.sample.csv")
    assert "new.sample.csv exists and is not" in refused(rankwright, files, with_output("export", "new.onnx"))
    shutil.copy("notes", "new.pairs")
    assert "new.pairs exists and is not a file of pairs" in refused(rankwright, files, with_output("clicks", "new"))


def test_two_outputs_are_two_files(files, rankwright):
    arguments = with_output("train --report", "new")
    arguments[arguments.index("new.rw")] = "./new.html"
    assert "cannot both be written to new.html" in refused(rankwright, files, arguments)


def test_an_input_in_a_file_of_options_is_one(files, rankwright):
    (files / "sizes").write_text("8\n" * 5)
    (files / "how.toml").write_text('group = "sizes"\n')
    arguments = ["score", "model.rw", "data.txt", "--config", "how.toml", "--out", "sizes"]
    assert "sizes is an input" in refused(rankwright, files, arguments)


@pytest.mark.usefixtures("files")
def test_a_name_is_no_file(rankwright):
    for _ in range(2):
        assert rankwright("fuse", "a.run", "b.run", "--tag", "new", "--out", "new").code == 0


class TestEndings:
    @pytest.mark.parametrize("name", ["new.xlsx", "new.json", "new.xlsx.gz"])
    def test_scores_of_an_unknown_ending_are_refused(self, files, rankwright, name):
        told = refused(rankwright, files, ["score", "model.rw", "data.txt", "--out", name])
        assert f"scores are not written as '{Path(name.removesuffix('.gz')).suffix}'; wanted .csv" in told
        assert "--to STYLE" in told
        assert rankwright("score", "model.rw", "data.txt", "--out", name, "--to", "scores").code == 0

    @pytest.mark.parametrize("name", ["new.xlsx", "new.json", "new.parquet"])
    def test_tables_of_queries_of_an_unknown_ending_are_refused(self, files, rankwright, name):
        told = refused(rankwright, files, ["evaluate", "data.txt", "--model", "model.rw", "--per-query", name])
        assert "wanted .csv for commas, .tsv or .txt for tabs" in told

    @pytest.mark.usefixtures("files")
    def test_score_says_what_it_wrote(self, rankwright):
        assert rankwright("score", "model.rw", "data.txt", "--out", "new.txt").stderr == (
            "wrote new.txt: 40 documents, as scores\n"
        )
        told = rankwright("score", "model.rw", "data.txt", "--top", "3", "--out", "new.csv").stderr
        assert told == "wrote new.csv: the best 3 of each query among 40 documents, as csv\n"
        assert rankwright("score", "model.rw", "data.txt").stderr == ""


class TestFolders:
    def test_the_quickstart_replaces_only_its_own(self, files, rankwright):
        shutil.copy("data.txt", "train.txt")
        told = refused(rankwright, files, ["quickstart", "--out", "."])
        assert "has files that the quickstart would replace, and they are not its own: name a new folder" in told
        Path("other").mkdir()
        shutil.copy("model.rw", "other/model.rw")
        assert "name a new folder" in refused(rankwright, files, ["quickstart", "--out", "other"])

    @pytest.mark.parametrize(
        ("command", "own", "document"),
        [
            (
                ["bag", "--study", "data.txt", "--out"],
                "table.csv",
                ("study.json", {"samples": 1, "sample_fraction": 1, "table": []}),
            ),
            (
                ["tune", "--show", "none", "--out"],
                "report.md",
                ("report.json", {"experiments": 1, "searches": [], "best": []}),
            ),
        ],
    )
    def test_a_study_replaces_only_its_own(self, files, rankwright, command, own, document):
        Path("out").mkdir()
        Path("out", own).write_text("mine")
        assert "name a new folder" in refused(rankwright, files, [*command, "out"])
        Path("out", document[0]).write_text(json.dumps(document[1]))
        files.joinpath("data.txt").unlink()
        assert "name a new folder" not in refused(rankwright, files, [*command, "out"])

    def test_a_folder_that_cannot_be_made_is_told_before_the_work(self, files, rankwright):
        told = refused(rankwright, files, ["train", "none.txt", "--out", "new.rw", "--checkpoint", "notes"])
        assert "notes is a file: name a folder" in told


def test_a_parquet_file_that_is_not_there_is_named(files, rankwright):
    for command in ("inspect", "evaluate"):
        more = ["--model", "model.rw"] if command == "evaluate" else []
        assert "error: none.parquet: no such file" in refused(rankwright, files, [command, "none.parquet", *more])

"""How much commands say: -v, -q, and where it goes."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import numpy as np
import pytest

import rankwright as rw
from rankwright import cli
from rankwright.cli.app import COMMANDS
from rankwright.cli.output import Verbosity, saying, tell


@pytest.fixture
def files(tmp_path):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, size=80)
    features = np.column_stack([labels + rng.normal(size=80), rng.normal(size=80)])
    data = rw.RankingDataset.from_arrays(features, labels, group=[8] * 10)
    rw.write(data, tmp_path / "data.txt")
    rw.LambdaMART(n_trees=2, min_docs_in_leaf=2).fit(data).save(tmp_path / "model.rw")
    return tmp_path


SMALL = ["--set", "n_trees=2", "--set", "min_docs_in_leaf=2"]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_takes_both(rankwright, name, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = rankwright(name, "--help").stdout
    assert "--verbose" in shown
    assert "--quiet" in shown
    assert "<bool>" not in shown
    assert "<str>" not in shown


def test_verbose_lists_the_stages_and_quiet_says_nothing(rankwright, files):
    command = ["train", str(files / "data.txt"), *SMALL, "--out", str(files / "new.rw")]
    usual = rankwright(*command)
    assert usual.stderr == f"wrote {files / 'new.rw'}\n"
    lines = rankwright(*command, "-v").stderr.splitlines()
    assert lines[0] == f"reading {files / 'data.txt'}"
    assert lines[1:3] == ["binning features", "training lambdamart"]
    assert rankwright(*command, "-q").stderr == ""


def test_not_both_at_once(rankwright, files):
    result = rankwright("inspect", str(files / "data.txt"), "-v", "-q")
    assert (result.code, result.stderr) == (2, "error: give either --verbose or --quiet, not both\n")


def test_warnings_are_told_even_when_quiet(capsys):
    with saying(Verbosity.QUIET):
        logging.getLogger("rankwright.some.place").warning("mind the gap")
        tell("not important")
    assert capsys.readouterr().err == "mind the gap\n"


def test_train_without_held_out_documents_says_what_it_learned_and_how_to_measure_it(rankwright, files):
    result = rankwright("train", str(files / "data.txt"), *SMALL, "--out", str(files / "new.rw"))
    chosen, first, second = result.stdout.splitlines()
    assert chosen.startswith("by the data: ")
    assert "max_leaves" in chosen
    assert "n_trees" not in chosen  # which was given
    assert first.startswith("learned lambdamart: 2 steps, ")
    assert first.endswith("features used; no documents were held out to measure it on")
    assert second == f"measure it: rankwright evaluate TEST --model {files / 'new.rw'}"


def test_what_the_data_chose_is_in_the_document_of_train(rankwright, files):
    made = files / "new.rw"
    result = rankwright("train", str(files / "data.txt"), *SMALL, "--out", str(made), "--json")
    assert json.loads(result.stdout)["chosen"] == rw.load(made).chosen_


@pytest.mark.parametrize(
    ("command", "wanted"),
    [
        (["score", "data.txt", "model.rw"], "model.rw is a model file, and the model comes first: rankwright score"),
        (["evaluate", "model.rw", "--scores", "data.txt"], "model.rw: is a model file; wanted documents. Are two"),
        (["train", "model.rw", "--out", "new.rw"], "model.rw: is a model file; wanted documents. Are two"),
    ],
)
def test_swapped_arguments_are_recognised(rankwright, files, monkeypatch, command, wanted):
    monkeypatch.chdir(files)
    result = rankwright(*command)
    assert result.code == 2
    assert wanted in result.stderr


class TestRankedOutput:
    @pytest.mark.parametrize("ending", ["csv", "tsv", "jsonl", "parquet", "trec"])
    def test_the_ending_says_how_the_top_is_written(self, rankwright, files, ending):
        out = files / f"ranked.{ending}"
        command = ["score", str(files / "model.rw"), str(files / "data.txt"), "--top", "3", "--out", str(out)]
        assert rankwright(*command).code == 0
        data = rw.read(files / "data.txt")
        frame = rw.load(files / "model.rw").top(data, k=3)
        assert len(frame) == 30
        assert list(frame.columns) == ["query", "document", "rank", "score"]
        assert frame["rank"].tolist() == [1, 2, 3] * 10
        if ending == "csv":
            rows = [line.split(",") for line in out.read_text().splitlines()]
            assert rows[0] == list(frame.columns)
            assert [int(row[1]) for row in rows[1:]] == frame["document"].tolist()
        if ending == "trec":
            assert len(rw.read_run(out)) == 30

    def test_scores_alone_have_no_top(self, rankwright, files):
        command = ["score", str(files / "model.rw"), str(files / "data.txt"), "--top", "3", "--to", "scores"]
        result = rankwright(*command)
        assert result.code == 2
        assert "a file of scores has a line for each document" in result.stderr


class TestPerQuery:
    def test_on_stdout_it_is_alone(self, rankwright, files):
        command = ["evaluate", str(files / "data.txt"), "--model", str(files / "model.rw"), "--metrics", "mrr"]
        result = rankwright(*command, "--per-query", "-")
        assert result.stdout.splitlines()[0] == "query\tdocuments\tmrr"
        assert len(result.stdout.splitlines()) == 11
        assert "convention standard" in result.stderr

    def test_not_together_with_json_on_stdout(self, rankwright, files):
        command = ["evaluate", str(files / "data.txt"), "--model", str(files / "model.rw"), "--per-query", "-"]
        result = rankwright(*command, "--json")
        assert result.code == 2
        assert "cannot both go to standard output" in result.stderr

    def test_a_name_in_csv_gives_commas(self, rankwright, files):
        command = ["evaluate", str(files / "data.txt"), "--model", str(files / "model.rw"), "--metrics", "mrr"]
        assert rankwright(*command, "--per-query", str(files / "q.csv")).code == 0
        assert (files / "q.csv").read_text().splitlines()[0] == "query,documents,mrr"


class TestCompare:
    def test_it_ends_in_a_sentence_and_markdown_is_a_table(self, rankwright, files):
        scores = "\n".join(map(str, range(80)))
        (files / "scores.txt").write_text(scores + "\n")
        command = ["compare", str(files / "data.txt"), "--model", f"tree={files / 'model.rw'}"]
        command += ["--scores", f"order={files / 'scores.txt'}", "--metrics", "ndcg@10"]
        sentence = rankwright(*command).stdout.splitlines()[-1]
        assert sentence.startswith(("tree is better than order by ", "tree is ahead of order by "))
        assert "on 10 queries" in sentence
        markdown = rankwright(*command, "--markdown").stdout
        assert "| system | ndcg@10 |\n| --- | --- |\n| tree |" in markdown
        assert markdown.rstrip().endswith(sentence)

    def test_runs_against_qrels(self, rankwright, files):
        (files / "qrels").write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 0\nq2 0 b 1\n")
        (files / "one.run").write_text("q1 Q0 a 1 2 x\nq1 Q0 b 2 1 x\nq2 Q0 b 1 2 x\n")
        (files / "two.run").write_text("q1 Q0 b 1 2 x\nq1 Q0 a 2 1 x\nq2 Q0 b 1 2 x\n")
        command = ["compare", "--run", f"one={files / 'one.run'}", "--run", f"two={files / 'two.run'}"]
        result = rankwright(*command, "--qrels", str(files / "qrels"), "--metrics", "mrr,judged@2")
        assert result.code == 0, result.stderr
        assert result.stdout.splitlines()[-1].startswith("one is ahead of two by 0.2500 mrr")
        assert "--run needs --qrels" in rankwright(*command).stderr


def test_every_text_that_commands_print_is_escaped():
    """Texts of files reach the terminal through `echo` and the tables alone."""
    wrong = [path.name for path in Path(cli.__file__).parent.glob("*.py") if "typer.echo(" in path.read_text()]
    assert sorted(wrong) == ["app.py", "output.py"]  # the version and the help; the door itself


class TestHostileTexts:
    """Control characters in files and names of files."""

    def check(self, outcome):
        assert (outcome.stdout + outcome.stderr).replace("\n", "").isprintable()
        return outcome

    def test_names_of_features_in_inspect(self, rankwright, tmp_path):
        path = tmp_path / "data.csv"
        path.write_text("qid,label,\x1b]0;owned\x07red,b\n1,0,1,1\n1,1,1,2\n")
        assert "\\x1b]0;owned\\x07red" in self.check(rankwright("inspect", str(path))).stdout
        assert "\\u001b" in self.check(rankwright("inspect", str(path), "--json")).stdout

    def test_names_of_features_in_tables_of_models(self, rankwright, tmp_path):
        path, model = tmp_path / "data.csv", tmp_path / "model.rw"
        path.write_text("qid,label,\x1b[31ma\n" + "".join(f"{n % 5},{n % 3},{n % 3}\n" for n in range(60)))
        self.check(rankwright("train", str(path), "--ranker", "mart", "--set", "n_trees=2", "--out", str(model)))
        assert "\\x1b[31ma" in self.check(rankwright("inspect", str(model))).stdout

    @pytest.mark.parametrize("command", ["inspect", "evaluate", "train"])
    def test_files_that_are_not_there(self, rankwright, command):
        more = {"train": ("--out", "x.rw"), "evaluate": ("--scores", "s")}.get(command, ())
        outcome = self.check(rankwright(command, "no\x1b[31m\udcff.txt", *more))
        assert outcome.code == 2
        assert "no\\x1b[31m\\udcff.txt: no such file" in outcome.stderr

    def test_what_parquet_says_of_a_damaged_file(self, rankwright, tmp_path):
        path = tmp_path / "a\x1b[31m.parquet"
        path.write_bytes(b"PAR1 and nothing else")
        assert self.check(rankwright("inspect", str(path))).code == 2

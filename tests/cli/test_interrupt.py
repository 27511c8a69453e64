"""Ctrl-C while training, in a terminal as users press it."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys

import pytest

import rankwright as rw

RUN = [sys.executable, "-c", "from rankwright.cli.app import main; main()"]
CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
FOREVER = ["--set", "n_trees=1000000", "--set", "max_leaves=4", "--threads", "1"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("interrupt")
    train, valid = rw.synthetic.web_search(n_queries=20, seed=3).split(valid=0.3, seed=0)
    rw.write_svmlight(train, folder / "train.txt")
    rw.write_svmlight(valid, folder / "valid.txt")
    return folder


def in_terminal(arguments, folder, until: str) -> tuple[int, str]:
    """The exit code and the text of a command that gets one Ctrl-C when `until` is on the screen."""
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    environment.pop("CI", None)  # where it is set, lines are written instead of a bar
    with subprocess.Popen(
        [*RUN, *arguments], cwd=folder, env=environment,
        stdin=theirs, stdout=subprocess.PIPE, stderr=theirs, start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        screen, pressed = "", False
        while text := _read(ours):
            screen += CONTROL.sub("", text)
            if until in screen and not pressed:
                pressed = True
                process.send_signal(signal.SIGINT)
        os.close(ours)
        process.communicate(timeout=60)
    return process.returncode, screen


def _read(terminal: int) -> str:
    try:
        return os.read(terminal, 1 << 16).decode(errors="replace")
    except OSError:  # Linux says so where the other side is closed
        return ""


def test_the_bar_shows_metric_and_time_left_and_ctrl_c_keeps_the_best_model(folder):
    arguments = ["train", "train.txt", "--valid", "valid.txt", *FOREVER, "--out", "model.rw"]
    code, screen = in_terminal(arguments, folder, until="best 0.")
    assert re.search(r"training lambdamart  ─+  \d+/1,000,000  ndcg@10 0\.\d{4}, best 0\.\d{4}  \d+:", screen)
    assert screen.count("interrupted after step") == 1
    assert "the best model so far is kept" in screen
    assert code == 0
    model = rw.load(folder / "model.rw")
    assert model.history_.interrupted
    assert model.history_.best_step == model.n_trees_ - 1


def test_ctrl_c_before_the_first_tree_leaves_no_file(folder):
    os.mkfifo(folder / "slow.txt")
    with (
        subprocess.Popen(
            [*RUN, "train", "slow.txt", "--out", "none.rw"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as process,
        (folder / "slow.txt").open("w") as pipe,
    ):  # opens when the command reads it
        pipe.write("1 qid:1 1:2\n")
        pipe.flush()
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.decode() == "interrupted: what was not finished was not written\n"
    assert out == b""
    assert not list(folder.glob("*none.rw*"))

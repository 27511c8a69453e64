"""Every example a reader may copy runs: in README, in docs/ and in docstrings.

Pages run one after another, in the order of the site's navigation, in one folder: that which the quickstart writes,
with fewer queries and trees so that the tests are quick. README and tour run on all of it. Since several processes may
share the tests, a page must also run as the first. A block in a language other than python or sh is not run.
"""

from __future__ import annotations

import doctest
import io
import os
import re
import shlex
import socket
import sys
from collections.abc import Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path
from unittest.mock import patch

import pytest

import rankwright
from rankwright.cli.app import COMMANDS, main
from rankwright.experiments.quickstart import Quickstart, write_quickstart

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
TOUR = ROOT / "docs" / "tour.md"  # runs after the README, in the same folder
NAVIGATION = (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2]
PAGES = sorted(set((ROOT / "docs").glob("*.md")) - {TOUR}, key=lambda page: (NAVIGATION.find(f": {page.name}\n"), page))
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks_of(page: Path, language: str) -> list[str]:
    return [text for found, text in BLOCK.findall(page.read_text()) if found == language]


def commands_in(block: str) -> Iterator[list[str]]:
    for line in block.replace("\\\n", " ").splitlines():
        if line.startswith("rankwright "):
            yield shlex.split(line, comments=True)[1:]


def commands_of(page: Path) -> Iterator[list[str]]:
    for block in blocks_of(page, "sh"):
        yield from commands_in(block)


FEWER = {"train": 100, "valid": 36, "test": 36}  # queries; pages name some of the test queries
NAMED = (11, 14)
# What pages do at a size at which there is something to see, and the tests with less.
LESS = {"web_search(400,": "web_search(40,", "n_trees=100": "n_trees=5", "rials=3": "rials=1", "rials 3": "rials 1"}


def smaller(part: rankwright.RankingDataset, n_queries: int) -> rankwright.RankingDataset:
    """The first queries of a part of the quickstart's data, and those that pages name."""
    ids = part.qid[part.groups.offsets[:-1]].tolist()
    named = [ids.index(query) for query in NAMED if query in ids]
    return part.take_queries(sorted({*range(n_queries - len(named)), *named}))


def with_less(text: str) -> str:
    for whole, less in LESS.items():
        text = text.replace(whole, less)
    return text


def test_no_command_stands_where_it_is_not_run():
    indented = re.compile(r"^(?: {4}|\t)(?:\$ )?rankwright ", re.MULTILINE)
    assert [page.name for page in [README, TOUR, *PAGES] if indented.search(page.read_text())] == []


SEND_FILES = getattr(socket, "send_fds", None)  # what engines of several processes need
ABOUT_PROCESSES = ROOT / "docs" / "scale.md"


@pytest.fixture(scope="module", autouse=True)
def tasks_run_in_this_process() -> Iterator[None]:
    """Tasks run as on systems that lack this function: each process that is started takes a second."""
    with pytest.MonkeyPatch.context() as patched:
        patched.delattr(socket, "send_fds", raising=False)
        yield


@pytest.fixture(scope="module")
def pages_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pages")
    whole = dict(zip(FEWER, rankwright.synthetic.quickstart(), strict=True))
    parts = {name: smaller(part, FEWER[name]) for name, part in whole.items()}
    model = rankwright.LambdaMART(n_trees=5, max_leaves=7).fit(parts["train"], valid=parts["valid"])
    found = {model.name: rankwright.evaluate(model, parts["test"])}
    write_quickstart(Quickstart(parts, found, model, {}), folder)
    return folder


@pytest.mark.filterwarnings(
    "ignore::rankwright.debiasing.held_out_orders.WorseThanShownWarning"
)  # clicks.md tells of it
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_examples_run(page, pages_folder, monkeypatch):
    monkeypatch.chdir(pages_folder)
    if page == ABOUT_PROCESSES and SEND_FILES is not None:
        monkeypatch.setattr(socket, "send_fds", SEND_FILES, raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    namespace: dict[str, object] = {}
    for language, block in BLOCK.findall(with_less(page.read_text())):
        if language == "python":
            exec(compile(block, str(page), "exec"), namespace)
        for arguments in commands_in(block) if language == "sh" else ():
            run_command(arguments, pages_folder, page)


def run_command(arguments: list[str], folder: Path, page: Path) -> str:
    """What the command prints; it must succeed. It runs in this process: to start another takes longer than most."""
    printed, errors = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    with (
        chdir(folder),
        patch.dict(os.environ, {"COLUMNS": "120"}),
        patch.object(sys, "argv", ["rankwright", *arguments]),
        redirect_stdout(printed),
        redirect_stderr(errors),
        pytest.raises(SystemExit) as ending,
    ):
        main()
    told, complaint = (stream.buffer.getvalue().decode() for stream in (printed, errors))
    assert not ending.value.code, f"{page.name}: rankwright {shlex.join(arguments)}: {complaint}"
    return str(told)


@pytest.fixture(scope="module")
def toured_folder(quickstart, tmp_path_factory):
    """What the quickstart writes, after the commands of README and tour; and what each command of the tour printed."""
    folder = tmp_path_factory.mktemp("quickstart")
    write_quickstart(quickstart, folder)
    for command in commands_of(README):
        run_command(command, folder, README)
    return folder, {shlex.join(command): run_command(command, folder, TOUR) for command in commands_of(TOUR)}


def printed_by(name: str, printed: dict[str, str]) -> str:
    """What the only command that begins like this printed."""
    (found,) = [text for command, text in printed.items() if command.startswith(name)]
    return found


def test_readme_and_page_tell_the_same_figures_of_scoring():
    page = (ROOT / "docs" / "coming_from.md").read_text()
    figures = {
        name: re.search(rf"^\| {name} \| (\S+) \|", page, re.MULTILINE)
        for name in ("ONNX Runtime", "LightGBM", "treelite")
    }
    onnx, lightgbm, treelite = (found[1] for found in figures.values() if found is not None)
    told = f"ONNX Runtime takes {onnx} times as long, LightGBM {lightgbm} times, treelite {treelite} times"
    assert told in README.read_text()


class TestReadmeAndTour:
    def test_the_readme_has_an_example_of_each_kind(self):
        assert blocks_of(README, "python")
        assert list(commands_of(README))

    def test_the_tour_shows_every_command(self):
        shown = {command[0] for command in commands_of(TOUR)}
        # Some need a log, texts or raters, which the quickstart does not write: docs/clicks.md, docs/texts.md and
        # docs/judgments.md show them. `search` and `serve` do not end: docs/serving.md shows it.
        elsewhere = {"quickstart", "reproduce", "clicks", "index", "features", "search", "serve"}
        assert shown == {name for name in COMMANDS if not name.startswith("judgments")} - elsewhere

    def test_commands_run_in_order_on_what_the_quickstart_wrote(self, toured_folder):
        folder, printed = toured_folder
        assert len(printed) > 10
        assert (folder / "ranked.csv").read_text().startswith("query,document,rank,score\n")

    def test_the_compressed_model_is_smaller(self, toured_folder):
        found = re.search(r"([\d.]+) times smaller", printed_by("compress", toured_folder[1]))
        assert found is not None
        assert float(found[1]) > 1.2

    def test_the_tuned_model_wins(self, toured_folder):
        sentence = " ".join(printed_by("compare", toured_folder[1]).split("\n\n")[-1].split())
        assert sentence.startswith(("tuned.rw is better than first.rw", "tuned.rw is ahead of first.rw")), sentence

    def test_conventions_differ_by_points_as_the_readme_says(self, toured_folder):
        rows = printed_by("evaluate test.txt --scores", toured_folder[1]).splitlines()
        values = [float(row.split()[1]) for row in rows if re.fullmatch(r"\S+ +0\.\d{4}", row)]
        assert len(values) > 5
        assert max(values) - min(values) > 0.01

    def test_the_python_of_the_readme_runs_there_too(self, toured_folder, monkeypatch):
        monkeypatch.chdir(toured_folder[0])
        namespace: dict[str, object] = {}
        for block in blocks_of(README, "python"):
            exec(compile(block, str(README), "exec"), namespace)


SOURCE = Path(rankwright.__file__).parent
# A module without an example cannot fail.
MODULES = sorted(
    ".".join(("rankwright", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
    for path in SOURCE.rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


def test_there_are_examples_in_docstrings():
    assert len(MODULES) > 10


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples_run(name):
    module = import_module(name)
    assert doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed == 0

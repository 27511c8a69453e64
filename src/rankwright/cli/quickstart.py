"""`rankwright quickstart`: the main job on a small data set that is made for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, flag, opt
from rankwright.cli.output import echo, print_json, print_tables, progress, tell
from rankwright.cli.program import NAME, program
from rankwright.errors import MissingExtraError, require
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.experiments.quickstart import Quickstart

EXAMPLES = (
    "Example: rankwright quickstart --out out/quickstart\n\nExample: rankwright quickstart --search --out out/search"
)
SEARCH_FOLDER = "out/search"


def quickstart(
    out: str | None = opt(
        "The folder to write the data, the model and the results to.", "DIR", writes=output_kinds.quickstarted
    ),
    search: bool = flag(
        "--search",
        f"Index the documentation of Python's standard library instead, train a ranker that searches it, and compare "
        f"it with tuned BM25F. Default of --out: {SEARCH_FOLDER}.",
    ),
    as_json: bool = AS_JSON,
) -> None:
    """Make a small data set, train LambdaMART and nets on it, and compare them with single features.

    --search does the same for texts that every Python brings along, and prints the command that opens a page to search
    them, compare, and judge.
    """
    if search:
        _search(Path(out or SEARCH_FOLDER), as_json=as_json)
        return
    from rankwright.experiments.quickstart import run_quickstart, write_quickstart

    with progress():
        result = run_quickstart()
    shown, folder = None, None if out is None else Path(out)
    if folder is not None:
        files = write_quickstart(result, folder)
        tell(f"wrote {', '.join(path.name for path in files)} to {folder}")
        shown = _report_in(folder, result)
    if as_json:
        print_json(result.to_dict() | {"report": None if shown is None else str(shown)})
        return
    found = [] if shown is None else [f"\nThe report, which opens in any browser: {shown}"]
    echo("\n".join([*report(result), *found, *what_next(folder)]))


def _search(folder: Path, *, as_json: bool) -> None:
    """The quickstart of searching."""
    from rankwright.experiments.search_quickstart import RANKER, is_free_or_own, run_search_quickstart

    require(is_free_or_own(folder), f"{folder} has files of something else: name another folder with --out")
    with progress():
        result = run_search_quickstart(folder)
    if as_json:
        print_json(result.to_dict())
        return
    parts = f"{result.n_queries['train']:,} queries to learn from, {result.n_queries['test']:,} to compare on"
    echo(f"The documentation of Python's standard library: {result.n_documents:,} documents; {parts}\n")
    print_tables([result.comparison.shown()], False, err=False)
    echo(f"\nSearch, compare {RANKER} with BM25F, and judge:\n  {result.page_command.replace(NAME, program(), 1)}")


def _report_in(folder: Path, result: Quickstart) -> Path | None:
    """Write the report and return its path; None, after a line on stderr, where pages cannot be made here."""
    from rankwright.experiments.quickstart import write_quickstart_report

    try:
        with progress():
            return write_quickstart_report(result, folder)
    except MissingExtraError as error:
        tell(f"there is no report: {error}")
        return None


def report(result: Quickstart) -> Iterator[str]:
    """The lines that show a person the result."""
    parts = [
        f"{name} {counted(part.n_queries, 'query')}, {counted(part.n_docs, 'document')}"
        for name, part in result.parts.items()
    ]
    yield f"Synthetic web-search data, {result.parts['test'].n_features} features: {'; '.join(parts)}"
    some = next(iter(result.evaluations.values()))
    yield f"On test, {some.headline}"
    yield ""
    width = max(map(len, result.evaluations))
    metrics = list(some.results)
    yield " " * width + "".join(f"  {metric:>8}{'95 % interval':>18}" for metric in metrics)
    for ranker, evaluation in result.evaluations.items():
        cells = [
            f"  {one.mean:8.4f}{one.interval.low:9.4f} – {one.interval.high:.4f}" for one in evaluation.results.values()
        ]
        yield f"{ranker:{width}}" + "".join(cells)


def what_next(folder: Path | None) -> Iterator[str]:
    """Commands to try on the files that were written, if any were."""
    if folder is not None:
        yield "\nTry next:"
        for command, purpose in NEXT:
            yield f"  {command.format(folder=folder).replace(NAME, program(), 1)}  # {purpose}"


# On the files that were just written; `{folder}` is where they are.
NEXT = (
    ("rankwright inspect {folder}/model.rw --data {folder}/test.txt", "which features matter"),
    ("rankwright score {folder}/model.rw {folder}/test.txt --top 3", "the best documents of each query"),
    ("rankwright evaluate {folder}/test.txt --model {folder}/model.rw --convention all", "as other tools count"),
    ("rankwright train {folder}/train.txt --valid {folder}/valid.txt --out mine.rw", "a model of your own"),
    ("rankwright auto {folder}/train.txt --budget 2m --out best.rw", "the best blend of many rankers"),
    (
        "rankwright compare {folder}/test.txt --model {folder}/model.rw --model mine.rw --report mine.html",
        "which is better, and how sure that is",
    ),
)

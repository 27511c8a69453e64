"""`rankwright reproduce`: the experiments of the papers, run again."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, CLUSTER, arg, flag, opt
from rankwright.cli.output import echo, print_json, print_table, print_text, progress, tell
from rankwright.errors import require

EXAMPLES = (
    "Example: rankwright reproduce --list\n\n"
    "Example: rankwright reproduce all --quick\n\n"
    "Example: rankwright reproduce sortnet-table1 blmart-tables --data LETOR --out results\n\n"
    "Example: rankwright reproduce blmart-tuning --data MQ2007 --out results --record records --so-far"
)
OUT, QUICK_OUT = "reproduced", "reproduced-quick"


def reproduce(
    names: list[str] | None = arg("Experiments by name, or all; --list shows the names.", "NAME", default=None),
    list_: bool = flag("--list", "List the experiments and what each computes."),
    quick: bool = flag("--quick", "Smaller data and fewer trees: minutes in place of hours."),
    data: str | None = opt(
        "A folder with LETOR, MSLR, Yahoo or Istella data, or clicks with labels. Default: synthetic data.", "DIR"
    ),
    out: str | None = opt(
        f"The folder that keeps results. Default: {OUT}, or {QUICK_OUT} with --quick.",
        "FOLDER",
        writes=output_kinds.kept_folder,
    ),
    record: str | None = opt(
        "A folder of records: finished parts in small files, which another machine can continue from.",
        "FOLDER",
        writes=output_kinds.kept_folder,
    ),
    so_far: bool = flag("--so-far", "Run nothing: conclude from the parts that are done."),
    seed: int = opt("The same seed gives the same figures.", default=0),
    cluster: str | None = CLUSTER,
    workers: int | None = opt("How many parts to run at a time. Default: one per core."),
    as_json: bool = AS_JSON,
) -> None:
    """Run the experiments of the papers again and print their figures beside the papers'.

    Each experiment is a table or a figure of a paper. Results are kept in the folder --out as soon as they are known:
    after a run that was killed, the same command continues it. With --record, it can be continued on another machine:
    finished parts are kept in one small file for each experiment and data, and are taken from there. --data names a
    folder with data sets, which are recognised by their content; without it, synthetic sets that resemble the papers'
    are used, and the output says so.
    """
    if list_:
        _list(as_json)
        return
    from rankwright.reproduce.experiment import FULL, QUICK, Setup
    from rankwright.reproduce.experiment_table import experiments_named
    from rankwright.reproduce.running import reproduce as run
    from rankwright.reproduce.sources import find_sources

    require(bool(names), "name an experiment, or all; rankwright reproduce --list shows the names")
    experiments_named(names or ())  # a wrong name is told before any data is read
    with progress():
        given = () if data is None else find_sources(data)
        setup = Setup(QUICK if quick else FULL, seed, given)
        folder = out or (QUICK_OUT if quick else OUT)
        found = run(
            names or (), setup, out=folder, record=record, so_far=so_far, cluster=cluster, workers=workers, tell=tell
        )
    documents = [one.to_dict() for one in found]
    tell(f"results are in {Path(folder)}")
    print_json({"experiments": documents}) if as_json else _show(documents)


def _list(as_json: bool) -> None:
    from rankwright.reproduce.experiment_table import EXPERIMENTS, experiment_named, summary_of

    rows = [[name, experiment_named(name).paper, summary_of(name)] for name in EXPERIMENTS]
    if as_json:
        told = [dict(zip(("name", "paper", "summary"), row, strict=True)) for row in rows]
        print_json({"experiments": told})
    else:
        print_table(["experiment", "paper", "what it computes"], rows)


def _show(documents: list[dict[str, object]]) -> None:
    from rankwright.reproduce.outcome import shown, verdict_table

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for document in documents:
        echo(f"{document['experiment']}: {document['title']}\n")
        echo(shown(document).text(width) + "\n")
    if len(documents) > 1:
        table = verdict_table(documents)
        print_table(table.columns, table.rows, numbers=table.numbers)
        print_text(table.notes[0])

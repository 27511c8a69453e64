"""`rankwright reproduce`: the experiment of a paper, on your data."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.options import AsJson, Threads, arg, opt
from rankwright.cli.talk.output import print_json, print_table
from rankwright.cli.talk.voice import tell, working
from rankwright.errors import UnknownNameError, require

if TYPE_CHECKING:
    from rankwright.experiments.sortnet_table1 import Table1

EXAMPLES = (
    "Example: rankwright reproduce sortnet-table1 --data MQ2008\n\n"
    "Example: rankwright reproduce blmart-clicks --data simulated\n\n"
    "Example: rankwright reproduce blmart-clicks --data log.jsonl.gz --labels labels.qrels.gz"
)
SIMULATED = "simulated"
EXPERIMENTS = ("sortnet-table1", "blmart-clicks")


def reproduce(
    experiment: Annotated[str, arg(f"One of: {', '.join(EXPERIMENTS)}.", "EXPERIMENT")],
    data: Annotated[
        str,
        opt("A LETOR folder: Fold1, Fold2, … with files in each. For blmart-clicks: a log, or simulated.", "DIR"),
    ],
    labels: Annotated[str | None, opt("For blmart-clicks: labels of the log's documents, as qrels.", "F")] = None,
    convention: Annotated[str, opt("The convention that metrics are computed by.")] = "letor",
    settings: Annotated[
        list[str] | None, opt("A further setting of the ranker; may be repeated.", "KEY=VALUE", name="--set")
    ] = None,
    seed: Annotated[int, opt("The same seed gives the same table.")] = 0,
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Run the experiment of a paper again and print its table.

    sortnet-table1: SortNet with 10, 20 and 30 hidden neurons. The table shows NDCG@1-10, P@1-10 and MAP on the test
    documents, averaged over the folds; the net of each fold is chosen by MAP on its validation documents.

    blmart-clicks: the slides' example of click-through data. With --data simulated, BL-MART is trained on simulated
    clicks in several ways; with a log and --labels, the preferences of its clicks are compared with the labels.
    """
    from rankwright.experiments.sortnet_table1 import sortnet_table1
    from rankwright.settings.text import values_of

    if experiment not in EXPERIMENTS:
        raise UnknownNameError("experiment", experiment, known=EXPERIMENTS)
    if experiment == "blmart-clicks":
        with working():
            _clicks(data, labels, seed, threads, as_json)
        return
    with working():
        table = sortnet_table1(
            data,
            convention=convention,
            seed=seed,
            threads=threads,
            settings=values_of(settings or ()),
            tell=tell,
        )
    print_json(table.to_dict()) if as_json else _show(table)


def _clicks(data: str, labels: str | None, seed: int, threads: int | None, as_json: bool) -> None:
    from rankwright.experiments.blmart_clicks import on_log, on_simulated_clicks

    require((data == SIMULATED) == (labels is None), "a click log as --data goes with --labels")
    on_clicks = partial(on_simulated_clicks, seed=seed, threads=threads, tell=tell)
    table = on_clicks() if labels is None else on_log(data, labels)
    if as_json:
        print_json(table.to_dict())
        return
    typer.echo(f"clicks at 2, 5 and 7: {' '.join(f'({better},{worse})' for better, worse in table.pairs)}\n")
    columns = list(next(iter(table.rows.values())))
    rows = [
        [name, *(f"{value:,.0f}" if column == "pairs" else f"{value:.4f}" for column, value in row.items())]
        for name, row in table.rows.items()
    ]
    print_table([table.title, *columns], rows, numbers=columns)
    typer.echo(f"\n{table.note}")


def _show(table: Table1) -> None:
    from rankwright.experiments.sortnet_table1 import DEPTHS

    means = table.means()
    columns = [f"n={n}" for n in DEPTHS]
    for title, name in (("NDCG@n", "ndcg"), ("P@n", "p")):
        rows = [[f"{row} hidden" if row.isdecimal() else row, *(f"{found[f'{name}@{n}']:.4f}" for n in DEPTHS)]
                for row, found in means.items()]  # fmt: skip
        print_table([title, *columns], rows, numbers=columns)
        typer.echo()
    rows = [[f"{row} hidden" if row.isdecimal() else row, f"{found['map']:.4f}"] for row, found in means.items()]
    print_table(["", "MAP"], rows, numbers=["MAP"])
    chosen = ", ".join(f"{result.fold}: {hidden}" for hidden, result in table.chosen())
    typer.echo(f"\nconvention {table.convention}; hidden neurons chosen by validation MAP: {chosen}")

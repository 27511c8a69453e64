"""`rankwright reproduce`: the experiment of a paper, on your data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rankwright.cli.options import AsJson, Threads, arg, opt
from rankwright.cli.output import print_json, print_table
from rankwright.cli.voice import tell, working
from rankwright.errors import UnknownNameError

if TYPE_CHECKING:
    from rankwright.experiments.sortnet_table1 import Table1

EXAMPLES = "Example: rankwright reproduce sortnet-table1 --data MQ2008"
EXPERIMENTS = ("sortnet-table1",)


def reproduce(
    experiment: Annotated[str, arg(f"One of: {', '.join(EXPERIMENTS)}.", "EXPERIMENT")],
    data: Annotated[str, opt("A LETOR folder: Fold1, Fold2, … with train, vali and test files in each.", "DIR")],
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
    """
    from rankwright.experiments.sortnet_table1 import sortnet_table1
    from rankwright.settings.text import values_of

    if experiment not in EXPERIMENTS:
        raise UnknownNameError("experiment", experiment, known=EXPERIMENTS)
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

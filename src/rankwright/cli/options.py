"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import typer

from rankwright.errors import require


def opt(
    help: str,
    metavar: str | None = None,
    panel: str | None = None,
    *,
    default: Any = None,
    name: str | None = None,
    names: Sequence[str] = (),
    **more: Any,
) -> Any:
    """An option; `panel` is the box of the help that shows it, and `name` or `names` are its flags.

    Without them the flag is the name of the parameter. The option is required where its default is an ellipsis.
    """
    flags = names if name is None else (name,)
    return typer.Option(default, *flags, help=help, metavar=metavar, rich_help_panel=panel, **more)


def flag(name: str, help: str, panel: str | None = None) -> Any:
    """An option without a value, which is off unless it is given."""
    return opt(help, panel=panel, name=name, default=False)


def arg(help: str, metavar: str, *, default: Any = ...) -> Any:
    """An argument, which is required unless it has a default."""
    return typer.Argument(default, help=help, metavar=metavar)


AS_JSON = flag("--json", "Print one JSON document.")
DATA_FORMAT = opt("svmlight, csv, tsv or parquet. Default: what the file looks like.", "FORMAT")
PER_QUERY = opt("Write a table with one row per query: by tabs, or by commas for .csv. - is standard output.", "F")
CLUSTER = opt("auto (Ray, started here) or the address of a Ray cluster. Default: processes here.")
THREADS = opt("How many threads to use. Default: one per core.")
METRICS = opt("Names separated by commas.")
RANKER = opt("The ranker's name; `rankwright list rankers` shows all names.", default="lambdamart")
SETTINGS = opt("A setting of the ranker; may be repeated.", "KEY=VALUE", name="--set")
SELECT = opt("The metric to choose by, such as ndcg@10.")
MODEL_SEED = opt("The same seed gives the same model.")
TEST_FILE = opt("Documents to measure the model on.", "F")
ALLOW_EMPTY = flag(
    "--allow-empty", "Write a model even if there is nothing to learn from, such as labels that are all equal."
)
REPORT_FILE = opt("Write a report: one page of HTML, which opens anywhere and needs no network.", "FILE.html")
FOLDS_DATA = arg("Documents with labels, or a LETOR folder: Fold1, Fold2, …", "DATA")
FOLDS = opt("How many folds to cut. Default: 5, or those of the LETOR folder.")
FOLD_SEEDS = opt("How often to train on each fold, each time with a new seed.", default=1)


def metric_names(metrics: str | None) -> list[str] | None:
    """The names in the text of `--metrics`, at least one and all of them known; None where it was not given."""
    if metrics is None:
        return None
    from rankwright.metrics.metric_table import parse_metric, split_metrics

    names = split_metrics(metrics)
    require(bool(names), "--metrics names no metric")
    for name in names:
        parse_metric(name)  # before any data is read
    return names


def separated(text: str) -> list[str]:
    """The parts of a text that are separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


def given(**options: Any) -> dict[str, Any]:
    """The options that have a value; what has none keeps its default."""
    return {name: value for name, value in options.items() if value is not None}

"""`rankwright list`: the tables of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from rankwright.cli.options import AsJson
from rankwright.cli.output import print_json, print_table
from rankwright.errors import UnknownNameError

EXAMPLES = "Example: rankwright list metrics"


def list_names(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="Which names: rankers, metrics, conventions, objectives, strategies or spaces."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """List the names that other commands take."""
    if what not in LISTINGS:
        raise UnknownNameError("list", what, known=LISTINGS)
    rows = LISTINGS[what]()
    if as_json:
        print_json({what: rows})
    else:
        columns = [column for column in rows[0] if column not in ("rules", "settings")]
        print_table(columns, [[str(row[column]) for column in columns] for row in rows])


def _rankers() -> list[dict[str, Any]]:
    from rankwright.catalog.rankers import RANKERS

    return [
        {"name": name, "summary": (kind.__doc__ or "").splitlines()[0], "settings": kind().get_params()}
        for name, kind in RANKERS.items()
    ]


def _metrics() -> list[dict[str, Any]]:
    from rankwright.metrics.registry import METRICS

    return [
        {
            "name": name,
            "cutoff": family.cutoff,
            "better": "higher" if family.higher_is_better else "lower",
            "summary": family.summary,
        }
        for name, family in METRICS.items()
    ]


def _conventions() -> list[dict[str, Any]]:
    from rankwright.metrics.convention import CONVENTIONS, SUMMARIES

    return [
        {"name": name, "summary": SUMMARIES[name], "rules": convention.rules()}
        for name, convention in CONVENTIONS.items()
    ]


def _objectives() -> list[dict[str, Any]]:
    from rankwright.objectives import OBJECTIVES

    return [
        {"name": name, "metric": ":metric" if family.takes_metric else "", "summary": family.summary}
        for name, family in OBJECTIVES.items()
    ]


def _strategies() -> list[dict[str, Any]]:
    from rankwright.tuning.strategies.registry import STRATEGIES

    return [{"name": name, "summary": (search.__doc__ or "").splitlines()[0]} for name, search in STRATEGIES.items()]


def _spaces() -> list[dict[str, Any]]:
    from rankwright.tuning.grids import NAMED_SPACES

    return [{"name": name, "summary": found.summary} for name, found in NAMED_SPACES.items()]


# Each gives the rows of a table, every row with a name; `rules` and `settings` show in JSON alone.
LISTINGS: Mapping[str, Callable[[], list[dict[str, Any]]]] = {
    "rankers": _rankers,
    "metrics": _metrics,
    "conventions": _conventions,
    "objectives": _objectives,
    "strategies": _strategies,
    "spaces": _spaces,
}

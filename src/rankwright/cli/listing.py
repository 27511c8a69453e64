"""`rankwright list`: the tables of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankwright.cli.options import AS_JSON, arg
from rankwright.cli.output import print_json, print_table
from rankwright.errors import UnknownNameError, require

EXAMPLES = "Example: rankwright list metrics\n\nExample: rankwright list settings lambdamart"
IN_JSON_ALONE = ("rules", "settings", "search")  # columns too wide for a terminal


def listing(
    what: str = arg(
        "Which names: rankers, settings, metrics, conventions, objectives, strategies, spaces, targets or sources.",
        "WHAT",
    ),
    ranker: str | None = arg("With settings: the ranker that has them.", "RANKER", default=None),
    as_json: bool = AS_JSON,
) -> None:
    """List the names that other commands take."""
    require((what == SETTINGS) == (ranker is not None), "name a ranker with settings, as in: list settings lambdamart")
    if ranker is not None:
        from rankwright.catalog.kinds import kind_named
        from rankwright.settings.text import setting_rows

        rows = setting_rows(kind_named(ranker).settings)
    elif what in LISTINGS:
        rows = LISTINGS[what]()
    else:
        raise UnknownNameError("list", what, known=[*LISTINGS, SETTINGS])
    if as_json:
        print_json({what: rows})
    else:
        columns = [column for column in rows[0] if column not in IN_JSON_ALONE]
        print_table(columns, [[str(row[column]) for column in columns] for row in rows])


def _rankers() -> list[dict[str, Any]]:
    from rankwright.catalog.kinds import KINDS

    rows = []
    for name, kind in KINDS.items():
        defaults = {setting: one.default for setting, one in sorted(kind.settings.settings().items())}
        rows.append({"name": name, "summary": kind.settings.summary, "settings": defaults})
    return rows


def _metrics() -> list[dict[str, Any]]:
    from rankwright.metrics.metric_table import ALL_METRICS

    better = {True: "higher", False: "lower"}
    return [
        {"name": name, "cutoff": one.cutoff, "better": better[one.higher_is_better], "summary": one.summary}
        for name, one in ALL_METRICS.items()
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
    from rankwright.tuning.strategies import STRATEGIES

    return [{"name": name, "summary": (search.__doc__ or "").splitlines()[0]} for name, search in STRATEGIES.items()]


def _spaces() -> list[dict[str, Any]]:
    from rankwright.tuning.search_spaces import NAMED_SPACES

    return [{"name": name, "summary": found.summary} for name, found in NAMED_SPACES.items()]


def _targets() -> list[dict[str, Any]]:
    from rankwright.exchange.target_table import TARGETS

    return [
        {"name": name, "takes": ", ".join(target.takes), "summary": target.summary} for name, target in TARGETS.items()
    ]


def _sources() -> list[dict[str, Any]]:
    from rankwright.imports.format_table import LIVE, SOURCES

    files = [{"name": source.name, "summary": "a file, told by its content"} for source in SOURCES]
    return files + [{"name": package, "summary": "a live model, given to rankwright.load"} for package in LIVE]


# Each gives the rows of a table, every row with a name.
SETTINGS = "settings"
LISTINGS: Mapping[str, Callable[[], list[dict[str, Any]]]] = {
    "rankers": _rankers,
    "metrics": _metrics,
    "conventions": _conventions,
    "objectives": _objectives,
    "strategies": _strategies,
    "spaces": _spaces,
    "targets": _targets,
    "sources": _sources,
}

"""Options that say how data files are read: the same for every command that reads them, from flags or from a file."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import Any

from rankwright.cli.options import flag, opt
from rankwright.errors import FileFormatError, Parameter, RankwrightError, UnknownNameError

DELIMITERS = {"comma": ",", "tab": "\t", "semicolon": ";"}
COLUMNS, SVMLIGHT = "Columns of CSV, TSV and Parquet", "SVMlight (LETOR) text"
ROLES = ("query", "label", "document", "query_weight", "document_weight", "position", "propensity")


def _column(part: str) -> tuple[Any, Any]:
    return _text(f"The column with {part}.", COLUMNS, "NAME")


def _text(help: str, panel: str, metavar: str | None = None) -> tuple[Any, Any]:
    return str | None, opt(help, metavar, panel)


# Each option's name, its type, and the option itself; all of them may be left out.
OPTIONS: Mapping[str, tuple[Any, Any]] = {
    "query": _column("the query id"),
    "label": _column("the label"),
    "document": _column("the document id"),
    "query_weight": _column("the query's weight"),
    "document_weight": _column("the document's weight"),
    "position": _column("the rank, from 0, at which the document was shown"),
    "propensity": _column("how likely the document was examined where it was shown, for labels that are clicks"),
    "features": _text("The features, separated by commas; other columns are left out.", COLUMNS),
    "drop": _text("The columns to leave out, separated by commas.", COLUMNS),
    "categories": _text("The text columns that are categories, separated by commas; only trees use them.", COLUMNS),
    "delimiter": _text("What separates the cells: comma, tab or semicolon.", COLUMNS),
    "names": _text("The columns of a CSV or TSV without a header, separated by commas.", COLUMNS),
    "description": _text("A .cd file of CatBoost, for CSV and TSV without a header.", COLUMNS),
    "absent": _text(
        "The value of a feature that a line does not name: zero or missing. Such values are left out when writing.",
        SVMLIGHT,
    ),
    "n_features": (int | None, opt("How many features there are.", panel=SVMLIGHT)),
    "feature_names": _text(
        "A file with the name of each feature, one a line. Default: feature_names.txt beside the data, if there is "
        "one; none takes no names.",
        SVMLIGHT,
        "FILE",
    ),
    "group": _text("A file with the number of documents of each query, where lines have no qid.", SVMLIGHT),
    "index_base": (int | None, opt("The number of the first feature, 1 (the default) or 0.", panel=SVMLIGHT)),
    "allow_infinity": (bool, flag("--allow-infinity", "Accept infinite features.", SVMLIGHT)),
    "config": _text(
        "A TOML file with these options, at its top or in its table tool.rankwright; the command line wins.",
        COLUMNS,
        "FILE",
    ),
}
IN_FILES = [name for name in OPTIONS if name != "config"]
SEPARATED = ("features", "drop", "categories", "names")  # lists, separated by commas
Command = Callable[..., None]


def reads_data(*, query: str = "query") -> Callable[[Command], Command]:
    """A command that takes all these options; it gets those given as `reading`, as `rankwright.read` takes them.

    Where `--query` itself has another meaning, `query` is the parameter that names the query's column.
    """

    def with_options(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        name_of = {query if name == "query" else name: name for name in OPTIONS}
        added = [
            inspect.Parameter(new, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)
            for new, (kind, option) in zip(name_of, OPTIONS.values(), strict=True)
        ]

        @wraps(command)
        def run(**given: Any) -> None:
            chosen = {name: given.pop(new) for new, name in name_of.items()}
            try:
                command(**given, reading=reading_options(chosen))
            except RankwrightError as error:
                if error.parameter == "query":  # which this command may call otherwise
                    error.args = (error.message.shown(lambda one: replace(one, name=query)),)
                raise

        kept = [one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in own if one.name != "reading"]
        run.__signature__ = inspect.Signature([*kept, *added])  # type: ignore[attr-defined]
        run.__annotations__ = {one.name: one.annotation for one in [*kept, *added]}
        return run

    return with_options


def reading_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `rankwright.read` that the command line and its `--config` file give."""
    config = given.get("config")
    chosen = {} if config is None else _options_in(config)
    chosen |= {
        name: value for name, value in given.items() if name != "config" and value is not None and value is not False
    }
    roles = {role: str(chosen.pop(role)) for role in ROLES if role in chosen}
    for name in SEPARATED:
        if isinstance(chosen.get(name), str):
            chosen[name] = [part.strip() for part in chosen[name].split(",")]
    if "delimiter" in chosen:
        chosen["delimiter"] = DELIMITERS.get(chosen["delimiter"], chosen["delimiter"])
    if roles:
        from rankwright.data.columns import Columns

        chosen["columns"] = Columns(**roles)
    return chosen


def _options_in(path: str) -> dict[str, Any]:
    """The options in a TOML file: at its top, or in its table `tool.rankwright`, as in pyproject.toml."""
    try:
        document = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise FileFormatError(path, f"is no TOML: {error}") from None
    tool = document.get("tool")
    table = tool.get("rankwright", {}) if isinstance(tool, dict) else document.get("rankwright", document)
    found = {str(name).replace("-", "_"): value for name, value in table.items()}
    for name, value in found.items():
        if name not in IN_FILES:
            raise UnknownNameError(
                f"option in {path}", name.replace("_", "-"), [one.replace("_", "-") for one in IN_FILES]
            )
        if isinstance(value, dict) or (isinstance(value, list) and name not in SEPARATED):
            raise FileFormatError(path, f"{name} must be a text, a number or true, got {value!r}")
    return found


COMMON = "columns"  # Python's parameter for what many options say
OPTION_OF = {"labels": "label", "qid": "query"}


def as_option(parameter: Parameter) -> str:
    """The option of the command line for a parameter of Python, with the value to give."""
    if parameter.name == COMMON:
        return "--query, --label and the like"
    option = f"--{OPTION_OF.get(parameter.name, parameter.name).replace('_', '-')}"
    if parameter.value is None or parameter.value is True:
        return option
    value = parameter.value
    return f"{option} {','.join(value) if isinstance(value, list) else value}"

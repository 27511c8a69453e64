"""Options that several commands share, and those that say how data files are read, from flags or from a file."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import typer

from rankwright.cli import output_kinds
from rankwright.cli.output_kinds import Writes
from rankwright.errors import (
    FileFormatError,
    Parameter,
    RankwrightError,
    SettingError,
    UnknownNameError,
    comma_hint,
    require,
)

if TYPE_CHECKING:
    from rankwright.catalog.training import TextSource


def opt(
    help: str,
    metavar: str | None = None,
    panel: str | None = None,
    *,
    default: Any = None,
    name: str = "",
    writes: Writes | None = None,
    **more: Any,
) -> Any:
    """An option; `panel` is the box of the help that shows it, and `name` is its flag, else that of the parameter.

    The option is required where its default is an ellipsis. If it names what is written, `writes` says what that is:
    it is checked before the command runs. All other options may name inputs, which no output replaces.
    """
    flags = (name,) if name else ()
    made: Any = typer.Option(default, *flags, help=help, metavar=metavar, rich_help_panel=panel, **more)
    made.writes = writes
    return made


def flag(name: str, help: str, panel: str | None = None) -> Any:
    """An option without a value, which is off unless it is given."""
    return opt(help, panel=panel, name=name, default=False)


def arg(help: str, metavar: str, *, default: Any = ..., writes: Writes | None = None) -> Any:
    """An argument, which is required unless it has a default; `writes` is as in `opt`."""
    made: Any = typer.Argument(default, help=help, metavar=metavar)
    made.writes = writes
    return made


# What the help shows for options that name inputs.
WORDS = "QUERY"  # the argument that names no file
OF_INPUTS = ("F", "FILE", "INDEX", "DIR", "MODEL", "TRAIN", "DATA", "[NAME=]MODEL", "[NAME=]FILE", "[NAME=]RUN")


def check_input_named(param: Any, value: Any) -> None:
    """Raise where the name of an input is empty, as a variable of the shell that is not set makes it.

    To the system, an empty name is the folder in which the command runs.
    """
    is_place = param.param_type_name == "argument" and param.metavar != WORDS
    writes = getattr(param.type_descriptor.parameter_info, "writes", None)
    if (
        (is_place or param.metavar in OF_INPUTS)
        and writes is None
        and "" in ([value] if isinstance(value, str) else value)
    ):
        name = param.metavar if is_place else param.opts[0]
        raise SettingError(f"{name} is empty: name a file" + ("" if param.required else f", or leave {name} out"))


def choice_given(value: str, choices: Any, option: str) -> str:
    """One of the values that an option may have, each a text."""
    require(value in get_args(choices), f"{option} takes {' or '.join(get_args(choices))}, got {value!r}")
    return value


def number_given(value: Any, kind: type[int | float], option: str, low: Any = None, high: Any = None) -> Any:
    """The number that was given to an option; `low` and `high` are its bounds, where it has any."""
    wanted = "a whole number" if kind is int else "a number"
    try:
        number = kind(value)
    except ValueError:
        hint = comma_hint(value) if kind is float else ""
        raise SettingError(f"{option} takes {wanted}, got {value!r}{hint}") from None
    require(low is None or number >= low, f"{option} must be {low} or more, got {value}")
    require(high is None or number <= high, f"{option} must be {high} or less, got {value}")
    return number


AS_JSON = flag("--json", "Print one JSON document.")
DATA_FORMAT = opt("svmlight, csv, tsv or parquet. Default: what the file looks like.", "FORMAT")
PER_QUERY = opt(
    "Write a table with one row per query: by tabs, or by commas for .csv. - is standard output.",
    "F",
    writes=output_kinds.per_query,
)
OF_TEXTS = "Features of texts"
INDEX = opt("The index of the documents: features of models that DATA lacks are computed from it.", "INDEX", OF_TEXTS)
QUERIES = opt("The queries of DATA with their texts; goes with --index.", "F", OF_TEXTS)
CLUSTER = opt("auto (Ray, started here) or the address of a Ray cluster. Default: processes here.")
THREADS = opt("How many threads to use. Default: one per core.")
METRICS = opt("Names separated by commas.")
RANKER = opt("The ranker's name; `rankwright list rankers` shows all names.", default="lambdamart")
SETTINGS = opt(
    "A setting of the ranker; may be repeated. `rankwright list settings RANKER` shows them all.",
    "KEY=VALUE",
    name="--set",
)
SELECT = opt("The metric to choose by, such as ndcg@10.")
MODEL_SEED = opt("The same seed gives the same model.")
TEST_FILE = opt("Documents to measure the model on.", "F")
ALLOW_EMPTY = flag(
    "--allow-empty", "Write a model even if there is nothing to learn from, such as labels that are all equal."
)
REPORT_FILE = opt(
    "Write a report: one page of HTML, which opens anywhere and needs no network.",
    "FILE.html",
    writes=output_kinds.page,
)
TITLE = opt("The column with the documents' titles, which --report shows; it is no feature.", "NAME")
TEXT = opt("The column with the queries' texts, which --report shows; it is no feature.", "NAME")
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


def text_source(index: str | None, queries: str | None) -> TextSource | None:
    """Where features of texts come from, if --index and --queries say so."""
    require((index is None) == (queries is None), "--index and --queries go together")
    if index is None or queries is None:
        return None
    from rankwright.catalog.training import TextSource

    return TextSource(index, queries)


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
        "A file with the name of each feature, one a line, the first for feature 1. Default: feature_names.txt beside "
        "the data, if there is one; none takes no names.",
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
        name_of = {query if name == "query" else name: name for name in OPTIONS}

        @wraps(command)
        def run(**given: Any) -> None:
            chosen = {name: given.pop(new) for new, name in name_of.items()}
            try:
                command(**given, reading=reading_options(chosen))
            except RankwrightError as error:
                if error.parameter == "query":  # which this command may call otherwise
                    error.args = (error.message.shown(lambda one: replace(one, name=query)),)
                raise

        return taking(run, {new: OPTIONS[name] for new, name in name_of.items()})

    return with_options


def taking(run: Command, added: Mapping[str, tuple[Any, Any]]) -> Command:
    """The command `run`, which wraps another, with options of its own by name: their types and themselves."""
    own = inspect.signature(run, eval_str=True).parameters
    options = {name: (one.annotation, one.default) for name, one in own.items() if name != "reading"} | dict(added)
    described: Any = run
    described.__signature__ = inspect.Signature(
        [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option, annotation=kind)
            for name, (kind, option) in options.items()
        ]
    )
    described.__annotations__ = {name: kind for name, (kind, _) in options.items()}
    return run


def reading_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """The options of `rankwright.read` that the command line and its `--config` file give."""
    config = given.get("config")
    chosen = {} if config is None else options_in(config)
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


def options_in(path: str) -> dict[str, Any]:
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


OPTION_OF = {"labels": "label", "qid": "query"}


def as_option(parameter: Parameter) -> str:
    """The option of the command line for a parameter of Python, with the value to give."""
    if parameter.name == "columns":  # Python's parameter for what many options say
        return "--query, --label and the like"
    option, value = f"--{OPTION_OF.get(parameter.name, parameter.name).replace('_', '-')}", parameter.value
    if value is None or value is True:
        return option
    return f"{option} {','.join(value) if isinstance(value, list) else value}"

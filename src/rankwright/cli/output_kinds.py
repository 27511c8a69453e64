"""What commands write: for each kind of output, which files it makes, and how an existing file of that kind begins.

A command's option says its kind with `writes`. What the kind says is asked before the command runs, so that a file of
another kind, such as a file of documents, is not replaced by mistake.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TypeAlias

from rankwright.errors import require

STANDARD = "-"  # standard output
TO_A_FILE = "a model goes to a file, not to standard output"
BEGINNING = 1 << 16  # bytes of an existing file that are looked at
NUMBER = r"[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?"
# How the first line of a text looks.
RUN = rf"\S+\s+\S+\s+\S+\s+\d+\s+{NUMBER}\s+\S+"
QRELS = rf"\S+\s+\S+\s+\S+\s+{NUMBER}"
PAIRS = rf"\d+\s+\d+(\s+{NUMBER}){{0,2}}"
STUDY_FILES = ("study.json", "table.csv", "samples.csv", "bags.csv", "trees.csv")
STUDY_REPORT_FILES = ("report.md", "report.json", "searches.csv", "best.csv", "importance.csv")
JUDGMENT_COLUMNS = ("query", "document", "rater", "kind", "grade", "other", "preference", "error", "time", "comment")
PREFERENCE_COLUMNS = ("query", "better", "worse", "probability", "votes")
NO_RUNS = (".csv", ".tsv", ".json", ".jsonl", ".parquet", ".pq", ".xlsx", ".xls", ".html")
# How exports begin, by the endings of their targets.
EXPORTS = {
    ".onnx": rb"\x08.{1,3}\n?rankwright",
    ".c": rb'#include "[^"\n]*\.h"\n',
    ".h": rb"/\* Scores documents with a ranker\.",
    ".txt": rb"tree\n",
    ".xml": rb"## LambdaMART",
    ".json": rb'\{"learner"|\[?\{ ?"nodeid"|\{"objective"|\{"class": ?"org\.apache\.solr|\{"name": ?"tree"|'
    rb'\{"[^"\n]*": ?-?[\d.]',
    ".ubj": rb"\{[LiUIl]",
    ".sample.csv": rb"expected_score(,|\n)",
}


@dataclass(frozen=True, slots=True)
class Output:
    """A file or folder that a command writes; `fits` tells whether an existing one is such and may be replaced."""

    path: str
    told: str  # what it is
    fits: Callable[[str], bool]
    is_folder: bool = False


Given: TypeAlias = Mapping[str, Any]  # the options of a command
Writes: TypeAlias = Callable[[str, Given], list[Output]]


def model(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """A model file."""
    from rankwright.container.file import begins_as_container

    require(path != STANDARD, TO_A_FILE)
    return [Output(path, "a model file", begins_as_container)]


def page(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """A report."""
    return [Output(path, "a page of HTML", _begins(rb"(?i)\s*<!doctype html"))]


def picture(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """A picture, by its ending."""
    from rankwright.report.picture import picture_kind

    begins = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF-"}[kind := picture_kind(path)]
    return [Output(path, f"a picture, {kind.upper()}", _begins(begins))]


def per_query(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """A table with a row for each query."""
    from rankwright.report.table_files import delimiter_of

    begins = rf"query{delimiter_of(path)}(documents|fold)\b"
    return [Output(path, "a table of queries", _begins(begins.encode()))]


def curve(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """The table of all models that a compression tried."""
    from rankwright.report.table_files import curve_kind

    begins = rb"means,trees," if curve_kind(path) == "csv" else rb'\{\s*"metric": "'
    return [Output(path, "a table of models", _begins(begins))]


def trec_run(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """A TREC run, which may have any ending but those of other formats."""
    ending = PurePath(path).suffix.lower()
    told = f"a TREC run is not written as {ending!r}; wanted .run, .trec, .txt or another ending that names no format"
    require(ending not in NO_RUNS, told)
    return [Output(path, "a TREC run", lambda old: _first_line_is(old, RUN))]


def scored(path: str, given: Given) -> list[Output]:
    """Scores, or the best documents of each query."""
    from rankwright.catalog.scoring import style_of
    from rankwright.rankers.top import RANKED

    style = style_of(path, given["style"], given["top"])
    fits: dict[str, Callable[[str], bool]] = {
        "scores": _is_numbers,
        "csv": lambda old: _first_line(old) == ",".join(RANKED),
        "tsv": lambda old: _first_line(old) == "\t".join(RANKED),
        "parquet": lambda old: _parquet_columns(old) == list(RANKED),
        "jsonl": lambda old: {"query", "document", "score"} <= _keys(_first_line(old)),
        "trec": lambda old: _first_line_is(old, RUN),
    }
    return [Output(path, "scores" if style == "scores" else f"scores as {style}", fits.get(style, lambda _: False))]


def converted(path: str, given: Given) -> list[Output]:
    """Documents in the format that is asked for; a folder of shards has its own rule, which is to be empty."""
    if given["shards"] is not None:
        return kept_folder(path, given)
    from rankwright.formats.conversion import target_format_of

    return [_documents(path, target_format_of(path, given["target_format"]))]


def documents(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """Documents in the format that the name tells."""
    from rankwright.formats.file_formats import format_of_name

    return [_documents(path, format_of_name(path))]


def split_parts(path: str, given: Given) -> list[Output]:
    """A folder for the parts of a file, which replace nothing that is there."""
    from rankwright.formats.splitting import split_targets

    how = {name: given[name] for name in ("valid", "test", "folds", "format")}
    parts = split_targets(given["data"], path, **how)
    return [_folder(path, "this split", lambda _: not any(part.exists() for part in parts))]


def clicked(path: str, given: Given) -> list[Output]:
    """Documents, and beside them the preferences between them, where those are asked for."""
    from rankwright.formats.file_formats import format_of_name

    documents = _documents(path, format_of_name(path))
    pairs = Output(pairs_beside(path), "a file of pairs", lambda old: _first_line_is(old, PAIRS))
    return [documents, pairs] if given["rates"] is False else [documents]


def judged(path: str, given: Given) -> list[Output]:
    """Judgments in one of the formats that they are written in."""
    columns = (*JUDGMENT_COLUMNS, *PREFERENCE_COLUMNS)

    def fits(old: str) -> bool:
        if _start(old).startswith(b"PAR1"):
            return _parquet_columns(old) == list(JUDGMENT_COLUMNS)
        first = _first_line(old)
        cells = first.replace("\t", ",").split(",")
        return set(cells) <= set(columns) or {"query", "document"} <= _keys(first) or _first_line_is(old, QRELS)

    return [Output(path, f"a file of judgments ({given['export_as'] or 'by its ending'})", fits)]


def combined(path: str, given: Given) -> list[Output]:
    """Labels, or documents that have them, and the pairs beside them where those are asked for."""
    if given["features"] is not None:
        from rankwright.formats.file_formats import format_of_name

        pairs = Output(pairs_beside(path), "a file of pairs", lambda old: _first_line_is(old, PAIRS))
        return [_documents(path, format_of_name(path)), *([pairs] if given["preferences"] else [])]
    if path.removesuffix(".gz").endswith(".qrels"):
        return [Output(path, "TREC qrels", lambda old: _first_line_is(old, QRELS))]
    start = ["query", "document", "label", "weight", "grades"]
    return [Output(path, "combined labels", lambda old: _first_line(old).replace("\t", ",").split(",")[:5] == start)]


def proposed(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """Documents to judge next."""
    start = ["query", "document", "tells"]
    return [Output(path, "documents to judge", lambda old: _first_line(old).replace("\t", ",").split(",") == start)]


def pairs_beside(path: str) -> str:
    """Where the preferences between the documents of a file go."""
    return str(PurePath(path).with_suffix(".pairs"))


def exported(path: str, given: Given) -> list[Output]:
    """A model in the format of another engine, and what goes beside it."""
    from rankwright.exchange.target_table import target_named

    require(path != STANDARD, TO_A_FILE)
    target = target_named(given["to"])
    beside = [".sample.csv", *([".h"] if target.suffix == ".c" else [])]
    files = {path: target.suffix} | {str(PurePath(path).with_suffix(ending)): ending for ending in beside}
    told = f"an export to {target.name}"
    outputs = [Output(name, told, _begins(EXPORTS[ending])) for name, ending in files.items()]
    if target.feature_set is not None:
        name = str(PurePath(path).with_suffix(target.feature_set_ending))
        outputs.append(Output(name, "a feature set whose queries are still to be filled in", _is_to_fill_in))
    return outputs


def kept_folder(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """A folder that work goes on in; what is in it is checked by those who read it."""
    return [_folder(path, "", lambda _: True)]


def bagged(path: str, given: Given) -> list[Output]:
    """A model file, or the folder of a study."""
    if not given["study"]:
        return model(path, given)
    return [_folder(path, "a study", lambda old: _is_ours(old, STUDY_FILES, {"samples", "sample_fraction", "table"}))]


def tuned(path: str, given: Given) -> list[Output]:
    """A model file, or the folder of a report on studies."""
    if not given["show"]:
        return model(path, given)
    keys = {"experiments", "searches", "best"}
    return [_folder(path, "a report on studies", lambda old: _is_ours(old, STUDY_REPORT_FILES, keys))]


def quickstarted(path: str, given: Given) -> list[Output]:
    """The folder of the quickstart."""
    if given["search"]:
        from rankwright.experiments import search_quickstart

        return [_folder(path, "the quickstart of searching", search_quickstart.is_free_or_own)]
    from rankwright.experiments.quickstart import is_free_or_own

    return [_folder(path, "the quickstart", is_free_or_own)]


def text_index(path: str, given: Given) -> list[Output]:  # noqa: ARG001
    """The folder of an index."""
    from rankwright.text.index.building import is_free_or_index

    return [_folder(path, "an index", is_free_or_index)]


def _folder(path: str, told: str, fits: Callable[[str], bool]) -> Output:
    return Output(path, told, fits, is_folder=True)


def _documents(path: str, format: str) -> Output:
    from rankwright.formats.file_formats import begins_in_format

    if format == "run":
        return trec_run(path, {})[0]
    if format == "qrels":
        return Output(path, "TREC qrels", lambda old: _first_line_is(old, QRELS))
    return Output(path, f"a {format} file of documents", lambda old: begins_in_format(_start(old), format))


def _start(path: str) -> bytes:
    """The beginning of an existing file, decompressed; nothing that any kind begins with where that is damaged."""
    from rankwright.errors import FileFormatError
    from rankwright.formats.storage.streams import open_input

    try:
        with open_input(path) as file:
            return file.read(BEGINNING)
    except FileFormatError:
        return b"\0"


def _begins(pattern: bytes) -> Callable[[str], bool]:
    return lambda old: re.match(pattern, _start(old), re.DOTALL) is not None


def _lines(path: str) -> Sequence[str]:
    """The whole lines at the beginning of a file, or its only line."""
    *lines, rest = _start(path).decode("utf-8", "replace").split("\n")
    return lines or [rest]


def _first_line(path: str) -> str:
    return _lines(path)[0].rstrip("\r")


def _is_numbers(path: str) -> bool:
    try:
        return all(float(line) is not None for line in _lines(path))
    except ValueError:
        return False


def _first_line_is(path: str, pattern: str) -> bool:
    return re.fullmatch(pattern, _first_line(path).strip(), re.IGNORECASE) is not None


def _is_to_fill_in(path: str) -> bool:
    """Whether no feature of a feature set has been filled in: such work is not replaced."""
    from rankwright.exchange.targets.search_plugins import QUERY_TO_FILL_IN

    try:
        found = json.loads(Path(path).read_text("utf-8"))
        features = found if isinstance(found, list) else found["featureset"]["features"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(features) and all(QUERY_TO_FILL_IN in json.dumps(feature) for feature in features)


def _keys(text: str) -> set[str]:
    try:
        found = json.loads(text)
    except ValueError:
        return set()
    return set(found) if isinstance(found, dict) else set()


def _parquet_columns(path: str) -> list[str]:
    from rankwright.errors import FileFormatError
    from rankwright.formats.parquet import parquet_columns

    try:
        return parquet_columns(path)
    except FileFormatError:
        return []


def _is_ours(folder: str, names: Sequence[str], keys: set[str]) -> bool:
    """Whether none of the files is in the folder yet, or the document among them is one of ours."""
    found = [name for name in names if Path(folder, name).exists()]
    document = next(Path(folder, name) for name in names if name.endswith(".json"))
    return not found or (document.is_file() and keys <= _keys(document.read_text("utf-8", "replace")))

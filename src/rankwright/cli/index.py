"""`rankwright index`: documents into an index that candidates and features are taken from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, THREADS, arg, flag, given, opt
from rankwright.cli.output import print_json, print_rows, progress, tell
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.text.analysis import Analyser

EXAMPLES = (
    "Example: rankwright index documents.jsonl --out INDEX\n\n"
    "Example: rankwright index pages/ --out INDEX --language german --memory 4GB\n\n"
    "Example: rankwright index products.csv --field sku=id --field price=number --out INDEX\n\n"
    "Example: rankwright index new.jsonl --append --out INDEX"
)
TEXTS = "How texts become terms"
SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", re.IGNORECASE)
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
NO_LANGUAGE = "none"


def index(
    documents: list[str] = arg(
        "Files of documents (JSON lines, Parquet, CSV, TSV, TREC; compressed or not), or a folder of files.",
        "DOCUMENTS",
    ),
    out: str = opt("The folder of the index.", "INDEX", default=..., writes=output_kinds.text_index),
    append: bool = flag("--append", "Add the documents to the index; those whose ids it has are left out."),
    format: str | None = opt("jsonl, parquet, csv, tsv, trec or folder. Default: what the files look like."),
    fields: list[str] | None = opt(
        "What a field holds: id, text, number, date, url, links or skip. May be repeated. Default: what its name and "
        "its values say.",
        "NAME=KIND",
        name="--field",
    ),
    language: str | None = opt(
        "The language of stems and stop words, or none.", panel=TEXTS, show_default="english; with --append the index's"
    ),
    no_stems: bool = flag("--no-stems", "Keep words as they are, instead of their stems.", TEXTS),
    stop_words: str | None = opt(
        "A file of words to leave out, one a line, or none.", "F", TEXTS, show_default="those of the language"
    ),
    memory: str = opt("The memory that the build may use, about.", "SIZE", default="1GB"),
    strict: bool = flag("--strict", "Stop at the first document that cannot be used, instead of counting them."),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Index documents: their terms with counts and positions by field, their lengths, numbers, links and texts.

    The index is a folder. It is read through the system's memory mapping, so that it opens at once, whatever its size.
    While it is built anew or added to, the old index stays as it is; a build that is ended leaves it untouched.
    """
    from rankwright.formats.storage.streams import spooled
    from rankwright.text.collections.documents import read_documents
    from rankwright.text.index.building import build_index
    from rankwright.text.index.summary import index_rows, index_summary

    analyser = _analyser(language, no_stems, stop_words, append=append)
    how = given(format=format, fields=_kinds(fields))
    with progress(), spooled(documents) as files:
        collection = read_documents(files, strict=strict, **how)
        built = build_index(collection, out, analyser=analyser, memory=_bytes(memory), threads=threads, append=append)
    if as_json:
        print_json({"out": out} | index_summary(built) | {"problems": collection.problems.to_dict()})
    else:
        print_rows(index_rows(built), "Found while reading:", collection.problems.lines())
        tell(f"wrote {out}")


def _analyser(language: str | None, no_stems: bool, stop_words: str | None, *, append: bool) -> Analyser | None:
    from rankwright.text.analysis import Analyser

    if append and language is None and not no_stems and stop_words is None:
        return None
    words: Any = True
    if stop_words is not None:
        words = False if stop_words == NO_LANGUAGE else _lines_of(stop_words)
    return Analyser(None if language == NO_LANGUAGE else language or "english", not no_stems, words)


def _lines_of(path: str) -> list[str]:
    from rankwright.formats.storage.streams import open_input

    with open_input(path) as file:
        lines = file.read().decode("utf-8-sig", "replace").splitlines()
    return [word for line in lines if (word := line.strip())]


def _kinds(fields: list[str] | None) -> dict[str, str] | None:
    if not fields:
        return None
    pairs = [text.rpartition("=") for text in fields]
    for text, (name, _, kind) in zip(fields, pairs, strict=True):
        require(bool(name and kind), f"--field takes NAME=KIND, such as price=number, found {text!r}")
    return {name: kind for name, _, kind in pairs}


def _bytes(text: str) -> int:
    found = SIZE.fullmatch(text.strip())
    if found is None:
        raise SettingError(f"--memory takes a size such as 512MB or 4GB, found {text!r}")
    return int(float(found[1]) * UNITS[found[2].upper()])

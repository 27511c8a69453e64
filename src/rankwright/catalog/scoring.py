"""Scoring files piece by piece: only a few queries are in memory, however long the file is."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import count
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.container.outputs import inputs_kept
from rankwright.data.dataset import RankingDataset
from rankwright.errors import Message, Parameter, SettingError, UnknownNameError, require
from rankwright.formats.file_formats import format_of, suffix_of
from rankwright.formats.parquet import write_parquet_columns
from rankwright.formats.reading import DataFile
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import Paths, atomic_text_output, list_of_paths, spooled
from rankwright.formats.trec import Run, run_of, write_run
from rankwright.rankers.top import RANKED, ranked_columns
from rankwright.rankers.trained import TrainedRanker

Scored = Iterator[tuple[RankingDataset, Float64Array]]


def score_file(
    ranker: TrainedRanker,
    source: Paths,
    target: FilePath,
    *,
    style: str = "scores",
    top: int | None = None,
    format: str | None = None,
    whole: bool = False,
    threads: int | None = None,
    options: Mapping[str, Any] | None = None,
) -> int:
    """Write the scores of the documents of `source`, and return how many documents there were.

    A query's rows must be together, unless `whole` reads the file at once. `style` is `scores` (one number per line, in
    input order), `trec` (a run, best first within each query), `jsonl` (one object per document, in input order), or a
    table of the best documents of each query: `csv`, `tsv` or `parquet`. `top` is how many documents of each query to
    write, best first; None writes all.
    """
    if style not in STYLES:
        raise UnknownNameError("style", style, known=STYLES)
    told = "a file of scores has a line for each document: leave out the top, or write csv, jsonl or trec"
    require(top is None or style != "scores", told)
    n_docs = 0

    def counted() -> Scored:
        nonlocal n_docs
        for data, scores in _scored(ranker, source, format, whole, threads, options or {}):
            n_docs += data.n_docs
            yield data, scores

    with inputs_kept(list_of_paths(source)):
        STYLES[style](counted(), target, top)
    return n_docs


def style_of(target: FilePath, style: str | None, top: int | None) -> str:
    """How to write to `target`: as asked for, or as its ending shows; plain text has scores, or csv for the top."""
    if style is not None:
        return style
    ending = suffix_of(target)
    if ending in PLAIN:
        return "scores" if top is None else "csv"
    if ending not in ENDINGS:
        known = f"{', '.join(ENDINGS)}, or {' or '.join(filter(None, PLAIN))} for one score a line"
        told = Message(f"scores are not written as {ending!r}; wanted {known}, or ", Parameter("to", "STYLE"))
        raise SettingError(told)
    return ENDINGS[ending]


def _scored(
    ranker: TrainedRanker, source: Paths, name: str | None, whole: bool, threads: int | None, options: Mapping[str, Any]
) -> Scored:
    """Pieces of the data and their scores, both in the order of the source."""
    name = format_of(source) if name is None else name  # before standard input is copied
    with spooled(source) as paths:
        file = file_of(ranker, paths, format=name, **options)
        for piece in file.iterate(whole=whole):
            yield piece, ranker.predict(piece, threads=threads)


def file_of(ranker: TrainedRanker, source: Paths, *, format: str | None = None, **options: Any) -> DataFile:
    """The file, read with the features that a trained ranker knows: by name, or as many as there were.

    With the width known, text need not be read twice.
    """
    own: dict[str, Any] = {"features": list(ranker.feature_names)} if ranker.feature_names else {}
    if not ranker.takes_any_width:
        own["n_trained"] = ranker.n_features
    return DataFile(source, format=format, **options).with_defaults(**own).with_categories(ranker.features.categories)


def read_for(ranker: TrainedRanker, source: Paths, *, format: str | None = None, **options: Any) -> RankingDataset:
    """The dataset of a file, with the features that a trained ranker knows."""
    return file_of(ranker, source, format=format, **options).read()


def _write_scores(pieces: Scored, target: FilePath, top: int | None) -> None:  # noqa: ARG001
    with atomic_text_output(target) as file:
        for _, scores in pieces:
            file.writelines(f"{score!r}\n" for score in scores.tolist())


def _write_run(pieces: Scored, target: FilePath, top: int | None) -> None:
    def runs() -> Iterator[Any]:
        first_row = 0
        for data, scores in pieces:
            run = run_of(data, scores, first_row)
            yield run if top is None else _top_of_run(run, data, scores, top)
            first_row += data.n_docs

    write_run(runs(), target)


def _top_of_run(run: Run, data: RankingDataset, scores: Float64Array, top: int) -> Run:
    kept = ranked_columns(data, data.from_source_order(scores), top)["row"]
    return Run(run.query_ids[kept], run.document_ids[kept], run.scores[kept])


def _ranked(pieces: Scored, top: int | None) -> Iterator[dict[str, list[Any]]]:
    """The best documents of each query, as columns of each piece; documents without ids have their row numbers."""
    first_row = 0
    for data, scores in pieces:
        found = ranked_columns(data, data.from_source_order(scores), top, first_row)
        yield {name: found[name].tolist() for name in RANKED}
        first_row += data.n_docs


def _write_table(pieces: Scored, target: FilePath, top: int | None, delimiter: str = ",") -> None:
    with atomic_text_output(target) as file:
        table = csv.writer(file, delimiter=delimiter, lineterminator="\n")
        table.writerow(RANKED)
        for columns in _ranked(pieces, top):
            table.writerows(zip(*columns.values(), strict=True))


def _write_parquet(pieces: Scored, target: FilePath, top: int | None) -> None:
    columns: dict[str, list[Any]] = {name: [] for name in RANKED}
    for found in _ranked(pieces, top):
        for name, values in found.items():
            columns[name] += values
    write_parquet_columns(columns, target)


def _write_objects(pieces: Scored, target: FilePath, top: int | None) -> None:
    if top is not None:
        with atomic_text_output(target) as file:
            for columns in _ranked(pieces, top):
                for values in zip(*columns.values(), strict=True):
                    file.write(json.dumps(dict(zip(columns, values, strict=True))) + "\n")
        return
    row = count()
    with atomic_text_output(target) as file:
        for data, scores in pieces:
            queries = data.in_source_order(np.asarray(data.qid))
            documents = None if data.document_ids is None else data.in_source_order(data.document_ids).tolist()
            for place, (query, score) in enumerate(zip(queries.tolist(), scores.tolist(), strict=True)):
                document = next(row) if documents is None else documents[place]
                file.write(json.dumps({"query": query, "document": document, "score": score}) + "\n")


STYLES: Mapping[str, Callable[[Scored, FilePath, int | None], None]] = {
    "scores": _write_scores,
    "csv": _write_table,
    "tsv": partial(_write_table, delimiter="\t"),
    "parquet": _write_parquet,
    "jsonl": _write_objects,
    "trec": _write_run,
}
ENDINGS = {
    **{".csv": "csv", ".tsv": "tsv", ".parquet": "parquet", ".pq": "parquet"},
    **{".jsonl": "jsonl", ".trec": "trec", ".run": "trec"},
}
PLAIN = (".txt", ".scores", ".dat", "")  # endings of plain text

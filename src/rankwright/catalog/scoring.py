"""Scoring files piece by piece: only a few queries are in memory, however long the file is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.errors import UnknownNameError
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.data_file import DataFile
from rankwright.formats.reading import format_named, format_of
from rankwright.formats.sources import FilePath, Paths, atomic_text_output, spooled
from rankwright.formats.trec import run_of, write_run
from rankwright.metrics.evaluation import Evaluation, evaluate
from rankwright.rankers.trained import TrainedRanker, check_features

if TYPE_CHECKING:
    from rankwright.rankers.ranker import Ranker

Scored = Iterator[tuple[RankingDataset, Float64Array]]


def score_file(
    ranker: TrainedRanker,
    source: Paths,
    target: FilePath,
    *,
    style: str = "scores",
    format: str | None = None,
    whole: bool = False,
    threads: int | None = None,
) -> int:
    """Write a score for each document of `source`, in input order, and return how many there were.

    A query's rows must be together, unless `whole` reads the file at once. `style` is `scores` (one number per line),
    `trec` (a run, best first within each query) or `jsonl` (one object per document).
    """
    if style not in STYLES:
        raise UnknownNameError("style", style, known=STYLES)
    n_docs = 0

    def counted() -> Scored:
        nonlocal n_docs
        for data, scores in _scored(ranker, source, format, whole, threads):
            n_docs += data.n_docs
            yield data, scores

    STYLES[style](counted(), target)
    return n_docs


def _scored(ranker: TrainedRanker, source: Paths, name: str | None, whole: bool, threads: int | None) -> Scored:
    """Pieces of the data and their scores, both in the order of the source."""
    known = format_named(format_of(source) if name is None else name)
    # With the width known, text need not be read twice.
    knows_width = "n_features" in known.options and not ranker.takes_any_width
    options = {"n_features": ranker.n_features} if knows_width else {}
    with spooled(source) as paths:
        for piece in known.iterate(paths, whole=whole, **options):
            yield piece, ranker.predict(piece, threads=threads)


def evaluate_file(ranker: Ranker, file: DataFile, *, threads: int | None = None) -> Evaluation:
    """Evaluate the ranker on the documents of a file; memory holds their labels and scores, but no feature matrix.

    A ranker that scores lists, not documents, needs the whole file. Initial scores of the file are added.
    """
    file = file.with_defaults(n_features=ranker.n_features_in_, threads=threads)
    if ranker.looks_at_queries:
        data = file.read()
        return evaluate(ranker.predict_from_start(data), data, threads=threads)
    scores: list[Float64Array] = []

    def score(features: Float32Array) -> None:
        scores.append(ranker.predict(RankingDataset.from_arrays(features, group=[len(features)])))

    with errors_name_file(file.name):
        documents = file.stream(score)
        trained = ranker.trained()
        check_features(trained.n_features, trained.feature_names, trained.n_features, documents.feature_names)
    data = documents.data
    found = np.concatenate(scores)
    if data.initial_scores is not None:
        found += data.in_source_order(data.initial_scores)
    return evaluate(found, data, threads=threads)


def _write_scores(pieces: Scored, target: FilePath) -> None:
    with atomic_text_output(target) as file:
        for _, scores in pieces:
            file.writelines(f"{score!r}\n" for score in scores.tolist())


def _write_run(pieces: Scored, target: FilePath) -> None:
    def runs() -> Iterator[Any]:
        first_row = 0
        for data, scores in pieces:
            yield run_of(data, scores, first_row)
            first_row += data.n_docs

    write_run(runs(), target)


def _write_objects(pieces: Scored, target: FilePath) -> None:
    row = count()
    with atomic_text_output(target) as file:
        for data, scores in pieces:
            queries = data.in_source_order(np.asarray(data.qid))
            documents = None if data.document_ids is None else data.in_source_order(data.document_ids).tolist()
            for place, (query, score) in enumerate(zip(queries.tolist(), scores.tolist(), strict=True)):
                document = next(row) if documents is None else documents[place]
                file.write(json.dumps({"query": query, "document": document, "score": score}) + "\n")


STYLES: Mapping[str, Callable[[Scored, FilePath], None]] = {
    "scores": _write_scores,
    "trec": _write_run,
    "jsonl": _write_objects,
}

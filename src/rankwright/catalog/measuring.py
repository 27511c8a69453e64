"""A ranker measured on a file, piece by piece: memory holds labels and scores, but no feature matrix."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, Uint64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import row_hashes
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.reading import DataFile
from rankwright.metrics.evaluation import Evaluation, evaluate
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.seen import warn_if_hashes_seen


def evaluate_file(ranker: Ranker, file: DataFile, *, threads: int | None = None) -> Evaluation:
    """Evaluate the ranker on the documents of a file; memory holds their labels and scores, but no feature matrix.

    A ranker that scores lists, not documents, needs the whole file. Initial scores of the file are added.
    """
    file = ranker.trained_.features.file(file).with_defaults(threads=threads)
    if ranker.looks_at_queries:
        return _evaluate_whole(ranker, file.read(), threads)
    scores: list[Float64Array] = []
    hashes: list[Uint64Array] = []

    def score(features: Float32Array) -> None:
        hashes.append(row_hashes(features, threads))
        scores.append(ranker.predict(RankingDataset.from_arrays(features, group=[len(features)])))

    with errors_name_file(file.name):
        documents = file.stream(score)
        if documents.feature_names and ranker.trained_.feature_names not in ((), documents.feature_names):
            return _evaluate_whole(ranker, file.read(), threads)  # which finds the features by name
    data = documents.data
    in_order = data.from_source_order(np.concatenate(hashes))
    warn_if_hashes_seen(ranker.seen_queries_, in_order, data.groups, ranker.name)
    found = np.concatenate(scores)
    if data.initial_scores is not None:
        found += data.in_source_order(data.initial_scores)
    return evaluate(found, data, threads=threads)


def _evaluate_whole(ranker: Ranker, data: RankingDataset, threads: int | None) -> Evaluation:
    ranker.warn_if_seen(data, stacklevel=4)
    return evaluate(ranker.predict_from_start(data), data, threads=threads)

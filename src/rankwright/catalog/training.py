"""Rankers trained, measured and compared on files: training and measuring need no feature matrix in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, Uint64Array
from rankwright.catalog.drift import profile_of_file
from rankwright.catalog.rankers import load
from rankwright.cluster.engine import Engine
from rankwright.cluster.opening import open_engine
from rankwright.container.file import container_size
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import row_hashes
from rankwright.errors import InputError, require
from rankwright.formats.blocks import errors_name_file
from rankwright.formats.reading import DataFile
from rankwright.formats.shards import file_or_shards
from rankwright.formats.sidecars import read_scores
from rankwright.formats.storage.places import FilePath
from rankwright.metrics.comparison.system_comparison import SystemComparison, compare
from rankwright.metrics.evaluation import DEFAULT_METRICS, Evaluation, evaluate
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.seen import warn_if_hashes_seen
from rankwright.rankers.text_scoring import with_statistics_of
from rankwright.rankers.trained import MODEL_KIND
from rankwright.text.collections.queries import read_queries
from rankwright.text.index.reading import Index, open_index
from rankwright.text.model_features import with_features_of
from rankwright.text.statistics import COMMONEST_TERMS
from rankwright.training.loop import Listener

WATCHED = "watched: "  # what the names of files begin with that are only watched


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingFiles:
    """The files of documents to train on, to validate on and to test on, and the files of scores to start from.

    For bagged rankers `train` may be a folder of Parquet shards. `format` is that of all files; None detects it.
    """

    train: str
    valid: str | None = None
    watch: Sequence[str] = ()  # further documents to look at after each step, which choose nothing
    test: str | None = None
    initial_scores: str | None = None
    valid_initial_scores: str | None = None
    pairs: str | None = None  # preferences between the documents of `train`
    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)  # how all files are read, as `read` has it

    def __post_init__(self) -> None:
        told = "initial scores of validation documents were given without the documents: give both or neither"
        require(self.valid is not None or self.valid_initial_scores is None, told)
        require(self.valid is not None or not self.watch, "documents to watch go with validation documents: give both")

    @contextmanager
    def opened(self) -> Iterator[dict[str, DataFile]]:
        """The given files by part, after a check that each can be read, and read more than once."""
        named = {
            "train": (self.train, self.initial_scores),
            "valid": (self.valid, self.valid_initial_scores),
            "test": (self.test, None),
        } | {f"{WATCHED}{path}": (path, None) for path in self.watch}
        with ExitStack() as spools:
            files = {
                part: spools.enter_context(self._file(part, path, start).repeatable())
                for part, (path, start) in named.items()
                if path is not None
            }
            for file in files.values():
                file.check_readable()
            yield files

    def _file(self, part: str, path: str, start: str | None) -> DataFile:
        pairs = self.pairs if part == "train" else None
        return file_or_shards(path, format=self.format, initial_scores=start, pairs=pairs, **self.options)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedOnFiles:
    """The trained ranker, and its metrics on the validation and the test documents.

    `statistics` tells what it keeps of an index, where that was asked for.
    """

    ranker: Ranker
    evaluations: Mapping[str, Evaluation]
    statistics: Mapping[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """How training went and what was measured, in types JSON can hold."""
        history = self.ranker.history_
        return {
            "interrupted": history.interrupted,
            "watched": history.watched,
            "steps": len(history.values) or self.ranker.n_steps_,
            "best_step": history.best_step,
            "best_value": history.best_value,
            "also_watched": {name: list(values) for name, values in self.ranker.watched_.items()},
            "chosen": dict(self.ranker.chosen_),
            **({} if self.statistics is None else {"text_statistics": dict(self.statistics)}),
        } | {part: evaluation.to_dict() for part, evaluation in self.evaluations.items()}


def train_on_files(
    ranker: Ranker,
    files: TrainingFiles,
    out: str,
    *,
    listeners: Sequence[Listener] = (),
    checkpoint: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    allow_empty: bool = False,
    with_statistics: str | None = None,
    terms: int | None = None,
    profile: bool = False,
) -> TrainedOnFiles:
    """Train the ranker, write its model file to `out`, then measure it.

    `with_statistics` names an index, of which the model keeps the `terms` commonest terms. `checkpoint` is a folder
    from which a killed run goes on. The bags of a bagged ranker are trained by the workers of `cluster`, as in
    `open_engine`, or by threads of this process where it is None. With `profile`, the file also tells how features and
    scores were spread, which one more reading of the training documents finds.
    """
    index = None if with_statistics is None else open_index(with_statistics)
    with files.opened() as opened:
        with _on_cluster(ranker, cluster, workers):
            watched = {
                name.removeprefix(WATCHED): opened.pop(name) for name in list(opened) if name.startswith(WATCHED)
            }
            valid: Any = opened.get("valid")
            train = opened.pop("train")
            ranker.fit(
                train,
                valid={"valid": valid, **watched} if watched else valid,
                listeners=listeners,
                checkpoint=checkpoint,
                allow_empty=allow_empty,
            )
        told = None if index is None else _keep_statistics(ranker, index, terms)
        if profile:
            ranker.trained_ = ranker.trained_.with_profile(
                profile_of_file(ranker.trained_, train, threads=ranker.threads)
            )
        ranker.save(out)
        measured = {part: evaluate_file(ranker, file, threads=ranker.threads) for part, file in opened.items()}
    return TrainedOnFiles(ranker, measured, told)


def _keep_statistics(ranker: Ranker, index: Index, terms: int | None) -> dict[str, int]:
    """Let the ranker keep what scoring texts needs; how many terms those are, and by how much its file grows."""
    before = container_size(MODEL_KIND, *ranker.to_state())
    ranker.trained_ = with_statistics_of(ranker.trained_, index, COMMONEST_TERMS if terms is None else terms)
    kept = ranker.trained_.text_statistics
    assert kept is not None
    return {"terms": len(kept.number_of), "bytes": container_size(MODEL_KIND, *ranker.to_state()) - before}


@contextmanager
def _on_cluster(ranker: Ranker, cluster: str | None, workers: int | None) -> Iterator[None]:
    if cluster is None:
        require(workers is None, "a number of workers goes with a cluster")
        yield
        return
    train_on: Callable[[Engine | None], Ranker] | None = getattr(ranker, "on", None)
    if train_on is None:
        raise InputError(f"a cluster trains forests and bags, and {ranker.name} is neither")
    with open_engine(cluster, workers) as engine:
        train_on(engine)
        yield
        train_on(None)


class Parts(NamedTuple):
    """Datasets of the same features; None where no file was given."""

    train: RankingDataset
    valid: RankingDataset | None
    test: RankingDataset | None


def read_parts(
    train: FilePath,
    valid: FilePath | None = None,
    test: FilePath | None = None,
    *,
    format: str | None = None,
    **options: Any,
) -> Parts:
    """The datasets of the files, all with as many features as `train` has.

    A file that cannot be opened is reported before any is read.
    """
    files = [None if path is None else DataFile(path, format=format, **options) for path in (train, valid, test)]
    for file in files:
        if file is not None:
            file.check_readable()
    assert files[0] is not None
    first = files[0].read()
    like_first: dict[str, Any] = {"n_trained": first.n_features}
    if first.feature_names:
        like_first["features"] = list(first.feature_names)
    others = [
        None if file is None else file.with_defaults(**like_first).with_categories(first.categories).read()
        for file in files[1:]
    ]
    return Parts(first, *others)


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


def compare_files(
    data: FilePath,
    *,
    models: Mapping[str, FilePath],
    scores: Mapping[str, FilePath],
    metrics: Sequence[str] = DEFAULT_METRICS,
    convention: str = "standard",
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    threads: int | None = None,
    seed: int = 0,
    fuse: Sequence[str] = (),
    texts: TextSource | None = None,
) -> SystemComparison:
    """The comparison of the named model files and files of scores on the documents of `data`.

    A file of scores has one number per line, in the order of the documents. For each method of fusion, all of them
    fused are one more system. With `texts`, features of models that the documents lack are computed.
    """
    rankers = {name: load(path) for name, path in models.items()}
    file = DataFile(data, format=format, **(options or {}))
    if rankers and texts is None:
        file = file.with_defaults(**_features_of(list(rankers.values()))).with_categories(_categories_of(rankers))
    documents = file.read() if texts is None else texts.with_features(file.read(), rankers.values(), threads)
    given = {name: read_scores(path, n_docs=documents.n_docs) for name, path in scores.items()}
    systems: dict[str, Any] = {**rankers, **given}
    return compare(systems, documents, metrics, convention, threads=threads, seed=seed, fuse=fuse)


@dataclass(frozen=True, slots=True)
class TextSource:
    """Where features of texts come from that models need and documents lack: an index, and the queries."""

    index: FilePath
    queries: FilePath

    def with_features(
        self, documents: RankingDataset, rankers: Iterable[Ranker], threads: int | None = None
    ) -> RankingDataset:
        """The documents with the features of all these rankers."""
        index, queries = open_index(self.index), read_queries(self.queries)
        for ranker in rankers:
            origin = ranker.trained_.features.origin
            documents = with_features_of(origin, documents, index, queries, threads=threads)
        return documents


def _categories_of(rankers: Mapping[str, Ranker]) -> dict[str, tuple[str, ...]]:
    """The categories that any of the rankers knows; each of them then takes those that it was trained with."""
    texts: dict[str, set[str]] = {}
    for ranker in rankers.values():
        for name, own in (ranker.categories_ or {}).items():
            texts.setdefault(name, set()).update(own)
    return {name: tuple(sorted(own)) for name, own in texts.items()}


def _features_of(rankers: Sequence[Ranker]) -> dict[str, Any]:
    """Options that read the features that any of the rankers looks at: by name, if all have names."""
    names = [list(ranker.trained_.feature_names) for ranker in rankers]
    widths = [width for ranker in rankers if (width := ranker.width_to_read) is not None]
    widest = {"n_trained": max(widths)} if widths else {}
    return widest | ({"features": list(dict.fromkeys(name for own in names for name in own))} if all(names) else {})

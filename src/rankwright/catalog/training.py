"""Training and measuring a ranker on files that need not fit into memory, and reading whole files as datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rankwright.catalog.measuring import evaluate_file
from rankwright.cluster.engine import Engine
from rankwright.cluster.opening import open_engine
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.formats.reading import DataFile
from rankwright.formats.shards import file_or_shards
from rankwright.formats.storage.places import FilePath
from rankwright.metrics.evaluation import Evaluation
from rankwright.rankers.ranker import Ranker
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
        require(
            self.valid is not None or self.valid_initial_scores is None,
            "initial scores of validation documents were given without the documents: give both or neither",
        )
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
    """The trained ranker, and its metrics on the validation and the test documents."""

    ranker: Ranker
    evaluations: Mapping[str, Evaluation]

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
) -> TrainedOnFiles:
    """Train the ranker, write its model file to `out`, then measure it.

    `checkpoint` is a folder from which a killed run goes on. The bags of a bagged ranker are trained by the workers of
    `cluster`, as in `open_engine`, or by threads of this process where it is None.
    """
    with files.opened() as opened:
        with _on_cluster(ranker, cluster, workers):
            watched = {
                name.removeprefix(WATCHED): opened.pop(name) for name in list(opened) if name.startswith(WATCHED)
            }
            valid: Any = opened.get("valid")
            ranker.fit(
                opened.pop("train"),
                valid={"valid": valid, **watched} if watched else valid,
                listeners=listeners,
                checkpoint=checkpoint,
                allow_empty=allow_empty,
            )
        ranker.save(out)
        measured = {part: evaluate_file(ranker, file, threads=ranker.threads) for part, file in opened.items()}
    return TrainedOnFiles(ranker, measured)


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
    like_first: dict[str, Any] = {"n_features": first.n_features}
    if first.feature_names:
        like_first["features"] = list(first.feature_names)
    others = [
        None if file is None else file.with_defaults(**like_first).with_categories(first.categories).read()
        for file in files[1:]
    ]
    return Parts(first, *others)

"""Model files of every registered ranker: a mutant is refused in one line, or is a model that scores safely."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
from tests.contracts.trained import learnable, trained
from tests.fuzz.mutation import Parts, mutant_of
from tests.fuzz.subject import Refused, quiet, refusing, require

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.catalog.rankers import RANKERS, load_trained
from rankwright.container.file import read_container, write_container
from rankwright.errors import RankwrightError
from rankwright.rankers.trained import MODEL_KIND, TrainedRanker

RECORDED = Path(__file__).parents[1] / "compatibility" / "models"  # of more settings than the small rankers have
LARGEST, SMALLEST = 1e12, 1e-12  # beyond these, finite numbers may give scores that are not


class Models:
    """The model file of each small ranker, and those recorded for the tests of compatibility."""

    def prepare(self, seeds: Path, names: Iterable[str] = RANKERS) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        for name in names:
            path = seeds / f"{name}.rw"
            if not path.exists():
                trained(name).save(path)
        for path in RECORDED.glob("*.rw"):
            copied = seeds / f"recorded-{path.name}"
            if not copied.exists():
                shutil.copy(path, copied)

    def warm_up(self, seeds: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for path in sorted(seeds.glob("*.rw")):
                self.judge(Path(shutil.copy(path, folder)))

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        names = list(RANKERS)
        target.write_bytes(mutant_of(self._seed(seeds, rng, names[number % len(names)]), rng).signed())

    def _seed(self, seeds: Path, rng: np.random.Generator, name: str) -> Parts:
        """The small ranker's file, or one recorded of the same kind."""
        recorded = _recorded(seeds, name)
        if recorded and rng.random() < 0.5:
            return _parts(recorded[int(rng.integers(len(recorded)))])
        return _parts(seeds / f"{name}.rw")

    def judge(self, target: Path) -> None:
        model = refusing(lambda: load_trained(target), target.name)
        require(model.n_features <= target.stat().st_size, f"{model.n_features} features, which no array bears out")
        data = documents(model.n_features)
        scores = self._scores(model, data)
        require(scores.shape == (data.n_docs,), f"{scores.shape} scores of {data.n_docs} documents")
        require(bool(np.isfinite(scores).all()) or has_extremes(model), "scores that are not finite")
        again = target.with_name("again.rw")
        write_container(again, MODEL_KIND, *model.to_state())
        require(self._scores(load_trained(again), data).tobytes() == scores.tobytes(), "other scores once saved again")
        with quiet():
            rw.describe_model(target)
            rw.load(target).predict(data)

    def _scores(self, model: TrainedRanker, data: rw.RankingDataset) -> Float64Array:
        try:
            with quiet():
                return model.predict(data, threads=1)
        except RankwrightError as error:
            require(has_extremes(model), f"documents of the right features are refused: {error}")
            raise Refused(str(error)) from error  # scaled features that are beyond all numbers


@cache
def _recorded(seeds: Path, name: str) -> list[Path]:
    """The recorded files of that kind of ranker."""
    return [path for path in sorted(seeds.glob("recorded-*.rw")) if _parts(path).header["ranker"] == name]


@cache
def _parts(path: Path) -> Parts:
    return Parts.of(read_container(path))


@cache
def documents(n_features: int) -> rw.RankingDataset:
    """Documents of queries of several sizes, some values missing."""
    learned = learnable().take_queries(np.arange(6))
    rng = np.random.default_rng(n_features)
    features = rng.normal(scale=2.0, size=(learned.n_docs, n_features)).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    return rw.RankingDataset.from_arrays(features, learned.labels, qid=learned.qid)


def has_extremes(model: TrainedRanker) -> bool:
    """Whether a model has finite numbers so large or small that sums of their products may overflow."""
    header, arrays = model.to_state()
    numbers = [np.abs(values[values != 0]) for values in arrays.values() if values.dtype.kind == "f"]
    numbers.append(np.abs(np.array([header.get("base_score", 1.0)], np.float64)))
    return any(bool(((found > LARGEST) | (found < SMALLEST)).any()) for found in numbers)

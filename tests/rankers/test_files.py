"""Every ranker trains from a file as it does from the dataset that the file holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.bagging.settings import BagSettings
from rankwright.catalog.rankers import RANKERS
from rankwright.catalog.training import evaluate_file
from rankwright.errors import FileFormatError, InputError
from rankwright.mart.forest_ranker import ForestRanker
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe
from rankwright.training.driver import Lesson
from rankwright.trees.bins.binned import bin_dataset

KINDS: Any = RANKERS
FORESTS = [name for name, kind in RANKERS.items() if issubclass(kind, ForestRanker)]
SMALL: dict[str, Any] = {"n_trees": 5, "max_leaves": 4}
FEW_BAGS: dict[str, Any] = {"n_bags": 3}
NAMES = ("age", "clicks", "price")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The same queries' documents in files of every kind; not all rows of a query are together."""
    folder = tmp_path_factory.mktemp("files")
    rng = np.random.default_rng(2)
    features = rng.normal(size=(300, 3)).astype(np.float32)
    features[rng.random(300) < 0.2, 1] = np.nan
    labels = np.clip(np.round(features[:, 0] + 1), 0, 4)
    data = rw.RankingDataset.from_arrays(features, labels, qid=rng.integers(0, 20, 300), feature_names=NAMES)
    for name in ("data.txt.gz", "data.parquet", "data.csv", "data.tsv"):
        rw.write(data, folder / name)
    return folder


def small(kind, **changes):
    """A forest that is trained quickly."""
    bags = FEW_BAGS if issubclass(kind, BagSettings) else {}
    return kind(**(SMALL | bags | changes))


def model_file(ranker, folder):
    ranker.save(folder / "model.rw")
    return (folder / "model.rw").read_bytes()


@pytest.mark.parametrize("file", ["data.txt.gz", "data.parquet", "data.csv", "data.tsv"])
@pytest.mark.parametrize("name", FORESTS)
def test_a_file_gives_the_model_of_its_dataset(name, file, folder):
    path = folder / file
    data = rw.read(path)
    expected = model_file(small(KINDS[name]).fit(data, valid=data), folder)
    assert model_file(small(KINDS[name]).fit(path, valid=str(path)), folder) == expected
    assert model_file(small(KINDS[name]).fit(rw.DataFile(path), valid=data), folder) == expected
    assert model_file(small(KINDS[name]).fit(data, valid=path), folder) == expected


@pytest.mark.parametrize("name", FORESTS)
def test_features_keep_their_names(name, folder):
    ranker = small(KINDS[name], categorical=["clicks"], monotone={"age": 1})
    assert ranker.fit(folder / "data.csv").feature_names_in_.tolist() == list(NAMES)
    assert ranker.fit_binned(rw.bin_file(folder / "data.parquet")).feature_names_in_.tolist() == list(NAMES)
    unnamed = small(KINDS[name]).fit(folder / "data.txt.gz")
    assert not hasattr(unnamed, "feature_names_in_")
    with pytest.raises(ValueError, match=r"unknown feature 'colour'\. Known: age, clicks, price"):
        small(KINDS[name], categorical=["colour"]).fit(folder / "data.csv")


@pytest.mark.parametrize("name", FORESTS)
def test_a_checkpoint_of_the_file_is_one_of_the_dataset(name, folder, tmp_path):
    path = folder / "data.parquet"
    bagged = issubclass(RANKERS[name], BagSettings)
    fewer = {"n_bags": 2} if bagged else {"n_trees": 2}
    small(KINDS[name], **fewer).fit(path, checkpoint=tmp_path)
    resumed = small(KINDS[name]).fit(rw.read(path), checkpoint=tmp_path)
    assert resumed.forest_.equals(small(KINDS[name]).fit(path).forest_)


@dataclass
class OneFeature(Model):
    """The score is one feature."""

    best: int

    def scores(self, data, *, threads):  # noqa: ARG002
        return np.nan_to_num(data.features[:, self.best]).astype(np.float64)

    def state(self):
        return {"best": self.best}, {}

    @classmethod
    def restored(cls, stored):
        return cls(stored.header["best"])


class BestFeatureLearner:
    def __init__(self, best):
        self.best = best

    def take_step(self, step):
        return step == 0

    def model(self):
        return {"best": np.array(self.best)}

    def memory(self):
        return self.model()

    def take_up(self, memory):
        self.best = int(memory["best"])


class BestFeatureRecipe(LessonRecipe):
    def lesson(self, prepared, settings):  # noqa: ARG002
        data = prepared.data
        WIDTHS.append(None if prepared.valid is None else prepared.valid.n_features)
        columns = np.nan_to_num(data.features).T
        means = [rw.evaluate(data.in_source_order(column), data, ["ndcg@5"])["ndcg@5"].mean for column in columns]
        model = lambda learned: OneFeature(int(learned.model["best"]))  # noqa: E731
        return Lesson(learner=BestFeatureLearner(int(np.argmax(means))), model=model, digests=lambda: ("", None))


WIDTHS = list[int | None]()  # of the validation data of each training


class BestFeature(Ranker):
    """A ranker that is no forest: its score is the feature with the best mean of the metric."""

    name = "best-feature"
    summary = "The best feature."
    model_kind = OneFeature
    recipe = BestFeatureRecipe()


def test_a_ranker_that_needs_the_features_reads_the_file(folder):
    (folder / "narrow.txt").write_text("1 qid:1 1:1\n0 qid:1 1:0\n")
    ranker = BestFeature().fit(folder / "data.parquet", valid=folder / "narrow.txt")
    assert ranker.model_.best == 0  # type: ignore[attr-defined]
    assert WIDTHS[-1] == ranker.n_features_in_ == 3
    assert ranker.feature_names_in_.tolist() == list(NAMES)


@pytest.mark.parametrize("kind", [*(RANKERS[name] for name in FORESTS), BestFeature])
def test_a_file_brings_all_that_belongs_to_it(kind, folder):
    with pytest.raises(InputError, match="or a file brings its own y, qid"):
        kind().fit(folder / "data.csv", [1], qid=[1])
    with pytest.raises(FileNotFoundError):
        kind().fit(folder / "nothing.csv")
    (folder / "wide.txt").write_text("1 qid:1 4:1\n")
    with pytest.raises(
        FileFormatError, match=r"wide\.txt:1: feature index 4 lies beyond (n_features=3|the 3 features that the ranker)"
    ):
        kind().fit(folder / "data.csv", valid=folder / "wide.txt")


@pytest.mark.parametrize("kind", [*(RANKERS[name] for name in FORESTS), BestFeature])
def test_columns_in_another_order_are_found_by_name(kind, folder):
    data = rw.read(folder / "data.csv")
    turned = rw.RankingDataset.from_arrays(
        data.features[:, [0, 2, 1]], data.labels, qid=data.qid, feature_names=("age", "price", "clicks")
    )
    rw.write(turned, folder / "turned.csv")
    new = kind if kind is BestFeature else (lambda: small(kind))
    watched = [
        new().fit(folder / "data.csv", valid=valid).history_.values for valid in (data, turned, folder / "turned.csv")
    ]
    assert watched[0] == watched[1] == watched[2]
    ranker = new().fit(folder / "data.csv")
    assert np.array_equal(ranker.predict(turned), data.from_source_order(ranker.predict(data)))
    found, wanted = (evaluate_file(ranker, rw.DataFile(folder / name)) for name in ("turned.csv", "data.csv"))
    assert found["ndcg@10"].mean == pytest.approx(wanted["ndcg@10"].mean)
    lacking = rw.RankingDataset.from_arrays(data.features[:, :2], qid=data.qid, feature_names=("age", "clicks"))
    with pytest.raises(InputError, match="the data lacks 'price', which the ranker was trained on"):
        ranker.predict(lacking)


def test_binned_data_is_trained_on_as_it_is(folder):
    data = rw.read(folder / "data.csv")
    ranker = rw.LambdaMART(**SMALL).fit_binned(bin_dataset(data), bin_dataset(data, bin_dataset(data).mapper))
    assert ranker.forest_.equals(rw.LambdaMART(**SMALL).fit(data, valid=data).forest_)

"""The quickstart: a small data set, and how well LambdaMART, two nets and single features rank it.

Every ranker must beat single features and a random order.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, Seed, generator
from rankwright.data.dataset import RankingDataset
from rankwright.formats.storage.streams import atomic_text_output
from rankwright.formats.svmlight.writer import write_svmlight
from rankwright.mart.lambdamart import LambdaMART
from rankwright.metrics.comparison.system_comparison import compare
from rankwright.metrics.convention import DEFAULT, Convention
from rankwright.metrics.evaluation import Evaluation, evaluate
from rankwright.nets.net_rankers import LambdaRank, RankNet
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.pages.result_pages import page_of_comparison
from rankwright.report.table_files import write_json, write_rows
from rankwright.report.writing import write_page
from rankwright.synthetic import quickstart as quickstart_data

SELECT = "ndcg@10"  # what the features to show are chosen by, on the training data
METRICS = ("ndcg@10", "map", "mrr")
FEATURES_SHOWN = 5
PARTS = ("train", "valid", "test")
MODEL_FILE, REPORT_FILE, NAMES_FILE = "model.rw", "report.html", "feature_names.txt"
RESULT_FILES = ("results.json", "results.csv")


@dataclass(frozen=True, slots=True, eq=False)
class Quickstart:
    """The data, the model, and what each ranker reached on the test part: rankers, single features, chance."""

    parts: dict[str, RankingDataset]  # train, valid, test
    evaluations: dict[str, Evaluation]  # by ranker
    model: LambdaMART
    compared: dict[str, Any]  # the rankers and the best feature's scores, which the report compares

    def to_dict(self) -> dict[str, Any]:
        """The data's sizes and the results, ready for JSON."""
        return {
            "data": {
                name: {"queries": part.n_queries, "documents": part.n_docs, "features": part.n_features}
                for name, part in self.parts.items()
            },
            "test": {name: evaluation.to_dict() for name, evaluation in self.evaluations.items()},
        }

    def table(self) -> Iterator[dict[str, Any]]:
        """A row for each ranker and metric: the mean, the ends of its interval, and how many queries counted."""
        for ranker, evaluation in self.evaluations.items():
            for metric, result in evaluation.results.items():
                low, high = result.interval
                numbers = {"mean": result.mean, "low": low, "high": high, "queries": result.n_queries}
                yield {"ranker": ranker, "metric": metric} | numbers


def run_quickstart(seed: int = 0) -> Quickstart:
    """The results of LambdaMART, of nets, of the best features of the training part and of chance, on the test part."""
    train, valid, test = quickstart_data(seed)
    model = LambdaMART(max_leaves=7, learning_rate=0.05, early_stopping=50, seed=seed).fit(train, valid=valid)
    nets = (RankNet(seed=seed), LambdaRank(seed=seed))
    rankers: list[Ranker] = [model, *(net.fit(train, valid=valid) for net in nets)]
    mean_of = feature_rankers(train, SELECT)
    # Features that order every query alike but for rounding, as sums and means do, reach the same: one is enough.
    different = list({round(mean, 3): ranker for ranker, mean in reversed(mean_of.items())}.values())[::-1]
    evaluations = {ranker.name: evaluate(ranker.predict(test), test, METRICS) for ranker in rankers}
    evaluations |= {ranker.name: evaluate(ranker.scores(test), test, METRICS) for ranker in different[:FEATURES_SHOWN]}
    evaluations["random order"] = evaluate(random_scores(test, seed), test, METRICS)
    compared: dict[str, Any] = {ranker.name: ranker for ranker in rankers}
    compared |= {ranker.name: ranker.scores(test) for ranker in different[:1]}
    return Quickstart(dict(zip(PARTS, (train, valid, test), strict=True)), evaluations, model, compared)


def is_free_or_own(folder: str | os.PathLike[str]) -> bool:
    """Whether a folder has none of the quickstart's files, or has the quickstart's own documents among them."""
    names = [*(f"{part}.txt" for part in PARTS), NAMES_FILE, *RESULT_FILES, MODEL_FILE, REPORT_FILE]
    if not any(Path(folder, name).exists() for name in names):
        return True
    with TemporaryDirectory() as scratch:
        own = _write_documents(dict(zip(PARTS, quickstart_data(0), strict=True)), scratch)
        known = {path.name: path.read_bytes() for path in own}
    found = {name: Path(folder, name) for name in known if Path(folder, name).exists()}
    return bool(found) and all(_holds(path, known[name]) for name, path in found.items())


def _holds(path: Path, content: bytes) -> bool:
    # A file of another length may be too long to be read.
    return path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content


def write_quickstart(result: Quickstart, folder: str | os.PathLike[str]) -> list[Path]:
    """Write the data as LETOR files, the model, and the results as JSON and CSV into `folder`; return the paths.

    LETOR files have no place for the names of features: they go to a file of their own, one per line.
    """
    Path(folder).mkdir(parents=True, exist_ok=True)
    documents = _write_documents(result.parts, folder)
    document, table = (Path(folder, name) for name in RESULT_FILES)
    write_json(document, result.to_dict())
    write_rows(table, result.table())
    result.model.save(Path(folder, MODEL_FILE))
    return [*documents, Path(folder, MODEL_FILE), document, table]


def _write_documents(parts: dict[str, RankingDataset], folder: str | os.PathLike[str]) -> list[Path]:
    """Write the parts of the data and the names of their features."""
    data_files = {Path(folder, f"{name}.txt"): part for name, part in parts.items()}
    for path, part in data_files.items():
        write_svmlight(replace(part, feature_names=()), path)
    names = Path(folder, NAMES_FILE)
    with atomic_text_output(names) as file:
        file.writelines(f"{name}\n" for name in parts["train"].names)
    return [*data_files, names]


def write_quickstart_report(result: Quickstart, folder: str | os.PathLike[str]) -> Path:
    """Write the report on the rankers and the best single feature, next to the files of `write_quickstart`."""
    comparison = compare(result.compared, result.parts["test"], METRICS)
    command, data = f"rankwright quickstart --out {quote(os.fspath(folder))}", str(Path(folder, "test.txt"))
    origin = Origin(command, {"data": data}, {result.model.name: str(Path(folder, MODEL_FILE))}, 0)
    title = "The quickstart: three rankers and the best single feature"
    return write_page(replace(page_of_comparison(comparison, origin), title=title), Path(folder, REPORT_FILE))[0]


@dataclass(frozen=True, slots=True)
class FeatureRanker:
    """One feature as a ranker: documents are ordered by its value, and those without a value come last."""

    column: int
    feature: str
    larger_is_better: bool

    @property
    def name(self) -> str:
        """The feature's name, and the direction where it is not the usual one."""
        return self.feature if self.larger_is_better else f"{self.feature}, lowest first"

    def scores(self, data: RankingDataset) -> Float64Array:
        """The score of each document, in the row order of the data's source."""
        values = data.features[:, self.column].astype(np.float64)
        scores = values if self.larger_is_better else -values
        scores[np.isnan(scores)] = -np.inf
        return data.in_source_order(scores)


def feature_rankers(
    data: RankingDataset, metric: str = "ndcg@10", convention: str | Convention = DEFAULT
) -> dict[FeatureRanker, float]:
    """Every feature as a ranker, in its better direction, with the mean that it reaches on `data`; the best first."""
    rankers = [
        FeatureRanker(column, name, larger_is_better)
        for larger_is_better in (True, False)
        for column, name in enumerate(data.names)
    ]
    mean_of = {ranker: evaluate(ranker.scores(data), data, [metric], convention)[metric].mean for ranker in rankers}
    best_first = sorted(rankers, key=lambda ranker: -mean_of[ranker])
    better_way_round = {ranker.column: ranker for ranker in reversed(best_first)}
    return {ranker: mean_of[ranker] for ranker in best_first if better_way_round[ranker.column] is ranker}


def random_scores(data: RankingDataset, seed: Seed = 0) -> Float64Array:
    """Random scores: what a ranker that knows nothing gives."""
    return generator(seed).random(data.n_docs)

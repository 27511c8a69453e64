"""How good is LambdaMART on the LETOR data sets, beside LightGBM's lambdarank under the same rules?

Five folds in the `letor` convention. In each fold, for each seed, settings and number of trees are the best of one grid
by MAP on `vali`; `test` is looked at once. Differences are paired by query, means of seeds.

    python -m benchmarks.quality.letor_folds DATA/MQ2008 DATA/OHSUMED
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from benchmarks.helpers.boosting import labels_of
from benchmarks.helpers.records import leave

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import read_wide

# Few choices, all of small trees: vali has some twenty queries in OHSUMED, and picks luck where there are many.
GRID = {"max_leaves": (4, 7, 15), "query_fraction": (0.5, 1.0), "feature_fraction": (0.5, 1.0)}
N_TREES, LEARNING_RATE, MIN_DOCS, PATIENCE, CHOSEN_BY = 500, 0.05, 20, 100, "map:letor"
METRICS = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")
Outcome = tuple[float, Float64Array]  # the metric on vali; scores on test


def by_rankwright(
    train: RankingDataset, vali: RankingDataset, test: RankingDataset, settings: dict[str, Any], seed: int
) -> Outcome:
    ranker = rw.LambdaMART(
        **settings,
        n_trees=N_TREES,
        learning_rate=LEARNING_RATE,
        min_docs_in_leaf=MIN_DOCS,
        early_stopping=PATIENCE,
        select=CHOSEN_BY,
        seed=seed,
        threads=1,
    ).fit(train, valid=vali)
    best = ranker.history_.best_value
    assert best is not None
    return best, ranker.predict(test)


def by_lightgbm(
    train: RankingDataset, vali: RankingDataset, test: RankingDataset, settings: dict[str, Any], seed: int
) -> Outcome:
    parameters = {
        "objective": "lambdarank",
        "num_leaves": settings["max_leaves"],
        "learning_rate": LEARNING_RATE,
        "min_data_in_leaf": MIN_DOCS,
        "bagging_fraction": settings["query_fraction"],
        "bagging_freq": int(settings["query_fraction"] < 1),
        "bagging_by_query": True,
        "feature_fraction": settings["feature_fraction"],
        "metric": "none",
        "num_threads": 1,
        "seed": seed,
        "data_random_seed": seed,
        "verbose": -1,
    }

    def measure(scores: Float64Array, _: lightgbm.Dataset) -> tuple[str, float, bool]:
        return "map", rw.evaluate(scores, vali, ["map"], "letor", threads=1)["map"].mean, True

    training = lightgbm.Dataset(train.features, labels_of(train), group=train.groups.sizes)
    watched = training.create_valid(vali.features, labels_of(vali), group=vali.groups.sizes)
    model = lightgbm.train(
        parameters,
        training,
        num_boost_round=N_TREES,
        valid_sets=[watched],
        feval=measure,
        callbacks=[lightgbm.early_stopping(PATIENCE, verbose=False)],
    )
    return model.best_score["valid_0"]["map"], np.asarray(model.predict(test.features))


TOOLS: dict[str, Callable[..., Outcome]] = {"rankwright": by_rankwright, "LightGBM": by_lightgbm}


def grid() -> Iterator[dict[str, Any]]:
    for values in product(*GRID.values()):
        yield dict(zip(GRID, values, strict=True))


def chosen_in_fold(tool: str, folder: Path, seed: int) -> tuple[dict[str, Any], dict[str, list[float]]]:
    """The settings that `vali` chose, and every metric's value of each query in `test`."""
    train = rw.read(folder / "train.txt.gz")
    vali, test = (read_wide(folder / f"{part}.txt.gz", train.n_features) for part in ("vali", "test"))
    tried = [(settings, TOOLS[tool](train, vali, test, settings, seed)) for settings in grid()]
    settings, (_, scores) = max(tried, key=lambda trial: trial[1][0])  # the first of equals: the smaller trees
    found = rw.evaluate(scores, test, METRICS, "letor", threads=1)
    return settings, {metric: found[metric].values.tolist() for metric in METRICS}


def folds_of(folder: Path) -> list[Path]:
    return sorted(folder.glob("Fold[0-9]*"))


def study(folder: Path, seeds: int, jobs: int) -> dict[str, Any]:
    """For each tool and metric: a value for each fold, seed and query."""
    tasks = [(tool, fold, seed) for tool in TOOLS for fold in folds_of(folder) for seed in range(seeds)]
    with ProcessPoolExecutor(jobs) as pool:
        results = list(pool.map(chosen_in_fold, *zip(*tasks, strict=True)))
    found: dict[str, Any] = {tool: {} for tool in TOOLS}
    for (tool, fold, seed), (settings, values) in zip(tasks, results, strict=True):
        found[tool].setdefault(fold.name, {})[seed] = {"settings": settings, "per_query": values}
    return found


def fold_means(found: dict[str, Any], metric: str) -> Float64Array:
    """The mean of the folds' means, one a seed."""
    by_fold = [[np.mean(run["per_query"][metric]) for run in seeds.values()] for seeds in found.values()]
    return np.asarray(np.mean(by_fold, axis=0))


def by_query(found: dict[str, Any], metric: str) -> Float64Array:
    """Each query's value, mean of the seeds."""
    return np.concatenate(
        [np.mean([run["per_query"][metric] for run in seeds.values()], axis=0) for seeds in found.values()]
    )


def tell(name: str, found: dict[str, Any]) -> list[dict[str, Any]]:
    """Print both tools' means and the difference, and give them as rows."""
    rows = [{"tool": tool, **{metric: float(fold_means(runs, metric).mean()) for metric in METRICS}}
            for tool, runs in found.items()]  # fmt: skip
    gaps: dict[str, Any] = {"tool": "difference, paired by query"}
    print(f"\n{name}: mean of five test folds (± standard deviation over seeds), letor convention")
    print(f"{'':14s}" + "".join(f"{metric:>16s}" for metric in METRICS))
    for tool, runs in found.items():
        cells = (fold_means(runs, metric) for metric in METRICS)
        print(f"{tool:14s}" + "".join(f"{cell.mean():10.4f} ±{cell.std():.3f}" for cell in cells))
    print(f"{'difference':14s}", end="")
    for metric in METRICS:
        gap = by_query(found["rankwright"], metric) - by_query(found["LightGBM"], metric)
        print(f"{gap.mean():+10.4f} ±{gap.std() / np.sqrt(len(gap)):.3f}", end="")
        gaps[metric] = f"{gap.mean():+.4f} ± {gap.std() / np.sqrt(len(gap)):.4f}"
    print("   (paired by query; ± one standard error)")
    return [*rows, gaps]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, help="LETOR folders with Fold1 to Fold5 in each")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    for folder in options.folders:
        found = study(folder, options.seeds, options.jobs)
        question = f"{folder.name}: LambdaMART beside LightGBM's lambdarank, five folds, the letor convention"
        leave(f"letor-folds-{folder.name}", question, rows=tell(folder.name, found), notes={"seeds": options.seeds})


if __name__ == "__main__":
    main()

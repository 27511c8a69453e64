"""LETOR's published baselines beside our rankers, LightGBM, XGBoost and CatBoost on the same official folds.

The rankers of the published table have the settings of `rankwright reproduce blmart-tables`. Boosted trees, ours and
the peers', are tuned with equal effort: the same number of settings from like ranges, the tool's defaults first, each
trained to the same number of trees; settings and the number of trees are the best by MAP on `vali`; `test` is looked at
once. BL-MART has its defaults. What was computed is kept in results/letor and not computed again.

    python -m benchmarks.quality.letor_table DATA/MQ2007 DATA/MQ2008
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import leave
from benchmarks.quality.systems import DRAWS, Settings, whole_labels

from rankwright.arrays import Float64Array
from rankwright.bagging.blmart import BLMART
from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import fold_folders, read_fold
from rankwright.mart.lambdamart import LambdaMART
from rankwright.metrics.confidence_intervals import bootstrap_interval
from rankwright.metrics.evaluation import RESAMPLES, evaluate
from rankwright.metrics.significance import randomisation_p_value
from rankwright.report.table_files import write_json
from rankwright.reproduce.fold_values import best_on
from rankwright.reproduce.published import LETOR_BASELINES, LETOR_METRICS
from rankwright.reproduce.set_experiments import rankers_of_table

FOLDER = RESULTS / "letor"
TRIALS, N_TREES, EVERY, CHOSEN_BY = 4, 300, 20, "map:letor"
BY_US = ("RankSVM-Struct", "ListNet", "AdaRank-MAP", "AdaRank-NDCG", "RankBoost", "SmoothRank", "BagBoo")
OURS, BAGS = "LambdaMART, tuned", "BL-MART"
STREAM = 7  # of the settings that are drawn: the same numbers for every tool
Staged = Callable[[RankingDataset, int], Float64Array]  # the scores that the first trees give
Fold = tuple[RankingDataset, RankingDataset, RankingDataset]


def _lightgbm(train: RankingDataset, settings: Settings) -> Staged:
    from lightgbm import LGBMRanker

    model = LGBMRanker(n_estimators=N_TREES, random_state=0, n_jobs=1, verbose=-1, **settings)
    booster = model.fit(train.features, whole_labels(train), group=train.groups.sizes).booster_
    return lambda data, n: np.asarray(booster.predict(data.features, num_iteration=n, num_threads=1))


def _xgboost(train: RankingDataset, settings: Settings) -> Staged:
    from xgboost import XGBRanker

    model = XGBRanker(n_estimators=N_TREES, random_state=0, n_jobs=1, **settings)
    model.fit(train.features, whole_labels(train), qid=train.groups.query_of_row)
    return lambda data, n: np.asarray(model.predict(data.features, iteration_range=(0, n)), np.float64)


def _catboost(train: RankingDataset, settings: Settings) -> Staged:
    from catboost import CatBoostRanker

    quiet = {"random_seed": 0, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    model = CatBoostRanker(iterations=N_TREES, **quiet, **settings)
    model.fit(train.features, train.labels, group_id=train.groups.query_of_row)
    return lambda data, n: np.asarray(model.predict(data.features, ntree_end=n), np.float64)


PEERS: dict[str, tuple[str, Callable[[RankingDataset, Settings], Staged]]] = {
    "LightGBM, tuned": ("lightgbm", _lightgbm),
    "XGBoost, tuned": ("xgboost", _xgboost),
    "CatBoost, tuned": ("catboost", _catboost),
}
SYSTEMS = (*BY_US, OURS, BAGS, *PEERS)


class Task(NamedTuple):
    """A system to train on a fold of a set."""

    folder: str
    fold: int
    system: str

    @property
    def path(self) -> Path:
        slug = "".join(letter if letter.isalnum() or letter == "-" else "_" for letter in self.system)
        return FOLDER / Path(self.folder).name / f"{slug}-{self.fold}.json"


def choices(name: str, trials: int) -> list[Settings]:
    """The tool's defaults and settings that are drawn."""
    rng = np.random.default_rng(STREAM)
    return [{}, *(DRAWS[name][1](rng) for _ in range(trials - 1))]


def best_by_lengths(name: str, train: Callable[..., Staged], data: Fold, trials: int) -> tuple[Any, Float64Array]:
    """A peer's settings and number of trees that are best on `vali`, and its scores of the test documents."""
    best: tuple[float, Any, Staged | None] = (-1.0, None, None)
    for settings in choices(name, trials):
        model = train(data[0], settings)
        for n in range(EVERY, N_TREES + 1, EVERY):
            value = evaluate(model(data[1], n), data[1], [CHOSEN_BY], threads=1)[CHOSEN_BY].mean
            if value > best[0]:
                best = (value, settings | {"trees": n}, model)
    assert best[2] is not None
    return best[1], best[2](data[2], best[1]["trees"])


def best_of_ours(data: Fold, trials: int) -> tuple[Any, Float64Array]:
    """The same of our LambdaMART."""
    common: Settings = {"n_trees": N_TREES, "select": CHOSEN_BY, "seed": 0, "threads": 1}
    tried = [LambdaMART(**common, **one).fit(data[0], valid=data[1]) for one in choices("lambdamart", trials)]
    best = max(range(trials), key=lambda number: tried[number].history_.best_value or 0.0)
    told = choices("lambdamart", trials)[best] | {"trees": tried[best].n_trees_}
    return told, np.asarray(tried[best].predict(data[2]))


def run(task: Task, trials: int) -> Task:
    """Train a system on a fold, and keep the value of each query by each metric."""
    one = read_fold(fold_folders(task.folder)[task.fold])
    data = (one.train, one.vali, one.test)
    start = time.process_time()
    if task.system in PEERS:
        settings, scores = best_by_lengths(*PEERS[task.system], data, trials)
    elif task.system == OURS:
        settings, scores = best_of_ours(data, trials)
    else:
        ranker = _of_table(task.system, data)
        settings, scores = {}, np.asarray(ranker.predict(data[2]))
    seconds = time.process_time() - start
    found = evaluate(scores, data[2], LETOR_METRICS, "letor", threads=1)
    values = {metric: found[metric].values.tolist() for metric in LETOR_METRICS}
    task.path.parent.mkdir(parents=True, exist_ok=True)
    write_json(task.path, {"trials": trials, "settings": settings, "seconds": seconds, "values": values})
    return task


def _of_table(system: str, data: Fold) -> Any:
    if system == BAGS:
        return BLMART(select=CHOSEN_BY, seed=0, threads=1).fit(data[0])
    rankers = rankers_of_table(system, select=CHOSEN_BY, seed=0, threads=1)
    for ranker in rankers:
        ranker.fit(data[0], valid=data[1])
    return best_on(data[1], rankers, "letor")


def rows_of(folder: str, systems: Iterable[str]) -> list[dict[str, Any]]:
    """The published rows and those that were computed on all folds: means, and MAP paired with our bags by query."""
    name = Path(folder).name
    rows: list[dict[str, Any]] = [
        {"whose": "published", "ranker": ranker, **figures} for ranker, figures in LETOR_BASELINES[name].items()
    ]
    systems = [one for one in systems if all(Task(folder, fold, one).path.exists() for fold in range(5))]
    folds = {system: [_kept(Task(folder, fold, system)) for fold in range(5)] for system in systems}
    bags = np.concatenate([one["values"]["map"] for one in folds[BAGS]]) if BAGS in folds else None
    for system, kept in folds.items():
        means = {metric: float(np.mean([np.mean(one["values"][metric]) for one in kept])) for metric in LETOR_METRICS}
        row = {"whose": "peers" if system in PEERS else "ours", "ranker": system, **means}
        if bags is not None and system != BAGS:
            row |= _gap(np.concatenate([one["values"]["map"] for one in kept]) - bags)
        rows.append(row | {"seconds": sum(one["seconds"] for one in kept)})
    return rows


def _gap(gaps: Float64Array) -> dict[str, float]:
    """The mean difference over queries, its 95 % interval, and the p-value of the randomisation test."""
    low, high = bootstrap_interval(gaps, np.ones(len(gaps)), resamples=RESAMPLES, seed=0, threads=1)
    return {"gap": float(gaps.mean()), "low": low, "high": high, "p_value": randomisation_p_value(gaps)}


def _kept(task: Task) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(task.path.read_text())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", help="LETOR 4.0's folders MQ2007 and MQ2008, with Fold1 to Fold5 in each")
    parser.add_argument("--trials", type=int, default=TRIALS, help="settings that each boosted forest is tuned with")
    parser.add_argument("--so-far", action="store_true", help="run nothing: a table of the systems that are done")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [Task(one, fold, system) for one in options.folders for system in SYSTEMS for fold in range(5)]
    missing = [task for task in tasks if not task.path.exists() or _kept(task)["trials"] != options.trials]
    missing = [] if options.so_far else missing
    with ProcessPoolExecutor(options.jobs) as pool:
        for done in as_completed([pool.submit(run, task, options.trials) for task in missing]):
            print(*done.result()[1:], flush=True)
    for folder in options.folders:
        import catboost  # noqa: F401  so that the record tells its version
        import lightgbm  # noqa: F401
        import xgboost  # noqa: F401

        name = Path(folder).name
        question = f"{name}: LETOR's published baselines beside ours and the peers', five folds"
        rows = rows_of(folder, SYSTEMS)
        ranked = {row["ranker"] for row in rows if row["whose"] != "published"}
        left_out = [system for system in SYSTEMS if system not in ranked]
        notes = {"trials": options.trials, "left_out": left_out}
        leave(f"letor-table-{name}", question, letor=name, rows=rows, notes=notes)


if __name__ == "__main__":
    main()

"""Is BL-MART better and steadier than a tuned single LambdaMART, and does overfitting in the bags help?

On each fold of LETOR folders, and on web-search-like data, for each seed: a single LambdaMART, its settings and number
of trees the best of a grid on validation documents, against BL-MART with one setting for all folds, with and without
overfitting, whose bags are chosen on queries out of the bag: it never sees the validation documents. Test documents are
looked at once. Told are the mean and the standard deviation over seeds, and the difference to the single one paired by
query (means of seeds) with the p-value of Fisher's randomisation test.

    python -m benchmarks.quality.bags --letor DATA/MQ2008 DATA/OHSUMED --web 250 --seeds 20
    python -m benchmarks.quality.bags --letor DATA/OHSUMED --folds 1 --seeds 2      # a look
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.quality.letor_folds import GRID, folds_of

import rankwright as rw
from rankwright import synthetic
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import read_fold
from rankwright.metrics.confidence_intervals import bootstrap_interval
from rankwright.metrics.significance import RANDOMISATIONS, randomisation_p_value
from rankwright.rankers.ranker import Ranker

METRICS = ("ndcg@10", "map")
N_WEB_VALID, N_WEB_TEST = 100, 1000  # queries
SHARED: dict[str, Any] = {"learning_rate": 0.05, "min_docs_in_leaf": 20, "threads": 1}
N_TREES, PATIENCE = 500, 100  # of a single one
# Chosen on OHSUMED's validation documents, and on another draw of web-like data than the one that is measured.
BAGS_OF: dict[str, dict[str, Any]] = {
    "letor": {"n_bags": 20, "max_leaves": 7, "n_trees": 200, "query_fraction": 0.5, "feature_fraction": 0.5},
    "web": {"n_bags": 20, "max_leaves": 7, "n_trees": 400, "query_fraction": 0.5, "feature_fraction": 0.3},
}
SINGLE, WITHOUT, WITH = "LambdaMART, tuned", "BL-MART, overfit=False", "BL-MART, overfit=True"
ROWS = (SINGLE, WITHOUT, WITH)
Parts = tuple[RankingDataset, RankingDataset, RankingDataset]
Values = dict[str, list[float]]  # of each metric, one a test query


@cache
def letor_parts(folder: Path) -> Parts:
    fold = read_fold(folder)
    return fold.train, fold.vali, fold.test


@cache
def web_parts(n_train: int) -> Parts:
    data = synthetic.web_search(n_train + N_WEB_VALID + N_WEB_TEST, seed=7)
    ends = np.cumsum([0, n_train, N_WEB_VALID, N_WEB_TEST])
    train, vali, test = (data.take_queries(np.arange(*ends[part : part + 2])) for part in range(3))
    return train, vali, test


def tuned(parts: Parts, _kind: str, seed: int, select: str) -> Ranker:
    """The LambdaMART that the validation documents like best; the first of equals has the smaller trees."""
    train, vali, _ = parts
    choices: list[dict[str, Any]] = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    tried = [
        rw.LambdaMART(**SHARED, **choice, n_trees=N_TREES, early_stopping=PATIENCE, select=select, seed=seed).fit(
            train, valid=vali
        )
        for choice in choices
    ]
    return max(tried, key=lambda ranker: ranker.history_.best_value or 0.0)


def bagged(parts: Parts, kind: str, seed: int, select: str, *, overfit: bool) -> Ranker:
    return rw.BLMART(**SHARED, **BAGS_OF[kind], select=select, overfit=overfit, seed=seed).fit(parts[0])


MAKERS: dict[str, Callable[..., Ranker]] = {
    SINGLE: tuned,
    WITHOUT: lambda *given: bagged(*given, overfit=False),
    WITH: lambda *given: bagged(*given, overfit=True),
}


def values_of(row: str, kind: str, part: str, seed: int, convention: str) -> Values:
    """Each metric's value on each test query of a fold, or of web-like data made of so many queries."""
    parts = web_parts(int(part)) if kind == "web" else letor_parts(Path(part))
    ranker = MAKERS[row](parts, kind, seed, f"map:{convention}" if kind == "letor" else "ndcg@10")
    found = rw.evaluate(ranker.predict(parts[2]), parts[2], METRICS, convention, threads=1)
    return {metric: found[metric].values.tolist() for metric in METRICS}


def study(kind: str, folds: list[str], options: argparse.Namespace) -> dict[str, dict[str, Float64Array]]:
    """For each row and metric, an array (seeds, queries of all folds)."""
    tasks = [
        (row, kind, fold, seed, options.convention) for row in ROWS for seed in range(options.seeds) for fold in folds
    ]
    with ProcessPoolExecutor(options.jobs) as pool:
        results = iter(list(pool.map(values_of, *zip(*tasks, strict=True))))
    found: dict[str, dict[str, Float64Array]] = {}
    for row in ROWS:
        runs = [[next(results) for _ in folds] for _ in range(options.seeds)]
        found[row] = {
            metric: np.array([np.concatenate([fold[metric] for fold in run]) for run in runs]) for metric in METRICS
        }
    return found


def tell(name: str, found: dict[str, dict[str, Float64Array]], options: argparse.Namespace) -> dict[str, Any]:
    record: dict[str, Any] = {}
    print(f"\n{name}: mean over test queries ± standard deviation over {options.seeds} seeds, {options.convention}")
    for metric in METRICS:
        single = found[SINGLE][metric]
        for row in ROWS:
            values = found[row][metric]
            means = np.nanmean(values, axis=1)
            deviation = float(means.std(ddof=1)) if options.seeds > 1 else 0.0
            gaps = np.nan_to_num(values.mean(axis=0) - single.mean(axis=0))
            record[f"{row}, {metric}"] = {
                "mean": float(means.mean()),
                "deviation": deviation,
                "gap": float(gaps.mean()),
                "p": 1.0 if row == SINGLE else randomisation_p_value(gaps),
            }
            cell = record[f"{row}, {metric}"]
            print(
                f"  {metric:8s} {row:24s} {cell['mean']:.4f} ± {deviation:.4f}"
                + ("" if row == SINGLE else f"   {cell['gap']:+.4f} by query, p {cell['p']:.4f}")
            )
    for metric in METRICS:
        gaps = np.nan_to_num(found[WITH][metric].mean(axis=0) - found[WITHOUT][metric].mean(axis=0))
        low, high = bootstrap_interval(gaps, np.ones(len(gaps)), resamples=RANDOMISATIONS, seed=0, threads=1)
        numbers = {"gap": float(gaps.mean()), "low": low, "high": high, "p": randomisation_p_value(gaps)}
        record[f"overfit=True less overfit=False, {metric}"] = numbers
        print(
            f"  {metric}: overfit=True less overfit=False {gaps.mean():+.4f} by query, 95 % interval {low:+.4f} to "
            f"{high:+.4f}, p {numbers['p']:.4f}"
        )
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--letor", nargs="*", type=Path, default=[], help="LETOR folders with Fold1 to Fold5 in each")
    parser.add_argument("--web", type=int, nargs="*", default=[], help="training queries of web-like data; 250: 30,000")
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--convention", default="letor")
    options = parser.parse_args()
    sources = [
        (folder.name, "letor", [str(fold) for fold in folds_of(folder)[: options.folds]]) for folder in options.letor
    ]
    sources += [(f"web-like, {n_queries} queries", "web", [str(n_queries)]) for n_queries in options.web]
    for name, kind, folds in sources:
        record = tell(name, study(kind, folds, options), options)
        rows = [{"what": what, **numbers} for what, numbers in record.items()]
        leave(f"bag-quality-{name}", f"{name}: BL-MART beside a tuned LambdaMART", rows=rows, notes={})


if __name__ == "__main__":
    main()

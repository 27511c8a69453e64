"""How does quality change with the number of trees, and how far does a setting matter at its best length?

Each LambdaMART of up to 1,000 trees is measured on the test queries of each fold after 25, 50, … trees. Told is, for
every set, the difference in NDCG@10 to LightGBM's defaults (which `benchmarks.quality.rankers` computed) at each
length, and the mean over sets at the best fixed length and at each set's own best one, which is out of reach: it is
chosen on the test queries. It serves to compare settings, not to boast.

    python -m benchmarks.quality.lengths 'max_leaves=7,learning_rate=0.05' 'max_leaves=7,learning_rate=0.05,l2=20'
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
from benchmarks.helpers.records import show
from benchmarks.quality.data_sets import available, fold_of, n_folds
from benchmarks.quality.rankers import FOLDER, values_of
from benchmarks.quality.systems import Settings, parse

import rankwright as rw
from rankwright.arrays import Float64Array

METRIC, PEER, FOLDS = "ndcg@10", "lightgbm()", 5
STAGES = (25, 50, 75, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1000)


def place_of(settings: str, name: str, fold: int) -> Path:
    return FOLDER / "lengths" / settings.replace("/", "_") / f"{name}-{fold}.npy"


def measure(settings: str, name: str, fold: int) -> None:
    """Keep the metric of each test query after each number of trees."""
    train, test = fold_of(name, fold)
    _, chosen = parse(f"lambdamart({settings})")
    usual: Settings = {"n_trees": STAGES[-1], "seed": fold, "threads": 1}
    ranker = rw.LambdaMART(**(usual | chosen)).fit(train)
    rows = []
    for n_trees in STAGES:
        part = ranker.with_forest(ranker.forest_.truncated(min(n_trees, ranker.n_trees_)))
        rows.append(np.nan_to_num(rw.evaluate(part.predict(test), test, [METRIC], threads=1)[METRIC].values))
    place = place_of(settings, name, fold)
    place.parent.mkdir(parents=True, exist_ok=True)
    np.save(place, np.array(rows))


def differences(settings: str, name: str) -> Float64Array:
    """The mean difference to the peer after each number of trees."""
    values = np.concatenate([np.load(place_of(settings, name, fold)) for fold in range(n_folds(name))], axis=1)
    peer = np.nan_to_num(values_of(PEER, [name], METRIC, FOLDS)[name])
    return np.asarray((values - peer).mean(axis=1))


def rows_of(settings: str, sets: list[str]) -> list[dict[str, object]]:
    """The differences of each set and their mean, by the number of trees, and the best of each."""
    found = {name: differences(settings, name) for name in sets}
    found["mean of sets"] = np.mean(list(found.values()), axis=0)
    own = float(np.mean([found[name].max() for name in sets]))
    return [
        {
            "settings": settings,
            "set": name,
            **{str(stage): f"{value:+.4f}" for stage, value in zip(STAGES, row, strict=True)},
            "best length": STAGES[int(row.argmax())],
            "at the best": f"{row.max():+.4f}" + (f"; each set at its own {own:+.4f}" if name not in sets else ""),
        }
        for name, row in found.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("settings", nargs="+", help="settings of LambdaMART, separated by commas")
    parser.add_argument("--sets", nargs="+")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sets = options.sets or [name for name in available() if name not in ("web-3000", "web-30000")]
    tasks = [(one, name, fold) for one in options.settings for name in sets for fold in range(n_folds(name))]
    missing = [task for task in tasks if not place_of(*task).exists()]
    with ProcessPoolExecutor(options.jobs) as pool:
        for running in [pool.submit(measure, *task) for task in missing]:
            running.result()
    show(
        "quality-lengths",
        f"NDCG@10 by the number of trees, less that of {PEER}",
        [row for settings in options.settings for row in rows_of(settings, sets)],
    )


if __name__ == "__main__":
    main()

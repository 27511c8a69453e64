"""With validation data: what does each part of LambdaMART's defaults bring on queries of neither part?

Asked of the official folds of LETOR's sets, without their test parts: of each fold's training queries a third stands in
for the test part, the rest is trained on, and `vali` is the validation data. `MQ2007-200` trains on 200 queries of
MQ2007's training part and validates on 70; the others stand in. What was run is kept in results/validation-data.

    python -m benchmarks.quality.validation_data              # goes on where it was stopped; then tells
    python -m benchmarks.quality.validation_data --tell
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path

import numpy as np
from benchmarks.helpers.places import DATA, RESULTS
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.formats.reading import read_wide
from rankwright.rankers.ranker import Ranker

SETS, FOLDS, N_PARTS, SEED = ("OHSUMED", "MQ2008", "MQ2007-200"), 5, 3, 20
FEW, N_TRAIN, N_VALID = "MQ2007-200", 200, 70
METRICS = ("ndcg@10", "map")
FOLDER = RESULTS / "validation-data"

SYSTEMS: dict[str, Callable[[int], Ranker]] = {
    "lambdamart": lambda seed: rw.LambdaMART(seed=seed, threads=1),
    "rate .05": lambda seed: rw.LambdaMART(learning_rate=0.05, seed=seed, threads=1),
    "one forest": lambda seed: rw.LambdaMART(warm_start=True, seed=seed, threads=1),
    "validation data alone": lambda seed: rw.LambdaMART(early_stopping=60, seed=seed, threads=1),
}


def parts_of(name: str, fold: int) -> Sequence[RankingDataset]:
    """What is trained on, what is validated on, and the stand-in for the test part."""
    folder = DATA / name.split("-")[0] / f"Fold{fold}"
    whole = rw.read(folder / "train.txt.gz")
    if name == FEW:
        order = np.random.default_rng(7 + fold).permutation(whole.n_queries)
        return [whole.take_queries(np.sort(one)) for one in np.split(order, [N_TRAIN, N_TRAIN + N_VALID])]
    cut = k_fold(whole.groups, N_PARTS, seed=SEED)[fold % N_PARTS]
    valid = read_wide(folder / "vali.txt.gz", whole.n_features)
    return whole.take_queries(cut.train), valid, whole.take_queries(cut.test)


def place_of(name: str, fold: int, system: str) -> Path:
    return FOLDER / f"{name}-{fold}-{system.replace(' ', '-')}.npy"


def run(name: str, fold: int, system: str) -> None:
    """Train, and keep each query's values."""
    train, valid, test = parts_of(name, fold)
    ranker = SYSTEMS[system](fold).fit(train, valid=valid)
    found = rw.evaluate(ranker.predict(test), test, METRICS, threads=1)
    FOLDER.mkdir(parents=True, exist_ok=True)
    np.save(place_of(name, fold, system), [np.nan_to_num(found[metric].values) for metric in METRICS])
    print(name, fold, system, f"{found[METRICS[0]].mean:.4f}", flush=True)


def rows(done: dict[str, list[int]]) -> Iterator[dict[str, object]]:
    """Each system's difference from the first, by set and over sets."""

    def values(name: str, system: str) -> Float64Array:
        return np.concatenate([np.load(place_of(name, fold, system)) for fold in done[name]], axis=1)

    for system in SYSTEMS:
        gaps = {name: values(name, system) - values(name, next(iter(SYSTEMS))) for name in done}
        row: dict[str, object] = {"": system}
        for place, metric in enumerate(METRICS):
            for name, gap in gaps.items():
                row[f"{metric} {name}"] = f"{gap[place].mean():+.4f} ± {gap[place].std() / np.sqrt(gap.shape[1]):.4f}"
            row[f"{metric} all"] = f"{np.mean([gap[place].mean() for gap in gaps.values()]):+.4f}"
        yield row


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--tell", action="store_true", help="compute nothing more")
    options = parser.parse_args()
    for fold, name, system in product(range(1, FOLDS + 1), options.sets, SYSTEMS):
        if not options.tell and not place_of(name, fold, system).exists():
            run(name, fold, system)
    done = {
        name: [fold for fold in range(1, FOLDS + 1) if all(place_of(name, fold, one).exists() for one in SYSTEMS)]
        for name in options.sets
    }
    found = list(rows({name: folds for name, folds in done.items() if folds}))
    show("quality-validation-data", "With validation data: differences from LambdaMART(), on a stand-in", found)


if __name__ == "__main__":
    main()

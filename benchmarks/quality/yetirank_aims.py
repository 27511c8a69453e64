"""Do YetiRank's forces that aim at MAP or MRR rank better by these metrics than LambdaRank's, the default there?

On the official folds of LETOR's sets without their test parts, as in `validation_data`: a third of each fold's training
queries is tested on. Forests of one length, so that nothing is chosen. Results are kept; the same command goes on.

    python -m benchmarks.quality.yetirank_aims --sets MQ2008 OHSUMED
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path

import numpy as np
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import show
from benchmarks.quality.validation_data import FOLDS, SETS, parts_of

import rankwright as rw

FOLDER, N_TREES = RESULTS / "yetirank-aims", 150
AIMS = ("map", "mrr")


def forces_of(aim: str) -> tuple[str, ...]:
    return f"lambdarank:{aim}", f"yetirank:{aim}", "yetirank"


def place_of(name: str, fold: int, aim: str, forces: str) -> Path:
    return FOLDER / f"{name}-{fold}-{aim}-{forces.replace(':', '-')}.npy"


def measure(name: str, fold: int, aim: str, forces: str) -> None:
    place = place_of(name, fold, aim, forces)
    if place.exists():
        return
    train, _, test = parts_of(name, fold)
    ranker = rw.LambdaMART(objective=forces, metric=aim, n_trees=N_TREES, seed=fold, threads=1).fit(train)
    place.parent.mkdir(parents=True, exist_ok=True)
    np.save(place, np.nan_to_num(rw.evaluate(ranker.predict(test), test, [aim], threads=1)[aim].values))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    sets = parser.parse_args().sets
    for fold, name, aim in product(range(1, FOLDS + 1), sets, AIMS):
        for forces in forces_of(aim):
            measure(name, fold, aim, forces)
    rows = []
    for aim, name in product(AIMS, sets):
        usual, *others = (
            np.concatenate([np.load(place_of(name, fold, aim, forces)) for fold in range(1, FOLDS + 1)])
            for forces in forces_of(aim)
        )
        row: dict[str, object] = {"metric": aim, "set": name, forces_of(aim)[0]: float(usual.mean())}
        for forces, other in zip(forces_of(aim)[1:], others, strict=True):
            gap = other - usual
            row[forces.partition(":")[0] + (" with the aim" if ":" in forces else "")] = (
                f"{gap.mean():+.4f} ± {gap.std() / np.sqrt(len(gap)):.4f}"
            )
        rows.append(row)
    show("quality-yetirank-aims", "YetiRank's forces against LambdaRank's, for MAP and MRR", rows)


if __name__ == "__main__":
    main()

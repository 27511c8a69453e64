"""With validation data: `LambdaMART()` and `BLMART()` beside CatBoost and LightGBM with early stopping, official folds.

In each fold of LETOR's sets every system is trained on `train`, `vali` chooses its number of trees, and `test` is
looked at once. Settings are defaults; LightGBM also has small trees, which suit these sets. The metric that is watched
is NDCG@10. `blend`, if asked for, is the mean of z-scores of `BLMART()` and `RankNet()`. Differences are paired by
query, and sets weigh alike in the mean over sets. What was run is kept in results/official-folds, and with `--record`
taken to another machine: the same command goes on.

    python -m benchmarks.quality.official_folds --record docs/records
    python -m benchmarks.quality.official_folds --sets MQ2007 --systems blend bl-mart --record docs/records
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.helpers.kept_runs import leave_record, take_record
from benchmarks.helpers.places import DATA, RESULTS
from benchmarks.helpers.records import show
from benchmarks.quality.judge import ByQuery, judge_pooled, judge_set
from benchmarks.quality.systems import whole_labels

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.formats.reading import read_wide

SETS, FOLDS, METRICS = ("OHSUMED", "MQ2008", "MQ2007"), 5, ("ndcg@10", "map")
FOLDER, RECORD = RESULTS / "official-folds", "official-folds.tar.xz"
MOST_TREES, PATIENCE = 1000, 100
Parts = tuple[RankingDataset, RankingDataset, RankingDataset]


def parts_of(name: str, fold: int) -> Parts:
    """What is trained on, what chooses, and what is tested on."""
    folder = DATA / name / f"Fold{fold}"
    train = rw.read(folder / "train.txt.gz")
    valid, test = (read_wide(folder / f"{part}.txt.gz", train.n_features) for part in ("vali", "test"))
    return train, valid, test


def _lambdamart(train: RankingDataset, valid: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
    return rw.LambdaMART(seed=seed, threads=1).fit(train, valid=valid).predict(test)


def _blmart(train: RankingDataset, valid: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
    return rw.BLMART(seed=seed, threads=1).fit(train, valid=valid).predict(test)


def _blend(train: RankingDataset, valid: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
    parts = [kind(seed=seed, threads=1).fit(train, valid=valid) for kind in (rw.BLMART, rw.RankNet)]
    return rw.blend(parts, valid, weights=[1, 1]).predict(test)


def _catboost(train: RankingDataset, valid: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
    from catboost import CatBoostRanker, Pool

    pools = [Pool(one.features, whole_labels(one), group_id=one.groups.query_of_row) for one in (train, valid)]
    model = CatBoostRanker(
        iterations=MOST_TREES, eval_metric="NDCG:top=10;type=Exp", random_seed=seed, thread_count=1, verbose=False,
        allow_writing_files=False,
    )  # fmt: skip
    model.fit(pools[0], eval_set=pools[1], early_stopping_rounds=PATIENCE)
    return np.asarray(model.predict(test.features), np.float64)


def _lightgbm(**settings: Any) -> Callable[..., Float64Array]:
    def scores(train: RankingDataset, valid: RankingDataset, test: RankingDataset, seed: int) -> Float64Array:
        from lightgbm import LGBMRanker, early_stopping

        warnings.simplefilter("ignore")  # of names of arguments that are to change
        quiet: dict[str, Any] = {"random_state": seed, "n_jobs": 1, "verbose": -1, "n_estimators": MOST_TREES}
        model = LGBMRanker(**(quiet | settings))
        watched: dict[str, Any] = {
            "eval_set": [(valid.features, whole_labels(valid))],
            "eval_group": [valid.groups.sizes],
        }
        stop = early_stopping(PATIENCE, verbose=False)
        sizes = train.groups.sizes
        model.fit(train.features, whole_labels(train), group=sizes, eval_at=[10], callbacks=[stop], **watched)
        return np.asarray(model.booster_.predict(test.features, num_threads=1))

    return scores


OURS: dict[str, Callable[..., Float64Array]] = {"lambdamart": _lambdamart, "bl-mart": _blmart, "blend": _blend}
PEERS: dict[str, Callable[..., Float64Array]] = {
    "catboost": _catboost,
    "lightgbm": _lightgbm(),
    "lightgbm-small": _lightgbm(num_leaves=7, learning_rate=0.05),
}


DEFAULT = ("lambdamart", "bl-mart", *PEERS)


class Task(NamedTuple):
    """A system on a fold."""

    set: str
    fold: int
    system: str

    @property
    def path(self) -> Path:
        return FOLDER / self.set / self.system / f"{self.fold}.json"

    def run(self) -> None:
        """Train and test, and keep each query's values and the processor time."""
        train, valid, test = parts_of(self.set, self.fold)
        begin = time.process_time()
        scores = (OURS | PEERS)[self.system](train, valid, test, self.fold)
        seconds = time.process_time() - begin
        found = rw.evaluate(scores, test, METRICS, threads=1)
        kept: dict[str, Any] = {metric: np.round(found[metric].values, 6).tolist() for metric in METRICS}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        part = self.path.with_suffix(".part")
        part.write_text(json.dumps(kept | {"seconds": round(seconds, 2)}))
        part.rename(self.path)
        print(*self, f"{found[METRICS[0]].mean:.4f}, {seconds:.1f} s", flush=True)


def kept_of(name: str, system: str, folds: Sequence[int]) -> list[dict[str, Any]]:
    return [json.loads(Task(name, fold, system).path.read_text()) for fold in folds]


def values_of(name: str, system: str, folds: Sequence[int], metric: str) -> Float64Array:
    return np.asarray(np.nan_to_num(np.concatenate([one[metric] for one in kept_of(name, system, folds)])))


def pooled(gaps: ByQuery) -> str:
    """The mean over sets of what one system has more, its 95 % interval, and what chance could do."""
    one = judge_pooled(gaps)
    return f"{one.difference:+.4f} ({one.low:+.4f} to {one.high:+.4f}), p {one.p_value:.3f}"


def rows(done: dict[str, list[int]], systems: Sequence[str]) -> Iterator[dict[str, object]]:
    """Each system's means, and the leads of ours over each peer, and of the blend over the others of ours."""
    ours = [system for system in systems if system in OURS]
    pairs = [*product(ours, [system for system in systems if system in PEERS])]
    pairs += [("blend", own) for own in ours if own != "blend" and "blend" in ours]
    for metric in METRICS:
        values = {(name, system): values_of(name, system, folds, metric)
                  for name, folds in done.items() for system in systems}  # fmt: skip
        for system in systems:
            row: dict[str, object] = {"": f"{system}, {metric}"}
            for name, folds in done.items():
                seconds = np.mean([one["seconds"] for one in kept_of(name, system, folds)])
                row[name] = f"{values[name, system].mean():.4f} ({seconds:.0f} s a fold)"
            yield row
        for own, peer in pairs:
            gaps = {name: values[name, own] - values[name, peer] for name in done}
            found = {name: judge_set(gap) for name, gap in gaps.items()}
            row = {"": f"{own} over {peer}, {metric}"}
            row |= {name: f"{one.difference:+.4f} ± {one.error:.4f}" for name, one in found.items()}
            yield row | {"mean of sets": pooled(gaps)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", nargs="+", type=int, default=list(range(1, FOLDS + 1)))
    parser.add_argument("--systems", nargs="+", choices=(*OURS, *PEERS), default=list(DEFAULT))
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep results in this folder, too, in one file")
    parser.add_argument("--tell", action="store_true", help="run nothing more")
    options = parser.parse_args()
    if options.record:
        take_record(options.record / RECORD, FOLDER)
    if not options.tell:
        for task in (Task(*one) for one in product(options.sets, options.folds, options.systems)):
            if not task.path.exists():
                task.run()
    if options.record:
        leave_record(options.record / RECORD, FOLDER, FOLDER.glob("*/*/*.json"))
    done = {
        name: [fold for fold in options.folds if all(Task(name, fold, one).path.exists() for one in options.systems)]
        for name in options.sets
    }
    told = ", ".join(f"{name} {len(folds)}" for name, folds in done.items())
    found = list(rows({name: folds for name, folds in done.items() if folds}, options.systems))
    show("quality-official-folds", f"With validation data, official folds ({told})", found)


if __name__ == "__main__":
    main()

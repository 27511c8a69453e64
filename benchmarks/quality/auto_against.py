"""`AutoRanker` beside CatBoost and LightGBM with Optuna, FLAML's `task="rank"`, and `BLMART()`: equal time, one core.

Everybody gets `train` and `vali` of a fold and so many seconds of processor time on one thread; `test` is looked at
once. LETOR's sets have their official folds; the others five folds of the queries, with a quarter of each training part
as `vali`. With Optuna, trials begin with the tool's defaults, early stopping on `vali` chooses the number of trees, and
NDCG@10 on `vali` the trial; enough time is left to train the best again, with as many trees, on both parts. FLAML looks
at the same holdout, trains again on both, and sees processor time where it asks for the time of day. `BLMART()` has its
defaults and takes what it takes. FLAML is not needed for the rest: it is left out where it is not installed. What was
run is kept in results/auto-against, and with `--record` taken to another machine: the same command goes on.

    pip install "flaml[automl]" optuna catboost lightgbm
    python -m benchmarks.quality.auto_against --budget 180 --record docs/records
    python -m benchmarks.quality.auto_against --budget 60 --sets OHSUMED --folds 1 --record docs/records
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.helpers.kept_runs import leave_record, take_record
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import show
from benchmarks.quality.data_sets import available, fold_of
from benchmarks.quality.judge import judge_set
from benchmarks.quality.official_folds import METRICS, Parts, parts_of, pooled
from benchmarks.quality.official_folds import SETS as OFFICIAL
from benchmarks.quality.systems import whole_labels

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.cluster.in_process import SerialEngine
from rankwright.data.dataset import RankingDataset

OTHERS = ("mslr", "lightgbm-example", "web-300", "web-3000")
SETS, FOLDS, INNER_VALID = (*OFFICIAL, *OTHERS), 5, 0.25
FOLDER, RECORD = RESULTS / "auto-against", "auto-against.tar.xz"
MOST_TREES, PATIENCE = 2000, 50
REFIT = 1.6  # times the seconds of a trial: both parts are larger than `train`, and the last seconds are uncertain
Settings = dict[str, Any]


class OutOfTimeError(Exception):
    """A trial that would not end in time."""


class Clock:
    """The processor seconds that a system may take, beginning now."""

    def __init__(self, budget: float) -> None:
        self.began, self.budget = time.process_time(), budget

    @property
    def spent(self) -> float:
        return time.process_time() - self.began

    def check(self, reserve: float) -> None:
        if self.spent + reserve > self.budget:
            raise OutOfTimeError


def joined(parts: Sequence[RankingDataset]) -> RankingDataset:
    """The queries of all parts."""
    features = np.concatenate([part.features for part in parts])
    labels = np.concatenate([whole_labels(part) for part in parts])
    sizes = np.concatenate([part.groups.sizes for part in parts])
    return RankingDataset.from_arrays(features, labels.astype(np.float32), group=sizes)


def parts_for(name: str, fold: int) -> Parts:
    """What is trained on, what chooses, and what is tested on; folds count from 1."""
    if name in OFFICIAL:
        return parts_of(name, fold)
    whole, test = fold_of(name, fold - 1)
    train, valid = whole.split(valid=INNER_VALID, seed=fold)
    return train, valid, test


def _auto(parts: Parts, seed: int, budget: float) -> Float64Array:
    train, valid, test = parts
    ranker = rw.AutoRanker(budget=budget, seed=seed, threads=1).on(SerialEngine()).fit(joined([train, valid]))
    qid = test.groups.query_of_row
    return np.asarray(ranker.predict(test.features, qid=qid))


def _blmart(parts: Parts, seed: int, budget: float) -> Float64Array:  # noqa: ARG001  # it has no budget
    train, valid, test = parts
    return rw.BLMART(seed=seed, threads=1).fit(joined([train, valid])).predict(test)


class Learner(NamedTuple):
    """How a peer is searched: settings of a trial, one training, which gives the number of trees, and scores."""

    first: Settings
    draw: Callable[[Any], Settings]
    train: Callable[..., tuple[Any, int]]
    scores: Callable[[Any, Any], Float64Array]


def _by_optuna(learner: Learner, parts: Parts, seed: int, budget: float) -> Float64Array:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    clock, (train, valid, test) = Clock(budget), parts
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=seed))
    study.enqueue_trial(learner.first)
    best: tuple[float, Settings, int, Any] | None = None
    reserve = 0.0  # for the training of the best on both parts
    while True:
        trial, begin = study.ask(), clock.spent
        settings = learner.draw(trial)
        try:
            model, n_trees = learner.train(settings, train, valid, None, seed, partial(clock.check, reserve))
        except OutOfTimeError:
            break
        value = rw.evaluate(learner.scores(model, valid.features), valid, [METRICS[0]], threads=1)[METRICS[0]].mean
        study.tell(trial, value)
        if best is None or value > best[0]:
            best, reserve = (value, settings, n_trees, model), REFIT * (clock.spent - begin)
    if best is None:
        raise SystemExit(f"{budget} s are too few for one training: give more")
    _, settings, n_trees, model = best
    with_both = joined([train, valid])
    final, _ = learner.train(settings, with_both, None, n_trees, seed, lambda: None)
    return learner.scores(final, test.features)


def _draw_lightgbm(trial: Any) -> Settings:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, 127, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 5, 200, log=True),
        "subsample": trial.suggest_float("subsample", 0.4, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.2, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-3, 30, log=True),
    }


def _train_lightgbm(
    settings: Settings, data: RankingDataset, valid: RankingDataset | None, n_trees: int | None, seed: int,
    check: Callable[[], None],
) -> tuple[Any, int]:  # fmt: skip
    from lightgbm import LGBMRanker, early_stopping

    fixed: Settings = {"random_state": seed, "n_jobs": 1, "verbose": -1, "subsample_freq": 1, "bagging_by_query": True}
    model = LGBMRanker(**fixed, **settings, n_estimators=n_trees or MOST_TREES)
    watched: Settings = {"callbacks": [lambda _: check()]}
    if valid is not None:
        watched["callbacks"].append(early_stopping(PATIENCE, verbose=False))
        watched |= {"eval_set": [(valid.features, whole_labels(valid))], "eval_group": [valid.groups.sizes]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of names of arguments that are to change
        model.fit(data.features, whole_labels(data), group=data.groups.sizes, eval_at=[10], **watched)
    return model, int(model.best_iteration_ or n_trees or MOST_TREES)


def _draw_catboost(trial: Any) -> Settings:
    return {
        "learning_rate": trial.suggest_float("learning_rate", 0.02, 0.3, log=True),
        "depth": trial.suggest_int("depth", 3, 8),
        "l2_leaf_reg": trial.suggest_float("l2_leaf_reg", 1, 30, log=True),
        "random_strength": trial.suggest_float("random_strength", 0.1, 10, log=True),
        "rsm": trial.suggest_float("rsm", 0.2, 1.0),
    }


def _train_catboost(
    settings: Settings, data: RankingDataset, valid: RankingDataset | None, n_trees: int | None, seed: int,
    check: Callable[[], None],
) -> tuple[Any, int]:  # fmt: skip
    from catboost import CatBoostRanker, Pool

    class Stop:
        """CatBoost's loop swallows exceptions of callbacks, but not a word to stop."""

        stopped = False

        def after_iteration(self, _: Any) -> bool:
            try:
                check()
            except OutOfTimeError:
                self.stopped = True
            return not self.stopped

    def pool(one: RankingDataset) -> Any:
        return Pool(one.features, whole_labels(one), group_id=one.groups.query_of_row)

    fixed = {"random_seed": seed, "thread_count": 1, "verbose": False, "allow_writing_files": False}
    goal = {"loss_function": "YetiRank", "eval_metric": "NDCG:top=10;type=Exp"}
    model = CatBoostRanker(**fixed, **goal, **settings, iterations=n_trees or MOST_TREES)
    stop = Stop()
    watched = {} if valid is None else {"eval_set": pool(valid), "early_stopping_rounds": PATIENCE}
    model.fit(pool(data), callbacks=[stop], **watched)
    if stop.stopped:
        raise OutOfTimeError
    return model, int(model.tree_count_)


def _of_model(model: Any, features: Any) -> Float64Array:
    return np.asarray(model.predict(features), np.float64)


LIGHTGBM = Learner(
    {"learning_rate": 0.1, "num_leaves": 31, "min_child_samples": 20, "subsample": 1.0, "colsample_bytree": 1.0,
     "reg_lambda": 1e-3},
    _draw_lightgbm, _train_lightgbm, _of_model,
)  # fmt: skip
CATBOOST = Learner(
    {"learning_rate": 0.05, "depth": 6, "l2_leaf_reg": 3, "random_strength": 1.0, "rsm": 1.0},
    _draw_catboost, _train_catboost, _of_model,
)  # fmt: skip


def _flaml(parts: Parts, seed: int, budget: float) -> Float64Array:
    train, valid, test = parts
    usual, begin = time.time, time.time() - time.process_time()
    time.time = lambda: begin + time.process_time()  # a busy machine takes nothing from its budget
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = import_module("flaml").AutoML()  # which has no types, and need not be there
            model.fit(
                X_train=train.features, y_train=whole_labels(train), groups=train.groups.sizes,
                X_val=valid.features, y_val=whole_labels(valid), groups_val=valid.groups.sizes,
                task="rank", metric="ndcg@10", eval_method="holdout", retrain_full="budget", time_budget=budget,
                n_jobs=1, seed=seed, verbose=0,
            )  # fmt: skip
            return np.asarray(model.predict(test.features), np.float64)
    finally:
        time.time = usual


SYSTEMS: dict[str, Callable[[Parts, int, float], Float64Array]] = {
    "auto": _auto,
    "bl-mart": _blmart,
    "lightgbm-optuna": partial(_by_optuna, LIGHTGBM),
    "catboost-optuna": partial(_by_optuna, CATBOOST),
    "flaml": _flaml,
}


class Task(NamedTuple):
    """A system on a fold, with so many seconds."""

    set: str
    fold: int
    system: str
    budget: float

    @property
    def path(self) -> Path:
        seconds = "any" if self.system == "bl-mart" else f"{self.budget:g}"
        return FOLDER / seconds / self.set / self.system / f"{self.fold}.json"

    def run(self) -> None:
        """Search, train and test; keep each query's values and the processor time."""
        parts = parts_for(self.set, self.fold)
        begin = time.process_time()
        scores = SYSTEMS[self.system](parts, self.fold, self.budget)
        seconds = time.process_time() - begin
        found = rw.evaluate(scores, parts[-1], METRICS, threads=1)
        kept: dict[str, Any] = {metric: np.round(found[metric].values, 6).tolist() for metric in METRICS}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = self.path.with_suffix(".part")
        unfinished.write_text(json.dumps(kept | {"seconds": round(seconds, 2)}))
        unfinished.rename(self.path)
        print(*self, f"{found[METRICS[0]].mean:.4f}, {seconds:.1f} s", flush=True)

    @property
    def kept(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.path.read_text())
        return found


def rows(done: Sequence[tuple[str, int]], systems: Sequence[str], budget: float) -> Iterator[dict[str, object]]:
    """Each system's means, and auto's lead over each other, by set and in the mean of sets."""
    names = list(dict.fromkeys(name for name, _ in done))

    def values(name: str, system: str, metric: str) -> Float64Array:
        found = [Task(own, fold, system, budget).kept[metric] for own, fold in done if own == name]
        return np.asarray(np.nan_to_num(np.concatenate(found)))

    for metric in METRICS:
        for system in systems:
            row: dict[str, object] = {"": f"{system}, {metric}"}
            for name in names:
                kept = [Task(own, fold, system, budget).kept for own, fold in done if own == name]
                seconds = np.mean([one["seconds"] for one in kept])
                row[name] = f"{values(name, system, metric).mean():.4f} ({seconds:.0f} s)"
            yield row
        for other in systems[1:]:
            gaps = {name: values(name, systems[0], metric) - values(name, other, metric) for name in names}
            row = {"": f"{systems[0]} over {other}, {metric}"}
            for name, gap in gaps.items():
                one = judge_set(gap)
                row[name] = f"{one.difference:+.4f} ± {one.error:.4f}"
            yield row | {"mean of sets": pooled(gaps)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--budget", type=float, default=180, help="processor seconds of each system on each fold")
    parser.add_argument("--sets", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--folds", nargs="+", type=int, default=list(range(1, FOLDS + 1)))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep results in this folder, too, in one file")
    parser.add_argument("--tell", action="store_true", help="run nothing more")
    options = parser.parse_args()
    here = {*OFFICIAL, *available()}
    sets = [name for name in options.sets if name in here]
    if options.record:
        take_record(options.record / RECORD, FOLDER)
    can_run = [system for system in options.systems if system != "flaml" or find_spec("flaml")]
    if not options.tell:
        for task in (Task(*one, options.budget) for one in product(sets, options.folds, can_run)):
            if not task.path.exists():
                task.run()
    if options.record:
        leave_record(options.record / RECORD, FOLDER, FOLDER.glob("*/*/*/*.json"))
    done = [
        one
        for one in product(sets, options.folds)
        if all(Task(*one, system, options.budget).path.exists() for system in options.systems)
    ]
    if not done:
        print("no fold has results of all these systems yet")
        return
    told = ", ".join(f"{name} {n_folds}" for name, n_folds in Counter(name for name, _ in done).items())
    question = f"AutoRanker and others with {options.budget:g} processor seconds a fold; folds: {told}"
    show("quality-auto-against", question, list(rows(done, options.systems, options.budget)))


if __name__ == "__main__":
    main()

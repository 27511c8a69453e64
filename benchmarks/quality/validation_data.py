"""With validation data: which number of trees, learning rate and shape of LambdaMART serve queries of neither part?

Asked of the official folds of LETOR's sets, without their test parts: of each fold's training queries a third stands in
for the test part, forests are grown on the rest, and `vali` is the validation data. Every course, a shape with a
learning rate, is grown to its full length, once on all training queries and once without each third of them. Its curves
are kept: the metric on validation queries, that on held-out training queries, and the values of the stand-in's queries
at some lengths. Rules that choose by the former two are replayed on them, so that a rule costs nothing to try.

    python -m benchmarks.quality.validation_data              # goes on where it was stopped; then tells
    python -m benchmarks.quality.validation_data --tell
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA, RESULTS
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import k_fold
from rankwright.formats.reading import read_wide
from rankwright.training.loop import smoothed
from rankwright.trees.sizing import SMALL, SYMMETRIC, length_folds

SETS, FOLDS, N_PARTS, SEED = ("MQ2007", "MQ2008", "OHSUMED"), 5, 3, 20
METRICS, STRIDE = ("ndcg@10", "map"), 20
SMOOTHING = 0.3  # as the rankers have it
FOLDER = RESULTS / "validation-data"


@dataclass(frozen=True, slots=True)
class Course:
    """A shape and a learning rate, and how many trees are grown."""

    name: str
    settings: Mapping[str, Any]
    n_trees: int


def _course(name: str, shape: Any, rate: float, n_trees: int) -> Course:
    own = ("max_leaves", "min_docs_in_leaf", "query_fraction", "feature_fraction", "growth")
    return Course(name, {one: getattr(shape, one) for one in own} | {"learning_rate": rate}, n_trees)


COURSES = {
    one.name: one
    for one in (
        _course("small .05", SMALL, 0.05, 2000),
        _course("small .03", SMALL, 0.03, 3000),
        _course("symmetric .05", SYMMETRIC, 0.05, 1000),
    )
}


def place_of(name: str, fold: int, course: str) -> Path:
    return FOLDER / f"{name}-{fold}-{course.replace(' ', '-')}.npz"


def parts_of(name: str, fold: int) -> tuple[RankingDataset, RankingDataset, RankingDataset]:
    """What is trained on, what is validated on, and the stand-in for the test part."""
    folder = DATA / name / f"Fold{fold}"
    whole = rw.read(folder / "train.txt.gz")
    valid = read_wide(folder / "vali.txt.gz", whole.n_features)
    cut = k_fold(whole.groups, N_PARTS, seed=SEED)[fold % N_PARTS]
    return whole.take_queries(cut.train), valid, whole.take_queries(cut.test)


def curve(train: RankingDataset, valid: RankingDataset, course: Course, seed: int) -> tuple[Float64Array, Any]:
    """The metric on `valid` after each tree, the last value held where nothing was left to learn; and the ranker."""
    ranker = rw.LambdaMART(**course.settings, n_trees=course.n_trees, seed=seed, threads=1).fit(train, valid=valid)
    values = np.full(course.n_trees, ranker.history_.values[-1])
    values[: len(ranker.history_.values)] = ranker.history_.values
    return values, ranker


def record(name: str, fold: int, course: Course) -> None:
    train, valid, test = parts_of(name, fold)
    full = rw.LambdaMART(**course.settings, n_trees=course.n_trees, seed=fold, threads=1).fit(train)
    on_test = []
    for number, scores in enumerate(full.staged_predict(test), 1):
        if number % STRIDE == 0:
            found = rw.evaluate(scores, test, METRICS, threads=1)
            on_test.append([np.nan_to_num(found[metric].values) for metric in METRICS])
    on_valid, _ = curve(train, valid, course, fold)
    cuts = length_folds(train.groups, 0)
    unseen = [curve(train.take_queries(cut.train), train.take_queries(cut.test), course, fold)[0] for cut in cuts]
    place = place_of(name, fold, course.name)
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_suffix(".part.npz")
    np.savez_compressed(
        part, test=np.array(on_test, np.float32), valid=on_valid, unseen=np.array(unseen),
        queries=np.array([valid.n_queries, *(len(cut.test) for cut in cuts)]),
    )  # fmt: skip
    part.rename(place)


@dataclass(frozen=True, slots=True)
class Curves:
    """What was kept of a course on a fold."""

    valid: Float64Array
    unseen: Float64Array  # the mean over held-out training queries
    share: float  # of the validation queries among all these
    test: Float64Array

    @classmethod
    def of(cls, name: str, fold: int, course: str) -> Curves:
        kept = np.load(place_of(name, fold, course))
        n_valid, *n_unseen = kept["queries"].tolist()
        unseen = np.average(kept["unseen"], axis=0, weights=n_unseen)
        return cls(kept["valid"], unseen, n_valid / (n_valid + sum(n_unseen)), kept["test"])

    @property
    def together(self) -> Float64Array:
        """The mean over validation and held-out training queries."""
        return np.asarray(self.share * self.valid + (1 - self.share) * self.unseen)

    def tested(self, n_trees: int) -> Float64Array:
        """Each query's metrics with about so many trees."""
        return np.asarray(self.test[min(max(round(n_trees / STRIDE), 1), len(self.test)) - 1])


def patient(values: Float64Array, patience: int, lasting: float = 1 / 3, gain: float = 0.0002) -> int:
    """The number of trees that early stopping finds; as the library's loop, which forgets no step."""
    means, best_at = values[:0], 0
    for n in range(10, len(values) + 10, 10):
        seen = values[: min(n, len(values))]
        means = smoothed(seen.tolist(), SMOOTHING)
        best = means.max()
        best_at = int(np.argmax(means >= best - gain * abs(best)))
        if len(seen) - 1 - best_at >= max(patience, lasting * len(seen)):
            break
    return int(np.argmax(means)) + 1


Rule = Callable[[Mapping[str, Curves]], Float64Array]


def _by(course: str, which: str, patience: int) -> Rule:
    def rule(curves: Mapping[str, Curves]) -> Float64Array:
        return curves[course].tested(patient(getattr(curves[course], which), patience))

    return rule


def _raced(courses: tuple[str, str], which: str, patience: int, lead: float) -> Rule:
    """The second course where it is ahead by `lead` after a race of 64 trees, as without validation data."""

    def rule(curves: Mapping[str, Curves]) -> Float64Array:
        worth = [smoothed(getattr(curves[one], which)[:64], SMOOTHING).max() for one in courses]
        chosen = courses[int(worth[1] > worth[0] * (1 + lead))]
        return curves[chosen].tested(patient(getattr(curves[chosen], which), patience))

    return rule


RULES: dict[str, Rule] = {
    "small .05, valid, patience 60": _by("small .05", "valid", 60),
    "small .05, valid, patience 300": _by("small .05", "valid", 300),
    "small .05, unseen, patience 60": _by("small .05", "unseen", 60),
    "small .05, together, patience 60": _by("small .05", "together", 60),
    "small .05, together, patience 300": _by("small .05", "together", 300),
    "small .03, valid, patience 100": _by("small .03", "valid", 100),
    "small .03, valid, patience 300": _by("small .03", "valid", 300),
    "small .03, together, patience 100": _by("small .03", "together", 100),
    "small .03, together, patience 300": _by("small .03", "together", 300),
    "symmetric .05, together, patience 60": _by("symmetric .05", "together", 60),
    "raced, together, patience 60": _raced(("small .05", "symmetric .05"), "together", 60, 0.005),
}


def rows(done: set[tuple[str, int]]) -> Iterator[dict[str, object]]:
    """Each rule's difference from the first, by set and over sets."""
    values: dict[str, dict[str, list[Float64Array]]] = {rule: {} for rule in RULES}
    for name, fold in sorted(done):
        curves = {course: Curves.of(name, fold, course) for course in COURSES}
        for rule, choose in RULES.items():
            values[rule].setdefault(name, []).append(choose(curves))
    base = {name: np.concatenate(own, axis=1) for name, own in values[next(iter(RULES))].items()}
    for rule, found in values.items():
        gaps = {name: np.concatenate(own, axis=1) - base[name] for name, own in found.items()}
        row: dict[str, object] = {"rule": rule}
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
    tasks = list(product(range(1, FOLDS + 1), options.sets, COURSES))
    for fold, name, course in tasks:
        if not options.tell and not place_of(name, fold, course).exists():
            record(name, fold, COURSES[course])
            print(name, fold, course, flush=True)
    done = {(name, fold) for fold, name, _ in tasks if all(place_of(name, fold, one).exists() for one in COURSES)}
    show("quality-validation-data", "LambdaMART with validation data: rules replayed on a stand-in", list(rows(done)))


if __name__ == "__main__":
    main()

"""Which recipe should a net have by default: five-fold cross-validation by query, against the default of before.

Every recipe is trained on four fifths of the queries of each set of the protocol (`benchmarks.quality.data_sets`),
without validation data, and measured on the rest: NDCG@10, or the share of pairs right on the tasks of RankNet's paper.
The first table has the mean paired difference per query to `before`, ± one standard error, with * where p < .05 after
Holm's correction over the sets, and the mean over sets, each weighing alike, with its 95 % interval. The second has how
far nets are behind `LambdaMART()`. Results are kept in `--out`, a file for each set, ranker and recipe, and are not
computed again.

    python -m benchmarks.quality.net_recipes
    python -m benchmarks.quality.net_recipes --sets mslr web-3000 --recipes before default
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from benchmarks.helpers.records import show
from benchmarks.quality.data_sets import available, fold_of, n_folds
from benchmarks.quality.judge import corrected, judge_pooled, judge_set

from rankwright.arrays import Float64Array
from rankwright.mart.lambdamart import LambdaMART
from rankwright.metrics.evaluation import evaluate
from rankwright.nets import gradient_net
from rankwright.nets.listnet import ListNet
from rankwright.nets.net_rankers import LambdaRank, RankNet
from rankwright.nets.params import FREE, PLAIN

NETS: Mapping[str, type] = {"ranknet": RankNet, "lambdarank": LambdaRank, "listnet": ListNet}
BEFORE, TREES = "before", "lambdamart"
RECIPES: Mapping[str, dict[str, Any]] = {
    BEFORE: {},
    "default": {},
    "no decay": {"weight_decay": 0.0},
    "no pieces": {"encoding": "none"},
    "members": {"members": 8},
    "paper": {"mode": "paper"},  # not of ListNet
    "wide": {"hidden": (64,)},
}
TASKS = ("network", "polynomial")  # of RankNet's paper
BEHIND = ("mslr", "web-300", "web-3000", "web-30000")  # sets on which trees were ahead


@contextmanager
def recipes_before() -> Iterator[None]:
    """Nets by what was their default before they saw features in pieces."""
    with patch.object(gradient_net, "recipes_of", lambda _: (PLAIN, FREE)):
        yield


def metric_of(name: str) -> str:
    """What the set is measured by."""
    return "pair-accuracy" if name in TASKS else "ndcg@10"


def cross_validated(name: str, ranker: str, recipe: str, threads: int | None) -> Float64Array:
    """The metric of each query, from the fold that it was held out in."""
    kind, settings = (LambdaMART, {}) if ranker == TREES else (NETS[ranker], RECIPES[recipe])
    if ranker == "listnet":
        settings = {"hidden": (32,)} | settings
    values = []
    for number in range(n_folds(name)):
        train, test = fold_of(name, number)
        with recipes_before() if recipe == BEFORE else nullcontext():
            fitted = kind(**settings, threads=threads).fit(train)
        values.append(evaluate(fitted.predict(test), test, [metric_of(name)])[metric_of(name)].values)
    return np.concatenate(values)


def run(settings: argparse.Namespace) -> None:
    settings.out.mkdir(parents=True, exist_ok=True)
    for name in settings.sets:
        wanted = [(ranker, recipe) for recipe in settings.recipes for ranker in settings.rankers if ranker in NETS]
        wanted += [(TREES, "default")] if name in BEHIND and TREES in settings.rankers else []
        for ranker, recipe in wanted:
            file = file_of(settings.out, name, ranker, recipe)
            if file.exists() or (ranker, recipe) == ("listnet", "paper"):
                continue
            start = time.process_time()
            values = cross_validated(name, ranker, recipe, settings.threads)
            seconds = time.process_time() - start
            np.savez(file, values=values, seconds=seconds)
            print(f"{name} {ranker} {recipe}: {np.nanmean(values):.4f}, {seconds:.1f} s of processor", flush=True)


def file_of(out: Path, name: str, ranker: str, recipe: str) -> Path:
    return out / f"{name}.{ranker}.{recipe.replace(' ', '-')}.npz"


def kept(out: Path, name: str, ranker: str, recipe: str) -> Float64Array | None:
    """The value of each query; 0 where the metric says nothing."""
    file = file_of(out, name, ranker, recipe)
    return np.nan_to_num(np.load(file)["values"]) if file.exists() else None


def leads(settings: argparse.Namespace, ranker: str, recipe: str) -> dict[str, Float64Array]:
    """What a recipe has more than the one before, query by query, on each set that both were run on."""
    pairs = {name: [kept(settings.out, name, ranker, one) for one in (recipe, BEFORE)] for name in settings.sets}
    return {name: own - before for name, (own, before) in pairs.items() if own is not None and before is not None}


def told(settings: argparse.Namespace, ranker: str, recipe: str) -> dict[str, Any]:
    """A row: the means of `before`, or the leads of another recipe and of their mean."""
    gaps = leads(settings, ranker, recipe)
    row: dict[str, Any] = {"ranker": ranker, "recipe": recipe}
    if recipe == BEFORE or not gaps:
        own = {name: kept(settings.out, name, ranker, recipe) for name in settings.sets}
        return row | {name: "" if values is None else f"{values.mean():.4f}" for name, values in own.items()}
    found = {name: judge_set(values) for name, values in gaps.items()}
    for (name, one), p_value in zip(found.items(), corrected(list(found.values())), strict=True):
        row[name] = f"{one.difference:+.4f} ± {one.error:.4f}{'*' if p_value < 0.05 else ''}"
    return row | {"mean of sets": interval(gaps)}


def interval(gaps: Mapping[str, Float64Array]) -> str:
    pooled = judge_pooled(gaps)
    return f"{pooled.difference:+.4f} ({pooled.low:+.4f} to {pooled.high:+.4f})"


def of_all_nets(settings: argparse.Namespace, recipe: str) -> dict[str, Float64Array]:
    """The mean lead of all nets, query by query."""
    found = [leads(settings, ranker, recipe) for ranker in settings.rankers]
    shared = [name for name in settings.sets if all(name in one for one in found)]
    return {name: np.mean([one[name] for one in found], axis=0) for name in shared}


def behind(settings: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """How far the old and the new default are behind trees."""
    for name in (name for name in settings.sets if name in BEHIND):
        trees = kept(settings.out, name, TREES, "default")
        for ranker in settings.rankers:
            nets = {recipe: kept(settings.out, name, ranker, recipe) for recipe in (BEFORE, "default")}
            if trees is None or any(values is None for values in nets.values()):
                continue
            gaps = {recipe: judge_set(trees - values) for recipe, values in nets.items() if values is not None}
            cells = {recipe: f"{one.difference:+.4f} ± {one.error:.4f}" for recipe, one in gaps.items()}
            yield {"set": name, "LambdaMART()": f"{trees.mean():.4f}", "net": ranker, **cells}


def tell(settings: argparse.Namespace) -> None:
    """Print the tables, and leave them."""
    rows = [told(settings, ranker, recipe) for ranker in settings.rankers for recipe in settings.recipes]
    for recipe in settings.recipes:
        if recipe != BEFORE and (gaps := of_all_nets(settings, recipe)):
            rows.append({"ranker": "all", "recipe": recipe, "mean of sets": interval(gaps)})
    show("net-recipes", "Nets by recipe: the default of before, and the lead of others", rows)
    show("nets-behind-trees", "NDCG@10 of LambdaMART(), and its lead over nets", list(behind(settings)))
    seconds: dict[str, float] = {}
    for recipe in settings.recipes:
        files = [file_of(settings.out, name, ranker, recipe) for name in settings.sets for ranker in settings.rankers]
        seconds[recipe] = sum(float(np.load(file)["seconds"]) for file in files if file.exists())
    print("seconds of processor: " + ", ".join(f"{recipe} {time:.0f}" for recipe, time in seconds.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("out/net_recipes"))
    parser.add_argument("--recipes", nargs="+", default=[BEFORE, "default"], choices=RECIPES)
    parser.add_argument("--rankers", nargs="+", default=[*NETS, TREES], choices=[*NETS, TREES])
    parser.add_argument("--sets", nargs="+", default=None)
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--tell", action="store_true", help="run nothing more")
    settings = parser.parse_args(arguments)
    here = list(available())
    settings.sets = [name for name in settings.sets or here if name in here]
    if not settings.tell:
        run(settings)
    settings.rankers = [ranker for ranker in settings.rankers if ranker in NETS]
    tell(settings)


if __name__ == "__main__":
    main()

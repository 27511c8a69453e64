"""The slides' 32,670 tuning experiments: every configuration of their grids, on five folds, with three seeds."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.mart.lambdamart import LambdaMART
from rankwright.reproduce.experiment import FULL, SLIDES, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, convention_of, values_on
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.reproduce.published import SLIDES_BEST_CONFIGURATIONS, SLIDES_TABLES
from rankwright.reproduce.set_experiments import sets_of
from rankwright.reproduce.sources import DataSource, fold, n_folds, source_named
from rankwright.settings.spaces import Choice
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.tuning.search_spaces import NAMED_SPACES
from rankwright.tuning.trials import from_json

NAME = "blmart-tuning"
METRIC = "ndcg@3"
FOLDS, SEEDS = 5, 3  # of each configuration
PAPER_EXPERIMENTS = {"TD2004": 15_120, "MQ2007": 15_120, "MSLR-WEB10K": 2_430}
PAPER_TREES, PAPER_SPLITS = 8e6, 192e6
PAPER_MACHINES, PAPER_DAYS = 40, 14.0  # "2 weeks for one run", before the cluster that they then took
SMALL_RATE = 0.1  # and below
ORDER_STREAM = 0x7475  # added to the seed
N_BEST = 5
SHOWN_SAMPLES = (1, 3, 10, 30, 100, 300)
ENOUGH = 100  # configurations that might do
LEAST = 30  # configurations from which anything is concluded
STUDENT_OF_FIVE = 2.776  # standard errors of a mean over five folds that hold 95 %
QUANTILES = {
    "least": 0.0,
    "5 %": 0.05,
    "a quarter": 0.25,
    "half": 0.5,
    "three quarters": 0.75,
    "95 %": 0.95,
    "most": 1.0,
}
COLUMNS = {
    "leaves": "max_leaves",
    "share of rows in a leaf": "min_docs_in_leaf",
    "rate": "learning_rate",
    "queries": "query_fraction",
    "features": "feature_fraction",
}

sources = sets_of(*SLIDES_TABLES)


def grid_of(source: DataSource) -> list[dict[str, Any]]:
    """The slides' configurations for a set; sets that they do not have take those of MQ2007."""
    return _configurations("slides-b" if source.stands_for.startswith("MSLR") else "slides-a")


def _configurations(grid: str) -> list[dict[str, Any]]:
    space = NAMED_SPACES[grid].space
    choices = {name: one.values for name, one in space.items() if isinstance(one, Choice)}
    return [dict(zip(choices, values, strict=True)) for values in product(*choices.values())]


def parts(setup: Setup) -> list[RunPart]:
    """A part for each configuration and fold; a run that was stopped has a random sample of the configurations."""
    return [
        RunPart(
            NAME,
            f"{source.name}, fold {number + 1}, configuration {configuration}",
            {"set": source.name, "fold": number, "configuration": configuration},
        )
        for source in sources(setup)
        for configuration in _in_order(setup, source)
        for number in _folds(setup, source)
    ]


def _folds(setup: Setup, source: DataSource) -> range:
    return range(min(n_folds(source), setup.pick(FOLDS, 1, 1)))


def is_needed(setup: Setup, part: RunPart) -> bool:
    """A sample of the configurations tells something of all of them, if it is not too small."""
    source = source_named(sources(setup), part.values["set"])
    return part.values["configuration"] in _in_order(setup, source)[: setup.pick(LEAST, 1, 1)]


@lru_cache(maxsize=8)
def _in_order(setup: Setup, source: DataSource) -> Sequence[int]:
    """The numbers of the configurations to run, mixed: the first of them tell how long the others will take."""
    order: list[int] = np.random.default_rng([setup.seed, ORDER_STREAM]).permutation(len(grid_of(source))).tolist()
    return order[: setup.pick(len(order), 8, 2)]


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """A configuration on a fold, with each seed: the metric on validation and test documents, trees and time."""
    source = source_named(sources(setup), values["set"])
    settings = grid_of(source)[values["configuration"]]
    seeds = range(setup.seed, setup.seed + setup.pick(SEEDS, 1, 1))
    return {"settings": settings, "runs": [_run(setup, source, values["fold"], settings, seed) for seed in seeds]}


def _run(setup: Setup, source: DataSource, number: int, settings: Mapping[str, Any], seed: int) -> dict[str, Any]:
    start = time.process_time()
    ranker = _trained(setup, source, number, settings, seed)
    seconds, n_grown = time.process_time() - start, len(ranker.history_.values)
    test = _fold_data(source, number, setup.seed)[2]
    found = values_on(ranker, test, [METRIC], convention_of(source))[METRIC]
    return {
        "validation": float(ranker.history_.best_value or 0.0),
        "test": float(np.nanmean(from_json(found))),
        "trees": n_grown,
        "kept_trees": int(ranker.forest_.n_trees),
        "most_splits": n_grown * (settings["max_leaves"] - 1),
        "training_seconds": seconds,
    }


def _trained(setup: Setup, source: DataSource, number: int, settings: Mapping[str, Any], seed: int) -> LambdaMART:
    train, vali, _ = _fold_data(source, number, setup.seed)
    ranker = LambdaMART(
        **settings,
        n_trees=setup.pick(1000, 150, 3),
        early_stopping=setup.pick(100, 30, 3),
        select=f"{METRIC}:{convention_of(source)}",
        seed=seed,
        threads=THREADS,
    )
    return ranker.fit_binned(train, vali)


@lru_cache(maxsize=8)
def best_of_some(setup: Setup, source: DataSource) -> Mapping[str, Any]:
    """The configuration that does best on the first fold's validation documents, of some that draw queries or features.

    It is for sets that the slides did not tune.
    """
    grid = [one for one in grid_of(source) if min(one["query_fraction"], one["feature_fraction"]) < 1]
    order = np.random.default_rng([setup.seed, ORDER_STREAM]).permutation(len(grid))[: n_tried(setup)]
    found = [(_trained(setup, source, 0, grid[number], setup.seed).history_.best_value, number) for number in order]
    best: Mapping[str, Any] = grid[max(found)[1]]
    return best


def n_tried(setup: Setup) -> int:
    """How many configurations a set is tuned with that the slides did not tune."""
    return setup.pick(40, 6, 2)


@lru_cache(maxsize=FOLDS)
def _fold_data(source: DataSource, number: int, seed: int) -> tuple[BinnedDataset, BinnedDataset, RankingDataset]:
    """The bin codes of a fold's training and validation documents, which all runs share, and its test documents."""
    train, vali, test = fold(source, number, seed)
    binned = bin_dataset(train, **LambdaMART(threads=THREADS).binning())
    return binned, bin_dataset(vali, binned.mapper, threads=THREADS), test


class Searched:
    """What the experiments on one set found, by configuration: means over folds and seeds, as the slides take them."""

    def __init__(self, setup: Setup, source: DataSource, results: Mapping[str, Result]) -> None:
        by_settings: dict[tuple[Any, ...], list[Result]] = {}
        for key, result in results.items():
            if key.startswith(f"{source.name}, "):
                by_settings.setdefault(tuple(result["settings"].values()), []).append(result)
        # Folds differ more than configurations: a mean over some of them says nothing.
        n_folds = len(_folds(setup, source))
        by_settings = {settings: found for settings, found in by_settings.items() if len(found) == n_folds}
        own = [result for found in by_settings.values() for result in found]
        self.source = source
        self.runs = [run for result in own for run in result["runs"]]
        self.settings = [found[0]["settings"] for found in by_settings.values()]
        self.validation = self._means(by_settings, "validation")
        self.test = self._means(by_settings, "test")
        self.test_of_folds = np.array(
            [[np.mean([run["test"] for run in one["runs"]]) for one in found] for found in by_settings.values()]
        )
        self.best = np.argsort(-self.validation, kind="stable")

    @staticmethod
    def _means(by_settings: Mapping[Any, Sequence[Result]], name: str) -> Float64Array:
        return np.array(
            [np.mean([run[name] for one in found for run in one["runs"]]) for found in by_settings.values()]
        )

    def mean(self, name: str) -> float:
        """The mean over all runs."""
        return float(np.mean([run[name] for run in self.runs]))

    def best_of_sample(self, n: int) -> tuple[float, float]:
        """What the best of n configurations has on average, chosen by validation: there, and on the test documents."""
        chances = self._chances(n)
        return float(chances @ self.validation[self.best]), float(chances @ self.test[self.best])

    def gained_by_all(self, n: int) -> Float64Array:
        """For each fold, how much better the best of all configurations does on test documents than the best of n."""
        gained: Float64Array = self.test_of_folds[self.best[0]] - self._chances(n) @ self.test_of_folds[self.best]
        return gained

    def _chances(self, n: int) -> Float64Array:
        """For each configuration, best first, the chance that it is the best of n.

        A sample without replacement has configuration i, the i-th best of N, as its best with the chance
        C(N − i, n − 1) / C(N, n).
        """
        total = len(self.best)
        return np.array([math.comb(total - place - 1, n - 1) / math.comb(total, n) for place in range(total)])


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """What was run, the best configurations, whether so many were needed, and how scores are spread."""
    found = [Searched(setup, source, results) for source in sources(setup)]
    effort = {one.source.name: _effort(one) for one in found}
    total = {name: sum(row[name].ours or 0.0 for row in effort.values()) for name in next(iter(effort.values()))}
    effort["all"] = {
        "experiments": Figure(total["experiments"], 32_670.0),
        "run here": Figure(total["run here"]),
        "processor hours for all": Figure(total["processor hours for all"]),
        "million trees": Figure(total["million trees"], PAPER_TREES / 1e6),
        "million splits, at most": Figure(total["million splits, at most"], PAPER_SPLITS / 1e6),
    }
    tables = [PaperTable("Tuning", effort, 3)]
    for one in found:
        tables += [_best_table(one), _sample_table(one), _spread_table(one)]
    note = (
        'hours, trees and splits of all experiments follow from those that were run; the slides say "2 weeks for one '
        f'run" and then took a cluster of {PAPER_MACHINES} machines; hours here are those of one processor'
    )
    return Findings(tables, [_grid_claim(), *(claim for one in found for claim in _claims(setup, one))], [note])


def _effort(found: Searched) -> dict[str, Figure]:
    n = len(grid_of(found.source)) * FOLDS * SEEDS
    return {
        "experiments": Figure(float(n), PAPER_EXPERIMENTS.get(found.source.stands_for)),
        "run here": Figure(float(len(found.runs))),
        "seconds each": Figure(found.mean("training_seconds")),
        "processor hours for all": Figure(n * found.mean("training_seconds") / 3600),
        "million trees": Figure(n * found.mean("trees") / 1e6),
        "million splits, at most": Figure(n * found.mean("most_splits") / 1e6),
    }


def _best_table(found: Searched) -> PaperTable:
    """The configurations that validation likes best, beside the slides'."""
    paper = SLIDES_BEST_CONFIGURATIONS.get(found.source.stands_for, ())
    rows: dict[str, dict[str, Figure]] = {}
    for place, number in enumerate(found.best[:N_BEST]):
        told = dict(zip(("validation", *COLUMNS), paper[place], strict=True)) if paper else {}
        settings = found.settings[number]
        rows[f"{place + 1}"] = {
            f"validation {METRIC}": Figure(float(found.validation[number]), told.get("validation")),
            f"test {METRIC}": Figure(float(found.test[number])),
            **{column: Figure(float(settings[name]), told.get(column)) for column, name in COLUMNS.items()},
        }
    return PaperTable(f"{found.source.name}, best configurations", rows, comparable=False)


def _sample_table(found: Searched) -> PaperTable:
    """What would have been found with fewer experiments."""
    sizes = [n for n in SHOWN_SAMPLES if n < len(found.best)] + [len(found.best)]
    rows = {}
    for n in sizes:
        validation, test = found.best_of_sample(n)
        rows[f"best of {n:,}"] = {f"validation {METRIC}": Figure(validation), f"test {METRIC}": Figure(test)}
    return PaperTable(f"{found.source.name}, fewer configurations, drawn at random", rows)


def _spread_table(found: Searched) -> PaperTable:
    """How the values of single models are spread, and of configurations."""
    of_models = {name: np.array([run[name] for run in found.runs]) for name in ("validation", "test")}
    values = {
        "single models, validation": of_models["validation"],
        "single models, test": of_models["test"],
        "configurations, validation": found.validation,
        "configurations, test": found.test,
    }
    rows = {
        row: {name: Figure(float(np.quantile(own, share))) for name, share in QUANTILES.items()}
        for row, own in values.items()
    }
    return PaperTable(f"{found.source.name}, distribution of {METRIC}", rows)


def _grid_claim() -> Claim:
    n = sum(len(_configurations(grid)) for grid in ("slides-a", "slides-a", "slides-b")) * FOLDS * SEEDS
    return Claim("the grids have 32,670 experiments with five folds and three seeds", n == 32_670, f"{n:,}")


def _claims(setup: Setup, found: Searched) -> list[Claim]:
    name, claims = found.source.name, []
    is_small = np.array([settings["learning_rate"] <= SMALL_RATE for settings in found.settings])
    if 0 < is_small.sum() < len(is_small):
        small, large = found.validation[is_small], found.validation[~is_small]
        error = float(np.sqrt(small.var() / len(small) + large.var() / len(large)))
        holds = None if abs(small.mean() - large.mean()) < 2 * error else bool(small.mean() > large.mean())
        told = f"mean {METRIC} on validation documents {small.mean():.4f} against {large.mean():.4f}, ± {error:.4f}"
        alike = f"the means of {len(is_small):,} configurations differ by two errors at most"
        fewer = "a large rate wants fewer trees, and the number of trees is chosen by validation"
        text = f"{name}: small learning rates (0.1 and below) do better"
        claims.append(Claim(text, holds, told, alike if holds is None else fewer))
    if setup.size == FULL and len(found.best) > ENOUGH:
        claims.append(_all_needed(found))
    return claims


def _all_needed(found: Searched) -> Claim:
    """The slides' question "Did we need this many experiments?", decided by the folds."""
    gained = found.gained_by_all(ENOUGH)
    mean, error = float(gained.mean()), float(gained.std(ddof=1) / math.sqrt(len(gained)))
    reach = STUDENT_OF_FIVE * error
    told = (
        f"on test documents the best of {len(found.best):,} has {mean:+.4f} {METRIC} more than the best of {ENOUGH} "
        f"would have on average; over folds, 95 % interval {mean - reach:+.4f} to {mean + reach:+.4f}"
    )
    enough = "the best of a small sample is as good on new queries: validation cannot tell the best ones apart"
    holds = None if abs(mean) < reach else mean > 0
    return Claim(f"{found.source.name}: so many experiments were needed", holds, told, enough)


def work(setup: Setup) -> float:
    """The documents that trees are grown on, if each run grows as many trees."""
    n_seeds = setup.pick(SEEDS, 1, 1)
    return sum(
        float(source.all_docs * n_seeds * len(_folds(setup, source)) * len(_in_order(setup, source)))
        for source in sources(setup)
    )


EXPERIMENT = PaperExperiment(
    NAME, SLIDES, "Parameter tuning", parts, run, conclude, sources, is_needed=is_needed, work=work
)

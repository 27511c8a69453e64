"""The slides' variance of measurements: the same rankers trained on ten samples of MSLR-WEB10K's first fold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from rankwright.bagging.blmart import BLMART
from rankwright.experiments.variance import SampleRun, StudyPlan, stages_of, variance_of
from rankwright.reproduce.experiment import SLIDES, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, convention_of
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.reproduce.published import PLAIN, RANDOM, SLIDES_BEST_CONFIGURATIONS, SLIDES_VARIANCE, WITH, WITHOUT
from rankwright.reproduce.set_experiments import sets_of
from rankwright.reproduce.sources import DataSource, fold, source_named

NAME = "blmart-variance"
METRICS = ("ndcg@1", "ndcg@3", "mean-ndcg", "map")
PAPER_CHANGE = {"ndcg@1": -67.3, "ndcg@3": -18.8, "mean-ndcg": -40.2, "map": -57.1}  # per cent
MILLION = 1e6
SLIDES_SET = "MSLR-WEB10K"  # whose figures the slides print

sources = sets_of("MSLR-WEB10K")


def n_samples(setup: Setup) -> int:
    """How many samples of the training queries are drawn."""
    return setup.pick(10, 10, 2)


def parts(setup: Setup) -> list[RunPart]:
    """A part for each set and sample."""
    return [
        RunPart(NAME, f"{source.name}, sample {number + 1}", {"set": source.name, "sample": number})
        for source in sources(setup)
        for number in range(n_samples(setup))
    ]


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """The metrics of every ranker trained on one sample, and how they change with trees and bags."""
    source = source_named(sources(setup), values["set"])
    convention = convention_of(source)
    train, valid, test = fold(source, 0, setup.seed)
    plan = StudyPlan(n_samples=n_samples(setup), metrics=METRICS, convention=convention, seed=setup.seed)
    n_trees = setup.pick(1000, 120, 4)
    name = source.stands_for if source.stands_for in SLIDES_BEST_CONFIGURATIONS else SLIDES_SET
    _, leaves, least, rate, _, features = SLIDES_BEST_CONFIGURATIONS[name][0]
    ranker = BLMART(
        n_bags=setup.pick(50, 6, 2),
        n_trees=n_trees,
        max_leaves=setup.pick(leaves, 15, 4),
        min_docs_in_leaf=least,
        learning_rate=setup.pick(rate, 0.1, 0.1),
        query_fraction=0.5,
        feature_fraction=features,
        overfit=True,
        select=f"ndcg@10:{convention}",
        seed=setup.seed + values["sample"],
        threads=THREADS,
    )
    sample = SampleRun(plan, ranker, plan.sample(values["sample"], train), valid, test)
    stages = stages_of(n_trees)
    return {
        "table": sample.table(),
        "by_bags": sample.by_bags(),
        "by_trees": sample.by_trees(stages),
        "stages": stages.tolist(),
    }


def of_source(source: DataSource, results: Mapping[str, Result]) -> list[Result]:
    """The results of a set's samples."""
    return [result for key, result in results.items() if key.startswith(f"{source.name}, sample ")]


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """Means and variances over samples, and by how much bags make the variance smaller."""
    tables, claims = [], []
    for source in sources(setup):
        samples = of_source(source, results)
        values = {
            row: {metric: np.array([one["table"][row][metric] for one in samples]) for metric in METRICS}
            for row in SLIDES_VARIANCE
        }
        comparable = source.name == SLIDES_SET and source.is_known
        paper = SLIDES_VARIANCE if source.stands_for == SLIDES_SET else {}
        means = _figures(values, lambda own: float(own.mean()), paper, 0)
        variances = _figures(values, lambda own: MILLION * variance_of(own), paper, 1)
        changes = _changes(values, PAPER_CHANGE if paper else {})
        tables += [
            PaperTable(f"{source.name}, mean over {len(samples)} samples", means, comparable=comparable),
            PaperTable(f"{source.name}, variance over samples, times a million", variances, 1, comparable),
            PaperTable(f"{source.name}, change of variance, %", {WITH: changes}, 1, comparable),
        ]
        claims += _claims(source, values)
    note = "the change is that of BL-MART with overfitting from one LambdaMART with randomisation"
    return Findings(tables, claims, [note])


def _figures(
    values: Mapping[str, Mapping[str, Any]],
    told: Callable[[Any], float],
    paper: Mapping[str, Mapping[str, tuple[float, float]]],
    place: int,
) -> dict[str, dict[str, Figure]]:
    """What is told of each ranker's values, beside what the slides print: they do so for one set alone."""
    return {
        row: {
            metric: Figure(told(found), paper[row][metric][place] if paper else None) for metric, found in own.items()
        }
        for row, own in values.items()
    }


def _changes(values: Mapping[str, Mapping[str, Any]], paper: Mapping[str, float]) -> dict[str, Figure]:
    return {
        metric: Figure(
            100 * (variance_of(values[WITH][metric]) / max(variance_of(values[RANDOM][metric]), 1e-12) - 1),
            paper.get(metric),
        )
        for metric in METRICS
    }


def _claims(source: DataSource, values: Mapping[str, Mapping[str, Any]]) -> list[Claim]:
    changes = _changes(values, {})
    smaller = sum((figure.ours or 0) < 0 for figure in changes.values())
    told = ", ".join(f"{metric} {figure.ours:+.0f} %" for metric, figure in changes.items())
    found = []
    for metric in METRICS:
        rows = {row: float(values[row][metric].mean()) for row in (PLAIN, RANDOM, WITHOUT, WITH)}
        found.append(max(rows, key=lambda row: rows[row]))
    bagged = sum(row in (WITHOUT, WITH) for row in found)
    n, samples = len(METRICS), len(values[WITH]["map"])
    error = 100 * math.sqrt(2 / max(samples - 1, 1))
    noise = (
        f"a variance over {samples} samples is itself off by {error:.0f} % or so, one standard error, and there are "
        f"{n} of them; {source.differs}"
    )
    spread = max(float(values[row]["map"].std()) for row in (RANDOM, WITH)) / math.sqrt(samples)
    close = f"the four means are close: one standard error of a MAP is {spread:.4f}; {source.differs}"
    return [
        Claim(f"{source.name}: bags make the variance smaller in every metric", _most(smaller, n), told, noise),
        Claim(f"{source.name}: bags have the best means", _most(bagged, n), ", ".join(
            f"{metric} {row}" for metric, row in zip(METRICS, found, strict=True)), close),
    ]  # fmt: skip


def _most(count: int, of: int) -> bool | None:
    """All of them is yes, half of them or fewer is no."""
    return True if count == of else False if 2 * count <= of else None


def work(setup: Setup) -> float:
    """The documents that trees are grown on."""
    n_trees = n_samples(setup) * setup.pick(50, 6, 2) * setup.pick(1000, 120, 4)
    return sum(float(source.all_docs * n_trees) for source in sources(setup))


EXPERIMENT = PaperExperiment(NAME, SLIDES, "Variance reduction", parts, run, conclude, sources, work=work)

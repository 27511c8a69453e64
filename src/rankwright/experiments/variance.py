"""Slides 3, "Variance reduction": how much the quality of a ranker depends on the sample of queries it was trained on.

The same rankers are trained on several random samples of the training queries and measured on the same test queries.
Small variance over the samples means that another day's judgments would have given much the same quality. From the same
models come the slides' plots of overfitting tolerance: quality by number of trees and by number of bags.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.bagging.blmart import BLMART
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.metric_table import as_measure
from rankwright.progress.stages import announce
from rankwright.report.measured import Origin
from rankwright.report.page.document import Chart, KeyFigure, Page, PageTable, PageVerdict, Section, Sureness
from rankwright.report.picture import FORMATS, write_picture
from rankwright.report.sections.background import background_sections
from rankwright.report.specs.curves import means_by_number, variances_by_number
from rankwright.report.specs.theme import side_by_side
from rankwright.report.table_files import write_json, write_rows
from rankwright.tables.text import ShownTable
from rankwright.training.loop import History
from rankwright.trees.forests.forest import Forest

METRICS = ("ndcg@1", "ndcg@3", "ndcg@10", "mean-ndcg", "map")
PLAIN, RANDOMISED = "LambdaMART", "LambdaMART with randomisation"
WITHOUT, WITH = "BL-MART without overfitting", "BL-MART with overfitting"
ROWS = (PLAIN, RANDOMISED, WITHOUT, WITH)
N_TREES = 300  # of each, unless the settings say otherwise
STAGES = 20  # the most numbers of trees at which quality is measured
SAMPLE_STREAM = 0x7661  # added to the seed
TEST_SHARE, VALID_SHARE = 0.25, 0.2  # of the queries, where a study gets no test or validation data


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyPlan:
    """How many samples of the training queries are drawn, how large they are, and what is measured."""

    n_samples: int = 10
    sample_fraction: float = 0.5
    metrics: tuple[str, ...] = METRICS
    convention: str = "standard"
    seed: int = 0

    def __post_init__(self) -> None:
        require(self.n_samples >= 2, f"a variance needs 2 samples or more, got {self.n_samples}")
        told = f"samples that differ need a sample_fraction between 0 and 1, got {self.sample_fraction}"
        require(0 < self.sample_fraction < 1, told)
        for metric in self.metrics:
            as_measure(metric)

    def sample(self, number: int, train: RankingDataset) -> RankingDataset:
        """Sample number `number` of the training queries."""
        size = max(1, round(self.sample_fraction * train.n_queries))
        rng = np.random.default_rng([self.seed, SAMPLE_STREAM, number])
        return train.take_queries(np.sort(rng.choice(train.n_queries, size=size, replace=False)))


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """How a ranker's metrics change with a number of bags or of trees: `values[metric]` is (samples, numbers)."""

    ranker: str
    numbers: IntArray
    values: Mapping[str, Float64Array]


@dataclass(frozen=True, slots=True, eq=False)
class VarianceStudy:
    """Each ranker's metrics on the test queries, one value per sample, and how they change with bags and with trees."""

    plan: StudyPlan
    settings: Mapping[str, Any]
    values: Mapping[str, Mapping[str, Float64Array]]  # by ranker and metric, one value per sample
    by_bags: Sequence[Curve]
    by_trees: Sequence[Curve]

    def table(self) -> list[dict[str, Any]]:
        """A row for each ranker and metric: mean, variance over samples, and variance against randomised LambdaMART."""
        return [
            {
                "ranker": ranker,
                "metric": metric,
                "mean": float(values.mean()),
                "variance": variance_of(values),
                "variance_change": _change(variance_of(values), variance_of(self.values[RANDOMISED][metric])),
            }
            for ranker, by_metric in self.values.items()
            for metric, values in by_metric.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """The study in types JSON can hold."""
        return {
            "samples": self.plan.n_samples,
            "sample_fraction": self.plan.sample_fraction,
            "convention": self.plan.convention,
            "settings": dict(self.settings),
            "table": self.table(),
            "values": {
                ranker: {metric: values.tolist() for metric, values in by_metric.items()}
                for ranker, by_metric in self.values.items()
            },
            "by_bags": curve_rows(self.by_bags, "bags"),
            "by_trees": curve_rows(self.by_trees, "trees"),
        }


def variance_of(values: Float64Array) -> float:
    """The variance over samples, unbiased."""
    return float(np.var(values, ddof=1))


def curve_rows(curves: Sequence[Curve], what: str) -> list[dict[str, Any]]:
    """The points of the curves: mean and variance over samples for each number of `what`."""
    return [
        {
            "ranker": curve.ranker,
            "metric": metric,
            what: int(number),
            "mean": float(values[:, place].mean()),
            "variance": variance_of(values[:, place]),
        }
        for curve in curves
        for metric, values in curve.values.items()
        for place, number in enumerate(curve.numbers)
    ]


def study_parts(
    train: RankingDataset, valid: RankingDataset | None = None, test: RankingDataset | None = None, *, seed: int = 0
) -> tuple[RankingDataset, RankingDataset, RankingDataset]:
    """The data to train on, to validate on and to test on: queries of `train` are held back for what is not given."""
    if test is None:
        train, test = train.split(valid=TEST_SHARE, seed=seed)
    if valid is None:
        train, valid = train.split(valid=VALID_SHARE, seed=seed)
    return train, valid, test


def study_variance(
    train: RankingDataset,
    valid: RankingDataset,
    test: RankingDataset,
    plan: StudyPlan,
    *,
    settings: Mapping[str, Any] | None = None,
    threads: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> VarianceStudy:
    """The study on samples of `train`; rankers that do not overfit choose their number of trees on `valid`.

    `settings` are those of BL-MART. LambdaMART with randomisation is one of its bags, trained on all queries of the
    sample; LambdaMART is the same with every query and every feature in each tree.
    """
    ranker = BLMART(
        **({"n_trees": N_TREES} | dict(settings or {}) | {"overfit": True, "threads": threads, "seed": plan.seed})
    )
    tables: list[Mapping[str, Mapping[str, float]]] = []
    by_bags: list[Mapping[str, Sequence[Mapping[str, float]]]] = []
    by_trees: list[Mapping[str, Sequence[Mapping[str, float]]]] = []
    stages = stages_of(int(ranker.value_of("n_trees")))
    for number in range(plan.n_samples):
        announce("training on samples", number, plan.n_samples, unit="samples", overall=True)
        ranker.set_params(seed=plan.seed + number)
        run = SampleRun(plan, ranker, plan.sample(number, train), valid, test)
        tables.append(run.table())
        by_bags.append(run.by_bags())
        by_trees.append(run.by_trees(stages))
        means = ", ".join(f"{row} {tables[-1][row][plan.metrics[0]]:.4f}" for row in ROWS)
        tell(f"sample {number + 1} of {plan.n_samples}: {plan.metrics[0]} {means}")
    values = {row: {m: np.array([table[row][m] for table in tables]) for m in plan.metrics} for row in ROWS}
    return VarianceStudy(
        plan,
        {name: value for name, value in ranker.stored_settings().items() if name != "overfit"},
        values,
        _curves(by_bags, np.arange(1, ranker.n_bags + 1), plan.metrics),
        _curves(by_trees, stages, plan.metrics),
    )


class SampleRun:
    """The models of one sample, and what they reach on the test documents."""

    def __init__(
        self, plan: StudyPlan, ranker: BLMART, train: RankingDataset, valid: RankingDataset, test: RankingDataset
    ) -> None:
        self.plan, self.valid, self.test, self.threads = plan, valid, test, ranker.threads
        self.select, self.smoothing = ranker.selected_metric, ranker.smoothing
        single = ranker.single(early_stopping=None)
        self.randomised = single.fit(train).forest_
        self.plain = single.set_params(query_fraction=1.0, feature_fraction=1.0).fit(train).forest_
        bagged = ranker.fit(train)
        self.bags = [bagged.bag(number) for number in range(bagged.n_bags_)]
        self.chosen = [bag.truncated(self._best(bag)) for bag in self.bags]

    def table(self) -> dict[str, dict[str, float]]:
        """The slides' rows."""
        single = {PLAIN: self.plain, RANDOMISED: self.randomised}
        scores = {row: self._scores(forest.truncated(self._best(forest))) for row, forest in single.items()}
        scores[WITHOUT] = np.mean([self._scores(bag) for bag in self.chosen], axis=0)
        scores[WITH] = np.mean([self._scores(bag) for bag in self.bags], axis=0)
        return {row: self._measure(scores[row]) for row in ROWS}

    def by_bags(self) -> dict[str, list[dict[str, float]]]:
        """The metrics of the first bag, of the first two bags, and so on."""
        found = {}
        for row, bags in ((WITHOUT, self.chosen), (WITH, self.bags)):
            sums = np.cumsum([self._scores(bag) for bag in bags], axis=0)
            found[row] = [self._measure(total / (place + 1)) for place, total in enumerate(sums)]
        return found

    def by_trees(self, stages: IntArray) -> dict[str, list[dict[str, float]]]:
        """The metrics for each number of trees, in one LambdaMART and in every bag."""
        bagged = np.mean([self._staged(bag, stages) for bag in self.bags], axis=0)
        single = self._staged(self.randomised, stages)
        return {
            RANDOMISED: [self._measure(scores) for scores in single],
            "BL-MART": [self._measure(scores) for scores in bagged],
        }

    def _scores(self, forest: Forest) -> Float64Array:
        return forest.predict(self.test.features, threads=self.threads)

    def _staged(self, forest: Forest, stages: IntArray) -> Float64Array:
        """Test scores after each number of trees; a smaller forest gives those of all its trees."""
        return np.array([self._scores(forest.truncated(min(int(n_trees), forest.n_trees))) for n_trees in stages])

    def _best(self, forest: Forest) -> int:
        return best_length(forest, self.valid, self.select, self.smoothing, threads=self.threads)

    def _measure(self, scores: Float64Array) -> dict[str, float]:
        found = evaluate(
            self.test.in_source_order(scores), self.test, self.plan.metrics, self.plan.convention, threads=self.threads
        )
        return {metric: found[metric].mean for metric in self.plan.metrics}


def best_length(
    forest: Forest,
    valid: RankingDataset,
    select: str | Callable[..., Any],
    smoothing: float,
    *,
    threads: int | None = None,
) -> int:
    """The number of trees that validation documents choose by the metric `select`."""
    measure = as_measure(select)
    found = [
        evaluate(valid.in_source_order(scores), valid, [measure], measure.convention, threads=threads)
        for _, scores in forest.staged_predict(valid.features, threads=threads)
    ]
    means = [next(iter(evaluation.results.values())).mean for evaluation in found]
    history = History(values=means, higher_is_better=measure.higher_is_better, smoothing=smoothing)
    return 0 if history.best_step is None else 1 + history.best_step


def stages_of(n_trees: int) -> IntArray:
    """Numbers of trees to measure at, evenly spread up to all trees."""
    return np.unique(np.round(np.linspace(0, n_trees, min(STAGES, n_trees) + 1)[1:]).astype(np.int64))


def _curves(
    samples: Sequence[Mapping[str, Sequence[Mapping[str, float]]]], numbers: IntArray, metrics: Sequence[str]
) -> list[Curve]:
    return [
        Curve(row, numbers, {m: np.array([[point[m] for point in one[row]] for one in samples]) for m in metrics})
        for row in samples[0]
    ]


def _samples_of(curves: Sequence[Curve], metric: str) -> dict[str, tuple[IntArray, Float64Array]]:
    """The numbers and the values of each curve, by the ranker's name."""
    return {curve.ranker: (curve.numbers, curve.values[metric]) for curve in curves}


def _change(variance: float, reference: float) -> float | None:
    return variance / reference - 1 if reference > 0 else None


def write_study(
    study: VarianceStudy, folder: str | os.PathLike[str], *, metric: str | None = None, picture: str = "svg"
) -> list[Path]:
    """Write the study into `folder` and return the paths; pictures show `metric`, by default the first of the study."""
    shown = metric or study.plan.metrics[0]
    require(shown in study.plan.metrics, f"pictures can only show a metric of the study, got {shown!r}")
    check_picture(picture)
    Path(folder).mkdir(parents=True, exist_ok=True)
    document, table, samples = (Path(folder, name) for name in ("study.json", "table.csv", "samples.csv"))
    write_json(document, study.to_dict(), allow_nan=False)
    write_rows(table, study.table())
    write_rows(samples, _sample_rows(study))
    paths = [document, table, samples]
    for what, curves, title in (
        ("bags", study.by_bags, "Quality by number of bags"),
        ("trees", study.by_trees, "Overfitting tolerance"),
    ):
        numbers, drawing = Path(folder, f"{what}.csv"), Path(folder, f"{what}.{picture}")
        write_rows(numbers, curve_rows(curves, what))
        own = _samples_of(curves, shown)
        means = means_by_number(own, shown, what, title) | {"width": 440, "height": 260}
        variances = variances_by_number(own, shown, what) | {"width": 320, "height": 260}
        write_picture(side_by_side([means, variances], title), drawing)
        paths += [numbers, drawing]
    return paths


def study_page(study: VarianceStudy, origin: Origin) -> Page:
    """The study as a page."""
    metric, plan = study.plan.metrics[0], study.plan
    rows = [
        [row["ranker"], row["metric"], f"{row['mean']:.4f}", f"{row['variance'] * 1e6:.2f}",
         "–" if row["variance_change"] is None else f"{row['variance_change']:+.1%}"]
        for row in study.table()
    ]  # fmt: skip
    columns = ["ranker", "metric", "mean", "variance × 10⁻⁶", f"against {RANDOMISED}"]
    table = PageTable(ShownTable("", columns, rows, columns[2:]))
    samples = f"{plan.n_samples} samples of {plan.sample_fraction:.0%} of the training queries"
    sections = [Section("variance", "Means and variances", f"Over {samples}; convention {plan.convention}.", (table,))]
    for what, curves, title in (
        ("bags", study.by_bags, "By number of bags"),
        ("trees", study.by_trees, "By number of trees"),
    ):
        own = _samples_of(curves, metric)
        charts = (Chart(means_by_number(own, metric, what, "Mean over samples")),
                  Chart(variances_by_number(own, metric, what)))  # fmt: skip
        sections.append(Section(what, title, "The band is one standard deviation over samples.", charts))
    found = {row["ranker"]: row for row in study.table() if row["metric"] == metric}
    bagged, single = found[WITH], found[RANDOMISED]
    change = bagged["variance_change"]
    steadier = "–" if change is None else f"{change:+.0%}"
    sentence = (
        f"{WITH} reaches {bagged['mean']:.4f} {metric} on average over {samples}, {RANDOMISED} "
        f"{single['mean']:.4f}; its variance differs by {steadier}."
    )
    figures = (
        KeyFigure(steadier, "variance against a single model"),
        KeyFigure(f"{bagged['mean']:.4f}", f"{metric}, bagged"),
    )
    verdict = PageVerdict("How much bagging steadies", sentence, Sureness.MEASURED, figures)
    return Page.of("Variance study", verdict, *sections, *background_sections({}, None, origin))


def check_picture(kind: str) -> None:
    """Raise if `kind` is not a picture format."""
    require(kind in FORMATS, f"a picture is one of {', '.join(FORMATS)}, got {kind!r}")


def _sample_rows(study: VarianceStudy) -> list[dict[str, Any]]:
    return [
        {"ranker": ranker, "metric": metric, "sample": number, "value": float(value)}
        for ranker, by_metric in study.values.items()
        for metric, values in by_metric.items()
        for number, value in enumerate(values)
    ]

"""Systems compared on slices of the queries: where the best one is better, and where it is not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.arrays import BoolArray
from rankwright.data.tabular import Tabular
from rankwright.metrics.comparison.comparison_tables import difference_cell, effect_cell, p_cell
from rankwright.metrics.comparison.effects import word_of
from rankwright.metrics.comparison.slicing import Slicing
from rankwright.metrics.evaluation import MetricResult
from rankwright.metrics.significance import PairedTest, holm, paired_test
from rankwright.tables.text import ShownTable, ShownTables

if TYPE_CHECKING:
    from rankwright.metrics.comparison.system_comparison import SystemComparison


@dataclass(frozen=True, slots=True)
class SliceTest:
    """How a system differs from the best one on a slice of the queries.

    Attributes
    ----------
    by, slice : str
        What the queries were cut by, and the slice.
    metric, best, system : str
        The metric, the system that is the best over all queries, and the one that is compared with it.
    best_mean, mean : float
        The means of both on the slice.
    is_better : bool
        Whether the system is better than the best one on this slice.
    paired : PairedTest
        The test: the system less the best.
    p_value_holm : float
        The p-value of the randomisation test, corrected for all slices, systems and metrics.
    """

    by: str
    slice: str
    metric: str
    best: str
    system: str
    best_mean: float
    mean: float
    is_better: bool
    paired: PairedTest
    p_value_holm: float

    def subject(self) -> dict[str, Any]:
        """What was tested, and the means, by name."""
        names = ("by", "slice", "metric", "best", "system", "best_mean", "mean")
        return {name: getattr(self, name) for name in names}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SliceComparison(Tabular):
    """Systems on slices of the queries; `SystemComparison.slice_by` makes it. Print it for tables.

    Attributes
    ----------
    tests : tuple of SliceTest
        One for each metric, system and slice on which queries count.
    alpha : float
        The level below which a p-value is taken for more than chance.
    headline, conclusion : str
        The line above the tables, and a sentence on what the slices show.
    """

    tests: tuple[SliceTest, ...]
    alpha: float

    @property
    def headline(self) -> str:
        """What was tested, in one line."""
        return f"slices of queries: {len(self.tests)} tests, p after Holm's correction for all of them"

    @property
    def conclusion(self) -> str:
        """One sentence: in how many slices another system is significantly better, or significantly worse."""
        sure = [test for test in self.tests if test.p_value_holm < self.alpha]
        better = [test for test in sure if test.is_better]
        if not sure:
            return f"None of the {len(self.tests)} differences on slices is more than chance may give."
        where = "".join(
            f"; {one.system} is better than {one.best} in {one.metric} where {one.by} is {one.slice}" for one in better
        )
        won = (len(sure) - len(better)) or "none"
        return f"The best system is significantly better in {won} of {len(self.tests)} tests on slices{where}."

    def shown(self) -> ShownTables:
        """Return the tables as people read them."""
        tables = [self._table(*key) for key in dict.fromkeys((one.by, one.metric, one.system) for one in self.tests)]
        return ShownTables(tables, [self.headline, self.conclusion])

    def _table(self, by: str, metric: str, system: str) -> ShownTable:
        own = [one for one in self.tests if (one.by, one.metric, one.system) == (by, metric, system)]
        rows = [
            [
                one.slice,
                str(one.paired.queries),
                difference_cell(one.paired),
                p_cell(one.p_value_holm),
                effect_cell(one.paired),
                f"{one.paired.wins}/{one.paired.losses}",
            ]
            for one in own
        ]
        columns = [by, "queries", "difference (95 %)", "p", "effect", "won/lost"]
        return ShownTable(
            f"{metric} by {by}: how {system} differs from {own[0].best}", columns, rows, ("queries", "p", "won/lost")
        )

    def columns(self) -> dict[str, list[Any]]:
        """Return the tests.

        Returns
        -------
        dict of str to list
            Columns by name, with a row for each test: `by`, `slice`, `metric`, `best`, `system`, `best_mean`, `mean`,
            `queries`, `difference`, `low`, `high`, `p_value` after Holm's correction, `effect_size`, `effect`, `wins`,
            `ties`, `losses`, `detectable`.
        """
        rows = [_row(one) for one in self.tests]
        return {name: [row[name] for row in rows] for name in rows[0]} if rows else {}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as a dictionary for JSON.

        Returns
        -------
        dict
            `tests`: the slice, the means, the entries of the paired test and `p_value_holm` of each; `conclusion`.
        """
        tests = [one.subject() | one.paired.to_dict() | {"p_value_holm": one.p_value_holm} for one in self.tests]
        return {"tests": tests, "conclusion": self.conclusion}


def _row(one: SliceTest) -> dict[str, Any]:
    test, effect = one.paired, one.paired.effect
    return one.subject() | {
        "queries": test.queries,
        "difference": test.difference,
        "low": test.interval.low,
        "high": test.interval.high,
        "p_value": one.p_value_holm,
        "effect_size": effect.size,
        "effect": word_of(effect.size),
        "wins": test.wins,
        "ties": test.ties,
        "losses": test.losses,
        "detectable": effect.detectable,
    }


def compare_slices(
    comparison: SystemComparison, slicings: Sequence[Slicing], metrics: Sequence[str]
) -> SliceComparison:
    """The comparison of the best system with each other one on each slice; one family for Holm's correction."""
    tests = [
        test for slicing in slicings for metric in metrics for test in _tests_of_slices(comparison, slicing, metric)
    ]
    corrected = holm([test.paired.p_value for test in tests]).tolist()
    return SliceComparison(
        tuple(replace(test, p_value_holm=p_value) for test, p_value in zip(tests, corrected, strict=True)),
        comparison.alpha,
    )


def _tests_of_slices(comparison: SystemComparison, slicing: Slicing, metric: str) -> Iterator[SliceTest]:
    """The tests of one slicing in one metric, before the correction; slices on which nothing counts are left out."""
    best = comparison.best[metric]
    for system in comparison.against_best[metric]:
        for number, name in enumerate(slicing.names):
            first, second = (
                _result_on(comparison.evaluations[one][metric], slicing.slice_of == number) for one in (best, system)
            )
            if (~np.isnan(first.values) & ~np.isnan(second.values) & (first.weights > 0)).any():
                test = paired_test(first, second)
                is_better = test.difference > 0 if first.measure.higher_is_better else test.difference < 0
                means = first.mean, second.mean
                yield SliceTest(slicing.by, name, metric, best, system, *means, is_better, test, test.p_value)


def _result_on(result: MetricResult, queries: BoolArray) -> MetricResult:
    """The result over some of the queries."""
    return replace(result, values=result.values[queries], weights=result.weights[queries])

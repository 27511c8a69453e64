"""Systems compared on slices of the queries: where the best one is better, and where it is not.

Queries are cut by a value that each has: a number of documents, a feature, or what a caller gives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import feature_columns
from rankwright.data.frames import Tabular
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.metrics.comparison.comparison_tables import NOT_ALIKE, difference_cell, effect_cell, p_cell
from rankwright.metrics.evaluation import ComparedSystems, Evaluation
from rankwright.metrics.significance import PairedTest, holm, outcome_columns, paired_test
from rankwright.tables.text import ShownTable, ShownTables

if TYPE_CHECKING:
    from rankwright.metrics.comparison.system_comparison import SystemComparison


def _query_values(
    by: str | Sequence[str] | Mapping[str, Any], evaluation: Evaluation, material: ComparedSystems | None
) -> dict[str, Sequence[Any]]:
    """For each name, a value for each query: of what is known by that name, or of what is given for it.

    In a mapping, None stands for what is known by the name.
    """
    asked = {by: None} if isinstance(by, str) else dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    return {
        name: _built_in_values(name, evaluation, material)
        if values is None
        else _given_values(name, values, evaluation)
        for name, values in asked.items()
    }


def _given_values(name: str, values: Any, evaluation: Evaluation) -> Sequence[Any]:
    """Values in the order of the queries, given in this order or by query id."""
    if isinstance(values, Mapping):
        of_id = {str(query): value for query, value in values.items()}
        if not any(str(query) in of_id for query in evaluation.query_ids.tolist()):
            raise InputError(f"{name} has values for none of the {evaluation.n_queries} queries: their ids differ")
        return [of_id.get(str(query)) for query in evaluation.query_ids.tolist()]
    found = np.asarray(values).tolist()
    if len(found) != evaluation.n_queries:
        raise InputError(f"{name} must have {evaluation.n_queries} values, one for each query, got {len(found)}")
    return list(found)


def _built_in_values(name: str, evaluation: Evaluation, material: ComparedSystems | None) -> Sequence[Any]:
    if name in BUILT_IN:
        return BUILT_IN[name](evaluation, material)
    data = None if material is None else material.data
    names = () if data is None or data.n_features == 0 else data.names
    if data is None or (name not in names and not name.isdecimal()):
        raise UnknownNameError("value of queries", name, [*BUILT_IN, *names])
    return _of_feature(feature_columns([name], names)[0], data)


def _of_feature(place: int, data: RankingDataset) -> Sequence[Any]:
    """The feature's value where it is that of a whole query; else the mean over the query's documents."""
    name, column = data.names[place], data.features[:, place].astype(np.float64)
    means = _means(column, data.groups)
    if name not in (data.categories or {}):
        return list(means.tolist())
    same = (column == means[data.groups.query_of_row]) | np.isnan(column)
    if not same.all():
        raise InputError(f"categories of {name} differ within a query: queries can be cut by what all documents share")
    categories = (data.categories or {})[name]
    return [None if np.isnan(code) else categories[int(code)] for code in means]


def _means(column: Float64Array, groups: Groups) -> Float64Array:
    """The mean of a column over each query's known values; exactly the value where all are equal."""
    known, query = ~np.isnan(column), groups.query_of_row
    low, high = np.full(groups.n_queries, np.inf), np.full(groups.n_queries, -np.inf)
    np.minimum.at(low, query[known], column[known])
    np.maximum.at(high, query[known], column[known])
    count = np.bincount(query[known], minlength=groups.n_queries)
    total = np.bincount(query[known], column[known], minlength=groups.n_queries)
    means = np.divide(total, count, out=np.full(groups.n_queries, np.nan), where=count > 0)
    return np.where(low == high, low, means)


def _documents(evaluation: Evaluation, _: ComparedSystems | None) -> Sequence[Any]:
    return list(evaluation.groups.sizes.tolist())


def _relevant(evaluation: Evaluation, material: ComparedSystems | None) -> Sequence[Any]:
    if material is None:
        raise InputError("only evaluations were compared: their labels are not known, nor the numbers of relevant ones")
    lists = next(iter(material.lists.values()))
    relevant = lists.groups.query_of_row[lists.labels > 0]
    return list(np.bincount(relevant, minlength=evaluation.n_queries).tolist())


def _words(evaluation: Evaluation, _: ComparedSystems | None) -> Sequence[Any]:
    ids = evaluation.query_ids.tolist()
    if not any(isinstance(query, str) and len(query.split()) > 1 for query in ids):
        raise InputError("query ids are no texts here: give texts by query in a mapping, or on the command line a file")
    return [len(str(query).split()) for query in ids]


BUILT_IN: Mapping[str, Callable[[Evaluation, ComparedSystems | None], Sequence[Any]]] = {
    "documents": _documents,
    "relevant": _relevant,
    "words": _words,
}
SLICES = 4
MOST_KINDS = 12  # texts of more kinds are cut by their numbers of words
MISSING = "missing"


@dataclass(frozen=True, slots=True, eq=False)
class Slicing:
    """Which slice each query is in: the place of its name in `names`."""

    by: str
    names: tuple[str, ...]
    slice_of: IntArray


def cut_queries(by: str, values: Sequence[Any], n_slices: int = SLICES) -> Slicing:
    """The queries cut by their values: numbers at quantiles, texts by what they say or how many words they have.

    Queries without a value (NaN, None or an empty text) have a slice of their own, the last one.
    """
    require(n_slices >= 2, f"slices must be 2 or more, got {n_slices}")
    given = list(values)
    if all(isinstance(value, str) or value is None for value in given):
        kinds = sorted({value for value in given if value})
        if len(kinds) <= MOST_KINDS:
            place_of = {kind: place for place, kind in enumerate(kinds)}
            return _named(by, kinds, np.array([place_of.get(value, -1) for value in given], np.int64))
        by = f"words of {by}"
        given = [len(value.split()) if value else None for value in given]
    return _cut_numbers(by, np.array([np.nan if value is None else value for value in given], np.float64), n_slices)


def _cut_numbers(by: str, values: Float64Array, n_slices: int) -> Slicing:
    known = ~np.isnan(values)
    distinct = np.unique(values[known])
    if len(distinct) <= n_slices:
        place = np.searchsorted(distinct, values)
        return _named(by, [f"{value:g}" for value in distinct], np.where(known, place, -1))
    ends = np.unique(np.quantile(values[known], np.arange(1, n_slices) / n_slices, method="lower"))
    place = np.where(known, np.searchsorted(ends, values), -1)  # a slice has values up to its end
    used, place_of_known = np.unique(place[known], return_inverse=True)
    place[known] = place_of_known
    of_slices = [values[place == number] for number in range(len(used))]
    ends_of = [(own.min(), own.max()) for own in of_slices]
    names = [f"{low:.4g}" if low == high else f"{low:.4g} to {high:.4g}" for low, high in ends_of]
    return _named(by, names, place)


def _named(by: str, names: Sequence[str], place: IntArray) -> Slicing:
    """The slicing; places below 0 become that of the missing values."""
    missing = place < 0
    every = (*names, *([MISSING] if missing.any() else []))
    return Slicing(by, every, np.where(missing, len(names), place).astype(np.int64))


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
        if len(self.tests) == 1:
            return "slices of queries: one test"
        tested = f"slices of queries: {len(self.tests)} tests, p after Holm's correction for all of them"
        return f"{tested}; intervals are not corrected: {NOT_ALIKE}"

    @property
    def conclusion(self) -> str:
        """One sentence: in how many slices another system is significantly better, or significantly worse."""
        sure = [test for test in self.tests if test.p_value_holm < self.alpha]
        better = [test for test in sure if test.is_better]
        if not sure:
            none = "The one difference" if len(self.tests) == 1 else f"None of the {len(self.tests)} differences"
            return f"{none} on slices is {'no ' if len(self.tests) == 1 else ''}more than chance may give."
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
    test = one.paired
    interval = {"difference": test.difference, "low": test.interval.low, "high": test.interval.high}
    return one.subject() | {"queries": test.queries, **interval, "p_value": one.p_value_holm, **outcome_columns(test)}


def compare_slices(
    comparison: SystemComparison, by: str | Sequence[str] | Mapping[str, Any], n_slices: int, metrics: Sequence[str]
) -> SliceComparison:
    """The comparison of the best system with each other one on each slice; one family for Holm's correction."""
    values = _query_values(by, next(iter(comparison.evaluations.values())), comparison.material)
    slicings = [cut_queries(name, own, n_slices) for name, own in values.items()]
    tests = [
        test for slicing in slicings for metric in metrics for test in _tests_of_slices(comparison, slicing, metric)
    ]
    corrected = holm([test.paired.p_value for test in tests]).tolist()
    tested = tuple(replace(test, p_value_holm=p_value) for test, p_value in zip(tests, corrected, strict=True))
    return SliceComparison(tested, comparison.alpha)


def _tests_of_slices(comparison: SystemComparison, slicing: Slicing, metric: str) -> Iterator[SliceTest]:
    """The tests of one slicing in one metric, before the correction; slices on which nothing counts are left out."""
    best = comparison.best[metric]
    for system in comparison.against_best[metric]:
        for number, name in enumerate(slicing.names):
            inside = slicing.slice_of == number
            results = (comparison.evaluations[one][metric] for one in (best, system))
            first, second = (replace(one, values=one.values[inside], weights=one.weights[inside]) for one in results)
            if (~np.isnan(first.values) & ~np.isnan(second.values) & (first.weights > 0)).any():
                test = paired_test(first, second)
                is_better = test.difference > 0 if first.measure.higher_is_better else test.difference < 0
                means = first.mean, second.mean
                yield SliceTest(slicing.by, name, metric, best, system, *means, is_better, test, test.p_value)

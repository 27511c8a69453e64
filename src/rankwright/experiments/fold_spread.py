"""Where the spread of differences between rankers comes from, when they were compared over folds and seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.errors import InputError
from rankwright.metrics.compared.components import VarianceComponents, variance_components
from rankwright.metrics.compared.sentences import signed_cell
from rankwright.tables.text import ShownTable
from rankwright.tuning.trials import from_json

if TYPE_CHECKING:
    from rankwright.experiments.fold_comparison import RankerOnFold

PARTS = ("queries", "seeds", "folds", "rest")
TITLE = "standard deviations of the difference from the best, and its 95 % interval with all of them"


def components_of(results: Sequence[RankerOnFold], metric: str, best: str, system: str) -> VarianceComponents | None:
    """The components of the system's values less those of the best; None where too few queries count."""
    tables = {name: [_table(one, metric) for one in results if one.ranker == name] for name in (best, system)}
    try:
        return variance_components([own - other for own, other in zip(tables[system], tables[best], strict=True)])
    except InputError:
        return None


def _table(result: RankerOnFold, metric: str) -> Float64Array:
    """A row for each test query, a column for each seed."""
    return np.column_stack([from_json(values) for values in result.by_seed.get(metric, [result.values[metric]])])


def spread_table(spread: Mapping[str, Mapping[str, VarianceComponents | None]], best: Mapping[str, str]) -> ShownTable:
    """The standard deviations of the parts, and the interval of the difference with all of them."""
    rows: list[list[str]] = []
    notes: list[str] = []
    for metric, of_systems in spread.items():
        known = {name: own for name, own in of_systems.items() if own is not None}
        for system, own in known.items():
            low, high = own.interval
            deviations = [_deviation(getattr(own, part)) for part in PARTS]
            rows.append([metric, system, *deviations, f"{signed_cell(low)} to {signed_cell(high)}"])
        if known:
            nearest = min(known, key=lambda name: abs(known[name].mean))
            notes.append(_sentence(metric, best[metric], nearest, known[nearest]))
    return ShownTable(TITLE, ["metric", "system", *PARTS, "95 % interval"], rows, PARTS, notes)


def _deviation(variance: float) -> str:
    return "-" if math.isnan(variance) else f"{math.sqrt(variance):.4f}"


def _sentence(metric: str, best: str, system: str, own: VarianceComponents) -> str:
    """What share of the uncertainty of a mean difference comes from what."""
    known = {part: value for part, value in own.of_mean.items() if not math.isnan(value)}
    total = sum(known.values())
    if total == 0:
        return f"{metric}: {system} and {best} never differ."
    shares = ", ".join(f"{100 * value / total:.0f} % from {part}" for part, value in known.items())
    return f"{metric}, {system} less {best}: of the uncertainty of the mean, {shares}."

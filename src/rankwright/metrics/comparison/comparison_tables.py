"""Comparisons as people read them: what paired tests say, in tables and in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankwright.metrics.significance import PairedTest, word_of
from rankwright.tables.text import ShownTable, ShownTables, counted

if TYPE_CHECKING:
    from rankwright.metrics.comparison.system_comparison import SystemComparison


SURE, ALMOST_ONE = 0.001, 0.99  # p-values below the one, and above the other, are not told apart
LARGEST_SIZE = 100  # effect sizes above it are not told apart
OUTCOMES = "won/tied/lost"
NOT_ALIKE = "one may leave out 0 where p is not small"
DETAILS = ["system", "difference (95 %)", "p", "t-test", "effect", OUTCOMES]


def detectable_of(metric: str, first: str, second: str, test: PairedTest) -> str:
    """What so many queries could show of two systems, in a sentence; nothing where they are always equally apart."""
    effect = test.effect
    if math.isnan(effect.detectable) or effect.detectable == 0:
        return ""
    shown = f"a difference of {effect.detectable:.4f} {metric} between {first} and {second}"
    could = f"{counted(test.queries, 'query')} show {shown} four times out of five"
    if effect.needed is None:
        return f"{could}."
    return f"{could}; one of {abs(test.difference):.4f} takes about {two_digits(effect.needed):,} queries."


def two_digits(number: int) -> int:
    """The number with two digits that count: more would be pretence."""
    return round(number, min(0, 2 - len(str(number))))


def p_text(p_value: float) -> str:
    """A p-value in a sentence; none is told to be exactly 0 or 1."""
    if p_value < SURE:
        return f"p < {SURE}"
    return f"p > {ALMOST_ONE}" if p_value > ALMOST_ONE else f"p = {p_value:.2g}"


def p_cell(p_value: float) -> str:
    """A p-value in five letters."""
    if math.isnan(p_value):
        return "-"
    if SURE <= p_value <= ALMOST_ONE:
        return f"{p_value:.3f}"
    return f"<{SURE:.3f}".replace("0.", ".", 1) if p_value < SURE else f">{ALMOST_ONE:.3f}".replace("0.", ".", 1)


def signed_cell(number: float) -> str:
    """A difference with its sign, without the 0 before the point."""
    return f"{number:+.4f}".replace("0.", ".", 1) if abs(number) < 1 else f"{number:+.4f}"


def difference_cell(test: PairedTest) -> str:
    """The difference and its interval."""
    low, high = test.interval
    return f"{signed_cell(test.difference)} ({signed_cell(low)} to {signed_cell(high)})"


def effect_cell(test: PairedTest) -> str:
    """The effect size and its word."""
    size = test.effect.size
    if math.isnan(size):
        return "-"
    return f"{size:+.2f} {word_of(size)}" if abs(size) < LARGEST_SIZE else word_of(size)


def outcomes_cell(test: PairedTest) -> str:
    """On how many queries the system won, tied and lost."""
    return f"{test.wins}/{test.ties}/{test.losses}"


def tables_of(comparison: SystemComparison) -> ShownTables:
    """All tables of a comparison, and its conclusion."""
    means = ShownTable(
        comparison.headline, ["system", *comparison.metrics], comparison.table(), (), [comparison.legend]
    )
    details = [_details(comparison, metric) for metric in comparison.metrics]
    return ShownTables([means, *details], [comparison.conclusion])


def _details(comparison: SystemComparison, metric: str) -> ShownTable:
    best, against = comparison.best[metric], comparison.against_best[metric]
    names = [name for name in comparison.ordered(metric) if name in against]
    rows = []
    for name in names:
        one, test = against[name], against[name].paired
        p_cells = p_cell(one.randomisation_holm), p_cell(one.t_holm)
        rows.append([name, difference_cell(test), *p_cells, effect_cell(test), outcomes_cell(test)])
    note = corrected_note(comparison) if metric == comparison.metrics[0] else ""  # once is enough
    notes = (note, detectable_of(metric, best, names[0], against[names[0]].paired))
    title = f"{metric}: how the others differ from {best}"
    return ShownTable(title, DETAILS, rows, ("p", "t-test", OUTCOMES), list(filter(None, notes)))


def corrected_note(comparison: SystemComparison) -> str:
    """What to know where an interval stands beside a p-value; nothing where there is a single test to correct for."""
    if comparison.n_tests == 1:
        return ""
    return f"p-values are corrected for {comparison.n_tests} tests (Holm), intervals are not: {NOT_ALIKE}."

"""Comparisons as people read them: what paired tests say, in tables and in plain words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rankwright.metrics.significance import PairedTest, word_of
from rankwright.tables.text import ShownTable, ShownTables, counted

if TYPE_CHECKING:
    from rankwright.metrics.comparison.system_comparison import SystemComparison


SURE = 0.001  # p-values below it are not told apart
LARGEST_SIZE = 100  # effect sizes above it are not told apart
OUTCOMES = "won/tied/lost"
DETAILS = ["system", "difference (95 %)", "p", "t-test", "effect", OUTCOMES]


def conclusion_of(metric: str, first: str, second: str, test: PairedTest, p_value: float, alpha: float) -> str:
    """One sentence on the first system, the better one, against the second; `test` has the second less the first."""
    on = f"on {counted(test.queries, 'query')}"
    if test.difference == 0:
        return f"{first} and {second} are equal in {metric} {on}."
    low, high = sorted(abs(end) if end * test.difference > 0 else -abs(end) for end in test.interval)
    by = f"by {abs(test.difference):.4f} {metric} (95 % interval {low:.4f} to {high:.4f})"
    if test.queries == 1:
        ahead = f"{abs(test.difference):.4f} {metric}"
        return f"{first} is ahead of {second} by {ahead}, but one query tells nothing of chance."
    size, needed = test.effect.size, test.effect.needed
    if p_value >= alpha:
        chance = f"{first} is ahead of {second} {by}, but {on} that may be chance: p = {p_value:.2g}"
        if needed is None or needed <= test.queries:
            return f"{chance}."
        return f"{chance}; to be sure of a difference of this size you would need about {_round(needed):,} queries."
    sure = f"p < {SURE}" if p_value < SURE else f"p = {p_value:.2g}"
    effect = "the same on every query" if math.isinf(size) else f"a {word_of(size)} effect"
    return f"{first} is better than {second} {by} {on}; that is hardly chance: {sure}, {effect}."


def detectable_of(metric: str, first: str, second: str, test: PairedTest) -> str:
    """What so many queries could show of two systems, in a sentence; nothing where they are always equally apart."""
    effect = test.effect
    if math.isnan(effect.detectable) or effect.detectable == 0:
        return ""
    shown = f"a difference of {effect.detectable:.4f} {metric} between {first} and {second}"
    could = f"{counted(test.queries, 'query')} show {shown} four times out of five"
    if effect.needed is None:
        return f"{could}."
    return f"{could}; one of {abs(test.difference):.4f} takes about {_round(effect.needed):,} queries."


def _round(number: int) -> int:
    """The number with two digits that count: more would be pretence."""
    return round(number, min(0, 2 - len(str(number))))


def p_cell(p_value: float) -> str:
    """A p-value in five letters."""
    if math.isnan(p_value):
        return "-"
    return f"<{SURE:.3f}".replace("0.", ".", 1) if p_value < SURE else f"{p_value:.3f}"


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
    sensitivity = detectable_of(metric, best, names[0], against[names[0]].paired)
    title = f"{metric}: how the others differ from {best}"
    return ShownTable(title, DETAILS, rows, ("p", "t-test", OUTCOMES), [sensitivity] if sensitivity else [])


def conclusion_of_comparison(comparison: SystemComparison) -> str:
    """One sentence on the first metric of a comparison."""
    metric, (first, second, *_) = comparison.metrics[0], comparison.ordered()
    against, alpha = comparison.against_best[metric], comparison.alpha
    found = conclusion_of(metric, first, second, against[second].paired, against[second].randomisation_holm, alpha)
    if len(against) == 1:
        return found
    beaten, n_others = sum(one.randomisation_holm < alpha for one in against.values()), len(against)
    of_others = {0: f"none of the {n_others} others", n_others: f"all {n_others} others"}
    than = of_others.get(beaten, f"{beaten} of the {n_others} others")
    return f"{found.removesuffix('.')}; {first} is significantly better than {than}."

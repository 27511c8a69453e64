"""A comparison as people read it: means, then how the others differ from the best in each metric, and a sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rankwright.metrics.comparison.effects import word_of
from rankwright.metrics.comparison.sentences import (
    conclusion_of,
    detectable_of,
    difference_cell,
    effect_cell,
    outcomes_cell,
    p_cell,
)
from rankwright.tables.text import ShownTable, ShownTables

if TYPE_CHECKING:
    from rankwright.metrics.comparison.against_best import AgainstBest
    from rankwright.metrics.comparison.system_comparison import SystemComparison

OUTCOMES = "won/tied/lost"
DETAILS = ["system", "difference (95 %)", "p", "t-test", "effect", OUTCOMES]


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
    rows = [
        [
            name,
            difference_cell(against[name].paired),
            p_cell(against[name].randomisation_holm),
            p_cell(against[name].t_holm),
            effect_cell(against[name].paired),
            outcomes_cell(against[name].paired),
        ]
        for name in names
    ]
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


COLUMNS = (
    "difference",
    "p_value",
    "wilcoxon_p_value",
    "t_p_value",
    "difference_low",
    "difference_high",
    "effect_size",
    "effect",
    "wins",
    "ties",
    "losses",
    "detectable",
    "queries_needed",
)


def values_against_best(against: AgainstBest | None) -> tuple[Any, ...]:
    """The values of `COLUMNS` for a system; NaN for the best, which is not tested."""
    if against is None:
        return tuple("" if name == "effect" else np.nan for name in COLUMNS)
    test, effect = against.paired, against.paired.effect
    return (
        test.difference,
        against.randomisation_holm,
        against.wilcoxon_holm,
        against.t_holm,
        *test.interval,
        effect.size,
        word_of(effect.size),
        test.wins,
        test.ties,
        test.losses,
        effect.detectable,
        np.nan if effect.needed is None else effect.needed,
    )

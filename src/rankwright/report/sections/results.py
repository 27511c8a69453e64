"""What was measured: means with their intervals, tests against the best system, and the same on slices of queries."""

from __future__ import annotations

from dataclasses import replace

from rankwright.errors import RankwrightError
from rankwright.metrics.comparison.comparison_tables import (
    OUTCOMES,
    corrected_note,
    detectable_of,
    difference_cell,
    effect_cell,
    outcomes_cell,
    p_cell,
    p_text,
)
from rankwright.metrics.comparison.gate import Gate
from rankwright.metrics.comparison.slice_comparison import SliceComparison
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.metrics.comparison.verdict import gained
from rankwright.report.measured import Measured
from rankwright.report.page.document import Block, Chart, KeyFigure, PageTable, PageVerdict, Section, Sureness
from rankwright.report.specs.comparisons import mean_intervals, slice_differences
from rankwright.tables.text import ShownTable, counted

BY = ("documents", "relevant")
BY_NAMES = {"documents": "number of documents", "relevant": "number of relevant documents"}


def comparison_verdict(comparison: SystemComparison) -> PageVerdict:
    """Which system won, by how much, how sure that is, and what other metrics say against it."""
    verdict, metric, n_tests = comparison.verdict, comparison.headline_metric, comparison.n_tests
    test, p_value = verdict.against.paired, verdict.against.randomisation_holm
    low, high = gained(test)
    # The labels say what is corrected, because the interval is not and p is.
    corrected, plain = (f", corrected for {n_tests} tests", ", not corrected") if n_tests > 1 else ("", "")
    figures = (
        KeyFigure(f"{abs(test.difference):+.4f}", f"{metric} over {verdict.second}"),
        KeyFigure(f"{low:.4f} to {high:.4f}", f"95 % interval of the difference{plain}"),
        KeyFigure(p_text(p_value).removeprefix("p ").removeprefix("= "), f"p, randomisation test{corrected}"),
        KeyFigure(f"{test.losses:,} / {test.ties:,} / {test.wins:,}", "queries won / tied / lost"),
    )
    sureness = Sureness.CONFLICT if verdict.worse else Sureness.SURE if verdict.is_sure else Sureness.CHANCE
    return PageVerdict(verdict.headline, verdict.sentence, sureness, figures)


def measured_verdict(measured: Measured, on: str = "") -> PageVerdict:
    """What one system reached, by the headline's metric; `on` is added after the number of queries."""
    (name,) = measured.evaluations
    result = measured.some[measured.metric]
    low, high = result.interval
    queries = counted(result.n_queries, "query")
    sentence = (
        f"{name} reaches {result.mean:.4f} {measured.metric} on {queries}{on}; the true mean lies between "
        f"{low:.4f} and {high:.4f} with 95 % confidence."
    )
    if result.n_queries < 2:
        reached = f"{name} reaches {result.mean:.4f} {measured.metric}{on}"
        sentence = f"{reached}, but so few queries cannot tell how much of that is chance."
    others = [one for one in measured.some.results if one != measured.metric][:3]
    figures = (
        KeyFigure(f"{low:.4f} to {high:.4f}", "95 % interval"),
        *(KeyFigure(f"{measured.some[one].mean:.4f}", one) for one in others),
    )
    return PageVerdict(f"{name}: {result.mean:.4f} {measured.metric}", sentence, Sureness.MEASURED, figures)


def metrics_section(measured: Measured) -> Section:
    """The table of metrics, a chart of the headline's, and the tests against the best where there are several."""
    headline = measured.some.headline
    blocks: list[Block] = []
    if measured.comparison is None:
        blocks += [PageTable(replace(one.shown(), title="")) for one in measured.evaluations.values()]
    else:
        blocks.append(PageTable(means_table(measured.comparison)))
        results = {name: evaluation[measured.metric] for name, evaluation in measured.evaluations.items()}
        rows_of = [
            {"system": name, "mean": result.mean, "low": result.interval.low, "high": result.interval.high}
            for name, result in results.items()
        ]
        caption = (
            f"{measured.metric} with 95 % intervals of the mean. Systems whose intervals overlap may still differ "
            "significantly: the tests below compare them query by query."
        )
        blocks.append(Chart(mean_intervals(rows_of, measured.metric), caption))
        blocks.append(PageTable(tests_table(measured.comparison)))
    return Section("metrics", "Metrics", f"{headline[:1].upper()}{headline[1:]}.", tuple(blocks))


def means_table(comparison: SystemComparison) -> ShownTable:
    """A row for each system, the best first: the mean of each metric with its marks, and below it the interval."""
    rows = []
    for system in comparison.ordered():
        cells = []
        for metric, result in comparison.evaluations[system].results.items():
            marks = comparison.marks(system, metric)
            cells.append(f"{result.mean:.4f}{' ' if marks else ''}{marks}\n{result.interval}")
        rows.append([system, *cells])
    columns = ["system", *comparison.metrics]
    return ShownTable("", columns, rows, columns[1:], ["Below each mean is its 95 % interval.", comparison.legend])


def tests_table(comparison: SystemComparison) -> ShownTable:
    """A row for each metric and system: how it differs from the best one."""
    rows, notes = [], []
    for metric, against in comparison.against_best.items():
        names = [name for name in comparison.ordered(metric) if name in against]
        for name in names:
            one = against[name]
            tests = [p_cell(one.randomisation_holm), p_cell(one.t_holm), p_cell(one.wilcoxon_holm)]
            numbers = [effect_cell(one.paired), outcomes_cell(one.paired)]
            rows.append(
                [metric, f"{name} minus {comparison.best[metric]}", difference_cell(one.paired), *tests, *numbers]
            )
        notes.append(detectable_of(metric, comparison.best[metric], names[0], against[names[0]].paired))
    columns = ["metric", "systems", "difference (95 %)", "p", "t-test", "Wilcoxon", "effect", OUTCOMES]
    told = list(filter(None, ["p is that of the randomisation test.", corrected_note(comparison), *notes[:1]]))
    return ShownTable("Tests against the best", columns, rows, columns[2:], told)


def gate_section(gate: Gate) -> Section:
    """Whether the new system may take the place of the old one, and what was found in each metric."""
    (table,) = gate.shown().tables
    told, title = (f"{text[:1].upper()}{text[1:]}" for text in (gate.conclusion, table.title))
    return Section("gate", "Gate", told, (PageTable(replace(table, title=title)),))


def slices_section(comparison: SystemComparison, given: SliceComparison | None = None) -> Section | None:
    """The comparison on slices, by length and by relevant documents unless another was given; None for few queries."""
    try:
        found = comparison.slice_by(BY if comparison.material is not None else "documents") if given is None else given
    except RankwrightError:
        return None
    if not found.tests:
        return None
    blocks: list[Block] = []
    for by, metric in dict.fromkeys((one.by, one.metric) for one in found.tests):
        own = [one for one in found.tests if (one.by, one.metric) == (by, metric)]
        rows = [
            {"slice": one.slice, "system": one.system, "difference": one.paired.difference,
             "low": one.paired.interval.low, "high": one.paired.interval.high, "queries": one.paired.queries}
            for one in own
        ]  # fmt: skip
        title = f"By {BY_NAMES.get(by, by)}"
        blocks.append(Chart(slice_differences(rows, metric, own[0].best, comparison.ordered()) | {"title": title}))
    blocks.append(PageTable(_slices_table(found)))
    return Section("slices", "Slices", found.conclusion, tuple(blocks))


def _slices_table(found: SliceComparison) -> ShownTable:
    rows = [
        [f"{one.by}: {one.slice}", f"{one.system} minus {one.best}", str(one.paired.queries),
         difference_cell(one.paired), p_cell(one.p_value_holm), effect_cell(one.paired), outcomes_cell(one.paired)]
        for one in found.tests
    ]  # fmt: skip
    columns = ["slice", "systems", "queries", "difference (95 %)", "p", "effect", OUTCOMES]
    return ShownTable("Tests on slices", columns, rows, columns[2:], [f"{found.headline}."])

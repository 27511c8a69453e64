"""Did we need this many experiments? A study as tables and pictures."""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rankwright.errors import MissingExtraError
from rankwright.formats.storage.streams import atomic_text_output
from rankwright.metrics.metric_table import parse_metric
from rankwright.report.pages.search_page import named_curves, shared_metric, too_few_to_tell
from rankwright.report.picture import picture_kind, write_picture
from rankwright.report.specs.search_charts import best_so_far, effects_of_settings, interactions_bars, settings_bars
from rankwright.report.specs.theme import side_by_side
from rankwright.report.table_files import write_json, write_rows
from rankwright.tables.text import markdown_table, short
from rankwright.tuning.studies.study_summary import SearchCurve, StudySummary

log = logging.getLogger(__name__)

N_BEST = 10  # configurations in the table; Ganjisaffar's slides show five
NEAR = 0.002  # how near to the best value counts as reaching it


@dataclass(frozen=True, slots=True)
class WrittenStudyReport:
    """The report as text and as a JSON document, and the files that were written."""

    text: str
    document: dict[str, Any]
    files: tuple[Path, ...]


def write_study_report(summaries: Sequence[StudySummary], folder: Path, *, picture: str = "svg") -> WrittenStudyReport:
    """Write the report on studies of one metric to a folder; the first one is shown in detail."""
    shared_metric(summaries)
    picture_kind(f"picture.{picture}")
    folder.mkdir(parents=True, exist_ok=True)
    first, curves = summaries[0], named_curves(summaries)
    document = _document(first, curves)
    tables: dict[str, Iterable[dict[str, Any]]] = {"searches": _curve_rows(curves), "best": document["best"]}
    if first.importance is not None:
        pairs = {" × ".join(pair): share for pair, share in first.importance.pairs.items()}
        shares = {**first.importance.settings, **pairs}
        tables["importance"] = [{"settings": name, "share": share} for name, share in shares.items()]
    try:
        pictures = _drawn(first, curves, folder, picture)
    except MissingExtraError as error:  # the tables say it all, in numbers
        pictures = {}
        log.warning("there are no pictures: %s", error)
    for name, rows in tables.items():
        write_rows(folder / f"{name}.csv", rows)
    text = _text(first, document)
    report, whole = folder / "report.md", folder / "report.json"
    with atomic_text_output(str(report)) as file:
        file.write(text + "\n" + "".join(f"\n![{name}]({path.name})\n" for name, path in pictures.items()))
    write_json(whole, document)
    files = (report, whole, *(folder / f"{name}.csv" for name in tables), *pictures.values())
    return WrittenStudyReport(text, document, files)


def _drawn(first: StudySummary, curves: dict[str, SearchCurve], folder: Path, picture: str) -> dict[str, Path]:
    """The pictures of the report by name, drawn."""
    metric, importance = first.metric, first.importance
    charts = {"searches": best_so_far(curves, metric)}
    if importance is not None:
        shares = [chart | {"width": 300} for chart in (settings_bars(importance), interactions_bars(importance))]
        about = f"What each value of a setting reaches in {metric}."
        charts["importance"] = side_by_side(shares, "Which settings matter, and which pairs of them.")
        charts["effects"] = side_by_side(effects_of_settings(importance, metric), about)
    pictures = {name: folder / f"{name}.{picture}" for name in charts}
    for name, chart in charts.items():
        write_picture(chart, pictures[name])
    return pictures


def _curve_rows(curves: dict[str, SearchCurve]) -> Iterable[dict[str, Any]]:
    for name, curve in curves.items():
        columns = zip(curve.steps, curve.leaves, curve.seconds, curve.best, strict=True)
        for trial, (steps, leaves, seconds, best) in enumerate(columns, start=1):
            yield {
                "search": name,
                "trial": trial,
                "steps": int(steps),
                "steps_x_leaves": int(leaves),
                "seconds": round(float(seconds), 3),
                "best": float(best),
            }


def _best(summary: StudySummary) -> list[dict[str, Any]]:
    alike = len({result.trial.budget for result in summary.best}) == 1
    return [
        {summary.metric: result.value, "deviation": result.to_dict()["deviation"]}
        | {name: result.trial.settings[name] for name in summary.space}
        | ({} if alike else {"budget": result.trial.budget})
        | {"steps": result.mean_steps, "size": result.size, "experiments": len(result.records)}
        for result in summary.best[:N_BEST]
    ]


def searches_table(curves: dict[str, SearchCurve], metric: str) -> list[dict[str, Any]]:
    """One row per search: what it reached, with how much work, and with how much work it came near the best."""
    higher = parse_metric(metric).higher_is_better
    ends = [float(curve.best[-1]) for curve in curves.values()]
    best = max(ends) if higher else min(ends)
    most = max(float(curve.steps[-1]) for curve in curves.values())
    rows = []
    for name, curve in curves.items():
        near = abs(curve.best - best) <= NEAR
        rows.append(
            {
                "search": name,
                "configurations": curve.n_configurations,
                "trials": len(curve.best),
                "best": float(curve.best[-1]),
                "below_best": abs(best - float(curve.best[-1])),
                "steps": int(curve.steps[-1]),
                "share_of_most": float(curve.steps[-1]) / most if most else math.nan,
                "steps_until_near": int(curve.steps[int(near.argmax())]) if near.any() else None,
            }
        )
    return rows


def _document(summary: StudySummary, curves: dict[str, SearchCurve]) -> dict[str, Any]:
    importance = summary.importance
    return {
        "ranker": summary.ranker,
        "metric": summary.metric,
        "experiments": summary.n_experiments,
        "searches": searches_table(curves, summary.metric),
        "best": _best(summary),
        "importance": None if importance is None else dict(importance.settings),
        "interactions": None
        if importance is None
        else [{"settings": list(pair), "share": share} for pair, share in importance.pairs.items()],
        "refit": summary.refit,
    } | ({"importance_note": too_few_to_tell(summary.n_compared, summary.space)} if importance is None else {})


def _text(summary: StudySummary, document: dict[str, Any]) -> str:
    parts = [f"# {summary.ranker}: {summary.n_experiments} experiments, {summary.metric}"]
    searches = [
        [
            row["search"],
            str(row["configurations"]),
            str(row["trials"]),
            f"{row['best']:.4f}",
            f"{row['steps']:,}",
            f"{row['share_of_most']:.1%}",
            "never" if row["steps_until_near"] is None else f"{row['steps_until_near']:,}",
        ]
        for row in document["searches"]
    ]
    near = f"steps until within {NEAR} of the best"
    columns = ["search", "configurations", "trials", "best", "steps", "share of the most", near]
    parts.append("## Did we need this many experiments?\n\n" + markdown_table(columns, searches))
    best = [[short(value) for value in row.values()] for row in document["best"]]
    parts.append("## Best configurations\n\n" + markdown_table(list(document["best"][0]), best))
    parts.append(f"## Which settings matter\n\n{_settings_text(summary)}")
    if summary.refit is not None:
        refit = summary.refit
        rows = [[name, short(value)] for name, value in refit["chosen"]["settings"].items()]
        rows.append(["steps", "chosen by validation" if refit["steps"] is None else str(refit["steps"])])
        rows += [[name, short(value)] for name, value in refit["model"].items()]
        parts.append("## Trained on all the data\n\n" + markdown_table(["setting", "value"], rows))
    return "\n\n".join(parts)


def _settings_text(summary: StudySummary) -> str:
    if summary.importance is None:
        return too_few_to_tell(summary.n_compared, summary.space)
    alone = [[name, f"{share:.1%}"] for name, share in summary.importance.settings.items()]
    pairs = [[" × ".join(pair), f"{share:.1%}"] for pair, share in list(summary.importance.pairs.items())[:5]]
    lead = f"Shares of the variance between {summary.n_compared} configurations."
    tables = markdown_table(["setting", "share"], alone), markdown_table(["interaction", "share"], pairs)
    return "\n\n".join([lead, *tables])

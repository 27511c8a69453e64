"""The files of a variance study: its table and its curves as CSV, JSON and pictures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rankwright.errors import require
from rankwright.experiments.variance import Curve, VarianceStudy, curve_rows
from rankwright.report.curves import Spread, draw_spreads
from rankwright.report.figure import FORMATS
from rankwright.report.tables import write_json, write_rows


def write_study(
    study: VarianceStudy, folder: str | os.PathLike[str], *, metric: str | None = None, picture: str = "svg"
) -> list[Path]:
    """Write the study into `folder` and return the paths; pictures show `metric`, by default the first of the study."""
    shown = metric or study.plan.metrics[0]
    require(shown in study.plan.metrics, f"pictures show a metric of the study, got {shown!r}")
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
        draw_spreads(_spreads(curves, shown), drawing, metric=shown, what=what, title=title)
        paths += [numbers, drawing]
    return paths


def check_picture(kind: str) -> None:
    """Raise if `kind` is not a format of pictures."""
    require(kind in FORMATS, f"a picture is one of {', '.join(FORMATS)}, got {kind!r}")


def _sample_rows(study: VarianceStudy) -> list[dict[str, Any]]:
    return [
        {"ranker": ranker, "metric": metric, "sample": number, "value": float(value)}
        for ranker, by_metric in study.values.items()
        for metric, values in by_metric.items()
        for number, value in enumerate(values)
    ]


def _spreads(curves: Sequence[Curve], metric: str) -> dict[str, Spread]:
    return {curve.ranker: Spread(curve.numbers, curve.values[metric]) for curve in curves}

"""docs/letor.md: LETOR's published baselines beside our rankers and the peers', from the records of its benchmark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rankwright.reproduce.published import LETOR_METRICS
from rankwright.tables.text import markdown_table

HEAD = """# LETOR's published baselines

`make results` generates this page from what `python -m benchmarks.quality.letor_table DATA/MQ2007 DATA/MQ2008` found:
the whole table of baselines that was published with [LETOR 4.0](references.md#letor), the same rankers of ours, and
LightGBM, XGBoost and CatBoost, on the official five folds. Figures are means of the five test parts in the `letor`
convention. **The best figure of each column is bold, whoever has it.**

Rankers of the published table have our defaults, with the training step chosen by MAP on `vali` (AdaRank, BagBoo: best
of a few settings by MAP on `vali`). Forests that are called *tuned* get equal effort: the same number of settings, the
tool's own defaults first and the others drawn from like ranges, each trained to the same number of trees; the
settings and the number of trees are those with the best MAP on `vali`. `BL-MART` has its defaults and does not look
at `vali`. The last columns compare each row with it by query: the difference in MAP with its 95 % interval
(bootstrap), and the p-value of Fisher's randomisation test, not corrected for the number of rows.
"""
REBUILT = (
    "The features of the copy of MQ2007 that was used are rebuilt: they come from the published scores of models, and "
    "59,135 of its 69,623 lines were checked to be equal to LETOR's, byte for byte."
)


def letor_page(benchmarks: Mapping[str, Any]) -> str:
    """The whole page."""
    records = [record for record in benchmarks.values() if "letor" in record]
    sections = [HEAD, *(part for record in records for part in _section(record))]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _section(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"## {record['letor']}"
    best = {metric: max(round(row[metric], 4) for row in record["rows"] if metric in row) for metric in LETOR_METRICS}
    rows = [
        [row["whose"], row["ranker"], *(_cell(row.get(metric), best[metric]) for metric in LETOR_METRICS), *_gap(row)]
        for row in record["rows"]
    ]
    columns = [*LETOR_METRICS, "MAP less BL-MART's", "p"]
    yield markdown_table(["whose", "ranker", *columns], rows, numbers=columns)
    if record["letor"] == "MQ2007":
        yield REBUILT
    if record["notes"].get("left_out"):
        yield f"Left out, because not every fold is done: {'; '.join(record['notes']['left_out'])}."
    versions = ", ".join(f"{library} {number}" for library, number in record["versions"].items())
    seconds = ", ".join(f"{row['ranker']} {row['seconds']:,.0f}" for row in record["rows"] if "seconds" in row)
    yield (
        f"{record['notes']['trials']} settings for each tuned forest; {record['date']}; {versions}. Processor seconds "
        f"of all five folds: {seconds}. Command: `{record['command']}`"
    )


def _cell(value: float | None, best: float) -> str:
    if value is None:
        return "-"
    return f"**{value:.4f}**" if round(value, 4) == best else f"{value:.4f}"


def _gap(row: Mapping[str, Any]) -> list[str]:
    if "gap" not in row:
        return ["", ""]
    return [f"{row['gap']:+.4f} ({row['low']:+.4f} to {row['high']:+.4f})", f"{row['p_value']:.3f}"]

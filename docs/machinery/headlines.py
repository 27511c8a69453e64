"""What a reader of the page of results wants first: headline figures beside the paper's and the best peer's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pictures import COLOURS, RIGHT, WIDTH, label, line, svg

from rankwright.reproduce.outcome import Figure
from rankwright.reproduce.papers.blmart_tables import FORESTS
from rankwright.reproduce.published import PLAIN, WITH
from rankwright.tables.text import markdown_table

MQ2007 = "MQ2007"
TABLES, VARIANCE, TUNING = (f"{name}, on {MQ2007}" for name in ("blmart-tables", "blmart-variance", "blmart-tuning"))
Results = Mapping[str, Any]


class Headline(NamedTuple):
    """A figure of an experiment's table, what it is called, and the peers' metric that stands beside it."""

    text: str
    experiment: str
    table: str
    row: str
    column: str
    peers: str = ""
    digits: int = 4


HEADLINES = (
    *(
        Headline(f"{MQ2007}, {row}: {metric}", TABLES, MQ2007, row, metric, metric)
        for row, metric in ((WITH, "map"), (WITH, "mean-ndcg"), (WITH, "ndcg@1"), (PLAIN, "map"))
    ),
    Headline(
        "variance of MAP over ten samples, BL-MART less one LambdaMART, % (the slides': MSLR-WEB10K)",
        VARIANCE,
        f"{MQ2007}, change of variance, %",
        WITH,
        "map",
        digits=1,
    ),
    Headline(f"{MQ2007}, experiments of the tuning", TUNING, "Tuning", MQ2007, "experiments"),
    Headline(
        f"{MQ2007}, processor hours that all of them take",
        TUNING,
        "Tuning",
        MQ2007,
        "processor hours for all",
        digits=1,
    ),
    Headline(
        "network of random weights, 12,500 vectors, two layers: pairs in the right order, %",
        "ranknet-table1",
        "Test pairs in the right order, %: pairs of different levels",
        "Net, 2 layers",
        "12,500",
        digits=2,
    ),
    Headline(
        "random polynomial, 12,500 vectors, two layers: pairs in the right order, %",
        "ranknet-table1",
        "Test pairs in the right order, %: all pairs, by the function itself",
        "Poly, 2 layers",
        "12,500",
        digits=2,
    ),
)


def headlines(results: Results) -> Iterator[str]:
    """The section: a table of figures, and the picture of the MQ2007 table."""
    yield "## Headline figures"
    rows = []
    for one in HEADLINES:
        figure = figure_of(results, one)
        if figure is not None:
            paper = "" if figure.paper is None else Figure(figure.paper).cell(one.digits)
            ours = Figure(figure.ours, None, figure.low, figure.high).cell(one.digits)
            rows.append([one.text, ours, paper, _best_peer(results, one.peers)])
    yield markdown_table(["figure", "ours ± half of the 95 % interval", "the paper's", "the best peer's"], rows)
    yield (
        "The best peer is the best of LightGBM, XGBoost and CatBoost, tuned on the same folds: see [LETOR's published "
        "baselines](letor.md)."
    )
    if TABLES in results["experiments"]:
        yield f"![MAP of every ranker of the MQ2007 table, ours and the published one](images/{PICTURE})"


def figure_of(results: Results, one: Headline) -> Figure | None:
    """The figure that a headline tells, where its experiment was run."""
    document = results["experiments"].get(one.experiment)
    for table in document["tables"] if document else ():
        if table["title"] == one.table and one.column in table["rows"].get(one.row, {}):
            return Figure(**table["rows"][one.row][one.column])
    return None


def _best_peer(results: Results, metric: str) -> str:
    record = results["benchmarks"].get(f"letor-table-{MQ2007.lower()}")
    rows = [row for row in record["rows"] if row["whose"] == "peers" and metric in row] if record and metric else []
    if not rows:
        return ""
    best = max(rows, key=lambda row: float(row[metric]))
    return f"{best[metric]:.4f} ({best['ranker'].partition(',')[0]})"


PICTURE = "mq2007-map.svg"
NAMES, ROW, HEAD = 318, 24, 62  # pixels: for the names of rows, of a row, above the first


def picture(document: Mapping[str, Any]) -> str:
    """MAP of every row of the MQ2007 table, ours and the published figure.

    The interval of each mean is wider than all of the picture, since queries differ more than rankers do: it is told.
    """
    (table,) = (one for one in document["tables"] if one["title"] == MQ2007)
    figures = {row: Figure(**cells["map"]) for row, cells in table["rows"].items()}
    ordered = sorted(figures, key=lambda row: figures[row].ours or 0.0)
    known = [value for one in figures.values() for value in (one.ours, one.paper) if value is not None]
    low, high = min(known) - 0.002, max(known) + 0.002

    def across(value: float) -> float:
        return NAMES + (min(max(value, low), high) - low) / (high - low) * (WIDTH - NAMES - RIGHT)

    bottom = HEAD + ROW * len(ordered)
    half = max(((one.high or 0.0) - (one.low or 0.0)) / 2 for one in figures.values())
    parts = [
        label(10, 20, "● ours   ", "start", COLOURS[0]),
        label(70, 20, "◇ published", "start", COLOURS[1]),
        label(10, 40, f"95 % intervals over queries are ±{half:.3f}; rankers are compared query by query", "start"),
    ]
    first = round(low + 0.0025, 2)
    for tick in (first + 0.005 * step for step in range(int((high - first) / 0.005) + 1)):
        parts.append(line([(across(tick), HEAD), (across(tick), bottom)], "#ddd", 1))
        parts.append(label(across(tick), bottom + 18, f"{tick:.3f}"))
    for number, row in enumerate(ordered):
        down, one = HEAD + ROW * (number + 0.5), figures[row]
        weight = "#000" if row in FORESTS else "#555"
        parts.append(label(NAMES - 10, down + 4, row, "end", weight))
        parts.append(line([(NAMES, down), (WIDTH - RIGHT, down)], "#eee", 1))
        if one.ours is not None:
            parts.append(f'<circle cx="{across(one.ours):.1f}" cy="{down:.1f}" r="5" fill="{COLOURS[0]}"/>')
        if one.paper is not None:
            x = across(one.paper)
            diamond = [(x - 5, down), (x, down - 5), (x + 5, down), (x, down + 5), (x - 5, down)]
            parts.append(line(diamond, COLOURS[1], 2))
    parts.append(label((NAMES + WIDTH - RIGHT) / 2, bottom + 36, "MAP on MQ2007, five folds"))
    return svg(parts, "MAP of every ranker on MQ2007, ours and published", bottom + 44)

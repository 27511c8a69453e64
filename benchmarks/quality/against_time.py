"""How well do rankers rank for the processor time that they take? Ours and the peers', on each set of the protocol.

Each point is a system of `benchmarks.quality.rankers`, trained and tested on the same folds on one thread: our
defaults, fixed lengths and bags; the peers' defaults, their fast settings, 300 trees at rate .05, and eight settings
tried. For each point of a peer the table names the best of ours that takes at most 5 % more time, and the difference
between the two, paired by query; * marks p < .05 after Holm's correction over the points of the set. The best is so on
the same test queries, which flatters it a little. Results are kept beside those of `benchmarks.quality.rankers`, and
what is kept is not computed again: a run that was stopped goes on. The small sets come first. What is there is told at
the end, as a table, and as a picture in docs/images. On a busy machine processor times grow, by half and more:
`--again` runs everything once more and keeps the least. `--record` takes results to another machine.

    python -m benchmarks.quality.against_time                                          # everything: hours
    python -m benchmarks.quality.against_time --sets mq2008 ohsumed --without tuned    # minutes
    python -m benchmarks.quality.against_time --no-runs                                # tell what is there
    python -m benchmarks.quality.against_time --record docs/records --again --sets mq2008
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from benchmarks.helpers.kept_runs import leave_record, take_record
from benchmarks.helpers.places import CHECKOUT
from benchmarks.helpers.records import show
from benchmarks.quality.data_sets import SETS, available
from benchmarks.quality.judge import Verdict, corrected, judge_set
from benchmarks.quality.rankers import FOLDER, Task, processor_seconds_of, run, values_of, versions_of
from benchmarks.quality.systems import scores_of

from rankwright import synthetic
from rankwright.arrays import Float64Array

METRIC, FOLDS, AS_FAST = "ndcg@10", 2, 1.05
LARGE = frozenset({"web-3000", "web-30000"})  # one fold of these has enough queries
POINTS = {
    "rankwright": (
        "lambdamart(n_trees=30)",
        "lambdamart(n_trees=100)",
        "lambdamart(n_trees=300)",
        "lambdamart(n_trees=100, max_leaves=64, growth=symmetric, learning_rate=0.1)",
        "lambdamart()",
        "bl-mart(n_bags=5)",
        "bl-mart()",
    ),
    "lightgbm": (
        "lightgbm()",
        "lightgbm(max_bin=63, force_row_wise=true)",
        "lightgbm(use_quantized_grad=true, num_grad_quant_bins=16)",
        "lightgbm(n_estimators=300, learning_rate=0.05)",
        "tuned-lightgbm(trials=8)",
    ),
    "xgboost": (
        "xgboost()",
        "xgboost(max_bin=63)",
        "xgboost(n_estimators=300, learning_rate=0.05)",
        "tuned-xgboost(trials=8)",
    ),
    "catboost": (
        "catboost(iterations=100, border_count=63)",
        "catboost(iterations=300, learning_rate=0.05)",
        "catboost()",
        "tuned-catboost(trials=8)",
    ),
}
COLOURS = {"rankwright": "#00796b", "lightgbm": "#e64a19", "xgboost": "#3949ab", "catboost": "#7b1fa2"}
RECORD = "quality-time.tar.xz"
PICTURE = CHECKOUT / "docs" / "images" / "quality-time.svg"
ORDER = (
    "lightgbm-example", "mq2008", "ohsumed", "mslr", "network", "polynomial", "mq2007", "web-300", "topics",
    "web-3000", "web-30000",
)  # fmt: skip  # from little to much work


class Point(NamedTuple):
    """What a system took and reached on a set: processor seconds a fold, and the metric of each test query."""

    tool: str
    system: str
    seconds: float
    values: Float64Array

    @property
    def mean(self) -> float:
        return float(np.nanmean(self.values))


def folds_of(name: str, most: int = FOLDS) -> int:
    """How many folds of a set are tested on."""
    return 1 if name in LARGE else most


def tasks_of(sets: Sequence[str], without: Sequence[str], folds: int) -> list[Task]:
    """What is to be computed, set by set."""
    systems = [system for points in POINTS.values() for system in points if not system.startswith(tuple(without))]
    return [Task(system, name, fold) for name in sets for system in systems for fold in range(folds_of(name, folds))]


def compute_missing(tasks: Sequence[Task], *, again: bool = False) -> None:
    """Run the tasks that have no result with its processor time, or all of them again, one after another."""
    missing = [task for task in tasks if again or not is_timed(task)]
    if missing:
        warm_up()
    for number, task in enumerate(missing, 1):
        print(f"{number}/{len(missing)} {task.set} {task.fold} {task.system}: {run(task):.1f} s", flush=True)


def warm_up() -> None:
    """Load what each tool needs, so that its first result does not pay for it."""
    tiny = synthetic.web_search(20, docs_per_query=5, seed=0)
    for tool in ("lambdamart", "bl-mart"):
        scores_of(f"{tool}(n_trees=1)", tiny, tiny, seed=0)
    for tool in ("lightgbm", "xgboost"):
        scores_of(f"{tool}(n_estimators=1)", tiny, tiny, seed=0)
    scores_of("catboost(iterations=1)", tiny, tiny, seed=0)


def is_timed(task: Task) -> bool:
    """Whether a result with its processor time is kept."""
    return task.path.exists() and "processor_seconds" in json.loads(task.path.read_text())


def points_of(name: str, most: int) -> list[Point]:
    """The points of a set that are there: those with all folds."""
    found, folds = [], folds_of(name, most)
    for tool, systems in POINTS.items():
        for system in systems:
            if all(is_timed(Task(system, name, fold)) for fold in range(folds)):
                seconds = processor_seconds_of(system, name, folds)
                found.append(Point(tool, system, seconds, values_of(system, [name], METRIC, folds)[name]))
    return found


def answers(points: Sequence[Point]) -> dict[str, tuple[Point, Verdict, float] | None]:
    """For each point of a peer: the best of ours as fast, its lead, and the corrected p-value; None if none is."""
    ours = [point for point in points if point.tool == "rankwright"]
    found: dict[str, tuple[Point, Verdict] | None] = {}
    for point in points:
        as_fast = [own for own in ours if own.seconds <= AS_FAST * point.seconds]
        if point.tool != "rankwright":
            best = max(as_fast, key=lambda own: own.mean, default=None)
            found[point.system] = best and (best, judge_set(np.nan_to_num(best.values - point.values)))
    answered = {system: one for system, one in found.items() if one is not None}
    chances = dict(zip(answered, corrected([verdict for _, verdict in answered.values()]), strict=True))
    return {system: one and (*one, chances[system]) for system, one in found.items()}


def rows_of(name: str, points: Sequence[Point]) -> list[dict[str, Any]]:
    """The table of a set, from the quickest point to the slowest."""
    found, rows = answers(points), []
    for point in sorted(points, key=lambda one: one.seconds):
        row = {"set": name, "system": f"`{point.system}`", "seconds": point.seconds, METRIC: round(point.mean, 4)}
        answer = found.get(point.system)
        if answer is not None:
            own, verdict, chance = answer
            mark = "*" if chance < 0.05 else ""
            row |= {
                "ours as fast": f"`{own.system}`",
                "its lead": f"{verdict.difference:+.4f} ± {verdict.error:.4f}{mark}",
            }
        elif point.tool != "rankwright":
            row["ours as fast"] = "none"
        rows.append(row)
    return rows


# The picture: a panel for each set, processor time from left to right, quality upwards.
WIDTH, HEIGHT, LEFT, TOP, GAP, COLUMNS = 300, 220, 52, 30, 34, 3
TEXT = 'font-family="sans-serif" font-size="11"'


def picture(sets: dict[str, list[Point]]) -> str:
    """All sets as one SVG. A line joins a tool's points that no point of its own beats in both time and quality."""
    n_rows = ceil(len(sets) / COLUMNS)
    width, height = COLUMNS * WIDTH + 20, n_rows * (HEIGHT + GAP) + 40
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" role="img">',
        "<title>NDCG@10 by processor time, ours and the peers', on each set</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for number, (name, points) in enumerate(sets.items()):
        across, down = number % COLUMNS * WIDTH, number // COLUMNS * (HEIGHT + GAP)
        parts += [f'<g transform="translate({across} {down})">', *_panel(name, points), "</g>"]
    for number, (tool, colour) in enumerate(COLOURS.items()):
        x, y = 60 + 130 * number, height - 14
        parts += [f'<circle cx="{x}" cy="{y - 4}" r="4" fill="{colour}"/>', _words(x + 9, y, tool, "start")]
    return "\n".join(
        [
            *parts,
            _words(width - 20, height - 14, "NDCG@10 by processor seconds a fit; rings are defaults", "end"),
            "</svg>\n",
        ]
    )


def _panel(name: str, points: Sequence[Point]) -> list[str]:
    low, high = floor(log10(min(one.seconds for one in points))), ceil(log10(max(one.seconds for one in points)))
    worst, best = min(one.mean for one in points), max(one.mean for one in points)
    span = max(best - worst, 1e-4)

    def place(point: Point) -> tuple[float, float]:
        x = LEFT + (log10(point.seconds) - low) / max(high - low, 1) * (WIDTH - LEFT - 16)
        return x, TOP + 8 + (best - point.mean) / span * (HEIGHT - TOP - 16)

    parts = [
        _words(WIDTH / 2 + 20, 20, name),
        f'<path d="M{LEFT} {TOP}V{HEIGHT}H{WIDTH - 16}" fill="none" stroke="#999"/>',
    ]
    for power in range(low, high + 1):
        x = LEFT + (power - low) / max(high - low, 1) * (WIDTH - LEFT - 16)
        parts.append(_words(x, HEIGHT + 15, f"{10.0**power:g}"))
    for value in (worst, best):
        parts.append(_words(LEFT - 5, TOP + 12 + (best - value) / span * (HEIGHT - TOP - 16), f"{value:.3f}", "end"))
    for tool, colour in COLOURS.items():
        own = sorted((one for one in points if one.tool == tool), key=lambda one: one.seconds)
        front = [one for number, one in enumerate(own) if all(one.mean > other.mean for other in own[:number])]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, front))
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-opacity=".5"/>')
        for one in own:
            x, y = place(one)
            told = f"{one.system}: {one.mean:.4f} in {one.seconds:.2f} s"
            parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{colour}"><title>{told}</title></circle>')
            if one.system.endswith("()"):
                parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="7" fill="none" stroke="{colour}"/>')
    return parts


def _words(x: float, y: float, words: str, anchor: str = "middle") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="#333" {TEXT}>{words}</text>'


def tell(sets: Sequence[str], folds: int) -> None:
    """Print and leave the table, and draw the picture."""
    found = {name: points_of(name, folds) for name in sets}
    found = {name: points for name, points in found.items() if points}
    if not found:
        print("no set has results yet")
        return
    rows = [row for name, points in found.items() for row in rows_of(name, points)]
    PICTURE.write_text(picture(found), encoding="utf-8")
    question = f"{METRIC} by processor seconds of training and scoring, one thread, at most {folds} folds of each set"
    told = versions_of([point.system for points in found.values() for point in points], list(found), folds)
    versions = ", ".join(f"{library} {number}" for library, number in told.items())
    show("quality-time", question, rows, picture=f"![{question}](images/{PICTURE.name})", versions=versions)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", choices=list(SETS))
    parser.add_argument("--without", nargs="+", default=["-"], help="leave out systems that begin so: tuned, catboost")
    parser.add_argument("--folds", type=int, default=FOLDS)
    parser.add_argument("--again", action="store_true", help="run what is there once more, and keep the least times")
    parser.add_argument("--record", type=Path, metavar="FOLDER", help="keep results in this folder, too, in one file")
    parser.add_argument("--no-runs", action="store_true", help="compute nothing, and tell what is there")
    options = parser.parse_args()
    here = set(available())
    sets = [name for name in ORDER if name in here and name in (options.sets or here)]
    record = options.record and options.record / RECORD
    if record:
        take_record(record, FOLDER)
    if not options.no_runs:
        compute_missing(tasks_of(sets, options.without, options.folds), again=options.again)
    if record:
        leave_record(record, FOLDER, [task.path for task in tasks_of(ORDER, ["-"], FOLDS) if is_timed(task)])
    tell(sets, options.folds)


if __name__ == "__main__":
    main()

"""RankNet's Table 1: pairs right on the artificial tasks, by size of the training set, for nets of one and two layers.

Every figure is a mean over draws of the task, in per cent; the paper has one draw. The interval is where another draw
lies with 95 % probability: draws differ far more than chance in the test queries does. Section 5.1's net that learns
1,000 vectors without an error is trained too.

The paper does not say which test pairs it counts. Two readings are possible, and both are computed: pairs of different
levels, or all pairs, by the function that was cut into levels. (If pairs of one level counted as wrong or as half
right, no net could reach the paper's 97.67; that levels are equally frequent, Table 2's numbers of pairs say.)
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.nets.net_rankers import RankNet
from rankwright.rankers.seen import SeenDataWarning
from rankwright.reproduce.experiment import RANKNET, PaperExperiment, Result, RunPart, Setup, grid_parts
from rankwright.reproduce.fold_values import THREADS, ahead, figure_of, values_on
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.synthetic import random_network, random_polynomial

NAME = "ranknet-table1"
TASKS = {"Net": random_network, "Poly": random_polynomial}
DOCS = 50  # of a query
METRIC = "pair-accuracy"
SIZES = (100, 500, 2500, 12_500)
PAPER: Mapping[str, Sequence[float]] = {
    "Net, linear": (82.39, 88.86, 89.91, 90.06),
    "Net, 2 layers": (82.29, 88.80, 96.94, 97.67),
    "Poly, linear": (59.63, 66.68, 68.30, 69.00),
    "Poly, 2 layers": (59.54, 66.97, 68.56, 69.27),
}
LAYERS: Mapping[str, tuple[int, ...]] = {"linear": (), "2 layers": (5,)}
LITTLE = 2.0  # points
SMALL_SETS = "with so few training vectors a hidden layer has more weights than can be learnt"
NOT_ALL_LEARNT = "the descent of some draws ends where a few pairs of nearly equal targets stay wrong"
OTHER_DRAW = "the paper does not say which pairs it counts, and neither reading gives all of its figures"
READINGS = {"values": "pairs of different levels", "all_pairs": "all pairs, by the function itself"}
STUDENT = {3: 4.303, 5: 2.776, 10: 2.262}  # standard errors that hold 95 %, by the number of draws
N_DRAWS = {"full": 10, "quick": 5, "tiny": 1}


def tried(setup: Setup, sizes: Sequence[int]) -> Sequence[int]:
    """The numbers of training vectors that a setup tries."""
    return sizes[: setup.pick(None, None, 2)]


def parts(setup: Setup) -> list[RunPart]:
    """A part for each cell and draw, and the net that is to learn without an error."""
    draws = range(N_DRAWS[setup.size])
    found = grid_parts(NAME, "{row}, {size}, draw {draw}", draw=draws, row=PAPER, size=tried(setup, SIZES))
    return found + grid_parts(NAME, "without error, draw {draw}", draw=draws)


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """The share of right pairs in each test query."""
    seed = setup.seed + values["draw"]
    if "row" not in values:
        return _without_error(setup, seed)
    task, layers = values["row"].split(", ")
    return accuracy(setup, task, values["size"], seed, hidden=LAYERS[layers])


def accuracy(setup: Setup, task: str, size: int, seed: int, **settings: Any) -> Result:
    """RankNet by the paper's recipe on a draw of a task: the share of right pairs in each test query, by readings."""
    held = setup.pick(100, 100, 6)  # queries to validate on, and as many to test on
    first = setup.pick(800, 800, 20)
    n_queries = first + 2 * held
    data = TASKS[task](n_queries, seed=seed)
    uncut = TASKS[task](n_queries, seed=seed, n_levels=n_queries * DOCS)  # a level for each document
    train = data.take_queries(np.arange(size // DOCS))
    valid, test = (data.take_queries(np.arange(held) + start) for start in (first, first + held))
    ranker = RankNet(mode="paper", select=METRIC, seed=seed, threads=THREADS, **settings).fit(train, valid=valid)
    return {
        "values": values_on(ranker, test, [METRIC], "standard"),
        "all_pairs": values_on(ranker, uncut.take_queries(np.arange(held) + first + held), [METRIC], "standard"),
        "epochs": int(ranker.n_epochs_),
    }


def _without_error(setup: Setup, seed: int) -> Result:
    n_vectors, epochs = setup.pick(1000, 1000, 100), setup.pick(2000, 2000, 50)
    data = random_network(n_vectors // DOCS, seed=seed)
    ranker = RankNet(hidden=(10,), mode="paper", epochs=epochs, select="pair-error", threads=THREADS).fit(data)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenDataWarning)  # training pairs are what is asked about
        wrong = -float(ranker.score(data))
    return {"wrong": wrong, "epochs": int(ranker.n_epochs_), "vectors": n_vectors}


def cells(results: Mapping[str, Result], row: str, size: int, reading: str = "values") -> list[Any]:
    """The values of a cell, a list for each draw."""
    return [found[reading][METRIC] for key, found in results.items() if key.startswith(f"{row}, {size}, draw")]


Rows = Mapping[str, Mapping[str, Figure]]


def by_readings(
    setup: Setup, results: Mapping[str, Result], sizes: Sequence[int], paper: Mapping[str, Sequence[float]]
) -> dict[str, Rows]:
    """The table by each reading: a figure for each row and size of the training set, beside the paper's."""
    return {
        name: {
            row: {
                f"{size:,}": figure_of_draws(cells(results, row, size, reading), told)
                for size, told in zip(sizes, paper[row], strict=True)
                if size in tried(setup, sizes)
            }
            for row in paper
        }
        for reading, name in READINGS.items()
    }


def tables_of(readings: Mapping[str, Rows]) -> list[PaperTable]:
    """A table for each reading; the paper's figures are looked for in the nearest one."""
    best = _nearest(readings)
    return [
        PaperTable(f"Test pairs in the right order, %: {name}", rows, 2, comparable=name == best)
        for name, rows in readings.items()
    ]


def _nearest(readings: Mapping[str, Rows]) -> str:
    distances = {name: _mean_distance(rows) for name, rows in readings.items()}
    return min(distances, key=lambda name: distances[name])


def _mean_distance(rows: Rows, task: str = "") -> float:
    """How far our figures are from the paper's, over the rows whose names begin with `task`."""
    own = [one for row, figures in rows.items() if row.startswith(task) for one in figures.values()]
    return float(np.mean([_distance(one) for one in own]))


def told_distances(readings: Mapping[str, Rows]) -> str:
    """How far each reading is from the paper's figures, by task."""
    rows = next(iter(readings.values()))
    tasks = dict.fromkeys(row.partition(",")[0] for row in rows)
    told = [
        f"{task}, {name}: {_mean_distance(own, task):.2f} points from the paper's figures on average"
        for task in tasks
        for name, own in readings.items()
    ]
    return f"{'; '.join(told)}; nearest over all is: {_nearest(readings)}"


def figure_of_draws(draws: Sequence[Any], paper: float) -> Figure:
    """The mean over draws in per cent, and where another draw lies, if there are enough of them to tell."""
    means = np.array([figure_of([values]).ours for values in draws]) * 100
    if len(means) not in STUDENT:
        return figure_of(draws, paper, times=100)
    half = STUDENT[len(means)] * float(means.std(ddof=1)) * math.sqrt(1 + 1 / len(means))
    return Figure(float(means.mean()), paper, float(means.mean()) - half, float(means.mean()) + half)


def linear_ceiling(n: int = 1500, n_levels: int = 6) -> tuple[float, float]:
    """How many pairs the linear third of a sum orders as the sum does, in per cent: of different levels, and of all."""
    terms = np.random.default_rng(0).normal(size=(3, n))
    total = terms.sum(axis=0)
    level = np.searchsorted(np.quantile(total, np.arange(1, n_levels) / n_levels), total)
    above = level[:, None] > level[None]
    right = (terms[0][:, None] > terms[0][None])[above]
    return 100 * float(right.mean()), 100 * (0.5 + math.asin(1 / math.sqrt(3)) / math.pi)


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """The table, and the paper's three conclusions from it."""
    readings = by_readings(setup, results, SIZES, PAPER)
    rows = readings[READINGS["values"]]
    largest = tried(setup, SIZES)[-1]
    two, one = (cells(results, f"Net, {layers}", largest) for layers in ("2 layers", "linear"))
    text = "on the network task two layers are better than one"
    claims = [
        ahead(text, two, one, ("2 layers", "linear"), otherwise=SMALL_SETS, times=100, digits=2),
        _little("on the polynomial task they help little", rows, f"{largest:,}"),
        *_learns(results),
        near(readings),
    ]
    levels, everything = linear_ceiling()
    notes = [
        "the data is made by the paper's recipe, each draw with its own random network or polynomial",
        "the polynomial is about a sum of three independent normal terms; the best linear scorer of such a sum orders "
        f"{levels:.1f} % of the pairs of different levels rightly, and {everything:.1f} % of all pairs if the sum "
        "itself is the truth",
        told_distances(readings),
    ]
    return Findings(tables_of(readings), claims, notes)


def _little(text: str, rows: Mapping[str, Mapping[str, Any]], column: str) -> Claim:
    two, one = rows["Poly, 2 layers"][column].ours, rows["Poly, linear"][column].ours
    return Claim(text, abs(two - one) < LITTLE, f"{two:.2f} and {one:.2f} with {column} vectors", SMALL_SETS)


def _learns(results: Mapping[str, Result]) -> list[Claim]:
    found = [result for key, result in results.items() if key.startswith("without error")]
    wrong = [100 * result["wrong"] for result in found]
    told = ", ".join(f"{one:.2f} % after {result['epochs']} epochs" for one, result in zip(wrong, found, strict=True))
    text = f"a net of ten hidden units learns {found[0]['vectors']:,} vectors without an error"
    return [Claim(text, max(wrong) == 0.0, f"pairs wrong, by draw: {told}", NOT_ALL_LEARNT)]


def near(readings: Mapping[str, Rows]) -> Claim:
    """The statement that the paper's draw could be one of ours, by the reading that comes nearest."""
    reading = _nearest(readings)
    rows = readings[reading]
    named = {f"{row} with {column} vectors": figure for row, cells in rows.items() for column, figure in cells.items()}
    inside = [figure.holds_paper for figure in named.values()]
    farthest = max(named, key=lambda name: _distance(named[name]))
    found = (
        f"{inside.count(True)} of {len(inside)}; farthest from the mean of our draws is {farthest}, by "
        f"{_distance(named[farthest]):.2f} points"
    )
    text = f"the paper's figures lie in the range of our draws of the task, by the nearest reading ({reading})"
    return Claim(text, all(inside), found, OTHER_DRAW)


def _distance(figure: Figure) -> float:
    return abs((figure.ours or 0.0) - (figure.paper or 0.0))


EXPERIMENT = PaperExperiment(NAME, RANKNET, "Artificial data: network and polynomial", parts, run, conclude)

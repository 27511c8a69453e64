"""What experiments on data sets share: which sets they run on, a part for each set, fold and row, and their tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rankwright.catalog.rankers import ranker_named
from rankwright.reproduce.experiment import Result, RunPart, Setup
from rankwright.reproduce.fold_values import by_fold, figure_of
from rankwright.reproduce.outcome import PaperTable
from rankwright.reproduce.published import Rows
from rankwright.reproduce.sources import CLICKS, DataSource, made_like, n_folds
from rankwright.trees.bins.binning import MAX_BINS

# The name in our catalog, and the settings that the papers' name stands for.
NAMED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "SVM-MAP": ("svmmap", {}),
    "RankSVM-Struct": ("ranksvm-struct", {}),
    "ListNet": ("listnet", {}),
    "SmoothRank": ("smoothrank", {}),
    "RankSVM": ("ranksvm", {}),
    "AdaRank-MAP": ("adarank", {"metric": "map"}),
    "AdaRank-NDCG": ("adarank", {"metric": "ndcg@10"}),
    "BoltzRank": ("boltzrank", {}),
    "FRank": ("frank", {}),
    "RankBoost": ("rankboost", {"max_bins": MAX_BINS}),  # its authors try every value as a threshold
    "CRR": ("crr", {}),
    "BagBoo": ("bagboo", {}),
}


def sets_of(*wanted: str) -> Callable[[Setup], Sequence[DataSource]]:
    """The judged sets that were given, or, where there are none, sets like the wanted ones."""

    def sources(setup: Setup) -> Sequence[DataSource]:
        given = [source for source in setup.given if source.kind != CLICKS]
        return given or [made_like(name, setup.size) for name in wanted]

    return sources


def parts_by_row(
    of: str,
    setup: Setup,
    sources: Sequence[DataSource],
    rows_of: Callable[[DataSource], Iterable[Any]],
    *,
    quick: int,
    name: str = "row",
    shown: str = "{}",
) -> list[RunPart]:
    """A part of the experiment `of` for each set, fold and row of the set's table.

    A full run takes five folds, a quick one `quick` of them, a tiny one takes one. `name` is what a part calls its row,
    and `shown` how its key does.
    """
    return [
        RunPart(of, f"{source.name}, fold {number + 1}, {shown.format(row)}",
                {"set": source.name, "fold": number, name: row})
        for source in sources
        for number in range(min(n_folds(source), setup.pick(5, quick, 1)))
        for row in rows_of(source)
    ]  # fmt: skip


def results_by_row(source: DataSource, results: Mapping[str, Result]) -> dict[str, list[Result]]:
    """The results of each row on a set, a fold each; the keys are those of `parts_by_row`."""
    found: dict[str, list[Result]] = {}
    for key, result in results.items():
        name, _, row = key.split(", ", 2)
        if name == source.name:
            found.setdefault(row, []).append(result)
    return found


def metrics_table(
    source: DataSource,
    title: str,
    found: Mapping[str, Sequence[Result]],
    metrics: Iterable[str],
    paper: Rows,
    digits: int = 4,
) -> PaperTable:
    """A row for each ranker and a column for each metric, beside the paper's figures.

    Where the title says `@n`, columns are named by the n of their metrics.
    """
    columns = {metric: metric.partition("@")[2] if "@n" in title else metric for metric in metrics}
    rows = {
        row: {column: figure_of(by_fold(own, metric), paper.get(row, {}).get(metric))
              for metric, column in columns.items()}
        for row, own in found.items()
    }  # fmt: skip
    return PaperTable(f"{source.name}{title}", rows, digits, comparable=source.is_known)


# Settings among which validation documents choose, as the tables' authors let them, where defaults are not enough.
TRIED: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "adarank": ({}, *({"sharpness": sharpness, "max_uses": None} for sharpness in (3.0, 4.0, 5.0))),
    "crr": tuple({"alpha": alpha, "l2": l2} for alpha in (0.5, 0.1, 0.02) for l2 in (0.01, 0.1)),
    "bagboo": (
        {},
        {"max_leaves": 10, "min_docs_in_leaf": 100, "n_trees": 50},
        {"max_leaves": 7, "min_docs_in_leaf": 50, "n_trees": 100},
    ),
}
TAKES_LONG = frozenset({"bagboo"})  # tried where there is time
TUNED_NOTE = "AdaRank, CRR and in full runs BagBoo with the best of a few settings on validation documents"


def rankers_of_table(
    name: str, *, thorough: bool = True, scalings: Sequence[str | None] = (None,), **settings: Any
) -> list[Any]:
    """The ranker that a paper's table calls by this name, with our defaults for what the paper does not say.

    There are several where validation documents have to choose one; `thorough` is for those that take long, too.
    `scalings` are those of features that are tried; None is the ranker's own.
    """
    own, more = NAMED[name]
    make: Callable[..., Any] = ranker_named(own)
    known = make().get_params()
    given = {key: value for key, value in (dict(more) | settings).items() if key in known}
    choices = TRIED.get(own, ({},)) if thorough or own not in TAKES_LONG else ({},)
    scaled = [{} if one is None else {"scaling": one} for one in scalings if one is None or "scaling" in known]
    return [make(**given, **tried, **how) for how in scaled for tried in choices]

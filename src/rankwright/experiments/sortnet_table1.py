"""SortNet's Table 1 again: NDCG@1-10, P@1-10 and MAP of comparators of 10, 20 and 30 hidden neurons.

As in the paper, a net is chosen by MAP on the validation documents (RankQuality), and test values are means over the
folds. The paper then takes the number of neurons whose validation MAP is best; so does `chosen`, fold by fold.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.comparators.sortnet import SortNet
from rankwright.errors import InputError
from rankwright.formats.letor_folders import LetorFold, fold_folders, read_fold
from rankwright.metrics.evaluation import evaluate
from rankwright.progress.stages import announce

HIDDEN = (10, 20, 30)
DEPTHS = tuple(range(1, 11))
METRICS = (*(f"ndcg@{n}" for n in DEPTHS), *(f"p@{n}" for n in DEPTHS), "map")
CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class SortNetOnFold:
    """SortNet trained on a fold: its RankQuality on validation documents, and each metric of each test query."""

    fold: str
    quality: float
    iteration: int
    share_of_pairs: float
    test: Mapping[str, Float64Array]


@dataclass(frozen=True, slots=True)
class Table1:
    """The results of each fold, by the number of hidden neurons."""

    convention: str
    results: Mapping[int, Sequence[SortNetOnFold]]

    def chosen(self) -> list[tuple[int, SortNetOnFold]]:
        """For each fold the number of neurons with the best validation quality, and its result."""
        by_fold = zip(*self.results.values(), strict=True)
        picks = [int(np.argmax([result.quality for result in fold])) for fold in by_fold]
        sizes = list(self.results)
        return [(sizes[pick], self.results[sizes[pick]][place]) for place, pick in enumerate(picks)]

    def rows(self) -> dict[str, Sequence[SortNetOnFold]]:
        """The rows of the table: one for each number of neurons, and one for the number chosen in each fold."""
        rows: dict[str, Sequence[SortNetOnFold]] = {str(hidden): folds for hidden, folds in self.results.items()}
        return rows | {CHOSEN: [result for _, result in self.chosen()]}

    def means(self) -> dict[str, dict[str, float]]:
        """Each row's means over folds of the metrics' means over test queries."""
        return {
            name: {metric: float(np.mean([fold.test[metric].mean() for fold in folds])) for metric in METRICS}
            for name, folds in self.rows().items()
        }

    def to_dict(self) -> dict[str, Any]:
        """The table and the results of each fold, in types JSON can hold."""
        folds = {
            str(hidden): [
                {
                    "fold": one.fold,
                    "validation": one.quality,
                    "iteration": one.iteration,
                    "share_of_pairs": one.share_of_pairs,
                    "test": {metric: float(values.mean()) for metric, values in one.test.items()},
                }
                for one in results
            ]
            for hidden, results in self.results.items()
        }
        return {
            "convention": self.convention,
            "test": self.means(),
            "chosen": {result.fold: hidden for hidden, result in self.chosen()},
            "folds": folds,
        }


def sortnet_table1(
    folder: str | os.PathLike[str],
    *,
    convention: str = "letor",
    seed: int = 0,
    threads: int | None = None,
    settings: Mapping[str, Any] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Table1:
    """Table 1 on the folds of a LETOR folder; `settings` are further ones of SortNet, `tell` is told of progress."""
    taken = {"hidden", "select", "seed", "threads"} & (settings or {}).keys()
    if taken:
        raise InputError(f"the experiment itself sets {', '.join(sorted(taken))}: leave it out")
    results: dict[int, list[SortNetOnFold]] = {hidden: [] for hidden in HIDDEN}
    paths = fold_folders(folder)
    for number, path in enumerate(paths):
        fold = read_fold(path)
        for place, hidden in enumerate(HIDDEN):
            done, total = number * len(HIDDEN) + place, len(paths) * len(HIDDEN)
            announce(f"{fold.name}, {hidden} hidden", done, total, unit="nets", overall=True)
            ranker = SortNet(
                hidden=hidden, select=f"map:{convention}", seed=seed, threads=threads, **dict(settings or {})
            ).fit(fold.train, valid=fold.vali)
            results[hidden].append(_result(fold, ranker, convention))
            tell(f"{fold.name}, {hidden} hidden: validation MAP {results[hidden][-1].quality:.4f}")
    return Table1(convention, results)


def _result(fold: LetorFold, ranker: SortNet, convention: str) -> SortNetOnFold:
    found = evaluate(ranker.predict(fold.test), fold.test, METRICS, convention, threads=ranker.threads)
    facts = ranker.facts()
    assert ranker.history_.best_value is not None  # SortNet always watches its validation documents
    return SortNetOnFold(
        fold=fold.name,
        quality=ranker.history_.best_value,
        iteration=facts["iteration"],
        share_of_pairs=facts["share_of_pairs"],
        test={metric: found[metric].values for metric in METRICS},
    )

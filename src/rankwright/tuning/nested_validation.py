"""Nested cross-validation: an honest figure for a ranker that is tuned before it is used.

The value that the chosen settings reach on the queries they were chosen by is too high. Here each outer fold is held
back from the whole search: settings are chosen, and the ranker is trained, on the other folds alone.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.cluster.engine import Engine
from rankwright.cluster.opening import open_engine
from rankwright.data.dataset import RankingDataset
from rankwright.data.keys import key_order
from rankwright.data.splits import k_fold
from rankwright.metrics.confidence_intervals import Interval
from rankwright.metrics.evaluation import MetricResult, evaluate
from rankwright.progress.display import progress_shown
from rankwright.rankers.ranker import Ranker
from rankwright.settings.spaces import Space
from rankwright.tuning.strategies import TuningPlan
from rankwright.tuning.studies.study import SeveralStudies, StudyListener, announce_study
from rankwright.tuning.tuner import Tuned, n_experiments, tune


@dataclass(frozen=True, slots=True, eq=False)
class NestedResult:
    """What the search on each outer fold chose, and what that reached on the queries it never saw.

    Attributes
    ----------
    metric : str
        What was searched for and is measured.
    tuned : tuple of Tuned
        The search of each outer fold.
    measured : tuple of MetricResult
        The metric of the ranker that each search gave, on the fold's own queries.
    """

    metric: str
    tuned: tuple[Tuned, ...]
    measured: tuple[MetricResult, ...]

    @property
    def mean(self) -> float:
        """The mean over the queries of all outer folds."""
        return self._over_all_folds().mean

    def interval(self, seed: int = 0) -> Interval:
        """Return the 95 % bootstrap interval of the mean; `seed` is that of the bootstrap."""
        return self._over_all_folds(seed).interval

    def _over_all_folds(self, seed: int = 0) -> MetricResult:
        values = np.concatenate([result.values for result in self.measured])
        weights = np.concatenate([result.weights for result in self.measured])
        return replace(self.measured[0], values=values, weights=weights, seed=seed, threads=1)

    def to_dict(self) -> dict[str, Any]:
        """Return the result in types JSON can hold.

        Its "optimism" is how much higher the chosen settings' value is on validation queries than on held-out ones.
        """
        low, high = self.interval()
        promised = float(np.mean([tuned.best.value for tuned in self.tuned]))
        return {
            "metric": self.metric,
            "mean": self.mean,
            "low": low,
            "high": high,
            "optimism": promised - self.mean,
            "folds": [
                {"settings": tuned.settings, "validation": tuned.best.value, "test": result.mean}
                for tuned, result in zip(self.tuned, self.measured, strict=True)
            ],
        }


def nested_cross_validation(
    ranker: Ranker | str,
    data: RankingDataset,
    *,
    folds: int = 5,
    space: Space | str | None = None,
    plan: TuningPlan | None = None,
    study: str | os.PathLike[str] | None = None,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    listeners: Sequence[StudyListener] = (),
    tell: Callable[[str], None] | None = None,
    verbose: bool = False,
) -> NestedResult:
    """Measure a whole search for settings on queries that it never saw.

    The data is cut into outer folds. For each of them, settings are searched for and a ranker is trained on the other
    folds alone; then it is measured on the fold.

    Parameters
    ----------
    ranker : Ranker or str
        The ranker, or its name. It holds the settings that are not searched.
    data : RankingDataset
        The data to cut.
    folds : int, default 5
        How many outer folds there are, 2 or more. (How many folds each search cuts is a parameter of `plan`.)
    space : mapping or str, optional
        What to search, as in `tune`. By default the ranker's own space.
    plan : TuningPlan, optional
        How each search is made.
    study : path, optional
        A folder that keeps the searches, in folders `outer-1`, `outer-2`, … of their own. The same call goes on where
        a killed one stopped.
    cluster : str, optional
        Where experiments run, as in `open_engine`. By default on processes of this machine.
    workers : int, optional
        How many experiments run at a time. By default one per core.
    engine : Engine, optional
        An open engine to use in place of `cluster` and `workers`.
    listeners : sequence of callable, default ()
        Called with a `StudyProgress` after each experiment.
    tell : callable, optional
        Called with a line of text after each outer fold.
    verbose : bool, default False
        Whether to show how far it is, the metric and the time left: in one line on a terminal or in a notebook,
        elsewhere in a line every few seconds.

    Returns
    -------
    NestedResult
        The metric's mean and interval over the queries of all outer folds, and each search.

    Examples
    --------
    >>> import rankwright as rw
    >>> from rankwright.settings.spaces import Choice
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> plan = rw.TuningPlan(strategy="grid", folds=2)
    >>> with rw.open_engine(workers=1) as engine:
    ...     found = rw.nested_cross_validation(
    ...         rw.LambdaMART(n_trees=5), data, folds=2, space={"max_leaves": Choice((3, 7))}, plan=plan, engine=engine
    ...     )
    >>> len(found.tuned), 0 < found.mean < 1
    (2, True)
    """
    chosen = plan or TuningPlan()
    listening = [*listeners, announce_study] if verbose else listeners
    outer = list(k_fold(data.groups, folds, seed=chosen.seed, order=key_order(data).queries))
    together = SeveralStudies([n_experiments(ranker, space, chosen, n_folds=chosen.folds)] * folds, listening)
    tuned, measured = [], []
    with progress_shown(shows=verbose), ExitStack() as opened:
        running = engine or opened.enter_context(open_engine(cluster, workers))
        for number, fold in enumerate(outer, start=1):
            together.begin_study(number - 1, f"outer fold {number}")
            found = tune(
                ranker,
                data.take_queries(fold.train),
                space=space,
                plan=chosen,
                study=None if study is None else Path(study) / f"outer-{number}",
                engine=running,
                listeners=[together.hear],
            )
            if engine is None:
                running.free()  # what this fold's trials shared, before the next
            held_out = data.take_queries(fold.test)
            evaluation = evaluate(found.ranker.predict_from_start(held_out), held_out, [chosen.metric])
            result = next(iter(evaluation.results.values()))
            tuned.append(found)
            measured.append(result)
            if tell is not None:
                tell(f"outer fold {number} of {folds}: {chosen.metric} {result.mean:.4f}, {found.settings}")
    return NestedResult(chosen.metric, tuple(tuned), tuple(measured))

"""BM25F tuned on judged queries: the weight and the length normalisation of each field, and the saturation.

A configuration is a line of features, and a batch of them is computed in one pass over the documents' words. Nothing is
trained, so that no folds are needed: a configuration's value is the mean of the metric over the judged queries.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, require
from rankwright.linear.bm25f import BM25FScorer, bm25f_scorer
from rankwright.linear.bm25f_settings import NAME
from rankwright.metrics.evaluation import evaluate
from rankwright.progress.stages import announce
from rankwright.settings.spaces import Real, Space
from rankwright.tables.text import ShownTable, short
from rankwright.text.features import QueryDocuments, features_of
from rankwright.text.index.reading import Index
from rankwright.text.specification import FeatureLine, FeatureSpecification
from rankwright.tuning.strategies import CONTINUING, STRATEGIES, SearchTask, TuningPlan
from rankwright.tuning.trials import Record, Trial, TrialResult, for_json

K1, B, WEIGHT = "k1", "b", "weight"
PLAIN = {K1: 0.9, B: 0.4, WEIGHT: 1.0}  # what is tried first: BM25's usual settings, all fields alike
TRIALS = 200


@dataclass(frozen=True, slots=True, eq=False)
class TunedBM25F:
    """What a search for BM25F's settings found.

    Attributes
    ----------
    scorer : BM25FScorer
        The ranker with the chosen settings.
    line : FeatureLine
        The chosen settings as a feature, which a specification can have among others.
    plan : TuningPlan
        How they were searched for.
    space : mapping
        The space that was searched.
    ranked : list of TrialResult
        What was tried, the best first.
    """

    scorer: BM25FScorer
    line: FeatureLine
    plan: TuningPlan
    space: Space
    ranked: list[TrialResult]

    @property
    def best(self) -> TrialResult:
        """The chosen settings and what they reached, a `TrialResult`."""
        return self.ranked[0]

    def shown(self, most: int = 5) -> ShownTable:
        """Return the best configurations as people read them.

        Parameters
        ----------
        most : int, default 5
            How many to show.

        Returns
        -------
        ShownTable
            Its `text`, `markdown` and `html`.
        """
        rows = [
            [f"{one.value:.4f}", ", ".join(f"{name}={short(value)}" for name, value in one.trial.settings.items())]
            for one in self.ranked[:most]
        ]
        title = f"{NAME}, strategy {self.plan.strategy}: {len(self.ranked)} trials; values on the queries tuned on"
        return ShownTable(title, [self.plan.metric, "settings"], rows, [self.plan.metric])

    def to_dict(self) -> dict[str, Any]:
        """Return the search and its result in types JSON can hold, as `rankwright tune --json` prints them.

        Returns
        -------
        dict
            The plan, the number of trials, the best of them, and the line of features.
        """
        return {
            "ranker": NAME,
            "strategy": self.plan.strategy,
            "metric": self.plan.metric,
            "trials": len(self.ranked),
            "best": self.best.to_dict(),
            "top": [result.to_dict() for result in self.ranked[:5]],
            "line": self.line.to_dict(),
        }


def tune_bm25f(
    index: Index,
    rows: QueryDocuments,
    *,
    plan: TuningPlan | None = None,
    space: Space | None = None,
    threads: int | None = None,
) -> TunedBM25F:
    """Search for the settings with which BM25F ranks judged documents best.

    Parameters
    ----------
    index : Index
        The index of the documents.
    rows : QueryDocuments
        The queries, each with its documents and their labels.
    plan : TuningPlan, optional
        How to search; by default 200 random configurations, for NDCG@10.
    space : mapping, optional
        Where to search: `k1`, `weight.FIELD` and `b.FIELD`. By default all of them, except that the longest field's
        weight is 1: weights count in relation to each other.
    threads : int, optional
        How many threads to use.

    Returns
    -------
    TunedBM25F
        The ranker, and what was tried.
    """
    plan = plan or TuningPlan()
    plan = replace(plan, trials=plan.trials or TRIALS) if plan.strategy not in ("grid", *CONTINUING) else plan
    require(plan.strategy not in CONTINUING, f"strategy {plan.strategy} needs a ranker that takes steps: take another")
    if rows.labels is None:
        raise InputError("BM25F is tuned on judged documents, and these have no labels")
    fields = index.text_fields
    searched = bm25f_space(index) if space is None else _checked(space, fields)
    task = SearchTask(plan, searched)
    tried = _Tried(index, rows, task, threads)
    tried.measure([Trial(_plain_configuration(searched))])
    search = STRATEGIES[plan.strategy](task)
    batch = next(search, None)
    while batch is not None:
        try:
            batch = search.send(tried.measure(batch))
        except StopIteration:
            break
    ranked = task.ranked([one for one in tried.results if not np.isnan(one.value)])
    if not ranked:
        raise InputError("no query has a relevant document: there is nothing to tune on")
    line = bm25f_line(fields, ranked[0].trial.settings)
    return TunedBM25F(bm25f_scorer(index, line), line, plan, searched, ranked)


def bm25f_space(index: Index) -> dict[str, Real]:
    """The settings of BM25F for the fields of an index, and where to look for them."""
    longest = index.text_fields[int(np.argmax(index.totals().tokens))]
    space = {K1: Real(0.2, 8.0, log=True)}
    space |= {f"{WEIGHT}.{name}": Real(0.02, 20.0, log=True) for name in index.text_fields if name != longest}
    return space | {f"{B}.{name}": Real(0.0, 1.0) for name in index.text_fields}


def bm25f_line(fields: Sequence[str], settings: Mapping[str, Any]) -> FeatureLine:
    """The feature with these settings; what is not among them is as usual."""

    def of_fields(kind: str) -> tuple[float, ...]:
        return tuple(float(settings.get(f"{kind}.{name}", PLAIN[kind])) for name in fields)

    own = {K1: float(settings.get(K1, PLAIN[K1])), "weights": of_fields(WEIGHT), B: of_fields(B)}
    return FeatureLine(NAME, tuple(fields), settings=own)


def _checked(space: Space, fields: Sequence[str]) -> Space:
    known = [K1, *(f"{kind}.{name}" for kind in (WEIGHT, B) for name in fields)]
    unknown = [name for name in space if name not in known]
    if unknown:
        raise SettingError(f"bm25f has no setting {unknown[0]!r}; it has {', '.join(known)}")
    return space


def _plain_configuration(space: Space) -> dict[str, Any]:
    """The usual settings, as far as the space allows them."""
    found: dict[str, Any] = {}
    for name, dimension in space.items():
        usual = PLAIN[name.partition(".")[0]]
        if isinstance(dimension, Real):
            found[name] = min(max(usual, dimension.low), dimension.high)
        else:
            values = getattr(dimension, "values", None) or (dimension.low, dimension.high)  # type: ignore[union-attr]
            found[name] = min(values, key=lambda value: abs(float(value) - usual))
    return found


class _Tried:
    """Configurations that were measured."""

    def __init__(self, index: Index, rows: QueryDocuments, task: SearchTask, threads: int | None) -> None:
        self._index, self._rows, self._task, self._threads = index, rows, task, threads
        self.results: list[TrialResult] = []

    def measure(self, trials: Sequence[Trial]) -> list[TrialResult]:
        """What each of these configurations reaches; a batch is computed in one pass over the words."""
        measured: list[TrialResult] = []
        for begin in range(0, len(trials), self._task.plan.batch_size):
            batch = trials[begin : begin + self._task.plan.batch_size]
            lines = [bm25f_line(self._index.text_fields, trial.settings) for trial in batch]
            names = [line.columns()[0].name for line in lines]  # those alike in six digits have one name
            different = FeatureSpecification(list(dict(zip(names, lines, strict=True)).values()))
            data = features_of(self._index, self._rows, different, threads=self._threads)
            measured += [
                self._result(trial, data, different.names.index(name)) for trial, name in zip(batch, names, strict=True)
            ]
            announce("tuning bm25f", len(self.results) + len(measured), self._task.plan.trials, unit="trials")
        self.results += measured
        return measured

    def _result(self, trial: Trial, data: RankingDataset, column: int) -> TrialResult:
        found = evaluate(data.features[:, column], data, self._task.plan.all_metrics, threads=self._threads)
        per_query = {name: for_json(result.values) for name, result in found.results.items()}
        value = found.results[self._task.plan.metric].mean
        counts: dict[str, Any] = {"steps": 1, "new_steps": 1, "kept": 1, "size": len(trial.settings)}
        passing: dict[str, Any] = {"seconds": 0.0, "memory_mb": 0.0, "host": "", "data": "", "code": ""}
        record = Record(trial.settings, 0, 0, None, value, per_query, finished=True, **counts, **passing)
        return TrialResult(trial, (record,))

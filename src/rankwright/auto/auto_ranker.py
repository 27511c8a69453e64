"""The ranker that chooses: a search, the blend of its best, an honest estimate, and all of it in plain words."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import thread_count
from rankwright.auto.candidates import AutoLesson, TrialCandidate
from rankwright.auto.search import BASELINE, AutoSearch, Purse, folds_of
from rankwright.auto.selection import Estimate, HeldOut, Members, repeated_choices
from rankwright.auto.settings import AutoSettings, bytes_of, seconds_of
from rankwright.auto.trial_runs import TrialStore, TrialTask, visits_of
from rankwright.blending.blend import Blend
from rankwright.blending.model import BlendModel
from rankwright.cluster.engine import Engine
from rankwright.cluster.in_process import SerialEngine, ThreadEngine
from rankwright.cluster.opening import open_engine
from rankwright.compression.curve import compress
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, require
from rankwright.metrics.metric_table import as_measure
from rankwright.progress.stages import announce
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker, train_on
from rankwright.rankers.recipe import Given, PreparedData, TrainingRun, prepare
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.tables.text import ShownTable, counted
from rankwright.training.digest import data_digest, run_identity

USUAL_BUDGET = 600.0
LEAST_QUERIES = 10
MANY_QUERIES = 1000  # from here on models of all queries are hardly better than those of all folds but one
SHOWN = 15


@dataclass(frozen=True, slots=True)
class TriedCandidate:
    """A candidate that was tried, and what it reached.

    Attributes
    ----------
    name : str
        Its kind and settings.
    folds : int
        On how many folds it was measured.
    value : float
        The metric's mean over the queries of these folds.
    seconds : float
        The processor time of a training.
    visits : int
        How many trees and layers a document visits.
    weight : float
        Its weight in the blend that was chosen; 0 for those that were not.
    """

    name: str
    folds: int
    value: float
    seconds: float
    visits: int
    weight: float


@dataclass(frozen=True, slots=True)
class AutoReport:
    """What a search tried, what it chose and why, and what that is worth on new queries.

    Attributes
    ----------
    metric : str
        What was searched for.
    tried : tuple of TriedCandidate
        The best first.
    estimate : Estimate or None
        What new queries can expect of the chosen model; None where the search ended too early to tell.
    gain : Estimate or None
        By how much the choice is better than `BLMART()`; None where that was not measured.
    queries, documents, features, folds : int
        What was looked at.
    seconds : float
        The processor time of the search and of the final training.
    visits, bytes : int
        How many trees and layers a document visits, and the size of the model file.
    milliseconds : float
        The time to score 100 documents with one thread.
    compressed : bool
        Whether a forest learned from the choice, to keep a limit.
    interrupted : bool
        Whether Ctrl-C ended the search.
    """

    metric: str
    tried: tuple[TriedCandidate, ...]
    estimate: Estimate | None
    gain: Estimate | None
    queries: int
    documents: int
    features: int
    folds: int
    seconds: float
    visits: int
    bytes: int
    milliseconds: float
    compressed: bool
    interrupted: bool

    def lines(self) -> Iterator[str]:
        """Tell it in plain words.

        Yields
        ------
        str
            A sentence or two.
        """
        yield (
            f"{counted(self.queries, 'query')} with {counted(self.documents, 'document')} of "
            f"{counted(self.features, 'feature')}, cut into {self.folds} folds"
        )
        whole = sum(one.folds == self.folds for one in self.tried)
        ended = "; Ctrl-C ended the search" if self.interrupted else ""
        yield (
            f"tried {counted(len(self.tried), 'configuration')}, {whole} of them on all folds, in {self.seconds:.0f} s "
            f"of processor time{ended}"
        )
        chosen = sorted((one for one in self.tried if one.weight), key=lambda one: -one.weight)
        if not whole:  # on all folds
            yield (
                f"chosen: {chosen[0].name}: the search ended before anything was measured on all folds, so there is no "
                "blend, and what new queries can expect is not known"
            )
        elif len(chosen) == 1:
            yield f"chosen: {chosen[0].name}: no blend within budget and limits is better on held-out queries"
        else:
            told = ", ".join(f"{one.weight:.2f} × {one.name}" for one in chosen)
            best = max((one for one in self.tried if one.folds == self.folds), key=lambda one: one.value, default=None)
            beside = "" if best is None else f"; the best alone, {best.name}, reaches {best.value:.4f}"
            yield f"chosen: the mean of z-scores of {told}{beside}"
        if self.compressed:
            yield "a forest learned from the choice, to keep the limit: the estimate is of the choice before that"
        if self.estimate is not None:
            one = self.estimate
            yield (
                f"on new queries expect {self.metric} {one.mean:.4f}, with 95 % confidence {one.low:.4f} to "
                f"{one.high:.4f}: the choice was repeated on samples of the queries, and measured on those left out"
            )
        if self.gain is not None and self.gain.error == 0:
            yield "that is BLMART() itself: nothing that was tried is better on held-out queries"
        elif self.gain is not None:
            one = self.gain
            sure = "more than chance" if one.p_value < 0.05 else "which may be chance"
            yield (
                f"that is {one.mean:+.4f} over BLMART() ({one.low:+.4f} to {one.high:+.4f}, p {one.p_value:.3f}), "
                f"{sure}"
            )
        yield (
            f"a document visits {self.visits:,} trees and layers; 100 documents take {self.milliseconds:.2f} ms; the "
            f"model file has {self.bytes:,} bytes"
        )

    def shown(self, most: int = SHOWN) -> ShownTable:
        """Return the configurations as people read them.

        Parameters
        ----------
        most : int, default 15
            How many to show.

        Returns
        -------
        ShownTable
            Its `text`, `markdown` and `html`.
        """
        columns = ["configuration", self.metric, "folds", "seconds", "visits", "weight"]
        rows = [
            [one.name, f"{one.value:.4f}", str(one.folds), f"{one.seconds:.1f}", f"{one.visits:,}",
             f"{one.weight:.2f}" if one.weight else ""]
            for one in self.tried[:most]
        ]  # fmt: skip
        return ShownTable(f"{self.metric} on held-out queries", columns, rows, columns[1:])

    def to_dict(self) -> dict[str, Any]:
        """Return the report in types JSON can hold, as `rankwright auto --json` prints it.

        Returns
        -------
        dict
            All of it.
        """
        return asdict(self)


class AutoRecipe:
    """The search, and the training of what it chose."""

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:  # noqa: ARG002
        """Whether all it learns from is each label by itself: not so."""
        return False

    def train(self, ranker: Any, given: Given, run: TrainingRun) -> TrainedRanker:
        """The best model that the search finds."""
        require(given.valid is None, "auto cuts folds of the training data itself: join valid with it, or leave it out")
        for text, read in ((ranker.budget, seconds_of), (ranker.limit_size, bytes_of)):
            if text is not None:
                read(text)  # before any work
        require(ranker.budget is None or ranker.trials is None, "budget and trials are two limits: give one of them")
        prepared = prepare(ranker, given.dataset(ranker), given, run)
        data = prepared.data
        told = f"a search needs {LEAST_QUERIES} labelled queries or more, got {data.n_queries}"
        require(data.labels is not None and data.n_queries >= LEAST_QUERIES, told)
        with ExitStack() as opened:
            threads = thread_count(ranker.threads)
            engine = ranker.engine or opened.enter_context(open_engine(None, threads))
            search = _search(ranker, data, engine, run, threads)
            search.run()
            trained, report = _concluded(ranker, search, prepared, run)
        ranker.report_ = report
        return trained


def _search(ranker: Any, data: RankingDataset, engine: Engine, run: TrainingRun, threads: int) -> AutoSearch:
    metric = as_measure(ranker.selected_metric)
    require(isinstance(ranker.selected_metric, str), "auto searches for a metric by name, such as ndcg@10")
    folds = folds_of(data, ranker.folds, ranker.seed)
    of_trial = min(engine.threads, max(1, threads // engine.workers))
    lesson = AutoLesson(data, folds, metric.name, ranker.seed, of_trial)
    identity = run_identity(data_digest(data), None, {"metric": metric.name, "seed": ranker.seed, "folds": len(folds)})

    def n_docs_of(fold: int) -> int:
        return int(data.groups.sizes[folds[fold]].sum())

    store = TrialStore(run.folder, identity, n_docs_of, {})
    seconds = None
    if ranker.trials is None:
        seconds = seconds_of(USUAL_BUDGET if ranker.budget is None else ranker.budget) * engine.workers
    purse = Purse(seconds, elsewhere=not isinstance(engine, SerialEngine | ThreadEngine))
    return AutoSearch(lesson, engine, store, purse, ranker.trials, threads)


def _concluded(
    ranker: Any, search: AutoSearch, prepared: PreparedData, run: TrainingRun
) -> tuple[TrainedRanker, AutoReport]:
    """The chosen model, trained on all queries, and the report."""
    finished, whole = search.finished(), True
    if not finished:  # the search ended too early: what the first fold says must do
        finished, whole = [one for one in search.tried if search.has(one, [0])], False
    if not finished:
        if search.interrupted:
            raise KeyboardInterrupt
        raise InputError("the budget ended before one configuration was tried on one fold: give more")
    estimate = gain = None
    if whole:
        announce("choosing among what was tried")
        held_out = search.held_out(finished, _limits(ranker, search, finished))
        members = held_out.chosen(np.ones(search.lesson.data.n_queries, np.int64))
        weights = {finished[one]: weight for one, weight in held_out.weights(members).items()}
        estimate, gain = _estimates(search, held_out, finished, members)
    else:
        safest = next((one for one in finished if one.key == BASELINE.key), None)
        weights = {safest or max(finished, key=lambda one: search.value(one, [0])): 1.0}
    trained, compressed = _trained(ranker, search, weights, prepared, run)
    tried = sorted(
        (_told(search, one, weights.get(one, 0.0)) for one in search.tried if search.has(one, [0])),
        key=lambda one: (-one.folds, -one.value),
    )
    visits, size, milliseconds = _measured(trained, search.lesson.data)
    used = search.purse.spent + time.process_time() - search.purse.began
    data = search.lesson.data
    report = AutoReport(
        metric=search.lesson.metric,
        tried=tuple(tried),
        estimate=estimate,
        gain=gain,
        queries=data.n_queries,
        documents=data.n_docs,
        features=data.n_features,
        folds=search.n_folds,
        seconds=used,
        visits=visits,
        bytes=size,
        milliseconds=milliseconds,
        compressed=compressed,
        interrupted=search.interrupted,
    )
    return trained, report


def _limits(ranker: Any, search: AutoSearch, finished: Sequence[TrialCandidate]) -> Any:
    """Whether a blend of these candidates keeps the limits and the budget, by what their trials took."""
    most_visits = np.inf if ranker.limit_cost is None else ranker.limit_cost
    most_bytes = np.inf if ranker.limit_size is None else bytes_of(ranker.limit_size)
    costs = [
        (search.mean_of(one, "visits"), search.mean_of(one, "bytes"), search.refit_seconds(one)) for one in finished
    ]  # once: the choice is repeated many times
    seconds = max(search.purse.left, *(own[2] for own in costs))  # any can be taken alone: time was left for it
    limits = most_visits, most_bytes, seconds

    def allowed(members: Members) -> bool:
        taken = zip(*(costs[one] for one in set(members)), strict=True)
        return all(sum(own) <= most for own, most in zip(taken, limits, strict=True))

    return allowed


def _estimates(
    search: AutoSearch, held_out: HeldOut, finished: Sequence[TrialCandidate], members: Members
) -> tuple[Estimate, Estimate | None]:
    """What new queries can expect, and by how much that is more than from bags of trees with their defaults."""
    expected = repeated_choices(held_out, search.lesson.seed)
    counted, chosen = ~np.isnan(expected), held_out.values(members)
    shift, error = _learning_curve(search, held_out, finished, members)
    estimate = Estimate.of(expected[counted], shift, error, chosen[counted])
    keys = [one.key for one in finished]
    if BASELINE.key not in keys:
        return estimate, None
    others = held_out.values((keys.index(BASELINE.key),))
    if (members := tuple(sorted(set(members)))) == (keys.index(BASELINE.key),):
        return estimate, Estimate(0.0, 0.0, 0.0, 0.0, 1.0)
    return estimate, Estimate.of((expected - others)[counted], one_choice=(chosen - others)[counted])


def _learning_curve(
    search: AutoSearch, held_out: HeldOut, finished: Sequence[TrialCandidate], members: Members
) -> tuple[float, float]:
    """By how much a model of all queries is better than one of all folds but one, and how far off that may be.

    The metric is taken to fall short of its limit by a constant over the number of queries. With k folds, what half of
    the training queries lack beside all of them is then k times what these lack beside all queries.
    """
    data, chosen = search.lesson.data, [finished[one] for one in sorted(set(members))]
    if data.n_queries >= MANY_QUERIES or search.interrupted:
        return 0.0, 0.0
    tasks = [TrialTask(one, fold, on_half=True) for one in chosen for fold in range(search.n_folds)]
    with suppress(KeyboardInterrupt):
        search.make(tasks)
    if not all(search.has(one, range(search.n_folds), on_half=True) for one in chosen):
        return 0.0, 0.0
    places = {one: place for place, one in enumerate(sorted(set(members)))}
    halves = search.held_out(chosen, held_out.allowed, on_half=True)
    gaps = held_out.values(members) - halves.values(tuple(sorted(places[one] for one in members)))
    gaps = gaps[~np.isnan(gaps)]
    k = search.n_folds
    return max(0.0, float(gaps.mean()) / k), float(gaps.std(ddof=1) / np.sqrt(len(gaps)) / k)


def _trained(
    ranker: Any, search: AutoSearch, weights: Mapping[TrialCandidate, float], prepared: PreparedData, run: TrainingRun
) -> tuple[TrainedRanker, bool]:
    """The chosen model, trained on all queries; compressed if it exceeds a limit."""
    data, metric = search.lesson.data, search.lesson.metric
    own = {"threads": ranker.threads}
    if len(weights) == 1:
        (only,) = weights
        chosen = only.ranker(metric, **own)
        if hasattr(chosen, "on") and search.engine.workers > 1 and hasattr(chosen, "n_bags"):
            chosen.on(search.engine)
    else:
        rankers = [one.ranker(metric, **own) for one in weights]
        chosen = Blend(rankers, weights=list(weights.values()), metric=metric, threads=ranker.threads)
        chosen.on(search.engine)
    announce("training the choice on all queries")
    begin = time.process_time()
    folder = None if run.folder is None else run.folder / "choice"
    chosen.fit(data, checkpoint=folder, allow_empty=True)
    if search.engine.workers > 1 or len(weights) > 1:
        # Workers' time is not that of this process: as long as trials of these candidates took.
        expected = sum(map(search.refit_seconds, weights))
        search.purse.pay(max(0.0, expected - (time.process_time() - begin)))
    chosen.on(None) if hasattr(chosen, "on") else None
    smaller = _within_limits(ranker, chosen, data, metric)
    final = smaller or chosen
    found = replace(final.trained_.findings, seen_queries=prepared.findings.seen_queries)
    return replace(final.trained_, features=prepared.features, findings=found), smaller is not None


def _within_limits(ranker: Any, chosen: Ranker, data: RankingDataset, metric: str) -> Ranker | None:
    """A forest that learned from the choice, where that exceeds a limit."""
    most_bytes = None if ranker.limit_size is None else bytes_of(ranker.limit_size)
    costs = ranker.limit_cost is not None and visits_of(chosen.trained_) > ranker.limit_cost
    large = most_bytes is not None and chosen.file_size() > most_bytes
    if not (costs or large):
        return None
    goal: dict[str, Any] = {"target_trees": ranker.limit_cost} if costs else {"target_bytes": int(most_bytes or 0)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it was trained on these queries: only scores are learned from
        found = compress(chosen, data, metric=metric, seed=ranker.seed, threads=ranker.threads, **goal).model
    if (ranker.limit_cost is not None and visits_of(found.trained_) > ranker.limit_cost) or (
        most_bytes is not None and found.file_size() > most_bytes
    ):
        raise SettingError("limit_cost and limit_size cannot be kept together: allow more")
    return found


def _told(search: AutoSearch, candidate: TrialCandidate, weight: float) -> TriedCandidate:
    folds = [fold for fold in range(search.n_folds) if search.has(candidate, [fold])]
    return TriedCandidate(
        candidate.name,
        len(folds),
        search.value(candidate, folds),
        search.mean_of(candidate, "seconds"),
        round(search.mean_of(candidate, "visits")),
        weight,
    )


def _measured(trained: TrainedRanker, data: RankingDataset) -> tuple[int, int, float]:
    """Trees and layers visited, bytes of the file, and the milliseconds that 100 documents take."""
    from rankwright.container.file import container_size
    from rankwright.rankers.trained import MODEL_KIND

    n_queries = int(np.searchsorted(data.groups.offsets[1:], 100)) + 1
    some, seconds = data.take_queries(np.arange(min(n_queries, data.n_queries))), []
    for _ in range(5):
        begin = time.perf_counter()
        trained.scores(some, threads=1)
        seconds.append(time.perf_counter() - begin)
    size = container_size(MODEL_KIND, *trained.to_state())
    return visits_of(trained), size, 1e5 * min(seconds) / max(some.n_docs, 1)


class AutoRanker(Ranker, AutoSettings):
    """Kinds of rankers and their settings are searched on folds of the queries, the better half of them on all folds;
    the best are blended, and trained on all queries. What new queries can expect is estimated honestly: the whole
    choice is repeated on samples of the queries, and measured on those that a sample lacks. The model file is that of
    the ranker that was chosen. Give `checkpoint` to keep every trial: the same call goes on where a killed one stopped.

    Attributes
    ----------
    report_ : AutoReport
        What was tried, what was chosen and why, and what it is worth; `lines()` tells it in words.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=12, docs_per_query=15, seed=0)
    >>> ranker = rw.AutoRanker(trials=1, folds=2, threads=1).fit(data)
    >>> ranker.report_.tried[0].name
    'bl-mart()'
    """

    recipe = AutoRecipe()
    takes_categories = True
    model_kind = Model
    report_: AutoReport
    on = train_on

    @property
    def importance_kinds(self) -> tuple[str, ...]:
        """The kinds of importance that the chosen model has."""
        return self.trained().model.importance_kinds

    @property
    def members_(self) -> list[str]:
        """What was chosen: the kinds of the rankers."""
        model = self.trained().model
        return [one.ranker for one in model.members] if isinstance(model, BlendModel) else [self.trained_.ranker]

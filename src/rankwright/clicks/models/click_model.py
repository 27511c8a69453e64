"""What all click models share: fitting, estimates of relevance, held-out measures, drawing clicks, files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from rankwright.arrays import (
    Arrays,
    Float64Array,
    IdArray,
    Int32Array,
    IntArray,
    Seed,
    arrays_with_prefix,
    as_ids,
    generator,
    real_number,
    share,
    thread_count,
    whole_number,
)
from rankwright.clicks.logs.click_log import ClickLog, PairLog, check_log, pair_log
from rankwright.clicks.models.behaviour import Behaviour, Chain, Shown, conditional_chances, drawn_clicks, ranked
from rankwright.clicks.models.list_matrices import KnownPairs, Laid, laid_out
from rankwright.clicks.models.rates import (
    LEAST_CHANCE,
    ClickCounts,
    beta_interval,
    bounded,
    drawn_rates,
    fitted_strength,
)
from rankwright.container.checks import read_array, read_field, read_list, read_number
from rankwright.container.file import write_container
from rankwright.data.frames import PandasFrame, Tabular, frame_of
from rankwright.errors import InputError, require_input
from rankwright.tables.text import ShownTable, counted, short


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RelevanceEstimates:
    """How relevant a click model thinks each document of a query is, and how sure it is. Print it for a table.

    Attributes
    ----------
    queries, documents : array of int32
        The query and the document, as places in `query_ids` and `document_ids`.
    mean : array of float64
        The chance that a user who examines the document clicks it and, for models that know satisfaction, is satisfied.
    deviation, low, high : array of float64
        The standard deviation of the chance of a click, and the interval in which it lies.
    shown : array of int64
        How often the document was shown.
    query_ids, document_ids : array of int64 or str
        The ids.
    """

    queries: Int32Array
    documents: Int32Array
    mean: Float64Array
    deviation: Float64Array
    low: Float64Array
    high: Float64Array
    shown: IntArray
    query_ids: IdArray
    document_ids: IdArray

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the estimates by name, with ids.

        Returns
        -------
        mapping of str to sequence
            Columns by name: a row for each document of each query.
        """
        ids = {"query": self.query_ids[self.queries].tolist(), "document": self.document_ids[self.documents].tolist()}
        names = ("mean", "deviation", "low", "high", "shown")
        return ids | {name: getattr(self, name).tolist() for name in names}

    def to_frame(self) -> PandasFrame:
        """Return the estimates as a frame.

        Returns
        -------
        pandas.DataFrame, or polars.DataFrame where pandas is not installed
            A row for each document of each query.
        """
        return frame_of(self.columns())

    def __repr__(self) -> str:
        return self._table().text()

    def _repr_html_(self) -> str:
        return self._table().html()

    def _table(self) -> ShownTable:
        """The first estimates; `shown` is taken by a figure, so that this is no `Tabular`."""
        columns = self.columns()
        rows = zip(*(values[:ROWS_SHOWN] for values in columns.values()), strict=True)
        texts = [[short(value) for value in row] for row in rows]
        n_more = len(self.mean) - len(texts)
        notes = [f"and {n_more:,} more: `to_frame` gives all"] if n_more else []
        title = f"The relevance of {counted(len(self.mean), 'document')}, by clicks"
        return ShownTable(title, list(columns), texts, numbers=list(columns)[2:], notes=notes)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClickEvaluation(Tabular):
    """How well a click model predicts the clicks of a log. Print it for a table.

    Attributes
    ----------
    log_likelihood : float
        The mean over lists of the logarithm of the chance of all their clicks, each given those above it.
    conditional_perplexity : float
        2 to the mean surprise in bits at each rank given the clicks above it, averaged over ranks; 1 is perfect.
    perplexity : float
        The same without knowing any clicks.
    conditional_at, perplexity_at : array of float64
        Both at each rank.
    of_list : array of float64
        The log-likelihood of each list.
    counts : array of int64
        How often each list was seen.
    queries : array of int32
        The query of each list.
    """

    log_likelihood: float
    conditional_perplexity: float
    perplexity: float
    conditional_at: Float64Array
    perplexity_at: Float64Array
    of_list: Float64Array
    counts: IntArray
    queries: Int32Array

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in types that JSON can hold.

        Returns
        -------
        dict
            All but those of single lists.
        """
        return {
            "lists": int(self.counts.sum()),
            "log_likelihood": self.log_likelihood,
            "conditional_perplexity": self.conditional_perplexity,
            "perplexity": self.perplexity,
            "conditional_perplexity_at": self.conditional_at.tolist(),
            "perplexity_at": self.perplexity_at.tolist(),
        }

    def shown(self) -> ShownTable:
        """Return the figures as people read them; see `Tabular.shown`."""
        names = ["rank", "conditional perplexity", "perplexity"]
        at_ranks = zip(self.conditional_at.tolist(), self.perplexity_at.tolist(), strict=True)
        rows = [[str(rank), f"{given:.4f}", f"{plain:.4f}"] for rank, (given, plain) in enumerate(at_ranks, start=1)]
        rows.append(["all", f"{self.conditional_perplexity:.4f}", f"{self.perplexity:.4f}"])
        lists = counted(int(self.counts.sum()), "list")
        return ShownTable(f"{lists}, log-likelihood {self.log_likelihood:.4f}", names, rows, numbers=names)

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return both perplexities of each rank, from 0; see `Tabular.columns`."""
        at_ranks = {"conditional_perplexity": self.conditional_at.tolist(), "perplexity": self.perplexity_at.tolist()}
        return {"rank": list(range(len(self.perplexity_at))), **at_ranks}


KIND = "click-model"  # of files
MOST_STRENGTH = 1e12  # that a file may tell
MOST_RANKS = 10  # whose examination is told
ROWS_SHOWN = 10  # of estimates
EACH_PAIR = -1  # the length of a parameter that has a value for each pair of a query and a document
RECOUNTED_AT = (0, 3, 9, 21, 45, 93)  # iterations after which strengths of priors are chosen anew


class ClickModel(Tabular, ABC):
    """A model of how users click. Print it for what it learned.

    A new model is a subclass with a `name`, `_chances`, `_learn` and `_behaviour`, and a line in the table of models.

    Parameters
    ----------
    iterations : int, default 200
        How many steps of expectation-maximisation to take at most; models that count take none.
    tolerance : float, default 1e-4
        Steps end where no chance of examination changes by more.
    strength : float, optional
        How many imagined examinations each document gets beforehand, at the usual rate; by default as many as make the
        log most likely.
    threads : int, optional
        How many threads to use. It never changes the result.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    # The parameters, all of them chances, that the behaviour needs beside the attraction: their lengths, None for any.
    _chances: ClassVar[Mapping[str, int | None]] = {}

    def __init__(
        self,
        *,
        iterations: int = 200,
        tolerance: float = 1e-4,
        strength: float | None = None,
        threads: int | None = None,
    ) -> None:
        self.iterations, self.threads = whole_number(iterations, "iterations", least=1), threads
        self.tolerance = real_number(tolerance, "tolerance")
        self.strength = None if strength is None else real_number(strength, "strength")
        thread_count(threads)
        self.parameters_: Arrays = {}
        self.strengths_: dict[str, float] = {}
        self.n_iterations_ = 0

    @abstractmethod
    def _learn(self, log: PairLog) -> None:
        """Set `parameters_`: attraction of pairs, and what the behaviour needs."""

    @abstractmethod
    def _behaviour(self) -> Behaviour:
        """How users behave by the fitted parameters."""

    def _check(self, parameters: Arrays) -> None:
        """Raise an `InputError` where parameters from a file do not fit together in some other way."""

    def fit(self, log: ClickLog) -> Self:
        """Learn from a log.

        Parameters
        ----------
        log : ClickLog
            The log; pages after the first are left out.

        Returns
        -------
        self
            The model, fitted.
        """
        check_log(log)
        if not len(log.first_pages().queries):
            raise InputError("the log has no lists to learn from")
        numbered = pair_log(log, threads=self.threads)
        self.query_ids_, self.document_ids_ = numbered.log.query_ids, numbered.log.document_ids
        self.queries_, self.documents_ = numbered.queries, numbered.documents
        self.parameters_, self.strengths_, self.n_iterations_ = {}, {}, 0
        self._learn(numbered)
        return self

    def relevance(self, level: float = 0.95) -> RelevanceEstimates:
        """Estimate how relevant each document is.

        Parameters
        ----------
        level : float, default 0.95
            How likely the intervals hold what they are about.

        Returns
        -------
        RelevanceEstimates
            An estimate for each document of each query that was shown.
        """
        level = share(level, "level")
        parts = self._fitted()
        counts = parts["clicks"], parts["examined"], parts["usual"]
        spread = beta_interval(*counts, self.strengths_["attraction"], level)
        mean = parts["attraction"] * parts["satisfaction"] if "satisfaction" in parts else parts["attraction"]
        return RelevanceEstimates(
            self.queries_, self.documents_, mean, *spread, parts["shown"], self.query_ids_, self.document_ids_
        )

    def examination(self, n_ranks: int = 10) -> Float64Array:
        """Tell how likely each rank is examined, on average over the lists the model was fitted on.

        Parameters
        ----------
        n_ranks : int, default 10
            How many ranks to tell of.

        Returns
        -------
        array of float64
            Chances relative to that of the first rank.
        """
        n_ranks = whole_number(n_ranks, "n_ranks", least=1)
        parts = self._fitted()
        usual = np.maximum(ranked(parts["rank_attraction"], n_ranks), LEAST_CHANCE)
        satisfaction = float(parts.get("mean_satisfaction", np.zeros(1))[0])
        behaviour = self._behaviour()
        if isinstance(behaviour, Chain):  # clicks on what was not examined tell nothing about examination
            behaviour = replace(behaviour, noise=0.0)
        chances = behaviour.marginal(Shown(usual[None, :], np.full((1, n_ranks), satisfaction)))[0] / usual
        relative: Float64Array = chances / chances[0]
        return relative

    def evaluate(self, log: ClickLog) -> ClickEvaluation:
        """Measure how well the model predicts the clicks of a log.

        Parameters
        ----------
        log : ClickLog
            Lists that the model was not fitted on; documents may be new.

        Returns
        -------
        ClickEvaluation
            Log-likelihood and perplexities.
        """
        check_log(log)
        self._fitted()
        merged = log.merged(threads=self.threads)
        if not len(merged.documents):
            raise InputError("the log has no lists to measure a click model on")
        counts = merged.list_counts
        n_ranks = int(np.diff(merged.offsets).max(initial=1))
        of_list = np.zeros(len(counts))
        bits, seen = np.zeros((2, n_ranks)), np.zeros(n_ranks)
        behaviour = self._behaviour()
        for laid in self._laid(merged):
            shown, times = self._shown(laid), counts[laid.lists, None] * laid.there
            width = laid.there.shape[1]
            given_clicks = conditional_chances(behaviour, shown, laid.clicked)
            for row, chances in enumerate((given_clicks, behaviour.marginal(shown))):
                kept = np.clip(chances, LEAST_CHANCE, 1 - LEAST_CHANCE)
                logs = np.where(laid.clicked, np.log(kept), np.log1p(-kept)) * laid.there
                bits[row, :width] -= (logs * times).sum(axis=0) / np.log(2)
                if row == 0:
                    of_list[laid.lists] = logs.sum(axis=1)
            seen[:width] += times.sum(axis=0)
        at_rank = 2 ** (bits / np.maximum(seen, 1))
        conditional, plain = (float(np.average(one, weights=seen)) for one in at_rank)
        likelihood = float((of_list * counts).sum() / max(int(counts.sum()), 1))
        return ClickEvaluation(likelihood, conditional, plain, at_rank[0], at_rank[1], of_list, counts, merged.queries)

    def sample(self, log: ClickLog, *, seed: Seed = 0) -> ClickLog:
        """Draw clicks on the lists of a log.

        Parameters
        ----------
        log : ClickLog
            The lists that users see; its clicks play no part.
        seed : int or numpy.random.Generator, default 0
            The same seed gives the same clicks.

        Returns
        -------
        ClickLog
            The same lists with other clicks; a list that counts several times is drawn as often.
        """
        check_log(log)
        self._fitted()
        lists = log.take(np.repeat(np.arange(len(log.queries)), log.list_counts))
        clicked, rng = np.zeros(len(lists.documents), np.bool_), generator(seed)
        for laid in self._laid(lists):
            drawn = drawn_clicks(self._behaviour(), self._shown(laid), rng.random(laid.there.shape))
            rows = slice(lists.offsets[laid.lists.start], lists.offsets[laid.lists.stop])
            clicked[rows] = drawn[laid.there]
        return replace(lists, clicked=clicked, counts=None)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file, which `load_click_model` reads back.

        Parameters
        ----------
        path : path
            Where to write it. An existing file is replaced in one step.
        """
        fitted = {f"fitted.{name}": values for name, values in self._fitted().items()}
        header = {
            "name": self.name,
            "settings": {"iterations": self.iterations, "tolerance": self.tolerance, "strength": self.strength},
            "strengths": self.strengths_,
            "n_iterations": self.n_iterations_,
            "query_ids": self.query_ids_.tolist(),
            "document_ids": self.document_ids_.tolist(),
        }
        pairs = {"pair.queries": self.queries_, "pair.documents": self.documents_}
        write_container(path, KIND, header, pairs | fitted)

    def told(self) -> Iterator[tuple[str, str]]:
        """Tell what the model learned in words.

        Yields
        ------
        tuple of str
            The name of a figure, which is empty if the figure belongs to the line before, and the figure.
        """
        yield "click model", f"{self.name}: {self.summary}"
        if not self.parameters_:
            yield "fitted", "not yet"
            return
        n_queries = len(np.unique(self.queries_))
        shown = int(self.parameters_["shown"].sum())
        pairs = f"{counted(len(self.queries_), 'document')} of {counted(n_queries, 'query')}"
        yield "fitted on", f"{pairs}, shown {counted(shown, 'time')}"
        if self.n_iterations_:
            yield "iterations", f"{self.n_iterations_:,} of {self.iterations:,} at most"
        strengths = ", ".join(f"{name} {strength:.4g}" for name, strength in self.strengths_.items())
        yield "strength", f"{strengths} (imagined examinations)"
        for rank, chance in enumerate(self.examination(self._n_ranks())):
            yield ("examined, by position" if rank == 0 else ""), f"{rank + 1:>4}  {chance:.3f}"

    def shown(self) -> ShownTable:
        """Return what the model learned as people read it; see `Tabular.shown`."""
        return ShownTable("A click model", ["what", "figure"], [list(row) for row in self.told()])

    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the examination of each rank, from 0; see `Tabular.columns`."""
        chances = self.examination(self._n_ranks()).tolist()
        return {"rank": list(range(len(chances))), "examination": chances}

    def to_dict(self) -> dict[str, Any]:
        """Return what the model learned in types that JSON can hold.

        Returns
        -------
        dict
            All but the values of single documents.
        """
        return {
            "kind": KIND,
            "name": self.name,
            "queries": len(np.unique(self.queries_)) if self.parameters_ else 0,
            "documents": len(self.queries_) if self.parameters_ else 0,
            "iterations": self.n_iterations_,
            "strengths": dict(self.strengths_),
            "examination": self.examination(self._n_ranks()).tolist() if self.parameters_ else [],
        }

    def _n_ranks(self) -> int:
        """How many ranks are told: those that were seen, but not all of a long list."""
        return min(MOST_RANKS, len(self._fitted()["rank_attraction"]))

    def _fitted(self) -> Arrays:
        if not self.parameters_:
            raise InputError(f"the click model {self.name} must be fitted first")
        return self.parameters_

    def _laid(self, log: ClickLog) -> Iterator[Laid]:
        return laid_out(log, KnownPairs(self.queries_, self.documents_, self.query_ids_, self.document_ids_))

    def _shown(self, laid: Laid) -> Shown:
        """What the model knows of the documents of some lists; new ones count as usual for their rank."""
        parts = self._fitted()
        is_new, usual = laid.pairs < 0, ranked(parts["rank_attraction"], laid.pairs.shape[1])
        attraction = np.where(is_new, usual, parts["attraction"][laid.pairs])
        if "satisfaction" not in parts:
            return Shown(attraction, np.zeros_like(attraction))
        mean = parts["mean_satisfaction"][0]
        return Shown(attraction, np.where(is_new, mean, parts["satisfaction"][laid.pairs]))

    def _attraction(
        self,
        counts: ClickCounts,
        examined: Float64Array,
        *,
        clicks: Float64Array | None = None,
        iteration: int = 0,
        usual_at: Float64Array | None = None,
    ) -> Float64Array:
        """The attraction of each pair by what was examined and clicked, drawn to what is usual where it was shown.

        Unless it is given for each rank, the usual rate is the share of clicks in the examinations of all pairs that
        usually stand at the same rank. With one rate for all ranks, the attractive documents that an engine puts on top
        would look like more examination there.
        """
        clicks = counts.clicks if clicks is None else clicks
        if usual_at is None:
            at, n_ranks = np.rint(counts.mean_rank).astype(np.int64), len(counts.shown_at)
            overall = float(clicks.sum()) / max(float(examined.sum()), 1.0)
            n_clicks, n_examined = (np.bincount(at, weights=one, minlength=n_ranks) for one in (clicks, examined))
            usual_at = bounded((n_clicks + overall) / (n_examined + 1))
            usual = usual_at[at]
        else:
            usual = counts.of_pairs(usual_at)
        if self.strength is not None:
            self.strengths_["attraction"] = float(self.strength)
        elif iteration in RECOUNTED_AT:
            self.strengths_["attraction"] = fitted_strength(clicks, examined, usual)
        rates = drawn_rates(clicks, examined, usual, self.strengths_["attraction"])
        self.parameters_ |= {
            "attraction": rates, "shown": counts.shown, "clicks": clicks, "examined": examined, "usual": usual,
            "rank_attraction": usual_at,
        }  # fmt: skip
        return rates


def restore(model: ClickModel, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> ClickModel:
    """Fill a model with what a file holds, every part of which is checked."""
    known = _stored_pairs(header, arrays)
    model.queries_, model.documents_, model.query_ids_, model.document_ids_ = known
    model.parameters_ = _stored_parameters(arrays, len(known.queries), model._chances)
    model._check(model.parameters_)
    model.strengths_ = _stored_strengths(header)
    return model


def _stored_pairs(header: Mapping[str, Any], arrays: Mapping[str, Any]) -> KnownPairs:
    """The pairs of a query and a document that the model knows."""
    queries = read_array(arrays, "pair.queries", np.int32, (None,))
    documents = read_array(arrays, "pair.documents", np.int32, (len(queries),))
    known = KnownPairs(queries, documents, _stored_ids(header, "query_ids"), _stored_ids(header, "document_ids"))
    for places, ids in ((known.queries, known.query_ids), (known.documents, known.document_ids)):
        if not len(places) or not 0 <= places.min() <= places.max() < len(ids):
            raise InputError("pairs name queries or documents that are not there")
    if not (np.diff(known.queries.astype(np.int64) << 32 | known.documents) > 0).all():
        raise InputError("pairs are not in order of their queries and documents")
    return known


def _stored_parameters(arrays: Mapping[str, Any], n_pairs: int, chances: Mapping[str, int | None]) -> Arrays:
    """The fitted parameters: those of every model, and the chances that only some have, by their lengths."""
    parameters = arrays_with_prefix(arrays, "fitted.")
    lengths = {"attraction": EACH_PAIR, "usual": EACH_PAIR, "rank_attraction": None, **chances}
    for name, length in lengths.items():
        found = read_array(parameters, name, np.float64, (n_pairs if length == EACH_PAIR else length,))
        wanted = f"{name} must have chances between 0 and 1"
        require_input(len(found) > 0 and 0 <= found.min() <= found.max() <= 1, wanted)
    for name, kind in (("clicks", np.float64), ("examined", np.float64), ("shown", np.int64)):
        if read_array(parameters, name, kind, (n_pairs,)).min() < 0:
            raise InputError(f"{name} must be 0 or more")
    return parameters


def _stored_strengths(header: Mapping[str, Any]) -> dict[str, float]:
    """How strongly rates were drawn to what is usual."""
    strengths = read_field(header, "strengths", dict)
    found = {name: read_number(strengths, name) for name in ("attraction", *strengths)}
    if not all(0 <= value <= MOST_STRENGTH for value in found.values()):
        raise InputError(f"strengths must lie between 0 and {MOST_STRENGTH:g}")
    return found


def _stored_ids(header: Mapping[str, Any], name: str) -> IdArray:
    kind = int if all(type(one) is int for one in read_field(header, name, list)) else str
    values = read_list(header, name, kind)
    ids = as_ids(np.array(values, np.int64 if kind is int else np.dtypes.StringDType()), name=name)
    require_input(bool((ids[1:] > ids[:-1]).all()), f"{name} must be in ascending order, each once")
    return ids

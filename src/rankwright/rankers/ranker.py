"""The scikit-learn interface of every ranker: settings, `fit`, `predict`, `rank`, `explain`, `save`.

What a ranker learns by is its recipe, and all that it has learned is one value, `trained_`; methods and fitted
attributes look at that value.
"""

from __future__ import annotations

import copy
import os
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from inspect import get_annotations
from pathlib import Path
from typing import Any, ClassVar, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from rankwright.arrays import Arrays, BoolArray, Float64Array, thread_count
from rankwright.clicks.weights import PropensityWeights
from rankwright.cluster.engine import Engine
from rankwright.container.checks import read_any_field
from rankwright.container.file import container_size, write_container
from rankwright.data.categories import Categories
from rankwright.data.dataset import RankingDataset
from rankwright.data.feature_names import numbered_names
from rankwright.data.frames import PandasFrame, PandasSeries, frame_of, is_frame, like_frame, plain_values, visible
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.explanations.explanation import Explanation, PairExplanation
from rankwright.features.scaling import FittedScaling
from rankwright.formats.reading import as_data_file
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.metric_table import as_measure
from rankwright.progress.display import progress_shown
from rankwright.rankers.explaining import explained
from rankwright.rankers.exported import Exported
from rankwright.rankers.frames import PlainRequest, columns_of
from rankwright.rankers.inputs import check_trained, judged_data, refuse_beside_a_dataset, scoring_data, training_data
from rankwright.rankers.model import Model
from rankwright.rankers.plots import draw_history, draw_importances
from rankwright.rankers.recipe import Given, Recipe, TrainingRun
from rankwright.rankers.seen import SeenQueries, warn_if_seen
from rankwright.rankers.top import RANKED, ranked_columns
from rankwright.rankers.trained import MODEL_KIND, TrainedRanker, TrainingFindings, read_trained
from rankwright.rankers.views import View, for_the_library
from rankwright.ranking.order import Ranking, rank
from rankwright.settings.arguments import answers_strangers, check_names
from rankwright.settings.setting import check_settings, restored_settings
from rankwright.settings.shared import RankerSettings
from rankwright.settings.text import complete_docstring
from rankwright.tables.axes import Axes, axes_or_new
from rankwright.training.loop import History, Listener

AnyRanker = TypeVar("AnyRanker", bound="Ranker")
# What other tools call arguments of `fit`, and what to write here.
OTHER_ARGUMENTS = {
    **dict.fromkeys(("eval_set", "eval_group", "eval_qid", "validation_data", "valid_sets"), "valid=(X, y, qid)"),
    **dict.fromkeys(("group_id", "groups", "query", "query_id", "queries"), "qid=…"),
    "callbacks": "listeners=…",
    "init_score": "initial_scores=…",
    "base_margin": "initial_scores=…",
    "pairs": "preferences=…",
    "weight": "sample_weight=…",
    "group_weight": "query_weight=…",
}


class Ranker(BaseEstimator, RankerSettings, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """A ranker: settings in the constructor, `fit` to learn, `predict` for scores, `rank` for the order.

    A new kind of ranker is a dataclass of settings and a subclass of this one that states its `recipe`, the kind of its
    model (`model_kind`) and what it can learn from (`takes_…`). All fitted state is `trained_`; the other fitted
    attributes, which end in an underscore as scikit-learn's users expect, are views of it.

    A ranker with the setting `scaling` need do nothing else to scale features: the scaling is fitted on the training
    data, the recipe and the model get scaled features, and the model file holds the scaling. If its default depends on
    other settings, the ranker overrides `scaling_name`. A model that scales faster by itself gets features as they are
    (`Model.scales_itself`).
    """

    # scikit-learn's metadata routing passes query ids on without being asked: ranking needs them.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    recipe: ClassVar[Recipe]
    takes_datasets: ClassVar[bool] = True  # whether `predict` takes a RankingDataset, which other libraries' do not
    needs_qid: ClassVar[bool] = False  # whether a document's score depends on the rest of its list
    trains_beside_others: ClassVar[bool] = True  # whether several can be trained at once by threads of one process
    takes_initial_scores: ClassVar[bool] = False  # whether training can start from scores the caller gives
    not_in_bags: ClassVar[str] = ""  # why bags do not take it; empty where they do
    takes_document_weights: ClassVar[bool] = True  # whether one document can count more than another
    takes_propensities: ClassVar[bool] = True  # whether one click can count more than another
    takes_categories: ClassVar[bool] = False  # whether it can split texts and categories
    takes_positions: ClassVar[bool] = False  # whether it learns from where a click log showed the documents
    chooses_steps: ClassVar[bool] = True  # whether validation data chooses the step; otherwise the last one counts
    validates_itself: ClassVar[bool] = False  # whether it chooses steps without the caller's validation data

    trained_: TrainedRanker
    model_kind: ClassVar[type[Model]]

    model_ = View[Model]("model", "The trained model.")
    history_ = View[History]("history", "What was watched after each step.")
    scaling_ = View[FittedScaling | None]("scaling", "How features were scaled.")
    chosen_ = View[Mapping[str, Any]]("findings.chosen", "The values that training chose for settings that are None.")
    watched_ = View[Mapping[str, list[float]]](
        "findings.watched", "The metric on further validation data, step by step."
    )
    propensity_weights_ = View[PropensityWeights | None](
        "findings.propensity_weights", "How clicks were weighed by their propensities."
    )
    compressed_from_ = View[Mapping[str, Any] | None](
        "compressed_from", "Which model a compressed one replaces, and how it was made."
    )
    data_digest_ = View[str]("training_data", "The fingerprint of the training data.")
    seen_queries_ = View[SeenQueries | None]("findings.seen_queries", "Some of the queries that it was trained on.")
    categories_ = View[Categories | None]("features.categories", "The categories of the features that hold codes.")
    n_features_in_ = View[int]("n_features", "How many features it was trained on.")
    feature_names_in_ = View[NDArray[Any]](lambda trained: _names_of(trained), "Their names, if they have any.")

    _engine: Engine | None = None  # given to `on`, in rankers that workers can train

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "name"):
            cls.__doc__ = complete_docstring(cls, cls.summary)

    def set_params(self, **params: Any) -> Self:
        """Change settings.

        Parameters
        ----------
        **params
            Settings by name; `name__part` is a part of the setting `name`.

        Returns
        -------
        self
            This ranker.
        """
        names = (name.partition("__")[0] for name in params)
        check_names(f"{type(self).__name__}.set_params", names, list(self.get_params(deep=False)))
        super().set_params(**params)
        return self

    @answers_strangers(OTHER_ARGUMENTS)
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        label: str | None = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        position: Any = None,
        propensity: Any = None,
        preferences: Preferences | None = None,
        initial_scores: Any = None,
        valid: Any = None,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
        allow_empty: bool = False,
        verbose: bool = False,
    ) -> Self:
        """Train this ranker.

        Parameters
        ----------
        X : RankingDataset, path, list of paths, DataFile, array, frame or sparse matrix
            The documents to train on: a dataset, a file of one, or rows of features in any order. A frame may hold
            labels and query ids as well: `fit(frame)`, or `fit(frame, label="stars", qid="search")` where its columns
            do not have the usual names.
        y : array of numbers, optional
            A label for each row, 0 or more, NaN where nobody judged; datasets and files hold their own, as well as ids,
            weights and the like.
        qid : array of whole numbers or strings, or str, optional
            The query id of each row, or the name of the frame's column that has them. Likewise for `sample_weight`,
            `query_weight`, `position` and `propensity`.
        label : str, optional
            The name of the frame's column of labels.
        group : array of whole numbers, optional
            Instead of `qid`, how many rows each query has, if the rows of a query are next to each other.
        sample_weight : array of numbers, optional
            How much each row counts.
        query_weight : array of numbers, optional
            How much each query counts, in the order in which queries first appear.
        position : array of whole numbers, optional
            The rank, from 0, at which each row was shown. Rankers with the setting `debias` learn from it, where labels
            are clicks; others refuse it.
        propensity : array of numbers, optional
            How likely each row was examined where it was shown, above 0 and at most 1: labels are then clicks. Rankers
            with the setting `debias` correct labels by them as far as held-out clicks support it; with `debias="none"`,
            and in other rankers, a clicked row counts 1 / propensity, at most 20 times, and nothing is checked
            (`rankwright.clicks.propensity_weights`).
        preferences : Preferences, optional
            Pairs of rows of which one should rank above the other; they replace the pairs made from labels.
        initial_scores : array of numbers, optional
            What training starts from, one value per row: the model learns what to add, and `predict` gives that alone.
        valid : RankingDataset, file, frame, (X, y, qid), (X, y, qid, initial_scores), or several by name, optional
            What early stopping and the choice of the best step look at. Of several, in a mapping from names, it is the
            first; the others are watched, and `watched_` has their values. Training data may be among them.
        listeners : sequence of functions, optional
            Each is called with a `Progress` after every step. One that returns True ends the training; the model is
            that of the best step so far, or of the last one where nothing is watched.
        checkpoint : path, optional
            A folder in which progress is saved. A run that was killed continues from there.
        allow_empty : bool, default False
            Whether data with nothing to learn from, such as labels that are all equal, gives a model that tells nothing
            apart. Otherwise it is an error that says why.
        verbose : bool, default False
            Whether to show what is being done, how far it is, the metric and the time left: in one line on a terminal
            or in a notebook, elsewhere in a line every few seconds.

        Returns
        -------
        self
            The ranker, trained.
        """
        self.check()
        beside = {
            "qid": qid, "label": label, "group": group, "sample_weight": sample_weight, "query_weight": query_weight,
            "position": position, "propensity": propensity, "preferences": preferences,
            "initial_scores": initial_scores,
        }  # fmt: skip
        run = TrainingRun(listeners, None if checkpoint is None else Path(checkpoint), allow_empty)
        file = as_data_file(X)
        if file is not None:
            refuse_beside_a_dataset({"y": y} | beside)
        with progress_shown(shows=verbose):
            data = training_data(self, X, y, beside) if file is None else None
            self.trained_ = self.recipe.train(self, Given(file, data, valid, columns_of(X, y, beside)), run)
        return self

    def predict(self, X: Any, qid: Any = None) -> Float64Array | PandasSeries:
        """Score documents.

        Parameters
        ----------
        X : RankingDataset, path, array, frame or sparse matrix
            The documents, with the features of the training data. Where both have names, features are found by name:
            their order does not matter, and other columns are left out.
        qid : array of whole numbers or strings, or str, optional
            The query id of each row, or the frame's column that has them. Rankers that look at a query's documents
            together, as SortNet and per-query scalings do, need it; others give the same scores without.

        Returns
        -------
        array of float64, or Series
            A score for each document, higher is better, in the caller's row order. A pandas or polars frame gets a
            Series, with the index of the frame.
        """
        data = self.documents_to_score(X, qid)
        scores = self.trained_.predict(data, threads=self.threads)
        return like_frame(X, scores, "score") if is_frame(X) else scores

    @for_the_library
    def predict_from_start(self, data: RankingDataset) -> Float64Array:
        """Score documents on top of their initial scores.

        Parameters
        ----------
        data : RankingDataset
            The documents, with or without initial scores.

        Returns
        -------
        array of float64
            The scores of `predict` plus the initial scores, if there are any: those that training looked at.
        """
        scores = self.predict(data)
        return scores if data.initial_scores is None else scores + data.in_source_order(data.initial_scores)

    def rank(self, X: Any, qid: Any = None) -> Ranking:
        """Rank the documents of each query.

        Parameters
        ----------
        X, qid
            As for `predict`.

        Returns
        -------
        Ranking
            The rows of each query, best first.
        """
        data = self.documents_to_score(X, qid, asks_for_lists=True)
        return rank(self._scores(data), data.groups)

    def top(self, X: Any, k: int = 10, qid: Any = None) -> PandasFrame:
        """List the best documents of each query.

        Parameters
        ----------
        X, qid
            As for `predict`.
        k : int, default 10
            How many documents of each query to list, 1 or more.

        Returns
        -------
        pandas.DataFrame, or polars.DataFrame where pandas is not installed
            The best documents first: `query`, `document` (its id, or its row from 0), `rank` from 1, and `score`.
        """
        require(k >= 1, f"k must be 1 or more, got {k}")
        data = self.documents_to_score(X, qid, asks_for_lists=True)
        found = ranked_columns(data, self._scores(data), k)
        shown: PandasFrame = frame_of({name: plain_values(found[name]) for name in RANKED})
        return shown

    def score(self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None) -> float:
        """Measure the ranker by the metric that `select` names: what scikit-learn's search classes maximise.

        Parameters
        ----------
        X, y, qid
            Documents and labels, as for `fit`. Initial scores of a dataset count, as they do in training.
        sample_weight : array of numbers, optional
            A query counts as much as its documents do on average.

        Returns
        -------
        float
            The mean of the metric over the queries; negated where less is better.
        """
        check_trained(self)
        data = judged_data(self, X, y, qid, sample_weight)
        self.warn_if_seen(data)
        measure = as_measure(self.selected_metric)
        evaluation = evaluate(self.predict_from_start(data), data, [measure], measure.convention, threads=self.threads)
        mean = evaluation[measure.metric.name].mean
        return mean if measure.higher_is_better else -mean

    def warn_if_seen(self, data: RankingDataset, *, stacklevel: int = 2) -> None:
        """Warn where the ranker is about to be measured on queries that it was trained on.

        Parameters
        ----------
        data : RankingDataset
            The documents to measure it on.
        stacklevel : int, default 2
            Which call the warning points at: 1 is that of this method, 2 that of the function it is called in.
        """
        if self.seen_queries_ is not None:
            known = self.trained_.aligned(data)
            warn_if_seen(self.seen_queries_, known, self.name, threads=self.threads, stacklevel=stacklevel + 2)

    @for_the_library
    def documents_to_score(self, X: Any, qid: Any = None, *, asks_for_lists: bool = False) -> RankingDataset:
        """Return the documents to score, with the features of training.

        Parameters
        ----------
        X, qid
            As for `predict`.
        asks_for_lists : bool, default False
            Whether each query's order is the answer, so that a frame's column of query ids is looked for.

        Returns
        -------
        RankingDataset
            The documents.
        """
        trained = self.trained()
        if qid is None and trained.looks_at_queries and not _brings_queries(X):
            why = self.name if trained.model.needs_queries else f"scaling {self.scaling_name!r}"
            raise InputError(f"{why} looks at the documents of a query together: give qid, the query id of each row")
        return scoring_data(self, X, qid, asks_for_lists=asks_for_lists)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.trained_.scores(data, threads=thread_count(self.threads))

    @overload
    def explain(
        self, X: Any, qid: Any = None, *, query: Any = None, documents: None = None, cover: str | None = None,
        background: Any = None, interactions: bool = False,
    ) -> Explanation: ...  # fmt: skip

    @overload
    def explain(
        self, X: Any, qid: Any = None, *, query: Any = None, documents: Sequence[Any], cover: str | None = None,
        background: Any = None, interactions: bool = False,
    ) -> PairExplanation: ...  # fmt: skip

    def explain(
        self,
        X: Any,
        qid: Any = None,
        *,
        query: Any = None,
        documents: Sequence[Any] | None = None,
        cover: str | None = None,
        background: Any = None,
        interactions: bool = False,
    ) -> Explanation | PairExplanation:
        """Explain why the documents of a query rank as they do, or why one ranks above another.

        Parameters
        ----------
        X, qid
            As for `predict`.
        query : str or int, optional
            The query to explain; it may be left out where there is only one.
        documents : two ids, optional
            Two documents of the query to compare, by document id, or by place from 0 where they have none.
        cover : str, optional
            Forests: by what the two sides of a split count where its feature is not known. `documents` counts training
            documents, as LightGBM does; `curvature` sums their curvatures, as XGBoost does. The default is the first
            of these that the model tells. Not with two documents, which are compared with each other.
        background : as X, optional
            Documents whose values features have where they are not known; for forests and weighted sums, and not with
            two documents.
        interactions : bool, default False
            Whether to count also what pairs of features add by acting together; forests only, and not with two
            documents.

        Returns
        -------
        Explanation or PairExplanation
            What each feature adds to each score; with `documents`, by how much it puts one above the other, and the
            smallest change of one feature that swaps them.
        """
        data = self.documents_to_score(X, qid, asks_for_lists=True)
        others = None if background is None else self.documents_to_score(background)
        return explained(
            self.trained_, data, query, documents, cover=cover, background=others, interactions=interactions,
            threads=thread_count(self.threads),
        )  # fmt: skip

    def used_features(self) -> BoolArray:
        """Tell which features the trained model looks at.

        Returns
        -------
        array of bool
            One value per feature; all are True unless the model can tell which.
        """
        return self.trained().model.used_features(self.trained_.n_features)

    def facts(self) -> dict[str, Any]:
        """Tell what the trained model is made of.

        Returns
        -------
        dict
            Figures by name, in types JSON can hold; each kind of model has its own.
        """
        return self.trained().model.facts()

    def examine(self, X: Any, qid: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """Tell what the trained model does with documents besides ranking them, if its kind can.

        Parameters
        ----------
        X, qid
            As for `predict`.

        Returns
        -------
        dict
            A name and figures in types JSON can hold; empty for most kinds.
        """
        return {}

    @property
    def importance_kinds(self) -> tuple[str, ...]:
        """The kinds of importance that `importances` can be asked for."""
        return self.model_kind.importance_kinds

    def importances(self, kind: str | None = None) -> Float64Array:
        """Tell how much each feature matters to the model.

        Parameters
        ----------
        kind : str, optional
            One of `importance_kinds`; the first unless given.

        Returns
        -------
        array of float64
            One value per feature; its meaning depends on the kind.
        """
        kinds = self.importance_kinds
        wanted = kinds[0] if kind is None and kinds else str(kind)
        if wanted not in kinds:
            raise UnknownNameError(f"importance of {self.name}", wanted, known=kinds)
        return self.trained().model.importances(wanted)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw how training went: the watched metric after each step, with a mark at the best.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        check_trained(self)
        if not self.history_.values:
            raise InputError(f"this {self.name} was trained without validation data: there is no curve to draw")
        axes = axes_or_new(ax)
        draw_history(axes, self.history_, "step")
        return axes

    def plot_importances(self, kind: str | None = None, *, top: int = 20, ax: Axes | None = None) -> Axes:
        """Draw how much each feature matters to the model.

        Parameters
        ----------
        kind : str, optional
            One of `importance_kinds`; the first unless given.
        top : int, default 20
            How many features to draw, the most important ones.
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        values = self.importances(kind)
        axes = axes_or_new(ax)
        names = self.trained_.feature_names or numbered_names(len(values))
        draw_importances(axes, names, values, kind or self.importance_kinds[0], top)
        return axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which `rankwright.load` reads back.

        Parameters
        ----------
        path : path
            Where to write it. An existing file is replaced in one step.
        """
        write_container(path, MODEL_KIND, *self.to_state())

    def export(self, path: str | os.PathLike[str], *, to: str, **options: Any) -> Exported:
        """Write the trained model in the format of another engine, with documents that prove it.

        Parameters
        ----------
        path : path
            The file to write; what else goes with it is written beside it.
        to : str
            The target, such as `"onnx"` or `"xgboost-json"`; `rankwright list targets` shows them.
        **options
            Those of `rankwright.export`.

        Returns
        -------
        Exported
            The files written, what is good to know about them, and the verdict where one was asked for.
        """
        # Exporters know every family of models, so they stand above all rankers; this is their door.
        exported: Exported = import_module("rankwright.exchange.exporting").export(self, path, to=to, **options)
        return exported

    def file_size(self) -> int:
        """Tell how large the model file is.

        Returns
        -------
        int
            Its size in bytes.
        """
        return container_size(MODEL_KIND, *self.to_state())

    @for_the_library
    def trained(self) -> TrainedRanker:
        """Return the trained ranker as a value without the scikit-learn interface.

        Returns
        -------
        TrainedRanker
            All that the model file holds.
        """
        check_trained(self)
        return self.trained_

    @for_the_library
    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the content of the model file.

        Returns
        -------
        (dict, dict of arrays)
            The header and the arrays that `from_state` reads.
        """
        return self.trained().to_state()

    @classmethod
    @for_the_library
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **given: Any) -> Self:
        """Make the ranker that a model file's header and arrays describe.

        Parameters
        ----------
        header, arrays
            What `to_state` gave.
        **given
            Settings that files do not hold, such as the `module` of a net of your own.

        Returns
        -------
        Ranker
            A trained ranker of this class.
        """
        ranker = restored_settings(cls, read_any_field(header, "settings"), **given)
        ranker.trained_ = read_trained(header, arrays, ranker.model_kind, ranker, ranker.member_reader())
        return ranker

    @classmethod
    @for_the_library
    def of_trained(cls, trained: TrainedRanker, **given: Any) -> Self:
        """Make a ranker of this class from a trained ranker.

        Parameters
        ----------
        trained : TrainedRanker
            What `trained` gave.
        **given
            Settings that it does not hold, such as the `module` of a net of your own.

        Returns
        -------
        Ranker
            A trained ranker of this class.
        """
        ranker = cls(**trained.settings, **given)
        ranker.trained_ = trained
        return ranker

    @for_the_library
    def member_reader(self) -> Callable[[Mapping[str, Any], Mapping[str, NDArray[Any]]], TrainedRanker] | None:
        """Return what reads a member of this ranker from its part of a model file.

        Returns
        -------
        function or None
            From a header and arrays to a trained ranker; None where the ranker has no members.
        """
        return None

    @for_the_library
    def to_continue(self) -> TrainedRanker | None:
        """Return what an earlier training left to go on from.

        Returns
        -------
        TrainedRanker or None
            None where there is none, or where no setting `warm_start` asks for it.
        """
        return self.trained_ if getattr(self, "warm_start", False) and self.__sklearn_is_fitted__() else None

    @property
    def engine(self) -> Engine | None:
        """The engine whose workers train this ranker; None where this process does."""
        return self._engine

    @property
    def learns_alone(self) -> bool:
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return self.recipe.learns_alone(self, TrainingFindings())

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.trained_.looks_at_queries if self.__sklearn_is_fitted__() else self.needs_qid

    @property
    def width_to_read(self) -> int | None:
        """How many features a file of documents is read with; None where its own number will do."""
        return None if self.trained_.takes_any_width else self.trained_.n_features

    @property
    def selected_metric(self) -> str | Callable[..., Any]:
        """The metric that chooses among steps: `select`, or what training aims at."""
        chosen: str | Callable[..., Any] = getattr(self, "select", None) or getattr(self, "metric", "ndcg@10")  # type: ignore[assignment]
        return chosen

    @property
    def scaling_name(self) -> str | None:
        """The name of the scaling to train with, None for none."""
        name = getattr(self, "scaling", None)
        return None if name is None else str(name)

    @property
    def n_steps_(self) -> int:
        """How many steps the model was trained for: up to the best one if they were watched."""
        return self.trained().model.n_steps

    def value_of(self, name: str) -> Any:
        """Tell the value of a setting: the one given, or the one that training chose where it is None.

        Parameters
        ----------
        name : str
            The name of the setting.

        Returns
        -------
        object
            Its value; None before training where the data decides.
        """
        value = getattr(self, name)
        chosen = self.chosen_ if self.__sklearn_is_fitted__() else {}
        return chosen.get(name) if value is None else value

    def most_steps(self) -> int | None:
        """Tell how many steps training may take.

        Returns
        -------
        int or None
            What the settings say, or what is usual where they leave it to the data; None where steps are not counted.
        """
        if self.budget is None:
            return None
        value = getattr(self, self.budget)
        return self.usual_steps if value is None else int(value)

    def check(self) -> None:
        """Raise for the first setting that has a value it cannot have, a metric's name among them."""
        check_settings(self)
        as_measure(self.selected_metric)

    def get_metadata_routing(self) -> PlainRequest:
        """Tell scikit-learn which metadata goes to which method.

        Returns
        -------
        MetadataRequest
            The requests, `qid` among them.
        """
        return PlainRequest.of(super().get_metadata_routing())

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "trained_")

    def __sklearn_clone__(self) -> Any:
        """An untrained copy; of a ranker that is not trained here, such as one of another tool, the same again."""
        return super().__sklearn_clone__() if hasattr(self, "recipe") else copy.copy(self)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        assert isinstance(state, dict)
        return {name: value for name, value in state.items() if name != "_engine"}

    def __dir__(self) -> list[str]:
        """What a user looks for: neither internals nor what only other folders of the library ask a ranker."""
        stated = {name for name, kind in get_annotations(Ranker).items() if "ClassVar" in str(kind)}
        return [
            name
            for name in visible(super().__dir__())
            if name not in stated and not hasattr(getattr(type(self), name, None), "for_the_library")
        ]


def train_on(self: AnyRanker, engine: Engine | None) -> AnyRanker:
    """Have this ranker trained by the workers of an engine.

    Parameters
    ----------
    engine : Engine or None
        What `rankwright.open_engine` gave; None for this process again. The engine is no setting: copies do not
        have it, and the model is the same without it.

    Returns
    -------
    self
        This ranker.
    """
    self._engine = engine
    return self


def _names_of(trained: TrainedRanker) -> NDArray[Any]:
    if not trained.feature_names:
        raise AttributeError("this ranker was trained on features without names: it has no feature_names_in_")
    return np.array(trained.feature_names, dtype=object)


def _brings_queries(X: Any) -> bool:
    return isinstance(X, RankingDataset) or is_frame(X) or as_data_file(X) is not None

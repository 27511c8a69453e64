"""What all rankers share: the scikit-learn interface, the order of a list, and the model file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from rankwright.arrays import Arrays, BoolArray, Float32Array, Float64Array, thread_count
from rankwright.clicks.weights import PropensityWeights, propensity_weights
from rankwright.container.checks import known
from rankwright.container.file import container_size, write_container
from rankwright.data.categories import Categories
from rankwright.data.columns import Columns, listed
from rankwright.data.dataset import RankingDataset, numbered_names
from rankwright.data.frames import frame_of, is_frame, like_frame, plain_values
from rankwright.data.judged import call_irrelevant
from rankwright.data.keys import key_order
from rankwright.data.preferences import Preferences
from rankwright.data.tabular import visible
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.features.scaling import FittedScaling, parse_scaling
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.registry import as_measure
from rankwright.progress.display import progress_shown
from rankwright.progress.stages import announce
from rankwright.rankers.explaining import explained
from rankwright.rankers.frames import columns_of, named_column
from rankwright.rankers.inputs import (
    aligned,
    check_trained,
    judged_data,
    refuse_beside_a_dataset,
    scoring_data,
    training_data,
    validation_data,
)
from rankwright.rankers.lessons import check_something_to_learn
from rankwright.rankers.model import Model
from rankwright.rankers.plots import draw_history, draw_importances
from rankwright.rankers.seen import SeenQueries, warn_if_seen
from rankwright.rankers.top import RANKED, ranked_columns
from rankwright.rankers.trained import MODEL_KIND, TrainedRanker, read_trained
from rankwright.ranking.order import Ranking, rank
from rankwright.settings.docs import complete_docstring
from rankwright.settings.setting import check_settings, restored_settings
from rankwright.settings.shared import RankerSettings
from rankwright.tables.axes import axes_or_new
from rankwright.training.checkpoints import Checkpoint
from rankwright.training.digest import data_digest, run_identity
from rankwright.training.driver import Lesson, learn
from rankwright.training.loop import History, Listener, LoopPlan, Watch
from rankwright.training.watch import appender, watch_metric, watch_parts

# Public for other folders of the library, of no use to whoever completes a name in a notebook.
INTERNALS = frozenset(
    [
        "budget",
        "chooses_steps",
        "from_state",
        "looks_at_queries",
        "model_kind",
        "needs_qid",
        "of_trained",
        "predict_from_start",
        "scaling_name",
        "scores_in_place",
        "seen_by_model",
        "selected_metric",
        "settings",
        "stored_settings",
        "takes_document_weights",
        "takes_initial_scores",
        "to_state",
        "trained",
        "trains_beside_others",
        "validates_itself",
    ]
)
UNJUDGED_STREAM = 0x756E  # added to the seed, so that draws here do not depend on those of training


@dataclass(frozen=True, slots=True, eq=False)
class TrainingRun:
    """How a training run is followed: what is called after every step, and where its progress is saved."""

    listeners: Sequence[Listener] = ()
    folder: Path | None = None  # of the checkpoint
    allow_empty: bool = False  # whether a model may come out that learned nothing


class Ranker(BaseEstimator, RankerSettings, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """A ranker: settings in the constructor, `fit` to learn, `predict` for scores, `rank` for the order.

    A new kind of ranker is a dataclass of settings and a subclass of this one that defines how it learns (`_lesson`)
    and the kind of its model (`model_kind`). Fitted attributes end in an underscore, as scikit-learn's users expect:
    `model_` is the trained model, `history_` what was watched (only a trained ranker has it), and `data_digest_` the
    fingerprint of the training data.

    A ranker with the setting `scaling` need do nothing else to scale features: the scaling is fitted on the training
    data, `_lesson` and the model get scaled features, and the model file holds the scaling. If its default depends on
    other settings, the ranker overrides `scaling_name`. A model that scales faster by itself gets features as they are
    (`Model.scales_itself`) and finds the fitted scaling in `scaling_`.
    """

    # scikit-learn's metadata routing passes query ids on without being asked: ranking needs them.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    takes_datasets: ClassVar[bool] = True  # whether `predict` takes a RankingDataset, which other libraries' do not
    needs_qid: ClassVar[bool] = False  # whether a document's score depends on the rest of its list
    trains_beside_others: ClassVar[bool] = True  # whether several can be trained at once by threads of one process
    takes_initial_scores: ClassVar[bool] = False  # whether training can start from scores the caller gives
    takes_document_weights: ClassVar[bool] = True  # whether one document can count more than another
    watches_several: ClassVar[bool] = True  # whether it can watch several sets of validation data
    takes_categories: ClassVar[bool] = False  # whether it can split texts and categories
    takes_positions: ClassVar[bool] = False  # whether it learns from where a click log showed the documents
    chooses_steps: ClassVar[bool] = True  # whether validation data chooses the step; otherwise the last one counts
    validates_itself: ClassVar[bool] = False  # whether it chooses steps without the caller's validation data

    model_: Model
    scaling_: FittedScaling | None = None
    chosen_: Mapping[str, Any] = {}  # what training chose for settings that are None; never changed
    compressed_from_: dict[str, Any] | None = None  # which model a compressed one replaces, and how it was made
    propensity_weights_: PropensityWeights | None = None
    history_: History
    watched_: Mapping[str, list[float]] = MappingProxyType({})  # values of further validation data, step by step
    watched_parts_: Mapping[str, int] = MappingProxyType({})  # their names, and how many queries each has
    data_digest_: str
    seen_queries_: SeenQueries | None = None  # those it was trained on, as far as its file tells
    categories_: Categories | None = None  # of the features that hold codes
    columns_: Columns | None = None  # the frame's columns that `fit` was told by name
    n_features_in_: int

    @property
    @abstractmethod
    def model_kind(self) -> type[Model]:
        """The kind of model that training makes."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "name"):
            cls.__doc__ = complete_docstring(cls, cls.summary)

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
            `query_weight` and `position`.
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
            How likely each row was examined where it was shown, above 0 and at most 1: labels are then clicks, and a
            clicked row counts 1 / propensity, at most 20 times (`rankwright.clicks.propensity_weights`).
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
            "position": position, "preferences": preferences, "initial_scores": initial_scores,
        }  # fmt: skip
        self.columns_, self.watched_parts_, self.watched_ = columns_of(X, y, beside), {}, {}
        require(
            propensity is None or position is None or self._optional("debias", "none") == "none",
            "position and propensity would correct the same bias twice: give one of them, or set debias='none'",
        )
        beside["sample_weight"] = self._weighed(X, y, propensity, sample_weight)
        self.compressed_from_ = None
        run = TrainingRun(listeners, None if checkpoint is None else Path(checkpoint), allow_empty)
        file = as_data_file(X)
        with progress_shown(shows=verbose):
            if file is not None:
                refuse_beside_a_dataset({"y": y} | beside)
                self._learn_from_file(file, valid, run)
            else:
                self._learn_scaled(training_data(self, X, y, beside), valid, run)
        return self

    def _weighed(self, X: Any, y: Any, propensity: Any, sample_weight: Any) -> Any:
        """The weights of rows, times those of inverse propensity if there are propensities."""
        self.propensity_weights_ = None
        if propensity is None:
            return sample_weight
        if isinstance(X, RankingDataset) or y is None or isinstance(y, str):
            raise InputError("propensity goes with rows and y, their clicks; a dataset has document_weights instead")
        named_column("sample_weight", sample_weight)
        self.propensity_weights_ = propensity_weights(y, propensity)
        weights = self.propensity_weights_.weights
        return weights if sample_weight is None else weights * np.asarray(sample_weight, np.float32)

    def predict(self, X: Any, qid: Any = None) -> Any:
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
        data = self._documents(X, qid)
        scores = data.in_source_order(self._scores(self.seen_by_model(data)))
        return like_frame(X, scores, "score") if is_frame(X) else scores

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
        scores: Float64Array = self.predict(data)
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
        data = self._documents(X, qid)
        return rank(self._scores(self.seen_by_model(data)), data.groups)

    def top(self, X: Any, k: int = 10, qid: Any = None) -> Any:
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
        data = self._documents(X, qid)
        found = ranked_columns(data, self._scores(self.seen_by_model(data)), k)
        return frame_of({name: plain_values(found[name]) for name in RANKED})

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

    def check(self) -> None:
        """Raise for the first setting that has a value it cannot have, a metric's name among them."""
        objective = self._optional("objective")
        require(
            not callable(objective) or hasattr(objective, "bind"),
            f"objective must be a name or an Objective, got {objective!r}: rankwright.objectives.from_function makes "
            f"an Objective of a function",
        )
        check_settings(self)
        as_measure(self.selected_metric)

    def warn_if_seen(self, data: RankingDataset, *, stacklevel: int = 2) -> None:
        """Warn where the ranker is about to be measured on queries that it was trained on.

        Parameters
        ----------
        data : RankingDataset
            The documents to measure it on.
        stacklevel : int, default 2
            Which call the warning points at: 1 is that of this method, 2 that of the function it is called in.
        """
        if self.seen_queries_ is None:
            return
        data = aligned(self, data)
        warn_if_seen(self.seen_queries_, data, self.name, threads=self.threads, stacklevel=stacklevel + 2)

    @property
    def n_steps_(self) -> int:
        """How many steps the model was trained for: up to the best one if they were watched."""
        check_trained(self)
        return self.model_.n_steps

    def used_features(self) -> BoolArray:
        """Tell which features the trained model looks at.

        Returns
        -------
        array of bool
            One value per feature; all are True unless the model can tell which.
        """
        check_trained(self)
        return self.model_.used_features(int(self.n_features_in_))

    def facts(self) -> dict[str, Any]:
        """Tell what the trained model is made of.

        Returns
        -------
        dict
            Figures by name, in types JSON can hold; each kind of model has its own.
        """
        check_trained(self)
        return self.model_.facts()

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
        check_trained(self)
        return self.model_.importances(wanted)

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
    ) -> Any:
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
            of these that the model tells.
        background : as X, optional
            Documents whose values features have where they are not known; for forests and weighted sums.
        interactions : bool, default False
            Whether to count also what pairs of features add by acting together; forests only, and not with two
            documents.

        Returns
        -------
        Explanation or PairExplanation
            What each feature adds to each score; with `documents`, by how much it puts one above the other, and the
            smallest change of one feature that swaps them.
        """
        data = self._documents(X, qid)
        others = None if background is None else self._documents(background)
        return explained(
            self.trained(), data, query, documents, cover=cover, background=others, interactions=interactions,
            threads=thread_count(self.threads),
        )  # fmt: skip

    def plot(self, ax: Any = None) -> Any:
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

    def plot_importances(self, kind: str | None = None, *, top: int = 20, ax: Any = None) -> Any:
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
        names = getattr(self, "feature_names_in_", None)
        axes = axes_or_new(ax)
        shown = numbered_names(len(values)) if names is None else [str(name) for name in names]
        draw_importances(axes, shown, values, kind or self.importance_kinds[0], top)
        return axes

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which `rankwright.load` reads back.

        Parameters
        ----------
        path : path
            Where to write it. An existing file is replaced in one step.
        """
        write_container(path, MODEL_KIND, *self.to_state())

    def export(self, path: str | os.PathLike[str], *, to: str, **options: Any) -> Any:
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
        return import_module("rankwright.exchange.exporting").export(self, path, to=to, **options)

    def file_size(self) -> int:
        """Tell how large the model file is.

        Returns
        -------
        int
            Its size in bytes.
        """
        return container_size(MODEL_KIND, *self.to_state())

    def trained(self) -> TrainedRanker:
        """Return the trained ranker as a value without the scikit-learn interface.

        Returns
        -------
        TrainedRanker
            All that the model file holds.
        """
        check_trained(self)
        return TrainedRanker(
            ranker=self.name,
            settings=self.stored_settings(),
            model=self.model_,
            scaling=self.scaling_,
            n_features=int(self.n_features_in_),
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
            history=self.history_,
            training_data=self.data_digest_,
            chosen=self.chosen_,
            compressed_from=self.compressed_from_,
            seen_queries=self.seen_queries_,
            categories=self.categories_,
        )

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the content of the model file.

        Returns
        -------
        (dict, dict of arrays)
            The header and the arrays that `from_state` reads.
        """
        return self.trained().to_state()

    @classmethod
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
        ranker = restored_settings(cls, known(header, "settings"), **given)
        ranker._take(read_trained(header, arrays, ranker.model_kind, ranker, ranker._read_member))
        return ranker

    @classmethod
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
        ranker._take(trained)
        return ranker

    def _take(self, trained: TrainedRanker) -> None:
        """Take over the attributes of a trained ranker."""
        self.n_features_in_ = trained.n_features
        if trained.feature_names:
            self.feature_names_in_ = np.array(trained.feature_names, dtype=object)
        self.model_, self.scaling_, self.history_ = trained.model, trained.scaling, trained.history
        self.data_digest_, self.seen_queries_ = trained.training_data, trained.seen_queries
        self.chosen_, self.categories_ = dict(trained.chosen), trained.categories
        self.compressed_from_ = None if trained.compressed_from is None else dict(trained.compressed_from)

    def _read_member(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TrainedRanker:  # noqa: ARG002
        raise InputError(f"a {self.name} holds no other rankers")

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.needs_qid or (self.scaling_ is not None and self.scaling_.scaling.needs_groups)

    @property
    def width_to_read(self) -> int | None:
        """How many features a file of documents is read with; None where its own number will do."""
        return None if self._optional("any_width") else int(self.n_features_in_)

    @property
    def selected_metric(self) -> str | Callable[..., Any]:
        """The metric that chooses among steps: `select`, or what training aims at."""
        chosen: str | Callable[..., Any] = self._optional("select") or self._optional("metric", "ndcg@10")
        return chosen

    @property
    def scaling_name(self) -> str | None:
        """The name of the scaling to train with, None for none."""
        name = self._optional("scaling")
        return None if name is None else str(name)

    def seen_by_model(self, data: RankingDataset) -> RankingDataset:
        """Return documents as the trained model sees them.

        Parameters
        ----------
        data : RankingDataset
            Documents with the features of the training data.

        Returns
        -------
        RankingDataset
            The same documents, scaled if the ranker scales them and not its model.
        """
        if self.scaling_ is None or self.model_kind.scales_itself:
            return data
        return self.scaling_.apply(data, threads=self.threads)

    def scores_in_place(self, data: RankingDataset) -> Float64Array:
        """Score the rows of a dataset in its own order, query after query.

        Parameters
        ----------
        data : RankingDataset
            Documents with the features of the training data.

        Returns
        -------
        array of float64
            A score for each row of `data.features`.
        """
        return self._scores(self.seen_by_model(data))

    def _optional(self, name: str, default: Any = None) -> Any:
        """The value of a setting that not every kind of ranker has."""
        return getattr(self, name, default)

    def _documents(self, X: Any, qid: Any = None) -> RankingDataset:
        """The documents to score, as they were given."""
        check_trained(self)
        brings_queries = isinstance(X, RankingDataset) or is_frame(X) or as_data_file(X) is not None
        if qid is None and not brings_queries and self.looks_at_queries:
            scales_lists = self.scaling_ is not None and not self.needs_qid
            why = f"scaling {self.scaling_name!r}" if scales_lists else self.name
            raise InputError(f"{why} looks at the documents of a query together: give qid, the query id of each row")
        return scoring_data(self, X, qid)

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self.model_.scores(data, threads=thread_count(self.threads))

    def _with_some_judged(self, data: RankingDataset) -> RankingDataset:
        """The data with the share `unjudged` of its unjudged documents made irrelevant."""
        return call_irrelevant(data, self.unjudged, seed=np.random.default_rng([self.seed, UNJUDGED_STREAM]))

    def _scaling_for(self, data: RankingDataset) -> FittedScaling | None:
        """The scaling to train with: fitted on `data`, or that of the model which a warm start continues."""
        name = self.scaling_name
        chosen = None if name is None else parse_scaling(name)
        if self._optional("warm_start") and self.__sklearn_is_fitted__():
            before = None if self.scaling_ is None else self.scaling_.scaling
            require(chosen == before, f"warm_start goes on with the scaling it began with: {before and before.name}")
            return self.scaling_
        return None if chosen is None else chosen.fit(data, threads=self.threads)

    def _lasting_settings(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of steps may grow."""
        settings = {"kind of ranker": self.name} | self.stored_settings()
        return {name: value for name, value in settings.items() if name not in (self.budget, "warm_start")}

    def _learn_from_file(self, file: DataFile, valid: Any, run: TrainingRun) -> None:
        self._learn_scaled(training_data(self, file.read(), None, {}), valid, run)

    def _learn_scaled(self, data: RankingDataset, valid: Any, run: TrainingRun) -> None:
        watched = validation_data(self, valid)
        self._check_training_data(data)
        order = key_order(data, threads=self.threads)
        data = self._with_some_judged(data.in_key_order(order))
        self._check_lesson(data, run)
        self.seen_queries_ = SeenQueries.of_keys(order.keys)
        if self.scaling_name is not None:
            announce("scaling features")
        self.scaling_ = self._scaling_for(data)
        data = self.seen_by_model(data)
        self._learn(data, None if watched is None else self.seen_by_model(watched), run)

    def _check_training_data(self, data: RankingDataset) -> None:
        """Raise if the data has something that this ranker cannot learn from."""
        if data.initial_scores is not None and not self.takes_initial_scores:
            raise InputError(f"{self.name} cannot start from initial scores: leave them out")
        if not self.takes_document_weights and not _are_equal(data.document_weights):
            raise InputError(
                f"{self.name} measures whole lists, in which a document's weight has no meaning: weigh queries "
                f"(query_weight), or leave document weights out"
            )
        if data.categories and not self.takes_categories:
            names = listed(list(data.categories))
            raise InputError(
                f"{self.name} learns from numbers, and {names} holds texts: leave it out with drop=, turn it into "
                f"numbers, or train trees, which take categories"
            )
        if data.positions is not None and not self.takes_positions:
            raise InputError(
                f"{self.name} does not learn from positions, and was given them: leave position out, or drop that "
                f"column with drop="
            )

    def _check_lesson(self, data: RankingDataset, run: TrainingRun) -> None:
        """Raise if there is nothing in the data to learn from, unless the caller expects that."""
        if not run.allow_empty:
            check_something_to_learn(self.name, data, alone=self._learns_alone())

    def _learns_alone(self) -> bool:
        """Whether it learns from each label by itself; otherwise it needs a query's documents to differ in label."""
        return False

    def _learn(self, data: RankingDataset, valid: RankingDataset | None, run: TrainingRun) -> None:
        self._follow(self._lesson(data, valid), run)
        self.data_digest_ = data_digest(data)

    @abstractmethod
    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        """The lesson that learns from `data`, which is scaled, with some unjudged documents made irrelevant already."""

    def _follow(self, lesson: Lesson, run: TrainingRun) -> None:
        """Drive the learner and keep its model."""
        learned = learn(
            lesson,
            self._loop_plan(lesson.watch is not None),
            chooses=self.chooses_steps,
            smoothing=self._optional("smoothing", 0.0),
            checkpoint=self._checkpoint(lesson, run.folder),
            listeners=[*self._part_listeners, *run.listeners],
        )
        self._part_listeners = ()
        self.model_ = lesson.model(learned)
        self.history_ = learned.history

    def _checkpoint(self, lesson: Lesson, folder: Path | None) -> Checkpoint | None:
        """The checkpoint of a lesson in that folder, if there is one."""
        return None if folder is None else Checkpoint(folder, run_identity(*lesson.digests(), self._lasting_settings()))

    def _loop_plan(self, watched: bool) -> LoopPlan:  # noqa: ARG002
        """How long to train, whether or not something is watched meanwhile."""
        what = f"training {self.name}"
        return LoopPlan(self._n_steps_wanted(), self._optional("early_stopping"), what=what, unit=self._unit())

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
        return self.chosen_.get(name) if value is None else value

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

    def _n_steps_wanted(self) -> int:
        """How many steps to take: one if no setting counts them."""
        return 1 if self.budget is None else int(self.value_of(self.budget))

    def _unit(self) -> str:
        """What a step of this ranker is called: trees, epochs, rounds."""
        budget = self.budget or ""
        return budget.removeprefix("n_") if budget.startswith("n_") or budget == "epochs" else "steps"

    def _watch(self, watched: RankingDataset | None, scores: Any) -> Watch | None:
        """A watch over the selected metric; `scores()` gives the learner's current scores of the watched documents."""
        if watched is None:
            return None
        threads = thread_count(self.threads)
        if not self.watched_parts_:
            return watch_metric(self.selected_metric, watched.labels, watched.groups, scores, threads=threads)
        parts = watch_parts(self.selected_metric, watched, self.watched_parts_, scores, threads=threads)
        first, *others = parts.items()
        self.watched_ = {name: [] for name, _ in others}
        self._part_listeners = tuple(appender(watch.measure, self.watched_[name]) for name, watch in others)
        return first[1]

    _part_listeners: tuple[Listener, ...] = ()  # which measure further validation data after each step

    def __dir__(self) -> list[str]:
        return [name for name in visible(super().__dir__()) if name not in INTERNALS]

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "history_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags


def _are_equal(weights: Float32Array | None) -> bool:
    return weights is None or len(weights) == 0 or bool((weights == weights[0]).all())

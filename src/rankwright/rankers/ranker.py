"""What all rankers share: the scikit-learn face, the order of a list, and the model file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Arrays, BoolArray, Float32Array, Float64Array, named
from rankwright.container.file import container_size, write_container
from rankwright.data.dataset import RankingDataset
from rankwright.data.judged import call_irrelevant
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, UnknownNameError, require
from rankwright.features.scaling import FittedScaling, parse_scaling
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.inputs import judged_data, refuse_beside_a_dataset, scoring_data, training_data, validation_data
from rankwright.ranking.order import Ranking, rank
from rankwright.training.loop import History, Listener
from rankwright.training.spaces import Space

MODEL_KIND = "model"
SCALING_ARRAYS = "scaling."  # what the names of a scaling's arrays begin with in a model file
UNJUDGED_STREAM = 0x756E  # beside the seed: what is drawn here must not follow what training draws from it


class Ranker(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """A ranker: settings in the constructor, `fit` to learn, `predict` for scores, `rank` for the order.

    A ranker of its own kind says how it learns (`_learn`), how it scores (`_scores`), and what its model file holds
    (`_state`, `_restore`). Fitted attributes end in an underscore, as scikit-learn's users expect; `_learn` sets
    `history_`, by which a trained ranker is known, and `data_digest_`, by which its training data is. Two settings
    every kind has: `seed`, and `unjudged`, the share of unjudged documents (label NaN) to train on as irrelevant ones;
    None leaves them out of training.

    A ranker whose constructor takes `scaling`, the name of a way to scale features, need do no more for it: it is
    fitted on the training data, `_learn` and `_scores` are given scaled features, and the model file holds it. One with
    a default that depends on other settings says so in `_scaling_name`; one with a faster way to scale than a scaled
    copy is given features as they are (`scales_itself`) and finds the fitted scaling in `scaling_`.
    """

    # What scikit-learn's metadata routing hands on without being asked: ranking knows no rows without queries.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    name: ClassVar[str]
    needs_qid: ClassVar[bool] = False  # whether a document's score depends on the rest of its list
    scales_itself: ClassVar[bool] = False  # whether `_learn` and `_scores` apply `scaling_` themselves
    trains_beside_others: ClassVar[bool] = True  # whether several can be trained at once by threads of one process
    takes_initial_scores: ClassVar[bool] = False  # whether training can start from scores the caller gives
    takes_document_weights: ClassVar[bool] = True  # whether a document by itself can count more than another
    importance_kinds: ClassVar[tuple[str, ...]] = ()  # what `importances` can be asked for
    space: ClassVar[Space] = {}  # where a search looks for the settings that matter, unless it is told otherwise
    budget: ClassVar[str | None] = None  # the setting that says how many steps to take; a checkpoint can take more
    chooses_steps: ClassVar[bool] = True  # whether validation data chooses among them; else the last is what counts
    validates_itself: ClassVar[bool] = False  # whether steps are chosen without validation data of the caller's
    # Settings that not every ranker has, as they are where there is none.
    seed: int = 0
    unjudged: float | None = None
    scaling: str | None = None
    warm_start: bool = False
    threads: int | None = None
    select: str | None = None
    metric: str = "ndcg@10"
    early_stopping: int | None = None

    scaling_: FittedScaling | None = None
    compressed_from_: dict[str, Any] | None = None  # what a compressed model stands for, and how it was made
    history_: History
    data_digest_: str

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        qid: Any = None,
        group: Any = None,
        sample_weight: Any = None,
        query_weight: Any = None,
        position: Any = None,
        preferences: Preferences | None = None,
        initial_scores: Any = None,
        valid: Any = None,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """This ranker, trained on a `RankingDataset`, on a file, or on rows `X` in any order with labels `y` and `qid`.

        A file is a path, several, or a `DataFile`. `qid` has a query id a row; `group` gives group sizes instead;
        `sample_weight` and `position` have a value a row, `query_weight` one a query. `valid` is a `RankingDataset`, a
        file or `(X, y, qid)`: what early stopping and model choice look at. `initial_scores`, a value a row, are what
        training starts from: the model learns what to add to them, `predict` gives that alone, and `valid` needs its
        own, as `(X, y, qid, initial_scores)`. `listeners` are told after every step. A run that was killed is taken up
        where its `checkpoint` folder left it.
        """
        beside = {
            "qid": qid, "group": group, "sample_weight": sample_weight, "query_weight": query_weight,
            "position": position, "preferences": preferences, "initial_scores": initial_scores,
        }  # fmt: skip
        self.compressed_from_ = None
        file = as_data_file(X)
        if file is not None:
            refuse_beside_a_dataset({"y": y} | beside)
            self._learn_from_file(file, valid, listeners, checkpoint)
        else:
            self._learn_scaled(training_data(self, X, y, **beside), valid, listeners, checkpoint)
        return self

    def _with_some_judged(self, data: RankingDataset) -> RankingDataset:
        """The data with the share `unjudged` of what nobody judged taken as irrelevant."""
        return call_irrelevant(data, self.unjudged, seed=np.random.default_rng([self.seed, UNJUDGED_STREAM]))

    def predict(self, X: Any, qid: Any = None) -> Float64Array:
        """A score for each document, higher is better, in the caller's row order.

        A ranker that looks at a query's documents together, as per-query scalings do, needs `qid`, or a dataset.
        """
        data = self._documents(X, qid)
        return data.in_source_order(self._scores(data))

    def predict_from_start(self, data: RankingDataset) -> Float64Array:
        """The scores of `predict` on top of the data's initial scores, where it has some: what training looked at."""
        scores = self.predict(data)
        return scores if data.initial_scores is None else scores + data.in_source_order(data.initial_scores)

    def rank(self, X: Any, qid: Any = None) -> Ranking:
        """The documents of each query, best first."""
        data = self._documents(X, qid)
        return rank(self._scores(data), data.groups)

    def score(self, X: Any, y: Any = None, *, qid: Any = None, sample_weight: Any = None) -> float:
        """The mean of the metric that `select` names: what scikit-learn's search classes maximise.

        Initial scores of a dataset count, as they do in training; a metric where less is better is negated. With
        `sample_weight`, a query counts as much as its documents do on average.
        """
        check_is_fitted(self)
        data = judged_data(self, X, y, qid, sample_weight)
        measure = parse_metric(self._selected())
        evaluation = evaluate(self.predict_from_start(data), data, [measure], measure.convention, threads=self.threads)
        mean = evaluation[measure.metric.name].mean
        return mean if measure.higher_is_better else -mean

    @property
    def n_steps_(self) -> int:
        """How many steps the trained model has seen: those up to the best one where they were watched.

        Rankers that count no steps learn in one.
        """
        return 1

    def used_features(self) -> BoolArray:
        """Which features the trained model looks at; all of them unless it knows better."""
        check_is_fitted(self)
        return np.ones(self.n_features_in_, np.bool_)

    def facts(self) -> dict[str, Any]:
        """What the trained model is made of, by name, in types JSON can hold; each kind of model has its own."""
        return {}

    def examine(self, X: Any, qid: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """What the trained model does with these documents besides ranking them, where its kind can tell: a name and
        figures in types JSON can hold."""
        return {}

    def importances(self, kind: str | None = None) -> Float64Array:
        """How much each feature matters to the model, by one of `importance_kinds`: the first unless told."""
        kinds = self.importance_kinds
        wanted = kinds[0] if kind is None and kinds else str(kind)
        if wanted not in kinds:
            raise UnknownNameError(f"importance of {self.name}", wanted, known=kinds)
        check_is_fitted(self)
        return self._importances(wanted)

    def _importances(self, kind: str) -> Float64Array:
        raise NotImplementedError  # of rankers without `importance_kinds`

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: read it back with `rankwright.load`."""
        write_container(path, MODEL_KIND, *self.to_state())

    def file_size(self) -> int:
        """How many bytes the model file takes."""
        return container_size(MODEL_KIND, *self.to_state())

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """The header and the arrays of the trained ranker's model file: what `from_state` reads."""
        check_is_fitted(self)
        header, arrays = self._state()
        scaling = self.scaling_
        if scaling is not None:
            arrays |= {SCALING_ARRAYS + name: values for name, values in scaling.learned.items()}
        shared = {
            "ranker": self.name,
            "settings": self._storable_settings(),
            "n_features": int(self.n_features_in_),
            "feature_names": list(getattr(self, "feature_names_in_", ())),
            "scaling": None if scaling is None else scaling.header,
            "history": self.history_.to_dict(),
            "training_data": self.data_digest_,
        }
        if self.compressed_from_ is not None:
            shared["compressed_from"] = self.compressed_from_
        return shared | header, arrays

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **given: Any) -> Self:
        """The ranker that a model file's header and arrays describe; `given` are settings that files do not hold."""
        ranker = cls(**header["settings"], **given)
        ranker.n_features_in_ = header["n_features"]
        if header["feature_names"]:
            ranker.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        learned = named(arrays, SCALING_ARRAYS)
        ranker.scaling_ = None if header["scaling"] is None else FittedScaling.of_parts(header["scaling"], learned)
        ranker.compressed_from_ = header.get("compressed_from")
        ranker.history_ = History.from_dict(header["history"])
        ranker.data_digest_ = str(header["training_data"])
        own = {name: array for name, array in arrays.items() if not name.startswith(SCALING_ARRAYS)}
        ranker._restore(header, own)
        return ranker

    @property
    def looks_at_queries(self) -> bool:
        """Whether a document's score depends on the other documents of its query."""
        return self.needs_qid or (self.scaling_ is not None and self.scaling_.scaling.needs_groups)

    def _documents(self, X: Any, qid: Any = None) -> RankingDataset:
        """The documents to score, as `_scores` wants them."""
        check_is_fitted(self)
        if qid is None and not isinstance(X, RankingDataset) and self.looks_at_queries:
            scales_lists = self.scaling_ is not None and not self.needs_qid
            why = f"scaling {self._scaling_name()!r}" if scales_lists else self.name
            raise InputError(f"{why} looks at the documents of a query together: give qid, the query id of each row")
        return self._scaled(scoring_data(self, X, qid))

    def _scaled(self, data: RankingDataset) -> RankingDataset:
        if self.scaling_ is None or self.scales_itself:
            return data
        return self.scaling_.apply(data, threads=self.threads)

    def _scaling_name(self) -> str | None:
        """The name of the scaling to train with, None for none."""
        return None if self.scaling is None else str(self.scaling)

    def _scaling_for(self, data: RankingDataset) -> FittedScaling | None:
        """The scaling to train with: fitted on `data`, or what a warm start began with."""
        name = self._scaling_name()
        chosen = None if name is None else parse_scaling(name)
        if self.warm_start and self.__sklearn_is_fitted__():
            before = None if self.scaling_ is None else self.scaling_.scaling
            require(chosen == before, f"warm_start goes on with the scaling it began with: {before and before.name}")
            return self.scaling_
        return None if chosen is None else chosen.fit(data, threads=self.threads)

    def _storable_settings(self) -> dict[str, Any]:
        # The number of threads is how, not what: a model file must not depend on it.
        return {name: value for name, value in self.get_params(deep=False).items() if name != "threads"}

    def _lasting_settings(self) -> dict[str, Any]:
        """What must be the same for a checkpoint to be continued; the number of steps may grow."""
        settings = {"kind of ranker": self.name} | self._storable_settings()
        return {name: value for name, value in settings.items() if name not in (self.budget, "warm_start")}

    def _selected(self) -> str:
        """The metric that chooses among steps: `select`, or what training aims at."""
        return str(self.select or self.metric)

    @abstractmethod
    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None: ...

    def _learn_from_file(
        self, file: DataFile, valid: Any, listeners: Sequence[Listener], checkpoint: str | os.PathLike[str] | None
    ) -> None:
        self._learn_scaled(training_data(self, file.read(), None), valid, listeners, checkpoint)

    def _learn_scaled(
        self,
        data: RankingDataset,
        valid: Any,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        watched = validation_data(self, valid)
        if data.initial_scores is not None and not self.takes_initial_scores:
            raise InputError(f"{self.name} cannot start from initial scores: leave them out")
        if not self.takes_document_weights and not _are_equal(data.document_weights):
            raise InputError(
                f"{self.name} measures whole lists, in which a document's weight has no meaning: weigh queries "
                f"(query_weight), or leave document weights out"
            )
        self.scaling_ = self._scaling_for(data)
        data = self._with_some_judged(data)
        self._learn(self._scaled(data), None if watched is None else self._scaled(watched), listeners, checkpoint)

    @abstractmethod
    def _scores(self, data: RankingDataset) -> Float64Array: ...

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], Arrays]: ...

    @abstractmethod
    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None: ...

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

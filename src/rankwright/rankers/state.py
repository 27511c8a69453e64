"""What a ranker has before and after training, whatever it is asked to do: settings, fitted attributes, what it is
able to do."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from sklearn.base import BaseEstimator
from sklearn.utils import Tags

from rankwright.clicks.weights import PropensityWeights
from rankwright.data.categories import Categories
from rankwright.data.columns import Columns
from rankwright.data.dataset import RankingDataset
from rankwright.data.tabular import visible
from rankwright.errors import require
from rankwright.features.scaling import FittedScaling
from rankwright.metrics.metric_table import as_measure
from rankwright.rankers.inputs import (
    check_trained,
)
from rankwright.rankers.model import Model
from rankwright.rankers.routing import PlainRequest
from rankwright.rankers.seen import SeenQueries
from rankwright.settings.setting import check_settings
from rankwright.settings.shared import RankerSettings
from rankwright.training.loop import History

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


class RankerState(BaseEstimator, RankerSettings, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """The settings of a ranker, what training leaves behind, and what scikit-learn asks of an estimator."""

    # scikit-learn's metadata routing passes query ids on without being asked: ranking needs them.
    __metadata_request__fit: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__predict: ClassVar[dict[str, bool]] = {"qid": True}
    __metadata_request__score: ClassVar[dict[str, bool]] = {"qid": True}

    takes_datasets: ClassVar[bool] = True  # whether `predict` takes a RankingDataset, which other libraries' do not
    needs_qid: ClassVar[bool] = False  # whether a document's score depends on the rest of its list
    trains_beside_others: ClassVar[bool] = True  # whether several can be trained at once by threads of one process
    takes_initial_scores: ClassVar[bool] = False  # whether training can start from scores the caller gives
    takes_document_weights: ClassVar[bool] = True  # whether one document can count more than another
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

    @property
    def n_steps_(self) -> int:
        """How many steps the model was trained for: up to the best one if they were watched."""
        check_trained(self)
        return self.model_.n_steps

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

    def _optional(self, name: str, default: Any = None) -> Any:
        """The value of a setting that not every kind of ranker has."""
        return getattr(self, name, default)

    def get_metadata_routing(self) -> PlainRequest:
        """Tell scikit-learn which metadata goes to which method.

        Returns
        -------
        MetadataRequest
            The requests, `qid` among them.
        """
        return PlainRequest.of(super().get_metadata_routing())

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

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

from rankwright.arrays import Float64Array
from rankwright.container.file import write_container
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.data.unjudged import judge_some
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.door import scoring_data, training_data, validation_data
from rankwright.ranking.order import Ranking, rank
from rankwright.training.loop import Listener

MODEL_KIND = "model"
UNJUDGED_STREAM = 0x756E  # beside the seed: what is drawn here must not follow what training draws from it


class Ranker(BaseEstimator, ABC):  # type: ignore[misc]  # scikit-learn ships no types
    """A ranker: settings in the constructor, `fit` to learn, `predict` for scores, `rank` for the order.

    A ranker of its own kind says how it learns (`_learn`), how it scores (`_scores`), and what its model file holds
    (`_state`, `_restore`). Fitted attributes end in an underscore, as scikit-learn's users expect. Two settings every
    kind has: `seed`, and `unjudged`, the share of unjudged documents (label NaN) to train on as irrelevant ones; None
    leaves them out of training.
    """

    name: ClassVar[str]
    needs_qid: ClassVar[bool] = False  # whether a document's score depends on the rest of its list

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
        valid: Any = None,
        listeners: Sequence[Listener] = (),
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> Self:
        """This ranker, trained on a `RankingDataset`, or on rows `X` in any order with labels `y` and query ids `qid`.

        `group` gives group sizes instead of `qid`; `sample_weight` and `position` have a value a row, `query_weight`
        one a query. `valid` is a `RankingDataset` or `(X, y, qid)`: what early stopping and model choice look at.
        `listeners` are told after every step. A run that was killed is taken up where its `checkpoint` folder left it.
        """
        data = training_data(
            self, X, y, qid=qid, group=group, sample_weight=sample_weight, query_weight=query_weight,
            position=position, preferences=preferences,
        )  # fmt: skip
        self._learn(self._with_some_judged(data), validation_data(self, valid), listeners, checkpoint)
        return self

    def _with_some_judged(self, data: RankingDataset) -> RankingDataset:
        """The data with the share `unjudged` of what nobody judged taken as irrelevant."""
        return judge_some(data, self.unjudged, seed=np.random.default_rng([self.seed, UNJUDGED_STREAM]))

    def predict(self, X: Any, qid: Any = None) -> Float64Array:
        """A score for each document, higher is better, in the caller's row order."""
        check_is_fitted(self)
        data = scoring_data(self, X, qid)
        return data.in_source_order(self._scores(data))

    def rank(self, X: Any, qid: Any = None) -> Ranking:
        """The documents of each query, best first."""
        check_is_fitted(self)
        data = scoring_data(self, X, qid)
        return rank(self._scores(data), data.groups)

    def score(self, X: Any, y: Any = None, *, qid: Any = None) -> float:
        """The mean of the metric that `select` names: what scikit-learn's search classes maximise."""
        data = X if isinstance(X, RankingDataset) else training_data(self, X, y, qid=qid)
        measure = parse_metric(self._selected())
        mean = evaluate(data.in_source_order(self._scores(data)), data, [measure], measure.convention)[
            measure.metric.name
        ].mean
        return mean if measure.higher_is_better else -mean

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file: read it back with `rankwright.load`."""
        check_is_fitted(self)
        header, arrays = self._state()
        shared = {
            "ranker": self.name,
            "settings": self._storable_settings(),
            "n_features": int(self.n_features_in_),
            "feature_names": list(getattr(self, "feature_names_in_", ())),
        }
        write_container(path, MODEL_KIND, shared | header, arrays)

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **given: Any) -> Self:
        """The ranker that a model file's header and arrays describe; `given` are settings that files do not hold."""
        ranker = cls(**header["settings"], **given)
        ranker.n_features_in_ = header["n_features"]
        if header["feature_names"]:
            ranker.feature_names_in_ = np.array(header["feature_names"], dtype=object)
        ranker._restore(header, arrays)
        return ranker

    def _storable_settings(self) -> dict[str, Any]:
        # The number of threads is how, not what: a model file must not depend on it.
        return {name: value for name, value in self.get_params(deep=False).items() if name != "threads"}

    @abstractmethod
    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None: ...

    @abstractmethod
    def _scores(self, data: RankingDataset) -> Float64Array: ...

    @abstractmethod
    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]: ...

    @abstractmethod
    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None: ...

    @abstractmethod
    def _selected(self) -> str: ...

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

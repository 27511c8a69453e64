"""What all rankers share: the scikit-learn interface, the order of a list, and the model file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from rankwright.arrays import thread_count
from rankwright.cluster.engine import Engine
from rankwright.rankers.describing import DescribedRanker
from rankwright.rankers.explaining import explained
from rankwright.rankers.keeping import KeptRanker
from rankwright.rankers.learning import LearningRanker
from rankwright.rankers.scoring import ScoringRanker
from rankwright.settings.docs import complete_docstring


class Ranker(LearningRanker, ScoringRanker, DescribedRanker, KeptRanker):
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

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if hasattr(cls, "name"):
            cls.__doc__ = complete_docstring(cls, cls.summary)

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
        data = self._documents(X, qid, asks_for_lists=True)
        others = None if background is None else self._documents(background)
        return explained(
            self.trained(), data, query, documents, cover=cover, background=others, interactions=interactions,
            threads=thread_count(self.threads),
        )  # fmt: skip


class TrainedByWorkers(Ranker):
    """A ranker that trains in this process, or by the workers of the engine given to `on`."""

    _engine: Any = None

    def on(self, engine: Engine | None) -> Self:
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

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        assert isinstance(state, dict)
        return {name: value for name, value in state.items() if name != "_engine"}

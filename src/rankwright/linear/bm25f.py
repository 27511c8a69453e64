"""BM25F as a ranker: one feature of texts, whose weights were tuned on judged queries."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from rankwright.errors import InputError
from rankwright.linear.bm25f_settings import NAME, BM25FScorerSettings
from rankwright.linear.model import ArraysModel, LinearScorer
from rankwright.rankers.known_features import KnownFeatures
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.trained import TrainedRanker
from rankwright.text.features import origin_of
from rankwright.text.index.reading import Index
from rankwright.text.specification import FeatureLine, FeatureSpecification
from rankwright.training.loop import History


class BM25FScorer(Ranker, BM25FScorerSettings):  # noqa: D101  # from its settings
    model_kind = ArraysModel

    def fit(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse: its weights are searched for, not trained."""
        raise InputError(
            "bm25f is tuned on texts, not trained on features: rankwright.tuning.tune_bm25f, or `rankwright tune`"
        )

    def facts(self) -> dict[str, Any]:
        """Tell the weights of the fields, and the other settings."""
        origin = self.trained_.features.origin
        line = {} if origin is None else origin.specification.lines[0].to_dict()
        return super().facts() | {name: value for name, value in line.items() if name != "family"}


def bm25f_scorer(index: Index, line: FeatureLine, training_data: str = "") -> BM25FScorer:
    """The ranker that scores documents by this line of BM25F.

    Parameters
    ----------
    index : Index
        The index whose fields the line names.
    line : FeatureLine
        A line of the family bm25f.
    training_data : str, default ""
        A fingerprint of the data that the line was tuned on.

    Returns
    -------
    BM25FScorer
        A ranker that can be saved, compared and searched with, as others can.
    """
    if line.family != NAME:
        raise InputError(f"a scorer is made of a line of the family bm25f, got {line.family}")
    specification = FeatureSpecification([line])
    scorer = BM25FScorer()
    weights = np.ones(1)
    trained = TrainedRanker(
        ranker=scorer.name,
        settings=scorer.stored_settings(),
        model=ArraysModel(LinearScorer(weights), {"weights": weights}, 1, 1),
        scaling=None,
        features=KnownFeatures(1, specification.names, None, origin_of(index, specification, {})),
        history=History(),
        training_data=training_data,
    )
    return BM25FScorer.of_trained(trained)

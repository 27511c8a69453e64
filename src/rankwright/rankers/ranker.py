"""What all rankers share: the scikit-learn interface, the order of a list, and the model file."""

from __future__ import annotations

from typing import Any

from rankwright.rankers.describing import DescribedRanker
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

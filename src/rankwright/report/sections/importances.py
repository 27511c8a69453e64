"""What the models look at: the features that matter most to each."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import RankwrightError
from rankwright.explanations.explanation import label_of
from rankwright.rankers.importance import CONTRIBUTION, FeatureImportance, feature_importance
from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import Block, Chart, Section
from rankwright.report.specs.bars import named_bars
from rankwright.report.specs.look import Spec

SHOWN = 15
MOST_DOCUMENTS = 1000  # that contributions are counted on, where there are more


def importances_section(rankers: Mapping[str, Ranker], data: RankingDataset | None) -> Section | None:
    """A chart for each ranker that can tell; None where none can."""
    blocks: list[Block] = []
    for name, ranker in rankers.items():
        found = _importance(ranker, None if data is None else _some(data))
        if found is not None and np.count_nonzero(found.values):
            spec = importance_chart(found) | {"title": name}
            blocks.append(Chart(spec, f"{found.meaning}. The lines are 95 % intervals."))
    if not blocks:
        return None
    lead = (
        "The features that matter most. What they add is counted exactly, less its mean over each query: "
        "what all documents have in common moves none."
    )
    return Section("importances", "What the models look at", lead, tuple(blocks))


def importance_chart(found: FeatureImportance, top: int = SHOWN) -> Spec:
    """The most important features as bars."""
    chosen = [feature for feature in found.ordered()[:top].tolist() if found.values[feature] != 0]
    has_ends = not np.isnan(found.low[chosen]).any()
    rows = [
        {"name": label_of(found.features[feature]), "value": float(found.values[feature])}
        | ({"low": float(found.low[feature]), "high": float(found.high[feature])} if has_ends else {})
        for feature in chosen
    ]
    return named_bars(rows, found.kind, f"The {len(rows)} most important features by {found.kind}.")


def _importance(ranker: Ranker, data: RankingDataset | None) -> FeatureImportance | None:
    """How much features matter by contribution, or by what the model alone tells; None where neither can be had."""
    kinds = ([] if data is None else [CONTRIBUTION]) + list(ranker.importance_kinds[:1])
    for kind in kinds:
        try:
            return feature_importance(ranker, data, kind)
        except RankwrightError:
            continue
    return None


def _some(data: RankingDataset) -> RankingDataset:
    """Queries spread evenly over the data, about as many as have so many documents."""
    if data.n_docs <= MOST_DOCUMENTS:
        return data
    n = max(1, data.n_queries * MOST_DOCUMENTS // data.n_docs)
    return data.take_queries(np.unique(np.linspace(0, data.n_queries - 1, n).astype(np.int64)))

"""The page of any result that there is a page of."""

from __future__ import annotations

from typing import Any

from rankwright.compression.curve import Compressed
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputTypeError, require, require_type
from rankwright.explanations.ablation import Ablation
from rankwright.explanations.dependence import Dependence
from rankwright.explanations.explanation import Explanation, PairExplanation
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.metrics.evaluation import Evaluation
from rankwright.rankers.importance import FeatureImportance
from rankwright.rankers.ranker import Ranker
from rankwright.report.page.document import Page
from rankwright.report.pages.compression import page_of_compressed
from rankwright.report.pages.explanation import page_of_explanation
from rankwright.report.pages.measured import measured_ranker, page_of_comparison, page_of_measured, page_of_ranker
from rankwright.report.pages.searches import page_of_tuned
from rankwright.report.sections.subject import Measured, Origin
from rankwright.tuning.tuner import Tuned

EXPLAINS = (Explanation, PairExplanation, FeatureImportance, Dependence, Ablation)


def page_of(results: Any, data: Any = None) -> Page:
    """The page; `data` are the documents that a ranker is to be measured on."""
    origin = Origin()
    if isinstance(results, Ranker):
        return _of_ranker(results, data, origin)
    require(data is None, "data goes with a ranker: other results know what they were measured on")
    if isinstance(results, SystemComparison):
        return page_of_comparison(results, origin)
    if isinstance(results, Evaluation):
        return page_of_measured(Measured({"scores": results}), origin, title="Evaluation")
    if isinstance(results, Tuned):
        return page_of_tuned(results, origin)
    if isinstance(results, Compressed):
        return page_of_compressed(results, origin)
    if isinstance(results, EXPLAINS):
        return page_of_explanation(results, None, None, origin)
    raise InputTypeError(
        f"a report is about a comparison, an evaluation, a trained ranker, a search, a compression or an explanation, "
        f"got {type(results).__name__}"
    )


def _of_ranker(ranker: Ranker, data: Any, origin: Origin) -> Page:
    if data is None:
        return page_of_ranker(ranker.name, ranker, origin)
    require_type(data, RankingDataset, "data", "a RankingDataset")
    ranker.warn_if_seen(data, stacklevel=4)
    measured = measured_ranker(ranker.name, ranker, data, threads=ranker.threads)
    return page_of_measured(measured, origin, title=f"{ranker.name}, measured")

"""Judgments: who said what of a document, how far raters agree, and one label out of many."""

# ruff: noqa: F401
# mypy: implicit-reexport

import inspect

from rankwright.judgments.choosing.judging_plan import DifferenceEstimate, JudgingPlan, plan_comparison
from rankwright.judgments.choosing.training_plan import training_order
from rankwright.judgments.click_judgments import joined_judgments, judgments_of_clicks
from rankwright.judgments.combining.combined_labels import METHODS, CombinedLabels, combine
from rankwright.judgments.files.gathering import gather
from rankwright.judgments.files.judgment_files import read_judgments, write_judgments
from rankwright.judgments.judgment_store import JudgmentStore
from rankwright.judgments.judgment_summary import JudgmentSummary, RaterSummary, summarise_judgments
from rankwright.judgments.judgment_table import KINDS, Judgment, Judgments
from rankwright.judgments.prediction_powered import (
    PoweredEstimate,
    PoweredEvaluation,
    powered_evaluation,
    powered_mean,
)

__all__ = sorted(name for name, value in globals().items() if not name.startswith("_") and not inspect.ismodule(value))

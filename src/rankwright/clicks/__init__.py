"""Clicks: logs, preferences, click models, simulated clicks, and estimates of what another ranker would get."""

# ruff: noqa: F401
# mypy: implicit-reexport

import inspect

from rankwright.clicks.estimates import NoSupportError, OfflineEstimate, estimate, expected_clicks
from rankwright.clicks.interleaving import (
    Interleaved,
    InterleavingResult,
    interleaving_result,
    sequential_p_value,
    team_draft,
    team_draft_propensities,
)
from rankwright.clicks.joint_examination import PositionBasedClicks
from rankwright.clicks.log_summary import LogSummary, summarise_log
from rankwright.clicks.logs.click_log import ClickLog
from rankwright.clicks.logs.log_files import LogFile, read_log, write_log
from rankwright.clicks.models.click_model import ClickEvaluation, ClickModel, RelevanceEstimates
from rankwright.clicks.models.named_models import CLICK_MODELS, click_model, load_click_model
from rankwright.clicks.preferences import ClickData, click_rates, with_preferences
from rankwright.clicks.propensities import from_interventions, from_randomised
from rankwright.clicks.simulation import EXAMINATION, USERS, click_chances, simulate
from rankwright.clicks.votes import (
    RULES,
    PairVotes,
    count_votes,
    last_click,
    next_skipped,
    skip_above,
    skip_above_and_next,
)
from rankwright.clicks.weights import PropensityWeights, propensity_weights

__all__ = sorted(name for name, value in globals().items() if not name.startswith("_") and not inspect.ismodule(value))

"""Clicks: logs, preferences, click models, simulated clicks, and estimates of what another ranker would get."""

from rankwright.clicks.estimates import NoSupportError, OfflineEstimate, estimate, expected_clicks
from rankwright.clicks.interleaving import Interleaved, InterleavingResult, interleaving_result, team_draft
from rankwright.clicks.joint import PositionBasedClicks
from rankwright.clicks.logs.log import ClickLog
from rankwright.clicks.logs.reading import LogFile, read_log
from rankwright.clicks.logs.writing import write_log
from rankwright.clicks.models.model import ClickModel
from rankwright.clicks.models.registry import CLICK_MODELS, click_model, load_click_model
from rankwright.clicks.models.results import ClickEvaluation, RelevanceEstimates
from rankwright.clicks.preferences import ClickData, click_rates, with_preferences
from rankwright.clicks.propensities import from_interventions, from_randomised
from rankwright.clicks.rules import last_click, next_skipped, skip_above, skip_above_and_next
from rankwright.clicks.simulation import EXAMINATION, USERS, click_chances, simulate
from rankwright.clicks.summary import LogSummary, summarise_log
from rankwright.clicks.votes import RULES, PairVotes, count_votes
from rankwright.clicks.weights import PropensityWeights, propensity_weights

__all__ = [
    "CLICK_MODELS",
    "EXAMINATION",
    "RULES",
    "USERS",
    "ClickData",
    "ClickEvaluation",
    "ClickLog",
    "ClickModel",
    "Interleaved",
    "InterleavingResult",
    "LogFile",
    "LogSummary",
    "NoSupportError",
    "OfflineEstimate",
    "PairVotes",
    "PositionBasedClicks",
    "PropensityWeights",
    "RelevanceEstimates",
    "click_chances",
    "click_model",
    "click_rates",
    "count_votes",
    "estimate",
    "expected_clicks",
    "from_interventions",
    "from_randomised",
    "interleaving_result",
    "last_click",
    "load_click_model",
    "next_skipped",
    "propensity_weights",
    "read_log",
    "simulate",
    "skip_above",
    "skip_above_and_next",
    "summarise_log",
    "team_draft",
    "with_preferences",
    "write_log",
]

"""Clicks: logs, preferences, click models, simulated clicks, and estimates of what another ranker would get."""

from rankwright.clicks.logs.log import ClickLog
from rankwright.clicks.logs.reading import LogFile, read_log
from rankwright.clicks.models.model import ClickEvaluation, ClickModel, RelevanceEstimates
from rankwright.clicks.models.registry import CLICK_MODELS, click_model, load_click_model
from rankwright.clicks.preferences import ClickData, click_rates, with_preferences
from rankwright.clicks.votes import PairVotes, count_votes, last_click, next_skipped, skip_above, skip_above_and_next

__all__ = [
    "ClickLog",
    "LogFile",
    "PairVotes",
    "count_votes",
    "last_click",
    "next_skipped",
    "read_log",
    "skip_above",
    "skip_above_and_next",
]

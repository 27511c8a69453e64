"""Target probabilities of pairs: how they combine, which of them can hold together, and the nearest that can."""

from rankwright.targets.consistency import ConsistentFit, fit_consistent, is_consistent
from rankwright.targets.posteriors import (
    chain_posterior,
    chain_posteriors,
    combine,
    log_odds,
    logistic,
    posterior_at_distance,
    preferences_from_votes,
)

__all__ = [
    "ConsistentFit",
    "chain_posterior",
    "chain_posteriors",
    "combine",
    "fit_consistent",
    "is_consistent",
    "log_odds",
    "logistic",
    "posterior_at_distance",
    "preferences_from_votes",
]

"""Untrained copies of the ranker to bag."""

from __future__ import annotations

from typing import Any, TypeVar

from sklearn.base import clone

from rankwright.rankers.ranker import Ranker
from rankwright.trees.debiased import DebiasedRanker

AnyRanker = TypeVar("AnyRanker", bound=Ranker)


def copy_of(ranker: AnyRanker, **changes: Any) -> AnyRanker:
    """An untrained copy with these settings changed; settings that the ranker lacks are ignored."""
    copy: AnyRanker = clone(ranker)
    known = copy.get_params(deep=False)
    copy.set_params(**{name: value for name, value in changes.items() if name in known})
    if isinstance(ranker, DebiasedRanker) and isinstance(copy, DebiasedRanker):
        copy._weighs_positions, copy._has_clicks = ranker._weighs_positions, ranker._has_clicks
    return copy

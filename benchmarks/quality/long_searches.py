"""How 0.2.0 looked for the shape and the length of a forest: what the present search is compared with.

Each shape was grown in every fold until the last half of its trees, and at least 100, had brought nothing better, and
the best of both was taken; each bag looked for its own length. The rest is the same code, so that differences come from
the search alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from unittest.mock import patch

from rankwright.bagging import bag_training
from rankwright.mart import length_search, recipe
from rankwright.trees import sizing

MOST_TREES = sizing.SMALL.most_trees
PATIENCE, LASTING = 100, 0.5
LEAD_FOR_BAGS = 0.02
MOST_BAGS = 10**6


@contextmanager
def long_searches() -> Iterator[None]:
    """Rankers that are trained meanwhile search as those of 0.2.0 did."""
    changes = {
        "PATIENCE": PATIENCE,
        "LASTING": LASTING,
        "LEAST_GAIN": 0.0,
        "TREES_IN_ALL_FOLDS": MOST_TREES,
        "LEADS_FOR_BAGS": {MOST_TREES: LEAD_FOR_BAGS},
        "RATE_IN_BAGS": sizing.SMALL.learning_rate,
    }
    with ExitStack() as stack:
        for name, value in changes.items():
            stack.enter_context(patch.object(sizing, name, value))
        stack.enter_context(patch.object(sizing, "FAST_SYMMETRIC", None))  # only little data had a choice
        stack.enter_context(patch.object(recipe, "leader_of", _leader_of))
        stack.enter_context(patch.object(bag_training, "N_THAT_SEARCH", MOST_BAGS))
        yield


def _leader_of(
    candidates: list[length_search.UnseenForests], n_trees: int = MOST_TREES, lead: float = 0.0
) -> length_search.UnseenForests:
    return length_search.leader_of(candidates, n_trees, lead)

"""How a tree may grow."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import Literal, get_args

from rankwright.errors import require

SplitGain = Literal["newton", "least-squares"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeParams:
    """The settings of one tree.

    `split_gain` says what a split is worth: `newton` takes what the two Newton steps take off the cost,
    gradient² / (curvature + l2) of each side; `least-squares` what they take off the squared error of a fit to the
    gradients, gradient² / count. Leaf values are Newton steps, −gradient / (curvature + l2), times `learning_rate`.
    """

    max_leaves: int = 31
    max_depth: int | None = None  # splits between the root and a leaf; None = as many as leaves allow
    min_docs_in_leaf: int = 20
    min_curvature_in_leaf: float = 1e-3
    l2: float = 0.0
    min_gain: float = 0.0  # a split must gain more than this
    split_gain: SplitGain = "newton"
    learning_rate: float = 0.1
    # A category's mean gradient, by which categories are ordered, is drawn to 0 as by this many average documents.
    category_smoothing: float = 10.0
    max_split_categories: int = 32  # on the side of a split that has fewer categories

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, float):
                require(isfinite(value) and value >= 0, f"{field.name} must be finite and 0 or more, got {value}")
        require(2 <= self.max_leaves <= MAX_LEAVES, f"max_leaves must be 2 to {MAX_LEAVES}, got {self.max_leaves}")
        require(
            self.max_depth is None or self.max_depth >= 1, f"max_depth must be None or 1 or more, got {self.max_depth}"
        )
        require(self.min_docs_in_leaf >= 1, f"min_docs_in_leaf must be 1 or more, got {self.min_docs_in_leaf}")
        require(self.learning_rate > 0, f"learning_rate must be above 0, got {self.learning_rate}")
        require(
            self.split_gain in get_args(SplitGain),
            f"split_gain must be one of {', '.join(get_args(SplitGain))}, got {self.split_gain!r}",
        )
        require(
            self.max_split_categories >= 1, f"max_split_categories must be 1 or more, got {self.max_split_categories}"
        )


MAX_LEAVES = 2**24

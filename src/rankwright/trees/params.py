"""How a tree may grow."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import isfinite
from typing import get_args

from rankwright.errors import require
from rankwright.kernels.records import Growth as Growth
from rankwright.kernels.records import SplitGain as SplitGain
from rankwright.kernels.records import TreeSettings

MAX_LEAVES = 2**16  # of a tree: scoring numbers leaves in two bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeParams(TreeSettings):
    """The settings of one tree, checked."""

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
        require(
            0 < self.split_feature_fraction <= 1,
            f"split_feature_fraction must lie above 0 and be at most 1, got {self.split_feature_fraction}",
        )
        require(self.learning_rate > 0, f"learning_rate must be above 0, got {self.learning_rate}")
        for name, known in (("split_gain", SplitGain), ("growth", Growth)):
            value, choices = getattr(self, name), get_args(known)
            require(value in choices, f"{name} must be one of {', '.join(choices)}, got {value!r}")
        require(
            self.max_split_categories >= 1, f"max_split_categories must be 1 or more, got {self.max_split_categories}"
        )

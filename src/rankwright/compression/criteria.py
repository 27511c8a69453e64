"""How compressed models are measured, and which of them is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rankwright.errors import SettingError, require

DEFAULT_MAX_LOSS = 0.002
DEFAULT_MARGIN = 1.0  # standard errors


@dataclass(frozen=True, slots=True)
class Point:
    """A model on the curve: how large and how fast it is, and how good on queries it was not fitted to."""

    means: str  # how it was made; "none" is the given model
    trees: int | None  # None: it is a net
    nodes: int | None
    weights: int | None  # of a net
    bytes: int  # of the model file
    microseconds: float  # to score a document, with one thread
    valid: float  # the metric on the validation part
    test: float  # the metric on the test part, which no choice uses
    loss: float  # by how much it is worse than the given model on the validation part, in units of the metric
    loss_error: float = 0.0  # the standard error of the loss, over queries

    def to_dict(self) -> dict[str, Any]:
        """The point as it is written to JSON and CSV."""
        return asdict(self)

    def cells(self) -> list[str]:
        """The point as a row of a table that people read."""
        return [
            self.means,
            *("-" if count is None else f"{count:,}" for count in (self.trees, self.bytes)),
            f"{self.microseconds:.2f}",
            f"{self.valid:.4f}",
            f"{self.loss:+.4f} ± {self.loss_error:.4f}",
            f"{self.test:.4f}",
        ]


@dataclass(frozen=True, slots=True)
class Goal:
    """How good or how small a model must be; only one of the three is given. Without any, the loss may be 0.002.

    With `max_loss`, the smallest file is taken whose loss on the validation part plus `margin` standard errors is at
    most `max_loss`: where queries are few, a model must be safer. With a target, the model taken is the best one on the
    validation part within the target.
    """

    max_loss: float | None = None
    target_trees: int | None = None
    target_bytes: int | None = None
    margin: float = DEFAULT_MARGIN

    def __post_init__(self) -> None:
        given = [value for value in (self.max_loss, self.target_trees, self.target_bytes) if value is not None]
        require(len(given) <= 1, "max_loss, target_trees and target_bytes are three goals: give one")
        if not given:
            object.__setattr__(self, "max_loss", DEFAULT_MAX_LOSS)
        require(self.max_loss is None or self.max_loss >= 0, f"max_loss must be 0 or more, got {self.max_loss}")
        require(self.margin >= 0, f"margin must be 0 or more, got {self.margin}")
        for name in ("target_trees", "target_bytes"):
            value = getattr(self, name)
            require(value is None or value >= 1, f"{name} must be 1 or more, got {value}")

    def allows(self, point: Point) -> bool:
        """Whether the model is as small, or as good, as the goal asks."""
        if self.max_loss is not None:
            return point.loss + self.margin * point.loss_error <= self.max_loss
        if self.target_trees is not None:
            return point.trees is not None and point.trees <= self.target_trees
        return self.target_bytes is not None and point.bytes <= self.target_bytes

    def is_reached(self, point: Point) -> bool:
        """Whether models larger than this one need not be tried."""
        if self.max_loss is not None:
            return self.allows(point)
        if self.target_trees is not None:
            return point.trees is not None and point.trees >= self.target_trees
        return self.target_bytes is not None and point.bytes >= self.target_bytes

    def chosen(self, points: Sequence[Point]) -> int:
        """The index of the model to take; among equals the first."""
        allowed = [place for place, point in enumerate(points) if self.allows(point)]
        if not allowed:
            raise SettingError(f"{self.name} cannot be met: {self._nearest(points)}")
        if self.max_loss is not None:
            return min(allowed, key=lambda place: points[place].bytes)
        return min(allowed, key=lambda place: (points[place].loss, points[place].bytes))

    @property
    def name(self) -> str:
        """The goal in words."""
        if self.max_loss is not None:
            return f"a loss of at most {self.max_loss:g}"
        return f"at most {self.target_trees} trees" if self.target_bytes is None else f"{self.target_bytes} bytes"

    def _nearest(self, points: Sequence[Point]) -> str:
        if self.target_trees is not None:
            fewest = min(point.trees for point in points if point.trees is not None)
            return f"the smallest model found has {fewest} trees"
        return f"the smallest model found takes {min(point.bytes for point in points)} bytes"

"""Losses of a pair of documents, as functions of the gap x between their scores.

Each has a φ(x), the loss of a pair whose first document should rank above its second. Where that holds only with
probability P̄, the loss is P̄ φ(x) + (1 - P̄) φ(-x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

from rankwright.errors import require


class PairLoss(Protocol):
    """A loss of a pair that the kernel knows by name, and the number that shapes it."""

    @property
    def name(self) -> str:
        """The name in the kernel and in the names of objectives."""

    @property
    def shape(self) -> float:
        """The steepness σ, or the margin."""

    @property
    def kinks(self) -> tuple[float, ...]:
        """The gaps at which the slope of φ is not smooth."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """RankNet's cross entropy (Burges et al. 2005, Eq. 3), φ(x) = log(1 + e^(-σx)): smooth and convex.

    Parameters
    ----------
    sigma : float, default 1.0
        The steepness σ, above 0. Larger values let go of a pair at a smaller gap.
    """

    name: ClassVar[str] = "logistic"
    sigma: float = 1.0

    def __post_init__(self) -> None:
        require(0 < self.sigma < float("inf"), f"sigma must be above 0 and finite, got {self.sigma}")

    @property
    def shape(self) -> float:
        """The steepness σ."""
        return self.sigma

    @property
    def kinks(self) -> tuple[float, ...]:
        """None: the slope is smooth."""
        return ()


@dataclass(frozen=True, slots=True)
class MarginLoss:
    """What losses that push a pair apart up to a margin share."""

    margin: float = 1.0

    def __post_init__(self) -> None:
        require(0 <= self.margin < float("inf"), f"margin must be 0 or more and finite, got {self.margin}")

    @property
    def shape(self) -> float:
        """The margin."""
        return self.margin


@dataclass(frozen=True, slots=True)
class Hinge(MarginLoss):
    """The loss of ranking support vector machines, φ(x) = max(0, margin - x): convex, with a kink.

    Where it slopes, its curvature counts 1, not the true 0, so that Newton steps exist.

    Parameters
    ----------
    margin : float, default 1.0
        The gap up to which a pair is pushed apart, 0 or more.
    """

    name: ClassVar[str] = "hinge"

    @property
    def kinks(self) -> tuple[float, ...]:
        """The margin, where the slope ends."""
        return (self.margin,)


@dataclass(frozen=True, slots=True)
class Spring(MarginLoss):
    """Burges's own λ (2005, Eq. 4-9): a constant push while the pair stands wrong, then a spring up to the margin.

    The push jumps at 0 unless the margin is 1, and the cost is convex only for margins up to 1. Where the push is
    constant, the curvature counts 1, not the true 0, so that Newton steps exist.

    Parameters
    ----------
    margin : float, default 1.0
        The gap δ up to which the spring pushes, 0 or more.
    """

    name: ClassVar[str] = "spring"

    @property
    def kinks(self) -> tuple[float, ...]:
        """0, where the push gives way to the spring, and the margin, where the spring goes slack."""
        return (0.0, self.margin)

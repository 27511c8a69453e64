"""What was found about position bias in clicks: a value that model files hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.container.checks import read_field, read_number, read_number_list, read_optional_field

FIGURES = ("fading", "better_than_position", "better_than_features", "trust", "effective_size")


class PositionRatios(NamedTuple):
    """How much more likely clicks, and their absence, are recorded at each position than at the first.

    Attributes
    ----------
    clicked : array of float64
        t⁺ of each position.
    other : array of float64
        t⁻ of each position.
    """

    clicked: Float64Array
    other: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Debiasing:
    """What was found about position bias in clicks, and what was done about it.

    Attributes
    ----------
    applied : bool
        Whether the bias was corrected.
    reason : str
        Why, or why not, in a sentence.
    examination : array of float64
        How likely each position is examined, relative to the first, where nothing was clicked above; empty where
        propensities were given.
    fading : float
        The share of the attention that a click above takes away, or one that satisfies: 0 in the position-based model,
        1 in the cascade model.
    held_out : dict from str to float
        The log-likelihood of held-out clicks of a document by its position alone, by its features alone, and by both.
    better_than_position, better_than_features : float
        By how many standard errors position and features together predict held-out clicks better than either alone.
    trust : float
        How far a document's own clicks count, on average, compared with what its features tell: from 0 to 1.
    effective_size : float
        How many documents with equal weights would tell as much as the examined ones: (Σ w)² / Σ w² of inverse
        examinations.
    ratios : PositionRatios or None
        How much each position counts, where documents were weighed during training (`debias="pairwise"`).
    """

    applied: bool
    reason: str
    examination: Float64Array
    fading: float
    held_out: Mapping[str, float]
    better_than_position: float
    better_than_features: float
    trust: float
    effective_size: float
    ratios: PositionRatios | None = None

    def to_dict(self) -> dict[str, Any]:
        """Give all of it in types that JSON can hold.

        Returns
        -------
        dict
            What `from_dict` reads.
        """
        ratios = self.ratios and {"clicked": self.ratios.clicked.tolist(), "other": self.ratios.other.tolist()}
        return {
            "applied": self.applied,
            "reason": self.reason,
            "examination": self.examination.tolist(),
            "held_out": dict(self.held_out),
            "ratios": ratios,
        } | {name: float(getattr(self, name)) for name in FIGURES}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> Debiasing:
        """Read what a file holds.

        Parameters
        ----------
        stored : mapping
            What `to_dict` gave.

        Returns
        -------
        Debiasing
            The same.
        """
        held_out, ratios = read_field(stored, "held_out", dict), read_optional_field(stored, "ratios", dict)
        curves = None if ratios is None else [np.array(read_number_list(ratios, name)) for name in ("clicked", "other")]
        return cls(
            applied=read_field(stored, "applied", bool),
            reason=read_field(stored, "reason", str),
            examination=np.array(read_number_list(stored, "examination")),
            held_out={name: read_number(held_out, name) for name in held_out},
            ratios=None if curves is None else PositionRatios(*curves),
            **{name: read_number(stored, name) for name in FIGURES},
        )

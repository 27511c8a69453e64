"""What an export of a ranker wrote, and what came of running it; `exchange` makes them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from rankwright.tables.text import counted


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of running a target.

    Attributes
    ----------
    by : str
        What computed the scores: a library with its version, or `by rule, not run`.
    documents : int
        How many documents were scored.
    left_out : int
        How many were not, because they are beyond the target's limits.
    wrong_leaves : int or None
        How many documents reached another leaf in some tree; None where there are no trees.
    beyond_bound : int
        How many scores lie further from ours than rounding allows.
    largest_difference, bound : float
        The largest difference of a score from ours, and the most that rounding allows any of them.
    swapped : int
        How many pairs of neighbours in our order the target has the other way round: closer than rounding tells apart.
    """

    by: str
    documents: int
    left_out: int
    wrong_leaves: int | None
    beyond_bound: int
    largest_difference: float
    bound: float
    swapped: int

    @property
    def passed(self) -> bool:
        """Whether every document is scored as we do."""
        return not self.wrong_leaves and self.beyond_bound == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the verdict as a dictionary for JSON.

        Returns
        -------
        dict
            Its attributes by name, and `passed`.
        """
        return {"passed": self.passed} | asdict(self)

    def __str__(self) -> str:
        leaves = "" if self.wrong_leaves is None else f"{self.wrong_leaves} in a wrong leaf, "
        documents = counted(self.documents, "document")
        return (
            f"{'ok' if self.passed else 'FAILED'} ({self.by}): {documents}, {leaves}largest difference "
            f"{self.largest_difference:.3g}, bound {self.bound:.3g}"
        )


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote, and what is known about it.

    Attributes
    ----------
    target : str
        The name of the target.
    files : tuple of str
        The files written, the model first.
    notes : tuple of str
        What is good to know about the file.
    limits : tuple of str
        Documents that the target cannot score as we do.
    lift : float
        What was added to every score.
    offset : float
        What is to be added to our scores to get those of the target.
    bound : float
        The most that rounding lets a score of the sample differ by.
    verdicts : tuple of Verdict
        What came of running the target; empty unless that was asked for.
    absent : tuple of str
        Which programs that could run the target are not installed.
    """

    target: str
    files: tuple[str, ...]
    notes: tuple[str, ...]
    limits: tuple[str, ...]
    lift: float
    offset: float
    bound: float
    verdicts: tuple[Verdict, ...] = ()
    absent: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dictionary for JSON.

        Returns
        -------
        dict
            The attributes by name, verdicts as dictionaries.
        """
        return asdict(self) | {"verdicts": [verdict.to_dict() for verdict in self.verdicts]}

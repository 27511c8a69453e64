"""Diagnoses of λ-functions: does a cost exist, and is it convex (Burges 2005, section 3)?

A cost exists where the Jacobian of the gradient is symmetric (Eq. 11) and where closed paths integrate to 0 even across
rank changes, at which forces jump. It is convex where the Jacobian is positive semidefinite and no jump goes down.
Burges (2005) sets λ = -∂C/∂s (Eq. 2-3) and then asks for a semidefinite Jacobian of λ. That holds for the gradient,
-λ, so the gradient is looked at here.

Points are drawn at random: a fault that is found is real, and the more points show none, the surer it is that there is
none. Closed paths are rectangles: one document moves, then a second, then the first back, then the second back. They
suffice, because a potential can be made by moving one document after another, and it depends on the order of the moves
only where the integral around a rectangle is not 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require, require_input, require_type
from rankwright.objectives.families import objective_of
from rankwright.objectives.force_field import ForceField
from rankwright.objectives.objective import Objective, finite_scores

NEGLIGIBLE = 1e-6  # as a share of the largest force and slope: far above rounding, far below what matters
MOST_PASSED = 8  # documents that a move passes by, so that paths in long lists stay short
SEARCH_ROUNDS, SEARCH_TRIES = 8, 8  # for the lowest eigenvalue, around the lowest found


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """The worst case that was found.

    Attributes
    ----------
    size : float
        How large it is.
    documents : tuple of int
        The documents that show it.
    scores : numpy.ndarray
        The scores at which they show it.
    """

    size: float
    documents: tuple[int, ...]
    scores: Float64Array

    def as_dict(self) -> dict[str, Any]:
        """Return the finding as numbers and lists, for JSON."""
        return asdict(self) | {"documents": list(self.documents), "scores": self.scores.tolist()}


@dataclass(frozen=True, slots=True, eq=False)
class Loop(Finding):
    """A closed path: from `scores`, the two `documents` move by `moves`, and back, one after another.

    `size` is the integral of the gradient along it, `passed` how many documents the moves pass.
    """

    moves: tuple[float, float]
    passed: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Diagnosis:
    """What was found about an objective's forces on a query.

    `diagnose` makes it.

    Attributes
    ----------
    has_cost, is_convex : bool
        Whether the forces are the derivatives of a cost, and whether that cost is convex.
    has_symmetric_jacobian, is_semidefinite : bool
        Whether the Jacobian is symmetric, and positive semidefinite, between rank changes.
    objective : str
        The name of the objective.
    field : ForceField
        The forces as a function of the scores.
    n_points : int
        At how many points the Jacobian was looked at.
    asymmetry : Finding
        The largest |J_ij - J_ji| between rank changes.
    loop : Loop
        The closed path with the largest integral.
    lowest_eigenvalue : Finding
        The lowest eigenvalue of the Jacobian's symmetric part.
    sideways_jump : Finding
        The largest jump of another document's force where two documents change ranks. If it is not 0, no cost exists.
    downward_jump : Finding
        The largest fall of the gradient between two documents that change ranks. If it is not 0, no cost is convex, and
        no α helps.
    alpha : float or None
        The smallest α found for which adding α·s_i to the gradient makes the Jacobian semidefinite; None where none
        does.
    cost_error : float or None
        By how much the cost recovered by integration misses the objective's own; None where one of the two is absent.
    negligible : float
        The size up to which a finding counts as rounding.
    """

    objective: str
    field: ForceField
    n_points: int
    asymmetry: Finding
    loop: Loop
    lowest_eigenvalue: Finding
    sideways_jump: Finding
    downward_jump: Finding
    alpha: float | None
    cost_error: float | None
    negligible: float

    def __repr__(self) -> str:
        verdicts = ", ".join(f"{name}={getattr(self, name)}" for name in ("has_cost", "is_convex", "n_points"))
        return f"Diagnosis({self.objective!r}, {verdicts})"

    @property
    def has_symmetric_jacobian(self) -> bool:
        """Whether the Jacobian is symmetric (Eq. 11) wherever it was looked at."""
        return self.asymmetry.size <= self.negligible

    @property
    def has_cost(self) -> bool:
        """Whether a cost exists: the Jacobian is symmetric, and no path and no rank change speaks against a cost."""
        loop, jump = abs(self.loop.size), self.sideways_jump.size
        return self.has_symmetric_jacobian and max(loop, jump) <= self.negligible

    @property
    def is_semidefinite(self) -> bool:
        """Whether the Jacobian is positive semidefinite between rank changes."""
        return self.lowest_eigenvalue.size >= -self.negligible

    @property
    def is_convex(self) -> bool:
        """Whether a cost exists and is convex."""
        return self.has_cost and self.is_semidefinite and self.downward_jump.size <= self.negligible

    def as_dict(self) -> dict[str, Any]:
        """Return the diagnosis as numbers, texts and lists, as `rankwright inspect --objective --json` prints it.

        Returns
        -------
        dict
            The verdicts and the findings by name.
        """
        verdicts = ("has_symmetric_jacobian", "has_cost", "is_semidefinite", "is_convex")
        findings = ("asymmetry", "loop", "lowest_eigenvalue", "sideways_jump", "downward_jump")
        return (
            {"objective": self.objective, "documents": self.field.n_docs, "points": self.n_points}
            | {name: getattr(self, name) for name in verdicts}
            | {name: getattr(self, name).as_dict() for name in findings}
            | {"alpha": self.alpha, "cost_error": self.cost_error, "negligible": self.negligible}
        )

    def potential(self, scores: ArrayLike) -> float:
        """Return the cost at some scores less the cost where all scores are 0, recovered by integration.

        Parameters
        ----------
        scores : array-like of shape (n_docs,)
            One finite score for each document of the query.

        Returns
        -------
        float
            The difference of the costs. Where no cost exists, an `InputError` is raised.
        """
        if not self.has_cost:
            raise InputError(f"{self.objective} has no potential: its forces are the derivatives of no cost")
        return self.field.work_from_zero(finite_scores(scores, length=self.field.n_docs))


def diagnose(
    objective: Objective | str | Callable[..., Any],
    query: ArrayLike | RankingDataset,
    scores: ArrayLike | None = None,
    *,
    points: int = 32,
    loops: int = 64,
    documents: int = 60,
    spread: float = 1.0,
    kinks: Sequence[float] = (),
    seed: int = 0,
) -> Diagnosis:
    """Find out whether an objective's forces are the derivatives of a cost, and whether the cost is convex.

    Parameters
    ----------
    objective : Objective, str or function
        The objective, or its name, such as `"lambdarank:ndcg@10:letor"`, or a λ-function as `from_function` takes it.
    query : array-like or RankingDataset
        The labels of the documents, or a dataset of one query with its weights and preferences; 2 documents or more.
    scores : array-like, optional
        The scores around which points are drawn; 0 by default.
    points : int, default 32
        At how many points the Jacobian is looked at, 1 or more. More find rarer faults.
    loops : int, default 64
        How many closed paths are integrated, 1 or more.
    documents : int, default 60
        How many documents move at most, 1 or more; in longer lists a sample moves and the others stand still.
    spread : float, default 1.0
        The standard deviation of the points around `scores`, above 0.
    kinks : sequence of float, optional
        The gaps between two scores at which a λ-function of your own bends or jumps, so that paths are cut there.
        Rank changes and the margins of pair losses are known.
    seed : int, default 0
        The seed of the points and paths.

    Returns
    -------
    Diagnosis
        The verdicts `has_cost` and `is_convex`, and the worst case found of each fault.

    Examples
    --------
    >>> import rankwright as rw
    >>> found = rw.diagnose("ranknet", [1, 0, 1, 0, 0])
    >>> found.has_cost, found.is_convex
    (True, True)
    """
    wanted = "a name, an Objective as rankwright.objectives makes them, or a λ-function"
    require_type(objective, (str, Objective, Callable), "objective", wanted)  # type: ignore[arg-type]
    for name, value in (("points", points), ("loops", loops), ("documents", documents)):
        require(value >= 1, f"{name} must be 1 or more, got {value}")
    require(0 < spread < np.inf, f"spread must be above 0 and finite, got {spread}")
    chosen = objective_of(objective)
    field = ForceField.of(chosen, query, kinks)
    require_input(field.n_docs >= 2, f"a query of {field.n_docs} documents has nothing to rank; give one of 2 or more")
    rng = np.random.default_rng(seed)
    centre = np.zeros(field.n_docs) if scores is None else finite_scores(scores, length=field.n_docs)
    cloud = centre + spread * rng.normal(size=(points, field.n_docs))
    moving = np.sort(rng.choice(field.n_docs, size=min(documents, field.n_docs), replace=False))
    return _examine(chosen.name, _Probe(field, cloud, moving, spread, rng), loops)


@dataclass(frozen=True, slots=True, eq=False)
class _Probe:
    """Where forces are looked at: at which points, at which documents, and how far around."""

    field: ForceField
    cloud: Float64Array  # the scores of each point
    moving: IntArray
    spread: float
    rng: np.random.Generator


def _examine(name: str, probe: _Probe, loops: int) -> Diagnosis:
    field, cloud = probe.field, probe.cloud
    jacobians = np.stack([field.jacobian(scores, probe.moving) for scores in cloud])
    forces = field.gradient(cloud)
    asymmetry = _asymmetry(probe, jacobians)
    lowest = _lowest_eigenvalue(probe, jacobians)
    points = cloud[np.arange(loops) % len(cloud)]
    pairs = [(scores, *probe.rng.choice(probe.moving, size=2, replace=False).tolist()) for scores in points]
    sideways, downward = _jumps(field, pairs)
    loop = max((_loop(probe, *pair) for pair in pairs), key=lambda found: abs(found.size))
    negligible = NEGLIGIBLE * float(max(np.abs(forces).max(), np.abs(jacobians).max()))
    found = Diagnosis(name, field, len(cloud), asymmetry, loop, lowest, sideways, downward, None, None, negligible)
    # A jump down is a slope that no α makes up for.
    alpha = None if downward.size > negligible else 0.0 if found.is_semidefinite else -lowest.size
    return replace(found, alpha=alpha, cost_error=_cost_error(found, cloud) if found.has_cost else None)


def _asymmetry(probe: _Probe, jacobians: Float64Array) -> Finding:
    differences = np.abs(jacobians - jacobians.transpose(0, 2, 1))
    point, i, j = np.unravel_index(int(differences.argmax()), differences.shape)
    documents = int(probe.moving[i]), int(probe.moving[j])
    return Finding(float(differences[point, i, j]), documents, probe.cloud[point])


def _lowest_eigenvalue(probe: _Probe, jacobians: Float64Array) -> Finding:
    """The lowest eigenvalue at the points and, if it is below 0, at points ever nearer to where it was found."""
    lowest = np.array([_eigenvalue(jacobian) for jacobian in jacobians])
    worst = int(lowest.argmin())
    size, scores, spread = float(lowest[worst]), probe.cloud[worst], probe.spread
    if size < -NEGLIGIBLE * np.abs(jacobians).max():
        for _ in range(SEARCH_ROUNDS):
            spread /= 2
            for nearby in scores + spread * probe.rng.normal(size=(SEARCH_TRIES, len(scores))):
                found = _eigenvalue(probe.field.jacobian(nearby, probe.moving))
                size, scores = (found, nearby) if found < size else (size, scores)
    return Finding(size, (), scores)


def _eigenvalue(jacobian: Float64Array) -> float:
    return float(np.linalg.eigvalsh((jacobian + jacobian.T) / 2)[0])


def _jumps(field: ForceField, pairs: list[tuple[Float64Array, int, int]]) -> tuple[Finding, Finding]:
    """The largest jump of a force that is not the pair's own, and the largest fall of the pair's own."""
    sideways = downward = Finding(0.0, (), pairs[0][0])
    for scores, a, b in pairs:
        jump = field.jump(scores, a, b)
        between = float(jump[a] - jump[b]) / 2
        jump[[a, b]] -= [between, -between]
        meeting = scores.copy()
        meeting[a] = scores[b]
        if np.abs(jump).max() > sideways.size:
            sideways = Finding(float(np.abs(jump).max()), (a, b), meeting)
        if -between > downward.size:
            downward = Finding(-between, (a, b), meeting)
    return sideways, downward


def _loop(probe: _Probe, scores: Float64Array, a: int, b: int) -> Loop:
    corner = scores.copy()
    work, passed = 0.0, 0
    targets = [_target(probe, scores, document) for document in (a, b)]
    for document, target in ((a, targets[0]), (b, targets[1]), (a, float(scores[a])), (b, float(scores[b]))):
        low, high = sorted((float(corner[document]), target))
        passed += int(((corner > low) & (corner < high)).sum())
        work += probe.field.work_of_move(corner, document, target)
        corner[document] = target
    return Loop(work, (a, b), scores, (targets[0] - float(scores[a]), targets[1] - float(scores[b])), passed)


def _target(probe: _Probe, scores: Float64Array, document: int) -> float:
    """A score to which `document` can move, past no more than a few others."""
    others = np.sort(np.delete(scores, document))
    place = int(np.searchsorted(others, scores[document]))
    reached = int(np.clip(place + probe.rng.integers(-MOST_PASSED, MOST_PASSED + 1), 0, len(others)))
    low = others[reached - 1] if reached > 0 else others[0] - probe.spread
    high = others[reached] if reached < len(others) else others[-1] + probe.spread
    return float(probe.rng.uniform(low, high))


def _cost_error(found: Diagnosis, cloud: Float64Array) -> float | None:
    own = found.field.cost(np.concatenate([np.zeros((1, cloud.shape[1])), cloud]))
    if np.isnan(own).any():
        return None
    recovered = np.array([found.field.work_from_zero(scores) for scores in cloud])
    return float(np.abs(recovered - (own[1:] - own[0])).max())

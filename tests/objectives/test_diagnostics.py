"""Burges 2005, section 3: which λ-functions have a cost, and which of those are convex."""

from __future__ import annotations

import json
from itertools import combinations
from math import exp, log, log2

import numpy as np
import pytest
from numpy.testing import assert_allclose

import rankwright as rw
from rankwright.data.preferences import Preferences
from rankwright.errors import InputError, SettingError
from rankwright.objectives import (
    OBJECTIVES,
    Objective,
    PairwiseObjective,
    delta_named,
    from_function,
    objective_named,
    paper_lambdarank,
    ranknet,
    spring,
)
from rankwright.objectives.diagnostics import Diagnosis, diagnose
from rankwright.objectives.force_field import ForceField, integral

LABELS = [2, 1, 0, 0, 1]


def quick(objective: Objective | str, query=LABELS, **settings) -> Diagnosis:
    return diagnose(objective, query, **({"points": 5, "loops": 8} | settings))


def around(field: ForceField, scores, first: tuple[int, float], second: tuple[int, float]) -> float:
    """The integral around the rectangle on which the two documents move to the given places and back."""
    (a, a_target), (b, b_target) = first, second
    corner, work = np.array(scores, dtype=float), 0.0
    for document, target in ((a, a_target), (b, b_target), (a, scores[a]), (b, scores[b])):
        work += field.work_of_move(corner, document, target)
        corner[document] = target
    return work


# NDCG's λ


def test_a_closed_path_of_ndcgs_force_by_hand():
    """A, relevant, stands at 0; B above it goes from 1 to 1.4, C comes from below A to above it, B and C go back.

    With C above it A is third, not second, and B's swap with A counts 1 - 1/log2(4), not 1 - 1/log2(3).
    """
    field = ForceField.of(paper_lambdarank("ndcg"), [1, 0, 0])
    worth_before, worth_after = 1 - 1 / log2(3), 1 - 1 / log2(4)
    push = log(1 + exp(1.4)) - log(1 + exp(1.0))  # the integral of the logistic force between A and B
    found = around(field, [0.0, 1.0, -1.0], (1, 1.4), (2, 0.5))
    assert found == pytest.approx((worth_before - worth_after) * push, abs=1e-9)
    assert abs(found) == pytest.approx(0.04, abs=0.001)


def test_ndcgs_force_has_a_symmetric_jacobian_and_no_cost():
    found = quick(paper_lambdarank("ndcg"))
    assert found.has_symmetric_jacobian
    assert found.is_semidefinite
    assert not found.has_cost
    assert not found.is_convex
    assert abs(found.loop.size) > 0.04
    assert found.loop.passed > 0
    assert found.sideways_jump.size > 0.01
    with pytest.raises(InputError, match="lambdarank:ndcg has no potential"):
        found.potential(np.zeros(5))


def test_the_worst_that_is_told_can_be_seen_again():
    objective = PairwiseObjective(
        delta=delta_named("ndcg@3"), query_norm=True
    )  # scaled by query: its Jacobian is not symmetric
    found = quick(objective)
    field = ForceField.of(objective, LABELS)
    assert not found.has_symmetric_jacobian
    i, j = found.asymmetry.documents
    jacobian = field.jacobian(found.asymmetry.scores, np.arange(5))
    assert abs(jacobian[i, j] - jacobian[j, i]) == pytest.approx(found.asymmetry.size)
    (a, b), moves, scores = found.loop.documents, found.loop.moves, found.loop.scores
    again = around(field, scores, (a, scores[a] + moves[0]), (b, scores[b] + moves[1]))
    assert again == pytest.approx(found.loop.size)
    lowest = field.jacobian(found.lowest_eigenvalue.scores, np.arange(5))
    assert np.linalg.eigvalsh((lowest + lowest.T) / 2)[0] == pytest.approx(found.lowest_eigenvalue.size)


# Costs


def test_ranknets_cost_passes_everything():
    found = quick(ranknet())
    assert repr(found) == f"Diagnosis('ranknet', has_cost=True, is_convex=True, n_points={found.n_points})"
    assert found.has_symmetric_jacobian
    assert found.has_cost
    assert found.is_semidefinite
    assert found.is_convex
    assert found.alpha == 0.0
    scores = np.array([0.3, -1.0, 2.0, 0.1, 0.4])
    cost = sum(
        log(1 + exp(scores[b] - scores[a])) - log(2)
        for a, b in ((0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (4, 2), (4, 3))
    )
    assert found.potential(scores) == pytest.approx(cost)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_an_objective_that_gives_a_cost_has_that_cost(name):
    found = quick(objective_named(name), points=3, loops=4)
    gives_one = np.isfinite(found.field.cost(np.zeros((1, 5)))).all()
    assert gives_one == found.has_cost
    assert (found.cost_error is not None) == gives_one
    assert found.cost_error is None or found.cost_error < found.negligible


@pytest.mark.parametrize("margin", [0.5, 1.0, 2.0])
def test_the_spring_is_convex_up_to_a_margin_of_one_and_jumps_unless_it_is_one(margin):
    found = quick(spring(margin=margin))
    assert found.has_cost
    assert found.is_semidefinite  # between rank changes, whatever the margin
    assert found.is_convex == (margin <= 1)
    assert found.alpha == (0.0 if margin <= 1 else None)
    scores = np.array([0.3, 0.3, 1.0, 5.0, -5.0])  # where the first overtakes the second, the push of 1 becomes δ
    jump = ForceField.of(spring(margin=margin), LABELS).jump(scores, 0, 1)
    assert_allclose(jump, [1 - margin, margin - 1, 0, 0, 0], atol=1e-8)
    assert found.downward_jump.size == pytest.approx(max(0.0, margin - 1), abs=1e-8)


def test_the_springs_cost_is_recovered():
    """Equations 7 to 9, from the forces alone; the cost at equal scores is 0."""
    for margin in (0.5, 1.0, 2.0):
        found = quick(spring(margin=margin), [1, 0])
        for x in (-2.0, 0.25, 0.75, 3.0):
            cost = -x if x < 0 else x**2 / 2 - margin * x if x <= margin else -(margin**2) / 2
            assert found.potential([x, 0.0]) == pytest.approx(cost, abs=1e-9)


def test_preferences_and_weights_are_part_of_a_query():
    pairs = Preferences([0, 1, 2], [1, 2, 0], [0.9, 0.8, 0.7], [1, 2, 3])  # round in a circle
    data = rw.RankingDataset.from_arrays(
        np.zeros((3, 1)), group=[3], preferences=pairs, document_weights=[1.0, 0.5, 2.0], query_weights=[3.0]
    )
    assert quick(ranknet(), data).is_convex


# λ-functions of the user's own


def test_a_rotation_has_no_cost():
    def rotate(scores, _labels):
        return np.roll(scores, 1) - np.roll(scores, -1)

    found = quick(from_function(rotate), [0, 1, 2])
    assert found.asymmetry.size == pytest.approx(2.0)
    assert not found.has_cost
    # Stokes: around a rectangle, the difference of the two slopes times its area.
    assert abs(found.loop.size) == pytest.approx(2.0 * abs(np.prod(found.loop.moves)))


def test_the_smallest_alpha_makes_the_jacobian_definite():
    def hill(scores, _labels):
        return -3.0 * np.sin(scores)

    found = quick(from_function(hill), [0, 0, 1])
    assert found.has_cost
    assert not found.is_semidefinite
    alpha = found.alpha
    assert alpha == pytest.approx(3.0, abs=1e-3)
    assert alpha is not None
    assert quick(from_function(lambda s, _: hill(s, _) + alpha * s), [0, 0, 1]).is_convex
    assert not quick(from_function(lambda s, _: hill(s, _) + 0.9 * alpha * s), [0, 0, 1]).is_semidefinite
    assert found.potential([1.0, 0.0, 0.0]) == pytest.approx(3 * np.cos(1.0) - 3)


def test_kinks_of_ones_own_can_be_named():
    def stairs(scores, _labels):
        gap = scores[0] - scores[1]
        push = -1.0 if gap < 0.7 else 0.0
        return np.array([push, -push])

    found = quick(from_function(stairs), [1, 0], kinks=[0.7])
    assert found.is_convex
    assert found.potential([2.0, 0.0]) == pytest.approx(-0.7)


# The laws of the parts


def test_the_jacobian_of_squared_error_is_one():
    field = ForceField.of(objective_named("squared-error"), LABELS)
    assert_allclose(field.jacobian(np.arange(5.0), np.array([1, 3])), np.eye(2), atol=1e-8)


def test_ranknets_jacobian_is_the_laplacian_of_its_pairs():
    scores = np.array([0.5, -0.2, 1.1, 0.0, 0.3])
    wanted = np.zeros((5, 5))
    for a, b in combinations(range(5), 2):
        if LABELS[a] != LABELS[b]:
            chance = 1 / (1 + exp(scores[a] - scores[b]))
            side = np.eye(5)[a] - np.eye(5)[b]
            wanted += chance * (1 - chance) * np.outer(side, side)
    assert_allclose(ForceField.of(ranknet(), LABELS).jacobian(scores, np.arange(5)), wanted, atol=1e-8)


def test_integrals_by_hand():
    assert integral(np.exp, np.array([0.0, 1.0])) == pytest.approx(exp(1) - 1, abs=1e-9)
    assert integral(lambda x: np.abs(x - 0.3), np.array([0.0, 1.0])) == pytest.approx((0.3**2 + 0.7**2) / 2, abs=1e-9)
    assert integral(lambda x: (x > 0.999).astype(float), np.array([0.0, 1.0])) == pytest.approx(0.001, abs=1e-9)


def test_long_lists_are_looked_at_by_a_sample_of_their_documents():
    labels = np.arange(40) % 3
    found = quick(PairwiseObjective(delta=delta_named("ndcg@10")), labels, documents=6, loops=2, points=2)
    assert found.has_symmetric_jacobian
    assert found.asymmetry.scores.shape == (40,)


def test_the_same_seed_finds_the_same():
    one, two, three = (quick("softmax", seed=seed, points=2, loops=2).as_dict() for seed in (1, 1, 2))
    assert json.dumps(one, allow_nan=False) == json.dumps(two)
    assert one["loop"] != three["loop"]


@pytest.mark.parametrize(
    ("arguments", "settings", "problem"),
    [
        (([1],), {}, "1 documents has nothing to rank"),
        (([0, 1],), {"scores": [0.0]}, "must have 2 values"),
        (([0, 1],), {"points": 0}, "points must be 1 or more"),
        (([0, 1],), {"spread": 0.0}, "spread must be above 0"),
    ],
)
def test_questions_that_make_no_sense(arguments, settings, problem):
    with pytest.raises((InputError, SettingError), match=problem):
        diagnose(ranknet(), *arguments, **settings)


def test_one_query_at_a_time(small_data):
    with pytest.raises(InputError, match="one query at a time, but the dataset has 40"):
        diagnose(ranknet(), small_data)

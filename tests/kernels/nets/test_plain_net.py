"""Kernels of plain nets: equal to their twins but for rounding, and in bits for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwright.kernels import reference
from rankwright.kernels.records import LayeredNet, StandardisedRows, StepRule

_core = pytest.importorskip("rankwright.kernels._core")
SHAPES = [(0, 3), (1, 1), (5, 16), (300, 17), (700, 40)]
HIDDEN = [(), (1,), (4,), (7, 3), (16,), (33, 18), (130, 70)]


def case(shape: tuple[int, int], hidden: tuple[int, ...], **changes: Any) -> tuple[LayeredNet, StandardisedRows, Any]:
    """A net, features with some values missing and how they are scaled, and rows of them in any order."""
    (n_rows, n_features), rng = shape, np.random.default_rng(0)
    features = rng.normal(3, 2, size=(max(1, n_rows), n_features)).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    shift, factor = rng.normal(size=n_features).astype(np.float32), rng.random(n_features).astype(np.float32)
    widths = np.array([n_features, *hidden, 1])
    weights = rng.normal(0, 0.3, int((widths[:-1] * widths[1:]).sum() + widths[1:].sum())).astype(np.float32)
    net = LayeredNet(widths, weights, True, "tanh", 0.0)._replace(**changes)
    return net, StandardisedRows(features, shift, factor), rng.integers(0, len(features), size=n_rows)


def scores_of(module: Any, *given: Any, threads: int = 1, **changes: Any) -> np.ndarray:
    net, inputs, rows = case(*given, **changes)
    scores = np.full(len(rows), -7.0)
    module.net_scores(net, inputs, rows, 2**63 + 5, scores, threads)
    return scores


def gradient_of(module: Any, *given: Any, threads: int = 1, **changes: Any) -> np.ndarray:
    net, inputs, rows = case(*given, **changes)
    forces = np.random.default_rng(1).normal(size=len(rows)).astype(np.float32)
    gradient = np.full(net.weights.shape, -7, np.float32)
    module.net_gradient(net, inputs, rows, 2**63 + 5, forces, gradient, threads)
    return gradient


@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_nets_are_the_twins_but_for_rounding(shape, hidden):
    assert scores_of(_core, shape, hidden) == pytest.approx(scores_of(reference, shape, hidden), abs=1e-4)
    assert gradient_of(_core, shape, hidden) == pytest.approx(gradient_of(reference, shape, hidden), abs=2e-3)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "gelu"])
def test_activations_and_dropout_are_the_twins(activation, dropout):
    given, changes = ((300, 17), (20, 6)), {"activation": activation, "dropout": dropout}
    assert scores_of(_core, *given, **changes) == pytest.approx(scores_of(reference, *given, **changes), abs=1e-4)
    assert gradient_of(_core, *given, **changes) == pytest.approx(gradient_of(reference, *given, **changes), abs=2e-3)


@pytest.mark.parametrize("hidden", [(), (6,), (50, 20)], ids=str)
@pytest.mark.parametrize("threads", [2, 7])
def test_threads_do_not_change_a_bit(threads, hidden):
    given = ((3000, 37), hidden)
    assert np.array_equal(scores_of(_core, *given), scores_of(_core, *given, threads=threads))
    assert np.array_equal(gradient_of(_core, *given), gradient_of(_core, *given, threads=threads))


def test_a_score_does_not_depend_on_the_rows_beside_it():
    net, inputs, rows = case((200, 21), (20, 6))
    together, alone = scores_of(_core, (200, 21), (20, 6)), np.empty(1)
    for k in (0, 1, 63, 64, 199):
        _core.net_scores(net, inputs, rows[k : k + 1], 2**63 + 5, alone, 1)
        assert alone[0] == together[k]


def test_what_is_not_a_number_is_not_hidden():
    net, inputs, rows = case((5, 16), (20,), activation="relu")
    net.weights[3] = np.nan
    scores = np.zeros(5)
    _core.net_scores(net, inputs, rows, 0, scores, 1)
    assert np.isnan(scores).all()


@pytest.mark.parametrize("n_steps", [0, 1, 500])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
def test_a_step_is_the_twins(optimizer, n_steps):
    found = {}
    for module in (_core, reference):
        rng = np.random.default_rng(3)
        weights, gradient, mean = (rng.normal(size=50).astype(np.float32) for _ in range(3))
        square = rng.random(50).astype(np.float32)
        rule = StepRule(optimizer, 0.01, 0.1, 0.2, mean, square, n_steps)
        module.follow_gradient(rule, gradient, weights)
        found[module] = np.concatenate([weights, mean, square])
    assert found[_core] == pytest.approx(found[reference], rel=1e-4, abs=1e-6)

"""The comparator net: its shared weights and its outputs."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.comparators.net import ComparatorNet, n_weights, random_net
from rankwright.errors import InputError, SettingError

SHAPES = [(1,), (10,), (20, 7), (5, 4, 3)]


def pairs_of(features, seed=0, n=200):
    return np.random.default_rng(seed).integers(0, len(features), (2, n))


@pytest.mark.parametrize("hidden", SHAPES)
@pytest.mark.parametrize("seed", range(3))
def test_what_wins_one_way_loses_the_other_to_the_bit(hidden, seed):
    rng = np.random.default_rng(seed)
    net, features = random_net(6, hidden, rng), rng.normal(size=(40, 6)).astype(np.float32)
    left, right = pairs_of(features)
    one, other = net.outputs(features, left, right), net.outputs(features, right, left)
    assert np.array_equal(one[:, 0], other[:, 1])  # N≻(x, y) = N≺(y, x)
    assert np.array_equal(one[:, 1], other[:, 0])
    assert ((one > 0) & (one < 1)).all()


def test_one_hidden_layer_is_the_papers_formula():
    rng = np.random.default_rng(0)
    n, h = 4, 3
    net, features = random_net(n, (h,), rng), rng.normal(size=(2, n)).astype(np.float32)
    v_x, v_y, b, w_wins, w_loses, b_out = np.split(net.weights.astype(np.float64), np.cumsum([n * h, n * h, h, h, h]))
    x, y = features.astype(np.float64)
    neurons = np.tanh(x @ v_x.reshape(n, h) + y @ v_y.reshape(n, h) + b)
    duals = np.tanh(y @ v_x.reshape(n, h) + x @ v_y.reshape(n, h) + b)  # weights inverted, bias shared
    wins = 1 / (1 + np.exp(-(w_wins @ neurons + w_loses @ duals + b_out)))
    loses = 1 / (1 + np.exp(-(w_loses @ neurons + w_wins @ duals + b_out)))
    found = net.outputs(features, np.array([0]), np.array([1]))[0]
    assert found == pytest.approx([wins[0], loses[0]], abs=1e-6)


def test_weights_are_counted_once():
    # Two documents of 5 features into 4 neurons, those and their duals into 3, those and theirs into 1.
    assert n_weights(5, (4, 3)) == 2 * 5 * 4 + 4 + 2 * 4 * 3 + 3 + 2 * 3 + 1
    assert len(random_net(5, (4, 3), np.random.default_rng(0)).weights) == n_weights(5, (4, 3))


def test_a_net_of_no_neurons_or_other_weights_is_refused():
    for hidden in ((), (3, 0)):
        with pytest.raises(SettingError, match="1 neuron or more in each layer"):
            random_net(5, hidden, np.random.default_rng(0))
    with pytest.raises(InputError, match="has 53 weights"):
        ComparatorNet(5, (4,), np.zeros(3, np.float32))

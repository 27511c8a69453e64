"""The short way and torch's way lead to the same place."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright import objectives
from rankwright.nets.descent import _NarrowDescent, _TorchDescent, descent_of
from rankwright.nets.inputs import NetInputs
from rankwright.nets.modules import plain_net, weights_of
from rankwright.nets.params import DescentParams, NetShape

N_FEATURES = 23


def some_data(n_queries: int = 30) -> rw.RankingDataset:
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 12, n_queries)
    features = rng.standard_normal((sizes.sum(), N_FEATURES))
    return rw.RankingDataset.from_arrays(features, rng.integers(0, 4, len(features)), group=sizes)


def walk(way, data, shape, params, objective):
    net = plain_net(N_FEATURES, shape, seed=2)
    args = (NetInputs().rows_of(data, threads=1), data.groups, objective.bind(data), params)
    descent = descent_of(net, *args) if way == "short" else _TorchDescent(net, *args)
    assert isinstance(descent, _NarrowDescent if way == "short" else _TorchDescent)
    n_steps = -(-data.n_queries // params.batch_queries)
    for epoch in range(3):
        order = np.random.default_rng(epoch).permutation(data.n_queries)
        walked = descent.walk(order, np.arange(n_steps), epoch)
        assert walked.is_finite
    return weights_of(net), walked


@pytest.mark.parametrize("hidden", [(), (10,), (8, 4)], ids=str)
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("objective", ["ranknet", "lambdarank:ndcg@5"])
def test_both_ways_learn_the_same(hidden, activation, optimizer, objective):
    objective = objectives.objective_named(objective)
    data, shape = some_data(), NetShape(hidden=hidden, activation=activation, output_bias=True)
    params = DescentParams(optimizer=optimizer, learning_rate=0.01, weight_decay=0.1, penalty=0.2, batch_queries=7)
    short, walked = walk("short", data, shape, params, objective)
    long, others = walk("torch", data, shape, params, objective)
    assert short.keys() == long.keys()
    for name in short:
        np.testing.assert_allclose(short[name], long[name], rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(walked.scores, others.scores, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(walked.costs, others.costs, rtol=1e-3, atol=1e-3)


def test_what_the_kernel_does_not_know_goes_through_torch():
    data, params = some_data(), DescentParams()
    rows = NetInputs().rows_of(data, threads=1)
    wide = plain_net(N_FEATURES, NetShape(hidden=(100,)), 0)
    gelu = plain_net(N_FEATURES, NetShape(hidden=(5,), activation="gelu"), 0)
    narrow = plain_net(N_FEATURES, NetShape(hidden=(5,)), 0)
    pairs, lists = objectives.ranknet().bind(data), objectives.objective_named("softmax").bind(data)
    for net, forces in [(wide, pairs), (gelu, pairs), (narrow, lists)]:
        assert isinstance(descent_of(net, rows, data.groups, forces, params), _TorchDescent)


def test_one_call_or_many_are_the_same(monkeypatch):
    data, shape = some_data(), NetShape(hidden=(6,), dropout=0.3)
    params = DescentParams(batch_queries=4)
    at_once, _ = walk("short", data, shape, params, objectives.ranknet())
    monkeypatch.setattr("rankwright.nets.descent.DOCUMENTS_A_CALL", 1)
    in_pieces, _ = walk("short", data, shape, params, objectives.ranknet())
    for name in at_once:
        np.testing.assert_array_equal(at_once[name], in_pieces[name])

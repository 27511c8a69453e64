"""Our kernels and torch's optimizers lead to the same place, on every way there is through our kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright import objectives
from rankwright.nets.inputs import NetInputs
from rankwright.nets.params import DescentParams, NetShape
from rankwright.nets.plain_descent import PlainDescent
from rankwright.nets.plain_net import new_net
from rankwright.nets.torch_net import TorchDescent, TorchNet, sequential

N_FEATURES = 23


def some_data(n_queries: int = 30) -> rw.RankingDataset:
    rng = np.random.default_rng(4)
    sizes = rng.integers(1, 12, n_queries)
    features = rng.standard_normal((sizes.sum(), N_FEATURES))
    return rw.RankingDataset.from_arrays(features, rng.integers(0, 4, len(features)), group=sizes)


def pull_to_label(scores, labels):
    return scores - labels


def walk(way, data, shape, params, objective, threads=1):
    net = new_net(N_FEATURES, shape, seed=2)
    args = (NetInputs().rows_of(data, threads=threads), data.groups, objective.bind(data, threads=threads), params)
    trained: Any = net if way == "ours" else TorchNet(sequential(net))
    descent: Any = PlainDescent(trained, *args) if way == "ours" else TorchDescent(trained, *args)
    n_steps = -(-data.n_queries // params.batch_queries)
    for epoch in range(3):
        order = np.random.default_rng(epoch).permutation(data.n_queries)
        walked = descent.walk(order, np.arange(n_steps), epoch)
        assert walked.is_finite
    return trained.arrays(), walked


OBJECTIVES = [*map(objectives.objective_named, ("ranknet", "lambdarank:ndcg@5", "softmax", "squared-error"))]
OBJECTIVES.append(objectives.from_function(pull_to_label))


@pytest.mark.parametrize("hidden", [(), (10,), (8, 4), (80, 20)], ids=str)
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "gelu"])
@pytest.mark.parametrize("optimizer", ["adam", "sgd"])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: objective.name)
def test_our_kernels_and_torch_learn_the_same(hidden, activation, optimizer, objective):
    data, shape = some_data(), NetShape(hidden=hidden, activation=activation, output_bias=True)
    params = DescentParams(optimizer=optimizer, learning_rate=0.01, weight_decay=0.1, penalty=0.2, batch_queries=7)
    ours, walked = walk("ours", data, shape, params, objective)
    torchs, others = walk("torch", data, shape, params, objective)
    assert ours.keys() == torchs.keys()
    for name in ours:
        np.testing.assert_allclose(ours[name], torchs[name], rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(walked.scores, others.scores, rtol=1e-3, atol=3e-3)
    np.testing.assert_allclose(walked.costs, others.costs, rtol=1e-3, atol=1e-2)


@pytest.mark.parametrize("threads", [2, 7])
@pytest.mark.parametrize("objective", OBJECTIVES, ids=lambda objective: objective.name)
def test_threads_change_no_bit(objective, threads):
    data, shape = some_data(200), NetShape(hidden=(70, 9), activation="gelu", dropout=0.2, output_bias=True)
    alone, _ = walk("ours", data, shape, DescentParams(batch_queries=50), objective)
    together, _ = walk("ours", data, shape, DescentParams(batch_queries=50), objective, threads)
    for name in alone:
        np.testing.assert_array_equal(alone[name], together[name])


def test_label_pairs_learn_the_same_on_both_of_our_ways():
    data, shape, params = some_data(), NetShape(hidden=(20, 5), dropout=0.3), DescentParams(batch_queries=4)
    by_pairs, _ = walk("ours", data, shape, params, objectives.ranknet())
    bound = objectives.ranknet().bind(data)
    by_steps, _ = walk("ours", data, shape, params, _Bound(lambda *given, **options: bound(*given, **options)))
    for name in by_pairs:
        np.testing.assert_allclose(by_pairs[name], by_steps[name], rtol=1e-4, atol=1e-5)


class _Bound:
    """An objective whose λ-function is there already."""

    name = "bound"

    def __init__(self, lambda_fn):
        self.lambda_fn = lambda_fn

    def bind(self, *_, **__):
        return self.lambda_fn


def test_one_call_or_many_are_the_same(monkeypatch):
    data, shape = some_data(), NetShape(hidden=(6,), dropout=0.3)
    params = DescentParams(batch_queries=4)
    at_once, _ = walk("ours", data, shape, params, objectives.ranknet())
    monkeypatch.setattr("rankwright.nets.plain_descent.DOCUMENTS_A_CALL", 1)
    in_pieces, _ = walk("ours", data, shape, params, objectives.ranknet())
    for name in at_once:
        np.testing.assert_array_equal(at_once[name], in_pieces[name])

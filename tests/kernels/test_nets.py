"""The kernels of plain nets do what their twins do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright import kernels, objectives
from rankwright.kernels import reference
from rankwright.kernels.records import LayeredNet, Pieces, QueryWalk, StandardisedRows, StepRule
from rankwright.nets.encoding import n_inputs
from rankwright.objectives.objective import batch_of

_core = pytest.importorskip("rankwright.kernels._core")
SHAPES = [(0, 3), (1, 1), (5, 16), (300, 17), (700, 40)]
HIDDEN = [(), (1,), (4,), (7, 3), (16,), (33, 18), (130, 70)]


def case(
    shape: tuple[int, int], hidden: tuple[int, ...], n_pieces: int = 0, **changes: Any
) -> tuple[LayeredNet, StandardisedRows, Any]:
    """A net, features with some values missing and how they are scaled, and rows of them in any order."""
    (n_rows, n_features), rng = shape, np.random.default_rng(0)
    features = rng.normal(3, 2, size=(max(1, n_rows), n_features)).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    shift, factor = rng.normal(size=n_features).astype(np.float32), rng.random(n_features).astype(np.float32)
    inputs = StandardisedRows(features, shift, factor, pieces_of(n_features, n_pieces, rng) if n_pieces else None)
    widths = np.array([n_features if inputs.pieces is None else n_inputs(inputs.pieces), *hidden, 1])
    net = LayeredNet(widths, np.zeros(0, np.float32), True, "tanh", 0.0)._replace(**changes)
    net = net._replace(weights=rng.normal(0, 0.3, n_weights(net)).astype(np.float32))
    return net, inputs, rng.integers(0, len(features), size=n_rows)


def n_weights(net: LayeredNet) -> int:
    of_members = 2 * net.n_members if net.n_members > 1 else 1
    last = net.n_members * int(net.widths[-2] + net.last_threshold)
    return int((net.widths[:-2] * net.widths[1:-1]).sum() + of_members * net.widths[1:-1].sum()) + last


def pieces_of(n_features: int, n_pieces: int, rng: np.random.Generator) -> Pieces:
    """Features of different numbers of pieces, some of none, some of categories."""
    sizes = rng.integers(2, n_pieces + 2, n_features)
    sizes[::5] = 0
    categorical = np.arange(n_features) % 7 == 3
    categorical[2:] &= sizes[2:] != 0
    knots = [np.sort(rng.normal(1, 2, size)) for size in sizes]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    found = np.concatenate([*knots, np.zeros(0)]).astype(np.float32)
    return Pieces(starts, found, categorical, rng.random(n_features) < 0.5, 0.3)


def scores_of(module: Any, *given: Any, threads: int = 1, **changes: Any) -> np.ndarray:
    net, inputs, rows = case(*given, **changes)
    scores = np.full(len(rows), -7.0)
    module.net_scores(net, inputs, rows, 2**63 + 5, scores, threads)
    return scores


def gradient_of(module: Any, *given: Any, threads: int = 1, **changes: Any) -> np.ndarray:
    net, inputs, rows = case(*given, **changes)
    forces = np.random.default_rng(1).normal(size=len(rows) * net.n_members).astype(np.float32)
    gradient = np.full(net.weights.shape, -7, np.float32)
    module.net_gradient(net, inputs, rows, 2**63 + 5, forces, gradient, threads)
    return gradient


@pytest.mark.parametrize("hidden", HIDDEN, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_nets_are_the_twins_but_for_rounding(shape, hidden):
    assert scores_of(_core, shape, hidden) == pytest.approx(scores_of(reference, shape, hidden), abs=1e-4)
    assert gradient_of(_core, shape, hidden) == pytest.approx(gradient_of(reference, shape, hidden), abs=2e-3)


@pytest.mark.parametrize("n_pieces", [0, 1, 5, 40])
@pytest.mark.parametrize("n_members", [1, 3, 16])
@pytest.mark.parametrize("hidden", [(1,), (7, 3), (33, 18), (130,)], ids=str)
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (170, 37)], ids=str)
def test_pieces_and_members_are_the_twins(shape, hidden, n_members, n_pieces):
    given, changes = (shape, hidden, n_pieces), {"n_members": n_members, "dropout": 0.2}
    assert scores_of(_core, *given, **changes) == pytest.approx(scores_of(reference, *given, **changes), abs=1e-4)
    found, wanted = (gradient_of(module, *given, **changes) for module in (_core, reference))
    assert found == pytest.approx(wanted, abs=3e-4 * max(1.0, float(np.abs(wanted).max(initial=0))))


@pytest.mark.parametrize("last_threshold", [False, True])
def test_a_linear_net_of_pieces_is_the_twins(last_threshold):
    given, changes = ((200, 23), (), 6), {"last_threshold": last_threshold}
    assert scores_of(_core, *given, **changes) == pytest.approx(scores_of(reference, *given, **changes), abs=1e-4)
    assert gradient_of(_core, *given, **changes) == pytest.approx(gradient_of(reference, *given, **changes), abs=2e-3)


def test_the_score_is_the_mean_of_members_scores():
    net, inputs, rows = case((90, 12), (6, 4), 3, n_members=5)
    own = np.empty(len(rows) * 5)
    _core.net_member_scores(net, inputs, rows, 2**63 + 5, own, 1)
    mean = scores_of(_core, (90, 12), (6, 4), 3, n_members=5)
    np.testing.assert_allclose(mean, own.reshape(-1, 5).mean(axis=1), rtol=1e-12)
    assert own.reshape(-1, 5).std(axis=1).min() > 0


@pytest.mark.parametrize("n_pieces", [1, 5, 40])
def test_inputs_in_pieces_are_the_twins(n_pieces):
    _, inputs, rows = case((200, 37), (), n_pieces)
    inputs.features[::7, ::3] = np.inf
    inputs.features[1::7, ::3] = -np.inf
    assert inputs.pieces is not None
    found, wanted = (np.full((len(rows), n_inputs(inputs.pieces)), -7, np.float32) for _ in range(2))
    _core.net_inputs(inputs, rows, found)
    reference.net_inputs(inputs, rows, wanted)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)


def test_a_net_of_pieces_is_the_plain_net_of_its_inputs():
    net, inputs, rows = case((120, 19), (20, 6), 5)
    assert inputs.pieces is not None
    written = np.empty((len(rows), n_inputs(inputs.pieces)), np.float32)
    _core.net_inputs(inputs, rows, written)
    width = written.shape[1]
    plain = StandardisedRows(written, np.zeros(width, np.float32), np.ones(width, np.float32))
    scores = np.empty(len(rows))
    _core.net_scores(net, plain, np.arange(len(rows)), 0, scores, 1)
    assert scores == pytest.approx(scores_of(_core, (120, 19), (20, 6), 5), abs=1e-4)


@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "gelu"])
def test_activations_and_dropout_are_the_twins(activation, dropout):
    given, changes = ((300, 17), (20, 6)), {"activation": activation, "dropout": dropout}
    assert scores_of(_core, *given, **changes) == pytest.approx(scores_of(reference, *given, **changes), abs=1e-4)
    assert gradient_of(_core, *given, **changes) == pytest.approx(gradient_of(reference, *given, **changes), abs=2e-3)


@pytest.mark.parametrize("n_pieces", [0, 8])
@pytest.mark.parametrize("hidden", [(), (6,), (50, 20)], ids=str)
@pytest.mark.parametrize("threads", [2, 7])
def test_threads_do_not_change_a_bit(threads, hidden, n_pieces):
    given, changes = ((3000, 37), hidden, n_pieces), {"n_members": 3 if hidden and n_pieces else 1}
    for ask in (scores_of, gradient_of):
        assert np.array_equal(ask(_core, *given, **changes), ask(_core, *given, threads=threads, **changes))


@pytest.mark.parametrize("more", [{}, {"n_pieces": 6, "n_members": 4}], ids=str)
def test_a_score_does_not_depend_on_the_rows_beside_it(more):
    net, inputs, rows = case((200, 21), (20, 6), **more)
    together, alone = scores_of(_core, (200, 21), (20, 6), **more), np.empty(1)
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


N_FEATURES = 19


def data_of(n_queries: int = 9, seed: int = 0) -> rw.RankingDataset:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_queries)
    features = rng.standard_normal((sizes.sum(), N_FEATURES)).astype(np.float32)
    features[rng.random(features.shape) < 0.05] = np.nan
    return rw.RankingDataset.from_arrays(
        features, rng.integers(0, 3, len(features)), group=sizes, document_weights=rng.random(len(features)) + 0.5
    )


def descend(kernel: Any, data: rw.RankingDataset, *, threads: int = 1, start: float = 0.3, **settings: Any) -> Any:
    """Weights, memory, scores, costs and the number of steps, after three steps."""
    hidden, rng = settings.pop("hidden", (5,)), np.random.default_rng(1)
    n_pieces = settings.pop("n_pieces", 0)
    pieces = pieces_of(N_FEATURES, n_pieces, np.random.default_rng(2)) if n_pieces else None
    widths = np.array([N_FEATURES if pieces is None else n_inputs(pieces), *hidden, 1])
    activation, dropout = settings.pop("activation", "relu"), settings.pop("dropout", 0.0)
    last_threshold, n_members = settings.pop("last_threshold", False), settings.pop("n_members", 1)
    net = LayeredNet(widths, np.zeros(0, np.float32), last_threshold, activation, dropout, n_members)
    weights = (start * rng.standard_normal(n_weights(net))).astype(np.float32)
    objective = settings.pop("objective", objectives.PairwiseObjective())
    arguments = objective.bind(data).arguments
    order, starts = batch_of(data.groups, rng.permutation(data.n_queries))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    scores, cost = np.full(data.n_docs, np.nan), np.full(len(order), np.nan)
    rule: dict[str, Any] = {"optimizer": "adam", "learning_rate": 0.01, "weight_decay": 0.0, "pull": 0.0} | settings
    taken = kernel(
        net=net._replace(weights=weights),
        inputs=StandardisedRows(
            data.features, np.full(N_FEATURES, 0.1, np.float32), np.full(N_FEATURES, 1.5, np.float32), pieces
        ),
        **arguments,
        rule=StepRule(**rule, mean=mean, square=square, n_steps=0),
        walk=QueryWalk(
            queries=order,
            starts=starts,
            keys=np.array([3, 2**62, 7]),
            batch_queries=-(-data.n_queries // 3),
            scores=scores,
            cost=cost if objective.has_cost else np.empty(0),
        ),
        threads=threads,
    )
    return weights, mean, square, scores, cost, taken


# The last threshold feels forces that sum to 0; what rounding leaves of them is not for Adam to amplify.
CASES: dict[str, dict[str, Any]] = {
    "linear": {"hidden": ()},
    "with a threshold": {"hidden": (), "last_threshold": True, "optimizer": "sgd"},
    "tanh": {"hidden": (5,), "activation": "tanh", "pull": 0.1},
    "two layers": {"hidden": (6, 3), "activation": "sigmoid", "weight_decay": 0.2},
    "gelu": {"hidden": (6, 3), "activation": "gelu"},
    "wide": {"hidden": (40, 17), "activation": "tanh"},
    "dropout": {"hidden": (7,), "dropout": 0.4, "optimizer": "sgd", "weight_decay": 0.2},
    "members": {"hidden": (9, 4), "n_members": 3, "activation": "tanh", "optimizer": "sgd"},
    "pieces": {"hidden": (9,), "n_pieces": 4, "activation": "tanh", "optimizer": "sgd"},
    "members and pieces": {
        "hidden": (20,),
        "n_members": 2,
        "n_pieces": 6,
        "activation": "tanh",
        "optimizer": "sgd",
        "dropout": 0.2,
        "objective": objectives.lambdarank("ndcg@3"),
    },
    "ranks matter": {"hidden": (4,), "objective": objectives.lambdarank("ndcg@3")},
    "sampled pairs": {"hidden": (2,), "objective": objectives.PairwiseObjective(sampled_pairs=1)},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_kernel_takes_its_twins_steps(case):
    data = data_of()
    ours, twins = descend(kernels.descend_net, data, **case), descend(reference.descend_net, data, **case)
    for found, wanted in zip(ours, twins, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("threads", [2, 7])
def test_threads_change_no_bit(case, threads):
    data = data_of()
    alone = descend(kernels.descend_net, data, **case)
    together = descend(kernels.descend_net, data, threads=threads, **case)
    for found, wanted in zip(together, alone, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", [kernels.descend_net, reference.descend_net])
def test_a_step_without_finite_scores_is_not_taken(kernel):
    weights, mean, *_, taken = descend(kernel, data_of(), hidden=(5, 5), start=1e20)
    assert taken == 0
    assert not mean.any()
    again, *_ = descend(kernel, data_of(), hidden=(5, 5), start=1e20)
    np.testing.assert_array_equal(weights, again)


def test_dropout_keeps_the_mean_of_what_units_give():
    data = data_of(n_queries=1500, seed=3)
    whole, thinned = (
        descend(kernels.descend_net, data, hidden=(32,), dropout=dropout, optimizer="sgd", learning_rate=1e-9)
        for dropout in (0.0, 0.5)
    )
    difference = thinned[3] - whole[3]
    assert difference.std() > 0.1
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))

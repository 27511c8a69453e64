from __future__ import annotations

from math import ceil, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.comparators.net import random_net
from rankwright.data.groups import Groups
from rankwright.kernels import reference
from rankwright.kernels.records import ComparedPairs

_core = pytest.importorskip("rankwright.kernels._core")
SHAPES = [(1,), (8,), (11,), (3, 2), (9, 17, 4)]
QUERY_SIZES = st.lists(st.integers(0, 12), max_size=12)


def documents(seed, sizes, n_features=5):
    """Random documents, some of them equal, some values missing, and labels of which some are missing."""
    rng = np.random.default_rng(seed)
    n_docs = int(sum(sizes))
    features = rng.normal(size=(n_docs, n_features)).astype(np.float32)
    features[rng.random(features.shape) < 0.1] = np.nan
    features[rng.random(n_docs) < 0.2] = 1.0
    labels = rng.integers(0, 3, n_docs).astype(np.float32)
    labels[rng.random(n_docs) < 0.1] = np.nan
    return features, Groups.of_sizes(sizes), labels


def net_of(seed, hidden, n_features=5):
    net = random_net(n_features, hidden, np.random.default_rng(seed))
    return net.sizes, (3 * net.weights).astype(np.float32)


def sort(module, features, groups, net, *, by_heap=False, presort=False, start=None, threads=1):
    rows = np.arange(groups.n_docs) if start is None else start.copy()
    tied, counts = np.ones(groups.n_docs, np.bool_), np.full(groups.n_queries, -1)
    module.sort_rows(features, groups.offsets, *net, by_heap, presort, rows, tied, counts, threads)
    return rows, tied, counts


def mistakes(module, features, groups, labels, net, threads=1):
    room = np.concatenate([[0], np.cumsum([n * ceil(log2(max(n, 1))) for n in groups.sizes])]).astype(np.int64)
    rows, counts, wrong = np.arange(groups.n_docs), np.empty(groups.n_queries, np.int64), np.zeros_like(groups.sizes)
    pairs = np.full((room[-1], 2), -1)
    module.sort_noting_mistakes(features, groups.offsets, *net, labels, room[:-1], rows, counts, wrong, pairs, threads)
    found = [sorted(map(tuple, pairs[at : at + n].tolist())) for at, n in zip(room[:-1], wrong, strict=True)]
    return rows, counts, found


def compared(module, features, net, left, right, threads=1):
    out = np.full((len(left), 2), -7, np.float32)
    module.compare_pairs(features, *net, left, right, out, threads)
    return out


def gradient(module, features, groups, net, pairs, queries, logistic, threads=1, n=None):
    weights = net[1]
    cost, slopes = np.empty(1), np.empty(len(weights) if n is None else n)
    compared = ComparedPairs(features, groups.offsets, *pairs)
    module.comparator_gradient(*net, compared, queries, logistic, cost, slopes, threads)
    return cost[0], slopes


def some_pairs(seed, groups):
    rng = np.random.default_rng(seed)
    better, worse, counts = [], [], [0]
    for docs in groups.slices():
        n = docs.stop - docs.start
        drawn = rng.integers(docs.start, docs.stop, (2 * n, 2)) if n > 1 else np.zeros((0, 2), np.int64)
        drawn = drawn[drawn[:, 0] != drawn[:, 1]]
        better.append(drawn[:, 0])
        worse.append(drawn[:, 1])
        counts.append(len(drawn))
    rows = [np.concatenate([np.zeros(0, np.int64), *part]) for part in (better, worse)]
    return np.cumsum(counts), *rows, rng.random(len(rows[0])).astype(np.float32)


@pytest.mark.parametrize("hidden", SHAPES)
@pytest.mark.parametrize("module", [_core, reference], ids=["compiled", "reference"])
def test_the_other_way_round_exchanges_the_outputs_to_the_bit(module, hidden):
    features, _, _ = documents(0, [60])
    left, right = np.random.default_rng(1).integers(0, 60, (2, 300))
    net = net_of(2, hidden)
    one, other = compared(module, features, net, left, right), compared(module, features, net, right, left)
    assert one.tobytes() == np.ascontiguousarray(other[:, ::-1]).tobytes()
    assert len(np.unique(one)) > 100


@pytest.mark.parametrize("hidden", SHAPES)
@given(seed=st.integers(0, 1000), n_features=st.integers(0, 9))
def test_comparisons_of_kernel_and_twin_agree_to_the_bit(hidden, seed, n_features):
    features, _, _ = documents(seed, [7], n_features)
    left, right = np.random.default_rng(seed).integers(0, 7, (2, 20))
    net = net_of(seed, hidden, n_features)
    ours, twins = (compared(module, features, net, left, right) for module in (_core, reference))
    assert ours.tobytes() == twins.tobytes()


@pytest.mark.parametrize("by_heap", [False, True])
@pytest.mark.parametrize("presort", [False, True])
@given(seed=st.integers(0, 1000), sizes=QUERY_SIZES)
def test_sorting_by_kernel_and_twin_agrees(by_heap, presort, seed, sizes):
    features, groups, _ = documents(seed, sizes)
    net = net_of(seed, SHAPES[seed % len(SHAPES)])
    options = {"by_heap": by_heap, "presort": presort}
    ours, twins = (sort(module, features, groups, net, **options) for module in (_core, reference))
    for mine, theirs in zip(ours, twins, strict=True):
        assert np.array_equal(mine, theirs)


@given(seed=st.integers(0, 1000), sizes=QUERY_SIZES)
def test_mistakes_of_kernel_and_twin_agree(seed, sizes):
    features, groups, labels = documents(seed, sizes)
    net = net_of(seed, SHAPES[seed % len(SHAPES)])
    (rows, counts, found), twins = (mistakes(module, features, groups, labels, net) for module in (_core, reference))
    assert np.array_equal(rows, twins[0])
    assert np.array_equal(counts, twins[1])
    assert found == twins[2]
    assert np.array_equal(rows, sort(_core, features, groups, net)[0])


@given(seed=st.integers(0, 1000), sizes=QUERY_SIZES)
def test_wins_of_kernel_and_twin_agree(seed, sizes):
    features, groups, _ = documents(seed, sizes)
    ours, twins = np.full(groups.n_docs, -1), np.full(groups.n_docs, -1)
    sizes, weights = net_of(seed, (4,))
    _core.count_wins(features, groups.offsets, sizes, weights, ours, 1)
    reference.count_wins(features, groups.offsets, sizes, weights, twins, 1)
    assert np.array_equal(ours, twins)
    n = groups.sizes
    assert ours.sum() == (n * (n - 1) // 2).sum()


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("hidden", SHAPES)
def test_slopes_of_kernel_and_twin_agree(hidden, logistic):
    features, groups, _ = documents(3, [4, 0, 9, 1, 20, 3])
    net, pairs, queries = net_of(4, hidden), some_pairs(5, groups), np.array([4, 0, 2])
    ours, twins = (gradient(module, features, groups, net, pairs, queries, logistic) for module in (_core, reference))
    assert ours[0] == pytest.approx(twins[0], rel=1e-6)
    np.testing.assert_allclose(ours[1], twins[1], atol=2e-5)
    assert gradient(_core, features, groups, net, pairs, queries, logistic, n=0)[0] == ours[0]


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize("hidden", SHAPES)
def test_slopes_are_those_of_the_cost(hidden, logistic):
    features, groups, _ = documents(3, [6, 9])
    (sizes, weights), pairs, queries = net_of(4, hidden), some_pairs(5, groups), np.arange(2)
    slopes = gradient(_core, features, groups, (sizes, weights), pairs, queries, logistic)[1]
    rng, step = np.random.default_rng(6), 2.0**-7
    for direction in rng.choice([-1.0, 1.0], (5, len(weights))):
        up, down = ((weights + sign * step * direction).astype(np.float32) for sign in (1, -1))
        costs = [gradient(_core, features, groups, (sizes, w), pairs, queries, logistic)[0] for w in (up, down)]
        moved = (up - down).astype(np.float64)
        assert costs[0] - costs[1] == pytest.approx(moved @ slopes, abs=0.02 * np.abs(slopes).sum() * step)


def test_threads_do_not_change_a_bit():
    features, groups, labels = documents(0, np.random.default_rng(0).integers(0, 40, 60))
    net, pairs, queries = net_of(1, (13, 5)), some_pairs(2, groups), np.random.default_rng(3).permutation(60)

    def everything(threads):
        wins = np.empty(groups.n_docs, np.int64)
        _core.count_wins(features, groups.offsets, *net, wins, threads)
        parts = [*sort(_core, features, groups, net, threads=threads), wins]
        parts += [*gradient(_core, features, groups, net, pairs, queries, False, threads)]
        parts += [compared(_core, features, net, pairs[1], pairs[2], threads)]
        return [np.asarray(part).tobytes() for part in parts], mistakes(_core, features, groups, labels, net, threads)[
            2
        ]

    assert everything(1) == everything(2) == everything(7)

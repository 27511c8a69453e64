"""Kernels of linear rankers: equal to their twins, and in bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.kernels import reference
from rankwright.kernels.records import DrawnPairs, DrawnRows, DrawSettings, LevelledRows, MarginPairs, PairSums

_core = pytest.importorskip("rankwright.kernels._core")
SEEDS = range(6)


def lists(seed, most=30):
    """Offsets of queries, some empty, some of one document."""
    rng = np.random.default_rng(seed)
    sizes = np.concatenate([[0, 1, 1, 2], rng.integers(1, most, size=40)])
    return rng, np.concatenate([[0], np.cumsum(sizes)])


def matrix(seed, n_rows=900, n_features=19):
    return np.random.default_rng(seed).normal(size=(n_rows, n_features)).astype(np.float32)


def products(module, seed, threads):
    features = matrix(seed, n_rows=9000, n_features=1 + 7 * seed)
    rng = np.random.default_rng(seed)
    n = features.shape[1]
    scores, total, gram = np.empty(len(features)), np.empty(n), np.empty((n, n))
    module.linear_scores(features, rng.normal(size=n), scores, threads)
    module.sum_rows(features, rng.normal(size=len(features)), total, threads)
    module.gram_matrix(features, rng.random(len(features)), gram, threads)
    return [scores, total, gram]


def margins(module, seed, threads, *, weighted=False, by_level=False, real=False):
    rng, offsets = lists(seed)
    n = offsets[-1]
    n_levels = 200 if real else 4
    scores = np.round(rng.normal(size=n), 1)  # ties, and differences of exactly 1
    levels = rng.integers(0, n_levels, size=n).astype(np.int32)
    weights = rng.random(n) if weighted else np.empty(0)
    of_levels = rng.random((n_levels, n_levels)) if by_level else np.empty((0, 0))
    out = [np.full(n, -7.0) for _ in range(4)]
    factors = rng.random(len(offsets) - 1)
    pairs = MarginPairs(offsets, levels, weights, factors, of_levels)
    module.pair_margins(pairs, scores, rng.normal(size=n), PairSums(*out), threads)
    return out


def violations(module, seed, threads):
    rng, offsets = lists(seed)
    coefficients, loss = np.full(offsets[-1], -7.0), np.full(len(offsets) - 1, -7.0)
    relevant = (rng.random(offsets[-1]) < 0.3).astype(np.uint8)
    module.map_violations(rng.normal(size=offsets[-1]) / 3, offsets, relevant, coefficients, loss, threads)
    return [coefficients, loss]


def smooth(module, seed, threads):
    rng, offsets = lists(seed)
    n, n_queries = offsets[-1], len(offsets) - 1
    gradient, value = np.full(n, -7.0), np.full(n_queries, -7.0)
    discounts = 1 / np.log2(np.arange(2, 12))
    gains = rng.integers(0, 8, size=n).astype(float)
    module.smooth_gains(
        rng.normal(size=n), offsets, gains, discounts, rng.random(n_queries), 0.3, gradient, value, threads
    )
    return [gradient, value]


def taught(seed, weighted):
    features = matrix(seed, n_rows=150, n_features=9)
    rng = np.random.default_rng(seed)
    levels = np.clip(np.round(features[:, 0] + rng.normal(size=150) / 2 + 1), 0, 3).astype(np.int32)
    return LevelledRows(features, levels, rng.random(150) if weighted else np.empty(0)), rng.permutation(150)


def perceptrons(module, seed, threads, *, weighted=False):
    weights, thresholds = np.zeros((5, 9)), np.zeros((5, 3))
    for key in (1, 2):
        module.prank_pass(*taught(seed, weighted), 0.6, key, weights, thresholds, threads)
    one, borders = np.zeros((1, 9)), np.zeros((1, 3))
    module.prank_pass(*taught(seed, weighted), 1.0, 0, one, borders, threads)
    return [weights, thresholds, one, borders]


def quadratic(module, seed, threads):
    features = taught(seed, False)[0].features
    constant, weights, form, thresholds = np.zeros(1), np.zeros(9), np.zeros((9, 9)), np.zeros(3)
    module.quadratic_prank_pass(*taught(seed, False), 0.2, constant, weights, form, thresholds, threads)
    scores = np.empty(len(features))
    module.quadratic_scores(features, 0.2, constant[0], weights, form, scores, threads)
    return [constant, weights, form, thresholds, scores]


def kernel_machine(module, seed, threads, *, kernel="rbf", places=150):
    features = taught(seed, False)[0].features
    support, coefficients, count = np.zeros(places, np.int64), np.zeros(places), np.zeros(1, np.int64)
    thresholds, scores = np.zeros(3), np.empty(len(features))
    for _ in range(2):
        arguments = (kernel, 0.1, support, coefficients, count, thresholds, threads)
        module.kernel_prank_pass(*taught(seed, False), *arguments)
    held = slice(0, int(count[0]))
    module.kernel_scores(features, features[support[held]], coefficients[held], kernel, 0.1, scores, threads)
    return [support, coefficients, count, thresholds, scores]


def draws(module, seed, threads, *, logistic=False):
    features = matrix(seed, n_rows=40, n_features=7)
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, 3, size=40)).astype(np.float32)
    same_first, same_last = np.searchsorted(labels, labels), np.searchsorted(labels, labels, side="right")
    before = np.concatenate([[0], np.cumsum(40 - (same_last - same_first))])
    weights = np.zeros(7)
    documents = DrawnRows(features, labels, rng.random(40), rng.random(40))
    pairs = DrawnPairs(np.arange(40), np.zeros(40, np.int64), same_first, same_last, before)
    module.combined_draws(documents, pairs, DrawSettings(0.4, 0.1, 20.0, logistic, 5), 0, 300, weights, threads)
    return [weights]


CASES = {
    "products": products,
    "margins": margins,
    "weighted margins": lambda *given: margins(*given, weighted=True),
    "margins by level": lambda *given: margins(*given, weighted=True, by_level=True),
    "margins of many levels": lambda *given: margins(*given, real=True),
    "violations": violations,
    "smooth gains": smooth,
    "perceptrons": perceptrons,
    "weighted perceptrons": lambda *given: perceptrons(*given, weighted=True),
    "quadratic": quadratic,
    "rbf": kernel_machine,
    "quadratic kernel": lambda *given: kernel_machine(*given, kernel="quadratic"),
    "cubic kernel": lambda *given: kernel_machine(*given, kernel="cubic"),
    "bounded support": lambda *given: kernel_machine(*given, places=12),
    "draws": draws,
    "logistic draws": lambda *given: draws(*given, logistic=True),
}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_kernels_are_their_twins_but_for_rounding(case, seed):
    single = (
        1e-5
        if case in [CASES[name] for name in CASES if "kernel" in name or name in ("rbf", "bounded support")]
        else 1e-9
    )
    for mine, twins in zip(case(_core, seed, 1), case(reference, seed, 1), strict=True):
        np.testing.assert_allclose(mine, twins, rtol=single, atol=single)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_threads_change_no_bit(case):
    alone = case(_core, 2, 1)
    for threads in (2, 7):
        for mine, other in zip(alone, case(_core, 2, threads), strict=True):
            assert np.array_equal(mine, other)


def test_a_row_scores_the_same_in_any_company():
    features, weights = matrix(0, n_rows=300), np.random.default_rng(0).normal(size=19)
    together, alone = np.empty(300), np.empty(1)
    _core.linear_scores(features, weights, together, 2)
    for row in (0, 17, 299):
        _core.linear_scores(features[row : row + 1], weights, alone, 1)
        assert alone[0] == together[row]

"""The boosters' kernels and their twins: pairs of labels, stumps, orders along a line."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.kernels import reference
from rankwright.kernels.records import LabelPairs

_core = pytest.importorskip("rankwright.kernels._core")
MODULES = [_core, reference]


def close(mine, twin):
    return np.allclose(mine, twin, rtol=1e-9, atol=1e-15)


def made_up_pairs(seed, n_queries=12, most_docs=9, n_labels=3):
    """Scores and pairs of some queries, a few rows of which are unjudged."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, most_docs, n_queries)
    labels = rng.integers(0, n_labels, sizes.sum()).astype(np.float32)
    query = np.repeat(np.arange(n_queries), sizes)
    judged = np.flatnonzero(rng.random(len(labels)) < 0.9)
    order = judged[np.lexsort((labels[judged], query[judged]))]
    offsets = np.concatenate([[0], np.cumsum(np.bincount(query[judged], minlength=n_queries))])
    scores = rng.normal(scale=3, size=len(labels))
    return scores, LabelPairs(labels, rng.random(len(labels)), rng.random(n_queries), offsets, order)


def potentials_of(module, name, scores, pairs, threads=1):
    potentials, totals = np.full(len(scores), -7.0), np.full(len(pairs.query_weights), -7.0)
    getattr(module, name)(scores, pairs, potentials, totals, threads)
    return potentials, totals


def agreement_of(module, scores, pairs, above, threads=1):
    agree, disagree = np.full((2, len(pairs.query_weights), 8), -7.0)
    module.fidelity_agreement(scores, pairs, above, agree, disagree, threads)
    return agree, disagree


def stumps_of(module, codes, n_bins, potentials, threads=1):
    n = len(n_bins)
    sums, bins, missing_above = np.empty(n), np.empty(n, np.int64), np.empty(n, np.bool_)
    module.potential_stumps(codes, n_bins, potentials, sums, bins, missing_above, threads)
    return sums, bins, missing_above


def made_up_codes(seed, n_docs=60):
    rng = np.random.default_rng(seed)
    n_bins = np.array([1, 2, 5, 255])
    codes = np.stack([rng.integers(0, n + 1, n_docs) for n in n_bins]).astype(np.uint8)  # the last code is missing
    return codes, n_bins, rng.integers(-8, 9, n_docs) / 8.0  # eighths: sums are exact in any order


@pytest.mark.parametrize("name", ["pair_potentials", "fidelity_potentials"])
class TestPotentials:
    @pytest.mark.parametrize("n_labels", [1, 2, 3, 50])
    def test_kernel_and_twin_agree(self, name, n_labels):
        for seed in range(5):
            made = made_up_pairs(seed, n_labels=n_labels)
            for mine, twin in zip(*(potentials_of(module, name, *made) for module in MODULES), strict=True):
                assert close(mine, twin)

    def test_they_sum_to_nothing(self, name):
        potentials, totals = potentials_of(_core, name, *made_up_pairs(3))
        assert totals.sum() > 0
        assert potentials.sum() == pytest.approx(0, abs=1e-9 * totals.sum())

    def test_threads_do_not_change_a_bit(self, name):
        scores, pairs = made_up_pairs(1, n_queries=200, most_docs=30)
        results = [potentials_of(_core, name, scores, pairs, threads) for threads in (1, 2, 7)]
        assert len({potentials.tobytes() + totals.tobytes() for potentials, totals in results}) == 1


def test_two_documents_weigh_by_the_difference_of_their_scores():
    pairs = LabelPairs(
        labels=np.array([1, 0], np.float32),
        weights=np.array([2.0, 3.0]),
        query_weights=np.array([5.0]),
        offsets=np.array([0, 2]),
        order=np.array([1, 0]),
    )
    potentials, totals = potentials_of(_core, "pair_potentials", np.array([0.5, 2.0]), pairs)
    weight = 5.0 * 2.0 * 3.0 * np.exp(2.0 - 0.5)
    assert np.allclose([*potentials, *totals], [weight, -weight, weight])


def test_agreement_and_its_twin():
    for seed in range(5):
        scores, pairs = made_up_pairs(seed)
        above = np.random.default_rng(seed).integers(0, 256, len(scores)).astype(np.uint8)
        for mine, twin in zip(*(agreement_of(module, scores, pairs, above) for module in MODULES), strict=True):
            assert close(mine, twin)
        one, two, seven = (agreement_of(_core, scores, pairs, above, threads) for threads in (1, 2, 7))
        assert one[0].tobytes() == two[0].tobytes() == seven[0].tobytes()


def test_agreement_less_disagreement_is_the_potential_of_what_stands_above():
    scores, pairs = made_up_pairs(7)
    above = np.random.default_rng(7).integers(0, 256, len(scores)).astype(np.uint8)
    potentials, _ = potentials_of(_core, "fidelity_potentials", scores, pairs)
    agree, disagree = agreement_of(_core, scores, pairs, above)
    for stump in range(8):
        stands_above = (above >> stump & 1).astype(bool)
        assert (agree - disagree)[:, stump].sum() == pytest.approx(potentials[stands_above].sum())


class TestStumps:
    def test_kernel_and_twin_agree(self):
        for seed in range(10):
            made = made_up_codes(seed)
            for mine, twin in zip(*(stumps_of(module, *made) for module in MODULES), strict=True):
                assert np.array_equal(mine, twin)

    def test_threads_do_not_change_a_bit(self):
        codes, n_bins, potentials = made_up_codes(0, n_docs=5000)
        potentials = np.random.default_rng(1).normal(size=5000)
        results = [stumps_of(_core, codes, n_bins, potentials, threads) for threads in (1, 2, 7)]
        assert len({b"".join(part.tobytes() for part in result) for result in results}) == 1

    def test_a_constant_feature_parts_nothing(self):
        sums, _, _ = stumps_of(_core, np.zeros((1, 4), np.uint8), np.array([1]), np.array([1.0, -1, 2, -2]))
        assert sums[0] == 0

    def test_what_is_missing_may_stand_above(self):
        codes, potentials = np.array([[0, 0, 1]], np.uint8), np.array([-1.0, -1.0, 2.0])
        sums, _, missing_above = stumps_of(_core, codes, np.array([1]), potentials)
        assert (sums[0], missing_above[0]) == (2.0, True)


class TestMoves:
    def made_up(self, seed):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(0, 40, 30)
        n_docs = int(sizes.sum())
        scores, column = rng.integers(-3, 4, n_docs) / 2.0, rng.integers(-2, 3, n_docs) / 1.0
        return scores, column, np.array([-4.0, -1, -0.5, 0, 0.25, 3]), np.concatenate([[0], np.cumsum(sizes)])

    def run(self, module, made, threads=1):
        n = len(made[0]) * len(made[2])
        moved, rows = np.empty(n), np.empty(n, np.int64)
        module.rank_moves(*made, moved, rows, threads)
        return moved, rows

    def test_kernel_and_twin_agree(self):
        for seed in range(5):
            made = self.made_up(seed)
            for mine, twin in zip(*(self.run(module, made) for module in MODULES), strict=True):
                assert np.array_equal(mine, twin)

    def test_threads_do_not_change_a_bit(self):
        made = self.made_up(9)
        assert len({self.run(_core, made, threads)[1].tobytes() for threads in (1, 2, 7)}) == 1


class TestPairUnits:
    def made_up(self, seed):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(0, 9, 20)
        inputs, of_sums = rng.normal(scale=3, size=(2, int(sizes.sum()), 3))
        return inputs, of_sums, np.concatenate([[0], np.cumsum(sizes)])

    def run(self, module, inputs, of_sums, offsets, threads=1):
        sums, gradient = np.full_like(inputs, -7), np.full_like(inputs, -7)
        module.pair_unit_sums(inputs, offsets, sums, threads)
        module.pair_unit_gradient(inputs, offsets, of_sums, gradient, threads)
        return sums, gradient

    def test_kernel_and_twin_agree(self):
        for seed in range(5):
            made = self.made_up(seed)
            for mine, twin in zip(*(self.run(module, *made) for module in MODULES), strict=True):
                assert np.allclose(mine, twin, rtol=1e-9, atol=1e-12)

    def test_the_gradient_is_a_difference_of_sums(self):
        inputs, of_sums, offsets = self.made_up(1)
        _, gradient = self.run(_core, inputs, of_sums, offsets)
        nudge = np.zeros_like(inputs)
        nudge[4, 1] = 1e-6
        up, down = (self.run(_core, inputs + sign * nudge, of_sums, offsets)[0] for sign in (1, -1))
        assert gradient[4, 1] == pytest.approx(((up - down) * of_sums).sum() / 2e-6, rel=1e-5)

    def test_threads_do_not_change_a_bit(self):
        inputs, of_sums, offsets = self.made_up(2)
        results = [self.run(_core, inputs, of_sums, offsets, threads)[1] for threads in (1, 2, 7)]
        assert len({result.tobytes() for result in results}) == 1

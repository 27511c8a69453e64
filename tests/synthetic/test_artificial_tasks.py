from __future__ import annotations

from math import asin, pi, sqrt

import numpy as np
import pytest

from rankwright import synthetic
from rankwright.data.dataset import RankingDataset

TASKS = {"network": synthetic.random_network, "polynomial": synthetic.random_polynomial}


def pairs_of(data: RankingDataset, queries: range) -> np.ndarray:
    """Rows (better, worse) of every pair of the queries' documents with different labels."""
    pairs = []
    for query in queries:
        start, stop = data.groups.offsets[query : query + 2]
        labels = data.labels[start:stop]  # type: ignore[index]
        pairs.append(start + np.stack(np.nonzero(labels[:, None] > labels[None, :])))
    return np.concatenate(pairs, axis=1)


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_data_are_as_in_the_paper(task):
    data = task()
    assert (data.n_queries, data.n_docs, data.n_features) == (1000, 1000 * 50, 50)
    assert set(data.groups.sizes.tolist()) == {50}
    assert -1 <= data.features.min() < -0.999
    assert 0.999 < data.features.max() <= 1
    assert abs(data.features.mean()) < 0.001
    assert np.square(data.features).mean() == pytest.approx(1 / 3, abs=0.001)  # uniform on [-1, 1]
    counts = np.bincount(data.labels.astype(np.int64))
    assert len(counts) == 6
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_the_number_of_pairs_is_the_papers(task):
    data = task(seed=1)
    expected_of_query = (50 * 49 / 2) * (1 - 1 / 6)  # two documents share one of six equally frequent levels or do not
    assert 20 * expected_of_query == pytest.approx(20_417, abs=0.5)
    assert abs(20 * expected_of_query - 20_382) < 20 * expected_of_query * 0.002  # what the paper counted
    assert pairs_of(data, range(1000)).shape[1] == pytest.approx(1000 * expected_of_query, rel=0.002)


def linear_accuracy(data: RankingDataset) -> float:
    """Share of test pairs that a linear net, trained on pairs of 2,500 vectors, puts the right way round."""
    from scipy.optimize import minimize

    better, worse = pairs_of(data, range(50))[:, ::8]  # enough of them for 50 weights
    differences = (data.features[better] - data.features[worse]).astype(np.float64)

    def cost(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = differences @ weights
        slope = -1 / (1 + np.exp(margins))
        return np.logaddexp(0, -margins).mean(), slope @ differences / len(margins)

    weights = minimize(cost, np.zeros(data.n_features), jac=True, method="L-BFGS-B", options={"maxiter": 30}).x
    scores = data.features @ weights
    better, worse = pairs_of(data, range(50, 100))
    return float((scores[better] > scores[worse]).mean())


def test_a_linear_net_gets_the_papers_share_of_the_network_task():
    accuracies = [linear_accuracy(synthetic.random_network(100, seed=seed)) for seed in range(5)]
    assert np.mean(accuracies) == pytest.approx(0.8991, abs=0.02)  # the paper's one draw; draws differ by 0.015


def test_a_linear_net_sees_one_of_the_polynomials_three_terms():
    # The linear term is one of three uncorrelated ones of equal variance, so its correlation with the target is
    # 1/√3; were all normal, a pair would be ordered right with probability 1/2 + asin(1/√3)/π. Pairs of different
    # levels lie further apart than pairs as such, so more of them are.
    any_pair = 0.5 + asin(1 / sqrt(3)) / pi
    accuracies = [linear_accuracy(synthetic.random_polynomial(100, seed=seed)) for seed in range(4)]
    assert any_pair < np.mean(accuracies) < any_pair + 0.05


def test_levels_and_sizes_can_be_chosen():
    data = synthetic.random_network(3, docs_per_query=10, n_features=4, n_levels=2)
    assert data.labels is not None
    assert (data.n_docs, data.n_features) == (30, 4)
    assert np.bincount(data.labels.astype(np.int64)).tolist() == [15, 15]

"""How much of RankNet's artificial tasks (section 5.1) does a linear net learn, over several draws of the task?"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from rankwright.data import synthetic
from rankwright.data.dataset import RankingDataset

DRAWS = 12
PAPER = {"random_network": 90.06, "random_polynomial": 69.00}  # table 1, linear, 12,500 vectors
TRAIN, TEST = range(250), range(900, 1000)


def pairs_of(data: RankingDataset, queries: range) -> np.ndarray:
    assert data.labels is not None
    pairs = []
    for query in queries:
        start, stop = data.groups.offsets[query : query + 2]
        labels = data.labels[start:stop]
        pairs.append(start + np.stack(np.nonzero(labels[:, None] > labels[None, :])))
    return np.concatenate(pairs, axis=1)


def linear_accuracy(data: RankingDataset) -> float:
    better, worse = pairs_of(data, TRAIN)
    differences = (data.features[better] - data.features[worse]).astype(np.float64)

    def cost(weights: np.ndarray) -> tuple[float, np.ndarray]:
        margins = differences @ weights
        return float(np.logaddexp(0, -margins).mean()), -(1 / (1 + np.exp(margins))) @ differences / len(margins)

    weights = minimize(cost, np.zeros(data.n_features), jac=True, method="L-BFGS-B", options={"maxiter": 50}).x
    scores = data.features @ weights
    better, worse = pairs_of(data, TEST)
    return float((scores[better] > scores[worse]).mean())


def main() -> None:
    for name, paper in PAPER.items():
        draws = [getattr(synthetic, name)(seed=seed) for seed in range(DRAWS)]
        right = 100 * np.array([linear_accuracy(data) for data in draws])
        n_pairs = np.mean([pairs_of(data, range(20)).shape[1] for data in draws])
        print(f"{name}: linear net {right.mean():.2f} ± {right.std(ddof=1):.2f} % of test pairs (paper {paper:.2f})")
        print(f"  pairs of 1,000 vectors: {n_pairs:,.0f} (paper 20,382; expected {20 * 1225 * 5 / 6:,.0f})")


if __name__ == "__main__":
    main()

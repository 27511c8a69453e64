"""A shop: rank by what sells and, among products that sell equally well, by what earns more. With our own λ.

    python examples/shop_margin.py

Shoppers buy what fits their query and is not too dear. A label says how well a product fits, 0 to 4. The margin, what a
sale earns as a share of the price, is a feature and a side column, by whose name the λ and the metric ask for it. The λ
pulls up what fits, and also what earns.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import rankwright as rw
from rankwright.objectives import from_function

SHARE = 1.5  # how many grades of fit a margin of 100 % is worth


def products(n_queries: int, seed: int) -> rw.RankingDataset:
    """Products for queries: features of the text, and price and margin, which the shop knows of each product."""
    found = rw.synthetic.web_search(n_queries, docs_per_query=25, seed=seed)
    rng = np.random.default_rng(seed)
    price, margin = rng.lognormal(3.0, 0.5, found.n_docs), rng.beta(2, 3, found.n_docs)
    features = np.column_stack([found.features, price, margin])
    fits = found.labels - (price > 40) * (found.labels > 0)  # too dear is a grade worse
    names = [*found.names, "price", "margin"]
    beside = {"margin": margin}
    return rw.RankingDataset.from_arrays(features, fits, qid=found.qid, feature_names=names, side=beside)


def profitable(scores: np.ndarray, labels: np.ndarray, margin: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """RankNet's force of each pair, times the difference in worth, times how well the upper one is seen."""
    worth = labels + SHARE * margin
    seen = 1 / np.log2(np.argsort(np.argsort(-scores, kind="stable")) + 2)
    weight = np.maximum(worth[:, None] - worth[None, :], 0) * np.maximum(seen[:, None], seen[None, :])
    wrong = 1 / (1 + np.exp(scores[:, None] - scores[None, :]))
    force, bend = weight * wrong, weight * wrong * (1 - wrong)
    return force.sum(axis=0) - force.sum(axis=1), bend.sum(axis=0) + bend.sum(axis=1)


def earned(labels: np.ndarray, scores: np.ndarray, margin: np.ndarray) -> float:
    """What five products in view earn: the better one fits, the more often it is bought."""
    seen = np.argsort(-scores, kind="stable")[:5]
    return float((labels[seen] / 4 * margin[seen]).sum())


def main(n_queries: int = 120, n_trees: int = 50) -> dict[str, Any]:
    train, test = products(n_queries, seed=0).split(valid=0.4, seed=0)
    forest = {"n_trees": n_trees, "max_leaves": 7, "min_docs_in_leaf": 10, "seed": 0}
    by_fit = rw.LambdaMART(**forest).fit(train)
    by_profit = rw.LambdaMART(objective=from_function(profitable), **forest).fit(train)

    systems = {"fit alone": by_fit.predict(test), "fit and margin": by_profit.predict(test)}
    earnings = rw.compare(systems, test, [earned])
    fits = rw.compare(systems, test, ["ndcg@10"])
    print("What the first five products of a query earn:")
    print(earnings)
    print("What that costs in relevance:")
    print(fits)
    return {"earnings": earnings, "fits": fits}


if __name__ == "__main__":
    main()

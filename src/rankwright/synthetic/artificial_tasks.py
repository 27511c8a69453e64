"""The two artificial tasks of RankNet's section 5.1 (Burges et al. 2005).

Where the paper is silent: the hidden units are tanh, thresholds are weights and drawn like them, and the bins of the
target function are cut so that the relevance levels are equally frequent, which is what the paper's numbers of pairs
say (20,382 for 20 queries of 50 documents; equal levels give 20 · 1,225 · 5/6 = 20,417 on average).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, Seed, generator
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require

N_HIDDEN = 10

Target: TypeAlias = Callable[[Float64Array, np.random.Generator], Float64Array]  # of features


def random_network(
    n_queries: int = 1000, *, docs_per_query: int = 50, n_features: int = 50, n_levels: int = 6, seed: Seed = 0
) -> RankingDataset:
    """Documents whose labels follow a random net.

    This is the first artificial task of RankNet, section 5.1: the target is a random net with one hidden layer of ten
    units. Features are drawn evenly from [-1, 1]. The labels are the target function cut into levels that are
    equally frequent.

    Parameters
    ----------
    n_queries : int, default 1000
        The number of queries.
    docs_per_query : int, default 50
        The number of documents of each query.
    n_features : int, default 50
        The number of features.
    n_levels : int, default 6
        The number of different labels, 2 or more: 0 to `n_levels` - 1.
    seed : int or numpy.random.Generator, default 0
        The same seed gives the same data.

    Returns
    -------
    RankingDataset
        The data.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.synthetic.random_network(20)
    RankingDataset(20 queries, 1,000 documents, 50 features)
    """

    def target(features: Float64Array, rng: np.random.Generator) -> Float64Array:
        hidden_weights, hidden_bias = rng.uniform(-1, 1, (n_features, N_HIDDEN)), rng.uniform(-1, 1, N_HIDDEN)
        # The output's own bias and transfer function keep the order, hence the levels.
        return np.tanh(features @ hidden_weights + hidden_bias) @ rng.uniform(-1, 1, N_HIDDEN)

    return _task(target, n_queries, docs_per_query, n_features, n_levels, seed)


def random_polynomial(
    n_queries: int = 1000, *, docs_per_query: int = 50, n_features: int = 50, n_levels: int = 6, seed: Seed = 0
) -> RankingDataset:
    """Documents whose labels follow a random polynomial.

    This is the second artificial task of RankNet, section 5.1: the target is the mean of a random linear, a
    quadratic and a cubic term. Features are drawn evenly from [-1, 1]. The labels are the target function cut into
    levels that are equally frequent.

    Parameters
    ----------
    n_queries : int, default 1000
        The number of queries.
    docs_per_query : int, default 50
        The number of documents of each query.
    n_features : int, default 50
        The number of features.
    n_levels : int, default 6
        The number of different labels, 2 or more: 0 to `n_levels` - 1.
    seed : int or numpy.random.Generator, default 0
        The same seed gives the same data.

    Returns
    -------
    RankingDataset
        The data.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.synthetic.random_polynomial(20)
    RankingDataset(20 queries, 1,000 documents, 50 features)
    """

    def target(features: Float64Array, rng: np.random.Generator) -> Float64Array:
        second, third = rng.permutation(n_features), (rng.permutation(n_features), rng.permutation(n_features))
        terms = [
            features @ rng.uniform(-1, 1, n_features),
            (features * features[:, second]).sum(axis=1),
            (features * features[:, third[0]] * features[:, third[1]]).sum(axis=1),
        ]
        mean: Float64Array = np.mean([(term - term.mean()) / term.std() for term in terms], axis=0)
        return mean

    return _task(target, n_queries, docs_per_query, n_features, n_levels, seed)


def _task(
    target: Target, n_queries: int, docs_per_query: int, n_features: int, n_levels: int, seed: Seed
) -> RankingDataset:
    for name, value in {"n_queries": n_queries, "docs_per_query": docs_per_query, "n_features": n_features}.items():
        require(value >= 1, f"{name} must be 1 or more, got {value}")
    require(n_levels >= 2, f"n_levels must be 2 or more, got {n_levels}")
    document_rng, target_rng = generator(seed).spawn(2)
    n_docs = n_queries * docs_per_query
    # Rounded to what the dataset stores first, so that the labels belong to the features the user sees.
    features = document_rng.uniform(-1, 1, (n_docs, n_features)).astype(np.float32)
    labels = _equally_frequent(target(features.astype(np.float64), target_rng), n_levels)
    return RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(1, n_queries + 1), docs_per_query))


def _equally_frequent(values: Float64Array, n_levels: int) -> Float32Array:
    """Levels 0 to `n_levels - 1`, higher for higher values; each has the same number of values, give or take 1."""
    place = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    return (place * n_levels // len(values)).astype(np.float32)

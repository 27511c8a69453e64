"""Sparse features to try things on: one-hot fields, and words as often as they are in text; with oddities."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_array


def one_hot(n_rows: int, n_fields: int = 6, n_values: int = 40, seed: int = 0) -> csr_array:
    """Fields of which each row has one value; a few values are frequent."""
    rng = np.random.default_rng(seed)
    values = np.minimum(rng.geometric(0.08, (n_rows, n_fields)) - 1, n_values - 1)
    columns = (values + n_values * np.arange(n_fields)).astype(np.int32)
    starts = np.arange(0, n_rows * n_fields + 1, n_fields)
    return csr_array((np.ones(columns.size, np.float32), columns.reshape(-1), starts), (n_rows, n_fields * n_values))


def words(n_rows: int, n_words: int = 300, seed: int = 0) -> csr_array:
    """Counts of words of a language in which some are in most rows and most in few."""
    rng = np.random.default_rng(seed)
    found = np.minimum((n_words ** rng.random((n_rows, 12))).astype(np.int32) - 1, n_words - 1)
    rows = np.repeat(np.arange(n_rows), 12)
    matrix = csr_array((np.ones(found.size, np.float32), (rows, found.reshape(-1))), (n_rows, n_words))
    matrix.sum_duplicates()
    return matrix


def odd(n_rows: int, seed: int = 0) -> csr_array:
    """Words with missing and negative values, stored zeros, many values in one column, and columns without any."""
    matrix, rng = words(n_rows, seed=seed), np.random.default_rng(seed + 1)
    drawn = rng.random(matrix.nnz)
    matrix.data[drawn < 0.1] = np.nan
    matrix.data[(drawn > 0.1) & (drawn < 0.2)] *= -1
    matrix.data[(drawn > 0.2) & (drawn < 0.25)] = 0
    in_first = matrix.indices == 0
    matrix.data[in_first] += rng.normal(size=in_first.sum()).astype(np.float32)
    return matrix


def judged(matrix: Any, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Labels that follow the features, and query ids."""
    rng = np.random.default_rng(seed)
    scores = np.nan_to_num(matrix.toarray()) @ rng.normal(size=matrix.shape[1]) + rng.normal(size=matrix.shape[0])
    labels = np.digitize(scores, np.quantile(scores, [0.5, 0.8, 0.95])).astype(np.float32)
    return labels, np.arange(matrix.shape[0]) // 20

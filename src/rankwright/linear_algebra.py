"""Sums of products, and linear systems, whose bits do not depend on the processor.

NumPy's `@` and its `linalg` are computed by a library that adds up in another order on another kind of processor.
`einsum` has no library behind it, so that whatever reaches a model is computed by it.
"""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float64Array

SMALLEST_PIVOT = 1e-12  # of a matrix whose diagonal is 1: what is left of a row that the others nearly make up


def inner(one: Float64Array, other: Float64Array) -> float:
    """The sum of the products of two vectors."""
    return float(np.einsum("i,i->", one, other))


def length(vector: Float64Array) -> float:
    """The square root of the sum of squares."""
    return float(np.sqrt(inner(vector, vector)))


def times(matrix: Float64Array, vector: Float64Array) -> Float64Array:
    """The product of each row with the vector."""
    return np.asarray(np.einsum("ij,j->i", matrix, vector))


def solve_symmetric(matrix: Float64Array, answers: Float64Array) -> Float64Array:
    """The x with matrix · x = answers, for a symmetric matrix without negative eigenvalues, such as a covariance.

    Where rows depend on each other, so that there are many such x, it is the shortest in units in which the diagonal
    is 1: features that are copies of each other share their weight.
    """
    spread = np.sqrt(np.diag(matrix))
    unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    return unit * _shortest(matrix * unit[:, None] * unit, answers * unit)


def _shortest(matrix: Float64Array, answers: Float64Array) -> Float64Array:
    factor, order = _cholesky(matrix)
    if len(order) == len(matrix):
        return _substitute(factor, order, answers)
    # With matrix = F · Fᵀ and independent columns in F, it is F · (FᵀF)⁻¹ · (FᵀF)⁻¹ · Fᵀ · answers.
    smaller = np.einsum("ij,ik->jk", factor, factor)
    once = solve_symmetric(smaller, times(factor.T, answers))
    return times(factor, solve_symmetric(smaller, once))


def _cholesky(matrix: Float64Array) -> tuple[Float64Array, list[int]]:
    """F with matrix = F · Fᵀ, a column for each independent row, and these rows; the rest is a matter of rounding."""
    factor, left, order = np.zeros_like(matrix), np.diag(matrix).copy(), list[int]()
    while len(order) < len(matrix):
        pivot, done = int(np.argmax(left)), len(order)
        if left[pivot] <= SMALLEST_PIVOT:
            break
        column = (matrix[pivot] - times(factor[:, :done], factor[pivot, :done])) / np.sqrt(left[pivot])
        column[order] = 0.0
        factor[:, done] = column
        left -= column**2
        left[pivot] = -np.inf
        order.append(pivot)
    return factor[:, : len(order)], order


def _substitute(factor: Float64Array, order: list[int], answers: Float64Array) -> Float64Array:
    """The x with F · Fᵀ · x = answers, where the rows of F, in this order, are a triangle."""
    triangle, half = factor[order], answers[order]
    for row in range(len(order)):
        half[row] = (half[row] - inner(triangle[row, :row], half[:row])) / triangle[row, row]
    for row in reversed(range(len(order))):
        half[row] = (half[row] - inner(triangle[row + 1 :, row], half[row + 1 :])) / triangle[row, row]
    solution = np.empty_like(half)
    solution[order] = half
    return solution

"""Features in pieces: a net's inputs that are piecewise linear in the features, so that it need not bend them itself.

Knots lie at quantiles of the training data, in units of standardised features. The first layer's kernel finds what
pieces add to a document's units without making the inputs; only explanations and torch's modules ask for those.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays, BoolArray, Float32Array, IntArray
from rankwright.container.checks import check_finite, read_array, read_number
from rankwright.errors import InputError
from rankwright.kernels.records import Pieces

ENCODINGS = ("none", "piecewise")
MOST_PIECES = 256  # of a feature: the place of each value is found by going through them
SAMPLED_ROWS = 20_000  # that quantiles are taken of
HEIGHT = 0.3  # of pieces beside standardised features: larger steps would learn them by heart
HALVINGS = 30
CLOSEST = 1e-5  # knots, in parts of their size: nearer ones would make a jump of a rounding error


def fit_pieces(standardised: Float32Array, n_pieces: int, categories: Mapping[int, Float32Array]) -> Pieces:
    """Cut standardised features, in which NaN is missing, into so many pieces of about equal numbers of documents.

    `categories` has the values of features that hold codes of categories. Missing values have an input of their own
    where there are some.
    """
    n_rows, n_features = standardised.shape
    rows = np.unique(np.linspace(0, max(0, n_rows - 1), SAMPLED_ROWS).astype(np.int64)) if n_rows else np.arange(0)
    sample = standardised[rows].T
    knots = [
        _between(categories[feature]) if feature in categories else _knots(own, n_pieces)
        for feature, own in enumerate(sample)
    ]
    categorical = np.isin(np.arange(n_features), list(categories))
    missing = np.isnan(standardised).any(axis=0) | categorical  # a category may be one that nobody has seen
    starts = np.concatenate([[0], np.cumsum([len(own) for own in knots], dtype=np.int64)])
    return Pieces(starts, np.concatenate([*knots, np.zeros(0, np.float32)]), categorical, missing, HEIGHT)


def _knots(values: Float32Array, n_pieces: int) -> Float32Array:
    """The ends of pieces: all distinct values where they are few, else quantiles that no value is several of."""
    distinct, counts = np.unique(values[np.isfinite(values)] + np.float32(0), return_counts=True)
    if len(distinct) > n_pieces + 1:
        at_most = float(counts.sum())
        for _ in range(HALVINGS):  # frequent values count less and less, until others have knots of their own
            mass = np.cumsum(np.minimum(counts, at_most))
            places = np.unique(np.searchsorted(mass, np.linspace(0, mass[-1], n_pieces + 1)))
            if len(places) == n_pieces + 1:
                break
            at_most /= 2
        distinct = distinct[places]
    kept = distinct[:1].tolist()
    for value in distinct[1:].tolist():
        if (
            value - kept[-1] > CLOSEST * max(abs(value), abs(kept[-1]))
            and value - kept[-1] >= np.finfo(np.float32).tiny
        ):
            kept.append(value)
    return np.array(kept if len(kept) > 1 else [], np.float32)


def _between(values: Float32Array) -> Float32Array:
    """The middles between ascending values."""
    return (values[:-1] + (values[1:] - values[:-1]) / 2).astype(np.float32)


def n_piece_inputs(pieces: Pieces) -> IntArray:
    """How many inputs each feature has beside itself."""
    n_knots = np.diff(pieces.starts)
    found: IntArray = np.where(pieces.categorical, n_knots + 1, np.maximum(0, n_knots - 1)) + pieces.missing
    return found


class PieceTable(NamedTuple):
    """Each input beside the features themselves, for those who write nets in other formats.

    Of a number it rises from `low` to `high`, of a category it is there where the value is `low` or above and below
    `high`; where `of_missing`, it is there where the value is missing, and others of that feature then are not.
    """

    feature: IntArray
    low: Float32Array
    high: Float32Array
    of_category: BoolArray
    of_missing: BoolArray


def piece_table(pieces: Pieces) -> PieceTable:
    """The inputs of the pieces, in their order."""
    features, lows, highs = list[int](), list[float](), list[float]()
    of_category, of_missing = list[bool](), list[bool]()
    for feature, (start, stop) in enumerate(pairwise(pieces.starts.tolist())):
        knots, has_categories = pieces.knots[start:stop].tolist(), bool(pieces.categorical[feature])
        ends = list(pairwise([-np.inf, *knots, np.inf] if has_categories else knots))
        n_missing = int(pieces.missing[feature])
        features += [feature] * (len(ends) + n_missing)
        lows += [low for low, _ in ends] + [0.0] * n_missing
        highs += [high for _, high in ends] + [1.0] * n_missing
        of_category += [has_categories] * len(ends) + [False] * n_missing
        of_missing += [False] * len(ends) + [True] * n_missing
    return PieceTable(
        np.array(features, np.int64),
        np.array(lows, np.float32),
        np.array(highs, np.float32),
        np.array(of_category, np.bool_),
        np.array(of_missing, np.bool_),
    )


def by_feature(pieces: Pieces, values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums over the inputs of each feature, of a row of values for each document."""
    sizes = n_piece_inputs(pieces)
    ends = (len(sizes) + np.cumsum(sizes)).tolist()
    of_pieces = [values[:, start:end].sum(axis=1) for start, end in pairwise([len(sizes), *ends])]
    return np.asarray(values[:, : len(sizes)] + np.stack(of_pieces, axis=1), np.float64)


def n_inputs(pieces: Pieces) -> int:
    """How many inputs a net has."""
    return len(pieces.missing) + int(n_piece_inputs(pieces).sum())


def pieces_to_state(pieces: Pieces) -> tuple[dict[str, Any], Arrays]:
    """What a file's header tells, and its arrays."""
    names = ("starts", "knots", "categorical", "missing")
    arrays = {f"pieces.{name}": getattr(pieces, name) for name in names}
    return {"encoding": "piecewise", "height": pieces.height}, arrays


def restored_pieces(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], n_features: int) -> Pieces:
    """The pieces that a file's header and arrays tell."""
    height = read_number(header, "height")
    if header["encoding"] != "piecewise" or not 0 < height <= 1:
        raise InputError(f"a net's inputs cannot be {dict(header)}")
    starts = read_array(arrays, "starts", np.int64, (n_features + 1,))
    knots: Float32Array = arrays["knots"] if "knots" in arrays else np.zeros(0, np.float32)
    knots = read_array(arrays, "knots", np.float32, (knots.size,))
    categorical: BoolArray = read_array(arrays, "categorical", np.bool_, (n_features,))
    pieces = Pieces(starts, knots, categorical, read_array(arrays, "missing", np.bool_, (n_features,)), height)
    sizes = np.diff(starts)
    if starts[0] != 0 or starts[-1] != len(knots) or (sizes < 0).any():
        raise InputError(f"pieces.starts must ascend from 0 to {len(knots)}")
    check_finite("pieces.knots", knots)
    own = np.repeat(np.arange(n_features), sizes)
    apart = knots[1:].astype(np.float64) - knots[:-1]
    inside = own[1:] == own[:-1]
    if (sizes[~pieces.categorical] == 1).any() or (apart[inside] < np.finfo(np.float32).tiny).any():
        raise InputError("the knots of a feature must be two or more, in ascending order")
    return pieces

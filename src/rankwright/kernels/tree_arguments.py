"""What the kernel that grows a tree takes, in groups. It reads the fields by name."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, IntArray

Int32Array = NDArray[np.int32]
Uint32Array = NDArray[np.uint32]


@dataclass(frozen=True, slots=True, eq=False)
class SplitColumns:
    """What is known of each feature that a tree may split on."""

    n_bins: IntArray  # without that of missing values
    categorical: BoolArray
    monotone: NDArray[np.int8]  # +1 where values must rise with the feature, -1 where they must fall, else 0
    asked: BoolArray  # whether the tree may split on it


@dataclass(frozen=True, slots=True)
class GrowthSettings:
    """How a tree is grown, and the scales of the whole numbers it is grown on."""

    max_leaves: int
    max_depth: int
    min_docs: int
    min_curvature: float
    l2: float
    min_gain: float
    newton: bool  # splits by gradient² / (curvature + l2), else by gradient² / count
    category_smoothing: float
    max_split_categories: int
    gradient_scale: float
    curvature_scale: float
    learning_rate: float


@dataclass(frozen=True, slots=True, eq=False)
class GrowthScratch:
    """Memory that the compiled kernel works in; a caller keeps it from tree to tree."""

    rows: Uint32Array  # as many as the tree has
    sides: NDArray[np.uint8]
    histograms: NDArray[np.uint64]  # room for two at least


@dataclass(frozen=True, slots=True, eq=False)
class NodeArrays:
    """A tree to be filled, by node; the root is the first."""

    feature: Int32Array  # -1 marks a leaf
    bin: Int32Array
    left: Int32Array
    right: Int32Array
    missing_left: BoolArray
    gain: Float64Array
    value: Float32Array
    begin: IntArray  # the node's documents are rows[begin] to rows[begin + count]
    count: IntArray
    categories: Uint32Array  # bit c of a node's words says that category c goes left

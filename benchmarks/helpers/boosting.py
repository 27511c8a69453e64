"""The plainest boosting there is, for benchmarks of the engine: trees that follow the gradient of squared error."""

from __future__ import annotations

import numpy as np

from rankwright.arrays import Float32Array
from rankwright.data.dataset import RankingDataset
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.forests.forest import Forest, forest_of
from rankwright.trees.grower import GrowerMemory, grow_tree
from rankwright.trees.params import TreeParams


def boost_labels(
    data: RankingDataset, n_trees: int, params: TreeParams, *, max_bins: int = 255, threads: int = 2
) -> Forest:
    """A forest fitted to the labels, from raw features, all work included."""
    binned = bin_dataset(data, max_bins=max_bins, threads=threads)
    labels = labels_of(binned)  # in the order of its rows, which is not that of `data`
    memory = GrowerMemory(binned, params.max_leaves)
    scores, curvature = np.zeros(data.n_docs), np.ones(data.n_docs, np.float32)
    trees = []
    for number in range(n_trees):
        gradient = (scores - labels).astype(np.float32)
        grown = grow_tree(binned, gradient, curvature, params, seed=number, memory=memory, threads=threads)
        grown.add_to(scores, threads=threads)
        trees.append(grown.tree)
    return forest_of(trees, binned.mapper)


def labels_of(data: RankingDataset | BinnedDataset) -> Float32Array:
    assert data.labels is not None
    return data.labels

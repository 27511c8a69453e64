"""A small model (the student) that learns from a large one (the teacher) how to order pairs of documents.

The cost is RankNet's (Burges et al. 2005, Eq. 3). The target probability of a pair is the teacher's: the logistic
function of the difference of its two scores. `PairwiseObjective` with a certainty of 1 computes it for each pair when
these scores are the labels. The cost is lowest where the student's differences equal the teacher's. Judges' labels are
not used, so documents may be made up. A document's weight is DCG's discount of the rank the teacher gives it, so that a
small student spends its leaves on the top of the lists.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rankwright.arrays import Float32Array, Seed, generator, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import require
from rankwright.objectives.families import ranknet
from rankwright.objectives.objective import Objective
from rankwright.rankers.ranker import Ranker
from rankwright.ranking.gains import LOG2
from rankwright.ranking.order import rank
from rankwright.settings.setting import check_settings, setting
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.forests.forest import Forest
from rankwright.trees.params import TreeParams


@dataclass(frozen=True, slots=True, kw_only=True)
class StudentParams:
    """How a student learns.

    Parameters
    ----------
    synthetic
        How many lists are made up for each list of the data.
    max_leaves
        The most leaves of a tree; None takes as many as the teacher's largest tree has.
    learning_rate
        What each tree's values are multiplied by.
    min_docs_in_leaf
        The fewest documents of a leaf: few, since a teacher's scores have no noise.
    hidden
        The nets to try, each by the widths of its hidden layers.
    epochs
        The most epochs of a net: it stops where the validation part no longer gains.
    patience
        How many epochs without a gain a net is given.
    """

    synthetic: int = setting(1, least=0)
    max_leaves: int | None = setting(None, least=2)
    learning_rate: float = setting(0.4, above=0)
    min_docs_in_leaf: int = setting(5, least=1)
    hidden: tuple[tuple[int, ...], ...] = setting(((16,), (64, 32), (128, 64)))
    epochs: int = setting(100, least=1)
    patience: int = setting(10, least=1)

    def __post_init__(self) -> None:
        check_settings(self)
        require(len(self.hidden) > 0, "hidden must name one net or more")
        object.__setattr__(self, "hidden", tuple(map(tuple, self.hidden)))  # settings from text come as lists


def posterior_cost() -> Objective:
    """RankNet's cost with a teacher's scores as labels: the target is the logistic function of their difference."""
    return ranknet(pair_equal_labels=True, certainty=1.0)


def taught(teacher: Ranker, data: RankingDataset, *, synthetic: int = 1, seed: int = 0) -> RankingDataset:
    """The documents of `data` and of `synthetic` made-up lists for each query, with the teacher's scores as labels.

    Labels are shifted to 0 and above: only differences count. Document weights fall with the teacher's rank.
    """
    data = data.dense("a compression")
    plain = _unlabelled(data, data.features)
    streams = np.random.default_rng(seed).spawn(synthetic)
    parts = [plain, *(resampled_lists(plain, seed=stream) for stream in streams)]
    scores = np.concatenate([teacher.predict(part) for part in parts])
    groups = Groups.of_sizes(np.concatenate([part.groups.sizes for part in parts]))
    discounts = LOG2.table(int(groups.sizes.max(initial=0))).astype(np.float32)
    return RankingDataset(
        features=np.concatenate([part.features for part in parts]),
        labels=(scores - scores.min(initial=np.inf)).astype(np.float32),
        groups=groups,
        document_weights=discounts[rank(scores, groups).ranks()],
        feature_names=data.feature_names,
        categories=data.categories,
    )


class StudentForest:
    """A forest that learns from the data of `taught`, tree by tree, and grows when a larger one is asked for."""

    def __init__(
        self,
        lesson: RankingDataset,
        params: StudentParams,
        *,
        max_leaves: int,
        categorical: Sequence[int] = (),
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        n_threads = thread_count(threads)
        binned = bin_dataset(lesson, categorical=tuple(categorical), seed=seed, threads=threads)
        tree = TreeParams(
            max_leaves=max_leaves, min_docs_in_leaf=params.min_docs_in_leaf, learning_rate=params.learning_rate
        )
        forces = posterior_cost().bind(binned, threads=n_threads)
        self._boosting = Boosting(binned, forces, BoostingParams(tree=tree, seed=seed), threads=n_threads)
        self._learns = True

    def of_size(self, n_trees: int) -> Forest:
        """The student's first `n_trees` trees; fewer where it has nothing left to learn."""
        while self._learns and self._boosting.n_taken < n_trees:
            self._learns = self._boosting.take_step(self._boosting.n_taken)
        return self._boosting.forest().truncated(min(n_trees, self._boosting.n_taken))


MIXED = 0.2  # share of a document's values that come from another one
FROM_OWN_QUERY = 0.5  # share of documents that mix with one of their own query; the others mix with any
BLOCK_ROWS = 2**16  # documents mixed at a time, so that the random numbers fit in memory


def resampled_lists(data: RankingDataset, *, mixed: float = MIXED, seed: Seed = 0) -> RankingDataset:
    """A synthetic list for each query: its documents, with some values of each taken from another document.

    The other document comes from the same query or from any query. Combinations of values may be new, but each value
    occurs in the data, so missing values and categories are possible ones. Labels are left out.
    """
    require(0 <= mixed <= 1, f"mixed must lie between 0 and 1, got {mixed}")
    rng = generator(seed)
    features = np.empty_like(data.features)
    for start in range(0, data.n_docs, BLOCK_ROWS):
        rows = slice(start, min(start + BLOCK_ROWS, data.n_docs))
        features[rows] = _mixed(data.features, data.groups, rows, mixed, rng)
    return _unlabelled(data, features)


def _unlabelled(data: RankingDataset, features: Float32Array) -> RankingDataset:
    names, categories = data.feature_names, data.categories
    return RankingDataset(
        features=features, labels=None, groups=data.groups, feature_names=names, categories=categories
    )


def _mixed(features: Float32Array, groups: Groups, rows: slice, mixed: float, rng: np.random.Generator) -> Float32Array:
    n_rows = rows.stop - rows.start
    query = groups.query_of_row[rows]
    own = groups.offsets[query] + (rng.random(n_rows) * groups.sizes[query]).astype(np.int64)
    anyone = rng.integers(0, len(features), n_rows)
    partner = np.where(rng.random(n_rows) < FROM_OWN_QUERY, own, anyone)
    taken = rng.random((n_rows, features.shape[1]), np.float32) < mixed
    return np.where(taken, features[partner], features[rows])

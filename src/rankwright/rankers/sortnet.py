"""SortNet: a net that compares two documents, and a sorting algorithm that ranks with it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Float64Array, thread_count
from rankwright.comparators.incremental import IncrementalPlan, Iteration, learn_comparator
from rankwright.comparators.net import ComparatorNet
from rankwright.comparators.sorting import SortedDocuments, sort_documents
from rankwright.comparators.stability import Stability, measure_stability
from rankwright.comparators.training import PairCost, TrainingParams
from rankwright.data.dataset import RankingDataset
from rankwright.data.splits import split_queries
from rankwright.errors import require
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest
from rankwright.training.loop import Listener
from rankwright.training.spaces import Real, Space, Whole

FEWEST_QUERIES_TO_SPLIT = 5
STABILITY_SHUFFLES = 5


class SortNet(Ranker):
    """A learned comparator that sorts (Rigutini, Papini, Maggini, Scarselli 2008), trained by their Algorithm 3.1.

    `hidden` is the number of hidden neurons, each with its dual beside it, or a number for each of several layers.
    Up to `max_iter` times a net is trained for `epochs` on all pairs that earlier ones compared wrongly while sorting;
    `select` (RankQuality) on the validation documents chooses among them. Where `fit` is given none, `valid_fraction`
    of the training queries are held back for it, drawn by `seed`; below five queries the training ones serve for both.
    `restart` trains a new net each time, as the paper does; otherwise the last one is trained on. `cost` is `squared`
    error (the paper's) or `logistic`; `learning_rate`, which falls to 0 over the epochs, and `weight_decay` are Adam's,
    its steps are of `batch_queries` queries. Features are scaled by the paper's Eq. 4, those that hold
    counts after their logarithm was taken, unless `scaling` names another way, or None.

    A document has no score of its own: the net compares it with others of its query, so `predict` needs `qid`. Its
    scores reproduce the order: 0 for a query's best document, -1 for the next, and so on.
    """

    name: ClassVar[str] = "sortnet"
    needs_qid: ClassVar[bool] = True
    budget: ClassVar[str | None] = "max_iter"
    validates_itself: ClassVar[bool] = True
    space: ClassVar[Space] = {
        "hidden": Whole(5, 40, log=True),
        "learning_rate": Real(1e-3, 5e-2, log=True),
        "weight_decay": Real(1e-4, 1e-1, log=True),
        "epochs": Whole(10, 60, log=True),
    }

    net_: ComparatorNet
    iterations_: list[Iteration]

    def __init__(
        self,
        *,
        hidden: int | Sequence[int] = 20,
        max_iter: int = 20,
        epochs: int = 30,
        learning_rate: float = 0.01,
        weight_decay: float = 0.01,
        batch_queries: int = 16,
        cost: PairCost = "squared",
        select: str = "map",
        restart: bool = True,
        valid_fraction: float = 0.2,
        scaling: str | None = "log-counts+sortnet",
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.hidden = hidden
        self.max_iter = max_iter
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.batch_queries = batch_queries
        self.cost = cost
        self.select = select
        self.restart = restart
        self.valid_fraction = valid_fraction
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        train, watched = (data, valid) if valid is not None else self._split(data)
        learned = learn_comparator(
            train,
            watched,
            self._plan(),
            checkpoint=None if checkpoint is None else Path(checkpoint),
            settings=self._lasting_settings(),
            listeners=listeners,
            threads=thread_count(self.threads),
        )
        self.net_, self.history_, self.iterations_ = learned.net, learned.history, learned.iterations
        self.data_digest_ = data_digest(data)

    def _split(self, data: RankingDataset) -> tuple[RankingDataset, RankingDataset]:
        require(0 < self.valid_fraction < 1, f"valid_fraction must lie between 0 and 1, got {self.valid_fraction}")
        if data.n_queries < FEWEST_QUERIES_TO_SPLIT:
            return data, data
        parts = split_queries(data.groups, valid=self.valid_fraction, seed=self.seed)
        train, valid = (data.take_queries(part) for part in parts)
        return train, valid

    def _plan(self) -> IncrementalPlan:
        training = TrainingParams(
            epochs=self.epochs,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            batch_queries=self.batch_queries,
            cost=self.cost,
        )
        return IncrementalPlan(
            hidden=self._layers(),
            max_iter=self.max_iter,
            training=training,
            select=self._selected(),
            restart=self.restart,
            seed=self.seed,
        )

    def _layers(self) -> tuple[int, ...]:
        """The number of neurons in each hidden layer."""
        return (int(self.hidden),) if isinstance(self.hidden, int | np.integer) else tuple(map(int, self.hidden))

    def sort(self, X: Any, qid: Any = None) -> SortedDocuments:
        """The documents of each query as the comparator sorts them, and how many comparisons that took.

        Rows count as in the dataset that the documents make, where those of a query are together.
        """
        return self._sorted(self._documents(X, qid))

    def stability(self, X: Any, qid: Any = None, *, n_shuffles: int = STABILITY_SHUFFLES) -> Stability:
        """How far the order depends on where sorting starts and on the algorithm, and how often the net is
        intransitive."""
        return self._stability(self._documents(X, qid), n_shuffles)

    def examine(self, X: Any, qid: Any = None) -> dict[str, Any]:
        """The comparisons that sorting the documents takes, and the stability of their order."""
        data = self._documents(X, qid)
        comparisons = {"comparisons": int(self._sorted(data).n_comparisons.sum())}
        return {"sorting": comparisons | self._stability(data, STABILITY_SHUFFLES).to_dict()}

    def _stability(self, data: RankingDataset, n_shuffles: int) -> Stability:
        return measure_stability(
            self.net_,
            data.features,
            data.groups,
            n_shuffles=n_shuffles,
            rng=np.random.default_rng(self.seed),
            threads=thread_count(self.threads),
        )

    def _sorted(self, data: RankingDataset) -> SortedDocuments:
        return sort_documents(self.net_, data.features, data.groups, threads=thread_count(self.threads))

    def _scores(self, data: RankingDataset) -> Float64Array:
        return self._sorted(data).scores(data.groups)

    def facts(self) -> dict[str, Any]:
        """The neurons of each layer, the iteration the net comes from, and the pairs it was trained on."""
        check_is_fitted(self)
        best = self.n_steps_ - 1
        chosen = self.iterations_[best]
        return {
            "hidden": " + ".join(map(str, self.net_.hidden)),
            "weights": len(self.net_.weights),
            "iteration": best,
            "pairs": chosen.n_pairs,
            "share_of_pairs": chosen.share_of_pairs,
        }

    @property
    def n_steps_(self) -> int:
        """How many iterations led to the net, that of the random one among them."""
        return (self.history_.best_step or 0) + 1

    def _storable_settings(self) -> dict[str, Any]:
        layers = self._layers()
        return super()._storable_settings() | {"hidden": layers[0] if len(layers) == 1 else list(layers)}

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        header = {
            "iterations": [one.to_dict() for one in self.iterations_],
        }
        return header, {"weights": self.net_.weights}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.iterations_ = [Iteration(**one) for one in header["iterations"]]
        self.net_ = ComparatorNet(self.n_features_in_, self._layers(), arrays["weights"])

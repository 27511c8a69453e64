"""SmoothRank: NDCG made smooth, and sharpened while it is followed."""

from __future__ import annotations

from typing import ClassVar

from rankwright.errors import SettingError, require
from rankwright.linear.rows import JudgedRows
from rankwright.linear.smooth_ndcg import SmoothRank as SmoothLearner
from rankwright.metrics.discounted import NDCG
from rankwright.metrics.registry import parse_metric
from rankwright.rankers.linear_ranker import DEFAULT_SCALING, LinearRanker
from rankwright.training.driver import Learner
from rankwright.training.spaces import Real, Space


class SmoothRank(LinearRanker):
    """A linear ranker that follows NDCG directly, by annealing (Chapelle and Wu 2010).

    At each rank of the list stand all documents, softly: one whose score is d away from that of the document there has
    a share in proportion to exp(-d²/σ). That makes NDCG smooth. Training starts from a regression of the labels and
    maximises the mean smooth NDCG of `metric` (ndcg or ndcg@k) minus ½ · `l2` · |w - start|², first at `sigma`, then,
    step by step, at half the σ before, `max_iter` times; `select` on validation documents chooses the step, and so how
    sharp NDCG should have been. Queries count by their weights; NDCG is one figure of a whole list, so that weights of
    documents have no meaning and are refused. A step takes time in proportion to documents times ranks.
    """

    name: ClassVar[str] = "smoothrank"
    budget: ClassVar[str | None] = "max_iter"
    takes_document_weights: ClassVar[bool] = False
    space: ClassVar[Space] = {"l2": Real(1e-3, 10.0, log=True)}

    def __init__(
        self,
        *,
        metric: str = "ndcg@10",
        sigma: float = 64.0,
        l2: float = 0.01,
        max_iter: int = 13,
        select: str | None = None,
        scaling: str | None = DEFAULT_SCALING,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
    ) -> None:
        self.metric = metric
        self.sigma = sigma
        self.l2 = l2
        self.max_iter = max_iter
        self.select = select
        self.scaling = scaling
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads

    def _learner(self, rows: JudgedRows, threads: int) -> Learner:
        require(self.sigma > 0, f"sigma must be above 0, got {self.sigma}")
        require(self.l2 >= 0, f"l2 must be 0 or more, got {self.l2}")
        aim = parse_metric(self.metric).metric
        if not isinstance(aim, NDCG):
            raise SettingError(f"smoothrank follows ndcg or ndcg@k, got metric {self.metric!r}")
        return SmoothLearner(rows, cutoff=aim.cutoff, sigma=self.sigma, l2=self.l2, threads=threads)

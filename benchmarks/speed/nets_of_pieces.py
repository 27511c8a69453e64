"""What do pieces and members cost: an epoch of RankNet, and scoring one list, against plain nets and the same in torch?

Documents are like those of MSLR-WEB: 136 features, about 120 documents a query. torch makes the inputs of a batch anew
each time, as our kernel does, and takes a batch's members at once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from benchmarks.helpers.timing import report, time_side_by_side
from torch import nn

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.nets.net_rankers import RankNet

FEATURES, DOCUMENTS_A_QUERY, HIDDEN, PIECES, MEMBERS, BATCH_QUERIES = 136, 120, 32, 8, 16, 64
KINDS: dict[str, dict[str, Any]] = {
    "plain": {},
    "pieces": {"encoding": "piecewise", "pieces": PIECES},
    "members": {"members": MEMBERS},
    "pieces and members": {"encoding": "piecewise", "pieces": PIECES, "members": MEMBERS},
}


def made_up(n_queries: int, seed: int) -> RankingDataset:
    rng = np.random.default_rng(seed)
    sizes = np.maximum(2, rng.poisson(DOCUMENTS_A_QUERY, n_queries))
    features = rng.standard_normal((int(sizes.sum()), FEATURES), dtype=np.float32)
    worth = features[:, :8].sum(axis=1) + 3 * rng.standard_normal(len(features), dtype=np.float32)
    labels = np.searchsorted(np.quantile(worth, [0.5, 0.8, 0.93, 0.98]), worth).astype(np.float32)
    return RankingDataset(features=features, labels=labels, groups=Groups.of_sizes(sizes))


class TorchNet(nn.Module):
    """Pieces of features beside them, a shared hidden layer, members with scales, thresholds and last layers."""

    def __init__(self, knots: torch.Tensor, members: int) -> None:
        super().__init__()
        self.low, self.slope = knots[:, :-1], 1 / (knots[:, 1:] - knots[:, :-1])
        self.shared = nn.Linear(FEATURES * (1 + self.low.shape[1]), HIDDEN, bias=False)
        self.scales = nn.Parameter(torch.sign(torch.randn(members, HIDDEN)))
        self.thresholds = nn.Parameter(torch.zeros(members, HIDDEN))
        self.last = nn.Parameter(torch.randn(members, HIDDEN) / HIDDEN**0.5)

    def forward(self, documents: torch.Tensor) -> torch.Tensor:
        shares = torch.clamp((documents[:, :, None] - self.low) * self.slope, 0, 1)
        inputs = torch.cat([documents, 0.3 * shares.flatten(1)], dim=1)
        hidden = torch.relu(self.shared(inputs)[:, None, :] * self.scales + self.thresholds)
        return (hidden * self.last).sum(dim=2)


def torch_epoch(data: RankingDataset, members: int) -> Callable[[], None]:
    """Batches of queries, all pairs of each query and member in a matrix."""
    torch.manual_seed(0)
    cuts = np.quantile(data.features, np.linspace(0, 1, PIECES + 1), axis=0).T
    model = TorchNet(torch.from_numpy(np.ascontiguousarray(cuts, np.float32)), members)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    features, labels = torch.from_numpy(data.features), torch.from_numpy(np.asarray(data.labels))
    docs_of = list(data.groups.slices())

    def epoch() -> None:
        for queries in torch.randperm(len(docs_of)).split(BATCH_QUERIES):
            docs = [docs_of[query] for query in queries.tolist()]
            scores = model(torch.cat([features[own] for own in docs]))
            loss, at = torch.zeros(()), 0
            for own in docs:
                some, label = scores[at : at + own.stop - own.start], labels[own]
                at += len(some)
                better, worse = torch.nonzero(label[:, None] > label, as_tuple=True)
                loss = loss + nn.functional.softplus(some[worse] - some[better]).sum() / members
            optimizer.zero_grad()
            (loss / len(docs)).backward()
            optimizer.step()

    return epoch


def training(n_queries: int, threads: int, repeats: int) -> None:
    torch.set_num_threads(threads)
    data = made_up(n_queries, 1)
    common: dict[str, Any] = {"hidden": (HIDDEN,), "dropout": 0.0, "batch_queries": BATCH_QUERIES, "scaling": "zscore"}
    tasks: dict[str, Callable[[], object]] = {}
    for name, settings in KINDS.items():
        ranker = RankNet(**common, **settings, epochs=20, threads=threads)
        tasks[name] = partial(ranker.fit, data)
    for members in (1, MEMBERS):
        epoch = torch_epoch(data, members)
        tasks[f"torch, pieces, {members} member{'s' * (members > 1)}, one epoch"] = epoch
    for task in tasks.values():
        task()
    notes: dict[str, object] = {"queries": n_queries, "documents": data.n_docs, "threads": threads}
    report("Twenty epochs of RankNet, 32 hidden units (torch: one)", time_side_by_side(tasks, repeats), "plain", notes)


def score_often(model: Any, data: RankingDataset, threads: int) -> None:
    for _ in range(100):
        model.scores(data, threads=threads)


def scoring(threads: int, repeats: int) -> None:
    data, lists = made_up(50, 1), made_up(1, 2)
    listed = lists.features[:100].copy()
    one = RankingDataset(features=listed, labels=None, groups=Groups.of_sizes([len(listed)]))
    tasks: dict[str, Callable[[], object]] = {}
    for name, settings in KINDS.items():
        ranker = RankNet(hidden=(HIDDEN,), dropout=0.0, epochs=1, scaling="zscore", threads=threads, **settings)
        model = ranker.fit(data).trained_.model
        tasks[name] = partial(score_often, model, one, threads)
    for task in tasks.values():
        task()
    notes: dict[str, object] = {"documents": len(listed), "features": FEATURES, "threads": threads}
    report("Scoring a list of 100 documents, a hundred times", time_side_by_side(tasks, repeats), "plain", notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    settings = parser.parse_args()
    scoring(1, settings.repeats)
    training(settings.queries, settings.threads, settings.repeats)


if __name__ == "__main__":
    main()

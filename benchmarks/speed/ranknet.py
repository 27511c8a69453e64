"""How fast does RankNet train: at the size of its paper (Table 3) against Table 6, and one epoch against torch code?

`--share` takes that share of the queries, `--epochs` that many epochs: times are then scaled up to 100 epochs of all.
allRank is compared where it is installed: `pip install --no-deps allrank`.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
import types
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from benchmarks.helpers.timing import report, time_side_by_side
from torch import nn

from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.nets.net_rankers import RankNet

QUERIES, DOCUMENTS, FEATURES, PAIRS = 11_336, 384_314, 569, 3_464_289  # Table 3 and section 6.1
VALIDATION_DOCUMENTS = 64_000
PAPER_SECONDS = {(): 67 * 60, (10,): (5 * 60 + 51) * 60}  # Table 6, 100 epochs
PAPER_EPOCHS = 100
NOT_NEEDED_BY_ITS_LOSSES = ("torchvision", "torchvision.transforms", "gcsfs")  # but imported by allRank's loader
SHARE_OF_ZEROS = 0.665  # labels 0, the others 1 to 5 alike: gives the paper's number of pairs

BATCH_QUERIES = 64


def made_up(n_queries: int, weights: np.ndarray, seed: int) -> RankingDataset:
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, rng.poisson(DOCUMENTS / QUERIES, n_queries))
    features = rng.standard_normal((int(sizes.sum()), FEATURES), dtype=np.float32)
    worth = features @ weights + 8 * rng.standard_normal(len(features), dtype=np.float32)
    cuts = np.quantile(worth, SHARE_OF_ZEROS + (1 - SHARE_OF_ZEROS) * np.arange(5) / 5)
    labels = np.searchsorted(cuts, worth).astype(np.float32)
    return RankingDataset(features=features, labels=labels, groups=Groups.of_sizes(sizes))


def n_pairs(data: RankingDataset) -> int:
    assert data.labels is not None
    return sum(int((own[:, None] > own).sum()) for own in (data.labels[docs] for docs in data.groups.slices()))


def peak_megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def paper_size(share: float, epochs: int, threads: int) -> None:
    weights = np.random.default_rng(0).standard_normal(FEATURES, dtype=np.float32)
    train = made_up(round(QUERIES * share), weights, 1)
    valid = made_up(round(VALIDATION_DOCUMENTS / DOCUMENTS * QUERIES * share), weights, 2)
    held = (train.features.nbytes + valid.features.nbytes) / 2**20
    print(f"{train!r}, {n_pairs(train):,} pairs (paper, all: {PAIRS:,}); {valid.n_docs:,} validation documents")
    # What torch itself takes is there before training starts.
    RankNet(epochs=1, hidden=(2,)).fit(train.take_queries(np.arange(50)))
    before = peak_megabytes()
    for hidden, paper in PAPER_SECONDS.items():
        ranker = RankNet(hidden=hidden, dropout=0.0, epochs=epochs, select="ndcg@15", threads=threads)
        wall, cpu = time.perf_counter(), time.process_time()
        ranker.fit(train, valid=valid)
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        scale = PAPER_EPOCHS / epochs / share
        print(
            f"  hidden {hidden!s:6} {PAPER_EPOCHS} epochs {wall * scale:7.1f} s, processor {cpu * scale:7.1f} s; "
            f"paper {paper:,} s: {paper / wall / scale:5.0f}×; best ndcg@15 {ranker.history_.best_value:.4f}"
        )
    print(f"  memory: features {held:,.0f} MB, training adds {peak_megabytes() - before:,.0f} MB at most")


def net() -> nn.Sequential:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(FEATURES, 10), nn.ReLU(), nn.Linear(10, 1, bias=False))


def straightforward(data: RankingDataset) -> Callable[[], None]:
    """One query a step, all its pairs in a matrix."""
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    features, labels = torch.from_numpy(data.features), torch.from_numpy(data.labels)
    docs_of = list(data.groups.slices())

    def epoch() -> None:
        for query in torch.randperm(len(docs_of)).tolist():
            docs = docs_of[query]
            scores, label = model(features[docs]).squeeze(1), labels[docs]
            better = label[:, None] > label[None, :]
            loss = (nn.functional.softplus(scores[None, :] - scores[:, None]) * better).sum()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def allrank(data: RankingDataset, batch_queries: int) -> Callable[[], None] | None:
    """The loss of allRank on padded lists, which it makes once; None where it is not installed."""
    missing = [name for name in NOT_NEEDED_BY_ITS_LOSSES if find_spec(name.partition(".")[0]) is None]
    for name in missing:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__getattr__ = lambda _: object  # type: ignore[method-assign]
    try:
        from allrank.models.losses.rankNet import rankNet
    except ImportError as error:
        print(f"  allRank left out: {error}; pip install --no-deps allrank")
        return None
    longest = int(data.groups.sizes.max())
    features = torch.zeros(data.n_queries, longest, FEATURES)
    labels = torch.full((data.n_queries, longest), -1.0)
    for query, docs in enumerate(data.groups.slices()):
        features[query, : docs.stop - docs.start] = torch.from_numpy(data.features[docs])
        labels[query, : docs.stop - docs.start] = torch.from_numpy(data.labels)[docs]
    model = net()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)

    def epoch() -> None:
        for queries in torch.randperm(data.n_queries).split(batch_queries):
            loss = rankNet(model(features[queries]).squeeze(2), labels[queries])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

    return epoch


def one_epoch(n_queries: int, threads: int, repeats: int) -> None:
    torch.set_num_threads(threads)
    data = made_up(n_queries, np.random.default_rng(0).standard_normal(FEATURES, dtype=np.float32), 1)
    settings: dict[str, Any] = {"hidden": (10,), "dropout": 0.0, "batch_queries": BATCH_QUERIES, "scaling": "none"}
    ranker = RankNet(**settings, epochs=1, threads=threads)
    batch = BATCH_QUERIES
    tasks: dict[str, Callable[[], object]] = {"RankNet": lambda: ranker.fit(data)}
    tasks["torch, n×n, a query a step"] = straightforward(data)
    peer = allrank(data, batch)
    if peer is not None:
        tasks["allRank's rankNet"] = peer
    for task in tasks.values():
        task()  # once before, so that nobody pays for what is made at first use
    notes: dict[str, object] = {
        "queries": data.n_queries,
        "documents": data.n_docs,
        "batch of queries": batch,
        "threads": threads,
    }
    report("One epoch of RankNet, 10 hidden units", time_side_by_side(tasks, repeats), "RankNet", notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=PAPER_EPOCHS)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=3)
    settings = parser.parse_args()
    one_epoch(1000, settings.threads, settings.repeats)
    paper_size(settings.share, settings.epochs, settings.threads)


if __name__ == "__main__":
    main()

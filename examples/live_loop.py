"""A ranker that learns from what its users click: rank, log, train, reload, without stopping the server.

    python examples/live_loop.py

The server is `rankwright serve` with a journal. Users are simulated, so that we know the truth: they look at the top
more often than at the bottom, and click what fits. The first model has seen four queries; the second has seen clicks.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw
from rankwright.client import RankClient


def main(n_queries: int = 60, visits: int = 20, n_trees: int = 30, folder: str | None = None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as scratch:
        return loop(Path(folder or scratch), n_queries, visits, n_trees)


def loop(folder: Path, n_queries: int, visits: int, n_trees: int) -> dict[str, Any]:
    judged = rw.synthetic.web_search(n_queries, docs_per_query=15, seed=0)
    train, test = judged.split(valid=0.4, seed=0)
    model, journal = folder / "model.rw", folder / "journal"
    rw.LambdaMART(n_trees=2, max_leaves=3, seed=0).fit(train.take_queries(range(4))).save(model)
    before = measured(model, test)

    port = free_port()
    # Short times, so that the example does not take half an hour: lists wait a second for their clicks.
    patience = ["--click-window", "1", "--segment-seconds", "0.5", "--reload-seconds", "0.2"]
    command = [str(Path(sys.executable).with_name("rankwright")), "serve", str(model), "--port", str(port)]
    server = subprocess.Popen([*command, "--journal", str(journal), "--keep-features", *patience])
    try:
        with RankClient(f"http://127.0.0.1:{port}") as client:
            until(client.is_ready, "the server answers")
            first = client.models()[0].version
            n_clicks = visit(client, train, visits)
            print(f"{n_clicks} clicks in {visits * train.n_queries} lists")
            until(lambda: not list(journal.glob("lists-*")) or idle(journal), "lists are in segments")

            # The log that the server left is one that `rankwright clicks` reads; so are the documents' features.
            log = rw.clicks.read_log(journal / "segments")
            rates = rw.clicks.click_rates(rw.read(journal / "documents.parquet"), log)
            forest = rw.LambdaMART(n_trees=n_trees, max_leaves=7, min_docs_in_leaf=10, seed=0, debias="auto").fit(rates)
            forest.save(model)  # which the server takes, whole and checked, while it answers
            until(lambda: client.models()[0].version != first, "the server has taken the new model")
            scores = client.rank(rows=test.take_queries([0]).features.tolist()).scores
    finally:
        server.terminate()
        server.wait()
    after = measured(model, test)
    print(f"NDCG@10 on held-out queries: {before:.4f} before, {after:.4f} after")
    own = rw.load(model).predict(test.take_queries([0]))
    return {"before": before, "after": after, "lists": log.n_lists, "clicks": (n_clicks, log.n_clicks),
            "same": bool(np.array_equal(own, scores))}  # fmt: skip


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def visit(client: RankClient, data: rw.RankingDataset, visits: int) -> int:
    """Have users look at the list of each query; how many clicks they made."""
    rng, n_clicks = np.random.default_rng(0), 0
    best = float(np.max(data.labels))
    for _ in range(visits):
        for number in range(data.n_queries):
            own = data.take_queries([number])
            ids = [f"{number}/{row}" for row in range(own.n_docs)]
            shown = client.rank(rows=own.features.tolist(), features=list(own.names), ids=ids, query=number)
            likes = own.labels[shown.order] / best
            looks_at = 1 / np.arange(1, own.n_docs + 1)
            clicked = rng.random(own.n_docs) < looks_at * likes
            n_clicks += int(clicked.sum())
            client.click(shown.list_id or "", clicked=[ids[row] for row in np.array(shown.order)[clicked]])
    return n_clicks


def measured(model: Path, data: rw.RankingDataset) -> float:
    return float(rw.evaluate(rw.load(model).predict(data), data, metrics=["ndcg@10"])["ndcg@10"].mean)


def idle(journal: Path) -> bool:
    """Whether the files in which lists are collected hold none."""
    return all(path.stat().st_size == 0 for path in journal.glob("lists-*"))


def until(holds: Callable[[], bool], what: str, seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:g} seconds until {what}")
        time.sleep(0.1)


if __name__ == "__main__":
    print(json.dumps(main()))

"""How fast are click models fitted to 100,000 sessions, beside CLAX and beside our own naive twins, and how well?

    python -m benchmarks.clicks.peers --clax ENVIRONMENT/bin/python [--sessions 100_000] [--repeats 3]

CLAX (`pip install clax-models "jax<0.8"`, in an environment of its own) trains with its defaults: AdamW, at most 50
epochs, stopped by held-out sessions, which it gets besides. The sessions are in memory on both sides; what is timed is
the fit alone, compilation included, as the best of several runs that take turns. The twins run two steps of
expectation-maximisation, and are compared with two steps of the kernels. Log-likelihoods are those of sessions that
nobody has seen.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from benchmarks.clicks.speed import CANDIDATES, EXAMINATION, ORDERS, RESULTS
from benchmarks.helpers.places import CHECKOUT
from benchmarks.helpers.records import show

MODELS = ("pbm", "ubm", "dbn")
TWIN_STEPS = 2


def sessions(n: int, n_queries: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """The shown pairs and the clicks of sessions: matrices with a row for each."""
    rng = np.random.default_rng(seed)
    popularity = 1 / np.arange(1, n_queries + 1) ** 0.8
    attraction = rng.beta(1, 5, (n_queries, CANDIDATES))
    noisy = -attraction[:, None] + rng.normal(0, 0.2, (n_queries, ORDERS, CANDIDATES))
    orders = np.argsort(noisy, axis=2)[:, :, :RESULTS]
    queries = rng.choice(n_queries, n, p=popularity / popularity.sum())
    shown = orders[queries, rng.integers(0, ORDERS, n)]
    clicked = rng.random(shown.shape) < attraction[queries[:, None], shown] * EXAMINATION
    return queries[:, None] * CANDIDATES + shown, clicked


def fit_ours(path: str, name: str, iterations: int | None) -> dict[str, Any]:
    """Fit one model, and tell its time and held-out log-likelihood."""
    from rankwright import clicks

    arrays = np.load(path)

    def log_of(part: str) -> clicks.ClickLog:
        pairs = arrays[f"{part}_pairs"]
        n_pairs = int(arrays["n_pairs"])
        return clicks.ClickLog(
            queries=(pairs[:, 0] // CANDIDATES).astype(np.int32),
            offsets=np.arange(len(pairs) + 1) * RESULTS,
            documents=pairs.astype(np.int32).ravel(),
            clicked=arrays[f"{part}_clicks"].ravel(),
            query_ids=np.arange(n_pairs // CANDIDATES),
            document_ids=np.arange(n_pairs),
        )

    train = log_of("train")
    import scipy.special  # noqa: F401  # loading a library is no part of fitting

    start, processor = time.perf_counter(), time.process_time()
    settings = {} if iterations is None else {"iterations": iterations, "tolerance": 0.0}
    model = clicks.click_model(name, **settings).fit(train)
    found = {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "steps": model.n_iterations_,
    }
    if iterations is None:
        found["log-likelihood"] = model.evaluate(log_of("test")).log_likelihood
    return found


def run(command: list[str], **environment: str) -> dict[str, Any]:
    done = subprocess.run(command, capture_output=True, text=True, cwd=CHECKOUT, env=os.environ | environment)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def best(found: list[dict[str, Any]]) -> dict[str, Any]:
    """The last run, with the shortest times of all."""
    return found[-1] | {key: min(one[key] for one in found) for key in ("seconds", "processor")}


def compare(name: str, path: str, clax: str | None, repeats: int) -> dict[str, Any]:
    """One row: a model on all sides."""
    own = [sys.executable, "-m", "benchmarks.clicks.peers", "--arrays", path, "--model", name]
    steps = [*own, "--iterations", str(TWIN_STEPS)]
    ours, peers, short = [], [], []
    for _ in range(repeats):
        ours.append(run(own))
        short.append(run(steps))
        if clax:
            peers.append(run([clax, str(Path(__file__).with_name("clax.py")), path, name]))
    twin, of_kernels, us = run(steps, RANKWRIGHT_KERNELS="reference"), best(short), best(ours)
    row = {"model": name, "seconds": us["seconds"], "processor": us["processor"], "steps": us["steps"],
           "log-likelihood": us["log-likelihood"]}  # fmt: skip
    if clax:
        peer = best(peers)
        row |= {
            "CLAX seconds": peer["seconds"],
            "CLAX processor": peer["processor"],
            "CLAX log-likelihood": peer["log-likelihood"],
            "times faster": peer["seconds"] / us["seconds"],
            "by processor": peer["processor"] / us["processor"],
        }
    return row | {"times the twin": twin["processor"] / of_kernels["processor"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clax", help="the Python of an environment with clax-models")
    parser.add_argument("--sessions", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=2_000)
    parser.add_argument("--repeats", type=int, default=3)
    for name in ("--arrays", "--model"):
        parser.add_argument(name, help=argparse.SUPPRESS)
    parser.add_argument("--iterations", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.arrays:
        print(json.dumps(fit_ours(given.arrays, given.model, given.iterations)))
        return
    pairs, clicked = sessions(given.sessions * 3 // 2, given.queries)
    cuts = [given.sessions, given.sessions * 5 // 4]
    with TemporaryDirectory() as folder:
        path = str(Path(folder, "sessions.npz"))
        arrays: dict[str, Any] = {
            f"{part}_{name}": piece
            for name, whole in (("pairs", pairs), ("clicks", clicked))
            for part, piece in zip(("train", "valid", "test"), np.split(whole, cuts), strict=True)
        }
        np.savez(path, n_pairs=given.queries * CANDIDATES, **arrays)
        rows = []
        for name in MODELS:
            rows.append(compare(name, path, given.clax, given.repeats))
            print(rows[-1], flush=True)
    show("clicks_peers", f"{given.sessions:,} sessions: fits beside CLAX and the naive twins", rows)


if __name__ == "__main__":
    main()

"""How many queries a second a served ranker answers, and how soon: ours as JSON, Arrow, float32 and V2 tensors, beside
LightGBM behind FastAPI with orjson, LitServe and BentoML.

100 documents of 136 features, 500 trees of 31 leaves, 16 connections. The server has one core, `wrk` the other. All are
run in turns, several rounds, and medians are told, with the processor time that a request took: machines are shared.

    python -m benchmarks.serving.rank --seconds 30 --rounds 3 --peers PYTHON

PYTHON is that of an environment with `pip install fastapi uvicorn uvloop orjson litserve bentoml lightgbm`.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.serving.load import Load, cpu_seconds, end_group, is_open, wait_until_open

import rankwright as rw

N_DOCS, N_FEATURES, PORT = 100, 136, 8751
PEERS = Path(__file__).parent / "peers"
JSON, ARROW, FLOATS = "application/json", "application/vnd.apache.arrow.stream", "application/octet-stream"


@dataclass(frozen=True)
class Asked:
    """One kind of request to one server."""

    name: str
    command: list[str]
    path: str
    body: bytes
    kind: str
    headers: tuple[tuple[str, str], ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


def trained_models(folder: Path) -> np.ndarray:
    """Train both models on the same made-up documents, unless they are there; the documents of one query."""
    rng = np.random.default_rng(0)
    features = rng.standard_normal((60 * N_DOCS, N_FEATURES)).astype(np.float32)
    worth = features @ (rng.standard_normal(N_FEATURES) * (rng.random(N_FEATURES) < 0.3)) / 3
    labels = np.clip(np.round(worth + rng.standard_normal(len(worth))), 0, 4)
    if (folder / "lightgbm.txt").exists():
        return features[:N_DOCS]
    import lightgbm

    ranker = rw.LambdaMART(n_trees=500, max_leaves=31, threads=1)
    ranker.fit(features, labels, qid=np.repeat(np.arange(60), N_DOCS)).save(folder / "model.rw")
    data = lightgbm.Dataset(features, labels, group=np.full(60, N_DOCS))
    how = {"objective": "lambdarank", "num_leaves": 31, "verbose": -1, "num_threads": 1}
    lightgbm.train(how, data, 500).save_model(folder / "lightgbm.txt")
    return features[:N_DOCS]


def bodies(rows: np.ndarray, folder: Path, peers: str | None) -> list[Asked]:
    import pyarrow as pa

    text = json.dumps({"rows": [[float(str(value)) for value in row] for row in rows]}, separators=(",", ":")).encode()
    lists = pa.table({"features": pa.FixedSizeListArray.from_arrays(pa.array(rows.reshape(-1)), N_FEATURES)})
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, lists.schema) as writer:
        writer.write_table(lists)
    tensor: dict[str, Any] = {"name": "features", "shape": [N_DOCS, N_FEATURES], "datatype": "FP32"}
    tensor["parameters"] = {"binary_data_size": rows.nbytes}
    head = json.dumps({"inputs": [tensor], "parameters": {"binary_data_output": True}}).encode()
    length = (("Inference-Header-Content-Length", str(len(head))),)
    own = [str(Path(sys.executable).with_name("rankwright")), "serve", str(folder / "model.rw"), "--port", str(PORT)]
    asked = [
        Asked("JSON", own, "/v1/rank", text, JSON),
        Asked("Arrow", own, "/v1/rank", sink.getvalue(), ARROW),
        Asked("float32", own, "/v1/rank", rows.tobytes(), FLOATS),
        Asked("V2 binary", own, "/v2/models/model/infer", head + rows.tobytes(), FLOATS, length),
    ]
    if peers is not None:
        model = str(folder / "lightgbm.txt")
        for name in ("fastapi", "litserve"):
            command = [peers, str(PEERS / f"{name}_lightgbm.py"), model, str(PORT)]
            asked.append(Asked(name, command, "/v1/rank", text, JSON))
        bento = [str(Path(peers).with_name("bentoml")), "serve", "bentoml_lightgbm:RankService", "--port", str(PORT)]
        asked.append(
            Asked("bentoml", [*bento, "--working-dir", str(PEERS)], "/v1/rank", text, JSON, (), {"BENTO_MODEL": model})
        )
    return asked


def measured(asked: Asked, seconds: int, folder: Path) -> dict[str, Any]:
    environment = os.environ | {"OMP_NUM_THREADS": "1", "BENTOML_DO_NOT_TRACK": "True"} | asked.environment
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    # A server that an earlier run left behind would answer in this one's place.
    assert not is_open(PORT), f"something listens at port {PORT} already"
    command = ["taskset", "-c", "0", *asked.command]
    server = subprocess.Popen(command, env=environment, cwd=folder, start_new_session=True, **quiet)
    try:
        wait_until_open(PORT, 90)
        load = Load(f"http://127.0.0.1:{PORT}{asked.path}", asked.body, asked.kind, folder, asked.headers)
        load.run(seconds=2)
        before = cpu_seconds(server.pid)
        found = load.run(seconds=seconds)
        found["cpu_us"] = (cpu_seconds(server.pid) - before) / max(1, found["requests"]) * 1e6
        assert server.poll() is None, f"{asked.name} ended while it was measured"
        assert found["wrong"] == found["broken"] == 0, f"{asked.name}: {found}"
    finally:
        end_group(server)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="Python of an environment with the peers")
    parser.add_argument("--folder", type=Path, help="where trained models are kept, and found again")
    parser.add_argument("--only", nargs="+", help="servers by name")
    args = parser.parse_args()
    found: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as name:
        folder = args.folder or Path(name)
        every = bodies(trained_models(folder), folder, args.peers)
        every = [one for one in every if not args.only or one.name in args.only]
        for _ in range(args.rounds):
            for one in every:
                found[one.name].append(measured(one, args.seconds, folder))
                sys.stderr.write(f"{one.name}: {found[one.name][-1]}\n")
    rows = [{"server": name} | medians(runs) for name, runs in found.items()]
    shown = "{server:>10} {rate:9.0f} {cpu_us:9.0f} {p50_ms:8.2f} {p99_ms:8.2f} {wrong:6.0f} {broken:6.0f}"
    print(f"{'server':>10} {'a second':>9} {'cpu µs':>9} {'p50 ms':>8} {'p99 ms':>8} {'wrong':>6} {'broken':>6}")
    for row in rows:
        print(shown.format(**row))
    if args.only:
        return
    leave("serving rank", "How many queries a second does a served ranker answer?", rows=rows)


def medians(runs: list[dict[str, Any]]) -> dict[str, float]:
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


if __name__ == "__main__":
    main()

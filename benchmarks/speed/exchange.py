"""How long does a large model take in and out, and how much memory? Forests of 100 to 10,000 trees of 255 leaves.

Times are of the processor. Each format is written and read in a process of its own; the most memory that this takes,
what it holds in the end included, is compared with the model's size: that of the file or of our own, whichever is
larger (ONNX packs a node into ten bytes, our own file into 37). Linux alone tells it.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.helpers.records import leave

READ = (
    "lightgbm",
    "xgboost-json",
    "xgboost-ubj",
    "plugin-xgboost-objective",
    "plugin-xgboost-raw",
    "onnx",
    "onnx-regressor",
    "ranklib",
    "vespa-lightgbm",
)
FORMATS = (*READ, "plugin-xgboost", "solr", "c")  # the last three are not read
CHILD = """
import json, sys, time
import numpy as np, rankwright as rw
from rankwright.imports import imported
from rankwright.catalog.rankers import load_trained
from rankwright.exchange.target_table import target_named
from rankwright.exchange.subject import subject_of
from rankwright.exchange.target import ExportOptions

def memory(kind):
    return next(int(line.split()[1]) << 10 for line in open("/proc/self/status") if line.startswith(kind))

def measured(action):
    open("/proc/self/clear_refs", "w").write("5")  # forget the most memory used so far
    before, start = memory("VmRSS"), time.process_time()
    action()
    print(json.dumps({"seconds": time.process_time() - start, "bytes": memory("VmHWM") - before}))

def write():
    written = target_named(target).write(subject, ExportOptions(name="model", missing="never"))
    open(path, "wb").write(written.files[""])

what, model, path, target = sys.argv[1:]
if what == "write":
    subject = subject_of(load_trained(model))
    measured(write)
else:
    measured(lambda: rw.load(path))
"""


def forest_file(path: Path, n_trees: int, n_leaves: int) -> None:
    """A model file of random trees."""
    import numpy as np

    from rankwright.imports.assembly import ForeignForest, TreeTable, assembled
    from rankwright.imports.imported import imported

    rng = np.random.default_rng(0)
    n_inner, n_nodes = n_leaves - 1, 2 * n_leaves - 1
    inner = np.arange(n_nodes) < n_inner
    trees = [
        TreeTable(
            feature=np.where(inner, rng.integers(0, 136, n_nodes), -1),
            threshold=np.round(rng.normal(size=n_nodes), 3).astype(np.float32),
            left=np.where(inner, 2 * np.arange(n_nodes) + 1, -1),
            right=np.where(inner, 2 * np.arange(n_nodes) + 2, -1),
            missing_left=np.zeros(n_nodes, np.bool_),
            value=rng.normal(size=n_nodes) * 0.01,
        )
        for _ in range(n_trees)
    ]
    imported(ForeignForest(source="made up", forest=assembled(trees, 136))).save(path)


def child(*arguments: str) -> dict[str, float]:
    done = subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, nargs="*", default=[100, 1000, 10_000])
    parser.add_argument("--leaves", type=int, default=255)
    parser.add_argument("--formats", nargs="*", default=list(FORMATS))
    options = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        for n_trees in options.trees:
            model = Path(folder) / "model.rw"
            forest_file(model, n_trees, options.leaves)
            for name in options.formats:
                path = Path(folder) / f"model.{name}"
                out = child("write", str(model), str(path), name)
                size = path.stat().st_size
                larger = max(size, model.stat().st_size)
                line = f"{n_trees:6} trees, {name:15} {size / 1e6:7.1f} MB: out {out['seconds']:6.2f} s"
                line += f", memory {out['bytes'] / larger:4.1f} × the model"
                row = {"trees": n_trees, "target": name, "MB": size / 1e6, "out, s": out["seconds"]}
                row["out, memory by the model"] = out["bytes"] / larger
                if name in READ:
                    back = child("read", str(model), str(path), name)
                    line += f"; in {back['seconds']:6.2f} s, {back['bytes'] / larger:4.1f} ×"
                    row |= {"in, s": back["seconds"], "in, memory by the model": back["bytes"] / larger}
                rows.append(row)
                print(line, flush=True)
                path.unlink()
    question = f"Models in and out: processor seconds and memory, trees of {options.leaves} leaves"
    leave("exchange-size", question, rows=rows, notes={})


if __name__ == "__main__":
    main()

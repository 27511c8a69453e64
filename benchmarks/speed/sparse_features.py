"""How fast are forests grown on sparse features, and in how much memory, beside LightGBM?

Two kinds of data with 50 features set in each row: one-hot fields, whose values are never set together, and words as
often as they are in text. Every run is a process of its own that loads the data, or reads it from SVMlight text or
Parquet; what counts is its processor time, in all and for a tree, and the most memory it had. `--rows 2000000` is the
full size. LightGBM takes minutes to make a Booster of so many features, before its first tree: so trees are also
compared alone.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.helpers.records import show

N_SET = 50
MAKE = """
import sys
import numpy as np
from scipy.sparse import csr_array, save_npz
kind, folder, n_rows, n_features, n_set, with_text, with_parquet = *sys.argv[1:3], *map(int, sys.argv[3:])
rng = np.random.default_rng(0)
if kind == "one-hot":
    n_values = n_features // n_set
    columns = rng.integers(0, n_values, (n_rows, n_set), dtype=np.int32) + n_values * np.arange(n_set, dtype=np.int32)
    kept = np.ones(columns.shape, bool)
else:
    columns = np.minimum(n_features ** rng.random((n_rows, n_set * 6 // 5)) - 1, n_features - 1).astype(np.int32)
    columns.sort(axis=1)
    kept = np.append(np.ones((n_rows, 1), bool), columns[:, 1:] != columns[:, :-1], axis=1)
starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))]).astype(np.int32)
columns = columns[kept]
values = np.ones(len(columns), np.float32) if kind == "one-hot" else rng.integers(1, 6, len(columns)).astype(np.float32)
matrix = csr_array((values, columns, starts), (n_rows, n_features))
scores = matrix @ rng.normal(size=n_features).astype(np.float32) + rng.normal(size=n_rows)
labels = np.digitize(scores, np.quantile(scores, [0.5, 0.8, 0.95])).astype(np.float32)
save_npz(f"{folder}/{kind}.npz", matrix, compressed=False)
np.save(f"{folder}/{kind}-labels.npy", labels)
if with_text:
    with open(f"{folder}/{kind}.txt", "w") as out:
        for row in range(n_rows):
            own = slice(starts[row], starts[row + 1])
            pairs = " ".join(f"{c + 1}:{v:g}" for c, v in zip(columns[own].tolist(), values[own].tolist()))
            out.write(f"{labels[row]:g} qid:{row // 20} {pairs}\\n")
if with_parquet:
    import rankwright as rw
    data = rw.RankingDataset.from_arrays(matrix, labels, qid=np.arange(n_rows) // 20)
    rw.write(data, f"{folder}/{kind}.parquet")
"""
BEGIN = """
import json, resource, sys, time
import numpy as np
from scipy.sparse import load_npz
kind, folder, n_features, n_trees, threads = *sys.argv[1:3], *map(int, sys.argv[3:])
def load():
    labels = np.load(f"{folder}/{kind}-labels.npy")
    return load_npz(f"{folder}/{kind}.npz"), labels, np.full(len(labels) // 20, 20)
times = []  # after each tree
def tell(start):
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    a_tree = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0
    print(json.dumps({"seconds": time.process_time() - start, "a_tree": a_tree, "peak": peak / 1e6}))
"""
OURS = """
import rankwright as rw
def note(progress):
    times.append(time.process_time())
ranker = rw.LambdaMART(n_trees=n_trees, max_leaves=31, learning_rate=0.1, min_docs_in_leaf=20, query_fraction=1.0,
                       feature_fraction=1.0, growth="best-first", threads=threads)
"""
RUNS = {
    "rankwright, in memory": OURS
    + """
matrix, labels, group = load()
start = time.process_time()
ranker.fit(rw.RankingDataset.from_arrays(matrix, labels, group=group), listeners=[note])
tell(start)
""",
    "rankwright, from text": OURS
    + """
start = time.process_time()
ranker.fit(rw.DataFile(f"{folder}/{kind}.txt", n_features=n_features), listeners=[note])
tell(start)
""",
    "rankwright, from Parquet": OURS
    + """
start = time.process_time()
ranker.fit(rw.DataFile(f"{folder}/{kind}.parquet"), listeners=[note])
tell(start)
""",
    "lightgbm, in memory": """
import lightgbm as lgb
matrix, labels, group = load()
params = {"objective": "lambdarank", "num_leaves": 31, "learning_rate": 0.1, "min_data_in_leaf": 20, "verbosity": -1,
          "num_threads": threads, "max_bin": 255}
start = time.process_time()
booster = lgb.Booster(params, lgb.Dataset(matrix, labels, group=group, params=params))
for _ in range(n_trees):
    booster.update()
    times.append(time.process_time())
tell(start)
""",
}
SAME = """
import rankwright as rw
from rankwright.data.sparse_rows import SparseRows
matrix, labels, group = load()
start = time.process_time()
settings = {"n_trees": n_trees, "max_leaves": 31, "threads": threads}
rows = SparseRows.of(matrix)
data = (rw.RankingDataset.from_arrays(own, labels, group=group) for own in (rows, rows.dense()))
sparse, full = (rw.LambdaMART(**settings).fit(own) for own in data)
assert sparse.forest_.equals(full.forest_)
tell(start)
"""


def run(script: str, *arguments: object) -> dict[str, float]:
    """What a process that runs the script says of itself; nothing where it prints nothing."""
    command = [sys.executable, "-c", script, *map(str, arguments)]
    out = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    found: dict[str, float] = json.loads(out.splitlines()[-1]) if out else {}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=200_000)
    parser.add_argument("--trees", type=int, default=10)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", default=["one-hot", "words"], choices=["one-hot", "words"])
    parser.add_argument("--without", nargs="*", default=[], help="runs to leave out: text, parquet, lightgbm")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            files = (int(name not in options.without) for name in ("text", "parquet"))
            run(MAKE, kind, folder, options.rows, options.features, N_SET, *files)
            found = {
                name: run(BEGIN + script, kind, folder, options.features, options.trees, options.threads)
                for name, script in RUNS.items()
                if not any(word in name.lower() for word in options.without)
            }
            ours = found["rankwright, in memory"]
            for name, one in found.items():
                own = {"processor seconds": round(one["seconds"], 1), "of a tree": round(one["a_tree"], 3)}
                own |= {key: round(one[of] / ours[of], 2) for key, of in (("ratio", "seconds"), ("of trees", "a_tree"))}
                rows.append({"data": kind, "run": name} | own | {"peak GB": round(one["peak"], 2)})
            for path in Path(folder).iterdir():
                path.unlink()
            run(MAKE, kind, folder, 20_000, 2_000, N_SET, 0, 0)
            run(BEGIN + SAME, kind, folder, 2_000, 5, options.threads)
    size = f"{options.rows:,} rows × {options.features:,} sparse features, {N_SET} set in each"
    question = f"Growing {options.trees} trees of 31 leaves on {size}, binning included, {options.threads} threads"
    same = "20,000 rows × 2,000 features, sparse and in full"
    show("sparse-features", question, rows, **{"the same forest, bit for bit": same})


if __name__ == "__main__":
    main()

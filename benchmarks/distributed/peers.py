"""The same Parquet shards, the same number of trees: two workers of ours against XGBoost and LightGBM on Dask.

    python -m benchmarks.distributed.peers --python /path/to/python/with/dask --repeats 3

That environment has `dask[dataframe]`, `distributed`, `xgboost-cpu`, `lightgbm`, `pyarrow` and `scikit-learn`.

Each system is a command of its own that reads the shards, trains, scores the test documents and ends; time, processor
time and memory are those of all its processes. XGBoost's `ExtMemQuantileDMatrix` has one process of two threads; the
others have two workers of one thread. All follow LambdaRank's forces. NDCG@10 is of queries that nobody trained on.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.process_tree import Cost, run_watched
from benchmarks.helpers.records import show

RUN = """
import json, sys
from benchmarks.distributed.peers import SYSTEMS
given = json.loads(sys.argv[1])
SYSTEMS[given.pop("system")](**given)
"""
LEAVES, RATE = 31, 0.1
OURS = "rankwright, 2 workers"
LIKE_PEERS: dict[str, Any] = {"objective": "lambdarank", "min_docs_in_leaf": 20}  # LightGBM's forces and least leaf


def rankwright_workers(shards: str, test: str, out: str, trees: int) -> None:
    from benchmarks.distributed.forest import settings

    import rankwright as rw

    with rw.open_engine("local", 2) as engine:
        ranker = rw.LambdaMART(n_trees=trees, **settings(LEAVES), **LIKE_PEERS).on(engine).fit(rw.Shards(shards))
    np.save(out, ranker.predict(_columns(test)[0]))


def xgboost_external(shards: str, test: str, out: str, trees: int) -> None:
    import xgboost

    class Files(xgboost.DataIter):
        def __init__(self, cache: str) -> None:
            self.paths, self.number = sorted(Path(shards).iterdir()), 0
            super().__init__(cache_prefix=str(Path(cache) / "cache"), on_host=False)

        def next(self, input_data: Any) -> bool:
            if self.number == len(self.paths):
                return False
            features, labels, queries = _columns(str(self.paths[self.number]))
            input_data(data=features, label=labels, qid=queries)
            self.number += 1
            return True

        def reset(self) -> None:
            self.number = 0

    with tempfile.TemporaryDirectory() as cache:
        data = xgboost.ExtMemQuantileDMatrix(Files(cache), max_bin=255, nthread=2)
        model = xgboost.train(XGBOOST | {"nthread": 2}, data, trees)
        np.save(out, model.predict(xgboost.DMatrix(_columns(test)[0])))
        del data


def dask_xgboost(shards: str, test: str, out: str, trees: int) -> None:
    from xgboost import dask

    with _dask_client() as client:
        frame, features = _dask_frame(shards)
        # No query is cut, since partitions hold whole ones; unless this is said, all documents are sent around first.
        model = dask.DaskXGBRanker(n_estimators=trees, allow_group_split=True, **XGBOOST)
        model.client = client
        model.fit(frame[features], frame["label"], qid=frame["qid"])
        booster = model.get_booster()
    np.save(out, booster.inplace_predict(_columns(test)[0]))


def dask_lightgbm(shards: str, test: str, out: str, trees: int) -> None:
    import lightgbm

    with _dask_client() as client:
        frame, features = _dask_frame(shards)
        sizes = frame["qid"].map_partitions(lambda ids: ids.groupby(ids, sort=False).size(), meta=("sizes", "i8"))
        model = lightgbm.DaskLGBMRanker(
            n_estimators=trees, num_leaves=LEAVES, learning_rate=RATE, client=client, n_jobs=1, verbose=-1
        )
        model.fit(frame[features], frame["label"].astype(int), group=sizes)
        local = model.to_local()
    np.save(out, local.predict(_columns(test)[0]))


XGBOOST: dict[str, Any] = {
    "objective": "rank:ndcg", "tree_method": "hist", "max_leaves": LEAVES, "max_depth": 0, "grow_policy": "lossguide",
    "learning_rate": RATE, "max_bin": 255,
}  # fmt: skip
SYSTEMS = {
    OURS: rankwright_workers,
    "XGBoost, ExtMemQuantileDMatrix": xgboost_external,
    "XGBoost, DaskXGBRanker": dask_xgboost,
    "LightGBM, DaskLGBMRanker": dask_lightgbm,
}


def _columns(path: str) -> tuple[Any, Any, Any]:
    """The features, labels and query ids of a Parquet file."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    names = [name for name in table.column_names if name not in ("qid", "label")]
    features = np.column_stack([table[name].to_numpy() for name in names])
    return features, table["label"].to_numpy(), table["qid"].to_numpy()


def _dask_client() -> Any:
    from distributed import Client, LocalCluster

    return Client(LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0))


def _dask_frame(shards: str) -> tuple[Any, list[str]]:
    """All shards, a partition each: queries are whole in them."""
    import dask.dataframe as frames
    from distributed import wait

    # Kept by the workers: otherwise Dask joins partitions where few columns are asked for, so that labels no longer fit
    # features (LightGBM ends with an error), and reads the files again for each column.
    frame = frames.read_parquet(f"{shards}/*.parquet", split_row_groups=False).persist()
    wait(frame)
    return frame, [name for name in frame.columns if name not in ("qid", "label")]


def main() -> None:
    from benchmarks.distributed.forest import make_shards, shape_of

    import rankwright as rw

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=8000)
    parser.add_argument("--shards", type=Path, help="shards that are there, instead of new ones")
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has Dask and the peers")
    parser.add_argument("--only", nargs="*", default=list(SYSTEMS), choices=list(SYSTEMS))
    options = parser.parse_args()
    costs: dict[str, list[Cost]] = {name: [] for name in options.only}
    quality: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as place:
        shards = options.shards or Path(place) / "shards"
        test, out = str(Path(place) / "test.parquet"), str(Path(place) / "scores.npy")
        if options.shards is None:
            shards.mkdir()
            make_shards(shards, options.queries, None)
        n_docs, n_features = shape_of(shards)
        print(f"{n_docs:,} documents, {options.trees} trees", flush=True)
        held_out = rw.synthetic.web_search(1000, seed=1_000_000)
        rw.write(held_out, test)
        for _ in range(options.repeats):
            for name in options.only:
                told = {"system": name, "shards": str(shards), "test": test, "out": out, "trees": options.trees}
                python = sys.executable if name == OURS else options.python
                costs[name].append(run_watched("-c", RUN, json.dumps(told), python=python))
                found = rw.evaluate(np.load(out).astype(np.float64), held_out, ["ndcg@10"])
                quality[name] = found["ndcg@10"].mean
                print(f"{name}: {costs[name][-1].told}, NDCG@10 {quality[name]:.4f}", flush=True)
    rows = []
    for name, own in costs.items():
        seconds, spent, peak = (
            statistics.median(getattr(cost, what) for cost in own) for what in ("seconds", "processor", "peak")
        )
        own_costs = {"s": round(seconds), "processor s": round(spent), "GB of all processes": round(peak / 1e9, 2)}
        rows.append({"system": name} | own_costs | {"NDCG@10": quality[name]})
    show(
        f"distributed peers {n_docs} documents {options.trees} trees",
        f"The same Parquet, two workers or threads: {n_docs:,} web-like documents, {n_features} features, "
        f"{options.trees} trees of {LEAVES} leaves; NDCG@10 of 1,000 other queries",
        rows,
        repeats=options.repeats,
        peers=peer_versions(options.python),
    )


def peer_versions(python: str) -> dict[str, str]:
    """The versions that the peers' interpreter has."""
    names = ["xgboost-cpu", "lightgbm", "dask", "distributed", "pyarrow"]
    told = (
        "import json, sys; from importlib.metadata import distributions; "
        "found = {one.name: one.version for one in distributions()}; "
        "print(json.dumps({name: found.get(name) for name in sys.argv[1:]}))"
    )
    found: dict[str, str] = json.loads(run_watched("-c", told, *names, python=python).printed)
    return found


if __name__ == "__main__":
    main()

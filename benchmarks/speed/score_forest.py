"""How fast are documents scored with 1,000 trees × 64 leaves, many at once and one query of 100?

Each tool scores a forest of its own, of the same size, trained on the same data. ONNX Runtime, treelite, tl2cgen and
lleaves score LightGBM's forest; those that are not installed are left out.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from benchmarks.helpers.boosting import boost_labels, labels_of
from benchmarks.helpers.timing import report, time_side_by_side
from benchmarks.speed.grow_trees import train_lightgbm, train_xgboost

from rankwright import synthetic
from rankwright.arrays import Float32Array
from rankwright.trees.params import TreeParams

Scorer = Callable[[Float32Array], Any]
MAX_LEAVES = 64


def onnx_scorer(model: lightgbm.Booster, n_features: int, threads: int) -> Scorer:
    import onnxmltools
    import onnxruntime
    from onnxmltools.convert.common.data_types import FloatTensorType

    graph = onnxmltools.convert_lightgbm(model, initial_types=[("features", FloatTensorType([None, n_features]))])
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(graph.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return lambda features: session.run(None, {"features": features})[0]


def treelite_scorer(model: lightgbm.Booster, n_features: int, threads: int) -> Scorer:  # noqa: ARG001
    import treelite

    ported = treelite.frontend.from_lightgbm(model)
    return lambda features: treelite.gtil.predict(ported, features, nthread=threads)


def tl2cgen_scorer(model: lightgbm.Booster, n_features: int, threads: int) -> Scorer:  # noqa: ARG001
    import tl2cgen
    import treelite

    ported = treelite.frontend.from_lightgbm(model)
    library = Path(tempfile.mkdtemp()) / "forest.so"
    tl2cgen.export_lib(ported, toolchain="gcc", libpath=str(library), params={"parallel_comp": 32}, nthread=threads)
    predictor = tl2cgen.Predictor(str(library), nthread=threads)
    return lambda features: predictor.predict(tl2cgen.DMatrix(features))


def lleaves_scorer(model: lightgbm.Booster, n_features: int, threads: int) -> Scorer:  # noqa: ARG001
    import lleaves

    path = Path(tempfile.mkdtemp()) / "forest.txt"
    model.save_model(str(path))
    compiled = lleaves.Model(model_file=str(path))
    compiled.compile()
    return lambda features: compiled.predict(features, n_jobs=threads)


PORTS: dict[str, tuple[str, Callable[[lightgbm.Booster, int, int], Scorer]]] = {
    "ONNX Runtime": ("onnxmltools", onnx_scorer),
    "treelite": ("treelite", treelite_scorer),
    "tl2cgen": ("tl2cgen", tl2cgen_scorer),
    "lleaves": ("lleaves", lleaves_scorer),
}


def scorers(options: argparse.Namespace) -> dict[str, Scorer]:
    """How each tool scores."""
    data = synthetic.web_search(options.train_queries)
    n_trees, threads = options.trees, options.threads
    forest = boost_labels(data, n_trees, TreeParams(max_leaves=MAX_LEAVES), threads=threads)
    start = time.perf_counter()
    n_pieces = len(forest.compiled)
    print(f"laying out {n_trees} trees took {time.perf_counter() - start:.3f} s ({n_pieces} piece)")
    by_lightgbm = train_lightgbm(data, n_trees, MAX_LEAVES, 255, threads)
    by_xgboost = train_xgboost(data, n_trees, MAX_LEAVES, 256, threads)
    by_xgboost.set_param({"nthread": threads})
    found: dict[str, Scorer] = {
        "rankwright": lambda features: forest.predict(features, threads=threads),
        "LightGBM": lambda features: by_lightgbm.predict(features, num_threads=threads),
        "XGBoost": by_xgboost.inplace_predict,
    }
    for name, (package, port) in PORTS.items():
        if find_spec(package) is None or name in options.without:
            continue
        try:
            found[name] = port(by_lightgbm, data.n_features, threads)
        except Exception as error:  # as lleaves with a newer llvmlite than it knows
            print(f"{name} is left out: {error}")
    print(f"forests hold {forest.n_trees} trees; labels vary by {float(np.var(labels_of(data))):.3f}")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train-queries", type=int, default=400)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--without", nargs="*", default=[], help="tools to leave out")
    options = parser.parse_args()
    found = scorers(options)
    features = synthetic.web_search(options.documents // 100, seed=1).features[: options.documents]

    def tasks(documents: Float32Array, times: int) -> dict[str, Callable[[], object]]:
        return {
            name: lambda score=score: [score(documents) for _ in range(times)]  # type: ignore[misc]
            for name, score in found.items()
        }

    size = f"{options.trees} trees × {MAX_LEAVES} leaves, {options.threads} threads"
    timings = time_side_by_side(tasks(features, 1), repeats=options.repeats)
    notes: dict[str, object] = {
        f"µs a document, {name}": round(timing.best / len(features) * 1e6, 3) for name, timing in timings.items()
    }
    report(f"Scoring {len(features):,} documents, {size}", timings, "rankwright", notes)
    query, calls = np.ascontiguousarray(features[:100]), 20
    timings = time_side_by_side(tasks(query, calls), repeats=options.repeats)
    notes = {f"ms a query, {name}": round(timing.best / calls * 1e3, 4) for name, timing in timings.items()}
    report(f"Scoring one query of 100 documents, {size}, {calls} calls", timings, "rankwright", notes)


if __name__ == "__main__":
    main()

"""How fast is an imported LightGBM model scored here, by LightGBM and by what compiles its models?

One forest of 1,000 trees × 64 leaves: by us after `rw.load`, by our C file (gcc -O2), LightGBM, lleaves, tl2cgen,
treelite and ONNX Runtime; for 100,000 documents and for one query of 100. What is not installed is left out. Compiling
takes lleaves and tl2cgen minutes: `--folder` keeps the model and what was made of it for the next run.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import tempfile
import time
from collections.abc import Callable
from ctypes import CDLL, POINTER, c_double, c_float, c_size_t
from pathlib import Path
from typing import Any

import lightgbm
import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side
from benchmarks.speed.grow_trees import train_lightgbm

import rankwright as rw
from rankwright import synthetic
from rankwright.arrays import Float32Array

Scorer = Callable[[Float32Array], Any]


def c_scorer(ranker: Any, folder: Path) -> Scorer:
    source, library = folder / "forest.c", folder / "forest.so"
    ranker.export(source, to="c")  # anew every time: it is what changes here
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"], check=True)
    name = re.search(r"void (\w+)_score_many\(", source.read_text())
    assert name is not None
    function = getattr(CDLL(str(library)), f"{name[1]}_score_many")
    function.argtypes = [POINTER(c_float), c_size_t, c_size_t, POINTER(c_double)]

    def score(features: Float32Array) -> Any:
        scores = np.empty(len(features))
        function(features.ctypes.data_as(POINTER(c_float)), *features.shape, scores.ctypes.data_as(POINTER(c_double)))
        return scores

    return score


def lleaves_scorer(model: lightgbm.Booster, folder: Path, threads: int) -> Scorer:
    import lleaves

    model.save_model(str(folder / "forest.txt"))
    compiled = lleaves.Model(model_file=str(folder / "forest.txt"))
    compiled.compile(cache=str(folder / "lleaves.o"))
    return lambda features: compiled.predict(features, n_jobs=threads)


def tl2cgen_scorer(model: lightgbm.Booster, folder: Path, threads: int) -> Scorer:
    import tl2cgen
    import treelite

    library = folder / "tl2cgen.so"
    if not library.exists():
        ported = treelite.frontend.from_lightgbm(model)
        tl2cgen.export_lib(ported, toolchain="gcc", libpath=str(library), params={"parallel_comp": 32}, nthread=2)
    predictor = tl2cgen.Predictor(str(library), nthread=threads)
    return lambda features: predictor.predict(tl2cgen.DMatrix(features))


def treelite_scorer(model: lightgbm.Booster, folder: Path, threads: int) -> Scorer:  # noqa: ARG001
    import treelite

    ported = treelite.frontend.from_lightgbm(model)
    return lambda features: treelite.gtil.predict(ported, features, nthread=threads)


def onnx_scorer(ranker: Any, folder: Path, threads: int) -> Scorer:
    import onnxruntime

    ranker.export(folder / "forest.onnx", to="onnx-regressor")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(folder / "forest.onnx"), options, providers=["CPUExecutionProvider"])
    return lambda features: session.run(None, {"features": features})[0]


def trained(options: argparse.Namespace, folder: Path) -> lightgbm.Booster:
    path = folder / "forest.txt"
    if not path.exists():
        data = synthetic.web_search(options.train_queries)
        train_lightgbm(data, options.trees, 64, 255, options.threads).save_model(str(path))
    return lightgbm.Booster(model_file=str(path))


def scorers(options: argparse.Namespace, folder: Path) -> dict[str, Scorer]:
    threads = options.threads
    model = trained(options, folder)
    ranker = rw.load(folder / "forest.txt").set_params(threads=threads)
    found: dict[str, Scorer] = {
        "rankwright": ranker.predict,
        "LightGBM": lambda features: model.predict(features, num_threads=threads),
    }
    peers: dict[str, Callable[[], Scorer]] = {
        "C file, one thread": lambda: c_scorer(ranker, folder),
        "lleaves": lambda: lleaves_scorer(model, folder, threads),
        "tl2cgen": lambda: tl2cgen_scorer(model, folder, threads),
        "treelite": lambda: treelite_scorer(model, folder, threads),
        "ONNX Runtime": lambda: onnx_scorer(ranker, folder, threads),
    }
    for name, make in peers.items():
        if name in options.without:
            continue
        try:
            found[name] = make()
        except Exception as error:  # a peer that is not installed, or does not compile here
            print(f"{name} is left out: {str(error)[:200]}")
    return found


def tasks_of(found: dict[str, Scorer], calls: list[Float32Array]) -> dict[str, Callable[[], object]]:
    return {
        name: lambda score=score: [score(documents) for documents in calls]  # type: ignore[misc]
        for name, score in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--train-queries", type=int, default=400)
    parser.add_argument("--trees", type=int, default=1000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--calls", type=int, default=50, help="calls with one query that are timed together")
    parser.add_argument("--folder", type=Path, help="where the model and what is compiled of it are kept")
    parser.add_argument("--without", nargs="*", default=[], help="tools to leave out")
    options = parser.parse_args()
    # One thread is timed by the processor's clock: other programs of the machine do not count.
    clock = time.process_time if options.threads == 1 else time.perf_counter
    with tempfile.TemporaryDirectory() as passing:
        folder = options.folder or Path(passing)
        folder.mkdir(exist_ok=True)
        found = scorers(options, folder)
        features = synthetic.web_search(options.documents // 100 + 1, seed=1).features[: options.documents]
        size = f"{options.trees} trees × 64 leaves, {options.threads} threads"
        # Every call has a query of its own: of one that comes again and again a processor learns all branches.
        queries = [features[100 * call : 100 * (call + 1)] for call in range(options.calls)]
        for calls in (queries, [features]):
            timings = time_side_by_side(tasks_of(found, calls), options.repeats, clock)
            title = f"Scoring {len(calls[0]):,} documents with an imported model, {size}, {len(calls)} calls"
            report(title, timings, "rankwright")


if __name__ == "__main__":
    main()

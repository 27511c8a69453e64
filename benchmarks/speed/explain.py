"""How long do exact contributions of a forest take, against LightGBM, XGBoost, shap, FastTreeSHAP and Woodelf?

One model, saved for each tool; every tool runs in a process of its own environment, on one thread, and counts the
processor's time, which other programs of the machine disturb least:

    python -m benchmarks.speed.explain --xgboost ENV/bin/python --shap ENV/bin/python --fasttreeshap ENV/bin/python

The environment of `--shap` has `shap` and `woodelf-explainer`, that of `--xgboost` XGBoost 3.4 or later. Tools whose
environment is not named are left out. Tools that take minutes are timed on fewer documents (`--slow-documents`), and
their time for all of them is in proportion. Ours is timed before and after them, the better of both counts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.timing import Timing, report

import rankwright as rw
from rankwright.mart.forest_ranker import ForestRanker as Ranker

CHILD = """
import json, sys, time, warnings
import numpy as np
warnings.simplefilter("ignore")
tool, folder, n, repeats, out = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
features = np.load(folder + "/documents.npy")[:n]
if tool in ("lightgbm", "fasttreeshap", "shap", "woodelf"):
    import lightgbm
    model = lightgbm.Booster(model_file=folder + "/model.txt", params={"num_threads": 1, "verbosity": -1})
    model.params["objective"] = "regression"
if tool == "lightgbm":
    version, run = lightgbm.__version__, lambda: model.predict(features, pred_contrib=True, num_threads=1)[:, :-1]
elif tool == "xgboost":
    import xgboost
    model = xgboost.Booster({"nthread": 1}, model_file=folder + "/model.json")
    model.set_param({"nthread": 1})
    matrix = xgboost.DMatrix(features, nthread=1)
    version, run = xgboost.__version__, lambda: model.predict(
        matrix, pred_contribs=True, validate_features=False
    )[:, :-1]
elif tool == "shap":
    import shap
    explainer = shap.TreeExplainer(model, feature_perturbation="tree_path_dependent")
    explainer.model.original_model = None  # its own algorithm, not LightGBM's
    explainer.model.model_type = "internal"
    version, run = shap.__version__, lambda: explainer.shap_values(features, check_additivity=False)
elif tool == "fasttreeshap":
    import fasttreeshap
    explainer = fasttreeshap.TreeExplainer(model, algorithm="v2", n_jobs=1)
    version, run = fasttreeshap.__version__, lambda: explainer.shap_values(features, check_additivity=False)
else:
    import pandas
    from importlib.metadata import version as version_of
    from woodelf.explainer import WoodelfExplainer
    frame = pandas.DataFrame(features, columns=model.feature_name())
    explainer = WoodelfExplainer(model, feature_perturbation="tree_path_dependent")
    version, run = version_of("woodelf-explainer"), lambda: explainer.shap_values(frame, verbose=False)
seconds = []
for _ in range(repeats):
    start = time.process_time()
    found = run()
    seconds.append(time.process_time() - start)
np.save(out, np.asarray(found)[:100])
print(json.dumps({"seconds": seconds, "version": str(version)}))
"""
SLOW = ("lightgbm", "shap", "fasttreeshap")
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


def main() -> None:
    """Train and save the model, time all tools, and print ratios and differences."""
    args = parsed()
    with tempfile.TemporaryDirectory() as own:
        folder = Path(args.folder or own)
        ranker = made(folder, args)
        features = np.load(folder / "documents.npy")
        ours = [timed(ranker, features, args.repeats)]
        found = {tool: child(tool, python, folder, args) for tool, python in tools(args).items()}
        ours.append(timed(ranker, features, args.repeats))
        few = timed(ranker, features[:100], 20 * args.repeats)
        timings = {"rankwright": Timing("rankwright", ours[0] + ours[1])}
        notes: dict[str, object] = {"100 documents, one thread": f"{1000 * min(few):.2f} ms"}
        mine = ranker.forest_.explained("documents").contributions(features[:100])
        for tool, told in found.items():
            if isinstance(told, str):
                notes[tool] = told
                continue
            name = f"{tool} {told['version']}"
            timings[name] = Timing(name, told["seconds"])
            notes[f"{name}, largest difference"] = f"{np.abs(mine - told['values']).max():.1e}"
        shape = f"{args.documents} documents, 136 features, {args.trees} trees of 31 leaves"
        report(f"Contributions of {shape}", timings, "rankwright", notes)


def parsed() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--slow-documents", type=int, default=1000, help="on which slow tools are timed")
    parser.add_argument("--trees", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--folder", type=Path, help="where to keep the model and the documents")
    parser.add_argument("--xgboost", help="the Python of an environment with XGBoost")
    parser.add_argument("--shap", help="one with shap and woodelf-explainer")
    parser.add_argument("--fasttreeshap", help="one with fasttreeshap")
    return parser.parse_args()


def tools(args: argparse.Namespace) -> dict[str, str]:
    """The Python that runs each tool."""
    given = {
        "lightgbm": sys.executable,
        "xgboost": args.xgboost,
        "woodelf": args.shap,
        "shap": args.shap,
        "fasttreeshap": args.fasttreeshap,
    }
    return {tool: python for tool, python in given.items() if python is not None}


def made(folder: Path, args: argparse.Namespace) -> Ranker:
    """The ranker, its files for other tools, and documents; those of an earlier run where there are any."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "model.rw").exists():
        data = rw.synthetic.web_search(n_queries=max(args.documents // 60, 20), seed=0)
        ranker = rw.LambdaMART(n_trees=args.trees, max_leaves=31, growth="best-first", learning_rate=0.1).fit(data)
        rows = np.resize(np.arange(data.n_docs), args.documents)
        np.save(folder / "documents.npy", data.features[rows])
        rw.export(ranker, folder / "model.txt", to="lightgbm")
        rw.export(ranker, folder / "model.json", to="xgboost-json")
        ranker.save(folder / "model.rw")
    loaded = rw.load(folder / "model.rw")
    assert isinstance(loaded, Ranker)
    return loaded


def timed(ranker: Ranker, features: np.ndarray, repeats: int) -> list[float]:
    """The processor's seconds of our contributions on one thread."""
    explained, seconds = ranker.forest_.explained("documents"), []
    for _ in range(repeats):
        start = time.process_time()
        explained.contributions(features, threads=1)
        seconds.append(time.process_time() - start)
    return seconds


def child(tool: str, python: str, folder: Path, args: argparse.Namespace) -> dict[str, Any] | str:
    """What a tool took for all documents and found for the first hundred, or why it failed."""
    n = min(args.slow_documents, args.documents) if tool in SLOW else args.documents
    out = folder / f"{tool}.npy"
    command = [python, "-c", CHILD, tool, str(folder), str(n), str(1 if tool in SLOW else args.repeats), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | ONE_THREAD, check=False)
    if done.returncode != 0:
        return "failed: " + (done.stderr.strip().splitlines() or ["without a word"])[-1]
    told = json.loads(done.stdout.strip().splitlines()[-1])
    seconds = [one * args.documents / n for one in told["seconds"]]
    return {"seconds": seconds, "version": told["version"], "values": np.load(out)}


if __name__ == "__main__":
    main()

"""A large bag of forests, made small, exported to C, compiled, and compared with our own scores.

    python examples/compress_and_deploy.py [FOLDER]

The last step needs a C compiler; without one it is left out.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import rankwright as rw


def main(folder: str | None = None, n_bags: int = 6, n_trees: int = 30) -> dict[str, Any]:
    place = Path(folder or tempfile.mkdtemp(prefix="deploy-"))
    data = rw.synthetic.web_search(n_queries=90, docs_per_query=40, seed=0)
    train, valid, test = data.split(valid=0.3, test=0.3, seed=0)

    large = rw.BLMART(n_bags=n_bags, n_trees=n_trees, max_leaves=7, seed=0).fit(train)
    large.save(place / "large.rw")
    found = rw.compress(large, train, valid=valid, test=test, target_trees=n_trees, seed=0)
    found.model.save(place / "small.rw")
    sizes = {name: (place / f"{name}.rw").stat().st_size for name in ("large", "small")}
    print(f"{sizes['large']:,} bytes became {sizes['small']:,}")
    print(f"NDCG@10 {found.before.mean:.4f} became {found.after.mean:.4f}")
    print(f"95 % interval of the difference: {found.difference.interval}")

    report = rw.export(found.model, place / "ranker.c", to="c", sample=test, name="ranker")
    print("written:", ", ".join(path.name for path in map(Path, report.files)))
    return {"sizes": sizes, "compressed": found, "difference": difference_in_c(found.model, test, place)}


def difference_in_c(ranker: Any, test: rw.RankingDataset, place: Path) -> float | None:
    """The largest difference between the compiled file's scores and ours; None where there is no compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        print("no C compiler here: the file was not compiled")
        return None
    library = place / "ranker.so"
    command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(library), str(place / "ranker.c"), "-lm"]
    subprocess.run(command, check=True)
    score = ctypes.CDLL(str(library)).ranker_score_many
    rows, scores = np.ascontiguousarray(test.features, dtype=np.float32), np.empty(test.n_docs)
    pointers = (rows.ctypes.data_as(ctypes.c_void_p), scores.ctypes.data_as(ctypes.c_void_p))
    score(pointers[0], ctypes.c_size_t(test.n_docs), ctypes.c_size_t(test.n_features), pointers[1])
    difference = float(np.abs(scores - ranker.predict(test)).max())
    print(f"largest difference between C and Python over {test.n_docs} documents: {difference}")
    return difference


if __name__ == "__main__":
    main(*sys.argv[1:2])

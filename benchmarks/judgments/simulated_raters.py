"""How far are combined labels from the true grades, with raters of ten kinds who judged 3 to 30 documents each?

    python -m benchmarks.judgments.simulated_raters [--set second] [--repeats 20] [--seed 0]

The kinds and their scenes are described in `rater_scenes.py`. The error is the root of the mean squared difference from
the true grade, as a share of the scale's width. Compared with the mean, the median and the majority of a document's
grades, and with crowd-kit's Dawid-Skene (`pip install crowd-kit`), whose label and expected grade are both shown; it is
left out where crowd-kit is not installed.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from benchmarks.helpers.records import show
from benchmarks.judgments.rater_scenes import SETS, Scene

from rankwright.judgments import Judgment, combine, gather

OWN = ("ordinal", "dawid-skene")


def crowd_kit(scene: Scene, grade: np.ndarray) -> dict[str, np.ndarray]:
    """Labels and expected grades by crowd-kit's Dawid-Skene, where it is installed."""
    try:
        import pandas as pd
        from crowdkit.aggregation.classification.dawid_skene import DawidSkene  # type: ignore[import-not-found]
    except ImportError:
        return {}
    frame = pd.DataFrame({"task": scene.document, "worker": scene.rater, "label": grade})
    chances = DawidSkene(n_iter=100).fit(frame).probas_
    known = chances.reindex(index=range(len(scene.truth)), columns=range(scene.n_levels)).fillna(0.0).to_numpy()
    return {"crowd-kit, label": known.argmax(axis=1), "crowd-kit, expected": known @ np.arange(scene.n_levels)}


def labels(scene: Scene, grade: np.ndarray) -> dict[str, np.ndarray]:
    """The label of each document by every method."""
    rows = zip(scene.rater.tolist(), scene.document.tolist(), grade.tolist(), strict=True)
    table = gather(Judgment("q", f"{d:04d}", f"r{r:05d}", float(g)) for r, d, g in rows)
    found = {}
    for method in (*OWN, "mean", "median", "majority"):
        made = combine(table, method=method, scale=(0, scene.top))
        places = made.document_ids[made.documents].astype(np.int64)
        found[method] = np.full(len(scene.truth), np.nan)
        found[method][places] = made.labels
    return found | crowd_kit(scene, grade)


def errors_of(which: str, kind: str, repeats: int, seed: int) -> dict[str, float]:
    """The error of each method, over all repeats."""
    make_scene, kinds = SETS[which]
    squares: dict[str, list[float]] = {}
    for repeat in range(repeats):
        scene = make_scene(np.random.default_rng([seed, list(SETS).index(which), list(kinds).index(kind), repeat]))
        for method, found in labels(scene, kinds[kind](scene)).items():
            apart = (found - scene.truth) / scene.top
            squares.setdefault(method, []).append(float(np.nanmean(apart**2)))
    return {method: float(np.sqrt(np.mean(values))) for method, values in squares.items()}


def main() -> None:
    """Compare all methods on all kinds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--set", choices=tuple(SETS), default="second")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kinds", nargs="*", help="some of the kinds; by default all of the set")
    given = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for kind in given.kinds or SETS[given.set][1]:
        errors = errors_of(given.set, kind, given.repeats, given.seed)
        best = min(error for method, error in errors.items() if method not in OWN)
        rows.append({"kind": kind, **errors, "ordinal / best other": errors["ordinal"] / best})
        print(rows[-1], flush=True)
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "kind"}
    show(
        f"judgments simulated raters {given.set}",
        f"Error of combined labels by kind of raters, the {given.set} set",
        [*rows, {"kind": "mean", **means}],
    )


if __name__ == "__main__":
    main()

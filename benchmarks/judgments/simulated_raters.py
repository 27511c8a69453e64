"""How far are combined labels from the true grades, with raters of ten kinds who judged 3 to 30 documents each?

    python -m benchmarks.judgments.simulated_raters [--repeats 20]

400 documents on a scale of four grades, four grades each. The error is the root of the mean squared difference from
the true grade. Compared with the mean, the median and the majority of a document's grades, and with crowd-kit's
Dawid-Skene (`pip install crowd-kit`), whose label and expected grade are both shown; it is left out where crowd-kit is
not installed.
"""

# ruff: noqa: ARG005

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from benchmarks.helpers.records import show

from rankwright.judgments import Judgment, combine, gather

GRADES, SHARES = 4, (0.4, 0.3, 0.2, 0.1)
N_DOCUMENTS, GRADES_EACH = 400, 4
RINGS = 12  # of raters who copy from each other
Raters = Callable[[np.random.Generator, np.ndarray, np.ndarray, np.ndarray], np.ndarray]


def careful(rng: np.random.Generator, truth: np.ndarray, wrong: float = 0.1) -> np.ndarray:
    """The true grade, or with some chance one next to it."""
    other = np.clip(truth + np.where(rng.random(len(truth)) < 0.5, -1, 1), 0, GRADES - 1)
    other = np.where(other == truth, np.where(truth == 0, 1, GRADES - 2), other)
    return np.where(rng.random(len(truth)) < wrong, other, truth)


def noisy(rng: np.random.Generator, truth: np.ndarray, deviation: float) -> np.ndarray:
    """The true grade and normal noise, rounded."""
    return clipped(np.rint(truth + rng.normal(0, deviation, len(truth))))


def clipped(grades: np.ndarray) -> np.ndarray:
    """Grades kept on the scale."""
    return np.clip(grades, 0, GRADES - 1).astype(np.int64)


def anything(rng: np.random.Generator, truth: np.ndarray) -> np.ndarray:
    """Any grade."""
    return rng.integers(0, GRADES, len(truth))


def copied(rng: np.random.Generator, rater: np.ndarray, document: np.ndarray) -> np.ndarray:
    """Grades that the members of a ring give alike, whatever the document is."""
    answers = rng.integers(0, GRADES, (RINGS, N_DOCUMENTS))
    ring = rng.integers(0, RINGS, rater.max() + 1)
    return answers[ring[rater], document]


# By kind: the grades, from true grades, a number from 0 to 1 for each rater, raters and documents.
KINDS: dict[str, Callable[..., np.ndarray]] = {
    "careful": lambda rng, t, u, r, d: careful(rng, t),
    "noisy": lambda rng, t, u, r, d: noisy(rng, t, 0.9),
    "some strict": lambda rng, t, u, r, d: np.where(u < 0.4, clipped(careful(rng, t) - 1), careful(rng, t)),
    "strict and lenient": lambda rng, t, u, r, d: clipped(
        noisy(rng, t, 0.5) + np.select([u < 0.4, u < 0.8], [-1, 1], 0)
    ),
    "some careless": lambda rng, t, u, r, d: np.where(u < 0.3, anything(rng, t), careful(rng, t)),
    "all careless at times": lambda rng, t, u, r, d: np.where(
        rng.random(len(t)) < 0.8 * u, anything(rng, t), careful(rng, t)
    ),
    "always one grade": lambda rng, t, u, r, d: np.where(
        u < 0.25, rng.integers(0, GRADES, r.max() + 1)[r], careful(rng, t, 0.15)
    ),
    "avoid the ends": lambda rng, t, u, r, d: np.where(u < 0.5, np.clip(careful(rng, t), 1, 2), careful(rng, t)),
    "know only the ends": lambda rng, t, u, r, d: np.where(
        u < 0.5, np.where(noisy(rng, t, 0.6) >= 2, GRADES - 1, 0), noisy(rng, t, 0.6)
    ),
    "collusion": lambda rng, t, u, r, d: np.where(u < 0.3, copied(rng, r, d), careful(rng, t, 0.15)),
}


def simulated(kind: str, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """True grades, and of each judgment the rater, the document and the grade."""
    truth = rng.choice(GRADES, N_DOCUMENTS, p=SHARES)
    n_rows = N_DOCUMENTS * GRADES_EACH
    sizes = rng.integers(3, 31, n_rows)  # more than are needed
    rater = np.repeat(np.arange(n_rows), sizes)[:n_rows]
    document = np.concatenate([rng.permutation(N_DOCUMENTS) for _ in range(GRADES_EACH)])
    _, once = np.unique(rater * N_DOCUMENTS + document, return_index=True)
    rater, document = rater[once], document[once]
    u = rng.random(rater.max() + 1)[rater]
    return truth, rater, document, KINDS[kind](rng, truth[document], u, rater, document)


def crowd_kit(rater: np.ndarray, document: np.ndarray, grade: np.ndarray) -> dict[str, np.ndarray]:
    """Labels and expected grades by crowd-kit's Dawid-Skene, where it is installed."""
    try:
        import pandas as pd
        from crowdkit.aggregation.classification.dawid_skene import DawidSkene
    except ImportError:
        return {}
    frame = pd.DataFrame({"task": document, "worker": rater, "label": grade})
    chances = DawidSkene(n_iter=100).fit(frame).probas_.reindex(index=range(N_DOCUMENTS), columns=range(GRADES))
    known = chances.fillna(0.0).to_numpy()
    return {"crowd-kit, label": known.argmax(axis=1), "crowd-kit, expected": known @ np.arange(GRADES)}


def labels(rater: np.ndarray, document: np.ndarray, grade: np.ndarray) -> dict[str, np.ndarray]:
    """The label of each document by every method."""
    rows = zip(rater.tolist(), document.tolist(), grade.tolist(), strict=True)
    table = gather(Judgment("q", f"{d:04d}", f"r{r:05d}", float(g)) for r, d, g in rows)
    found = {}
    for method in ("ordinal", "dawid-skene", "mean", "median", "majority"):
        made = combine(table, method=method, scale=(0, GRADES - 1))
        places = made.document_ids[made.documents].astype(np.int64)
        found[method] = np.full(N_DOCUMENTS, np.nan)
        found[method][places] = made.labels
    return found | crowd_kit(rater, document, grade)


def errors_of(kind: str, repeats: int) -> dict[str, float]:
    """The error of each method, over all repeats."""
    squares: dict[str, list[float]] = {}
    for repeat in range(repeats):
        rng = np.random.default_rng([list(KINDS).index(kind), repeat])
        truth, rater, document, grade = simulated(kind, rng)
        for method, found in labels(rater, document, grade).items():
            squares.setdefault(method, []).append(float(np.nanmean((found - truth) ** 2)))
    return {method: float(np.sqrt(np.mean(values))) for method, values in squares.items()}


def main() -> None:
    """Compare all methods on all kinds."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=20)
    repeats = parser.parse_args().repeats
    rows: list[dict[str, Any]] = []
    for kind in KINDS:
        errors = errors_of(kind, repeats)
        best = min(error for method, error in errors.items() if method not in ("ordinal", "dawid-skene"))
        rows.append({"kind": kind, **errors, "ordinal / best other": errors["ordinal"] / best})
    means = {name: float(np.mean([row[name] for row in rows])) for name in rows[0] if name != "kind"}
    show(
        "judgments simulated raters", "Error of combined labels, by kind of raters", [*rows, {"kind": "mean", **means}]
    )


if __name__ == "__main__":
    main()

"""Rankings made into one."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, InputTypeError, RankwrightError
from rankwright.ranking.fusion import NORMALISATIONS, PARTS

# Two runs of one query: the first has a, b, c, the second b, d.
FIRST = rw.Run(["q"] * 3, ["a", "b", "c"], [9.0, 5.0, 1.0])
SECOND = rw.Run(["q"] * 2, ["b", "d"], [0.8, 0.3])


def scores_of(run: rw.Run) -> dict[tuple[str, str], float]:
    keys = zip(run.query_ids.tolist(), run.document_ids.tolist(), strict=True)
    return dict(zip(keys, run.scores.tolist(), strict=True))


def naive(runs, method, normalisation="min-max", k=60.0):
    """Fusion as its definition says it, document by document."""
    tables = [scores_of(run) for run in runs]
    pool = sorted({key for table in tables for key in table})
    fused = {}
    for query, document in pool:
        candidates = [name for other, name in pool if other == query]
        parts = []
        for table in tables:
            own = {name: score for (other, name), score in table.items() if other == query}
            parts.append(naive_part(own, document, len(candidates), method, normalisation, k))
        fused[query, document] = math.fsum(parts)
        if method == "combmnz":
            fused[query, document] *= sum((query, document) in table for table in tables)
    return fused


def naive_part(own, document, n_candidates, method, normalisation, k):
    if method in ("combsum", "combmnz"):
        return naive_normalised(own, normalisation)[document] if document in own else 0.0
    if document not in own:
        left = n_candidates - len(own)
        return 0.0 if method == "rrf" else sum(range(1, left + 1)) / left / n_candidates
    above = sum(score > own[document] for score in own.values())
    equal = sum(score == own[document] for score in own.values())
    rank = sum(range(above + 1, above + equal + 1)) / equal
    return 1 / (k + rank) if method == "rrf" else (n_candidates - rank + 1) / n_candidates


def naive_normalised(own, normalisation):
    values = list(own.values())
    low, high, mean = min(values), max(values), sum(values) / len(values)
    if normalisation == "none":
        return own
    if normalisation == "max":
        return {name: score / high for name, score in own.items()}
    if low == high:
        return dict.fromkeys(own, 1 / len(own) if normalisation == "sum" else 1.0)
    if normalisation == "min-max":
        return {name: (score - low) / (high - low) for name, score in own.items()}
    if normalisation == "sum":
        return {name: (score - low) / sum(value - low for value in values) for name, score in own.items()}
    deviation = math.sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return {name: (score - mean) / deviation for name, score in own.items()}


def random_runs(seed, n_runs=3, n_queries=6):
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(n_runs):
        queries, documents, scores = [], [], []
        for query in rng.choice(n_queries, size=n_queries - 1, replace=False):
            found = rng.choice(12, size=rng.integers(1, 9), replace=False)
            queries += [f"q{query}"] * len(found)
            documents += [f"d{document}" for document in found]
            scores += rng.integers(1, 6, size=len(found)).tolist()  # many are equal
        runs.append(rw.Run(queries, documents, scores))
    return runs


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        ("rrf", {"a": 1 / 61, "b": 1 / 62 + 1 / 61, "c": 1 / 63, "d": 1 / 62}),
        ("combsum", {"a": 1.0, "b": 0.5 + 1.0, "c": 0.0, "d": 0.0}),
        ("combmnz", {"a": 1.0, "b": 2 * (0.5 + 1.0), "c": 0.0, "d": 0.0}),
        # Four candidates; what the second run lacks shares its last places, 2 and 1 of 4 points.
        ("borda", {"a": (4 + 1.5) / 4, "b": (3 + 4) / 4, "c": (2 + 1.5) / 4, "d": (1 + 3) / 4}),
    ],
)
def test_by_hand(method, expected):
    fused = scores_of(rw.fuse({"first": FIRST, "second": SECOND}, method))
    assert fused == {("q", document): pytest.approx(score) for document, score in expected.items()}


@pytest.mark.parametrize("method", PARTS)
@pytest.mark.parametrize("normalisation", NORMALISATIONS)
def test_fusion_is_what_its_definition_says(method, normalisation):
    by_scores = method in ("combsum", "combmnz")
    for seed in range(5):
        runs = random_runs(seed)
        options = {"normalisation": normalisation} if by_scores else {}
        fused = scores_of(rw.fuse(runs, method, **options))
        expected = naive(runs, method, normalisation)
        assert fused.keys() == expected.keys()
        assert all(score == pytest.approx(expected[key], abs=1e-12) for key, score in fused.items())


@pytest.mark.parametrize("method", PARTS)
def test_neither_the_order_of_lines_nor_that_of_runs_matters(method):
    runs, rng = random_runs(9), np.random.default_rng(0)
    shuffled = []
    for run in runs[::-1]:
        rows = rng.permutation(len(run))
        shuffled.append(rw.Run(run.query_ids[rows], run.document_ids[rows], run.scores[rows]))
    assert scores_of(rw.fuse(runs, method)) == scores_of(rw.fuse(shuffled, method))


@pytest.mark.parametrize("method", PARTS)
def test_scores_of_a_dataset_are_fused_as_the_runs_they_make(method):
    rng = np.random.default_rng(1)
    qid = rng.permutation(np.repeat(["x", "y", "z"], 7))
    data = rw.RankingDataset.from_arrays(np.zeros((21, 1)), np.zeros(21), qid=qid, document_ids=np.arange(21))
    systems = {name: rng.integers(0, 5, 21).astype(float) for name in "abc"}
    fused = rw.fuse(systems, method, data=data, weights={"a": 2.0})
    runs = [rw.Run(qid, np.arange(21), scores) for scores in systems.values()]
    expected = scores_of(rw.fuse(runs, method, weights=[2.0, 1.0, 1.0]))
    assert fused.tolist() == [expected[query, str(row)] for row, query in enumerate(qid.tolist())]


def test_a_run_fused_with_itself_keeps_its_order():
    for method in PARTS:
        fused = scores_of(rw.fuse([FIRST, FIRST], method))
        assert sorted(fused, key=fused.__getitem__, reverse=True) == [("q", "a"), ("q", "b"), ("q", "c")]


def test_k_says_how_much_the_first_ranks_stand_out():
    fused = scores_of(rw.fuse([FIRST, SECOND], k=0))
    assert fused["q", "b"] == pytest.approx(1 / 2 + 1)
    assert fused["q", "a"] == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([FIRST],), "two systems or more, got 1"),
        (([FIRST, SECOND], "rff"), "did you mean 'rrf'"),
        (([FIRST, SECOND], "rrf", {"normalisation": "max"}), "takes no normalisation"),
        (([FIRST, SECOND], "combsum", {"normalisation": "minmax"}), "did you mean 'min-max'"),
        (([FIRST, SECOND], "rrf", {"k": -1}), "k must be 0 or more"),
        (({"a": FIRST, "b": SECOND}, "rrf", {"weights": {"c": 2}}), "unknown system 'c'"),
        (([FIRST, SECOND], "rrf", {"weights": [1, -1]}), "weights must be finite"),
        (([FIRST, [1.0, 2.0]],), "scores need data="),
        (([FIRST, rw.Run(["q", "q"], ["a", "a"], [1, 2])],), "twice"),
        (([FIRST, rw.Run(["q"], ["a"], [-1.0])], "combsum", {"normalisation": "max"}), "a score above 0"),
    ],
)
def test_what_cannot_be_fused_is_refused(arguments, message):
    *positional, options = arguments if isinstance(arguments[-1], dict) and len(arguments) == 3 else (*arguments, {})
    with pytest.raises((RankwrightError, InputError, InputTypeError), match=message):
        rw.fuse(*positional, **options)

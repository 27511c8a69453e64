"""Clicks become votes, and votes preferences."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright import clicks
from rankwright.errors import InputError, SettingError, UnknownNameError


def test_the_slides_example():
    pairs = [(2, 1), (5, 1), (5, 3), (5, 4), (7, 1), (7, 3), (7, 4), (7, 6)]
    assert clicks.skip_above([2, 5, 7]) == pairs
    assert clicks.skip_above([]) == []
    assert clicks.skip_above([7, 2, 5, 2]) == pairs
    wrong: Any
    for wrong in ([0], [1.5], [-1]):
        with pytest.raises(SettingError, match="whole numbers, counted from 1"):
            clicks.skip_above(wrong)


def random_log(seed: int = 0, n: int = 400, swaps: bool = True) -> clicks.ClickLog:
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, 5, n).tolist()
    shown = [rng.permutation(6).tolist() if swaps else list(range(6)) for _ in range(n)]
    clicked = [(np.flatnonzero(rng.random(6) < 0.3) + 1).tolist() for _ in range(n)]
    return clicks.ClickLog.from_lists(queries, shown, clicked)


@pytest.mark.parametrize("rule", ["skip-above", "last-click", "next", "skip-above-and-next"])
def test_votes_are_those_of_the_rule_list_by_list(rule):
    log, rules = random_log(), {
        "skip-above": clicks.skip_above,
        "last-click": clicks.last_click,
        "next": lambda found: clicks.next_skipped(found, 6),
        "skip-above-and-next": lambda found: clicks.skip_above_and_next(found, 6),
    }  # fmt: skip
    expected: dict[tuple[int, int, int], int] = {}
    for k, query in enumerate(log.queries.tolist()):
        rows = slice(log.offsets[k], log.offsets[k + 1])
        documents, positions = log.documents[rows].tolist(), (np.flatnonzero(log.clicked[rows]) + 1).tolist()
        for better, worse in rules[rule](positions):
            key = query, documents[better - 1], documents[worse - 1]
            expected[key] = expected.get(key, 0) + 1
    votes = clicks.count_votes(log, rule)
    found: dict[tuple[int, int, int], float] = {}
    for q, a, b, for_a, for_b in zip(
        votes.queries, votes.first, votes.second, votes.for_first, votes.for_second, strict=True
    ):
        assert a < b
        found |= {(q, a, b): for_a} if for_a else {}
        found |= {(q, b, a): for_b} if for_b else {}
    assert found == expected
    assert votes.against_order == (1.0 if rule in ("skip-above", "last-click") else votes.against_order)


def test_merged_lists_vote_as_often_as_they_were_seen():
    log = random_log(swaps=False)
    once, merged = clicks.count_votes(log), clicks.count_votes(log.merged())
    np.testing.assert_array_equal(once.for_first, merged.for_first)
    np.testing.assert_array_equal(once.for_second, merged.for_second)
    n_votes = once.for_first.sum() + once.for_second.sum()
    assert repr(once) == f"PairVotes('skip-above', {n_votes:,.0f} votes on 75 pairs of 5 queries)"


def test_corrected_votes_of_documents_that_are_alike_favour_none():
    """Every document is clicked with the same chance, so skip-above's votes say nothing but where documents stood."""
    rng = np.random.default_rng(3)
    shown = [list(range(5))] * 4000
    clicked = [(np.flatnonzero(rng.random(5) < 0.3) + 1).tolist() for _ in shown]
    log = clicks.ClickLog.from_lists(["q"] * 4000, shown, clicked)
    plain, corrected = clicks.count_votes(log), clicks.count_votes(log, correct=True)
    assert plain.preferred()[0].max() < 0.01, "the lower document always wins"
    np.testing.assert_allclose(corrected.preferred()[0], 0.5, atol=0.01)
    with pytest.raises(ValueError, match="the correction is for"):
        clicks.count_votes(log, "next", correct=True)


def test_fair_pairs_need_both_orders():
    one_order = clicks.ClickLog.from_lists(["q"] * 3, [["a", "b"]] * 3, [[2], [2], [1]])
    assert len(clicks.count_votes(one_order, "fair-pairs")) == 0
    both = clicks.ClickLog.from_lists(["q"] * 4, [["a", "b"]] * 3 + [["b", "a"]], [[2], [2], [1], [1]])
    votes = clicks.count_votes(both, "fair-pairs")
    share = (1 / 3 + 0) / 2  # of a, over both orders
    np.testing.assert_allclose(votes.for_first, share * 4)
    np.testing.assert_allclose(votes.for_second, (1 - share) * 4)


def test_every_pairwise_ranker_trains_on_preferences_from_clicks():
    data = rw.synthetic.web_search(12, docs_per_query=12, seed=2)
    log = clicks.simulate(data, data.features[:, 5], sessions=20, swaps=0.5)
    made: Any = clicks.with_preferences(data, log)
    assert made.n_pairs == len(made.data.preferences)
    assert made.n_lost == 0
    assert (made.data.preferences.probability >= 0.5).all()
    for ranker in (rw.LambdaMART(n_trees=2), rw.RankNet(hidden=(2,), epochs=1), rw.BLMART(n_bags=2, n_trees=2)):
        assert np.isfinite(ranker.fit(made.data).predict(data)).all()


def test_errors_name_what_is_wrong():
    log = random_log()
    with pytest.raises(UnknownNameError, match="unknown rule"):
        clicks.count_votes(log, "skip")
    data = rw.RankingDataset.from_arrays([[1.0]], qid=["other"], document_ids=["other"])
    with pytest.raises(InputError, match="ids of queries and documents must be those of the log"):
        clicks.with_preferences(data, log)


@pytest.mark.parametrize("rule", ["skip-above", "skip-above-and-next", "fair-pairs"])
def test_a_very_long_list_takes_memory_for_its_votes_alone(rule):
    n = 50_000
    shown = [f"d{place}" for place in range(n)]
    log = clicks.ClickLog.from_lists(["q", "r"], [shown, ["a", "b"]], [[3, n], [2]])
    votes = clicks.count_votes(log, rule)
    assert len(votes) == {"skip-above": 2 + n - 2 + 1, "skip-above-and-next": 2 + n - 2 + 1 + 1, "fair-pairs": 0}[rule]


MEASURED = """
import resource, sys
import numpy, pyarrow.parquet, pyarrow.compute
from rankwright import clicks
peaks = []
for path in sys.argv[1:]:
    clicks.count_votes(path, threads=1)
    clicks.read_log(path, merge=True, threads=1)
    peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10)
print(peaks[1] - peaks[0])
"""


def test_memory_grows_with_pairs_and_not_with_the_log(tmp_path):
    """Three times as many lists of the same documents take hardly more memory."""
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    rng = np.random.default_rng(0)
    paths = [tmp_path / "short.parquet", tmp_path / "long.parquet"]
    for path, n_parts in zip(paths, (12, 36), strict=True):
        kinds = {"query": arrow.int32(), "shown": arrow.list_(arrow.int32()), "clicks": arrow.list_(arrow.int8())}
        with parquet.ParquetWriter(path, arrow.schema(kinds)) as writer:
            for _ in range(n_parts):
                queries = rng.integers(0, 50, 100_000).astype(np.int32)
                offsets = np.arange(100_001, dtype=np.int32)
                shown = arrow.ListArray.from_arrays(offsets * 10, np.tile(np.arange(10, dtype=np.int32), 100_000))
                chosen = arrow.ListArray.from_arrays(offsets, rng.integers(1, 11, 100_000).astype(np.int8))
                writer.write_table(arrow.table({"query": queries, "shown": shown, "clicks": chosen}))
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, *map(str, paths)], capture_output=True, text=True, check=True
    )
    kept = 24 * 100_000 * 10 * 5  # bytes of the further documents and clicks, were they all kept
    assert int(done.stdout) < kept / 3

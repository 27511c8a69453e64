"""The kernels that count clicks agree with their naive twins, for any number of threads."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from rankwright import kernels as checked_kernels
from rankwright.kernels import reference as checked_reference
from rankwright.kernels.records import IdTable, PairCells, PairLists, ShownLists, Texts, VoteTable

kernels: Any = checked_kernels  # arguments come in tuples, which types cannot count
reference: Any = checked_reference

RULES = ["skip-above", "last-click", "skip-above-and-next", "next", "neighbours", "exposure"]


def random_lists(seed: int = 0, n_lists: int = 300, n_queries: int = 7) -> ShownLists:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(0, 8, n_lists)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    queries = rng.integers(0, n_queries, n_lists).astype(np.int32)
    documents = rng.integers(0, 9, offsets[-1]).astype(np.int32)
    return ShownLists(offsets, queries, documents, rng.random(offsets[-1]) < 0.3)


def random_pairs(seed: int = 0, n_queries: int = 70) -> PairLists:
    rng = np.random.default_rng(seed)
    n_of_query = rng.integers(0, 6, n_queries)
    list_starts = np.concatenate([[0], np.cumsum(n_of_query)])
    sizes = rng.integers(1, 7, list_starts[-1])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    query_of_row = np.repeat(np.repeat(np.arange(n_queries), n_of_query), sizes)
    pairs = (query_of_row * 8 + rng.integers(0, 8, offsets[-1])).astype(np.int32)
    clicked = rng.random(offsets[-1]) < 0.3
    return PairLists(
        list_starts, np.arange(n_queries + 1) * 8, offsets, pairs, clicked, rng.integers(1, 5, list_starts[-1])
    )


def empty_table(n_parts: int = 4, capacity: int = 2048) -> VoteTable:
    size = n_parts * capacity
    return VoteTable(
        np.full(size, -1, np.int32),
        np.zeros(size, np.uint64),
        np.zeros(size, np.int64),
        np.zeros(size, np.int64),
        np.zeros(n_parts, np.int64),
    )


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_lists_are_grouped_as_by_the_twin(threads):
    lists = random_lists(n_lists=2000, n_queries=2)
    found = [(np.zeros(2000, np.uint64), np.zeros(2000, np.int64)) for _ in range(2)]
    for which, number, (hashes, first) in ((kernels, threads, found[0]), (reference, 1, found[1])):
        which.hash_lists(lists, hashes, number)
        which.group_lists(lists, hashes, first, number)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert (found[0][1] < np.arange(2000)).any(), "no two lists were equal: the test shows nothing"


def id_table(n_slots: int) -> IdTable:
    return IdTable(np.zeros(n_slots, np.uint64), np.full(n_slots, -1, np.int32))


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("n_slots", [16, 4096])
def test_integers_are_numbered_as_by_the_twin_and_stop_where_there_is_no_room(n_slots, threads):
    ids = np.random.default_rng(5).integers(-(2**63), 2**63 - 1, 300)[np.random.default_rng(6).integers(0, 300, 40_000)]
    found = []
    for which, number in ((kernels, threads), (reference, 1)):
        table, known, progress = id_table(n_slots), np.zeros(1000, np.int64), np.zeros(2, np.int64)
        numbers = np.full(len(ids), -9, np.int32)
        which.number_integers(ids, table, known, progress, numbers, number)
        found.append((progress, known[: progress[0]], numbers[: progress[1]]))
    for compiled, naive in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, naive)
    assert (found[0][0][1] < len(ids)) == (n_slots == 16)


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("n_bytes", [30, 4096])
def test_texts_are_numbered_as_by_the_twin_and_stop_where_there_is_no_room(n_bytes, threads):
    words = [
        b"",
        b"a",
        b"b",
        b"12345678",
        b"123456789",
        b"1234567",
        "größer".encode(),
        b"a\0",
        *(b"w%d" % n for n in range(99)),
    ]
    chosen = [words[n] for n in np.random.default_rng(7).integers(0, len(words), 20_000)]
    ids = Texts(np.frombuffer(b"".join(chosen), np.uint8), np.cumsum([0, *map(len, chosen)]))
    found = []
    for which, number in ((kernels, threads), (reference, 1)):
        table, progress = id_table(512), np.zeros(2, np.int64)
        known = Texts(np.zeros(n_bytes, np.uint8), np.zeros(300, np.int64))
        numbers = np.full(len(chosen), -9, np.int32)
        which.number_texts(ids, table, known, progress, numbers, number)
        found.append((progress, known.starts, known.bytes, numbers[: progress[1]]))
    for compiled, naive in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, naive)
    assert (found[0][0][1] < len(chosen)) == (n_bytes == 30)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_order_by_query_is_that_of_the_twin(threads):
    rng = np.random.default_rng(8)
    queries, keys = (
        rng.integers(0, 300, 5000).astype(np.int32),
        rng.integers(0, 9, 5000).astype(np.uint64) << np.uint64(60),
    )
    found = np.zeros(5000, np.int64), np.zeros(5000, np.int64)
    kernels.order_by_query(queries, keys, 400, found[0], threads)
    reference.order_by_query(queries, keys, 400, found[1], 1)
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_lists_are_taken_as_by_the_twin(threads):
    lists = random_lists(n_lists=20_000)
    places = np.random.default_rng(9).integers(0, 20_000, 30_000)
    offsets = np.concatenate([[0], np.cumsum(np.diff(lists.offsets)[places])])
    found = [(np.zeros(offsets[-1], np.int32), np.zeros(offsets[-1], np.bool_)) for _ in range(2)]
    kernels.take_lists(lists, places, offsets, *found[0], threads)
    reference.take_lists(lists, places, offsets, *found[1], 1)
    for compiled, naive in zip(*found, strict=True):
        np.testing.assert_array_equal(compiled, naive)


def test_arrays_of_wrong_sizes_are_refused_when_ids_are_numbered():
    ids, known, numbers = np.arange(3), np.zeros(4, np.int64), np.zeros(3, np.int32)
    texts, room = (
        Texts(np.zeros(2, np.uint8), np.array([0, 1, 9, 2])),
        Texts(np.zeros(9, np.uint8), np.zeros(5, np.int64)),
    )
    for wrong in (
        lambda: kernels.number_integers(ids, id_table(3), known, np.zeros(2, np.int64), numbers, 1),
        lambda: kernels.number_integers(ids, id_table(8), known, np.zeros(1, np.int64), numbers, 1),
        lambda: kernels.number_integers(ids, id_table(8), known, np.array([5, 0]), numbers, 1),
        lambda: kernels.number_integers(ids, id_table(8), known, np.array([0, 4]), numbers, 1),
        lambda: kernels.number_integers(ids, id_table(8), known, np.zeros(2, np.int64), numbers[1:], 1),
        lambda: kernels.number_texts(texts, id_table(8), room, np.zeros(2, np.int64), numbers, 1),
        lambda: kernels.order_by_query(np.array([5], np.int32), np.zeros(1, np.uint64), 5, np.zeros(1, np.int64), 1),
        lambda: kernels.take_lists(
            random_lists(), np.array([300]), np.array([0, 0]), numbers[:0], np.zeros(0, bool), 1
        ),
    ):
        with pytest.raises(ValueError, match="must"):
            wrong()


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_documents_are_numbered_as_by_the_twin(threads):
    rng = np.random.default_rng(3)
    starts = np.concatenate([[0], np.cumsum(rng.integers(0, 30, 200))])
    documents = rng.integers(0, 12, starts[-1]).astype(np.int32)
    found = [(np.zeros(starts[-1], np.int32), np.zeros(200, np.int64)) for _ in range(2)]
    kernels.number_documents(starts, documents, *found[0], threads)
    reference.number_documents(starts, documents, *found[1], 1)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("rule", RULES)
def test_votes_are_counted_as_by_the_twin(rule, threads):
    lists, none = random_lists(), np.zeros((0, 0), np.int64)
    for amounts, counts in ((none, none[0:0].ravel()), (np.arange(16).reshape(4, 4), np.arange(300))):
        tables = empty_table(), empty_table()
        done = np.zeros(4, np.int64), np.zeros(4, np.int64)
        kernels.count_votes(lists, counts, rule, amounts, tables[0], done[0], threads)
        reference.count_votes(lists, counts, rule, amounts, tables[1], done[1], 1)
        np.testing.assert_array_equal(done[0], done[1])
        for compiled, naive in zip(*tables, strict=True):
            np.testing.assert_array_equal(compiled, naive)
        assert tables[0].n_used.sum() > 10


@pytest.mark.parametrize("threads", [1, 2])
def test_a_table_that_is_half_full_stops_before_a_list_and_goes_on_after_it_was_emptied(threads):
    lists, none = random_lists(n_queries=30), np.zeros((0, 0), np.int64)
    votes: dict[tuple[int, int], int] = {}
    done, rounds = np.zeros(4, np.int64), 0
    while (done < len(lists.queries)).any():
        table = empty_table(capacity=128)
        kernels.count_votes(lists, np.zeros(0, np.int64), "exposure", none, table, done, threads)
        for slot in np.flatnonzero(table.queries >= 0):
            key = int(table.queries[slot]), int(table.pairs[slot])
            votes[key] = votes.get(key, 0) + int(table.below[slot])
        rounds += 1
    whole = empty_table()
    kernels.count_votes(lists, np.zeros(0, np.int64), "exposure", none, whole, np.zeros(4, np.int64), 1)
    used = np.flatnonzero(whole.queries >= 0)
    assert rounds > 1
    assert votes == {(int(whole.queries[s]), int(whole.pairs[s])): int(whole.below[s]) for s in used}


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("context", ["rank", "rank and last click"])
def test_cells_are_those_of_the_twin(context, threads):
    lists = random_pairs()
    cells = cells_of(lists, context, kernels, threads), cells_of(lists, context, reference, 1)
    for compiled, naive in zip(*cells, strict=True):
        np.testing.assert_array_equal(compiled, naive)
    assert cells[0].shown.sum() == (np.diff(lists.offsets) * lists.counts).sum()


def cells_of(lists: PairLists, context: str, module, threads: int) -> PairCells:
    ranks, last = np.mgrid[0:4, 0:5]
    context_of = (ranks if context == "rank" else 5 * ranks + last).astype(np.int32)
    n_cells = np.zeros(lists.pair_starts[-1], np.int64)
    module.count_cells(lists, context_of, n_cells, threads)
    starts = np.concatenate([[0], np.cumsum(n_cells)])
    cells = PairCells(starts, *(np.zeros(starts[-1], kind) for kind in (np.int32, np.int64, np.int64)))
    module.fill_cells(lists, context_of, *cells, threads)
    return cells


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_examination_is_that_of_the_twin_and_has_the_same_bits_for_any_threads(threads):
    cells = cells_of(random_pairs(n_queries=1200), "rank and last click", kernels, 1)
    rng = np.random.default_rng(0)
    attraction, examination = rng.uniform(0.01, 0.9, len(cells.starts) - 1), rng.uniform(0.1, 0.9, 20)
    sums = {n: (np.zeros(len(attraction)), np.zeros(20)) for n in ("threads", "one", "twin")}
    kernels.examination_step(cells, attraction, examination, *sums["threads"], threads)
    kernels.examination_step(cells, attraction, examination, *sums["one"], 1)
    reference.examination_step(cells, attraction, examination, *sums["twin"], 1)
    for many, one, twin in zip(*sums.values(), strict=True):
        np.testing.assert_array_equal(many, one)
        np.testing.assert_allclose(many, twin, rtol=1e-12)


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_clicks_are_counted_as_by_the_twin(threads):
    lists = random_pairs(n_queries=200)
    found = [(np.ones((lists.pair_starts[-1], 6), np.int64), np.ones((4, 3), np.int64)) for _ in range(2)]
    kernels.count_clicks(lists, *found[0], threads)
    reference.count_clicks(lists, *found[1], 1)
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_the_step_of_a_dynamic_bayesian_network_is_that_of_the_twin(threads):
    lists = random_pairs(n_queries=200)
    n_pairs, rng = int(lists.pair_starts[-1]), np.random.default_rng(1)
    attraction, satisfaction = rng.uniform(0.05, 0.9, (2, n_pairs))
    sums: Any = {n: tuple(np.ones(size) for size in (n_pairs, n_pairs, 200, 200)) for n in ("threads", "one", "twin")}
    kernels.dbn_step(lists, attraction, satisfaction, 0.8, *sums["threads"], threads)
    kernels.dbn_step(lists, attraction, satisfaction, 0.8, *sums["one"], 1)
    reference.dbn_step(lists, attraction, satisfaction, 0.8, *sums["twin"], 1)
    for many, one, twin in zip(*sums.values(), strict=True):
        np.testing.assert_array_equal(many, one)
        np.testing.assert_allclose(many, twin, rtol=1e-12)


def test_what_a_list_tells_a_dynamic_bayesian_network_is_what_summing_over_all_that_may_have_happened_gives():
    attracts, satisfies, persistence = [0.3, 0.6, 0.2, 0.5], [0.4, 0.7, 0.1, 0.3], 0.8
    for clicked in ([False] * 4, [True, False, True, False], [False, True, False, False], [False, False, False, True]):
        found = kernels_posterior(attracts, satisfies, persistence, clicked)
        expected = enumerated(attracts, satisfies, persistence, clicked)
        for name, values in expected.items():
            np.testing.assert_allclose(found[name], values, atol=1e-12, err_msg=f"{name} of {clicked}")


def kernels_posterior(attracts, satisfies, persistence, clicked):
    n = len(clicked)
    lists = PairLists(
        np.array([0, 1]), np.array([0, n]), np.array([0, n]), np.arange(n, dtype=np.int32), np.array(clicked),
        np.array([1]),
    )  # fmt: skip
    sums: Any = [np.zeros(n), np.zeros(n), np.zeros(1), np.zeros(1)]
    kernels.dbn_step(lists, np.array(attracts), np.array(satisfies), persistence, *sums, 1)
    return dict(zip(("examined", "satisfied", "went_on", "could"), sums, strict=True))


def enumerated(attracts, satisfies, persistence, clicked):
    """The same, by walking down every way in which a user may have gone through the list."""
    n = len(clicked)
    totals = {"examined": np.zeros(n), "satisfied": np.zeros(n), "went_on": np.zeros(1), "could": np.zeros(1)}
    weight = 0.0

    def walk(rank, chance, examined, satisfied, on, could):
        nonlocal weight
        if rank == n:
            end(chance, examined, satisfied, on, could)
            return
        examined = [*examined, rank]
        if clicked[rank]:
            stay = chance * attracts[rank]
            end_if_quiet(rank, stay * satisfies[rank], examined, [*satisfied, rank], on, could)
            chance = stay * (1 - satisfies[rank])
        else:
            chance *= 1 - attracts[rank]
        if rank + 1 == n:
            end(chance, examined, satisfied, on, could)
            return
        end_if_quiet(rank, chance * (1 - persistence), examined, satisfied, on, could + 1)
        walk(rank + 1, chance * persistence, examined, satisfied, on + 1, could + 1)

    def end_if_quiet(rank, chance, *rest):
        if not any(clicked[rank + 1 :]):
            end(chance, *rest)

    def end(chance, examined, satisfied, on, could):
        nonlocal weight
        weight += chance
        totals["examined"][examined] += chance
        totals["satisfied"][satisfied] += chance
        totals["went_on"] += chance * on
        totals["could"] += chance * could

    walk(0, 1.0, [], [], 0, 0)
    return {name: values / weight for name, values in totals.items()}


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_losses_by_position_are_those_of_the_twin(threads):
    rng = np.random.default_rng(5)
    offsets = np.concatenate([[0], np.cumsum(rng.integers(0, 9, 300))])
    labels = rng.integers(0, 2, offsets[-1]).astype(np.float32)
    scores, positions = rng.normal(size=offsets[-1]), rng.integers(0, 6, offsets[-1])
    weights: Any = rng.uniform(0.5, 3, (2, 6))
    sums: Any = {name: (np.ones(6), np.ones(6)) for name in ("threads", "one", "twin")}
    kernels.position_losses(offsets, labels, scores, positions, *weights, *sums["threads"], threads)
    kernels.position_losses(offsets, labels, scores, positions, *weights, *sums["one"], 1)
    reference.position_losses(offsets, labels, scores, positions, *weights, *sums["twin"], 1)
    for many, one, twin in zip(*sums.values(), strict=True):
        np.testing.assert_array_equal(many, one)
        np.testing.assert_allclose(many, twin, rtol=1e-10)


@pytest.mark.skipif(os.environ.get("RANKWRIGHT_KERNELS") == "reference", reason="twins check nothing")
def test_arrays_of_wrong_length_are_refused():
    lists, pairs = random_lists(), random_pairs()
    wrong = lists._replace(clicked=lists.clicked[1:])
    n = len(lists.queries)
    with pytest.raises(ValueError, match="clicked must have"):
        kernels.group_lists(wrong, np.zeros(n, np.uint64), np.zeros(n, np.int64), 1)
    with pytest.raises(ValueError, match="room for the votes"):
        kernels.count_votes(
            lists,
            np.zeros(0, np.int64),
            "next",
            np.zeros((0, 0), np.int64),
            empty_table(capacity=8),
            np.zeros(4, int),
            1,
        )
    with pytest.raises(ValueError, match="unknown name nothing"):
        kernels.count_votes(
            lists, np.zeros(0, np.int64), "nothing", np.zeros((0, 0), np.int64), empty_table(), np.zeros(4, int), 1
        )
    with pytest.raises(ValueError, match="of_pair must have"):
        kernels.count_clicks(pairs, np.zeros((3, 6), np.int64), np.zeros((4, 3), np.int64), 1)
    beyond = pairs._replace(pairs=pairs.pairs + np.int32(pairs.pair_starts[-1]))
    with pytest.raises(ValueError, match="pairs must lie below"):
        kernels.count_clicks(beyond, np.zeros((int(pairs.pair_starts[-1]), 5), int), np.zeros((4, 3), int), 1)

"""How long do 136 features of a million pairs of a query and a document take, and PageRank of ten million links?

The documents have four fields and 200 tokens in all, drawn by Zipf's law. A plain version in Python computes 125 of the
features for some of the pairs. searcharray, where it is installed, computes what it can: BM25, counts, phrases.
networkx, where it is installed, ranks a smaller graph.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from math import log
from typing import Any

import numpy as np
from benchmarks.helpers.timing import Timing, report, time_side_by_side

from rankwright.kernels.records import QueryPairs, TokenStream
from rankwright.text import FeatureSpecification, Field, mslr_specification, page_rank
from rankwright.text.families import STATISTICS
from rankwright.text.matching import Matcher, MatchPlan, QueryTexts
from rankwright.text.specification import FeatureLine
from rankwright.text.statistics import StoredCounts, StoredTotals, TextStatistics

FIELDS = {"body": 160, "anchor": 20, "title": 10, "url": 10}  # mean lengths
N_TERMS, QUERY_TERMS = 50_000, 4


class Documents:
    """Documents as numbers, with what an index knows of them."""

    def __init__(self, n: int, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        self.streams = []
        for mean in FIELDS.values():
            offsets = np.concatenate([[0], np.cumsum(rng.poisson(mean, n))]).astype(np.int64)
            self.streams.append(TokenStream(offsets, (rng.zipf(1.2, offsets[-1]) % N_TERMS).astype(np.uint32)))
        counts = np.stack([np.bincount(own.tokens, minlength=N_TERMS) for own in self.streams], axis=1)
        frequencies = np.minimum(counts, n)
        tokens = counts.sum(axis=0)
        totals = StoredTotals(n, tokens, np.full(len(FIELDS), n))
        numbers = {f"t{number}": number for number in range(N_TERMS)}
        stored = StoredCounts(frequencies, counts, frequencies.max(axis=1))
        self.known = TextStatistics(tuple(FIELDS), totals, numbers, stored, is_complete=True)

    def numbers_of(self, terms: list[str]) -> Any:
        return np.array([self.known.number_of[term] for term in terms], np.uint32)


def specification() -> FeatureSpecification:
    """136 features of words: MSLR's 125, and others of all fields."""
    mslr = mslr_specification([Field(name, "text") for name in FIELDS])
    more = ("dph", "shortest_window", "first_position", "phrase", "ordered_pairs", "longest_run", "closeness",
            "covered_idf_share", "different_terms", "begins_with_query", "unordered_pairs")  # fmt: skip
    return FeatureSpecification([*mslr.lines, *(FeatureLine(family, ("*",)) for family in more)])


def plain_features(tokens: list[str], terms: list[str], rarity: dict[str, float], mean: float) -> list[float]:
    """What a person writes at first: 25 features of a field, with a Counter."""
    counts, n = Counter(tokens), max(1, len(tokens))
    tf = [counts[term] for term in terms]
    values = [float(sum(count > 0 for count in tf)), sum(count > 0 for count in tf) / len(terms), float(len(tokens))]
    idf = [rarity[term] for term in terms]
    values.append(sum(idf))
    for own in (tf, [count / n for count in tf], [count * weight for count, weight in zip(tf, idf, strict=True)]):
        average = sum(own) / len(own)
        values += [sum(own), min(own), max(own), average, sum((one - average) ** 2 for one in own) / len(own)]
    values.append(float(all(tf)))
    values.append(sum(c * w * w for c, w in zip(tf, idf, strict=True)) / n**0.5)
    values.append(sum(w * c / (c + 1.2 * (0.25 + 0.75 * n / mean)) for c, w in zip(tf, idf, strict=True)))
    share = 1e-4
    values.append(sum(log(max(count - 0.7, 0) / n / share + 0.7 * len(counts) / n) for count in tf))
    values.append(sum(log((count / share + 2000) / (n + 2000)) for count in tf))
    values.append(sum(log(0.9 * count / n / share + 0.1) for count in tf))
    return values


def time_plain(documents: Documents, queries: list[list[str]], pairs: QueryPairs, n: int) -> float:
    """Seconds for the first pairs, in plain Python."""
    rarity = {f"t{number}": 1.0 + number / N_TERMS for number in range(N_TERMS)}
    texts = [[words_of(own, row) for own in documents.streams] for row in pairs.documents[:n].tolist()]
    start = time.process_time()
    for row, fields in enumerate(texts):
        query = queries[int(np.searchsorted(pairs.starts, row, side="right")) - 1]
        for own in (*fields, [word for field in fields for word in field]):
            plain_features(own, query, rarity, 100.0)
    return time.process_time() - start


def words_of(stream: TokenStream, document: int) -> list[str]:
    return [f"t{token}" for token in stream.tokens[stream.offsets[document] : stream.offsets[document + 1]].tolist()]


def array_of(stream: TokenStream) -> Any:
    """searcharray's index of a field."""
    from searcharray import SearchArray

    return SearchArray.index([" ".join(words_of(stream, row)) for row in range(len(stream.offsets) - 1)])


def ask_array(array: Any, queries: list[list[str]], pairs: QueryPairs, phrases: Sequence[int]) -> None:
    """Counts of each term, its BM25, and of the phrase with each slop; it computes them for all documents."""
    for number, query in enumerate(queries):
        chosen = pairs.documents[pairs.starts[number] : pairs.starts[number + 1]]
        for term in query:
            array.termfreqs(term)[chosen]
            array.score(term)[chosen]
        for slop in phrases:
            array.termfreqs(query, slop=slop)[chosen]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--links", type=int, default=10_000_000)
    parser.add_argument("--repeats", type=int, default=3)
    arguments = parser.parse_args()
    rng = np.random.default_rng(1)
    documents = Documents(arguments.documents)
    queries = [[f"t{number}" for number in rng.integers(0, 3000, QUERY_TERMS)] for _ in range(arguments.queries)]
    starts = np.linspace(0, arguments.pairs, arguments.queries + 1).astype(np.int64)
    pairs = QueryPairs(starts, rng.integers(0, arguments.documents, arguments.pairs))
    compare_with_python(documents, queries, pairs, arguments.repeats)
    if find_spec("searcharray") is not None:
        compare_with_searcharray(documents)
    rank_links(arguments.links, arguments.repeats)


def compare_with_python(documents: Documents, queries: list[list[str]], pairs: QueryPairs, repeats: int) -> None:
    spec = specification()
    n = len(pairs.documents)
    name = "rankwright, 1 thread"
    timings = time_side_by_side({name: ours(documents, queries, pairs, spec, 1)}, repeats, time.process_time)
    timings |= time_side_by_side(
        {"rankwright, 2 threads, by the clock": ours(documents, queries, pairs, spec, 2)}, repeats
    )
    few = min(1000, n)
    seconds = time_plain(documents, queries, pairs, few) * n / few
    timings["plain Python, 125 features"] = Timing("plain Python, 125 features", [seconds])
    report(f"{n:,} pairs × {len(spec.columns)} features (Python: {few:,} pairs, scaled)", timings, name)


def ours(
    documents: Documents, queries: list[list[str]], pairs: QueryPairs, spec: FeatureSpecification, threads: int
) -> Callable[[], None]:
    """Computes the features of all pairs, from the queries' terms on."""
    plan = MatchPlan.of(spec, tuple(FIELDS))
    streams = [own for own, name in zip(documents.streams, FIELDS, strict=True) if name in plan.fields]
    out = np.empty((len(pairs.documents), len(spec.columns)), np.float32)
    return lambda: Matcher(plan, documents.known, QueryTexts.of(queries)).fill(
        streams, documents.numbers_of, pairs, out, threads
    )


def compare_with_searcharray(documents: Documents) -> None:
    """What it can do, in one field: counts and BM25 of each query's terms, and how often the query is a phrase.

    Terms of queries are any of the 3,000 commonest, or drawn as often as texts have them: then phrases with
    words between take it long.
    """
    rng, n = np.random.default_rng(4), len(documents.streams[0].offsets) - 1
    array = array_of(documents.streams[0])
    counts = [FeatureLine("bm25", ("body",)), FeatureLine("tf", ("body",), STATISTICS)]
    phrase = FeatureLine("phrase", ("body",))
    slack = FeatureLine("ordered_phrase", ("body",), settings={"slack": 8.0})
    drawn: dict[str, Callable[[], Any]] = {"any terms": lambda: rng.integers(0, 3000, QUERY_TERMS),
             "terms as texts have them": lambda: next_query(rng)}  # fmt: skip
    for kind, draw in drawn.items():
        queries = [[f"t{number}" for number in draw()] for _ in range(1000)]
        for what, n_queries, lines, slops in (
            ("counts and BM25", 1000, counts, ()),
            ("and phrases", 100, [*counts, phrase], (0,)),
            ("and phrases with 8 words between", 10, [*counts, phrase, slack], (0, 8)),
        ):
            asked = queries[-n_queries:]
            pairs = QueryPairs(np.arange(n_queries + 1) * 1000, rng.integers(0, n, 1000 * n_queries))
            tasks: dict[str, Callable[[], object]] = {
                "rankwright, 1 thread": ours(documents, asked, pairs, FeatureSpecification(lines), 1),
                "searcharray": partial(ask_array, array, asked, pairs, slops),
            }
            question = f"{what} of one field, {kind}, {n_queries} queries × 1,000 of {n:,} documents"
            # Once: searcharray remembers what it was asked.
            report(question, time_side_by_side(tasks, 1, time.process_time), "rankwright, 1 thread")


def next_query(rng: np.random.Generator) -> list[int]:
    """Different terms, drawn as those of documents are."""
    terms: dict[int, None] = {}
    while len(terms) < QUERY_TERMS:
        terms[int(rng.zipf(1.2)) % N_TERMS] = None
    return list(terms)


def rank_links(n_links: int, repeats: int) -> None:
    rng, n = np.random.default_rng(2), max(10, n_links // 10)
    sources, targets = np.sort(rng.integers(0, n, n_links)), rng.integers(0, n, n_links)
    offsets = np.searchsorted(sources, np.arange(n + 1))
    tasks: dict[str, Callable[[], Any]] = {"rankwright, 2 threads": lambda: page_rank(offsets, targets, threads=2)}
    timings = time_side_by_side(tasks, repeats)
    report(f"PageRank of {n:,} documents with {n_links:,} links", timings, "rankwright, 2 threads")
    if find_spec("networkx") is not None:
        small = n // 100
        print(f"  largest difference from networkx on {small:,} documents: {gap_to_networkx(small):.1e}")


def gap_to_networkx(n: int) -> float:
    import networkx

    rng = np.random.default_rng(3)
    links = np.unique(np.sort(rng.integers(0, n * n, 10 * n)))  # each once: networkx keeps no link twice
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(zip((links // n).tolist(), (links % n).tolist(), strict=True))
    theirs = networkx.pagerank(graph, tol=1e-15, max_iter=1000)
    found = page_rank(np.searchsorted(links // n, np.arange(n + 1)), links % n)
    return float(np.abs(found - np.array([theirs[node] for node in range(n)])).max())


if __name__ == "__main__":
    main()

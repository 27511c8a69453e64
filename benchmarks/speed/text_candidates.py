"""The best 1,000 documents of queries by BM25: queries a second against bm25s (numba) and tantivy, in one run.

Documents are words drawn by Zipf's law, queries two to five words of documents, all given at once. The peers are in no
extra of the package (pip install bm25s numba tantivy), and each is left out where it is not installed. All get the same
words: no stop words, no stems. What bm25s would have precomputed is handed to it, which for a million documents takes
less memory than its own indexing. One thread is timed by processor time too, since others may use the machine.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from benchmarks.helpers.timing import Timing, report, time_side_by_side
from benchmarks.helpers.zipf_texts import ZipfTexts

from rankwright.text import BM25, Analyser, Index, build_index, open_index, top_documents

K, K1, B = 1000, 1.2, 0.75


def bm25s_scores(index: Index) -> dict[str, object]:
    """What bm25s computes of all documents when it indexes them, without its lists of Python's numbers."""
    (segment,) = index.segments
    postings = segment.postings(("body",), by_field=False)
    frequencies, n = np.diff(postings.starts), index.n_documents
    rarities = np.log(1 + (n - frequencies + 0.5) / (frequencies + 0.5))
    lengths = postings.lengths[0]
    norms = (K1 * (1 - B + B * lengths / lengths.mean())).astype(np.float32)
    counts = postings.counts[0].astype(np.float32)
    scores = counts / (counts + norms[postings.documents])
    scores *= np.repeat(rarities.astype(np.float32), frequencies)
    found = {"data": scores, "indices": postings.documents.astype(np.int32), "indptr": np.array(postings.starts)}
    return found | {"num_docs": n}


def bm25s_search(index: Index, queries: list[str]) -> Callable[[int], object]:
    import bm25s
    from bm25s.tokenization import Tokenized

    (segment,) = index.segments
    known = segment.files.length("term_starts") - 1
    vocabulary = {str(number): number for number in range(known)}
    peer = bm25s.BM25(method="lucene", k1=K1, b=B, backend="numba")
    peer.index(Tokenized(ids=[list(range(known))], vocab=vocabulary), show_progress=False)
    peer.scores = bm25s_scores(index)
    asked = [[int(one) for one in segment.numbers_of(query.split()) if one < known] for query in queries]
    given = Tokenized(ids=asked, vocab=vocabulary)
    return lambda threads: peer.retrieve(given, k=K, show_progress=False, n_threads=threads)


def fill_tantivy(texts: ZipfTexts, folder: Path) -> None:
    import tantivy

    builder = tantivy.SchemaBuilder()
    builder.add_integer_field("id", stored=False, indexed=False, fast=True)
    builder.add_text_field("body", stored=False, tokenizer_name="whitespace", index_option="freq")
    folder.mkdir()
    writer = tantivy.Index(builder.build(), path=str(folder)).writer(heap_size=500_000_000, num_threads=1)
    for batch in texts.batches():
        for text in batch.texts["body"]:
            document = tantivy.Document()
            document.add_text("body", text)
            writer.add_document(document)
    writer.commit()
    writer.wait_merging_threads()


def tantivy_search(texts: ZipfTexts, queries: list[str], folder: Path) -> Callable[[int], object]:
    import tantivy

    if not folder.exists():
        fill_tantivy(texts, folder)
    peer = tantivy.Index.open(str(folder))
    searcher = peer.searcher()

    def hits(query: str) -> object:
        return searcher.search(peer.parse_query(query, ["body"]), K, count=False).hits

    def search(threads: int) -> object:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(hits, queries)) if threads > 1 else [hits(query) for query in queries]

    return search


def peers_of(index: Index, texts: ZipfTexts, queries: list[str], folder: Path) -> dict[str, Callable[[int], object]]:
    found: dict[str, Callable[[int], object]] = {}
    makers = {
        "bm25s": lambda: bm25s_search(index, queries),
        "tantivy": lambda: tantivy_search(texts, queries, folder / "tantivy"),
    }
    for name, make in makers.items():
        try:
            found[name] = make()
        except ModuleNotFoundError as error:
            print(f"{name} is left out: {error}")
    return found


def shown(question: str, timings: dict[str, Timing], n_queries: int) -> None:
    rates: dict[str, object] = {
        name: f"{n_queries / timing.best:,.0f} queries a second" for name, timing in timings.items()
    }
    report(question, timings, "rankwright", rates)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--queries", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the indexes, and where kept ones are found")
    given = parser.parse_args()
    texts = ZipfTexts(given.documents)
    queries = texts.queries(given.queries)
    with TemporaryDirectory() as name:
        folder = given.keep or Path(name)
        folder.mkdir(parents=True, exist_ok=True)
        if (folder / "index").exists():
            index = open_index(folder / "index")
        else:
            index = build_index(texts.batches(), folder / "index", analyser=Analyser(language=None))
        scorer = BM25(K1, B)
        searches: dict[str, Callable[[int], object]] = {
            "rankwright": lambda threads: top_documents(index, queries, scorer=scorer, k=K, threads=threads)
        }
        searches |= {} if given.no_peers else peers_of(index, texts, queries, folder)
        for search in searches.values():  # what is compiled or read at the first call is not timed
            for threads in (1, 2):
                search(threads)
        about = f"top {K} by BM25, {given.documents:,} documents"
        for threads in (1, 2):
            tasks: dict[str, Callable[[], object]] = {one: partial(search, threads) for one, search in searches.items()}
            shown(f"{about}, {threads} thread(s)", time_side_by_side(tasks, given.repeats), len(queries))
            if threads == 1:
                timed = time_side_by_side(tasks, given.repeats, clock=time.process_time)
                shown(f"{about}, processor time of 1 thread", timed, len(queries))
        if "bm25s" in searches:
            _check(searches, len(queries))


def _check(searches: dict[str, Callable[[int], object]], n_queries: int) -> None:
    """The same scores as the peer's, to its float32."""
    mine, theirs = searches["rankwright"](1), searches["bm25s"](1)
    gaps = []
    for query in range(n_queries):
        _, scores = mine.of(query)  # type: ignore[attr-defined]
        gaps.append(np.abs(scores - theirs.scores[query][: len(scores)]).max(initial=0))  # type: ignore[attr-defined]
    print(f"largest difference of scores from bm25s: {max(gaps):.2g}")


if __name__ == "__main__":
    main()

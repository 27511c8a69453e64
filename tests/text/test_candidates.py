"""The best documents of queries: exact, as if every document had been scored; equal to formulas worked by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import log, log2, pi
from typing import Any

import numpy as np
import pytest

from rankwright.errors import InputError, RankwrightError, SettingError
from rankwright.kernels import reference
from rankwright.text import BM25, BM25F, DPH, Analyser, Dirichlet, build_index, read_documents, top_documents

PLAIN = Analyser(language=None)
SCORERS = [
    BM25(),
    BM25(k1=1.2, b=0.75),
    BM25(k1=0),
    BM25(fields=["title"]),
    BM25F({"title": 3.0, "body": 1.0}, b={"title": 0.2, "body": 0.8}),
    BM25F(),
    Dirichlet(200),
    Dirichlet(fields="body"),
    DPH(),
]


def collection(n: int, seed: int, n_words: int = 60) -> list[dict[str, object]]:
    """Documents with Zipf's words; one has a word so often that its count needs two bytes."""
    rng = np.random.default_rng(seed)
    shares = 1 / np.arange(1, n_words + 1)
    words = [f"w{number}" for number in range(n_words)]

    def text(length: int) -> str:
        return " ".join(rng.choice(words, length, p=shares / shares.sum()))

    documents = [
        {
            "id": str(number),
            "title": text(int(rng.integers(0, 5))),
            "body": text(int(rng.integers(1, 60))),
            "year": number % 20,
        }
        for number in range(n)
    ]
    documents[n // 2]["body"] = "w7 " * 300
    return documents


def queries_of(n: int, seed: int, n_words: int = 60) -> list[str]:
    rng = np.random.default_rng(seed)
    return [" ".join(f"w{word}" for word in rng.integers(0, n_words, rng.integers(1, 6))) for _ in range(n)]


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    return build_index(read_documents(collection(900, 1)), tmp_path_factory.mktemp("top") / "index", analyser=PLAIN)


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    folder, documents = tmp_path_factory.mktemp("top") / "grown", collection(900, 1)
    build_index(read_documents(documents[:500]), folder, analyser=PLAIN)
    build_index(read_documents(documents[500:510]), folder, append=True)
    return build_index(read_documents(documents[510:]), folder, append=True)


def same(mine, other):
    np.testing.assert_array_equal(mine.offsets, other.offsets)
    np.testing.assert_array_equal(mine.ordinals, other.ordinals)
    np.testing.assert_array_equal(mine.scores, other.scores)


@pytest.mark.parametrize("scorer", SCORERS, ids=str)
@pytest.mark.parametrize("k", [1, 10, 1000])
def test_nothing_better_is_left_out(index, monkeypatch, scorer, k):
    queries = queries_of(12, 5)
    found = top_documents(index, queries, scorer=scorer, k=k, threads=1)
    monkeypatch.setattr("rankwright.kernels.top_documents", reference.top_documents)
    twin = top_documents(index, queries, scorer=scorer, k=k)
    np.testing.assert_array_equal(found.offsets, twin.offsets)
    np.testing.assert_allclose(found.scores, twin.scores, atol=1e-9)
    if isinstance(scorer, BM25 | BM25F):  # logarithms may differ in the last digit, and then ties do
        same(found, twin)


@pytest.mark.parametrize("scorer", SCORERS, ids=str)
def test_threads_and_segments_make_no_difference(index, grown, scorer):
    queries = [*queries_of(30, 6), '"w1 w2" w3', "nothing", ""]
    found = top_documents(index, queries, scorer=scorer, k=40, threads=1)
    for threads in (2, 7):
        same(top_documents(index, queries, scorer=scorer, k=40, threads=threads), found)
    same(top_documents(grown, queries, scorer=scorer, k=40), found)
    for number in (0, 5, 30):  # and a query alone gets what it gets among others
        ordinals, scores = found.of(number)
        alone = top_documents(index, [queries[number]], scorer=scorer, k=40)
        assert alone.ordinals.tolist() == ordinals.tolist()
        assert alone.scores.tolist() == scores.tolist()


def test_equal_scores_come_in_the_order_of_documents(tmp_path):
    documents = [{"id": str(number), "text": "same words"} for number in range(10_000)]
    index = build_index(read_documents(documents), tmp_path / "index")
    assert top_documents(index, ["words"], k=5).ordinals.tolist() == [0, 1, 2, 3, 4]


def repeated(n: int, is_rich: Callable[[int], bool]) -> list[dict[str, object]]:
    """So many documents, of which the rich ones have the words of queries more often."""
    rng = np.random.default_rng(11)
    counts = rng.integers(1, 5, (n, 2)).tolist()
    return [
        {"id": str(number), "body": " ".join(["w1"] * one * (1 + 60 * is_rich(number)) + ["w2"] * other + ["w3"] * 9)}
        for number, (one, other) in enumerate(counts)
    ]


@pytest.mark.parametrize("kind", ["anywhere", "beginnings"])
def test_a_threshold_guessed_from_a_sample_leaves_nothing_out(tmp_path, monkeypatch, kind):
    """Of many documents a sample is searched first: the beginning of each 16,384, where all the best ones may be."""
    documents = repeated(35_000, lambda number: kind == "beginnings" and number % 16_384 < 12)
    documents[20]["body"] = "w1 " * 300  # a count that needs two bytes
    index = build_index(read_documents(documents), tmp_path / "index", analyser=PLAIN)
    queries = ["w1", "w2 w3 w1"]
    for scorer in (BM25(), BM25(k1=0), BM25F()):
        found = top_documents(index, queries, scorer=scorer, k=100, threads=1)
        with monkeypatch.context() as replaced:
            replaced.setattr("rankwright.kernels.top_documents", reference.top_documents)
            same(found, top_documents(index, queries, scorer=scorer, k=100))


def test_phrases_must_be_there_as_they_are(index):
    texts = [index.stored(np.array([number]))[0] for number in range(index.n_documents)]
    found = top_documents(index, ['"w1 w2" w3', 'w3 "w2 w1 w4"'], k=1000)
    for number, phrase in enumerate(["w1 w2", "w2 w1 w4"]):
        having = {
            place for place, own in enumerate(texts) if any(f" {phrase} " in f" {text} " for text in own.values())
        }
        assert set(found.of(number)[0].tolist()) == having
    assert len(found.of(0)[0]) > 10


def test_filters_keep_documents_with_the_values(index):
    years = index.numbers("year")
    filters: list[tuple[Any, Any]] = [
        ((3, 5), (years >= 3) & (years <= 5)),
        ((None, 2), years <= 2),
        (7, years == 7),
        ((18, None), years >= 18),
    ]
    for wanted, fits in filters:
        found = top_documents(index, ["w0 w1 w2"], k=1000, where={"year": wanted})
        every = top_documents(index, ["w0 w1 w2"], k=1000)
        assert found.ordinals.tolist() == [document for document in every.ordinals if fits[document]]
    titles = [index.stored(np.array([number]))[0]["title"] for number in range(index.n_documents)]
    found = top_documents(index, ["w0 w1 w2"], k=1000, where={"title": "w1 w0"})
    assert len(found.ordinals) > 0
    assert all(" w1 w0 " in f" {titles[document]} " for document in found.ordinals)


def by_hand(tmp_path, scorer):
    """The score of the document `red red boat` for the query `red ship red`, among three documents."""
    documents = [
        {"id": "a", "text": "red red boat"},
        {"id": "b", "text": "blue boat with a long long name"},
        {"id": "c", "text": "red ship"},
    ]
    index = build_index(read_documents(documents), tmp_path / "index", analyser=PLAIN)
    found = top_documents(index, ["red ship red"], scorer=scorer, k=3)
    return dict(zip(index.ids(found.ordinals), found.scores.tolist(), strict=True))["a"]


MEAN = (3 + 7 + 2) / 3


def test_bm25_by_hand(tmp_path):
    idf = log(1 + (3 - 2 + 0.5) / (2 + 0.5))
    wanted = 2 * idf * 2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / MEAN))
    assert by_hand(tmp_path, BM25(k1=1.2, b=0.75)) == pytest.approx(wanted, abs=1e-9)


def test_bm25f_of_one_field_by_hand(tmp_path):
    count = 2 * 2.0 / (1 - 0.5 + 0.5 * 3 / MEAN)
    wanted = 2 * log(1 + (3 - 2 + 0.5) / (2 + 0.5)) * count / (0.9 + count)
    assert by_hand(tmp_path, BM25F({"text": 2.0}, k1=0.9, b=0.5)) == pytest.approx(wanted, abs=1e-9)


def test_dirichlet_by_hand(tmp_path):
    # log of (count + μ share) / (length + μ) for each word, less what all documents share: log of the word's share.
    share, length, mu = 3 / 12, 3, 100
    red = log((2 + mu * share) / (length + mu)) - log(share)
    ship = log((0 + mu * (1 / 12)) / (length + mu)) - log(1 / 12)
    assert by_hand(tmp_path, Dirichlet(mu)) == pytest.approx(2 * red + ship, abs=1e-8)


def test_dph_by_hand(tmp_path):
    share = 2 / 3
    norm = (1 - share) ** 2 / (2 + 1)
    wanted = 2 * norm * (2 * log2(2 * MEAN / 3 * 3 / 3) + 0.5 * log2(2 * pi * 2 * (1 - share)))
    assert by_hand(tmp_path, DPH()) == pytest.approx(wanted, abs=1e-9)


def test_bm25f_of_two_fields_saturates_once(index):
    texts = [{name: Counter(str(text).split()) for name, text in one.items()} for one in index.stored(np.arange(900))]
    found = top_documents(index, ["w5"], scorer=BM25F({"title": 3.0, "body": 1.0}, k1=0.9, b=0.4), k=900)
    n = sum(bool(own["title"]["w5"] or own["body"]["w5"]) for own in texts)
    means = {name: float(np.mean([own[name].total() for own in texts])) for name in ("title", "body")}
    for document, score in zip(found.ordinals.tolist()[:20], found.scores.tolist(), strict=False):
        count = sum(
            weight * own["w5"] / (0.6 + 0.4 * own.total() / means[name])
            for name, weight in (("title", 3.0), ("body", 1.0))
            if (own := texts[document][name])
        )
        assert score == pytest.approx(log(1 + (900 - n + 0.5) / (n + 0.5)) * count / (0.9 + count), abs=1e-9)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ({"scorer": "bm25"}, "a scorer must be"),
        ({"scorer": BM25(fields=["colour"])}, "no text field 'colour'"),
        ({"k": 0}, "k must be"),
        ({"where": {"colour": 3}}, "no field 'colour'"),
        ({"where": {"year": "red"}}, "a number or a pair"),
        ({"where": {"title": 3}}, "by words"),
    ],
)
def test_what_cannot_be_asked(index, fault, told):
    with pytest.raises(RankwrightError, match=told):
        top_documents(index, ["w1"], **fault)


def test_what_scorers_cannot_be():
    for make in (
        lambda: BM25(k1=-1),
        lambda: BM25(b=2),
        lambda: BM25F({"a": 0}),
        lambda: Dirichlet(0),
        lambda: BM25F({}),
    ):
        with pytest.raises(SettingError):
            make()


def test_one_text_is_no_list_of_queries(index):
    with pytest.raises(InputError, match="a list of texts"):
        top_documents(index, "w1")


@pytest.mark.oracle
def test_bm25_is_that_of_bm25s(index):
    bm25s = pytest.importorskip("bm25s")
    texts = [f"{one['title']} {one['body']}".split() for one in index.stored(np.arange(900))]
    peer = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    peer.index(texts, show_progress=False)
    for query in queries_of(10, 9):
        found = top_documents(index, [query], scorer=BM25(k1=1.2, b=0.75), k=900)
        scores = peer.get_scores(query.split())
        np.testing.assert_allclose(found.scores, scores[found.ordinals], rtol=1e-5)

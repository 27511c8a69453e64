"""The nearest documents by vectors: exact, checked against the index, and fused with other candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwright import kernels
from rankwright.errors import FileFormatError, InputError, RankwrightError
from rankwright.kernels import reference
from rankwright.kernels.records import TopDocuments
from rankwright.text import (
    build_index,
    document_vectors,
    fuse_candidates,
    nearest_documents,
    read_documents,
    top_documents,
)

N, WIDTH = 500, 21


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    documents = [{"id": f"d{number}", "text": f"word{number % 7} common", "year": number} for number in range(N)]
    return build_index(read_documents(documents), tmp_path_factory.mktemp("vectors") / "index")


@pytest.fixture(scope="module")
def values():
    return np.random.default_rng(3).normal(size=(N, WIDTH)).astype(np.float32)


@pytest.mark.parametrize("similarity", ["cosine", "dot"])
def test_the_nearest_are_found(index, values, similarity, monkeypatch):
    queries = np.random.default_rng(4).normal(size=(9, WIDTH))
    vectors = document_vectors(index, values)
    found = nearest_documents(index, vectors, queries, similarity=similarity, k=20, threads=1)
    wanted = queries @ values.T.astype(np.float64)
    if similarity == "cosine":
        wanted /= np.linalg.norm(queries, axis=1)[:, None] * np.linalg.norm(values.astype(np.float64), axis=1)
    for number in range(9):
        ordinals, scores = found.of(number)
        assert ordinals.tolist() == np.argsort(-wanted[number])[:20].tolist()
        np.testing.assert_allclose(scores, wanted[number, ordinals], atol=1e-12)
    for threads in (2, 7):
        again = nearest_documents(index, vectors, queries, similarity=similarity, k=20, threads=threads)
        np.testing.assert_array_equal(again.scores, found.scores)
        np.testing.assert_array_equal(again.ordinals, found.ordinals)
    monkeypatch.setattr("rankwright.kernels.top_vectors", reference.top_vectors)
    twin = nearest_documents(index, vectors, queries, similarity=similarity, k=20)
    np.testing.assert_array_equal(twin.ordinals, found.ordinals)


def test_numbers_beyond_single_precision_are_found_like_others():
    rng = np.random.default_rng(5)
    sizes = 10.0 ** rng.integers(-44, 38, (300, 1))  # their products overflow, or vanish
    values = (rng.normal(size=(300, WIDTH)) * sizes).astype(np.float32)
    values[::50, 0] = np.nan
    values[7::50, 1] = np.inf
    queries = rng.normal(size=(6, WIDTH)) * 10.0 ** np.array([[-300], [-60], [-20], [0], [30], [200]])
    found, wanted = (
        TopDocuments(np.zeros((6, 40)), np.zeros((6, 40), np.int64), np.zeros(6, np.int64)) for _ in range(2)
    )
    kept = np.empty(0, np.uint8)
    kernels.top_vectors(values, np.empty(0), queries, kept, found, 2)
    reference.top_vectors(values, np.empty(0), queries, kept, wanted, 1)
    np.testing.assert_array_equal(found.sizes, wanted.sizes)
    np.testing.assert_array_equal(found.documents, wanted.documents)
    np.testing.assert_allclose(found.scores, wanted.scores, rtol=1e-12)


def test_equal_vectors_come_in_the_order_of_documents(index):
    vectors = document_vectors(index, np.ones((N, 4), np.float32))
    assert nearest_documents(index, vectors, np.ones(4), k=5, threads=3).ordinals.tolist() == [0, 1, 2, 3, 4]


def test_vectors_of_zeros_have_the_cosine_0(index, values):
    zeros = values.copy()
    zeros[7] = 0
    found = nearest_documents(index, document_vectors(index, zeros), values[3], k=N)
    assert found.scores[found.ordinals == 7] == 0


def test_rows_are_matched_by_id(index, values, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet as parquet

    some = np.random.default_rng(0).permutation(N)[:100]
    ids = [f"d{number}" for number in some]
    table = pyarrow.table({"id": ids, "vector": [row.tolist() for row in values[some]]})
    parquet.write_table(table, tmp_path / "vectors.parquet")
    np.save(tmp_path / "vectors.npy", values[some])
    given = [
        document_vectors(index, values[some], ids),
        document_vectors(index, tmp_path / "vectors.npy", ids),
        document_vectors(index, tmp_path / "vectors.parquet"),
    ]
    for vectors in given:
        found = nearest_documents(index, vectors, values[some[0]], k=N, where={"year": (100, None)})
        assert sorted(found.ordinals) == sorted(number for number in some if number >= 100)


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda index, values: document_vectors(index, values[:9]), "9 vectors for the 500"),
        (lambda index, values: document_vectors(index, values[:2], ["d1", "x"]), r"1 ids are not in .*'x'"),
        (lambda index, values: document_vectors(index, values[:2], ["d1", "d1"]), "two vectors"),
        (lambda index, values: document_vectors(index, values[:2], ["d1"]), "1 ids for 2"),
        (lambda index, _: document_vectors(index, np.full((N, 2), np.nan)), "holds NaN"),
    ],
)
def test_what_does_not_fit_the_index(index, values, make, told):
    with pytest.raises(InputError, match=told):
        make(index, values)


def test_files_that_hold_no_vectors(index, tmp_path):
    (tmp_path / "a.npy").write_bytes(b"no array")
    (tmp_path / "a.parquet").write_bytes(b"no table")
    np.save(tmp_path / "b.npy", np.arange(3))
    for name in ("a.npy", "a.parquet", "b.npy"):
        with pytest.raises(FileFormatError, match=name):
            document_vectors(index, tmp_path / name)


def test_queries_that_do_not_fit(index, values):
    vectors = document_vectors(index, values)
    cases: list[tuple[Any, dict[str, Any]]] = [
        (np.ones(3), {}),
        (np.full(WIDTH, np.nan), {}),
        (values[0], {"similarity": "l2"}),
    ]
    for queries, how in cases:
        with pytest.raises(RankwrightError):
            nearest_documents(index, vectors, queries, **how)


def test_fused_lists_are_those_of_reciprocal_ranks(index, values):
    texts = top_documents(index, ["word3", "common word1"], k=30)
    near = nearest_documents(index, document_vectors(index, values), values[:2], k=30)
    fused = fuse_candidates([texts, near], k=25)
    for number in range(2):
        wanted: dict[int, float] = {}
        for one in (texts, near):
            ordinals, scores = one.of(number)
            for document, score in zip(ordinals.tolist(), scores.tolist(), strict=True):
                equal = np.flatnonzero(scores == score) + 1  # equal scores share the mean of their ranks
                wanted[document] = wanted.get(document, 0.0) + 1 / (60 + equal.mean())
        ordinals, scores = fused.of(number)
        best = sorted(wanted, key=lambda document: (-wanted[document], document))[:25]
        np.testing.assert_allclose(scores, [wanted[document] for document in ordinals])
        assert ordinals.tolist() == best
    with pytest.raises(InputError, match="same queries"):
        fuse_candidates([texts, nearest_documents(index, document_vectors(index, values), values[:3])])

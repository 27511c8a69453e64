"""Vectors that users bring: the nearest documents, exactly, and candidates of several kinds fused into one list."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rankwright import kernels
from rankwright.arrays import Float64Array, as_numbers, thread_count, whole_number
from rankwright.data.groups import Groups
from rankwright.errors import InputError, UnknownNameError, require_input
from rankwright.kernels.records import TopDocuments
from rankwright.ranking.fusion import RRF_K, Fusion, fused_scores
from rankwright.text.candidates import Candidates, Where, candidates_of
from rankwright.text.collections.vector_files import read_vector_file
from rankwright.text.filters import kept_documents
from rankwright.text.index.reading import Index

SIMILARITIES = ("cosine", "dot")
NAMED = 3  # ids that a message names
ROWS_AT_A_TIME = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class DocumentVectors:
    """A vector for each document of an index.

    Attributes
    ----------
    values : matrix of float32
        A row for each document, in the order of the index.
    has_vector : array of uint8
        1 where a document has a vector, else 0; empty where all have one.
    lengths : array of float64
        The Euclidean length of each vector.
    """

    values: NDArray[np.float32]
    has_vector: NDArray[np.uint8]
    lengths: Float64Array


def document_vectors(
    index: Index, source: str | os.PathLike[str] | ArrayLike, ids: Sequence[str] | None = None
) -> DocumentVectors:
    """Vectors of the documents of an index, checked against it.

    Parameters
    ----------
    index : Index
        The documents.
    source : path or matrix
        A matrix with a row for each vector, or a file of one: NumPy's .npy, which is mapped into memory, or Parquet
        with the columns `id` and `vector`.
    ids : sequence of str, optional
        The document of each row; without ids, rows are those of the index, in its order.

    Returns
    -------
    DocumentVectors
        The vectors in the order of the index. Documents without one are never found by it.
    """
    if isinstance(source, str | os.PathLike):
        own, values = read_vector_file(source)
        ids = own if ids is None else ids
        what = os.fspath(source)
    else:
        values, what = as_numbers(source, name="vectors", dtype=np.float32), "vectors"
    require_input(values.ndim == 2 and values.shape[1] > 0, f"{what}: a row for each vector is wanted")
    has_vector = np.empty(0, np.uint8)
    if ids is not None:
        values, has_vector = _in_order(index, values, ids, what)
    elif len(values) != index.n_documents:
        raise InputError(
            f"{what}: there are {len(values):,} vectors for the {index.n_documents:,} documents of {index.path}; "
            "give the ids of those that have one"
        )
    return DocumentVectors(values, has_vector, _row_lengths(values, what))


def _in_order(
    index: Index, values: NDArray[np.float32], ids: Sequence[str], what: str
) -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    require_input(len(ids) == len(values), f"{what}: there are {len(ids):,} ids for {len(values):,} vectors")
    places = index.ordinals(list(map(str, ids)))
    unknown = np.flatnonzero(places < 0)
    if len(unknown):
        named = ", ".join(repr(str(ids[place])) for place in unknown[:NAMED].tolist())
        raise InputError(f"{what}: {len(unknown):,} ids are not in {index.path}, first {named}")
    if len(np.unique(places)) < len(places):
        raise InputError(f"{what}: a document has two vectors")
    if len(places) == index.n_documents and (places == np.arange(len(places))).all():
        return values, np.empty(0, np.uint8)
    placed = np.zeros((index.n_documents, values.shape[1]), np.float32)
    placed[places] = values
    has_vector = np.zeros(index.n_documents, np.uint8)
    has_vector[places] = 1
    return placed, has_vector


def _row_lengths(values: NDArray[np.float32], what: str) -> Float64Array:
    lengths = np.empty(len(values))
    for start in range(0, len(values), ROWS_AT_A_TIME):
        part = values[start : start + ROWS_AT_A_TIME].astype(np.float64)
        lengths[start : start + ROWS_AT_A_TIME] = np.sqrt(np.einsum("ij,ij->i", part, part))
    if not np.isfinite(lengths).all():
        raise InputError(f"{what}: vector {int(np.flatnonzero(~np.isfinite(lengths))[0])} holds NaN or infinity")
    return lengths


def nearest_documents(
    index: Index,
    vectors: DocumentVectors,
    queries: ArrayLike,
    *,
    similarity: Literal["cosine", "dot"] = "cosine",
    k: int = 1000,
    where: Where | None = None,
    threads: int | None = None,
) -> Candidates:
    """Find the documents whose vectors are nearest to those of queries, exactly: every document is looked at.

    Parameters
    ----------
    index : Index
        The documents.
    vectors : DocumentVectors
        Their vectors, as `document_vectors` gives them.
    queries : matrix
        A vector for each query, a row each.
    similarity : {"cosine", "dot"}, default "cosine"
        The cosine of the angle between vectors, or their scalar product. A vector of zeros has the cosine 0.
    k : int, default 1000
        How many documents each query gets at most.
    where : dict, optional
        What documents must have, as in `top_documents`.
    threads : int, optional
        How many threads work; every core by default.

    Returns
    -------
    Candidates
        Documents and similarities, best first.
    """
    if similarity not in SIMILARITIES:
        raise UnknownNameError("similarity", similarity, SIMILARITIES)
    asked = np.atleast_2d(as_numbers(queries, name="queries", dtype=np.float64))
    wanted = f"queries must be vectors of {vectors.values.shape[1]} numbers, got shape {asked.shape}"
    require_input(asked.ndim == 2 and asked.shape[1] == vectors.values.shape[1], wanted)
    require_input(bool(np.isfinite(asked).all()), "queries must not hold NaN or infinity")
    k = min(whole_number(k, "k", least=1), index.n_documents)
    kept = kept_documents(index, where)
    if len(vectors.has_vector):
        kept = vectors.has_vector & kept if len(kept) else vectors.has_vector
    scales = np.empty(0)
    if similarity == "cosine":
        asked = asked * _inverse(np.sqrt(np.einsum("ij,ij->i", asked, asked)))[:, None]
        scales = _inverse(vectors.lengths)
    n = len(asked)
    tops = TopDocuments(np.empty((n, k)), np.empty((n, k), np.int64), np.zeros(n, np.int64))
    kernels.top_vectors(vectors.values, scales, np.ascontiguousarray(asked), kept, tops, thread_count(threads))
    return candidates_of(tops)


def _inverse(lengths: Float64Array) -> Float64Array:
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def fuse_candidates(
    lists: Sequence[Candidates],
    method: str = "rrf",
    *,
    k: int = 1000,
    weights: Sequence[float] | None = None,
    normalisation: str | None = None,
    rrf_k: float = RRF_K,
) -> Candidates:
    """Fuse candidates of the same queries, such as those of BM25 and of vectors, into one list for each.

    Parameters
    ----------
    lists : sequence of Candidates
        What several searches found, for the same queries in the same order.
    method : {"rrf", "combsum", "combmnz", "borda"}, default "rrf"
        How scores become one, as in `rankwright fuse`.
    k : int, default 1000
        How many documents each query keeps at most.
    weights : sequence of float, optional
        How much each list counts; 1 by default.
    normalisation : str, optional
        Of combsum and combmnz: min-max (the default), max, sum, z-score or none.
    rrf_k : float, default 60
        Of rrf: larger values make the first ranks stand out less.

    Returns
    -------
    Candidates
        The best documents by fused score; of equal scores, the first document of the index is better.
    """
    require_input(bool(lists), "there are no candidates to fuse")
    n_queries = len(lists[0])
    require_input(all(len(one) == n_queries for one in lists), "candidates to fuse must be of the same queries")
    shares = np.ones(len(lists)) if weights is None else np.asarray(weights, np.float64)
    fits = shares.shape == (len(lists),) and bool((np.isfinite(shares) & (shares >= 0)).all())
    require_input(fits, "weights must be a finite number of 0 or more for each list")
    owners = [np.repeat(np.arange(n_queries), np.diff(one.offsets)) for one in lists]
    n_documents = 1 + max((int(one.ordinals.max(initial=0)) for one in lists), default=0)
    keys = [own * n_documents + one.ordinals for own, one in zip(owners, lists, strict=True)]
    pairs = np.unique(np.concatenate(keys))
    matrix = np.full((len(pairs), len(lists)), np.nan)
    for column, (own, one) in enumerate(zip(keys, lists, strict=True)):
        matrix[np.searchsorted(pairs, own), column] = one.scores
    query, document = np.divmod(pairs, n_documents)
    groups = Groups.of_sizes(np.bincount(query, minlength=n_queries))
    scores = fused_scores(matrix, groups, shares, Fusion(method, normalisation, rrf_k))
    order = np.lexsort((document, -scores, query))
    starts = np.searchsorted(query, np.arange(n_queries + 1))
    kept = np.arange(len(order)) - np.repeat(starts[:-1], np.diff(starts)) < whole_number(k, "k", least=1)
    sizes = np.minimum(np.diff(starts), k)
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    return Candidates(offsets, document[order][kept], scores[order][kept])

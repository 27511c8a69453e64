"""Fingerprints of what trees learn from: those of parts make that of the whole, and any change shows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.bins.fingerprints import binned_digest, fingerprint, joined_hashes, query_hashes


@pytest.fixture(scope="module")
def data() -> BinnedDataset:
    documents = rw.synthetic.web_search(n_queries=30, seed=5)
    weights = np.random.default_rng(0).random(documents.n_docs).astype(np.float32)
    return bin_dataset(replace(documents, document_weights=weights), max_bins=20)


def taken(data: BinnedDataset, queries: np.ndarray) -> BinnedDataset:
    rows = data.groups.rows_of(queries)
    return replace(
        data, codes=np.ascontiguousarray(data.codes[:, rows]), documents=data.documents.take_queries(queries)
    )


@pytest.mark.parametrize("n_parts", [1, 2, 3, 7])
def test_parts_make_the_fingerprint_of_the_whole(data: BinnedDataset, n_parts: int) -> None:
    owners = np.random.default_rng(n_parts).integers(0, n_parts, data.n_queries)
    numbers = [np.flatnonzero(owners == part) for part in range(n_parts)] + [np.empty(0, np.int64)]  # one has nothing
    hashes = joined_hashes([query_hashes(taken(data, own), threads=2) for own in numbers], numbers)
    assert fingerprint(hashes, data.mapper, data.groups.sizes, None) == binned_digest(data)


def test_no_queries_have_a_fingerprint_too(data: BinnedDataset) -> None:
    """Validation shards may turn out to be empty."""
    nothing = taken(data, np.empty(0, np.int64))
    numbers = [np.empty(0, np.int64)] * 2
    hashes = joined_hashes([query_hashes(nothing)] * 2, numbers)
    assert fingerprint(hashes, data.mapper, nothing.groups.sizes, None).startswith("by-query-")


def test_codes_of_two_bytes_count_too() -> None:
    wide = bin_dataset(rw.synthetic.web_search(n_queries=30, seed=5), max_bins=300)
    assert wide.mapper.code_dtype == np.uint16
    codes = wide.codes.copy()
    codes[-1, -1, 0] ^= 256
    assert binned_digest(replace(wide, codes=codes)) != binned_digest(wide)


def test_any_change_shows(data: BinnedDataset) -> None:
    documents = data.documents
    assert documents.labels is not None
    assert documents.document_weights is not None
    codes, labels, weights = data.codes.copy(), documents.labels.copy(), documents.document_weights.copy()
    codes[3, 100, 5] += 1
    labels[7] += 1
    weights[9] *= 2
    moved = np.arange(data.n_docs)
    moved[[0, 1]] = 1, 0  # within the first query, which has more than one document
    starts = np.zeros(data.n_docs)
    changes: list[Any] = [
        {"codes": codes},
        {"codes": np.ascontiguousarray(data.codes[:, moved])},
        {"documents": replace(documents, labels=labels)},
        {"documents": replace(documents, labels=None)},
        {"documents": replace(documents, document_weights=weights)},
        {"documents": replace(documents, document_weights=None)},
        {"documents": replace(documents, initial_scores=starts)},
        {"documents": replace(documents, query_weights=np.ones(data.n_queries, np.float32))},
        {"documents": documents.with_preferences(rw.Preferences([0], [1]))},
        {"mapper": replace(data.mapper, edges=data.mapper.edges + 1)},
    ]
    digests = {binned_digest(replace(data, **change)) for change in changes}
    digests.add(binned_digest(taken(data, np.arange(data.n_queries)[::-1])))
    assert len(digests | {binned_digest(data)}) == len(changes) + 2

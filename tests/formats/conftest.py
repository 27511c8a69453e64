"""Datasets of every shape, for laws about what goes out and comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st

from rankwright.data.dataset import RankingDataset

# What float32 has: zeros of both signs, the smallest, the largest, numbers that need all nine digits, whole ones.
NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 1e-45, 1.1754944e-38, 3.4028235e38, 0.1, 1 / 3, 16777216.0, 123456792.0]),
    st.floats(width=32, allow_nan=False, allow_infinity=False),
)
# Ids as files have them; `text` keeps every one from looking like a number.
TEXT_IDS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=8).map(lambda text: f"x{text}x")
INTEGER_IDS = st.integers(-(2**63), 2**63 - 1)
LABELS = st.one_of(st.integers(0, 4).map(float), st.just(np.nan), st.floats(0, 1e6, width=32))
WEIGHTS = st.floats(0, 1e6, width=32)


@st.composite
def datasets_of_any_shape(draw: st.DrawFn) -> RankingDataset:
    """Up to twelve documents of up to four queries, rows in any order, with any of the optional parts."""
    n_docs, n_features = draw(st.integers(1, 12)), draw(st.integers(0, 4))

    def vector(values: st.SearchStrategy[Any], length: int = n_docs) -> list[Any]:
        return draw(st.lists(values, min_size=length, max_size=length))

    def maybe(values: st.SearchStrategy[Any]) -> list[Any] | None:
        return vector(values) if draw(st.booleans()) else None

    ids = draw(st.sampled_from([TEXT_IDS, INTEGER_IDS]))
    queries = draw(st.lists(ids, min_size=1, max_size=4, unique=True))
    qid = vector(st.sampled_from(queries))
    features = vector(st.one_of(NUMBERS, st.just(np.nan)), n_docs * n_features)
    names = draw(st.lists(TEXT_IDS, min_size=n_features, max_size=n_features, unique=True))
    return RankingDataset.from_arrays(
        np.reshape(features, (n_docs, n_features)),
        maybe(LABELS),
        qid=qid,
        query_weights=vector(WEIGHTS, len(set(qid))) if draw(st.booleans()) else None,
        document_weights=maybe(WEIGHTS),
        positions=maybe(st.integers(0, 2**60)),
        feature_names=names if draw(st.booleans()) else (),
        document_ids=maybe(draw(st.sampled_from([TEXT_IDS, INTEGER_IDS]))),
    )


@pytest.fixture(scope="session")
def datasets() -> st.SearchStrategy[RankingDataset]:
    return datasets_of_any_shape()


@pytest.fixture
def full_data() -> RankingDataset:
    """Three queries whose rows are mixed, with every optional part but preferences."""
    return RankingDataset.from_arrays(
        [[0.5, np.nan], [1.0, 2.0], [0.0, 3.0], [4.0, 0.25], [5.0, 6.0]],
        [2, np.nan, 0, 1, 0.5],
        qid=["b", "a", "b", "c", "a"],
        query_weights=[1.0, 2.0, 0.5],
        document_weights=[1, 2, 3, 4, 5],
        positions=[0, 0, 1, 0, 1],
        feature_names=["bm25", "clicks, all"],
        document_ids=["d1", "d2", 'd"3', "d 4", "d,5"],
    )

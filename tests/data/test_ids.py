"""Ids are numbers where all are, and give back the text they were read from."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rankwright.data.ids import ids_of_text, join_ids, text_ids

texts = st.lists(st.one_of(st.integers(-(2**70), 2**70).map(str), st.text(max_size=5), st.from_regex(r"\A[-+0]?\d+\Z")))


@given(texts)
def test_ids_give_back_their_text(ids):
    assert text_ids(ids_of_text(ids)).tolist() == ids


@given(texts, texts)
def test_parts_join_to_the_ids_of_all(first, second):
    joined = join_ids([ids_of_text(first), ids_of_text(second)])
    together = ids_of_text(first + second)
    assert joined.dtype == together.dtype
    np.testing.assert_array_equal(joined, together)

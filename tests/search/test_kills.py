"""Judgments survive every end of the server."""

from __future__ import annotations

import pytest
from tests.search.kills import check_kills


def test_a_few_kills_lose_nothing(searchable, tmp_path):
    n_kept, _ = check_kills(searchable, tmp_path / "judged.db", 2)
    assert n_kept >= 2


@pytest.mark.slow
def test_two_hundred_kills_lose_nothing(searchable, tmp_path):
    n_kept, n_again = check_kills(searchable, tmp_path / "judged.db", 200)
    assert n_kept >= 200
    assert n_again > 0

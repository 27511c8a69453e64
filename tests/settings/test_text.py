"""Settings as people write them on the command line."""

from __future__ import annotations

import pytest

from rankwright.catalog.settings import bag_of, ranker_from_text
from rankwright.errors import RankwrightError
from rankwright.settings.text import values_of


@pytest.mark.parametrize("word", ["none", "None", "NONE", "null"])
def test_none_is_written_as_people_write_it(word):
    assert ranker_from_text("adarank", [f"max_uses={word}"]).max_uses is None
    assert bag_of("adarank", [f"max_uses={word}"]).ranker.max_uses is None


def test_none_stays_a_text_where_it_is_a_value_of_its_own():
    assert ranker_from_text("lambdamart", ["debias=none"]).debias == "none"
    assert ranker_from_text("ranknet", ["scaling=none"]).scaling == "none"


def test_none_is_refused_where_a_setting_needs_a_value():
    with pytest.raises(RankwrightError, match="l2 must be"):
        ranker_from_text("lambdamart", ["l2=none"])


def test_numbers_words_and_lists_are_read():
    read = values_of(["a=.01", "b=True", "c=[1, 2]", "d=letor", "e=1e-3", "f=false"])
    assert read == {"a": 0.01, "b": True, "c": [1, 2], "d": "letor", "e": 0.001, "f": False}

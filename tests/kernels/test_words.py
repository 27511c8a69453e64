"""The kernels on words equal their twins, and the word rules hold."""

from __future__ import annotations

import importlib.util
import unicodedata
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.clicks.logs.log_blocks import encoded
from rankwright.kernels import _core, reference
from rankwright.kernels.naive.word_classes import WordClass, word_class
from rankwright.kernels.records import Texts
from rankwright.text.analysis import decoded_texts, split_words

# A character of each class, and some that are hard: marks, halves of quotes, emoji, scripts without spaces.
HARD = "aZé_ .,;:'\"’·0٣５ﾊﾞアー東ひไทยשאب\u0301\u200d\u00ad\u200b😀🇩🇪ﬁ①Ⅳǅ\n\u3000"
texts = st.lists(st.text(st.sampled_from(HARD) | st.characters(exclude_categories=["Cs"]), max_size=30), max_size=6)


def words_of(text: str) -> list[str]:
    _, tokens, words = split_words(encoded([text]))
    return [decoded_texts(words)[number] for number in tokens]


def run(kernels, given: Texts, room: int):
    starts, tokens = np.zeros(len(given.starts), np.int64), np.zeros(room, np.uint32)
    words, counts = Texts(np.zeros(4 * room, np.uint8), np.zeros(room + 1, np.int64)), np.zeros(3, np.int64)
    kernels.split_words(given, starts, tokens, words, counts)
    n_tokens, n_words, n_bytes = counts
    return counts, starts, tokens[:n_tokens], words.bytes[:n_bytes], words.starts[: n_words + 1]


@given(texts)
def test_words_are_the_twins(texts):
    given = encoded(texts)
    for mine, twin in zip(run(_core, given, 200), run(reference, given, 200), strict=True):
        np.testing.assert_array_equal(mine, twin)


@given(st.lists(st.binary(max_size=20), max_size=4))
def test_bytes_that_are_no_text_give_what_the_twin_gives(parts):
    starts = np.cumsum([0, *map(len, parts)])
    given = Texts(np.frombuffer(b"".join(parts), np.uint8), starts)
    for mine, twin in zip(run(_core, given, 100), run(reference, given, 100), strict=True):
        np.testing.assert_array_equal(mine, twin)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The 3.5mm jack", ["the", "3.5mm", "jack"]),
        ("16GB of RAM, 1,000 of them.", ["16gb", "of", "ram", "1,000", "of", "them"]),
        ("don't can’t", ["don't", "can’t"]),
        ("key:value a.b 1.a", ["key", "value", "a.b", "1", "a"]),
        ("foo_bar _x_ __", ["foo_bar", "_x_"]),
        ("東京タワー", ["東", "京", "タワー"]),
        ("e\u0301te\u0301", ["e\u0301te\u0301"]),
        ("א\"ב א' ב", ['א"ב', "א'", "ב"]),
        ("... --- 😀", []),
    ],
)
def test_words_by_hand(text, words):
    assert words_of(text) == words


def test_every_character_has_its_class():
    if unicodedata.unidata_version != "14.0.0":
        pytest.skip("the tables are those of Unicode 14")
    # Between two letters a character joins them, separates them, or is a word of its own.
    characters = [chr(place) for place in range(0x110000) if not 0xD800 <= place < 0xE000]
    _, tokens, words = split_words(encoded([f"a{character}b" for character in characters]))
    found = run(_core, encoded(["".join(f"a{character}b " for character in characters)]), 4 * len(characters))
    joined = {WordClass.LETTER, WordClass.HEBREW, WordClass.DIGIT, WordClass.CONNECTOR, WordClass.EXTEND}
    joined |= {WordClass.MID_LETTER, WordClass.MID_BOTH, WordClass.QUOTE}
    n_words = [1 if (kind := word_class(one)) in joined else 3 if kind in (4, 5) else 2 for one in characters]
    assert len(tokens) == sum(n_words) == found[0][0]
    assert len(words.starts) > 100_000


def test_tables_are_those_of_the_script():
    if unicodedata.unidata_version != "14.0.0":
        pytest.skip("the tables are those of Unicode 14")
    path = Path(__file__).parents[2] / "native/core/words/make_tables.py"
    spec = importlib.util.spec_from_file_location("make_tables", path)
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    assert script.TABLE.read_text() == script.table()


@given(st.lists(st.text(max_size=12), max_size=20), st.lists(st.text(max_size=3), max_size=8))
def test_texts_are_sorted_and_found(known, wanted):
    known = list(dict.fromkeys(known))
    for kernels in (_core, reference):
        order, repeated = np.empty(len(known), np.int64), np.zeros(1, np.int64)
        kernels.sort_texts(encoded(known), order, repeated)
        assert repeated[0] == -1
        assert [known[number].encode() for number in order] == sorted(text.encode() for text in known)
        for threads in (1, 2, 7):
            places = np.empty(len(known + wanted), np.int64)
            kernels.find_texts(encoded(known), order, encoded(known + wanted), places, threads)
            assert places.tolist() == [known.index(text) if text in known else -1 for text in known + wanted]


def test_starts_out_of_their_array_are_refused():
    core: Any = _core
    known = Texts(np.zeros(3, np.uint8), np.array([0, 2, 9]))
    with pytest.raises(ValueError, match="outside"):
        core.find_texts(known, np.empty(0, np.int64), encoded(["\x00\x00\x00"]), np.empty(1, np.int64), 1)
    with pytest.raises(ValueError, match="names one that is not there"):
        core.find_texts(encoded(["a", "b"]), np.array([7, -1]), encoded(["b"]), np.empty(1, np.int64), 1)

"""How texts become terms: recorded, alike for one text and for many, folded as Unicode says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.errors import InputError, SettingError, UnknownNameError
from rankwright.text import Analyser
from rankwright.text.analysis import folded, languages
from rankwright.text.stop_words import STOP_WORDS

PLAIN = Analyser(language=None)


@given(st.lists(st.text(max_size=40), max_size=5))
def test_many_texts_give_what_each_gives(texts):
    for analyser in (PLAIN, Analyser("german")):
        streams = analyser.streams(texts)
        assert len(streams.offsets) == len(texts) + 1
        for number, text in enumerate(texts):
            own = streams.tokens[streams.offsets[number] : streams.offsets[number + 1]]
            assert [streams.vocabulary[token] for token in own] == analyser.terms(text)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("ＦＵＬＬ Ｗｉｄｔｈ １２", ["full", "width", "12"]),
        ("Straße STRASSE", ["strasse", "strasse"]),
        ("Ångström A\u030angstro\u0308m", ["ångström", "ångström"]),
        ("can’t can't", ["can't", "can't"]),
        ("ｶﾞｷﾞ ガギ", ["ガギ", "ガギ"]),
        ("ﬁne ΣΊΣΥΦΟΣ σίσυφος", ["fine", "σίσυφοσ", "σίσυφοσ"]),
        ("soft\u00adhyphen", ["softhyphen"]),
        ("a \ud800 b", ["a", "b"]),
    ],
)
def test_case_and_width_are_folded(text, terms):
    assert PLAIN.terms(text) == terms


@given(st.text(max_size=20))
def test_folding_twice_changes_nothing(text):
    assert folded(folded(text)) == folded(text)


def test_stop_words_and_stems_are_those_of_the_language():
    assert Analyser().terms("The boats of the harbours") == ["boat", "harbour"]
    assert Analyser("german").terms("Die Häuser und das Haus") == ["haus", "haus"]
    assert Analyser("french").terms("Les chevaux sont grands") == ["cheval", "grand"]
    assert Analyser(stem=False).terms("the boats") == ["boats"]
    assert Analyser(stop_words=False, stem=False).terms("the boats") == ["the", "boats"]
    assert Analyser(stop_words=["Boats"], stem=False).terms("the BOATS") == ["the"]


@pytest.mark.parametrize("language", sorted(STOP_WORDS))
def test_stop_words_are_left_out(language):
    assert language in languages()
    assert not Analyser(language, stem=False).terms(" ".join(sorted(STOP_WORDS[language])))


def test_analysers_are_recorded():
    for analyser in (Analyser(), PLAIN, Analyser("russian", stem=False, stop_words=("и",))):
        again = Analyser.from_dict(analyser.to_dict())
        assert again == analyser
        assert again.fingerprint == analyser.fingerprint
    prints = {one.fingerprint for one in (Analyser(), PLAIN, Analyser(stem=False), Analyser(stop_words=["a"]))}
    assert len(prints) == 4


def test_what_an_analyser_cannot_be():
    with pytest.raises(UnknownNameError, match="did you mean 'english'"):
        Analyser("englisch")
    with pytest.raises(SettingError, match="stop_words must be"):
        Analyser(stop_words="the")
    with pytest.raises(InputError, match="version 2 of the rules"):
        Analyser.from_dict(Analyser().to_dict() | {"rules": 2})
    with pytest.raises(InputError, match="must give a list of texts"):
        Analyser(tokeniser=str.upper).terms("a")

"""The classes of characters that the word rules of Unicode (UAX #29) ask for, made from Python's table of characters.

Python has no Word_Break property, so it is derived from general categories and names as UAX #29 says, and from its
short lists of single characters. The native tables are written from here by `native/core/words/make_tables.py`.

Two choices of ours: a colon never joins letters (as in CLDR; UAX #29 joins `key:value` for the sake of Swedish), and
characters of scripts that are written without spaces (ideographs, Hiragana, Thai and its like) are words of their own.
"""

from __future__ import annotations

import unicodedata
from enum import IntEnum
from functools import lru_cache


class WordClass(IntEnum):
    """What a character is to the word rules. The numbers are those of the native tables."""

    OTHER = 0
    LETTER = 1
    HEBREW = 2
    DIGIT = 3
    KATAKANA = 4
    SINGLE = 5  # a word of its own
    MID_LETTER = 6
    MID_NUMBER = 7
    MID_BOTH = 8
    QUOTE = 9
    DOUBLE_QUOTE = 10
    CONNECTOR = 11
    EXTEND = 12  # belongs to the character before it


_LISTED = {
    WordClass.MID_LETTER: "\u00b7\u0387\u055f\u05f4\u2027",
    WordClass.MID_NUMBER: ",;\u037e\u0589\u060c\u060d\u066c\u07f8\u2044\ufe10\ufe14\ufe50\ufe54\uff0c\uff1b",
    WordClass.MID_BOTH: ".\u2018\u2019\u2024\ufe52\uff07\uff0e",
    WordClass.QUOTE: "'",
    WordClass.DOUBLE_QUOTE: '"',
    WordClass.CONNECTOR: "\u202f",
    WordClass.KATAKANA: "\u3031\u3032\u3033\u3034\u3035\u309b\u309c\u30a0\u30fc\uff70",
    WordClass.EXTEND: "\u200c\u200d\uff9e\uff9f",
    WordClass.OTHER: "\u200b\u3000",
}
_CLASS_OF = {character: kind for kind, characters in _LISTED.items() for character in characters}

_ALPHABETIC = ("Lu", "Ll", "Lt", "Lm", "Lo", "Nl")
_EXTENDING = ("Mn", "Me", "Mc", "Cf")
_ALONE = (
    "CJK ",
    "HIRAGANA",
    "TANGUT",
    "NUSHU",
    "KHITAN",
    "BOPOMOFO",
    "YI ",
    "THAI",
    "LAO",
    "KHMER",
    "MYANMAR",
    "NEW TAI LUE",
    "TAI LE",
    "TAI THAM",
    "TAI VIET",
    "AHOM",
    "IDEOGRAPHIC",
)


@lru_cache(maxsize=1 << 16)
def word_class(character: str) -> WordClass:
    """The class of a character."""
    if character in _CLASS_OF:
        return _CLASS_OF[character]
    category = unicodedata.category(character)
    if category in _EXTENDING:
        return WordClass.EXTEND
    if category == "Nd":
        return WordClass.DIGIT
    if category == "Pc":
        return WordClass.CONNECTOR
    if category not in _ALPHABETIC:
        return WordClass.OTHER
    return _class_of_letter(unicodedata.name(character, ""))


def _class_of_letter(name: str) -> WordClass:
    if name.startswith(_ALONE):
        return WordClass.SINGLE
    if name.startswith("HEBREW LETTER"):
        return WordClass.HEBREW
    is_katakana = name.startswith(("KATAKANA", "HALFWIDTH KATAKANA"))
    return WordClass.KATAKANA if is_katakana else WordClass.LETTER

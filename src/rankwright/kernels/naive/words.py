"""Twins of the kernels on words: texts split by Unicode's word rules, and texts looked up among sorted ones."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from rankwright.arrays import IntArray, Uint32Array
from rankwright.kernels.naive.common import texts_of
from rankwright.kernels.naive.word_classes import WordClass, word_class
from rankwright.kernels.records import Texts

_LETTERS = (WordClass.LETTER, WordClass.HEBREW)
_WORDS = (*_LETTERS, WordClass.DIGIT, WordClass.KATAKANA)  # what a word may be made of
_LETTER_JOINTS = (WordClass.MID_LETTER, WordClass.MID_BOTH, WordClass.QUOTE)
_NUMBER_JOINTS = (WordClass.MID_NUMBER, WordClass.MID_BOTH, WordClass.QUOTE)


def split_words(texts: Texts, token_starts: IntArray, tokens: Uint32Array, words: Texts, counts: IntArray) -> None:
    """The words of each text as numbers, and the distinct words by number, in the order in which they first appear.

    Letters from A to Z are made small; other letters stay as they are. `counts` becomes the number of tokens, of
    distinct words and of their bytes; where the arrays have no room for them, nothing else is filled.
    """
    numbers: dict[bytes, int] = {}
    found: list[int] = []
    starts = [0]
    for text in texts_of(*texts):
        found += [numbers.setdefault(word, len(numbers)) for word in _words_of_bytes(text)]
        starts.append(len(found))
    joined = b"".join(numbers)
    counts[:] = len(found), len(numbers), len(joined)
    if len(found) <= len(tokens) and len(numbers) < len(words.starts) and len(joined) <= len(words.bytes):
        token_starts[:], tokens[: len(found)] = starts, found
        words.bytes[: len(joined)] = np.frombuffer(joined, np.uint8)
        words.starts[: len(numbers) + 1] = np.cumsum([0, *map(len, numbers)])


def _words_of_bytes(text: bytes) -> list[bytes]:
    """The words of a text in UTF-8; a byte that belongs to no character separates words."""
    characters = text.decode("utf-8", "replace").replace("\ufffd", " ")
    return [word.encode().lower() for word in _segments(characters)]


def _segments(text: str) -> Iterator[str]:
    """The parts of the text between word boundaries that hold a letter, a digit, or a character that is a word."""
    place = 0
    while place < len(text):
        start, kind = place, word_class(text[place])
        place = _past_extensions(text, place + 1)
        holds_word = kind in _WORDS or kind == WordClass.SINGLE
        while (step := _joined(text, kind, place)) is not None:
            kind, place = step
            holds_word = holds_word or kind in _WORDS
        if holds_word:
            yield text[start:place]


def _joined(text: str, kind: WordClass, place: int) -> tuple[WordClass, int] | None:
    """The last class and the place where the word goes on after `kind`; None where it ends."""
    if place == len(text):
        return None
    here, after = word_class(text[place]), _past_extensions(text, place + 1)
    if _adjacent(kind, here):
        return here, after
    beyond = word_class(text[after]) if after < len(text) else WordClass.OTHER
    if _bridged(kind, here, beyond):
        return beyond, _past_extensions(text, after + 1)
    if kind == WordClass.HEBREW and here == WordClass.QUOTE:
        return WordClass.OTHER, after  # a single quote belongs to the Hebrew letter before it, and ends the word
    return None


def _adjacent(kind: WordClass, here: WordClass) -> bool:
    """Whether two neighbours belong to one word (WB5, WB8 to WB10, WB13 to WB13b)."""
    if WordClass.CONNECTOR in (kind, here):
        return {kind, here} <= {*_WORDS, WordClass.CONNECTOR}
    if WordClass.KATAKANA in (kind, here):
        return kind == here
    return kind in _WORDS and here in _WORDS


def _bridged(kind: WordClass, joint: WordClass, beyond: WordClass) -> bool:
    """Whether a mark between two characters makes them one word (WB6, WB7, WB7b, WB7c, WB11, WB12)."""
    if joint == WordClass.DOUBLE_QUOTE:
        return kind == beyond == WordClass.HEBREW
    if kind in _LETTERS and beyond in _LETTERS:
        return joint in _LETTER_JOINTS
    return kind == beyond == WordClass.DIGIT and joint in _NUMBER_JOINTS


def _past_extensions(text: str, place: int) -> int:
    while place < len(text) and word_class(text[place]) == WordClass.EXTEND:
        place += 1
    return place


def find_texts(known: Texts, order: IntArray, wanted: Texts, places: IntArray, threads: int) -> None:
    """The number of each wanted text among the known ones, -1 where it is not there.

    `order` lists the known texts in the order of their bytes; it may be empty where they stand in that order.
    """
    by_number = texts_of(*known)
    ordered = [by_number[number] for number in order] if len(order) else by_number
    for row, text in enumerate(texts_of(*wanted)):
        place = bisect_left(ordered, text)
        is_there = place < len(ordered) and ordered[place] == text
        places[row] = (order[place] if len(order) else place) if is_there else -1


def sort_texts(texts: Texts, order: IntArray, repeated: IntArray) -> None:
    """The numbers of the texts in the order of their bytes; equal texts keep their order.

    `repeated` becomes the least place in the order whose text is that of the place before it, -1 where all differ.
    """
    found = texts_of(*texts)
    order[:] = sorted(range(len(found)), key=found.__getitem__)
    equal = (place for place in range(1, len(found)) if found[order[place]] == found[order[place - 1]])
    repeated[0] = next(equal, -1)

"""How texts become terms: words by Unicode's rules, folded, without stop words, stemmed."""

from __future__ import annotations

import itertools
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from xxhash import xxh3_128_hexdigest

from rankwright import kernels
from rankwright.arrays import IntArray, Uint32Array
from rankwright.clicks.logs.log_blocks import encoded
from rankwright.container.checks import read_any_field, read_field, read_integer, read_list, read_optional_field
from rankwright.errors import InputError, MissingExtraError, UnknownNameError, require, require_input
from rankwright.kernels.records import Texts
from rankwright.text.stop_words import STOP_WORDS

RULES_VERSION = 1  # of how words are found and folded: another one gives other terms, and its indexes are refused
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\uff07", "'"))

Tokeniser: TypeAlias = Callable[[str], Sequence[str]]


class TermStreams(NamedTuple):
    """The terms of many texts: those of text t are `tokens[offsets[t] : offsets[t + 1]]`, numbers in `vocabulary`."""

    offsets: IntArray
    tokens: Uint32Array
    vocabulary: list[str]


@dataclass(frozen=True)
class Analyser:
    """How texts become terms: the same way for documents, queries and texts that are in no index.

    Words are found by Unicode's word rules (UAX #29), which keep `3.5mm`, `16gb`, `1,000` and `don't` together. Case
    and width are folded. Two analysers are alike if their fingerprints are equal.

    Parameters
    ----------
    language : str or None, default "english"
        The language of stems and stop words, one of Snowball's; None for neither.
    stem : bool, default True
        Whether words are reduced to stems, so that `boats` finds `boat`.
    stop_words : bool or sequence of str, default True
        Words that are left out: those of the language (True), none (False), or these.
    tokeniser : function, optional
        Your own function from a text to its words, in place of Unicode's rules and of folding. Files record its name
        only, so that it must be given again when an index is opened.

    Examples
    --------
    >>> from rankwright.text.analysis import Analyser
    >>> Analyser().terms("The Boats' 3.5mm cables")
    ['boat', '3.5mm', 'cabl']
    >>> Analyser(language=None).terms("The Boats")
    ['the', 'boats']
    """

    language: str | None = "english"
    stem: bool = True
    stop_words: bool | Sequence[str] = True
    tokeniser: Tokeniser | None = field(default=None, compare=False)
    tokeniser_name: str | None = None

    def __post_init__(self) -> None:
        if self.language is not None and self.language not in languages():
            raise UnknownNameError("language", self.language, languages())
        if not isinstance(self.stop_words, bool):
            is_one_text = isinstance(self.stop_words, str)
            fits = not is_one_text and all(isinstance(word, str) for word in self.stop_words)
            require(fits, f"stop_words must be a list of words, True or False, got {self.stop_words!r}")
            object.__setattr__(self, "stop_words", tuple(sorted(map(folded, self.stop_words))))
        if self.tokeniser is not None and self.tokeniser_name is None:
            object.__setattr__(self, "tokeniser_name", function_name(self.tokeniser))

    @cached_property
    def fingerprint(self) -> str:
        """A text that is the same for analysers that give the same terms, and another for others."""
        return xxh3_128_hexdigest(json.dumps(self.to_dict(), sort_keys=True).encode())

    def to_dict(self) -> dict[str, Any]:
        """The analyser as JSON holds it.

        Returns
        -------
        dict
            The settings, the name of an own tokeniser, and the version of the rules.
        """
        stop_words = self.stop_words if isinstance(self.stop_words, bool) else list(self.stop_words)
        return {
            "rules": RULES_VERSION,
            "language": self.language,
            "stem": self.stem,
            "stop_words": stop_words,
            "tokeniser": self.tokeniser_name,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], tokeniser: Tokeniser | None = None) -> Analyser:
        """The analyser that `to_dict` told of.

        Parameters
        ----------
        stored : dict
            What `to_dict` gave.
        tokeniser : function, optional
            The analyser's own tokeniser, where it has one.

        Returns
        -------
        Analyser
            The analyser. Where it has a tokeniser of its own that is not given, it cannot analyse texts.
        """
        rules = read_integer(stored, "rules")
        told = f"the texts were analysed by version {rules} of the rules, and this release has version {RULES_VERSION}"
        require_input(rules == RULES_VERSION, told)
        words = read_any_field(stored, "stop_words")
        name = read_optional_field(stored, "tokeniser", str)
        if tokeniser is not None and function_name(tokeniser) != name:
            found = "Unicode's rules" if name is None else f"the tokeniser {name!r}"
            raise InputError(f"the texts were split by {found}, and {function_name(tokeniser)!r} was given")
        return cls(
            read_optional_field(stored, "language", str),
            read_field(stored, "stem", bool),
            words if isinstance(words, bool) else tuple(read_list(stored, "stop_words", str)),
            tokeniser,
            name,
        )

    def terms(self, text: str) -> list[str]:
        """The terms of a text, such as a query, in their order.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        list of str
            Its terms; one that occurs twice is there twice.
        """
        streams = self.streams([text])
        return [streams.vocabulary[number] for number in streams.tokens.tolist()]

    def streams(self, texts: Sequence[str]) -> TermStreams:
        """The terms of many texts, as numbers.

        Parameters
        ----------
        texts : sequence of str
            The texts.

        Returns
        -------
        TermStreams
            `offsets`, where the terms of each text begin; `tokens`, their numbers; `vocabulary`, the terms by number,
            in the order in which they first appear.
        """
        offsets, tokens, words = self._words(texts)
        number_of: dict[str, int] = {}
        numbers = np.array(
            [number_of.setdefault(term, len(number_of)) if term else -1 for term in self.terms_of_words(words)],
            np.int64,
        )
        found = numbers[tokens]
        kept = found >= 0
        if not kept.all():
            before = np.zeros(len(found) + 1, np.int64)
            np.cumsum(kept, out=before[1:])
            offsets, found = before[offsets], found[kept]
        return TermStreams(offsets, found.astype(np.uint32), list(number_of))

    def require_tokeniser(self, index: str = "") -> None:
        """Raise where the texts were split by a function of the user's that was not given; `index` names theirs."""
        if self.tokeniser is None and self.tokeniser_name is not None:
            told = f"the texts{index} were split by the function {self.tokeniser_name!r}: give it as tokeniser="
            raise InputError(told)

    def _words(self, texts: Sequence[str]) -> tuple[IntArray, Uint32Array, list[str]]:
        if self.tokeniser is not None:
            return _split_by(self.tokeniser, texts)
        self.require_tokeniser()
        offsets, tokens, words = split_words(encoded_safely(texts))
        return offsets, tokens, decoded_texts(words)

    def terms_of_words(self, words: Sequence[str]) -> list[str]:
        """The term of each word: folded and stemmed, "" for a stop word.

        Parameters
        ----------
        words : sequence of str
            Distinct words, as the tokeniser found them.

        Returns
        -------
        list of str
            A term for each.
        """
        folds = self.tokeniser is None
        plain = [word if not folds or word.isascii() else folded(word) for word in words]
        stems = plain
        if self.stem and self.language is not None:
            stems = _stemmer(self.language).stemWords(plain)
        left_out = self._left_out
        return ["" if word in left_out else stem for word, stem in zip(plain, stems, strict=True)]

    @cached_property
    def _left_out(self) -> frozenset[str]:
        if isinstance(self.stop_words, bool):
            common = STOP_WORDS.get(self.language or "", frozenset()) if self.stop_words else frozenset()
            return frozenset(map(folded, common))
        return frozenset(self.stop_words)


def languages() -> list[str]:
    """The languages that have stems.

    Returns
    -------
    list of str
        Their names, as Snowball has them.
    """
    return sorted(_snowball().algorithms())


def folded(word: str) -> str:
    """The word with case and width folded, as Unicode's NFKC_Casefold does.

    Parameters
    ----------
    word : str
        Any text.

    Returns
    -------
    str
        The folded text, without the characters that folding makes blank or that are not to be seen.
    """
    return unicodedata.normalize("NFC", "".join(map(_folded_character, word.translate(_APOSTROPHES))))


@lru_cache(maxsize=1 << 16)
def _folded_character(character: str) -> str:
    text = character
    while True:
        again = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
        if again == text:
            return "".join(one for one in text if not one.isspace() and unicodedata.category(one) != "Cf")
        text = again


def function_name(function: Callable[..., object]) -> str:
    """The name by which a file records a function: its module's and its own."""
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '')}.{name}"


def encoded_safely(texts: Sequence[str]) -> Texts:
    """Texts in UTF-8, one after another; halves of characters, which UTF-8 cannot hold, become question marks."""
    try:
        return encoded(texts)
    except UnicodeEncodeError:
        return encoded([text.encode("utf-8", "replace").decode() for text in texts])


def decoded_texts(texts: Texts) -> list[str]:
    """The texts as Python's strings."""
    joined, starts = texts.bytes.tobytes(), texts.starts.tolist()
    return [joined[start:stop].decode("utf-8", "replace") for start, stop in itertools.pairwise(starts)]


def split_words(texts: Texts) -> tuple[IntArray, Uint32Array, Texts]:
    """Where the words of each text begin, the words as numbers, and the distinct words by number.

    Parameters
    ----------
    texts : Texts
        Texts in UTF-8.

    Returns
    -------
    tuple
        Offsets, numbers of words, and the words; those beyond ASCII are not folded yet.
    """
    n_bytes = len(texts.bytes)
    room = np.array([n_bytes // 3 + 64, n_bytes // 8 + 64, n_bytes // 2 + 64])  # enough for most texts
    while True:
        offsets, tokens = np.empty(len(texts.starts), np.int64), np.empty(room[0], np.uint32)
        words = Texts(np.empty(room[2], np.uint8), np.empty(room[1] + 1, np.int64))
        counts = np.empty(3, np.int64)
        kernels.split_words(texts, offsets, tokens, words, counts)
        if (counts <= room).all():
            n_tokens, n_words, n_word_bytes = counts.tolist()
            return offsets, tokens[:n_tokens], Texts(words.bytes[:n_word_bytes], words.starts[: n_words + 1])
        room = counts


def _split_by(tokeniser: Tokeniser, texts: Sequence[str]) -> tuple[IntArray, Uint32Array, list[str]]:
    number_of: dict[str, int] = {}
    found: list[int] = []
    offsets = np.zeros(len(texts) + 1, np.int64)
    for place, text in enumerate(texts, 1):
        words = tokeniser(text)
        if isinstance(words, str) or not all(isinstance(word, str) for word in words):
            raise InputError(
                f"the tokeniser {function_name(tokeniser)!r} must give a list of texts, got {words!r:.100}"
            )
        found += [number_of.setdefault(word, len(number_of)) for word in words]
        offsets[place] = len(found)
    return offsets, np.array(found, np.uint32), list(number_of)


def _snowball() -> Any:
    try:
        import Stemmer
    except ModuleNotFoundError:
        raise MissingExtraError("stems of words", "PyStemmer", "text") from None
    return Stemmer


def _stemmer(language: str) -> Any:
    """A new stemmer: one must not be shared by threads, and its own cache is of no use for distinct words."""
    return _snowball().Stemmer(language, 0)

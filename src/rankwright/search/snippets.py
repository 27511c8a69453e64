"""Snippets: the part of a document's text in which the words of a query stand close together, with these words marked.

A text is cut into runs, of which some are marked; what shows them decides how.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from rankwright.text.analysis import Analyser
from rankwright.text.collections.field_kinds import TEXT, Field

WORD = re.compile(r"\w+(?:['’.,:·]\w+)*")
WORDS_SHOWN = 30
WORDS_BEFORE = 6  # of the first word that matches
LOOKED_AT = 50_000  # characters of a field: a book is not read for a snippet
LONGEST_TITLE = 200
TITLES = ("title", "name", "headline", "subject")


class TextRun(NamedTuple):
    """A piece of text, and whether it is one of the query's words."""

    text: str
    is_marked: bool


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document as a list of results shows it."""

    id: str
    title: tuple[TextRun, ...]
    snippet: tuple[TextRun, ...]
    field: str  # of the snippet

    @property
    def title_text(self) -> str:
        """The title without marks."""
        return "".join(run.text for run in self.title)


class Snippets:
    """Makes snippets of one query."""

    def __init__(self, analyser: Analyser, fields: Sequence[Field], query: str) -> None:
        self._analyser = analyser
        self._terms = frozenset(analyser.terms(query)) if query.strip() else frozenset()
        self._term_of: dict[str, str] = {}
        texts = [one.name for one in fields if one.is_text]
        self.title_field = next((name for name in texts if name.lower() in TITLES), None)
        plain = [one.name for one in fields if one.kind == TEXT and one.name != self.title_field]
        self._bodies = plain or [name for name in texts if name != self.title_field]

    def document(self, name: str, stored: Mapping[str, str]) -> ShownDocument:
        """A document with its title, or its id where it has none, and its snippet."""
        title = stored.get(self.title_field, "") if self.title_field else ""
        shown = " ".join(title.split())[:LONGEST_TITLE]
        best: tuple[tuple[int, int], tuple[TextRun, ...], str] | None = None
        for field in self._bodies:
            worth, runs = self._passage(stored.get(field, ""))
            if runs and (best is None or worth > best[0]):
                best = worth, runs, field
        snippet, field = ((), "") if best is None else best[1:]
        return ShownDocument(name, self.marked(shown) if shown else (TextRun(name, is_marked=False),), snippet, field)

    def marked(self, text: str) -> tuple[TextRun, ...]:
        """The whole text, with the query's words marked."""
        return _runs(text, self._matches(text))

    def _matches(self, text: str) -> list[tuple[int, int, str]]:
        """Where words stand, and the term of each that is the query's, else ""."""
        words = [(found.start(), found.end()) for found in WORD.finditer(text)]
        if not self._terms:
            return [(start, stop, "") for start, stop in words]
        new = list({text[start:stop].lower() for start, stop in words} - self._term_of.keys())
        self._term_of.update(zip(new, self._analyser.terms_of_words(new), strict=True))
        return [
            (start, stop, term if (term := self._term_of[text[start:stop].lower()]) in self._terms else "")
            for start, stop in words
        ]

    def _passage(self, text: str) -> tuple[tuple[int, int], tuple[TextRun, ...]]:
        """The best part of a text, and how good it is: how many different words of the query it has, and how many."""
        matches = self._matches(text[:LOOKED_AT])
        if not matches:
            return (0, 0), ()
        first, worth = _best_window([term for _, _, term in matches])
        own = matches[first : first + WORDS_SHOWN]
        start, stop = (own[0][0] if first else 0), own[-1][1]
        is_end = first + WORDS_SHOWN >= len(matches) and len(text) <= LOOKED_AT
        shown = text[start:] if is_end else text[start:stop]
        runs = _runs(shown, [(begin - start, end - start, term) for begin, end, term in own])
        before = (TextRun("… ", is_marked=False),) if first else ()
        after = () if is_end else (TextRun(" …", is_marked=False),)
        return worth, (*before, *runs, *after)


def _best_window(terms: Sequence[str]) -> tuple[int, tuple[int, int]]:
    """The first word of the window with the most different terms, and what it has."""
    places = [place for place, term in enumerate(terms) if term]
    best, worth = 0, (0, 0)
    for number, place in enumerate(places):
        inside: Collection[str] = [
            terms[one] for one in places[number : number + WORDS_SHOWN] if one < place + WORDS_SHOWN - WORDS_BEFORE
        ]
        found = (len(set(inside)), len(inside))
        if found > worth:
            best, worth = place, found
    return max(0, min(best - WORDS_BEFORE, len(terms) - WORDS_SHOWN)), worth


def _runs(text: str, matches: Sequence[tuple[int, int, str]]) -> tuple[TextRun, ...]:
    """A text cut at its marked words; blanks and line ends count as one blank."""
    runs: list[TextRun] = []
    at = 0
    for start, stop, term in matches:
        if term:
            if start > at:
                runs.append(TextRun(_one_line(text[at:start]), is_marked=False))
            runs.append(TextRun(text[start:stop], is_marked=True))
            at = stop
    if at < len(text):
        runs.append(TextRun(_one_line(text[at:]), is_marked=False))
    return tuple(runs)


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text)

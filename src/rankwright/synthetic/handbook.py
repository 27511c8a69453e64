"""A small handbook to search: texts, queries and judgments.

Pages have invented words. A query is two of them. Pages that treat it have the two words next to each other, pages that
mention it have both at some distance, and others have one or both more often than those, scattered. So what tells good
pages from others is the order of words, not how often they occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rankwright.arrays import Seed, generator

ONSETS, VOWELS, ENDS = "bdfgklmnprtvz", "aeiou", "klmnprtx"
N_WORDS = 800  # that fill pages
ON_TOPIC, MENTIONS, SCATTERED = 3, 4, 8  # pages for each query
GRADES = (2, 1, 0)  # of the three kinds
CHAPTERS = 6
ERRORS = 0.1  # the share of judgments that are anything


@dataclass(frozen=True, slots=True)
class Handbook:
    """Pages, queries about them, and judgments.

    Attributes
    ----------
    pages : dict from str to str
        The text of each page, by its path in the handbook.
    queries : dict from str to str
        What was asked, by id.
    judgments : list of (str, str, int)
        Query, page and grade: 2 for a page that treats the query, 1 for one that mentions it, 0 for others. Judges are
        distracted one time in ten, and then say anything.
    """

    pages: dict[str, str]
    queries: dict[str, str]
    judgments: list[tuple[str, str, int]]

    def write(self, folder: str | Path) -> None:
        """Write the handbook as files: a folder of texts, `queries.tsv` and `judgments.qrels`.

        Parameters
        ----------
        folder : path
            Where to write; the texts are in `documents` within it.
        """
        for name, text in self.pages.items():
            path = Path(folder, "documents", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        queries = (f"{name}\t{text}\n" for name, text in self.queries.items())
        Path(folder, "queries.tsv").write_text("".join(queries), encoding="utf-8")
        judged = (f"{query} 0 {page} {grade}\n" for query, page, grade in self.judgments)
        Path(folder, "judgments.qrels").write_text("".join(judged), encoding="utf-8")


def handbook(n_queries: int = 120, *, seed: Seed = 0) -> Handbook:
    """Make a handbook to search, with judged queries.

    Parameters
    ----------
    n_queries : int, default 120
        How many queries there are; each has 15 pages.
    seed : int or Generator, default 0
        The same seed makes the same handbook.

    Returns
    -------
    Handbook
        Pages, queries and judgments.

    Examples
    --------
    >>> import rankwright as rw
    >>> made = rw.synthetic.handbook(2)
    >>> len(made.pages), list(made.queries), len(made.judgments)
    (30, ['q1', 'q2'], 30)
    """
    rng = generator(seed)
    words = _words(N_WORDS + 2 * n_queries, rng)
    filling, asked = words[:N_WORDS], words[N_WORDS:]
    made = Handbook({}, {}, [])
    for number in range(n_queries):
        query, pair = f"q{number + 1}", asked[2 * number : 2 * number + 2]
        made.queries[query] = " ".join(pair)
        kinds = np.repeat(np.arange(3), (ON_TOPIC, MENTIONS, SCATTERED))
        for kind in rng.permutation(kinds).tolist():
            text = _text(kind, pair, _filling(filling, rng), rng)
            page = f"chapter-{1 + len(made.pages) % CHAPTERS}/{text.split(' ', 1)[0]}-{len(made.pages) + 1}.txt"
            made.pages[page] = text
            grade = int(rng.choice(GRADES)) if rng.random() < ERRORS else GRADES[kind]
            made.judgments.append((query, page, grade))
    return made


def _words(n: int, rng: np.random.Generator) -> list[str]:
    """Different words of two syllables, which no stemmer changes."""
    parts = (ONSETS, VOWELS, ONSETS, VOWELS, ENDS)
    found: dict[str, None] = {}
    while len(found) < n:
        found["".join(part[int(rng.integers(len(part)))] for part in parts)] = None
    return list(found)


def _filling(words: Sequence[str], rng: np.random.Generator) -> list[str]:
    """The other words of a page; some are far commoner than others."""
    places = np.minimum(rng.zipf(1.3, size=int(rng.integers(40, 160))) - 1, len(words) - 1)
    return [words[place] for place in places.tolist()]


def _text(kind: int, pair: Sequence[str], page: list[str], rng: np.random.Generator) -> str:
    first, second = pair
    if kind == 0:
        for place in sorted(rng.integers(1, len(page), size=int(rng.integers(1, 4))).tolist(), reverse=True):
            page[place:place] = [first, second]
    elif kind == 1:
        place = int(rng.integers(1, len(page) - 10))
        page[place:place] = [second]
        page.insert(place + int(rng.integers(3, 8)), first)
    else:
        for word in pair if rng.random() < 0.7 else pair[:1]:
            for place in rng.integers(1, len(page), size=int(rng.integers(1, 6))).tolist():
                page.insert(place, word)
    return " ".join(page)

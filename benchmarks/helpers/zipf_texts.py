"""Documents of words that are drawn by Zipf's law, the same for the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rankwright.text import DocumentBatch

LETTERS = "etaoinshrdlucmfwypvbgkjqxz"
DOCUMENTS_AT_A_TIME = 1000


def word(number: int) -> str:
    """A word of its own for each number; common words are short."""
    letters = ""
    number += 1
    while number:
        letters += LETTERS[number % len(LETTERS)]
        number //= len(LETTERS)
    return f"{letters}q"


class ZipfTexts:
    """Documents of so many words each, drawn from a vocabulary by Zipf's law."""

    def __init__(self, n_documents: int, n_words: int = 200, vocabulary: int = 500_000) -> None:
        self.n_documents, self.n_words = n_documents, n_words
        self._words = np.array([word(number) for number in range(vocabulary)], dtype=object)
        shares = 1 / np.arange(1, vocabulary + 1)
        self._steps = np.cumsum(shares / shares.sum())

    def texts(self, start: int, n: int) -> list[str]:
        """The texts of n documents from `start` on, where a batch begins."""
        rng = np.random.default_rng(start)
        places = np.searchsorted(self._steps, rng.random(n * self.n_words)).clip(0, len(self._words) - 1)
        words, size = self._words[places].tolist(), self.n_words
        return [" ".join(words[at : at + size]) for at in range(0, n * size, size)]

    def batches(self) -> Iterator[DocumentBatch]:
        """All documents."""
        for start in range(0, self.n_documents, DOCUMENTS_AT_A_TIME):
            n = min(DOCUMENTS_AT_A_TIME, self.n_documents - start)
            ids = [f"d{number}" for number in range(start, start + n)]
            yield DocumentBatch(ids, {"body": self.texts(start, n)}, {}, None)

    def queries(self, n: int, seed: int = 7) -> list[str]:
        """Queries of two to five words, drawn from documents."""
        rng = np.random.default_rng(seed)
        starts = rng.integers(0, max(self.n_documents // DOCUMENTS_AT_A_TIME, 1), n) * DOCUMENTS_AT_A_TIME
        return [" ".join(rng.choice(self.texts(int(start), 1)[0].split(), rng.integers(2, 6))) for start in starts]

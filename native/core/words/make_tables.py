"""Writes word_classes.inc, the classes of characters for the word rules, from `kernels/naive/word_classes.py`.

Run it with the Python whose Unicode version the tables are to have: python native/core/words/make_tables.py
"""

from __future__ import annotations

import sys
import unicodedata
from itertools import groupby
from pathlib import Path

from rankwright.kernels.naive.word_classes import WordClass, word_class

TABLE = Path(__file__).with_name("word_classes.inc")
PER_LINE = 5


def table() -> str:
    """The ranges of characters that are not OTHER, with their classes, as initialisers of C++."""
    places = (place for place in range(sys.maxunicode + 1) if not 0xD800 <= place < 0xE000)
    ranges = [
        (group[0], group[-1], kind)
        for (kind, _), group in (
            (key, [place for _, place in run])
            for key, run in groupby(enumerate(places), lambda pair: (word_class(chr(pair[1])), pair[1] - pair[0]))
        )
        if kind != WordClass.OTHER
    ]
    entries = [f"{{0x{first:X}, 0x{last:X}, {kind.value}}}," for first, last, kind in ranges]
    lines = [" ".join(entries[at : at + PER_LINE]) for at in range(0, len(entries), PER_LINE)]
    head = f"// Unicode {unicodedata.unidata_version}; made by make_tables.py: first and last character, class."
    return "\n".join([head, *lines, ""])


if __name__ == "__main__":
    TABLE.write_text(table())

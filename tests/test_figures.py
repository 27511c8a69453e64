"""Figures in the documentation can be made again: the section they stand in names a command, or a paper's table.

A figure is what somebody measured: a time, a ratio, an amount of memory, a metric's value. Pages that are generated are
left out, and so are blocks of code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
GENERATED = {"results.md", "settings.md"}
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in GENERATED)]
FIGURE = re.compile(
    r"""(?<![\w.=@/-])(?:
      [+−-]?\.\d{3,}                             # a metric's value: .4725
    | 0\.(?!000)\d{4,}                           # the same: 0.4725
    | \d[\d,.]*\s?(?:s|ms|µs|ns|MB|GB|seconds)\b # time and memory
    | \d[\d,.]*\s?×(?!\s?\d)                     # a ratio: 3.4×, not 100 × 31
    | \d[\d,.]*\stimes\s(?:as|ours|faster|slower)\b
    )""",
    re.VERBOSE,
)
SOURCE = re.compile(
    r"""python\ -m\ (?:benchmarks|tests)\. | rankwright\ [a-z]+ | `make\ | pytest\ | \]\(results\.md
    | Table\s\d | Tables\s\d | Eq\.\s\d | references\.md\# | settings\.md""",
    re.VERBOSE,
)


def sections(text: str) -> Iterator[tuple[str, str]]:
    """The sections of a page, each with what stands above all of them."""
    first, *others = re.split(r"(?m)^(?=##)", text)
    yield "", first
    yield from ((first, section) for section in others)


def prose(section: str) -> str:
    """A section without blocks of code and code in lines."""
    return re.sub(r"`[^`\n]*`", "", re.sub(r"(?ms)^```.*?^```", "", section))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_figures_have_their_command_or_paper_beside_them(page):
    without = [
        (section.splitlines()[0], found)
        for above, section in sections(page.read_text(encoding="utf-8"))
        if (found := FIGURE.findall(prose(section)))
        if not SOURCE.search(section) and "All figures come from" not in above
    ]
    assert not without, without


def test_the_search_for_figures_finds_some():
    assert FIGURE.findall("MAP .4725 in 3.5 s, 12× as fast, 0.40 GB") == [".4725", "3.5 s", "12×", "0.40 GB"]
    assert not FIGURE.findall("100 × 31 leaves, within 0.000001, at most 0.002, 1.2.10, ndcg@10, v.4725")
    assert not SOURCE.search("it takes 3.5 s here")

"""Writes docs/settings.md, the tables of every ranker's settings: `make docs` runs it, and a test compares."""

from __future__ import annotations

from pathlib import Path

from rankwright.catalog.rankers import KINDS
from rankwright.settings.text import setting_rows

PAGE = Path(__file__).with_name("settings.md")
INTRODUCTION = """# The settings of every ranker

`make docs` generates this page from the settings themselves. `rankwright list settings lambdamart` prints the table of
one ranker, and so does `help(rankwright.LambdaMART)`. The last column has the values that a search (`rankwright tune`)
tries, unless you name others.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *(table(name) for name in KINDS)])


def table(name: str) -> str:
    """The settings of one ranker."""
    settings = KINDS[name].settings
    lines = [f"## {name}", settings.summary, "", "| setting | default | allowed | what it does | a search tries |"]
    lines.append("|---|---|---|---|---|")
    for row in setting_rows(settings):
        cells = [f"`{row['name']}`", f"`{row['default']!r}`", row["allowed"], row["text"], row["search"] or ""]
        lines.append(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |")
    return "\n".join([*lines, ""])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

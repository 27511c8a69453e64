"""What the documentation's tables say is what the code does."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rankwright.metrics.convention import CONVENTIONS, RULES, parse_convention
from rankwright.metrics.metric_table import ALL_METRICS

DOCS = Path(__file__).parents[2] / "docs"


def table_after(heading: str, page: str) -> list[list[str]]:
    """The rows, without their head, of the first table below the heading."""
    text = (DOCS / page).read_text().split(f"## {heading}\n")[1]
    lines = [line for line in text.split("\n## ")[0].splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


def test_the_named_conventions_have_the_rules_told():
    told = {
        name.strip("`"): rules.strip("`–") for name, rules, _ in table_after("The named conventions", "conventions.md")
    }
    assert list(told) == list(CONVENTIONS)
    for name, rules in told.items():
        assert parse_convention(f"standard({rules.replace(' ', ', ')})") == CONVENTIONS[name]


def test_every_rule_is_told_with_its_values():
    rows = {row[0].strip("`"): row[1] for row in table_after("The rules", "conventions.md")}
    assert list(rows) == list(RULES)
    for rule in set(RULES) - {"relevant", "max_grade"}:
        for value in re.findall(r"`([a-z0-9/]+)`", rows[rule]):
            parse_convention(f"standard({rule}={value})")


def test_every_metric_is_told():
    names = re.findall(
        r"`([a-z-]+)(?:@k)?`", " ".join(row[0] for row in table_after("What each metric is", "metrics.md"))
    )
    assert set(names) == set(ALL_METRICS)


@pytest.mark.parametrize("page", ["metrics.md", "conventions.md"])
def test_the_examples_run(page):
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.DOTALL)
    assert blocks
    names: dict[str, object] = {}  # a block goes on from those above it
    for block in blocks:
        exec(compile(block, page, "exec"), names)

from __future__ import annotations

import pytest

from rankwright.tables.text import ShownTable, counted, listed, markdown_table, table_lines

ROWS = [["ndcg", "0.5", "discounted gain as a share of the best possible"], ["map", "12.25", "precision"]]
COLUMNS = ["name", "mean", "summary"]


def test_columns_are_aligned_and_no_line_ends_in_blanks():
    assert table_lines(COLUMNS, ROWS, numbers=["mean"]) == [
        "name   mean  summary",
        "ndcg    0.5  discounted gain as a share of the best possible",
        "map   12.25  precision",
    ]


def test_text_is_wrapped_between_words_and_numbers_are_not():
    lines = table_lines(COLUMNS, ROWS, numbers=["mean"], width=36)
    assert max(map(len, lines)) <= 36
    words = " ".join(lines).split()
    for word in ("discounted", "possible", "precision", "12.25"):
        assert word in words


def test_no_word_is_ever_cut():
    lines = table_lines(["means"], [["exact+distill+prune"]], width=8)
    assert lines == ["means", "exact+distill+prune"]


def test_markdown_aligns_numbers_and_keeps_bars():
    assert markdown_table(["a", "b"], [["x|y", "1"]], numbers=["b"]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |"


def test_html_is_escaped():
    table = ShownTable("a < b", ["name"], [["<script>"]], notes=["p < 0.05"])
    assert "<script>" not in table.html()
    assert "&lt;script&gt;" in table.html()
    assert "a &lt; b" in table.html()
    assert table.text() == "a < b\nname\n<script>\np < 0.05"


@pytest.mark.parametrize(
    ("number", "words", "told"),
    [
        (0, ("query",), "0 queries"),
        (1, ("query",), "1 query"),
        (2000, ("document",), "2,000 documents"),
        (3, ("key",), "3 keys"),
        (1, ("pair has", "pairs have"), "1 pair has"),
        (2, ("pair has", "pairs have"), "2 pairs have"),
    ],
)
def test_what_is_counted_is_told_in_the_singular_or_the_plural(number, words, told):
    assert counted(number, *words) == told


@pytest.mark.parametrize(("names", "told"), [(["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")])
def test_names_in_a_sentence(names, told):
    assert listed(names) == told

"""A report opened in headless Chromium: everything that goes wrong in it is kept, to be looked at in the end."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rankwright as rw

NAMES = ("chromium", "chromium-browser", "google-chrome")
AUDITS = Path(__file__).with_name("audits.js").read_text()
WIDTHS, THEMES = (360, 1600), ("light", "dark")
FROM_DISK = ("file:", "data:", "blob:")


@contextmanager
def browser() -> Iterator[Any]:
    """Chromium; the test is skipped where there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    if found is None:
        pytest.skip("chromium is not installed: `make browser` brings it")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        yield running
        running.close()


class OpenReport:
    """A page in the browser."""

    def __init__(self, running: Any, path: Path, *, width: int = 1600, theme: str = "light") -> None:
        self.page = running.new_page(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.wrong: list[str] = []
        self.page.on("console", self._told)
        self.page.on("pageerror", lambda error: self.wrong.append(f"error: {error}"))
        self.page.on("request", self._asked)
        self.page.on("dialog", self._dialog)
        start = time.perf_counter()
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("html[data-ready]")
        self.seconds = time.perf_counter() - start

    def _told(self, message: Any) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console: {message.text}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith(FROM_DISK):
            self.wrong.append(f"request: {request.url}")

    def _dialog(self, dialog: Any) -> None:
        self.wrong.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def audit(self) -> dict[str, list[str]]:
        """What is cut, hard to read or unnamed, and what went wrong so far."""
        return {**self.page.evaluate(AUDITS), "wrong": self.wrong}

    def texts(self, selector: str) -> list[str]:
        """The texts of elements."""
        found: list[str] = self.page.locator(selector).all_inner_texts()
        return [text.strip() for text in found]

    def close(self) -> None:
        """Close the page."""
        self.page.close()


CLEAN: dict[str, list[str]] = {"faint": [], "cut": [], "unnamed": [], "wrong": []}


def drive_queries(report: OpenReport) -> None:
    """Search, sort, open a query and explain a pair, with keys alone."""
    page = report.page
    rows = "table.queries tbody tr"
    first = report.texts(f"{rows} .open")
    page.focus("table.queries thead th:first-child .sorter")
    page.keyboard.press("Enter")
    by_name = report.texts(f"{rows} .open")
    assert by_name == sorted(by_name, key=str.lower)
    page.keyboard.press("Enter")
    assert report.texts(f"{rows} .open") != by_name or len(by_name) == 1
    wanted = first[0]
    page.fill("#query-search", wanted)
    assert wanted in report.texts(f"{rows} .open")
    assert all(wanted.lower() in text.lower() for text in report.texts(f"{rows} .open"))
    page.focus(f"{rows}:first-child .open")
    page.keyboard.press("Enter")
    opened = page.locator("#open-query").inner_text()
    assert opened == f"Query {report.texts(f'{rows} .open')[0]}"
    assert page.evaluate("document.activeElement.id") == "open-query"


def drive_pair(report: OpenReport) -> None:
    """Choose two other documents by keys; each ranker says what puts one above the other."""
    page = report.page
    picks = page.locator("#query .list").first.locator(".pick")
    for place in (0, 1):
        if picks.nth(place).get_attribute("aria-pressed") != "true":
            picks.nth(place).focus()
            page.keyboard.press("Enter")
    chosen = [picks.nth(place).inner_text() for place in (0, 1)]
    assert [picks.nth(place).get_attribute("aria-pressed") for place in (0, 1)] == ["true", "true"]
    assert f"{chosen[0]} is above {chosen[1]}" in page.locator("#pair .why").first.inner_text()
    assert page.locator("#pair table.bars tbody tr").count() >= 1


def drive_tables(report: OpenReport) -> None:
    """Sort the first table by its second column, both ways, by keys."""
    page = report.page
    table = page.locator("#metrics table.sortable").first
    cells = table.locator("tbody tr > :nth-child(2)")
    header = table.locator("thead th:nth-child(2)")
    header.locator(".sorter").focus()
    for order in ("ascending", "descending"):
        page.keyboard.press("Enter")
        assert header.get_attribute("aria-sort") == order
        values = [float(text.split()[0]) for text in cells.all_inner_texts()]
        assert values == sorted(values, reverse=order == "descending")


def report_of_many(path: Path) -> list[Path]:
    """A report of five systems on 50,000 queries, and what is written beside it."""
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 30, size=50_000)
    labels = rng.choice(5, size=int(sizes.sum()), p=[0.5, 0.2, 0.15, 0.1, 0.05]).astype(np.float32)
    features = (labels[:, None] + 2 * rng.normal(size=(len(labels), 5))).astype(np.float32)
    data = rw.RankingDataset.from_arrays(features, labels, group=sizes)
    scores = {f"model {number}": features[:, number] + 0.1 * number * labels for number in range(5)}
    return rw.write_report(rw.compare(scores, data), path)

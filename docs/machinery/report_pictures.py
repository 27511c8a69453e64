"""The pictures of the report, taken of the quickstart's in Chromium: `python docs/machinery/report_pictures.py`.

It takes a minute, and needs playwright and Chromium (`make browser`). Run it when the report looks different.
"""

from __future__ import annotations

import base64
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

IMAGES = Path(__file__).parents[1] / "images"
QUALITY = 80
BESIDE = 16  # pixels around a part of the page


def main() -> None:
    """Take all of them."""
    from playwright.sync_api import sync_playwright

    from rankwright.experiments.quickstart import run_quickstart, write_quickstart, write_quickstart_report

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        write_quickstart(result := run_quickstart(), folder)
        report = write_quickstart_report(result, folder).as_uri()
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for name, (width, height, theme, part) in PICTURES.items():
            page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
            page.goto(report)
            page.wait_for_selector("html[data-ready]")
            (IMAGES / name).write_bytes(picture(page, part(page)))
            page.close()
        chromium.close()


def picture(page: Any, clip: dict[str, float]) -> bytes:
    """A part of the page as WebP, which only the browser's own protocol writes."""
    asked = {"format": "webp", "quality": QUALITY, "captureBeyondViewport": True, "clip": clip | {"scale": 1}}
    return base64.b64decode(page.context.new_cdp_session(page).send("Page.captureScreenshot", asked)["data"])


def top(page: Any) -> dict[str, float]:
    """What is seen first."""
    return {"x": 0, "y": 0, **page.viewport_size}


def chart_of_queries(page: Any) -> dict[str, float]:
    """The queries as dots."""
    return around(page, "#queries .chart")


def open_query(page: Any) -> dict[str, float]:
    """The first query that the table names, with its lists and the reasons."""
    page.locator("table.queries tbody .open").first.click()
    return around(page, "#query")


def learning(page: Any) -> dict[str, float]:
    """The learning curves."""
    return around(page, "#learning")


def around(page: Any, selector: str) -> dict[str, float]:
    """The place of an element within the page; the bar at the top, which stays in view, is hidden."""
    page.add_style_tag(content=".bar { visibility: hidden }")
    box = page.locator(selector).first.evaluate(
        "one => { const r = one.getBoundingClientRect(); return [r.x + scrollX, r.y + scrollY, r.width, r.height] }"
    )
    x, y, width, height = box
    return {"x": x - BESIDE, "y": y - BESIDE, "width": width + 2 * BESIDE, "height": height + 2 * BESIDE}


# The size of the window, the theme, and the part of the page.
PICTURES: dict[str, tuple[int, int, str, Callable[[Any], dict[str, float]]]] = {
    "report-verdict.webp": (1280, 1180, "light", top),
    "report-queries.webp": (1440, 900, "light", chart_of_queries),
    "report-query.webp": (1440, 900, "light", open_query),
    "report-learning-dark.webp": (1440, 900, "dark", learning),
    "report-phone-dark.webp": (360, 760, "dark", top),
}

if __name__ == "__main__":
    main()

"""How long is it from a key press to the new list on the page, and from a slider's move to the reordered one?

Both are measured in Chromium, from the event to the moment in which the new list is in the document. Each query is
typed but for its last letter, whose key press is measured, so that no answer is kept from before.
"""

from __future__ import annotations

import argparse
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.helpers.records import show

from rankwright.text import read_queries

QUESTION = "How long from a key press on the search page to the new list?"
WAIT = """(press) => new Promise((resolve) => {
  let begin;
  document.addEventListener(press, () => { begin = performance.now(); }, { once: true, capture: true });
  document.addEventListener("shown", () => resolve(performance.now() - begin), { once: true });
})"""


def main() -> None:
    """Measure, and print the figures."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("index")
    asked.add_argument("--model", action="append", required=True, help="two of them")
    asked.add_argument("--queries", required=True)
    asked.add_argument("--times", type=int, default=200)
    given = asked.parse_args()
    texts = read_queries(given.queries).texts[: given.times]
    with tempfile.TemporaryDirectory() as folder:
        process, url = serve(given, folder)
        try:
            typed, moved = measured(url, texts)
        finally:
            process.terminate()
            process.wait()
    rows = [told("key press to new list", typed), told("slider to reordered list", moved)]
    show("search page", QUESTION, rows, documents=Path(given.index).name)


def serve(given: argparse.Namespace, folder: str) -> tuple[subprocess.Popen[str], str]:
    """The page in a process of its own, and its first address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [str(Path(sys.executable).with_name("rankwright")), "search", given.index, "--page", "--no-browser"]
    command += ["--port", str(port), "--judgments", f"{folder}/judged.db"]
    command += [part for place, model in enumerate(given.model) for part in ("--model", f"m{place}={model}")]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = None
    while found is None:
        line = process.stderr.readline()
        if not line:
            raise SystemExit("the page did not start")
        found = re.search(r"http\S+token=\S+", line)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=1).read()
            break
        except OSError:
            time.sleep(0.05)
    return process, found[0]


def measured(url: str, texts: list[str]) -> tuple[list[float], list[float]]:
    """Milliseconds of each key press, and of each move of a slider."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        page = chromium.new_page(viewport={"width": 1600, "height": 900})
        page.goto(url)
        page.wait_for_selector("html[data-ready]")
        typed = [key_press(page, text) for text in texts]
        page.goto(f"{page.url}&panel=whatif")
        page.wait_for_selector(".slider input:enabled", timeout=60_000)
        slider = page.locator(".slider input:enabled").first
        slider.focus()
        at_low = float(slider.input_value()) == float(slider.get_attribute("min") or 0)
        # From one end to the other and back: a key that moves nothing would be waited for in vain.
        moved = [slid(page, "End" if at_low == (number % 2 == 0) else "Home") for number in range(50)]
        chromium.close()
    return typed[5:], moved  # the first ones map the index into memory


def key_press(page: Any, text: str) -> float:
    """From the key press of the last letter to the new list."""
    page.focus("#q")
    one_event(page, "input", lambda: page.fill("#q", text[:-1]))
    page.keyboard.press("End")
    return one_event(page, "keydown", lambda: page.keyboard.type(text[-1]))


def slid(page: Any, key: str) -> float:
    """From the move of a slider to the reordered list."""
    return one_event(page, "input", lambda: page.keyboard.press(key))


def one_event(page: Any, event: str, act: Any) -> float:
    """Milliseconds from an event to the next list."""
    page.evaluate(f"() => {{ window.waited = ({WAIT})({event!r}); }}")
    act()
    return float(page.evaluate("window.waited"))


def told(what: str, milliseconds: list[float]) -> dict[str, Any]:
    """The median and the 99th percentile."""
    median, late = np.percentile(milliseconds, [50, 99])
    return {"what": what, "times": len(milliseconds), "median ms": round(median, 1), "p99 ms": round(late, 1)}


if __name__ == "__main__":
    main()

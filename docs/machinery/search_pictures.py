"""The pictures of the search page, taken in Chromium: `python docs/machinery/search_pictures.py`.

It runs the quickstart of searching, which takes a minute, and needs playwright and Chromium (`make browser`). Run it
when the page looks different.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

from report_pictures import IMAGES, picture

QUERY = "read+lines+file"
PICTURES = {  # name: path, width, height, theme
    "search-lists.webp": (f"?q={QUERY}", 1280, 720, "light"),
    "search-why.webp": (f"?q={QUERY}&panel=why&r=lambdamart", 1440, 900, "light"),
    "search-whatif.webp": (f"?q={QUERY}&panel=whatif&r=lambdamart", 1440, 800, "dark"),
    "search-queries.webp": ("queries?order=gain", 1280, 720, "light"),
    "search-judge.webp": ("judge?who=ann", 1280, 720, "light"),
    "search-phone.webp": (f"?q={QUERY}", 360, 760, "dark"),
}


def main() -> None:
    """Take all of them."""
    from playwright.sync_api import sync_playwright

    from rankwright.experiments.search_quickstart import run_search_quickstart

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        command = run_search_quickstart(Path(folder)).page_command
        process, url = serve([*shlex.split(command), "--no-browser", "--rater", "ann"])
        try:
            chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
            for name, (path, width, height, theme) in PICTURES.items():
                page = chromium.new_page(viewport={"width": width, "height": height}, color_scheme=theme)
                page.goto(url)
                page.goto(url.partition("?")[0] + path)
                page.wait_for_selector("html[data-ready]")
                wait_until_ranked(page)
                (IMAGES / name).write_bytes(picture(page, {"x": 0, "y": 0, "width": width, "height": height}))
                page.close()
            chromium.close()
        finally:
            process.terminate()
            process.wait()


def wait_until_ranked(page: Any) -> None:
    """Wait until a list of queries is whole."""
    while page.locator("[data-again]").count():
        time.sleep(1)


def serve(command: list[str]) -> tuple[subprocess.Popen[str], str]:
    """The page in a process of its own, and the address that lets a browser in."""
    program = str(Path(sys.executable).with_name(command[0]))
    process = subprocess.Popen([program, *command[1:]], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    found = None
    while found is None:
        line = process.stderr.readline()
        if not line:
            raise SystemExit("the page did not start")
        found = re.search(r"http\S+token=\S+", line)
    while True:
        try:
            urllib.request.urlopen(found[0].partition("?")[0] + "health", timeout=1).read()
        except OSError:
            time.sleep(0.1)
        else:
            return process, found[0]


if __name__ == "__main__":
    main()

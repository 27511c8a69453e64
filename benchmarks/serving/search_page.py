"""How long is it from a key press to the new list on the page, and from a slider's move to the reordered one?

    python -m benchmarks.serving.search_page --folder build/search-page [--documents 100_000] [--times 200] [--prepare]

Both are measured in Chromium, from the event to the moment in which the new list is drawn. Each query is
typed but for its last letter, whose key press is measured, so that no answer is kept from before. The folder gets an
index of texts by Zipf's law, with titles, years and links, and two forests that look at all features of the default
specification; what is there already is taken. `--prepare` only makes it.
"""

from __future__ import annotations

import argparse
import json
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
from benchmarks.helpers.zipf_texts import ZipfTexts

from rankwright.text import read_queries

QUESTION = "How long from a key press on the search page to the new list?"
RANKWRIGHT = str(Path(sys.executable).with_name("rankwright"))
WAIT = """(press) => new Promise((resolve) => {
  let begin;
  document.addEventListener(press, () => { begin = performance.now(); }, { once: true, capture: true });
  const drawn = () => requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - begin)));
  document.addEventListener("shown", drawn, { once: true });
})"""


N_QUERIES, N_LEARNED = 400, 60  # all queries, and those that forests are trained on
MODELS = {"small": "n_trees=100,max_leaves=7", "large": "n_trees=500,max_leaves=31"}
TITLE_WORDS = 6


def main() -> None:
    """Measure, and print the figures."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--folder", type=Path, required=True)
    asked.add_argument("--documents", type=int, default=100_000)
    asked.add_argument("--times", type=int, default=200)
    asked.add_argument("--prepare", action="store_true")
    given = asked.parse_args()
    prepare(given.folder, given.documents)
    if given.prepare:
        return
    texts = read_queries(given.folder / "queries.tsv").texts[N_LEARNED:][: given.times]
    with tempfile.TemporaryDirectory() as store:
        process, url = serve(given.folder, store)
        try:
            typed, moved = measured(url, texts)
        finally:
            process.terminate()
            process.wait()
    rows = [told("key press to new list", typed), told("slider to reordered list", moved)]
    show("search page", QUESTION, rows, documents=given.documents)


def prepare(folder: Path, n_documents: int) -> None:
    """The index, the queries and the models, unless they are there."""
    if all((folder / f"{name}.rw").exists() for name in MODELS):
        return
    folder.mkdir(parents=True, exist_ok=True)
    write_collection(folder, n_documents)
    run("index", folder / "documents.jsonl", "--out", folder / "INDEX")
    (folder / "documents.jsonl").unlink()
    learned = (folder / "queries.tsv").read_text().splitlines()[:N_LEARNED]
    (folder / "learned.tsv").write_text("\n".join(learned) + "\n")
    rows = ("--qrels", folder / "judgments.qrels", "--candidates", "1000", "--out", folder / "learned.parquet")
    run("features", folder / "INDEX", folder / "learned.tsv", *rows)
    for name, settings in MODELS.items():
        chosen = [part for one in settings.split(",") for part in ("--set", one)]
        run("train", folder / "learned.parquet", *chosen, "--out", folder / f"{name}.rw")


def write_collection(folder: Path, n_documents: int) -> None:
    """Documents with titles, years and links, and queries of words of one of them, which is the one that is meant."""
    rng, asked, judged = np.random.default_rng(1), list[str](), list[str]()
    meant = set(rng.choice(n_documents, N_QUERIES, replace=False).tolist())
    with (folder / "documents.jsonl").open("w") as file:
        for batch in ZipfTexts(n_documents).batches():
            for name, text in zip(batch.ids, batch.texts["body"], strict=True):
                words = text.split()
                links = [f"d{number}" for number in rng.integers(0, n_documents, 5)]
                about = {"title": " ".join(words[:TITLE_WORDS]), "year": int(rng.integers(1980, 2026)), "links": links}
                file.write(json.dumps({"id": name, **about, "body": text}) + "\n")
                if int(name[1:]) in meant:
                    asked.append(f"q{len(asked)}\t{' '.join(rng.choice(words, rng.integers(2, 6)))}")
                    judged.append(f"q{len(judged)} 0 {name} 1")
    (folder / "queries.tsv").write_text("\n".join(asked) + "\n")
    (folder / "judgments.qrels").write_text("\n".join(judged) + "\n")


def run(*words: object) -> None:
    """A command of ours, as people call it."""
    subprocess.run([RANKWRIGHT, *map(str, words), "--quiet"], check=True, stdout=subprocess.DEVNULL)


def serve(folder: Path, store: str) -> tuple[subprocess.Popen[str], str]:
    """The page in a process of its own, and its first address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [RANKWRIGHT, "search", str(folder / "INDEX"), "--page", "--no-browser"]
    command += ["--port", str(port), "--judgments", f"{store}/judged.db"]
    command += [part for name in MODELS for part in ("--model", str(folder / f"{name}.rw"))]
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

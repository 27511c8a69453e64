"""Every page of the built site, opened from disk in Chromium."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest

import rankwright as rw

pytestmark = pytest.mark.slow

WINDOWS = [(width, scheme) for width in (360, 1600) for scheme in ("light", "dark")]
BROKEN_PICTURES = "[...document.images].filter(one => one.complete && !one.naturalWidth).map(one => one.src)"
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


def pages_of(site: Path) -> list[Path]:
    return sorted(path for path in site.rglob("*.html") if path.name != "404.html")


class Links(HTMLParser):
    """What a page points at, and what can be pointed at in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, _tag, attrs):
        found = dict(attrs)
        self.anchors |= {str(found[key]) for key in ("id", "name") if key in found}
        self.targets += [str(found[key]) for key in ("href", "src") if found.get(key)]


def test_no_link_is_broken_and_none_leads_out_for_what_the_page_needs(site):
    links = {page: Links(page.read_text(encoding="utf-8")) for page in pages_of(site)}
    assert len(links) > 60
    broken = []
    for page, found in links.items():
        for target in found.targets:
            parts = urlsplit(target)
            if parts.scheme:
                continue
            place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            known = links[place].anchors if place in links else set()
            if not place.exists() or (parts.fragment and place in links and unquote(parts.fragment) not in known):
                broken.append(f"{page.relative_to(site)}: {target}")
    assert broken == []


def test_every_page_is_sound_narrow_and_wide_light_and_dark(site, browser):
    wrong = []
    for page in pages_of(site):
        for width, scheme in WINDOWS:
            browser.visit(page.as_uri(), width, scheme)
            faults = [*browser.complaints, *browser.ask(BROKEN_PICTURES)]
            faults += [
                f"asks for {url}" for url in browser.requests if not url.startswith(("file:", "data:", "about:"))
            ]
            over = browser.ask(TOO_WIDE)
            faults += [f"{over} pixels too wide"] if over > 0 else []
            dark = browser.ask("document.body.dataset.mdColorScheme") == "slate"
            faults += [] if dark == (scheme == "dark") else ["has the wrong colours"]
            wrong += [f"{page.relative_to(site)}, {width}, {scheme}: {fault}" for fault in faults]
    assert wrong == []


def test_the_search_works_from_disk(site, browser):
    browser.visit((site / "index.html").as_uri(), 1600, "light")
    typed = """(async () => {
      const input = document.querySelector("input[name=query]");
      document.querySelector("#__search").click();
      input.focus(); input.value = "fidelity";
      ["keyup", "input"].forEach(kind => input.dispatchEvent(new Event(kind)));
      for (let i = 0; i < 100; i++) {
        await new Promise(done => setTimeout(done, 100));
        const found = [...document.querySelectorAll(".md-search-result__link")].map(one => one.href);
        if (found.length) return found;
      }
      return [];
    })()"""
    assert any("math_boosting.html" in link for link in browser.ask(typed))
    assert browser.complaints == []


@pytest.mark.parametrize("cutoff", [1, 5, 10])
def test_the_example_of_conventions_counts_as_the_library_does(site, browser, cutoff):
    rng = np.random.default_rng(cutoff)
    sizes = rng.integers(1, 9, size=12)
    queries = [(rng.integers(0, 4, size=size), rng.integers(0, 3, size=size)) for size in sizes]
    queries.append((np.zeros(4, dtype=int), np.arange(4)))
    text = "\n".join(" ".join(f"{label}@{score}" for label, score in zip(*query, strict=True)) for query in queries)
    browser.visit((site / "conventions.html").as_uri(), 1600, "light")
    shown = browser.ask(f"""(() => {{
      const root = document.querySelector(".conventions-example");
      root.querySelector("textarea").value = {text!r}; root.querySelector("input").value = {cutoff};
      root.dispatchEvent(new Event("input"));
      const told = row => [...row.cells].slice(0, 2).map(cell => cell.textContent);
      return [...root.querySelectorAll("tbody tr")].map(told);
    }})()""")
    assert len(shown) > 8
    labels, scores = (np.concatenate(part) for part in zip(*queries, strict=True))
    data = rw.RankingDataset.from_arrays(
        np.zeros((len(labels), 1)),
        labels,
        group=[len(query[0]) for query in queries],
        document_ids=[f"d{number:02}" for query in queries for number in range(len(query[0]))],
    )
    for convention, mean in shown:
        metric = f"ndcg@{cutoff}"
        wanted = rw.evaluate(scores, data, metrics=metric, convention=convention)[metric].mean
        assert re.fullmatch(r"\d\.\d{4}", mean)
        assert float(mean) == pytest.approx(wanted, abs=6e-5), convention

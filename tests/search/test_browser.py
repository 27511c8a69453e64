"""The page in a real browser: searching, comparing, trying out and judging by keys, through kills of the server."""

from __future__ import annotations

import http.server
import random
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from tests.report.driver import browser
from tests.search.page_driver import OpenPage, RunningPage
from tests.search.small_collection import HOSTILE

from rankwright.judgments import Judgment, JudgmentStore
from rankwright.web.limits import Limits

WIDTHS = (360, 800, 1600)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as running:
        yield running


@pytest.fixture(scope="module")
def served(searchable, tmp_path_factory, chromium) -> Iterator[RunningPage]:  # noqa: ARG001  # skips without a browser
    page = RunningPage(searchable, tmp_path_factory.mktemp("judged") / "judged.db")
    yield page
    page.stop()


@contextmanager
def opened(chromium, served: RunningPage, path: str = "", **how: Any) -> Iterator[OpenPage]:
    context = chromium.new_context(**({"viewport": {"width": 1600, "height": 900}} | how))
    page = OpenPage(context, served.first_url)
    if path:
        page.open(served.base + path)
    yield page
    context.close()


def stored(store: str) -> list[Judgment]:
    with JudgmentStore(store) as found:
        return list(found.rows())


def store_of(served: RunningPage) -> str:
    return served._command[served._command.index("--judgments") + 1]


def test_searching_follows_what_is_typed(chromium, served):
    with opened(chromium, served) as page:
        assert "token" not in page.tab.url
        page.tab.keyboard.press("/")
        page.tab.keyboard.type("harbour lantern")
        page.tab.wait_for_selector('[data-side="b"] li')
        page.until("location.search.includes('harbour+lantern')")
        first = page.titles("a")
        assert len(first) == 10
        assert page.tab.locator("#lines path").count() > 0
        assert page.tab.locator("mark").first.inner_text().lower() in ("harbour", "lantern")
        address = page.tab.url
        page.tab.reload()
        page.tab.wait_for_selector("html[data-ready]")
        assert page.titles("a") == first
        other = OpenPage(page.tab.context, address)  # a second tab
        assert other.titles("a") == first
        page.tab.fill("#q", "meadow")
        page.tab.keyboard.press("Enter")
        page.until("location.search.includes('q=meadow')")
        page.tab.go_back()
        page.until("location.search.includes('harbour')")
        page.tab.wait_for_selector("html[data-ready]")
        assert page.titles("a") == first
        assert page.wrong == other.wrong == []


def test_filters_and_rankers_change_the_lists(chromium, served):
    with opened(chromium, served, "?q=harbour") as page:
        before = page.titles("a")
        page.tab.click(".filters summary")
        page.tab.fill('[name="w.year"]', "1980..1984")
        page.until("location.search.includes('w.year')")
        assert page.titles("a") != before
        page.tab.select_option('[name="b"]', "-")
        page.until("document.querySelectorAll('.list').length === 1")
        page.tab.reload()
        page.tab.wait_for_selector("html[data-ready]")
        assert page.tab.locator(".list").count() == 1
        assert page.wrong == []


def test_why_is_asked_by_keys_and_answered_by_both_rankers(chromium, served):
    with opened(chromium, served, "?q=harbour+lantern") as page:
        page.tab.focus('[data-side="a"] li:nth-child(3) [id^="why"]')
        page.tab.keyboard.press("Enter")
        page.tab.wait_for_selector("#panel .reasons")
        assert page.tab.evaluate("document.activeElement.className") == "panel"
        assert page.texts("#panel .reasons h3") == ["forest", "<b>bm25f</b>"]
        first = page.texts("#panel .reasons p")[0]
        page.tab.select_option('[name="d2"]', index=8)
        page.until("document.querySelector('.reasons p').innerText !== " + repr_js(first))
        address = page.tab.url
        page.open(address)
        assert page.tab.input_value('[name="d2"]') in address.replace("+", " ") or "d2=" in address
        assert page.wrong == []


def repr_js(text: str) -> str:
    import json

    return json.dumps(text)


def test_a_slider_reorders_the_list_while_it_moves(chromium, served):
    with opened(chromium, served, "?q=harbour+lantern&panel=whatif") as page:
        told, before = page.texts("#outcome")[0], page.titles("a")
        slider = page.tab.locator(".slider input:enabled").first
        slider.focus()
        for key in ("Home", "End", "Home"):
            page.tab.keyboard.press(key)
        page.until("document.querySelector('#outcome').innerText !== " + repr_js(told))
        page.tab.wait_for_selector("#reset")
        assert page.tab.evaluate("document.activeElement.type") == "range"
        assert "f." in page.tab.url
        changed = page.texts("#outcome .outcome")[0]
        page.tab.reload()
        page.tab.wait_for_selector("html[data-ready]")
        assert page.texts("#outcome .outcome")[0] == changed
        page.tab.click("#reset")
        page.until("!location.search.includes('f.')")
        assert page.titles("a") == before
        assert page.wrong == []


def test_the_list_follows_a_slider_that_keeps_moving(chromium, served):
    """One question at a time: none is cut off by the next move, none waits, and the last one is shown."""
    with opened(chromium, served, "?q=harbour+lantern&panel=whatif") as page:
        asked: list[str] = []
        failed: list[str] = []
        page.tab.on("request", lambda one: asked.append(one.url))
        page.tab.on("requestfailed", lambda one: failed.append(one.url))
        last = page.tab.evaluate("""async () => {
          const slider = document.querySelector(".slider input:enabled");
          const [low, high] = [Number(slider.min), Number(slider.max)];
          slider.focus();
          for (let step = 1; step <= 60; step++) {
            slider.value = low + ((high - low) * step) / 61;
            slider.dispatchEvent(new Event("input", { bubbles: true }));
            await new Promise((next) => setTimeout(next, 4));
          }
          return slider.value;
        }""")
        page.until(f"Number(new URLSearchParams(location.search).get(document.activeElement.name)) === {last}")
        assert 2 <= len(asked) < 60
        assert failed == []
        assert page.wrong == []


def test_weights_of_fields_reorder_bm25f(chromium, served):
    with opened(chromium, served, "?q=harbour+lantern&panel=whatif&r=%3Cb%3Ebm25f%3C%2Fb%3E") as page:
        before = page.titles("b")
        page.tab.locator('[name="s.weight.title"]').focus()
        page.tab.keyboard.press("End")
        page.until("location.search.includes('s.weight.title')")
        assert page.titles("b") != before
        assert page.titles("a")
        assert "places changed" in page.texts("#outcome")[0]
        assert page.wrong == []


def test_features_are_a_table_that_can_be_searched(chromium, served):
    with opened(chromium, served, "?q=harbour+lantern") as page:
        page.tab.click("#open-features")
        page.tab.wait_for_selector("#feature-table")
        page.tab.fill("[data-filter]", "bm25")
        shown = page.texts("#feature-table tbody tr:visible th")
        assert shown
        assert all("bm25" in one for one in shown)


def test_queries_are_listed_with_a_picture(chromium, served):
    with opened(chromium, served, "queries") as page:
        page.until("!document.querySelector('[data-again]')", seconds=60)
        assert page.tab.locator("table.queries tbody tr").count() == 30
        assert "is better on" in (page.tab.locator(".differences svg").get_attribute("aria-label") or "")
        page.tab.click("text=as in the list")
        page.until("location.search.includes('order=list')")
        first = page.texts("table.queries .open")[0]
        page.tab.click("table.queries tbody tr:first-child .open")
        page.tab.wait_for_selector("#state")
        assert page.tab.input_value("#q") == first
        assert page.wrong == []


def test_judging_by_keys_with_undo_comment_skip_and_two_tabs(chromium, served):
    start = "judge?who=keys&q=meadow+copper"
    with opened(chromium, served, start) as page:
        first = page.texts("#judged-title")[0]
        own = page.tab.locator("article.to-judge").get_attribute("data-document")
        page.tab.keyboard.press("c")
        page.tab.keyboard.type("3 of them")  # digits in a comment are no grades
        page.tab.keyboard.press("Escape")
        page.tab.keyboard.press("3")
        page.until(f"document.querySelector('article').dataset.document !== {repr_js(own or '')}")
        page.until("document.querySelector('#status').textContent.startsWith('Saved')")
        (one,) = [one for one in stored(store_of(served)) if one.rater == "keys"]
        assert (one.document, one.grade, one.comment) == (own, 3.0, "3 of them")
        second = page.texts("#judged-title")[0]
        page.tab.keyboard.press("s")
        page.until(f"document.querySelector('#judged-title').innerText !== {repr_js(second)}")
        tab = OpenPage(page.tab.context, served.base + start)
        assert tab.texts("#judged-title")[0] == second  # what was judged in the first tab is not asked again
        tab.tab.keyboard.press("1")
        tab.until("document.querySelector('#status').textContent.startsWith('Saved')")
        page.tab.keyboard.press("u")  # takes back what was judged last, in whichever tab
        page.until(f"document.querySelector('#judged-title').innerText === {repr_js(second)}")
        assert [one.document for one in stored(store_of(served)) if one.rater == "keys"] == [own]
        page.tab.keyboard.press("u")
        page.until(f"document.querySelector('#judged-title').innerText === {repr_js(first)}")
        assert not [one for one in stored(store_of(served)) if one.rater == "keys"]
        page.tab.reload()
        page.tab.wait_for_selector("html[data-ready]")
        assert page.texts("#judged-title")[0] == first
        assert page.wrong == tab.wrong == []


@pytest.mark.parametrize(("width", "theme"), [(360, "dark"), (360, "light"), (800, "light"), (1600, "dark")])
def test_every_page_can_be_read_in_each_width_and_theme(chromium, served, width, theme):
    how = {"viewport": {"width": width, "height": 900}, "color_scheme": theme}
    with opened(chromium, served, **how) as page:
        for path in ("", "?q=harbour+lantern&panel=why", "?q=harbour+lantern&panel=whatif",
                     "?q=harbour+lantern&panel=features", "?q=saddle&panel=whatif&r=%3Cb%3Ebm25f%3C%2Fb%3E",
                     "queries", "judge?who=reader"):  # fmt: skip
            page.open(served.base + path)
            assert page.audit() == {}, (width, theme, path)
        page.tab.click("#theme")
        assert page.audit() == {}
        chosen = page.tab.evaluate("document.documentElement.dataset.theme")
        page.tab.reload()
        page.tab.wait_for_selector("html[data-ready]")
        assert page.tab.evaluate("document.documentElement.dataset.theme") == chosen != theme


def test_hostile_titles_queries_and_ids_are_shown_as_they_are(chromium, served):
    with opened(chromium, served) as page:
        for text in HOSTILE:
            page.tab.fill("#q", text)
            page.tab.keyboard.press("Enter")
        page.open(served.base + "?q=saddle+harbour+meadow+lantern&top=50&panel=features")
        shown = "\n".join(page.titles("a") + page.texts(".id"))
        assert "<script>alert('title')</script>" in shown
        assert "<img src=x onerror=alert(1)>" in shown
        assert page.tab.title().startswith("saddle")
        assert page.tab.locator("main b, main img, main script").count() == 0
        assert page.wrong == []


def test_pages_of_others_can_neither_read_nor_write(chromium, served, tmp_path):
    form = "".join(f'<input name="{name}" value="{value}">' for name, value in
                   {"who": "eve", "query": "q1", "document": "d1", "grade": "4", "key": "evil"}.items())  # fmt: skip
    (tmp_path / "index.html").write_text(
        f'<form method="post" action="{served.base}judge">{form}</form><iframe src="{served.base}?q=harbour"></iframe>'
    )

    def handler(*how: Any) -> http.server.BaseHTTPRequestHandler:
        return _Quiet(*how, directory=str(tmp_path))

    with opened(chromium, served) as page, http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        elsewhere = page.tab.context.new_page()
        for host in ("localhost", "127.0.0.1"):  # another site, and another port of this one, which has the cookie
            elsewhere.goto(f"http://{host}:{other.server_address[1]}/")
            assert all("harbour" not in one.content() for one in elsewhere.frames[1:])
            script = f"fetch('{served.base}judge', {{method: 'POST', credentials: 'include', body: new URLSearchParams("
            script += "{who: 'eve', query: 'q1', document: 'd1', grade: '4', key: 'evil2'})}).then(a => a.text())"
            assert elsewhere.evaluate(f"{script}.catch(() => 'refused')") == "refused"
            with elsewhere.expect_navigation():
                elsewhere.evaluate("document.forms[0].submit()")
            assert elsewhere.locator("#fault").count() == 1
        other.shutdown()
    assert not [one for one in stored(store_of(served)) if one.rater == "eve"]


def test_a_report_links_its_queries_to_the_page(chromium, searchable, tmp_path, rankwright):
    data, report = tmp_path / "test.parquet", tmp_path / "compared.html"
    given = (str(searchable.index), str(searchable.queries), "--qrels", str(searchable.qrels), "--candidates", "20")
    assert rankwright("features", *given, "--out", str(data)).code == 0
    models = ("--model", str(searchable.model), "--model", str(searchable.tuned))
    of_texts = ("--index", str(searchable.index), "--queries", str(searchable.queries))
    done = rankwright("compare", str(data), *models, *of_texts, "--report", str(report))
    assert done.code == 0, done.stderr
    page = chromium.new_page()
    page.goto(report.as_uri())
    page.wait_for_selector("html[data-ready]")
    address = page.locator("#search-link").get_attribute("href")
    text = page.locator("#open-query").inner_text().partition(": ")[2]
    assert address == f"http://127.0.0.1:8377/?{urlencode({'q': text})}"
    assert "--page" in page.locator("#query .note code").first.inner_text()
    page.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing."""


def test_the_server_ends_though_others_keep_their_connections(chromium, searchable, tmp_path):
    page = RunningPage(searchable, tmp_path / "judged.db")
    with opened(chromium, page, "judge?who=ann") as tab, socket.create_connection(("127.0.0.1", page.port)) as stalled:
        stalled.sendall(b"POST /judge HTTP/1.1\r\nHost: local")
        document = tab.tab.locator("article").get_attribute("data-document")
        tab.tab.keyboard.press("2")
        tab.until("document.querySelector('#status').textContent.includes('Saved')")
        started = time.monotonic()
        page.stop()
        assert time.monotonic() - started < Limits().header_seconds  # or else it waits for what never arrives
    (one,) = stored(str(tmp_path / "judged.db"))
    assert (one.document, one.grade) == (document, 2.0)


def test_a_server_that_was_killed_loses_no_judgment_and_takes_those_that_wait(chromium, searchable, tmp_path):
    page = RunningPage(searchable, tmp_path / "judged.db")
    try:
        with opened(chromium, page, "judge?who=ann") as tab:
            first = tab.tab.locator("article").get_attribute("data-document")
            page.kill()
            tab.tab.keyboard.press("2")
            tab.until("document.querySelector('#status').textContent.includes('does not answer')")
            assert tab.tab.locator("article").get_attribute("data-document") == first
            page.start()
            tab.until("document.querySelector('#status').textContent.includes('started anew')", seconds=30)
            again = OpenPage(tab.tab.context, page.first_url)
            again.open(page.base + "judge?who=ann")
            tab.until("localStorage.getItem('rankwright-pending') === null", seconds=30)
            (one,) = stored(str(tmp_path / "judged.db"))
            assert (one.document, one.grade) == (first, 2.0)
    finally:
        page.stop()


def judge_through_kills(chromium, searchable, store, n_kills: int) -> tuple[dict[str, float], list[Judgment]]:
    """What a judge saw acknowledged while the server was killed again and again, and what the store holds."""
    rng = random.Random(0)
    page = RunningPage(searchable, store)
    seen: dict[str, float] = {}
    try:
        context = chromium.new_context()
        tab = OpenPage(context, page.first_url)
        tab.open(page.base + "judge?who=ann&depth=100")
        for _ in range(n_kills):
            killer = threading.Timer(rng.uniform(0.0, 0.4), page.kill)
            killer.start()
            for _ in range(3):
                article = tab.tab.locator("article.to-judge")
                if not article.count():
                    break
                key = rng.choice("01234")
                at = f"{article.get_attribute('data-query')}|{article.get_attribute('data-document')}"
                tab.tab.keyboard.press(key)
                try:
                    tab.until("localStorage.getItem('rankwright-pending') === null", seconds=0.8)
                except TimeoutError:  # the server is gone
                    break
                seen[at] = float(key)
            killer.join()
            waiting = tab.tab.evaluate("localStorage.getItem('rankwright-pending')")
            page.start()
            tab.open(page.first_url)
            tab.open(page.base + "judge?who=ann&depth=100")
            tab.until("localStorage.getItem('rankwright-pending') === null", seconds=60)
            if waiting:
                from json import loads
                from urllib.parse import parse_qs

                form = {name: values[0] for name, values in parse_qs(loads(waiting)["body"]).items()}
                seen[f"{form['query']}|{form['document']}"] = float(form["grade"])
            tab.open(page.base + "judge?who=ann&depth=100")
        context.close()
    finally:
        page.stop()
    return seen, stored(str(store))


def check_nothing_lost(seen: dict[str, float], kept: list[Judgment]) -> None:
    found = {f"{one.query}|{one.document}": one.grade for one in kept}
    assert len(found) == len(kept)  # none is there twice
    assert found == seen


@pytest.mark.slow
def test_judging_in_a_browser_through_kills(chromium, searchable, tmp_path):
    seen, kept = judge_through_kills(chromium, searchable, tmp_path / "judged.db", 20)
    assert len(seen) >= 20
    check_nothing_lost(seen, kept)

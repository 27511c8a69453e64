"""A report in a real browser: it works by keys alone, in both themes, on a phone and on a wide screen."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.report.conftest import HOSTILE
from tests.report.driver import (
    CLEAN,
    THEMES,
    WIDTHS,
    OpenReport,
    browser,
    drive_pair,
    drive_queries,
    drive_tables,
    report_of_many,
)

import rankwright as rw
from rankwright.experiments.quickstart import run_quickstart, write_quickstart, write_quickstart_report

LETOR = Path(os.environ.get("RANKWRIGHT_DATA", "../shared/data")) / "MQ2008"


def check(path: Path, *, widths=WIDTHS, themes=THEMES) -> None:
    """Drive a report of a comparison in every width and theme."""
    with browser() as running:
        for width in widths:
            for theme in themes:
                report = OpenReport(running, path, width=width, theme=theme)
                assert report.audit() == CLEAN, (width, theme)
                drive_tables(report)
                drive_queries(report)
                drive_pair(report)
                report.page.click("#theme")
                other = "light" if theme == "dark" else "dark"
                assert report.page.evaluate("document.documentElement.dataset.theme") == other
                assert report.audit() == CLEAN, (width, other)
                report.close()


def test_a_report_works_and_shows_hostile_ids_as_text(comparison, tmp_path):
    path = rw.write_report(comparison, tmp_path / "report.html")[0]
    check(path, widths=(360,), themes=("dark",))
    with browser() as running:
        report = OpenReport(running, path)
        shown = "\n".join(report.texts("table.queries .open"))
        while report.page.locator(".pager .button").nth(1).is_enabled():
            report.page.locator(".pager .button").nth(1).click()
            shown += "\n".join(report.texts("table.queries .open"))
        assert all(text in shown for text in HOSTILE)
        assert report.page.title().startswith("Comparison of")
        assert report.page.locator("main b, main i").count() == 0
        assert report.audit() == CLEAN
        report.page.click("#theme")
        report.page.emulate_media(media="print")
        assert report.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert report.audit()["faint"] == []
        assert not report.page.locator(".bar").is_visible()


@pytest.mark.slow
def test_the_quickstart_has_a_report(tmp_path):
    result = run_quickstart()
    write_quickstart(result, tmp_path)
    path = write_quickstart_report(result, tmp_path)
    check(path)
    with browser() as running:
        for width in (480, 641, 768, 1024, 1100, 1280):
            report = OpenReport(running, path, width=width)
            assert report.audit() == CLEAN, width
            report.close()


@pytest.mark.slow
@pytest.mark.skipif(not LETOR.is_dir(), reason="the LETOR data is not here")
def test_a_report_on_letor(tmp_path):
    train, valid, test = (rw.read(LETOR / "Fold1" / f"{name}.txt.gz") for name in ("train", "vali", "test"))
    rankers = {
        "lambdamart": rw.LambdaMART(n_trees=100, max_leaves=7).fit(train, valid=valid),
        "ranksvm": rw.RankSVM().fit(train),
    }
    path = rw.write_report(rw.compare(rankers, test), tmp_path / "report.html")[0]
    assert path.stat().st_size < 4_000_000
    check(path)


@pytest.mark.slow
def test_a_report_of_fifty_thousand_queries_stays_small_and_works(tmp_path):
    page, *beside = report_of_many(tmp_path / "report.html")
    assert page.stat().st_size < 4_000_000
    assert [one.name for one in beside] == ["report.queries.parquet", "report.lists.parquet"]
    with browser() as running:
        report = OpenReport(running, page)
        assert report.audit() == CLEAN
        assert "of 50,000 queries" in report.page.locator(".pager").inner_text()
        drive_queries(report)

"""A report in a real browser: it works by keys alone, in both themes, on a phone and on a wide screen."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from tests.report.conftest import HOSTILE
from tests.report.driver import CLEAN, THEMES, WIDTHS, OpenReport, browser, drive_pair, drive_queries, drive_tables

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
def test_fifty_thousand_queries_open_within_three_seconds(tmp_path):
    rng = np.random.default_rng(0)
    sizes = rng.integers(5, 30, size=50_000)
    labels = rng.choice(5, size=int(sizes.sum()), p=[0.5, 0.2, 0.15, 0.1, 0.05]).astype(np.float32)
    features = (labels[:, None] + 2 * rng.normal(size=(len(labels), 5))).astype(np.float32)
    data = rw.RankingDataset.from_arrays(features, labels, group=sizes)
    scores = {f"model {number}": features[:, number] + 0.1 * number * labels for number in range(5)}
    page, *beside = rw.write_report(rw.compare(scores, data), tmp_path / "report.html")
    assert page.stat().st_size < 4_000_000
    assert [one.name for one in beside] == ["report.queries.parquet", "report.lists.parquet"]
    with browser() as running:
        reports = [OpenReport(running, page) for _ in range(3)]  # other work on the machine may slow one of them
        assert min(report.seconds for report in reports) < 3
        report = reports[-1]
        assert report.audit() == CLEAN
        assert "of 50,000 queries" in report.page.locator(".pager").inner_text()
        drive_queries(report)

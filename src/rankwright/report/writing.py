"""Reports written to files: one page of HTML, and next to it what the page has no room for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rankwright.compression.curve import Compressed
from rankwright.container.atomic import atomic_file
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputTypeError, MissingExtraError, SettingError, require, require_type
from rankwright.explanations.ablation import Ablation
from rankwright.formats.parquet import write_parquet_columns
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.metrics.evaluation import Evaluation
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Measured, Origin, measured_ranker
from rankwright.report.page.document import Page
from rankwright.report.page.rendering import rendered
from rankwright.report.pages.compression_page import page_of_compressed
from rankwright.report.pages.explanation_page import page_of_explanation
from rankwright.report.pages.search_page import page_of_tuned
from rankwright.report.pages.systems_page import page_of_comparison, page_of_measured, page_of_ranker
from rankwright.report.specs.explanation_charts import Explained
from rankwright.report.table_files import write_columns
from rankwright.tuning.tuner import Tuned

ENDINGS = (".html", ".htm")


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise where a report could not be written to `path`; this is checked before hours of work, not after."""
    require_type(path, (str, os.PathLike), "the report", "a file, named by a text or a Path")
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise SettingError(f"a report is a page: its name must end in .html, got {os.fspath(path)!r}")
    if find_spec("jinja2") is None:
        raise MissingExtraError("a report", "jinja2", "report")
    folder = target.parent
    if target.is_dir():
        raise SettingError(f"a report is a file, and {target} is a folder")
    if not folder.is_dir():
        raise SettingError(f"the report cannot be written to {target}: there is no folder {folder}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise SettingError(f"the report cannot be written to {target}: the folder {folder} may not be written to")


def write_report(
    results: Any, path: str | os.PathLike[str], *, data: Any = None, title: str | None = None
) -> list[Path]:
    """Write a report: one page of HTML that opens anywhere and needs no network.

    Parameters
    ----------
    results : SystemComparison, Evaluation, ranker, Tuned, Compressed, or what explains
        What the report is about: what `compare`, `evaluate`, `tune`, `compress`, `Ranker.explain`,
        `feature_importance`, `partial_dependence` or `ablation` returned, or a trained ranker.
    path : path
        The file to write; its name ends in .html. What the page has no room for is written next to it.
    data : RankingDataset, optional
        Where `results` is a trained ranker, the documents with labels to measure it on.
    title : str, optional
        What the page is called; by default it names what it is about.

    Returns
    -------
    list of Path
        The files that were written, the page first.

    Examples
    --------
    >>> import rankwright as rw, tempfile
    >>> data = rw.synthetic.web_search(30, seed=0)
    >>> comparison = rw.compare({"first": data.features[:, 0], "second": data.features[:, 1]}, data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     files = rw.write_report(comparison, f"{folder}/report.html")
    >>> files[0].name
    'report.html'
    """
    check_report(path)
    page = page_of(results, data)
    return write_page(page if title is None else replace(page, title=title), path)


def write_page(page: Page, path: str | os.PathLike[str]) -> list[Path]:
    """Write the page, and next to it the tables that it has no room for; return the paths of all of them."""
    from rankwright import __version__

    target = Path(path)
    beside = _write_beside(page.beside or {}, target)
    notes = page.notes
    if beside:
        named = " and ".join(one.name for one in beside)
        notes = (*notes, f"This page is thinned to stay small. Everything is in {named}, next to it.")
    html = rendered(replace(page, notes=notes), version=__version__, made=f"{datetime.now(UTC):%d %B %Y}")
    with atomic_file(target) as file:
        file.write(html)
    return [target, *beside]


def _write_beside(tables: Mapping[str, Mapping[str, Any]], target: Path) -> list[Path]:
    """Write tables as Parquet, or separated by tabs where the library for Parquet is not installed."""
    paths = []
    for name, columns in tables.items():
        path = target.with_name(f"{target.stem}.{name}.parquet")
        try:
            write_parquet_columns(columns, path)
        except MissingExtraError:
            path = path.with_suffix(".tsv")
            write_columns(path, columns)
        paths.append(path)
    return paths


def page_of(results: Any, data: Any = None) -> Page:
    """The page of any result; `data` are the documents that a ranker is to be measured on."""
    origin = Origin()
    if isinstance(results, Ranker):
        return _page_of_ranker(results, data, origin)
    require(data is None, "data goes with a ranker: other results know what they were measured on")
    if isinstance(results, SystemComparison):
        return page_of_comparison(results, origin)
    if isinstance(results, Evaluation):
        return page_of_measured(Measured({"scores": results}), origin, title="Evaluation")
    if isinstance(results, Tuned):
        return page_of_tuned(results, origin)
    if isinstance(results, Compressed):
        return page_of_compressed(results, origin)
    if isinstance(results, Explained | Ablation):
        return page_of_explanation(results, None, None, origin)
    raise InputTypeError(
        f"a report is about a comparison, an evaluation, a trained ranker, a search, a compression or an explanation, "
        f"got {type(results).__name__}"
    )


def _page_of_ranker(ranker: Ranker, data: Any, origin: Origin) -> Page:
    if data is None:
        return page_of_ranker(ranker.name, ranker, origin)
    require_type(data, RankingDataset, "data", "a RankingDataset")
    ranker.warn_if_seen(data, stacklevel=4)
    measured = measured_ranker(ranker.name, ranker, data, threads=ranker.threads)
    return page_of_measured(measured, origin, title=f"{ranker.name}, measured")

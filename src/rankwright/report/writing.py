"""Reports written to files: one page of HTML, and next to it what the page has no room for."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rankwright.container.atomic import atomic_file
from rankwright.errors import MissingExtraError, SettingError, require_type
from rankwright.formats.parquet import write_parquet_columns
from rankwright.report.page.document import Page
from rankwright.report.page.rendering import rendered
from rankwright.report.pages.kinds import page_of
from rankwright.report.tables import write_columns

ENDINGS = (".html", ".htm")


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise where a report could not be written to `path`: asked for before hours of work, not after."""
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

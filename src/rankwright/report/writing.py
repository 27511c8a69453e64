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
from rankwright.errors import MissingExtraError, SettingError
from rankwright.formats.parquet import write_parquet_columns
from rankwright.report.page.document import Page
from rankwright.report.page.rendering import rendered
from rankwright.report.tables import write_columns

ENDINGS = (".html", ".htm")


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise where a report could not be written to `path`: asked for before hours of work, not after."""
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

"""Reports written to files: one page of HTML, and next to it what the page has no room for.

The page needs nothing else: no network, no other file. Styles, scripts and charts are inside it, what charts and
queries show as compressed JSON. A policy in its head lets no script run but those that were put in here, told by their
digests, and no request leave it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rankwright.container.atomic import atomic_file
from rankwright.container.outputs import check_output
from rankwright.errors import MissingExtraError, SettingError, require_type
from rankwright.formats.parquet import write_parquet_columns
from rankwright.report.page.document import Chart, Explorer, Page
from rankwright.report.pages.result_pages import page_of
from rankwright.report.specs.theme import ON_PAGES, with_colours
from rankwright.report.table_files import write_columns

ENDINGS = (".html", ".htm")
ASSETS = files("rankwright.report.page") / "assets"
STYLES = ("theme.css", "page.css", "tables.css", "queries.css", "narrow.css", "print.css")
SCRIPTS = ("dom.js", "state.js", "charts.js", "tables.js", "lists.js", "pairs.js", "queries.js", "page.js")
# The libraries of charts; the last one is a module, which hands its one function to the page.
LIBRARIES = ("vega.min.js", "vega-lite.min.js")
INTERPRETER = "vega-interpreter.mjs"
# It is published for packagers: here it finds what it imports, and leaves what it exports, in the global object.
IMPORTED = re.compile(r"^import (\{[^}]*\}) from 'vega-util';$", re.MULTILINE)
EXPORTED = re.compile(r"^export \{ (\w+) as expressionInterpreter \};$", re.MULTILINE)
COMPRESSION = 9


def check_report(path: str | os.PathLike[str]) -> None:
    """Raise where a report could not be written to `path`; this is checked before hours of work, not after."""
    require_type(path, (str, os.PathLike), "the report", "a file, named by a text or a Path")
    if Path(path).suffix.lower() not in ENDINGS:
        raise SettingError(f"a report is a page: its name must end in .html, got {os.fspath(path)!r}")
    if find_spec("jinja2") is None:
        raise MissingExtraError("a report", "jinja2", "report")
    check_output(path)


def write_report(
    results: Any,
    path: str | os.PathLike[str],
    *,
    data: Any = None,
    title: str | None = None,
    titles: Any = None,
    texts: Any = None,
    gate: Any = None,
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
    titles : sequence of str, optional
        A title for each document, in the row order of the data's source, to show beside its id.
    texts : mapping, optional
        The texts of queries by their ids, to show beside the ids.
    gate : Gate, optional
        Where `results` is a comparison, what its method `gate` returned, to show its outcome.

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
    page = page_of(results, data, titles, texts, gate)
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
    html = _rendered(replace(page, notes=notes), version=__version__, made=f"{datetime.now(UTC):%d %B %Y}")
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


def _rendered(page: Page, *, version: str, made: str) -> bytes:
    """The page as HTML in UTF-8; `made` says when, `version` by which release."""
    blocks = [block for section in page.sections for block in section.blocks]
    charts = [block for block in blocks if isinstance(block, Chart)]
    explorers = [block.state for block in blocks if isinstance(block, Explorer)]
    # What the page's scripts read: the charts in their order, and the queries.
    state = {
        "charts": [with_colours(block.spec, ON_PAGES) for block in charts],
        "queries": explorers[0] if explorers else None,
    }
    libraries = [_asset(f"vendor/{name}") for name in LIBRARIES] if charts or explorers else []
    modules = [_interpreter()] if charts or explorers else []
    modules.append("\n".join(map(_asset, SCRIPTS)))
    early = _asset("early.js")
    digests = [hashlib.sha256(script.encode()).digest() for script in (early, *libraries, *modules)]
    html = _template().render(
        page=page,
        version=version,
        made=made,
        early=early,
        styles="\n".join(map(_asset, STYLES)),
        libraries=libraries,
        modules=modules,
        policy=" ".join(f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests),
        state=base64.b64encode(gzip.compress(_json(state), COMPRESSION, mtime=0)).decode(),
        numbered={id(block): number for number, block in enumerate(charts)},  # as the template asks for them
    )
    return bytes(html, "utf-8", "replace")  # what UTF-8 cannot write, lone surrogates, is shown as a question mark


def _json(state: Mapping[str, Any]) -> bytes:
    text = json.dumps(_finite(state), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.encode("utf-8", "replace")


def _finite(value: Any) -> Any:
    """The value with None for numbers that JSON cannot hold, and NumPy's numbers as Python's."""
    if isinstance(value, Mapping):
        return {str(name): _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if hasattr(value, "tolist"):
        return _finite(value.tolist())
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _asset(name: str) -> str:
    text = (ASSETS / name).read_text(encoding="utf-8")
    return "\n".join(line for line in text.split("\n") if not line.startswith("//# sourceMappingURL"))


def _interpreter() -> str:
    text = IMPORTED.sub(r"const \1 = globalThis.vega;", _asset(f"vendor/{INTERPRETER}"))
    return EXPORTED.sub(r"globalThis.vegaExpressions = \1;", text)


def _template() -> Any:
    try:
        from jinja2 import Environment, FunctionLoader, StrictUndefined
    except ImportError:
        raise MissingExtraError("a report", "jinja2", "report") from None
    loader = FunctionLoader(lambda name: (ASSETS / name).read_text(encoding="utf-8"))
    environment = Environment(
        loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters["identity"] = id
    environment.tests["number_column"] = lambda name, table: name in set(table.numbers)
    return environment.get_template("page.html.j2")

"""A page as one file of HTML that needs nothing else: no network, no other file.

Styles, scripts and charts are inside it, what charts and queries show as compressed JSON. A policy in its head lets no
script run but those that were put in here, told by their digests, and no request leave it.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from rankwright.errors import MissingExtraError
from rankwright.report.page.document import Chart, Explorer, Page
from rankwright.report.specs.theme import ON_PAGES, with_colours

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


def rendered(page: Page, *, version: str, made: str) -> bytes:
    """The page as HTML in UTF-8; `made` says when, `version` by which release."""
    state = base64.b64encode(gzip.compress(_json(_state_of(page)), COMPRESSION, mtime=0)).decode()
    has_charts = any(isinstance(block, Chart | Explorer) for section in page.sections for block in section.blocks)
    libraries = [_asset(f"vendor/{name}") for name in LIBRARIES] if has_charts else []
    modules = [_interpreter()] if has_charts else []
    modules.append("\n".join(_asset(name) for name in SCRIPTS))
    early = _asset("early.js")
    policy = " ".join(f"'sha256-{_digest(script)}'" for script in (early, *libraries, *modules))
    html = _template().render(
        page=page,
        version=version,
        made=made,
        early=early,
        styles="\n".join(_asset(name) for name in STYLES),
        libraries=libraries,
        modules=modules,
        policy=policy,
        state=state,
        numbered=dict(_numbered(page)),
    )
    return bytes(html, "utf-8", "replace")  # what UTF-8 cannot write, lone surrogates, is shown as a question mark


def _state_of(page: Page) -> dict[str, Any]:
    """What the page's scripts read: the charts in their order, and the queries."""
    blocks = [block for section in page.sections for block in section.blocks]
    charts = [with_colours(block.spec, ON_PAGES) for block in blocks if isinstance(block, Chart)]
    explorers = [block.state for block in blocks if isinstance(block, Explorer)]
    return {"charts": charts, "queries": explorers[0] if explorers else None}


def _numbered(page: Page) -> Iterator[tuple[int, int]]:
    """The number of each chart, by the identity of its block, as the template asks for it."""
    blocks = [block for section in page.sections for block in section.blocks]
    for number, block in enumerate(block for block in blocks if isinstance(block, Chart)):
        yield id(block), number


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


def _digest(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


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

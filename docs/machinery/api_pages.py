"""The reference of the Python library, made from `rankwright.__all__` and its docstrings, which are numpydoc's."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from markdown_text import one_line, safe

import rankwright
from rankwright.rankers.ranker import Ranker

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)
ENTRY = re.compile(r"^(?=\S)", re.MULTILINE)
FIELDS = ("Parameters", "Attributes", "Returns", "Yields", "Raises", "Other Parameters")

# A page takes the names whose homes begin so; the last page takes all others.
GROUPS = {
    "data": ("Data and files", ("data", "formats", "features", "synthetic", "targets")),
    "rankers": ("Rankers", ("trees", "nets", "comparators", "linear", "boosters", "bagging", "rankers", "blending")),
    "measuring": ("Metrics and comparisons", ("metrics", "ranking")),
    "objectives": ("Objectives", ("objectives",)),
    "clicks": ("Clicks", ("clicks",)),
    "tuning": ("Tuning and clusters", ("tuning", "cluster")),
    "explaining": ("Explanations", ("explanations", "report")),
    "others": ("Models, files and the rest", ()),
}


@cache
def pages() -> dict[str, str]:
    """The Markdown of each page by its file name; the first is the list of all."""
    page_of = {name: _page_of(_home(name)) for name in rankwright.__all__ if not name.startswith("_")}
    found = {}
    for page, (title, _) in GROUPS.items():
        names = [name for name, place in page_of.items() if place == page]
        if names:
            shared = list(_thing("Ranker", Ranker, 2)) if page == "rankers" else []
            found[f"{page}.md"] = f"# {title}\n\n" + "\n".join(
                [*shared, *(part for name in names for part in _told(name))]
            )
    return {"index.md": _index(page_of)} | found


def _index(page_of: dict[str, str]) -> str:
    rows = [
        f"| [`{name}`]({page_of[name]}.md#{_anchor(name)}) | {one_line(_summary(getattr(rankwright, name)))} |"
        for name in sorted(page_of, key=str.lower)
    ]
    head = "# Python\n\nWhat `import rankwright as rw` offers, made from its docstrings."
    return "\n".join([head, "", "| name | what it is |", "|---|---|", *rows, ""])


def _home(name: str) -> str:
    found = getattr(rankwright, name)
    module = found.__name__ if inspect.ismodule(found) else getattr(found, "__module__", type(found).__module__)
    return str(module).removeprefix("rankwright.").split(".")[0]


def _page_of(home: str) -> str:
    return next((page for page, (_, homes) in GROUPS.items() if home in homes), "others")


def _anchor(name: str) -> str:
    return "rw." + name


def _told(name: str, level: int = 2) -> Iterator[str]:
    """The name and all that belongs to it, as Markdown."""
    found = getattr(rankwright, name)
    if inspect.ismodule(found):
        yield _heading(f"rw.{name}", level)
        yield from _body(found)
        for inner in _names_of(found):
            yield from _thing(f"rw.{name}.{inner}", getattr(found, inner), level + 1)
    else:
        yield from _thing(f"rw.{name}", found, level)


def _names_of(module: Any) -> list[str]:
    own = [n for n, value in vars(module).items() if _is_own(value, module.__name__) and not n.startswith("_")]
    return list(getattr(module, "__all__", own))


def _is_own(value: Any, module: str) -> bool:
    return (inspect.isfunction(value) or inspect.isclass(value)) and value.__module__ == module


def _thing(name: str, found: Any, level: int) -> Iterator[str]:
    yield _heading(name, level)
    if inspect.isclass(found) or inspect.isroutine(found):
        yield _signature(name, found)
        yield from _body(found)
    elif not isinstance(found, str | int | float | dict | list | tuple | frozenset | set):
        yield from _body(found)
    else:
        shown = sorted(map(str, found)) if isinstance(found, dict | set | frozenset) else found
        yield f"`{shown}`\n"
    if inspect.isclass(found):
        for member, value in _members(found):
            yield _heading(f"{name}.{member}", level + 1)
            if isinstance(value, property):
                yield from _body(value)
            else:
                yield _signature(f"{name.split('.')[-1].lower()}.{member}", value)
                yield from _body(value)


def _members(found: type) -> Iterator[tuple[str, Any]]:
    """Public methods and properties that the class itself defines; of `Ranker` all there are, which are told once."""
    homes = [base for base in found.__mro__ if base.__module__.startswith("rankwright")] if found is Ranker else [found]
    for member, value in sorted(
        {name: value for base in reversed(homes) for name, value in vars(base).items()}.items()
    ):
        value = value.__func__ if isinstance(value, staticmethod | classmethod) else value
        if not member.startswith("_") and (inspect.isfunction(value) or isinstance(value, property)):
            yield member, value


def _heading(name: str, level: int) -> str:
    return f"{'#' * level} `{name}` {{ #{name} }}\n"


def _signature(name: str, found: Callable[..., Any]) -> str:
    try:
        parameters = list(inspect.signature(found).parameters.values())
    except (TypeError, ValueError):
        return ""
    shown = [one.replace(annotation=inspect.Parameter.empty) for one in parameters if one.name not in ("self", "cls")]
    shown = [one for one in shown if not one.name.startswith("_")]
    try:
        text = str(inspect.Signature(shown))
    except ValueError:
        text = "(…)"
    text = re.sub(r"<(?:function|class) '?([\w.]+)'?(?: at 0x[0-9a-f]+)?>", r"\1", text)  # a default that is a function
    text = re.sub(r"<(\w+\.\w+): [^>]+>", r"\1", text)  # one of an enumeration
    text = re.sub(r"<[^<>]* at 0x[0-9a-f]+>", "…", text)
    return f"```python\n{_folded(name + text)}\n```\n"


def _folded(call: str, width: int = 88) -> str:
    """A call on several lines where it is long."""
    if len(call) <= width:
        return call
    head, _, rest = call.partition("(")
    lines, line = [f"{head}("], "   "
    for word in rest.removesuffix(")").split(", "):
        if len(line) + len(word) + 2 > width:
            lines.append(line)
            line = "   "
        line += f" {word},"
    return "\n".join([*lines, line, ")"])


def _summary(found: Any) -> str:
    return (inspect.getdoc(found) or "").split("\n\n")[0]


def _body(found: Any) -> Iterator[str]:
    """A docstring as Markdown: text as it is, fields as lists, examples as code."""
    pieces = SECTION.split(inspect.getdoc(found) or "")
    yield _text(pieces[0])
    for title, text in zip(pieces[1::2], pieces[2::2], strict=True):
        yield f"**{title}**\n"
        yield "\n".join(_fields(text)) + "\n" if title in FIELDS else _text(text)


def _fields(text: str) -> Iterator[str]:
    for entry in ENTRY.split(text):
        if entry.strip():
            head, _, rest = entry.partition("\n")
            name, _, kind = head.partition(" : ")
            told = " ".join(rest.split())
            what = f" ({safe(kind.strip())})" if kind else ""
            yield f"- `{name.strip()}`{what}: {safe(told)}" if told else f"- {safe(head)}"


def _text(text: str) -> str:
    """Paragraphs, with examples and indented blocks as code."""
    parts = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        if paragraph.lstrip().startswith(">>> "):
            parts.append(f"```pycon\n{inspect.cleandoc(paragraph)}\n```\n")
        elif paragraph.startswith("    "):
            parts.append(f"```text\n{inspect.cleandoc(paragraph)}\n```\n")
        else:
            parts.append(safe(paragraph) + "\n")
    return "\n".join(parts)

"""The pages as they are written: links, the navigation, names of texts, pictures. The site need not be built."""

from __future__ import annotations

import re
import runpy
from importlib import import_module
from pathlib import Path

import pytest
from tests.compatibility.public_commands import commands

import rankwright

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted([*DOCS.glob("*.md"), *ROOT.glob("*.md")])
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```.*?```|`[^`\n]*`", re.DOTALL)
MADE_BY_THE_SITE = re.compile(r"(commands|api)/.*|architecture\.md|contributing\.md|changelog\.md")


def anchors_of(page: Path) -> set[str]:
    """What links can point at: headings as GitHub and MkDocs name them, and names given in braces."""
    text = page.read_text(encoding="utf-8")
    given = set(re.findall(r"\{ #([\w.-]+) \}", text))
    headings = re.findall(r"^#+ (.*?)(?: \{ #.*)?$", text, re.MULTILINE)
    return given | {slug(heading) for heading in headings}


def slug(heading: str) -> str:
    plain = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower())
    return re.sub(r"[\s-]+", "-", plain.strip())


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page):
    for target in LINK.findall(CODE.sub("", page.read_text(encoding="utf-8"))):
        if re.match(r"https?:", target):
            continue
        path, _, anchor = target.partition("#")
        if page.parent == DOCS and MADE_BY_THE_SITE.fullmatch(path):
            continue
        place = page.parent / path if path else page
        assert place.exists(), target
        assert not anchor or anchor in anchors_of(place), target


def test_every_page_has_a_place_in_the_navigation():
    listed = set(re.findall(r": ([\w/]+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    assert {page.name for page in DOCS.glob("*.md")} - listed == set()


def test_texts_are_named_by_their_authors():
    """`paper 1` says nothing to a reader; docs/references.md has the names."""
    files = [*DOCS.glob("*.md"), *(ROOT / "src").rglob("*.py"), *(ROOT / "native").rglob("*.hpp")]
    unnamed = re.compile(r"\b[Pp]aper [1-5]\b|\bslides 3\b")
    assert [str(path) for path in files if unnamed.search(path.read_text(encoding="utf-8"))] == []


def test_pictures_are_those_that_the_script_draws():
    pictures = runpy.run_path(str(DOCS / "machinery" / "pictures.py"))["PICTURES"]
    assert len(pictures) > 5
    for name, draw in pictures.items():
        assert (DOCS / "images" / name).read_text(encoding="utf-8") == draw(), f"{name}: run make docs"


@pytest.fixture
def machinery(monkeypatch):
    """The modules that make pages from the code."""
    monkeypatch.syspath_prepend(str(DOCS / "machinery"))
    return import_module("api_pages"), import_module("command_pages")


def test_every_public_name_is_in_the_reference(machinery):
    pages = machinery[0].pages()
    index = pages.pop("index.md")
    told = "\n".join(pages.values())
    for name in set(rankwright.__all__) - {"__version__"}:
        assert f"[`{name}`]" in index
        assert f"{{ #rw.{name} }}" in told
    assert re.findall(r"0x[0-9a-f]{6,}", told) == []  # no address in memory: pages are the same each time


def test_every_command_and_option_has_its_line(machinery):
    pages = machinery[1].pages()
    for name, command in commands().items():
        if name:
            page = machinery[1].file_of(name)
            assert f"[`{name}`]({page})" in pages["index.md"]
            flags = [param.opts[0] for param in command.params if not param.hidden and param.opts[0].startswith("--")]
            assert [flag for flag in flags if f"`{flag}" not in pages[page]] == []

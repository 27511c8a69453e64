"""What the site adds to the pages of docs/: pages made from the code, files of the root, and equations as MathML."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402
import command_pages  # noqa: E402

FROM_ROOT = {"architecture.md": "ARCHITECTURE.md", "contributing.md": "CONTRIBUTING.md", "changelog.md": "CHANGELOG.md"}


def on_config(config: Any) -> Any:
    """Put the generated pages into the navigation, and have fences of the language math become equations."""
    config.nav = list(_with_generated(config.nav))
    fences = [{"name": "math", "class": "equation", "format": _equation}]
    config.mdx_configs["pymdownx.superfences"] = {"custom_fences": fences}
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add what is made from the code, and the pages that stand in the root of the project."""
    pages = {f"commands/{name}": text for name, text in command_pages.pages().items()}
    pages |= {f"api/{name}": text for name, text in api_pages.pages().items()}
    pages |= {name: _moved((ROOT / home).read_text(encoding="utf-8")) for name, home in FROM_ROOT.items()}
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


# Inline code; what stands in blocks has lines of its own.
INLINE_CODE = re.compile(r"<code>[^<]*</code>")
OPTION = re.compile(r"(?<![\w-])(--?[a-z][\w-]*)")


def on_page_content(html: str, **_: Any) -> str:
    """Keep the options of commands whole: browsers would break a line after a hyphen of `--quick`."""
    return INLINE_CODE.sub(lambda code: OPTION.sub(r'<span class="option">\1</span>', code[0]), html)


def _with_generated(nav: list[Any]) -> Iterator[Any]:
    """The navigation with generated pages, and without pages that are not there.

    A page whose name is misspelt there is still told: as one that is in no place of the navigation.
    """
    for entry in nav:
        ((title, place),) = entry.items()
        if place == "commands/*":
            yield {title: [f"commands/{name}" for name in command_pages.pages()]}
        elif place == "api/*":
            yield {title: [f"api/{name}" for name in api_pages.pages()]}
        elif isinstance(place, list):
            yield {title: list(_with_generated(place))}
        elif place in FROM_ROOT or (ROOT / "docs" / place).exists():
            yield {title: place}


def _moved(text: str) -> str:
    """The page with links as they are seen from docs/."""
    for name, home in FROM_ROOT.items():
        text = text.replace(f"]({home}", f"]({name}")
    return re.sub(r"\]\(docs/", "](", text)


# What is made of \\bar: browsers lose the bar above the letter, and keep the letter with a bar.
BAR = re.compile(r'<mover><mrow><mi>(.)</mi></mrow><mo stretchy="true">&#x000AF;</mo></mover>')


def _equation(source: str, language: str, class_name: str, options: Any, md: Any, **_: Any) -> str:  # noqa: ARG001
    """An equation of LaTeX as MathML, which browsers draw by themselves; a blank line begins another."""
    from latex2mathml.converter import convert

    lines = [convert(line, display="block") for line in re.split(r"\n\s*\n", source.strip())]
    lines = [BAR.sub(r"<mi>\1&#x0304;</mi>", line) for line in lines]
    return f'<div class="{class_name}" role="math" aria-label="{escape(source.strip())}">{"".join(lines)}</div>'

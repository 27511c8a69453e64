"""A page for each command, made from the command itself: what `--help` knows, in full width and with links."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import typer
from markdown_text import one_line
from typer.main import get_command

from rankwright.cli.app import COMMANDS, app

DOCS = Path(__file__).parents[1]
# Where a reader of a command's page may want to go on.
GUIDES = {
    "quickstart": ("tutorial",),
    "inspect": ("data", "models", "lambdarank"),
    "convert": ("data", "svmlight"),
    "clicks": ("clicks",),
    "judgments": ("judgments",),
    "judgments combine": ("judgments",),
    "judgments next": ("judgments",),
    "train": ("which_ranker", "lambdamart", "nets", "scale"),
    "tune": ("tuning",),
    "cv": ("tuning",),
    "benchmark": ("comparing", "which_ranker"),
    "bag": ("blmart", "scale"),
    "score": ("models",),
    "evaluate": ("metrics", "conventions", "judgments"),
    "compare": ("comparing", "judgments"),
    "fuse": ("comparing",),
    "explain": ("explaining",),
    "compress": ("compression",),
    "export": ("export",),
    "reproduce": ("reproduce", "results", "references"),
    "list": ("settings", "objectives", "metrics"),
}


@cache
def pages() -> dict[str, str]:
    """The Markdown of each page by its file name; the first is the list of all."""
    group: Any = get_command(app)
    found = {file_of(name): _page(name, group.commands[name]) for name in COMMANDS}
    return {"index.md": _index(group)} | found


def _index(group: Any) -> str:
    rows = [f"| [`{name}`]({file_of(name)}) | {_first_sentence(group.commands[name])} |" for name in COMMANDS]
    return "\n".join(
        [
            "# Commands",
            "",
            "Every command takes `--json` (one JSON document on stdout; messages go to stderr), `-v` for more output",
            "and `-q` for none. It exits with 0 on success; on wrong usage or bad input it exits with 2, after one",
            "line that says where, what was found and what was expected. Output files are complete or absent. These",
            "pages are generated from the commands themselves; `rankwright COMMAND --help` says the same.",
            "",
            "| command | what it does |",
            "|---|---|",
            *rows,
            "",
        ]
    )


def file_of(name: str) -> str:
    """The file of a command's page; a command may have two words, and index.md is the list of all."""
    return "index-command.md" if name == "index" else f"{name.replace(' ', '-')}.md"


def _first_sentence(command: Any) -> str:
    return one_line(command.help.split("\n\n")[0])


def _page(name: str, command: Any) -> str:
    params = command.get_params(typer.Context(command))
    arguments = [param for param in params if param.param_type_name == "argument"]
    options = [param for param in params if param.param_type_name != "argument" and not param.hidden]
    usage = " ".join([f"rankwright {name}", *(_argument_name(one) for one in arguments), "[OPTIONS]"])
    parts = [f"# rankwright {name}", "", "\n\n".join(one_line(one) for one in command.help.split("\n\n")), ""]
    parts += ["```text", usage, "```", ""]
    if command.epilog:
        parts += ["## Examples", "", "```text", *_examples(command.epilog), "```", ""]
    if arguments:
        parts += ["## Arguments", "", "| argument | what it is |", "|---|---|"]
        parts += [f"| `{_argument_name(one)}` | {one_line(one.help or '')} |" for one in arguments] + [""]
    parts += ["## Options", "", "| option | what it does |", "|---|---|"]
    parts += [f"| {_flags(one)} | {one_line(one.help or '')}{_default(one)} |" for one in options] + [""]
    parts += ["See also: " + " · ".join(f"[{_title(page)}](../{page}.md)" for page in GUIDES.get(name, ())), ""]
    return "\n".join(parts)


def _argument_name(param: Any) -> str:
    name = param.metavar or param.name.upper()
    name = f"{name.rstrip('.…')}…" if param.nargs == -1 else name
    return name if param.required or name.startswith("[") else f"[{name}]"


def _flags(param: Any) -> str:
    value = "" if getattr(param, "is_flag", False) else f" {param.metavar or _word(param)}"
    return ", ".join(f"`{flag}{value}`" for flag in [*param.opts, *param.secondary_opts])


def _word(param: Any) -> str:
    return str(param.display_type_rich(None) or "TEXT")


def _default(param: Any) -> str:
    default = param.default() if callable(param.default) else param.default
    if default in (None, False, (), [], "") or getattr(param, "is_flag", False):
        return ""
    return f" Default: `{default}`."


def _examples(epilog: str) -> list[str]:
    """The commands of a help's last lines, each on a line of its own."""
    text = re.sub(r"Examples?:\s*", "\n", epilog.strip())
    return [line.strip() for line in re.split(r"\n+|(?<=\S)\s+(?=rankwright )", text) if line.strip()]


def _title(page: str) -> str:
    """A guide's own title."""
    return (DOCS / f"{page}.md").read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")

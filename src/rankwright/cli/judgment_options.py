"""Options that the commands about judgments share, and judgments read as they say."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.cli.options import opt, separated
from rankwright.cli.output import tell
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.judgments.judgment_table import Judgments

READING = "Reading judgments"
FORMAT = opt(
    "csv, jsonl, parquet, quepid, quepid-json, qrels or store. Default: what a file looks like.", "FORMAT", READING
)
SCALE = opt("The lowest and the highest grade; others are left out and counted.", "LOW,HIGH", READING)
MODELS = opt("The raters that are language models, separated by commas.", "NAMES", READING)
COLUMN = opt("A column of an unusual name, as in grade=median; may be repeated.", "PART=NAME", READING)
CLICK_MODEL = opt(
    "A click model, as `rankwright clicks --model pbm --save F` writes it, as one more source; may be repeated.",
    "F",
    READING,
)


def read_given(
    files: list[str], reading: dict[str, Any], click_models: list[str] | None = None, *, tells: bool = True
) -> Judgments:
    """The judgments of files, which may be NAME=FILE where they do not say who judged, and of click models.

    What could not be used is told, unless a table will do so.
    """
    from rankwright.judgments.click_judgments import joined_judgments, judgments_of_clicks
    from rankwright.judgments.files.judgment_files import read_judgments

    tables = [read_judgments(named_files(files), **reading)] if files else []
    for path in click_models or []:
        from rankwright.clicks.models.named_models import load_click_model

        tables.append(judgments_of_clicks(load_click_model(path)))
    require(bool(tables), "there is nothing to read: give files of judgments, a store or a --click-model")
    table = joined_judgments(*tables)
    for problem, count in table.problems.items() if tells else ():
        tell(f"{problem}: {count:,}, left out (first at {table.first_problems[problem]})")
    return table


def named_files(texts: list[str]) -> dict[str, str] | list[str]:
    """Files by the names of their raters, or without names where none has one."""
    named: dict[str, str] = {}
    for text in texts:
        name, equals, path = text.partition("=")
        if not equals or Path(text).exists():
            name, path = Path(text).name.partition(".")[0], text
        require(bool(name and path), f"judgments are FILE or RATER=FILE, got {text!r}")
        while name in named:  # two files of the same name in different folders: columns tell the raters, as a rule
            name += "'"
        named[name] = path
    return named


def how_to_read(
    format: str | None, scale: str | None, models: str | None, column: list[str] | None, threads: int | None = None
) -> dict[str, Any]:
    """The options of `read_judgments` that the command line gives."""
    columns = {}
    for text in column or []:
        part, equals, name = text.partition("=")
        require(bool(equals and part and name), f"--column is PART=NAME, as in grade=median, got {text!r}")
        columns[part] = name
    return {
        "format": format,
        "scale": scale_given(scale),
        "models": separated(models or ""),
        "columns": columns,
        "threads": threads,
    }


def scale_given(text: str | None) -> tuple[float, float] | None:
    """The lowest and the highest grade in the text of `--scale`."""
    if text is None:
        return None
    try:
        low, high = map(float, text.split(","))
    except ValueError:
        raise SettingError(f"--scale takes the lowest and the highest grade, such as 0,3, got {text!r}") from None
    return low, high

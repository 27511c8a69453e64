"""A page as a value: a verdict, and sections of blocks. It knows nothing of HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from rankwright.report.specs.theme import Spec
from rankwright.tables.text import ShownTable


class Sureness(StrEnum):
    """How sure a verdict is; the page shows it in a word and a colour."""

    SURE = "sure"
    CHANCE = "may be chance"
    CONFLICT = "metrics disagree"
    MEASURED = "measured"


@dataclass(frozen=True, slots=True)
class KeyFigure:
    """A number that is read at a glance, and what it is."""

    value: str
    about: str


@dataclass(frozen=True, slots=True)
class PageVerdict:
    """What the page says at a glance: a few words, a sentence, how sure it is, and some figures."""

    headline: str
    sentence: str
    sureness: Sureness = Sureness.MEASURED
    figures: tuple[KeyFigure, ...] = ()


@dataclass(frozen=True, slots=True)
class PageTable:
    """A table; readers can sort it, and search in it where it is long."""

    kind: ClassVar[str] = "table"
    table: ShownTable


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart, with the line below it."""

    kind: ClassVar[str] = "chart"
    spec: Spec
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """Names with values."""

    kind: ClassVar[str] = "facts"
    rows: Sequence[tuple[str, str]]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Remarks:
    """Sentences one below the other; `warns` where they point to something suspicious."""

    kind: ClassVar[str] = "remarks"
    lines: Sequence[str]
    warns: bool = False


@dataclass(frozen=True, slots=True)
class Commands:
    """Lines to copy, each with what it is for."""

    kind: ClassVar[str] = "commands"
    rows: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Explorer:
    """The queries, to be searched and opened; `state` is what the page's script reads."""

    kind: ClassVar[str] = "explorer"
    state: Mapping[str, Any]
    notes: Sequence[str] = ()


Block: TypeAlias = PageTable | Chart | Facts | Remarks | Commands | Explorer


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page with a heading; `key` is its address within the page."""

    key: str
    title: str
    lead: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Page:
    """A whole page; `beside` has the tables, by name, that are written next to it because it has no room for them."""

    title: str
    verdict: PageVerdict
    sections: tuple[Section, ...]
    notes: tuple[str, ...] = ()
    beside: Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls, title: str, verdict: PageVerdict, *sections: Section | None, beside: Mapping[str, Any] | None = None
    ) -> Page:
        """The page of these sections, without those that are None."""
        return cls(title, verdict, tuple(one for one in sections if one is not None), beside=beside)

"""What the page shows, as a value that an address says and restores. No address has a token in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from rankwright.web.messages import WebError

MOST_OPTIONS = 1000  # of an address
LONGEST_QUERY = 2000
SHOWN = (10, 20, 50)
PANELS = ("", "why", "features", "whatif")
NO_SECOND = "-"  # what an address says where one ranker is shown alone
WHERE, FEATURE, SETTING = "w.", "f.", "s."  # what the names of filters, features and settings begin with


def options_of(text: str) -> dict[str, str]:
    """What stands behind an address's question mark, or in a form; of what is there twice, the last counts."""
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_OPTIONS))
    except ValueError:
        raise WebError(400, f"an address may have {MOST_OPTIONS} options at most") from None


@dataclass(frozen=True, slots=True)
class PageState:
    """What somebody looks at."""

    query: str = ""
    first: str = ""  # the ranker on the left
    second: str = ""  # the one on the right; empty where there is none
    top: int = SHOWN[0]
    where: Mapping[str, str] = field(default_factory=dict)  # filters by field, as they were written
    panel: str = ""
    ranker: str = ""  # whose list is explained or changed
    above: str = ""  # the documents that are compared
    below: str = ""
    document: str = ""  # whose features are changed
    changes: Mapping[int, str] = field(default_factory=dict)  # by the feature's number, from 1
    settings: Mapping[str, str] = field(default_factory=dict)  # of BM25F

    @classmethod
    def of(cls, options: Mapping[str, str], rankers: tuple[str, ...]) -> PageState:
        """The state that an address says; what it does not know is left out."""
        first = options.get("a", "")
        first = first if first in rankers else rankers[0]
        second = options.get("b", "")
        if second not in rankers:
            others = [name for name in rankers if name != first]
            second = "" if second == NO_SECOND or not others else others[0]
        top, panel = options.get("top", ""), options.get("panel", "")
        ranker = options.get("r", "") if panel else first
        return cls(
            query=options.get("q", "")[:LONGEST_QUERY].strip(),
            first=first,
            second=second,
            top=int(top) if top in map(str, SHOWN) else SHOWN[0],
            where={name: text.strip() for name, text in _with(options, WHERE) if text.strip()},
            panel=panel if panel in PANELS else "",
            ranker=ranker if ranker and ranker in (first, second) else first,
            above=options.get("d1", ""),
            below=options.get("d2", ""),
            document=options.get("d", ""),
            changes={int(name): text for name, text in _with(options, FEATURE) if name.isdigit() and text},
            settings={name: text for name, text in _with(options, SETTING) if text},
        )

    def but(self, **changes: Any) -> PageState:
        """The state with some parts changed."""
        return replace(self, **changes)

    def address(self, path: str = "/") -> str:
        """The address that restores the state."""
        said = urlencode([(name, value) for name, value in self._options() if value != ""])
        return f"{path}?{said}" if said else path

    def _options(self) -> list[tuple[str, str]]:
        return [
            ("q", self.query),
            ("a", self.first),
            ("b", self.second or NO_SECOND),
            ("top", "" if self.top == SHOWN[0] else str(self.top)),
            *((WHERE + name, text) for name, text in self.where.items()),
            ("panel", self.panel),
            ("r", self.ranker if self.panel and self.ranker != self.first else ""),
            ("d1", self.above),
            ("d2", self.below),
            ("d", self.document),
            *((f"{FEATURE}{number}", text) for number, text in self.changes.items()),
            *((SETTING + name, text) for name, text in self.settings.items()),
        ]


def _with(options: Mapping[str, str], prefix: str) -> list[tuple[str, str]]:
    return [(name.removeprefix(prefix), text) for name, text in options.items() if name.startswith(prefix)]

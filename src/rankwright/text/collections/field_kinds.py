"""What the fields of documents hold: said by the caller, told by usual names, or found in the first documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from email.utils import parsedate_to_datetime
from math import isfinite, nan
from typing import Any

from rankwright.errors import FileFormatError, InputError, Message, Parameter, UnknownNameError, folded_name
from rankwright.formats.lines import LONGEST_QUOTE

ID, TEXT, NUMBER, DATE, URL, LINKS, SKIP = "id", "text", "number", "date", "url", "links", "skip"
KINDS = (TEXT, NUMBER, DATE, URL, LINKS)
SAYABLE = (ID, *KINDS, SKIP)

# What fields are usually called, with upper case and the signs between words left out; the first found is taken.
ID_NAMES = ("id", "docid", "docno", "documentid", "document", "doc", "pid", "uid", "key", "url", "uri")
NAMES_OF_KIND = {
    URL: ("url", "uri", "href", "link", "permalink"),
    LINKS: ("links", "outlinks", "linksto", "citations", "cites", "references", "targets"),
    DATE: ("date", "published", "publishedat", "pubdate", "created", "createdat", "modified", "updated", "updatedat",
           "timestamp", "time", "datetime"),
    TEXT: ("title", "body", "text", "content", "contents", "abstract", "headline", "name", "description", "keywords",
           "anchors", "anchor", "summary", "snippet", "author", "authors", "source", "brand"),
}  # fmt: skip
KIND_OF_NAME = {name: kind for kind, names in NAMES_OF_KIND.items() for name in names}
WEB_ADDRESS = re.compile(r"https?://\S+", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}(-\d{2}([T ].*)?)?")
YEAR = re.compile(r"\d{4}")
LATEST_YEAR = 3000  # a smaller number in a field of dates is a year, not seconds since 1970
MILLISECONDS = 1e11  # a larger number in a field of dates counts milliseconds
LATEST_SECOND = 1e13
FEW = 20  # names that a message lists
LONGEST_ID = 512  # characters that a field may have which is taken for the id though its name does not say so


@dataclass(frozen=True, slots=True)
class Field:
    """A field of documents; `kind` is "text", "number", "date", "url" or "links"."""

    name: str
    kind: str

    @property
    def is_text(self) -> bool:
        """Whether the field's words are indexed: those of texts and of URLs are."""
        return self.kind in (TEXT, URL)


@dataclass(frozen=True, slots=True)
class FieldLayout:
    """Which field has the ids, and what the others hold; where ids are URLs, `url_of_id` names a field made of them."""

    id: str
    fields: tuple[Field, ...]
    names: frozenset[str]  # of all fields that the first documents have
    url_of_id: str | None = None

    @property
    def of_records(self) -> tuple[Field, ...]:
        """The fields that are read from documents."""
        return tuple(field for field in self.fields if field.name != self.url_of_id)


def layout_of(file: str, sample: Sequence[Mapping[str, Any]], said: Mapping[str, str]) -> FieldLayout:
    """The fields of documents of which these are the first; `said` gives the kinds of some."""
    names = list(dict.fromkeys(name for record in sample for name in record))
    if not names:
        raise FileFormatError(file, "has no documents")
    _check_said(file, names, said)
    values = {name: [record[name] for record in sample if not is_blank(record.get(name))] for name in names}
    id_name = _id_among(file, names, values, said)
    others = [name for name in names if name != id_name and said.get(name) != SKIP]
    kinds = {name: said.get(name) or kind_of(name, values[name]) for name in others}
    fields = tuple(Field(name, kind) for name, kind in kinds.items() if kind is not None)
    if URL not in kinds.values() and URL not in names and _all_match(WEB_ADDRESS, values[id_name]):
        return FieldLayout(id_name, (*fields, Field(URL, URL)), frozenset(names), URL)
    return FieldLayout(id_name, fields, frozenset(names))


def _check_said(file: str, names: Sequence[str], said: Mapping[str, str]) -> None:
    for name, kind in said.items():
        if kind not in SAYABLE:
            raise UnknownNameError(f"kind of the field {name!r}", str(kind), SAYABLE)
        if name not in names:
            raise FileFormatError(file, f"the first documents have no field {name!r}; they have {listed_names(names)}")
    if list(said.values()).count(ID) > 1:
        raise InputError(
            "only one field can hold the ids of documents: ", Parameter("field", python="fields"), " names several"
        )


def _id_among(file: str, names: Sequence[str], values: Mapping[str, list[Any]], said: Mapping[str, str]) -> str:
    open_names = [name for name in names if name not in said]
    by_name = {folded_name(name): name for name in reversed(open_names)}
    usual = [by_name[name] for name in ID_NAMES if name in by_name]
    told = [name for name, kind in said.items() if kind == ID]
    most = max(map(len, values.values()), default=0)
    by_content = [name for name in open_names if folded_name(name) not in KIND_OF_NAME]
    found = told or usual[:1] or [name for name in by_content if len(values[name]) == most and _may_be_id(values[name])]
    if len(found) == 1:
        return found[0]
    problem = f"no field is known to hold the ids of documents; there are {listed_names(names)}. Say which with "
    how = Parameter("field", "NAME=id", python=f"fields={ {'NAME': ID} }")
    raise FileFormatError(file, Message(problem, how))


def _may_be_id(values: Sequence[Any]) -> bool:
    texts = [str(value) for value in values if isinstance(value, str | int)]
    short = all(len(text) <= LONGEST_ID and len(text.split()) == 1 for text in texts)
    return len(texts) == len(values) > 0 and short and len(set(texts)) == len(texts)


def listed_names(names: Iterable[str]) -> str:
    """The names of fields, as messages tell them."""
    several = [repr(name[:LONGEST_QUOTE]) for name in names]
    return (", ".join(several[:FEW]) or "none") + (" and more" if len(several) > FEW else "")


def kind_of(name: str, values: Sequence[Any]) -> str | None:
    """The kind of a field by its name and its values; None where it holds nothing that can be read."""
    readable = [value for value in values if not isinstance(value, dict)]
    if values and not readable:
        return None
    usual = KIND_OF_NAME.get(folded_name(name))
    if usual == LINKS:
        return LINKS if not any(map(_is_sentence, values)) else TEXT
    if usual == DATE and values and all(seconds_of(value) is not None for value in values):
        return DATE
    if usual in (TEXT, URL):
        return usual
    if values and all(isinstance(value, str) for value in values):
        return _kind_of_texts(values)
    return NUMBER if values and all(number_of(value) is not None for value in values) else TEXT


def _kind_of_texts(values: Sequence[str]) -> str:
    if all(number_of(value) is not None for value in values):
        return NUMBER
    if _all_match(WEB_ADDRESS, values):
        return URL
    return DATE if _all_match(DAY, values) and all(seconds_of(value) is not None for value in values) else TEXT


def _is_sentence(value: Any) -> bool:
    """Whether a field of links holds words in place of ids."""
    return any(isinstance(one, dict | list) for one in value) if isinstance(value, list) else isinstance(value, dict)


def _all_match(pattern: re.Pattern[str], values: Sequence[Any]) -> bool:
    return bool(values) and all(isinstance(value, str) and pattern.fullmatch(value.strip()) for value in values)


def is_blank(value: Any) -> bool:
    """Whether a value stands for nothing."""
    return value is None or value == "" or (isinstance(value, float) and value != value)


def number_of(value: Any) -> float | None:
    """The finite number that a value holds, None where it holds none."""
    if not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if isfinite(number) and "_" not in str(value) else None


def seconds_of(value: Any) -> float | None:
    """The date that a value holds, as seconds since 1970 in UTC; None where it holds none.

    Dates are in ISO's or in mail's form (2024-05-01, 2024-05-01T12:00:00+02:00, Wed, 01 May 2024 12:00:00 GMT), years,
    or numbers that count seconds or milliseconds since 1970. A date without a zone is in UTC.
    """
    if isinstance(value, date):
        return _seconds_of_text(value.isoformat())
    number = number_of(value)
    if number is not None:
        if number == int(number) and 1000 <= number < LATEST_YEAR:
            return datetime(int(number), 1, 1, tzinfo=UTC).timestamp()
        seconds = number / 1000 if abs(number) > MILLISECONDS else number
        return seconds if abs(seconds) < LATEST_SECOND else None
    return _seconds_of_text(value.strip()) if isinstance(value, str) else None


def _seconds_of_text(text: str) -> float | None:
    text = f"{text}-01" if len(text) == len("2024-05") else text
    for parse in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            moment = parse(text)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, TypeError, OverflowError, IndexError):
            continue
    return None


def missing_number(value: float | None) -> float:
    """The number, NaN for none."""
    return nan if value is None else value

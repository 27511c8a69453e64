"""Collections of documents, read batch by batch from files of any format."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.clicks.logs.log_blocks import Codes
from rankwright.errors import FileFormatError
from rankwright.formats.storage.streams import Paths
from rankwright.text.collections.faults import CollectionFault, CollectionProblems
from rankwright.text.collections.field_kinds import (
    DATE,
    ID_NAMES,
    KIND_OF_NAME,
    LINKS,
    NUMBER,
    Field,
    FieldLayout,
    is_blank,
    layout_of,
    missing_number,
    number_of,
    seconds_of,
)
from rankwright.text.collections.record_files import (
    FOLDER,
    Record,
    RecordFiles,
    RecordKind,
    RecordsGiven,
    numbered_columns,
    records_of,
)

DOCUMENTS_AT_A_TIME = 1000
CHARACTERS_AT_A_TIME = 4 << 20  # fewer documents make a batch where they are long
SAMPLED_DOCUMENTS = 1000  # in which fields and their kinds are looked for
SAMPLED_CHARACTERS = 4 << 20
DOCUMENTS = RecordKind(
    what="documents",
    formats=("jsonl", "parquet", "csv", "tsv", "trec", FOLDER),
    usual=frozenset((*ID_NAMES, *KIND_OF_NAME)),
    unnamed=numbered_columns("id"),
    guesses=True,
)
JOINT = "\n"  # between the texts of a list, such as anchors


@dataclass(frozen=True, slots=True, eq=False)
class DocumentBatch:
    """Some documents, in the order of the files.

    Attributes
    ----------
    ids : list of str
        The documents' ids, each once in a collection.
    texts : dict from str to list of str
        The text of each document by field, "" where it has none.
    numbers : dict from str to array
        The number of each document by field, NaN where it has none; dates are seconds since 1970, in UTC.
    links : list of list of str, optional
        The ids of the documents that each links to.
    """

    ids: list[str]
    texts: dict[str, list[str]]
    numbers: dict[str, Float64Array]
    links: list[list[str]] | None

    def __len__(self) -> int:
        return len(self.ids)


class Collection:
    """Documents that are read batch by batch, as often as wanted.

    Attributes
    ----------
    fields : tuple of Field
        What documents have besides their ids.
    problems : CollectionProblems
        What was wrong in the last reading.
    """

    def __init__(self, records: RecordFiles | RecordsGiven, layout: FieldLayout, *, strict: bool = False) -> None:
        self._records, self._layout, self._strict = records, layout, strict
        self.fields = layout.fields
        self.problems = CollectionProblems(strict)

    def batches(self) -> Iterator[DocumentBatch]:
        """The documents, some at a time.

        Yields
        ------
        DocumentBatch
            The next documents, in the order of the files; memory holds one batch, and the ids seen so far.
        """
        self.problems = CollectionProblems(self._strict)
        known = Codes(source=self._records.name)
        gathered = _GatheredDocuments(self._layout, self.problems)
        for path, line, record in self._records.read(self.problems):
            gathered.add(path, line, record)
            if gathered.is_full:
                yield from gathered.batches(known)
        yield from gathered.batches(known)
        if not len(known):
            why = "; ".join(self.problems.lines()) or "there is none"
            raise FileFormatError(self._records.name, f"no document could be read: {why}")


def read_documents(
    source: Paths | Iterable[Mapping[str, Any]],
    *,
    format: str | None = None,
    fields: Mapping[str, str] | None = None,
    strict: bool = False,
) -> Collection:
    r"""Open a collection of documents.

    Parameters
    ----------
    source : path, sequence of paths, or sequence of dicts
        The files (JSON lines, Parquet, CSV, TSV, TREC; compressed or not), a folder of such files or of texts, or the
        documents themselves. The first line of CSV and TSV names the columns; without such a line the first column is
        the id, and the others are numbered.
    format : {"jsonl", "parquet", "csv", "tsv", "trec", "folder"}, optional
        The format of all files; by default what each of them looks like.
    fields : dict from str to str, optional
        What fields hold: "id", "text", "number", "date", "url", "links", or "skip" for one that is left out. Those that
        are not named are known by usual names and by what the first documents hold.
    strict : bool, default False
        Whether the first problem is an error: an id that came before, a text that is not UTF-8, a value that is no
        number. Otherwise problems are counted.

    Returns
    -------
    Collection
        The documents, still to be read.

    Examples
    --------
    >>> from rankwright.text import read_documents
    >>> found = read_documents([{"id": "a", "title": "On ranking", "year": 2010}, {"id": "b", "title": "On trees"}])
    >>> [(field.name, field.kind) for field in found.fields]
    [('title', 'text'), ('year', 'number')]
    >>> [batch.ids for batch in found.batches()]
    [['a', 'b']]
    """
    records = records_of(source, DOCUMENTS, format)
    sample: list[Record] = []
    n_characters = 0
    for _, _, record in islice(records.read(CollectionProblems()), SAMPLED_DOCUMENTS):
        sample.append(record)
        n_characters += _size(record)
        if n_characters > SAMPLED_CHARACTERS:
            break
    return Collection(records, layout_of(records.name, sample, fields or {}), strict=strict)


def _size(record: Record) -> int:
    return sum(len(value) for value in record.values() if isinstance(value, str | list))


@dataclass(slots=True, eq=False)
class _GatheredDocuments:
    """Documents gathered one by one until they make a batch; `places` says where each stood."""

    layout: FieldLayout
    problems: CollectionProblems
    places: list[tuple[str, int | None]] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    records: list[Record] = field(default_factory=list)
    n_characters: int = 0

    @property
    def is_full(self) -> bool:
        return len(self.ids) >= DOCUMENTS_AT_A_TIME or self.n_characters >= CHARACTERS_AT_A_TIME

    def add(self, path: str, line: int | None, record: Record) -> None:
        value = record.get(self.layout.id)
        name = str(value).strip() if isinstance(value, str | int | float) and not is_blank(value) else ""
        if not name:
            self.problems.note(CollectionFault.NO_ID, path, line)
            return
        self.places.append((path, line))
        self.ids.append(name)
        self.records.append(record)
        self.n_characters += _size(record)

    def batches(self, known: Codes) -> Iterator[DocumentBatch]:
        """What was gathered, as one batch, without documents that came before; none where nothing is left."""
        kept = self._not_seen(known)
        if kept:
            yield self._batch(kept)
        self.places, self.ids, self.records, self.n_characters = [], [], [], 0

    def _not_seen(self, known: Codes) -> list[int]:
        n_known, kept = len(known), []
        for place, number in enumerate(known.of_texts(self.ids).tolist() if self.ids else []):
            if number == n_known:
                kept.append(place)
                n_known += 1
            else:
                self.problems.note(CollectionFault.DUPLICATE, *self.places[place], self.ids[place])
        return kept

    def _batch(self, kept: list[int]) -> DocumentBatch:
        texts: dict[str, list[str]] = {}
        numbers: dict[str, Float64Array] = {}
        links: list[list[str]] | None = None
        for one in self.layout.of_records:
            if one.kind in (NUMBER, DATE):
                numbers[one.name] = np.array([self._number(place, one) for place in kept], np.float64)
            elif one.kind == LINKS:
                found = [self._links(place, one) for place in kept]
                links = found if links is None else [[*a, *b] for a, b in zip(links, found, strict=True)]
            else:
                texts[one.name] = [self._text(place, one) for place in kept]
        ids = [self.ids[place] for place in kept]
        if self.layout.url_of_id is not None:
            texts[self.layout.url_of_id] = ids
        self._note_empty(kept, texts)
        self._note_late(kept)
        return DocumentBatch(ids, texts, numbers, links)

    def _number(self, place: int, one: Field) -> float:
        value = self.records[place].get(one.name)
        if is_blank(value):
            return np.nan
        number = seconds_of(value) if one.kind == DATE else number_of(value)
        if number is None:
            fault = CollectionFault.NO_DATE if one.kind == DATE else CollectionFault.NO_NUMBER
            self.problems.note(fault, *self.places[place], f"{one.name} {value}")
        return missing_number(number)

    def _text(self, place: int, one: Field) -> str:
        value = self.records[place].get(one.name)
        if isinstance(value, str):
            return value
        if is_blank(value):
            return ""
        parts = value if isinstance(value, list) else [value]
        readable = [str(part) for part in parts if isinstance(part, str | int | float) and not is_blank(part)]
        if len(readable) < len(parts):
            self.problems.note(CollectionFault.NO_TEXT, *self.places[place], one.name)
        return JOINT.join(readable)

    def _links(self, place: int, one: Field) -> list[str]:
        value = self.records[place].get(one.name)
        if is_blank(value):
            return []
        parts = value.split() if isinstance(value, str) else value if isinstance(value, list) else [value]
        readable = [str(part).strip() for part in parts if isinstance(part, str | int) and not is_blank(part)]
        if len(readable) < len(parts):
            self.problems.note(CollectionFault.NO_TEXT, *self.places[place], one.name)
        return readable

    def _note_empty(self, kept: list[int], texts: Mapping[str, list[str]]) -> None:
        """Count documents without a word; the URL that an id is does not count as text."""
        columns = [column for name, column in texts.items() if name != self.layout.url_of_id]
        for row, place in enumerate(kept):
            if not any(column[row].strip() for column in columns):
                self.problems.note(CollectionFault.EMPTY, *self.places[place], self.ids[place])

    def _note_late(self, kept: list[int]) -> None:
        for place in kept:
            late = self.records[place].keys() - self.layout.names
            if late:
                self.problems.note(CollectionFault.LATE_FIELD, *self.places[place], min(late))

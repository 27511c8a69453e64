"""Judgments as values: one, and a table of many in which ids are numbers.

A `row` is a judgment. A `pair` is a query and a document, which one or several raters may have graded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import (
    BoolArray,
    Float32Array,
    Float64Array,
    IdArray,
    Int32Array,
    IntArray,
    distinct_ids,
    text_ids,
)
from rankwright.clicks.logs.log_blocks import sorted_codes
from rankwright.errors import InputError, require_input
from rankwright.tables.text import counted

KINDS = ("person", "model", "click")  # what a rater may be; a table has their places here
ID_BYTES = 16  # of the id of a judgment that has none of its own
MOST_KEY = 2**62  # of a query, a document and a rater together
NO_DOCUMENT = -1  # the other document of a grade, which has none
# What a table knows of each row, but for comments, which it may not have.
COLUMNS = ("queries", "documents", "raters", "values", "others", "errors", "times")


@dataclass(frozen=True, slots=True)
class Judgment:
    """What one rater said of a document: a grade, or that it is better than another one.

    Parameters
    ----------
    query, document : str
        What was judged.
    rater : str
        Who judged it: a person, a language model with its prompt, or a click model.
    grade : float, optional
        How relevant the document is. Leave it out for a preference.
    kind : {"person", "model", "click"}, default "person"
        What the rater is.
    other : str, optional
        For a preference, the document that `document` was compared with.
    preference : float, default 1.0
        For a preference, how likely `document` is the better one: 1 if the rater said so, 0.5 if both are alike.
    error : float, optional
        The standard error of the grade, where it is an estimate.
    time : float, optional
        When it was judged, in seconds since 1970.
    comment : str, default ""
        What the rater added.
    id : str, optional
        Its name, by which a store knows whether it has the judgment already; made of its content by default.
    context : str, default ""
        The list that it was judged in, such as the rankers that were pooled; stores keep it, tables do not.

    Examples
    --------
    >>> import rankwright as rw
    >>> rw.judgments.Judgment("q1", "d1", "ann", 2.0).identity
    'e77cd20f22ae7db3b90ab97d8124adfa'
    """

    query: str
    document: str
    rater: str
    grade: float | None = None
    kind: str = "person"
    other: str | None = None
    preference: float = 1.0
    error: float | None = None
    time: float | None = None
    comment: str = ""
    id: str | None = None
    context: str = ""

    def __post_init__(self) -> None:
        for name in ("query", "document", "rater"):
            text = getattr(self, name)
            require_input(
                isinstance(text, str) and text != "", f"{name} must be a text that is not empty, got {text!r}"
            )
        for name in ("comment", "context"):
            require_input(isinstance(getattr(self, name), str), f"{name} must be a text, got {getattr(self, name)!r}")
        require_input(isinstance(self.id, str | None), f"id must be a text, got {self.id!r}")
        require_input(self.kind in KINDS, f"kind must be {', '.join(KINDS)}, got {self.kind!r}")
        if self.other is None:
            is_grade = isinstance(self.grade, int | float | np.number) and isfinite(self.grade)
            require_input(is_grade, f"a judgment needs a grade, or another document to prefer to, got {self.grade!r}")
        else:
            require_input(self.grade is None, "a preference has no grade: leave out grade, or other")
            require_input(self.other != self.document, f"document {self.document!r} is compared with itself")
            require_input(0 <= self.preference <= 1, f"preference must lie between 0 and 1, got {self.preference!r}")
        for name, least in (("error", 0.0), ("time", -np.inf)):
            number = getattr(self, name)
            fits = number is None or (isfinite(number) and number >= least)
            require_input(fits, f"{name} must be a finite number, got {number!r}")

    @property
    def value(self) -> float:
        """The grade, or of a preference how likely the document is the better one."""
        return float(self.preference if self.grade is None else self.grade)

    @property
    def identity(self) -> str:
        """The id, or one made of all that the judgment says."""
        if self.id is not None:
            return self.id
        parts = (self.query, self.document, self.other, self.rater, self.kind, self.value, self.error, self.time)
        more = (self.comment, self.context) if self.context else (self.comment,)
        text = "\x1f".join("" if part is None else str(part) for part in (*parts, *more))
        return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=ID_BYTES).hexdigest()


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Judgments:
    """Judgments of many raters, in an order that depends on their content alone.

    `read_judgments`, `gather` and a `JudgmentStore` make tables. A table never changes: methods return new ones.

    Attributes
    ----------
    queries, documents, raters : array of int32, shape (n_judgments,)
        Who judged what, as places in `query_ids`, `document_ids` and `rater_ids`.
    values : array of float32
        The grade, or of a preference how likely the document is better than the other one.
    others : array of int32
        The document that a preference compares with, as a place in `document_ids`; -1 where the row is a grade.
    errors : array of float32
        The standard error of the grade; NaN where it has none.
    times : array of float64
        When it was judged, in seconds since 1970; NaN where that is not known.
    comments : array of str, or None
        What raters added, where any did.
    query_ids, document_ids, rater_ids : array of int64 or str
        The ids, each once, in ascending order.
    kinds : array of int8, shape (n_raters,)
        What each rater is, as a place in `("person", "model", "click")`.
    problems : mapping from str to int
        What was wrong in the files that the table was read from, and how often.
    first_problems : mapping from str to str
        Where each problem was found first.
    """

    queries: Int32Array
    documents: Int32Array
    raters: Int32Array
    values: Float32Array
    others: Int32Array
    errors: Float32Array
    times: Float64Array
    comments: IdArray | None
    query_ids: IdArray
    document_ids: IdArray
    rater_ids: IdArray
    kinds: NDArray[np.int8]
    problems: Mapping[str, int] = field(default_factory=dict)
    first_problems: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        pairs = counted(self.n_pairs, "document")
        of = f"{pairs} of {counted(len(self.query_ids), 'query')} by {counted(len(self.rater_ids), 'rater')}"
        return f"Judgments({counted(len(self), 'judgment')} of {of})"

    @property
    def is_grade(self) -> BoolArray:
        """Whether each row is a grade; the others are preferences."""
        return np.asarray(self.others == NO_DOCUMENT, np.bool_)

    @property
    def pair_keys(self) -> IntArray:
        """A number for the query and the document of each row, in the order of their ids."""
        keys: IntArray = self.queries.astype(np.int64) * max(1, len(self.document_ids)) + self.documents
        return keys

    @property
    def n_pairs(self) -> int:
        """How many different documents of queries were judged; rows are sorted by them."""
        keys = self.pair_keys
        return int((keys[1:] != keys[:-1]).sum()) + min(1, len(keys))

    def take(self, rows: BoolArray | IntArray) -> Judgments:
        """Return some of the rows, with all ids.

        Parameters
        ----------
        rows : array of bool or int
            Which rows, in their order.

        Returns
        -------
        Judgments
            The rows.
        """
        columns = {name: getattr(self, name)[rows] for name in COLUMNS}
        return replace(self, **columns, comments=None if self.comments is None else self.comments[rows])

    def graded(self) -> Judgments:
        """Return the rows that are grades."""
        return self.take(self.is_grade) if not self.is_grade.all() else self

    def preferred(self) -> Judgments:
        """Return the rows that are preferences."""
        return self.take(~self.is_grade)

    def of_kinds(self, *kinds: str) -> Judgments:
        """Return what raters of these kinds said.

        Parameters
        ----------
        *kinds : {"person", "model", "click"}
            The kinds to keep.

        Returns
        -------
        Judgments
            Their rows.
        """
        wanted = np.isin(self.kinds, [KINDS.index(kind) for kind in kinds])
        return self.take(wanted[self.raters])

    def places_of_raters(self, names: Sequence[str], what: str = "rater") -> IntArray:
        """Return where raters stand in `rater_ids`; an error names one that did not judge.

        Parameters
        ----------
        names : sequence of str
            The names of raters.
        what : str, default "rater"
            What the error calls them.

        Returns
        -------
        array of int64
            A place for each name.
        """
        place_of = {name: place for place, name in enumerate(text_ids(self.rater_ids).tolist())}
        unknown = [name for name in names if str(name) not in place_of]
        if unknown:
            some = ", ".join(list(place_of)[:10])
            raise InputError(f"{what} {unknown[0]!r} has no judgment here; raters are {some}")
        return np.array([place_of[str(name)] for name in names], np.int64)

    def rows(self) -> Iterator[Judgment]:
        """Yield each row as a single judgment."""
        queries, documents, raters = (
            text_ids(ids).tolist() for ids in (self.query_ids, self.document_ids, self.rater_ids)
        )
        columns = (self.queries, self.documents, self.raters, self.values, self.others, self.errors, self.times)
        comments = [""] * len(self) if self.comments is None else self.comments.tolist()
        for query, document, rater, value, other, error, time, comment in zip(
            *(column.tolist() for column in columns), comments, strict=True
        ):
            is_grade = other == NO_DOCUMENT
            yield Judgment(
                queries[query],
                documents[document],
                raters[rater],
                value if is_grade else None,
                KINDS[self.kinds[rater]],
                None if is_grade else documents[other],
                1.0 if is_grade else value,
                None if np.isnan(error) else error,
                None if np.isnan(time) else time,
                comment,
            )

    def to_dict(self) -> dict[str, Any]:
        """Return how many there are of what, in types JSON can hold."""
        return {
            "judgments": len(self),
            "preferences": int((~self.is_grade).sum()),
            "queries": len(self.query_ids),
            "raters": len(self.rater_ids),
            "problems": dict(self.problems),
        }


def in_canonical_order(table: Judgments) -> Judgments:
    """The same judgments under ids in ascending order, sorted by content."""
    query_ids, new_query = sorted_codes(table.query_ids)
    document_ids, new_document = sorted_codes(table.document_ids)
    rater_ids, new_rater = sorted_codes(table.rater_ids)
    kinds = np.empty_like(table.kinds)
    kinds[new_rater] = table.kinds
    others = table.others
    if len(document_ids):
        others = np.where(others == NO_DOCUMENT, NO_DOCUMENT, new_document[others]).astype(np.int32)
    made = replace(
        table,
        queries=new_query[table.queries],
        documents=new_document[table.documents],
        raters=new_rater[table.raters],
        others=others,
        query_ids=query_ids,
        document_ids=document_ids,
        rater_ids=rater_ids,
        kinds=kinds,
    )
    return made.take(_order(made))


def _order(table: Judgments) -> IntArray:
    """The rows by query, document and rater, and those that have all three alike by what else they say."""
    keys = table.pair_keys
    if int(keys.max(initial=0)) >= MOST_KEY // max(1, len(table.rater_ids)):
        keys = np.unique(keys, return_inverse=True)[1]
    keys = keys * max(1, len(table.rater_ids)) + table.raters
    order: IntArray = np.argsort(keys, kind="stable")
    keys = keys[order]
    alike = np.zeros(len(keys), np.bool_)
    alike[1:] = keys[1:] == keys[:-1]
    alike[:-1] |= alike[1:]
    places = np.flatnonzero(alike)
    if len(places):
        rows = order[places]
        parts: list[NDArray[Any]] = [part[rows] for part in (table.times, table.errors, table.values, table.others)]
        if table.comments is not None:
            parts.insert(0, distinct_ids(table.comments[rows])[1])
        order[places] = rows[np.lexsort([*parts, keys[places]])]
    return order

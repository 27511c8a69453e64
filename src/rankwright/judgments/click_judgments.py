"""Clicks as a source of judgments: what a click model thinks of documents, with standard errors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import IdArray, Int32Array, distinct_ids, join_ids
from rankwright.clicks.models.click_model import ClickModel
from rankwright.errors import InputError, require_type
from rankwright.judgments.judgment_table import COLUMNS, KINDS, NO_DOCUMENT, Judgments, in_canonical_order


def judgments_of_clicks(model: ClickModel, *, rater: str | None = None) -> Judgments:
    """Return what a click model thinks of each document, as judgments with standard errors.

    Parameters
    ----------
    model : ClickModel
        A fitted click model; `load_click_model` reads one from a file.
    rater : str, optional
        What the source is called; by default `clicks:` and the name of the model.

    Returns
    -------
    Judgments
        A judgment for each document of each query that was shown. Its grade is the chance that a user who examines
        the document clicks it and is satisfied; `combine` learns what that means on the scale of other raters.

    Examples
    --------
    >>> import rankwright as rw
    >>> log = rw.clicks.ClickLog.from_lists(["q"] * 4, [["a", "b"]] * 4, [[1], [1], [1], []])
    >>> model = rw.clicks.click_model("document-rate").fit(log)
    >>> rw.judgments.judgments_of_clicks(model)
    Judgments(2 judgments of 2 documents of 1 query by 1 rater)
    """
    require_type(model, ClickModel, "model", "a fitted click model")
    found = model.relevance()
    n_rows = len(found.mean)
    name = rater or f"clicks:{model.name}"
    return in_canonical_order(
        Judgments(
            queries=found.queries,
            documents=found.documents,
            raters=np.zeros(n_rows, np.int32),
            values=found.mean.astype(np.float32),
            others=np.full(n_rows, NO_DOCUMENT, np.int32),
            errors=found.deviation.astype(np.float32),
            times=np.full(n_rows, np.nan),
            comments=None,
            query_ids=found.query_ids,
            document_ids=found.document_ids,
            rater_ids=np.array([name], np.dtypes.StringDType()),
            kinds=np.array([KINDS.index("click")], np.int8),
        )
    )


def joined_judgments(*tables: Judgments) -> Judgments:
    """Return the judgments of several tables as one.

    Parameters
    ----------
    *tables : Judgments
        The tables; a rater of the same name in two of them is one rater.

    Returns
    -------
    Judgments
        All judgments.
    """
    if len(tables) == 1:
        return tables[0]
    ids, places = {}, {}
    for role in ("query_ids", "document_ids", "rater_ids"):
        own = [getattr(table, role) for table in tables]
        ids[role], place = distinct_ids(join_ids(own))
        places[role] = np.split(place.astype(np.int32), np.cumsum([len(one) for one in own])[:-1])
    numbered = [_numbered(*one) for one in zip(tables, *places.values(), strict=True)]
    columns = {name: np.concatenate([getattr(table, name) for table in numbered]) for name in COLUMNS}
    comments = [_comments_of(table) for table in tables]
    problems: Counter[str] = Counter()
    for table in tables:
        problems.update(table.problems)
    return in_canonical_order(
        Judgments(
            **columns,
            **ids,
            comments=np.concatenate(comments) if any(table.comments is not None for table in tables) else None,
            kinds=_kinds(tables, places["rater_ids"], ids["rater_ids"]),
            problems=dict(problems),
            first_problems={name: place for table in reversed(tables) for name, place in table.first_problems.items()},
        )
    )


def _numbered(table: Judgments, queries: Int32Array, documents: Int32Array, raters: Int32Array) -> Judgments:
    """The table with new places of its ids, which are those of old ones."""
    # What has no other document has the last place of this, which -1 leads to.
    others = np.append(documents, np.int32(NO_DOCUMENT))[table.others]
    return replace(
        table,
        queries=queries[table.queries],
        documents=documents[table.documents],
        raters=raters[table.raters],
        others=others,
    )


def _comments_of(table: Judgments) -> IdArray:
    return np.full(len(table), "", np.dtypes.StringDType()) if table.comments is None else table.comments


def _kinds(tables: Sequence[Judgments], places: Sequence[Int32Array], rater_ids: IdArray) -> NDArray[np.int8]:
    """The kind of each rater, who cannot be of two."""
    kinds = np.full(len(rater_ids), -1, np.int8)
    for own, table in zip(places, tables, strict=True):
        wrong = np.flatnonzero((kinds[own] >= 0) & (kinds[own] != table.kinds))
        if len(wrong):
            name, one, other = rater_ids[own[wrong[0]]], kinds[own[wrong[0]]], table.kinds[wrong[0]]
            told = f"rater {str(name)!r} is a {KINDS[one]} in one table and a {KINDS[other]} in another"
            raise InputError(f"{told}: give the two different names")
        kinds[own] = table.kinds
    return kinds

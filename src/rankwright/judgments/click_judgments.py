"""Clicks as a source of judgments: what a click model thinks of documents, with standard errors."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from rankwright.arrays import distinct_ids, join_ids
from rankwright.clicks.models.click_model import ClickModel
from rankwright.errors import InputError, require_type
from rankwright.judgments.judgment_table import KINDS, NO_DOCUMENT, Judgments, in_canonical_order


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
    columns = {}
    ids = {}
    for role, column in (("query_ids", "queries"), ("document_ids", "documents"), ("rater_ids", "raters")):
        joined = join_ids([getattr(table, role) for table in tables])
        ids[role], places = distinct_ids(joined)
        starts = np.cumsum([0, *(len(getattr(table, role)) for table in tables)])
        new = [places[start:stop].astype(np.int32) for start, stop in pairwise(starts.tolist())]
        columns[column] = np.concatenate([own[getattr(table, column)] for own, table in zip(new, tables, strict=True)])
        if column == "documents":
            columns["others"] = np.concatenate(
                [
                    np.where(table.others < 0, NO_DOCUMENT, own[table.others])
                    for own, table in zip(new, tables, strict=True)
                ]
            ).astype(np.int32)
        if column == "raters":
            kinds = _kinds(tables, new, ids[role])
    for name in ("values", "errors", "times"):
        columns[name] = np.concatenate([getattr(table, name) for table in tables])
    blank = np.dtypes.StringDType()
    texts = [np.full(len(table), "", blank) if table.comments is None else table.comments for table in tables]
    comments = np.concatenate(texts) if any(table.comments is not None for table in tables) else None
    problems: dict[str, int] = {}
    for table in tables:
        for problem, count in table.problems.items():
            problems[problem] = problems.get(problem, 0) + count
    places_told = {name: place for table in reversed(tables) for name, place in table.first_problems.items()}
    made = Judgments(**columns, **ids, comments=comments, kinds=kinds, problems=problems, first_problems=places_told)
    return in_canonical_order(made)


def _kinds(tables: tuple[Judgments, ...], new: list[np.ndarray], rater_ids: np.ndarray) -> np.ndarray:
    kinds = np.full(len(rater_ids), -1, np.int8)
    for own, table in zip(new, tables, strict=True):
        known = kinds[own]
        wrong = np.flatnonzero((known >= 0) & (known != table.kinds))
        if len(wrong):
            name = rater_ids[own[wrong[0]]]
            told = (
                f"rater {str(name)!r} is a {KINDS[known[wrong[0]]]} in one table and a {KINDS[table.kinds[wrong[0]]]}"
            )
            raise InputError(f"{told} in another: give the two different names")
        kinds[own] = table.kinds
    return kinds

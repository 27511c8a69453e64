"""Which documents of an index features are computed of: those that were judged, or each query's best candidates."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, IntArray
from rankwright.errors import InputError, require, require_input
from rankwright.tables.text import counted
from rankwright.text.candidates import top_documents
from rankwright.text.collections.judged import JudgedPairs
from rankwright.text.collections.queries import Queries
from rankwright.text.features import QueryDocuments
from rankwright.text.index.reading import Index
from rankwright.text.joining import DROP, KEEP, UNJUDGED, ZERO
from rankwright.text.scorers import Scorer


@dataclass(frozen=True, slots=True, eq=False)
class ChosenRows:
    """The rows of a dataset to be made, and what was left out.

    Attributes
    ----------
    rows : QueryDocuments
        Queries with their documents, and labels where there are judgments.
    judged : int
        How many of the rows were judged.
    not_among_candidates : int
        How many relevant documents were judged and are no candidates.
    queries_left_out : int
        How many queries have no document, or no judgment where there are judgments.
    """

    rows: QueryDocuments
    judged: int
    not_among_candidates: int
    queries_left_out: int

    def to_dict(self) -> dict[str, Any]:
        """What was chosen and what was left out, in JSON's types.

        Returns
        -------
        dict
            Counts.
        """
        return {
            "judged": self.judged,
            "relevant_not_among_candidates": self.not_among_candidates,
            "queries_left_out": self.queries_left_out,
        }

    def lines(self) -> list[str]:
        """What was chosen and what was left out, a line each.

        Returns
        -------
        list of str
            For people.
        """
        n = len(self.rows.ordinals)
        told = [f"{counted(len(self.rows.query_ids), 'query')}, {counted(n, 'document')}"]
        if self.rows.labels is not None:
            told[0] += f", {self.judged:,} judged"
        if self.not_among_candidates:
            told.append(f"{counted(self.not_among_candidates, 'relevant document')} not among the candidates")
        if self.queries_left_out:
            told.append(f"{counted(self.queries_left_out, 'query')} without documents or judgments, left out")
        return told


def choose_rows(
    index: Index,
    queries: Queries,
    judged: JudgedPairs | None = None,
    *,
    candidates: int | None = None,
    scorer: Scorer | None = None,
    unjudged: str = ZERO,
    at: float | None = None,
    threads: int | None = None,
) -> ChosenRows:
    """Choose the documents of each query.

    Parameters
    ----------
    index : Index
        The index of the documents.
    queries : Queries
        The queries.
    judged : JudgedPairs, optional
        Judgments, which become labels; queries without any are left out.
    candidates : int, optional
        How many of the best documents of each query to take, by `scorer`. By default the judged documents are taken.
    scorer : Scorer, optional
        What finds candidates; BM25 by default.
    unjudged : {"zero", "keep", "drop"}, default "zero"
        What candidates without a judgment become: irrelevant, unlabelled, or no rows.
    at : float, optional
        The time of queries that have none, in seconds since 1970.
    threads : int, optional
        How many threads look for candidates.

    Returns
    -------
    ChosenRows
        Queries in their order, each with its documents in the order of candidates or of judgments.
    """
    require(unjudged in UNJUDGED, f"unjudged must be one of {', '.join(UNJUDGED)}, got {unjudged!r}")
    require(judged is not None or candidates is not None, "rows need judgments, or a number of candidates, or both")
    grades = [{} for _ in queries.ids] if judged is None else _by_query(index, queries, judged)
    if candidates is None:
        documents = [np.array(list(own), np.int64) for own in grades]
    else:
        require(candidates >= 1, f"candidates must be 1 or more, got {candidates}")
        found = top_documents(index, queries.texts, scorer=scorer, k=candidates, threads=threads)
        documents = np.split(found.ordinals, found.offsets[1:-1])
    if judged is not None and unjudged == DROP:
        documents = [_only_judged(own, known) for own, known in zip(documents, grades, strict=True)]
    kept = [k for k, own in enumerate(documents) if len(own) and (judged is None or grades[k])]
    if not kept:
        raise InputError("no query has a document: judgments and candidates name none that the index has")
    rows = _rows(queries, kept, [documents[k] for k in kept], at)
    if judged is None:
        return ChosenRows(rows, 0, 0, len(queries.ids) - len(kept))
    labels = _labels(documents, grades, kept, np.nan if unjudged == KEEP else 0.0)
    both = [grades[k].keys() & set(documents[k].tolist()) for k in kept]
    n_judged = sum(map(len, both))
    missed = sum(grades[k][o][0] > 0 for k, own in zip(kept, both, strict=True) for o in grades[k].keys() - own)
    positions = None
    if judged.positions is not None:
        shown = [grades[k].get(ordinal, (0.0, -1))[1] for k in kept for ordinal in documents[k].tolist()]
        positions = np.array(shown, np.int64) if min(shown) >= 0 else None
    rows = replace(rows, labels=labels, positions=positions)
    return ChosenRows(rows, n_judged, missed, len(queries.ids) - len(kept))


Grades = Mapping[int, tuple[float, int]]  # of each document its grade, and the position where a log showed it


def _by_query(index: Index, queries: Queries, judged: JudgedPairs) -> list[dict[int, tuple[float, int]]]:
    """The judged documents of each query with their grades, in the order of the judgments."""
    number_of = {name: number for number, name in enumerate(queries.ids)}
    ordinals = index.ordinals(judged.document_ids).tolist()
    positions = [-1] * len(judged) if judged.positions is None else judged.positions.tolist()
    grades: list[dict[int, tuple[float, int]]] = [{} for _ in queries.ids]
    for query, ordinal, grade, position in zip(
        judged.query_ids, ordinals, judged.grades.tolist(), positions, strict=True
    ):
        if ordinal >= 0 and query in number_of:
            grades[number_of[query]][ordinal] = grade, position
    require_input(any(grades), "no judgment is of a query and a document that are there")
    return grades


def _only_judged(documents: IntArray, known: Grades) -> IntArray:
    return np.array([one for one in documents.tolist() if one in known], np.int64)


def _rows(queries: Queries, kept: list[int], documents: list[IntArray], at: float | None) -> QueryDocuments:
    times = np.full(len(queries.ids), np.nan) if queries.times is None else queries.times
    if at is not None:
        times = np.where(np.isnan(times), at, times)
    return QueryDocuments(
        [queries.ids[k] for k in kept],
        [queries.texts[k] for k in kept],
        np.cumsum([0, *map(len, documents)], dtype=np.int64),
        np.concatenate(documents).astype(np.int64),
        times=times[kept],
    )


def _labels(documents: list[IntArray], grades: list[Any], kept: list[int], otherwise: float) -> Float32Array:
    found = [grades[k].get(ordinal, (otherwise,))[0] for k in kept for ordinal in documents[k].tolist()]
    return np.array(found, np.float32)

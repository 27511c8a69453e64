"""Features of documents and judgments of them, joined into training data; what is missing on either side is named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, IntArray, text_ids
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.escapes import escaped_line
from rankwright.tables.text import counted
from rankwright.text.collections.judged import JudgedPairs

DROP, ZERO, KEEP = UNJUDGED = ("drop", "zero", "keep")
SHOWN = 3  # ids that are named


@dataclass(frozen=True, slots=True, eq=False)
class JoinedData:
    """Training data, and what was missing.

    Attributes
    ----------
    data : RankingDataset
        Documents with features and grades, with the ids of queries and documents.
    n_judged : int
        How many documents have both.
    unjudged : list of (str, str)
        Queries and documents that have features and no judgment.
    without_features : list of (str, str)
        Queries and documents that have a judgment and no features.
    absent : dict from str to int
        How many documents lack each feature, for those that some lack.
    repeated : int
        How often a document of a query came again in a log; the first counts.
    """

    data: RankingDataset
    n_judged: int
    unjudged: list[tuple[str, str]]
    without_features: list[tuple[str, str]]
    absent: dict[str, int]
    repeated: int = 0

    def lines(self) -> list[str]:
        """What was joined and what is missing, a line each."""
        told = [f"{counted(self.n_judged, 'judged document')} with features, {counted(self.data.n_queries, 'query')}"]
        for pairs, what in (
            (self.unjudged, "documents with features and no judgment"),
            (self.without_features, "documents with a judgment and no features"),
        ):
            if pairs:
                named = ", ".join(escaped_line(f"{document} of query {query}") for query, document in pairs[:SHOWN])
                more = ", …" if len(pairs) > SHOWN else ""
                told.append(f"{what}: {len(pairs):,}, first {named}{more}")
        for name, n_rows in self.absent.items():
            told.append(f"feature {escaped_line(name)} is absent in {counted(n_rows, 'document')}")
        if self.repeated:
            told.append(f"{counted(self.repeated, 'document')} came again for the same query; the first counts")
        return told

    def to_dict(self) -> dict[str, Any]:
        """The counts, as `--json` tells them."""
        return {
            "queries": self.data.n_queries,
            "documents": self.data.n_docs,
            "judged": self.n_judged,
            "unjudged": len(self.unjudged),
            "judged_without_features": len(self.without_features),
            "absent_features": self.absent,
            "repeated": self.repeated,
        }


def join_judgments(features: RankingDataset, judged: JudgedPairs, *, unjudged: str = DROP) -> JoinedData:
    """Give documents the grades that judges gave them.

    Parameters
    ----------
    features : RankingDataset
        Documents with features and ids; labels that they have are replaced.
    judged : JudgedPairs
        The judgments, whose ids of queries and documents are those of the documents.
    unjudged : {"drop", "zero", "keep"}, default "drop"
        What becomes of a document without a judgment: it is left out, counts as 0, or is kept without a label.

    Returns
    -------
    JoinedData
        The training data, and what was missing.

    Examples
    --------
    >>> import rankwright as rw
    >>> from rankwright.text import JudgedPairs, join_judgments
    >>> data = rw.RankingDataset.from_arrays([[0.1], [0.9]], qid=["q", "q"], document_ids=["a", "b"])
    >>> joined = join_judgments(data, JudgedPairs(["q", "q"], ["b", "c"], [2, 1]))
    >>> joined.data.labels.tolist(), joined.unjudged, joined.without_features
    ([2.0], [('q', 'a')], [('q', 'c')])
    """
    require(unjudged in UNJUDGED, f"unjudged must be one of {', '.join(UNJUDGED)}, got {unjudged!r}")
    if features.document_ids is None or features.query_ids is None:
        raise InputError("documents need ids to be joined with judgments: of queries and of documents")
    documents = text_ids(features.document_ids).tolist()
    features = features.dense()
    pairs = list(zip(text_ids(features.qid).tolist(), documents, strict=True))
    place_of = {pair: place for place, pair in enumerate(zip(judged.query_ids, judged.document_ids, strict=True))}
    places = np.array([place_of.get(pair, -1) for pair in pairs], np.int64)
    known = places >= 0
    if not known.any():
        mine = f"{pairs[0][1]!r} of query {pairs[0][0]!r}" if pairs else "none"
        example = next(iter(place_of), None)
        theirs = "none" if example is None else f"{example[1]!r} of query {example[0]!r}"
        raise InputError(f"no document is judged: features are of documents such as {mine}, judgments of {theirs}")
    present = set(pairs)
    return JoinedData(
        data=_labelled(features, judged, places, unjudged),
        n_judged=int(known.sum()),
        unjudged=[pair for pair, is_known in zip(pairs, known.tolist(), strict=True) if not is_known],
        without_features=[pair for pair in place_of if pair not in present],
        absent=_absent_counts(features),
    )


def _labelled(features: RankingDataset, judged: JudgedPairs, places: IntArray, unjudged: str) -> RankingDataset:
    known = places >= 0
    grades: Float32Array = np.where(known, judged.grades[places], np.float32(0 if unjudged == ZERO else np.nan))
    positions = None
    if judged.positions is not None:
        never = int(judged.positions.max(initial=0)) + 1  # below everything that was shown
        positions = np.where(known, judged.positions[places], never)
    kept = np.flatnonzero(known) if unjudged == DROP else np.arange(len(places))
    return RankingDataset.from_arrays(
        features.features[kept],
        grades[kept],
        qid=features.qid[kept],
        positions=None if positions is None else positions[kept],
        feature_names=features.feature_names,
        document_ids=None if features.document_ids is None else features.document_ids[kept],
    )


def _absent_counts(features: RankingDataset) -> dict[str, int]:
    """How many documents lack each feature, for those that some lack."""
    counts = np.isnan(features.features).sum(axis=0)
    names = features.feature_names or [str(place) for place in range(1, len(counts) + 1)]
    return {name: int(count) for name, count in zip(names, counts.tolist(), strict=True) if count}

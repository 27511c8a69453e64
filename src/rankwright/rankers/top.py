"""The best documents of each query, as columns of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Float64Array
from rankwright.data.dataset import RankingDataset
from rankwright.ranking.order import rank

RANKED = ("query", "document", "rank", "score")


def ranked_columns(
    data: RankingDataset, scores: Float64Array, top: int | None = None, first_row: int = 0
) -> dict[str, NDArray[Any]]:
    """The first `top` documents of each query, best first: query, document, rank from 1, score, and the source's row.

    `scores` are in the order of the dataset's rows. Documents without ids are known by their row in the source, from
    `first_row`.
    """
    sizes, starts = data.groups.sizes, data.groups.offsets[:-1]
    place = np.arange(data.n_docs) - np.repeat(starts, sizes)
    kept = place < (data.n_docs if top is None else top)
    rows = rank(scores, data.groups).rows[kept]
    source = rows if data.source_rows is None else data.source_rows[rows]
    documents = source + first_row if data.document_ids is None else np.asarray(data.document_ids)[rows]
    return {
        "query": np.asarray(data.qid)[kept],
        "document": documents,
        "rank": place[kept] + 1,
        "score": scores[rows],
        "row": source,
    }

"""What the writers of all formats have in common."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sized
from os import fspath

from rankwright.data.dataset import RankingDataset
from rankwright.errors import require_type
from rankwright.formats.sources import FilePath

logger = logging.getLogger(__name__)


def numbered_chunks(
    data: RankingDataset | Iterable[RankingDataset], path: FilePath, holder: str, no_place: Mapping[str, str]
) -> Iterator[tuple[RankingDataset, int]]:
    """A dataset, or the chunks of one, each with the number of queries before it.

    At the end the log says what was left out because `holder` has no place for it: the parts in `no_place`, which maps
    each to its name in messages.
    """
    left_out: set[str] = set()
    n_queries = 0
    require_type(data, (RankingDataset, Iterable), "data", "a RankingDataset")
    for chunk in [data] if isinstance(data, RankingDataset) else data:
        require_type(chunk, RankingDataset, "data", "a RankingDataset")
        yield chunk, n_queries
        n_queries += chunk.n_queries
        left_out |= {called for part, called in no_place.items() if _n_values(getattr(chunk, part))}
        left_out |= {"queries without documents"} if (chunk.groups.sizes == 0).any() else set()
    if left_out:
        logger.warning("%s: %s has no place for %s; left out", fspath(path), holder, ", ".join(sorted(left_out)))


def _n_values(part: Sized | None) -> int:
    return 0 if part is None else len(part)

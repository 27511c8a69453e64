"""How forests are bagged over shards: a worker reads from all files only the queries that its bag drew.

All bags have the same bins, which equal those of the same data in memory, because they come from the same sample of
rows. A bag's trees are those of a dataset of its queries alone. (In memory they differ slightly: there the random
rounding of forces depends on a document's row in the whole data.) A worker holds the codes of its bag, a byte for each
document and feature, and for a short time twice that while it reads them; boosting then needs the same room.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.bagging.copies import copy_of
from rankwright.bagging.forest_bags import scores_of_codes, weighted
from rankwright.bagging.plan import BagPlan, QuerySample
from rankwright.cluster.engine import Engine, Report
from rankwright.data.dataset import RankingDataset, numbered_names
from rankwright.formats.shards import ShardIndex, Shards
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest
from rankwright.training.loop import Listener
from rankwright.trees.bins.binned import BinnedDataset, feature_numbers
from rankwright.trees.bins.binning import BinMapper, fit_bins
from rankwright.trees.bins.from_file import bin_file
from rankwright.trees.bins.sampling import SAMPLE_SIZE, sample_rows
from rankwright.trees.forest_ranker import ForestRanker


@dataclass(frozen=True, slots=True, eq=False)
class BinnedShards:
    """Shards, the places of their queries, the bins of their features, and a fingerprint of all this."""

    shards: Shards
    index: ShardIndex
    mapper: BinMapper
    feature_names: tuple[str, ...]
    digest: str

    @property
    def documents(self) -> RankingDataset:
        """A dataset without features: only the number of documents of each query is known before reading."""
        return _unread(self.index)

    def read(self, queries: IntArray, threads: int) -> BinnedDataset:
        """The data of some queries, given in ascending order."""
        rows = self.index.rows_of(self.index.groups.rows_of(queries))
        return bin_file(self.shards.only(rows), self.mapper, threads=threads)


@dataclass(frozen=True, slots=True, eq=False)
class ShardWork:
    """Trains and scores forests like `member`, which is untrained, over shards."""

    member: ForestRanker
    data: BinnedShards
    valid: BinnedDataset | None
    bags: BagPlan
    threads: int

    def train(self, bag: int, sample: QuerySample, watch_others: bool, listener: Listener) -> Ranker:  # noqa: ARG002
        """The forest of a bag; its queries are read here."""
        queries = sample.queries
        own = weighted(self.data.read(queries, self.threads), QuerySample(sample.counts[queries]))
        member = copy_of(self.member, seed=self.bags.seed_of(bag), threads=self.threads)
        return member.fit_binned(own, None if self.bags.overfit else self.valid, listeners=[listener])

    def score_others(self, member: Ranker, sample: QuerySample) -> None:  # noqa: ARG002
        """None: queries out of the bag are not read."""
        return

    def score_valid(self, member: Ranker) -> Float64Array:
        """The scores of validation documents."""
        assert self.valid is not None
        return scores_of_codes(member, self.valid, self.threads)

    def restore(self, header: Mapping[str, Any], arrays: Mapping[str, Any]) -> Ranker:
        """The forest that a file describes."""
        return type(self.member).from_state(header, arrays)


def bin_shards(
    shards: Shards,
    engine: Engine | None,
    *,
    max_bins: int,
    categorical: tuple[int | str, ...],
    seed: int,
    threads: int | None,
) -> BinnedShards:
    """The shards with bins from a sample of their rows; the workers of `engine`, if there is one, read the sample."""
    index = shards.index()
    chosen = index.rows_of(sample_rows(index.groups.n_docs, SAMPLE_SIZE, seed))
    parts = [RowsOfShard(shards, path, rows) for path, rows in chosen.items()]
    read = [part.read() for part in parts] if engine is None else _in_order(engine, parts)
    names, features = read[0][0], np.concatenate([features for _, features in read])
    mapper = fit_bins(
        features,
        max_bins=max_bins,
        categorical=feature_numbers(names or numbered_names(features.shape[1]), categorical),
        seed=seed,
        threads=threads,
    )
    sizes = np.array([Path(path).stat().st_size for path in shards.paths])
    digest = data_digest(_unread(index), features, sizes, mapper.edges, mapper.offsets)
    return BinnedShards(shards, index, mapper, names, digest)


@dataclass(frozen=True, slots=True, eq=False)
class RowsOfShard:
    """Some rows of one shard, which one task reads."""

    shards: Shards
    path: str
    rows: IntArray

    def read(self) -> tuple[tuple[str, ...], Float32Array]:
        """The names of the features, and the features of the rows."""
        blocks: list[Float32Array] = []
        documents = self.shards.only({self.path: self.rows}).stream(lambda features: blocks.append(features.copy()))
        return documents.feature_names, np.concatenate(blocks)


def read_rows(shared: None, part: RowsOfShard, report: Report) -> tuple[tuple[str, ...], Float32Array]:  # noqa: ARG001
    """Read the sampled rows of a shard, in a worker."""
    return part.read()


def _in_order(engine: Engine, parts: list[RowsOfShard]) -> list[tuple[tuple[str, ...], Float32Array]]:
    done = sorted(engine.run(read_rows, parts), key=lambda done: done.number)
    return [each.result for each in done]


def _unread(index: ShardIndex) -> RankingDataset:
    return RankingDataset(features=np.empty((index.groups.n_docs, 0), np.float32), labels=None, groups=index.groups)

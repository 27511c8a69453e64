"""Shards that forests are bagged over: a worker reads from all files only the queries that its bag drew.

All bags have the same bins, which equal those of the same data in memory, because they come from the same sample of
rows. A bag's trees are those of a dataset of its queries alone. (In memory they differ slightly: there the random
rounding of forces depends on a document's row in the whole data.) A worker holds the codes of its bag, a byte for each
document and feature, and for a short time twice that while it reads them; boosting then needs the same room.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rankwright.arrays import Float32Array, IntArray, Uint64Array
from rankwright.cluster.engine import Engine, Report
from rankwright.data.dataset import RankingDataset, one_origin
from rankwright.data.feature_names import feature_columns, numbered_names
from rankwright.data.groups import Groups
from rankwright.data.keys import query_keys
from rankwright.errors import InputError, require
from rankwright.formats.shards import ShardIndex, Shards
from rankwright.formats.storage.places import state_of
from rankwright.training.digest import digest_of
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper, fit_bins
from rankwright.trees.bins.from_file import bin_file
from rankwright.trees.bins.sampling import SAMPLE_SIZE, RowSample, lowest


@dataclass(frozen=True, slots=True, eq=False)
class BinnedShards:
    """Shards, the places of their queries, the bins of their features, and a fingerprint of all this."""

    shards: Shards
    index: ShardIndex
    by_key: IntArray  # the queries of the index in the order of their keys, by which they are numbered here
    mapper: BinMapper
    feature_names: tuple[str, ...]
    feature_origin: str | None  # how features were made of texts, where all shards tell the same
    digest: str
    states: dict[str, tuple[int, str]]  # of the files when they were indexed

    @property
    def documents(self) -> RankingDataset:
        """A dataset without features: only the number of documents of each query is known before reading."""
        groups = Groups.of_sizes(self.index.groups.sizes[self.by_key])
        return RankingDataset(features=np.empty((groups.n_docs, 0), np.float32), labels=None, groups=groups)

    def read(self, queries: IntArray, threads: int) -> BinnedDataset:
        """The data of some queries, given in ascending order."""
        rows = self.index.rows_of(self.index.groups.rows_of(np.sort(self.by_key[queries])))
        data = bin_file(self.shards.only(rows), self.mapper, in_key_order=True, threads=threads)
        for path in rows:
            if state_of(path) != self.states[path]:
                raise InputError(f"{path} changed after its queries were found: start again")
        return data


def bin_shards(
    shards: Shards,
    engine: Engine | None,
    *,
    max_bins: int,
    categorical: tuple[int | str, ...],
    seed: int,
    threads: int | None,
) -> BinnedShards:
    """The shards with bins from a sample of their rows; the workers of `engine`, if there is one, read them for it."""
    require(not shards.options.get("categories"), "bags over shards learn from numbers: leave out categories")
    states = {path: state_of(path) for path in shards.paths}
    tasks = [(shards, path, seed) for path in shards.paths]
    if engine is None:
        looks = [look_at_shard(None, task) for task in tasks]
    else:
        looks = [done.result for done in sorted(engine.run(look_at_shard, tasks), key=lambda done: done.number)]
    names = looks[0].feature_names
    features, priorities = (np.concatenate(all_of) for all_of in zip(*(look.sample for look in looks), strict=True))
    mapper = fit_bins(
        features[lowest(priorities, SAMPLE_SIZE)],
        max_bins=max_bins,
        categorical=feature_columns(categorical, names or numbered_names(features.shape[1])),
        threads=threads,
    )
    first, second = (np.concatenate(all_of) for all_of in zip(*(look.keys for look in looks), strict=True))
    by_key = np.lexsort((second, first))
    digest = digest_of([first[by_key], second[by_key], mapper.edges, mapper.offsets])
    origin = one_origin(look.feature_origin for look in looks)
    return BinnedShards(shards, shards.index(), by_key, mapper, names, origin, digest, states)


class ShardLook(NamedTuple):
    """What is known of a shard that was read: the keys of its queries, and a sample of rows with their priorities."""

    feature_names: tuple[str, ...]
    feature_origin: str | None
    keys: tuple[Uint64Array, Uint64Array]  # of queries
    sample: tuple[Float32Array, Uint64Array]


def look_at_shard(shared: None, task: tuple[Shards, str, int], report: Report | None = None) -> ShardLook:  # noqa: ARG001
    """Read a shard block by block, in a worker or here; the task is the shard among others, and a seed."""
    shards, path, seed = task
    sample = RowSample(SAMPLE_SIZE, seed)
    documents = shards.file(path).stream_rows(sample.add)
    keys = query_keys(documents.data, sample.hashes())
    return ShardLook(documents.feature_names, documents.data.feature_origin, keys, sample.with_priorities())

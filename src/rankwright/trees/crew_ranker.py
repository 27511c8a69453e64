"""Forests that the workers of an engine grow together, on shards of which each has some queries."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from typing import Any

from rankwright.data.columns import listed
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, Message, Parameter, require
from rankwright.formats.data_file import DataFile, as_data_file
from rankwright.formats.shards import Shards, as_shards
from rankwright.rankers.inputs import remember_names
from rankwright.rankers.learning import TrainingRun
from rankwright.rankers.lessons import check_facts
from rankwright.rankers.ranker import TrainedByWorkers
from rankwright.rankers.seen import SeenQueries
from rankwright.trees.binned_ranker import BinnedRanker
from rankwright.trees.bins.binned import BinnedDataset
from rankwright.trees.bins.binning import BinMapper
from rankwright.trees.distributed.crew_data import CrewData
from rankwright.trees.distributed.lists import CrewLists


class CrewRanker(TrainedByWorkers, BinnedRanker):
    """A ranker on bin codes that the workers of the engine given to `on` train together, where one is given."""

    def _learn_from_file(self, file: DataFile, valid: Any, run: TrainingRun) -> None:
        if self._engine is None:
            super()._learn_from_file(file, valid, run)
            return
        self._check_for_crew(valid)
        self.scaling_ = None
        with closing(CrewData(self._engine, as_shards(file), seed=self.seed, threads=None)) as data:
            self._check_data_of_crew(data, run)
            data.find_bins(max_bins=self.max_bins, categorical=tuple(self.categorical or ()))
            if valid is not None:
                data.watch(self._valid_for_crew(valid, data.mapper))
            self._grow(CrewLists(data, None if valid is None else True), run)

    def _learn_scaled(self, data: RankingDataset, valid: Any, run: TrainingRun) -> None:
        require(
            self._engine is None,
            "workers read their documents themselves: give fit shards, such as rankwright.Shards(folder), or on(None) "
            "to train in this process",
        )
        super()._learn_scaled(data, valid, run)

    def _check_for_crew(self, valid: Any) -> None:
        """Raise where a setting needs all documents in one place."""
        require(hasattr(self._engine, "crew"), "this engine runs tasks alone: give one that open_engine opened")
        require(self.scaling_name is None, "scaling needs the whole data, and workers have some each: leave it out")
        require(self.unjudged is None, "unjudged needs the whole data, and workers have some each: leave it out")
        require(
            not isinstance(valid, Mapping), "workers watch one set of documents: give valid as one file, or as shards"
        )

    def _check_data_of_crew(self, data: CrewData, run: TrainingRun) -> None:
        """Raise where the shards hold something that cannot be learned from, or nothing."""
        remember_names(self, data.n_features, data.feature_names)
        assert data.example is not None
        if data.example.categories:
            names = listed(list(data.example.categories))
            raise InputError(
                Message(
                    f"{names} holds texts, whose codes would differ from shard to shard: turn it into numbers, or "
                    f"leave it out with ",
                    Parameter("drop"),
                )
            )
        require(
            data.example.propensities is None,
            Message(
                "workers do not weigh clicks by propensity: train in one process, or leave the column out with ",
                Parameter("drop"),
            ),
        )
        self._check_training_data(data.example)
        if not run.allow_empty:
            check_facts(self.name, data.facts, alone=self._learns_alone())
        self.seen_queries_ = SeenQueries.of_keys(data.query_keys)

    def _valid_for_crew(self, valid: Any, mapper: BinMapper) -> Shards | BinnedDataset:
        """Shards that workers read, or validation data that is read here and given to them."""
        file = as_data_file(valid)
        if isinstance(file, Shards):
            return file
        binned = self._binned_valid(valid, mapper)
        assert binned is not None
        return binned

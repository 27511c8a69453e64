"""Rankers that learn from clicks with positions."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any, ClassVar

from rankwright.arrays import thread_count
from rankwright.clicks.bias import Debiasing, PositionRatios
from rankwright.clicks.pairwise_debiasing import PairwiseDebiased, check_clicks, position_ratios
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, require
from rankwright.formats.data_file import DataFile
from rankwright.formats.reading import format_of
from rankwright.formats.rows import Rows
from rankwright.formats.shards import Shards
from rankwright.formats.sources import is_read_once
from rankwright.objectives.objective import Objective
from rankwright.rankers.inputs import check_trained, training_data
from rankwright.rankers.learning import TrainingRun
from rankwright.rankers.plots import draw_bias
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.trained import TrainedRanker
from rankwright.settings.shared import DebiasedSettings
from rankwright.tables.axes import axes_or_new
from rankwright.trees.bias.debiasing import debiased
from rankwright.trees.bias.pair_support import pairs_verdict

logger = logging.getLogger(__name__)
BESIDE = ("pairs", "query_weights", "initial_scores")  # options of `read` that name other files


class DebiasedRanker(Ranker, DebiasedSettings):
    """A ranker that looks at positions: labels are then clicks or click rates, which it corrects before it learns.

    Propensities serve it in place of positions. `debiasing_` tells what was found and done, None where the data had
    neither, or where propensities were taken as weights without a look (`debias="none"`). With `debias="pairwise"`,
    `position_ratios_` are the ratios of positions by the trained model. Model files hold both.
    """

    takes_positions: ClassVar[bool] = True

    _weighs_positions = False  # while it learns: whether documents are weighed by position
    _has_clicks = False  # of a bag's ranker: whether the bags weigh clicks by their propensities
    debiasing_: Debiasing | None = None

    @property
    def position_ratios_(self) -> PositionRatios | None:
        """What positions count by in the trained model; None where documents were not weighed by position."""
        return None if self.debiasing_ is None else self.debiasing_.ratios

    def _weighed_by_position(self, objective: Objective) -> Objective:
        """The objective to train with: one that weighs documents by position while the ranker learns so."""
        return PairwiseDebiased(objective) if self._weighs_positions else objective

    def _learn_scaled(self, data: RankingDataset, valid: Any, run: TrainingRun) -> None:
        self.debiasing_ = None
        if not self._looks_at_bias(data):
            super()._learn_scaled(data, valid, run)
            return
        require(
            data.positions is None or data.propensities is None,
            "position and propensity would correct the same bias twice: give one of them, or set debias='none'",
        )
        if self.debias == "pairwise":
            check_clicks(data)
        data = data.in_key_order(threads=self.threads)
        settings: dict[str, Any] = {"seed": self.seed, "threads": self.threads}
        corrected, self.debiasing_ = debiased(data, always=self.debias == "always", **settings)
        if self.debias == "pairwise":
            self.debiasing_ = pairs_verdict(data, corrected, self.debiasing_, **settings)
        logger.info("position bias: %s", self.debiasing_.reason)
        self._weighs_positions = self.debias == "pairwise" and self.debiasing_.applied
        lesson = corrected
        if self.debias == "pairwise":
            lesson = data if self._weighs_positions else replace(data, positions=None)
        try:
            super()._learn_scaled(lesson, valid, run)
        finally:
            by_pairs, self._weighs_positions = self._weighs_positions, False
        if by_pairs:
            ratios = position_ratios(data, self.scores_in_place(data), threads=thread_count(self.threads))
            self.debiasing_ = replace(self.debiasing_, ratios=ratios)

    def _looks_at_bias(self, data: RankingDataset) -> bool:
        """Whether the data tells how likely its documents were examined, and the ranker is to look at that first."""
        if data.preferences is not None or self.debias == "none":
            return False
        return data.positions is not None or (data.propensities is not None and self.debias != "pairwise")

    def _weighed(self, data: RankingDataset) -> RankingDataset:
        # What is in memory was corrected before it is weighed, and has no propensities any more.
        if data.propensities is not None and self._looks_at_bias(data):
            raise self._needs_memory()
        return super()._weighed(data)

    def plot_bias(self, ax: Any = None) -> Any:
        """Draw how likely each position was examined, by the clicks the ranker was trained on.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        check_trained(self)
        if self.debiasing_ is None:
            raise InputError(f"this {self.name} was trained without positions, or with debias='none': it knows no bias")
        if len(self.debiasing_.examination) == 0:
            raise InputError(f"this {self.name} was trained with propensities, and knows no curve of positions to draw")
        axes = axes_or_new(ax)
        draw_bias(axes, self.debiasing_)
        return axes

    def trained(self) -> TrainedRanker:
        """Return the trained ranker as a value; see `Ranker.trained`."""
        return replace(super().trained(), debiasing=self.debiasing_)

    def _take(self, trained: TrainedRanker) -> None:
        super()._take(trained)
        self.debiasing_ = trained.debiasing

    def _check_training_data(self, data: RankingDataset) -> None:
        super()._check_training_data(data)
        if self._looks_at_bias(data) and not self._weighs_positions:
            raise self._needs_memory()

    def _needs_memory(self) -> InputError:
        return InputError(
            f"{self.name} corrects position bias on features in memory, not on shards, on data read only once or on "
            f"bins: read the data first, or set debias to none"
        )

    def _lasting_settings(self) -> dict[str, Any]:
        # What `auto` does shows in the labels that are trained on, which a checkpoint knows.
        settings = super()._lasting_settings()
        return {name: value for name, value in settings.items() if (name, value) != ("debias", "auto")}

    def _learn_from_file(self, file: DataFile, valid: Any, run: TrainingRun) -> None:
        # Features must be in memory: examination is learned from them.
        self.debiasing_ = None
        if self.debias == "none" or not _tells_examination(file):
            super()._learn_from_file(file, valid, run)
        else:
            self._learn_scaled(training_data(self, file.read(), None, {}), valid, run)


class _FirstRows(Exception):
    """Carries the first rows of a file out of its reading."""


def _tells_examination(file: DataFile) -> bool:
    """Whether the first documents of a file have positions or propensities."""
    if isinstance(file, Shards) or any(map(is_read_once, file.paths)):
        return False
    format = file.format or format_of(file.paths)
    if format == "svmlight":
        return False  # which has no place for them
    options = {name: value for name, value in file.options.items() if name not in BESIDE}
    options |= {"features": (), "categories": ()}  # which are not looked at here

    def stop(rows: Rows) -> None:
        raise _FirstRows(rows.positions is not None or rows.propensities is not None)

    try:
        # Unlike `iterate`, this takes rows in any order.
        DataFile(file.paths, format=format, **options).stream_rows(stop)
    except _FirstRows as found:
        return bool(found.args[0])
    return False

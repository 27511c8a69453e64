"""Position bias as a stage: clicks with positions or propensities are corrected before a ranker learns from them."""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, thread_count
from rankwright.clicks.bias import Debiasing, PairwiseDebiased, PositionRatios, check_clicks
from rankwright.data.dataset import RankingDataset
from rankwright.debiasing.correction import SURE, WHAT, debiased, held_out_scores, shown_documents, standard_errors
from rankwright.errors import InputError, require
from rankwright.formats.blocks import Rows
from rankwright.formats.file_formats import format_of
from rankwright.formats.reading import FILES_BESIDE, DataFile
from rankwright.formats.shards import Shards
from rankwright.formats.storage.streams import is_read_once
from rankwright.metrics.evaluation import ScoredLists, evaluate_lists
from rankwright.metrics.metric_table import as_measure
from rankwright.objectives.families import lambdarank
from rankwright.objectives.objective import Objective
from rankwright.rankers.inputs import check_trained
from rankwright.rankers.plots import draw_bias
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.stages import Passed
from rankwright.rankers.trained import TrainingFindings
from rankwright.rankers.views import View
from rankwright.settings.shared import DebiasedSettings
from rankwright.tables.axes import Axes, axes_or_new

logger = logging.getLogger(__name__)
N_TREES = 120  # of the forests that tell whether weighed pairs rank better
METRIC = "ndcg@10"  # by which they tell


def debias(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Correct labels that are clicks where the log supports it, or have documents weighed by position during training.

    Positions tell where documents were shown; propensities serve in their place. The finding is `debiasing`; nothing is
    found where the data has neither, or where the ranker is to take clicks as they are (`debias="none"`).
    """
    if not looks_at_bias(ranker, data):
        return data, found
    twice = "position and propensity would correct the same bias twice: give one of them, or set debias='none'"
    require(data.positions is None or data.propensities is None, twice)
    by_pairs = ranker.debias == "pairwise"
    if by_pairs:
        check_clicks(data)
    data = data.in_key_order(threads=ranker.threads)
    drawn: dict[str, Any] = {"seed": ranker.seed, "threads": ranker.threads}
    corrected, debiasing = debiased(data, always=ranker.debias == "always", **drawn)
    if by_pairs:
        debiasing = _pairs_verdict(data, corrected, debiasing, **drawn)
        corrected = data if debiasing.applied else replace(data, positions=None)
    logger.info("position bias: %s", debiasing.reason)
    return corrected, replace(found, debiasing=debiasing, weighs_positions=by_pairs and debiasing.applied)


def _pairs_verdict(
    data: RankingDataset, corrected: RankingDataset, found: Debiasing, *, seed: int, threads: int | None
) -> Debiasing:
    """The finding about bias, applied only if pairs weighed by position rank better, measured by corrected labels.

    Weights make the sample of clicks smaller in effect, and they are wrong where users leave after a click; then a
    ranker that is trained with them loses more than position bias costs. So quick forests are grown both ways, and the
    documents of other queries tell which order is better, by what their clicks say once examination is taken out.
    """
    if not found.applied:
        return found
    gain = _gain(data, corrected, seed=seed, threads=threads)
    reason = f"pairs weighed by position rank held-out documents better, by {gain:.1f} standard errors"
    if gain < SURE:
        reason = (
            f"pairs weighed by position rank held-out documents no better than clicks as they are ({gain:+.1f} "
            f"standard errors): clicks were taken as they are"
        )
    return replace(found, applied=gain >= SURE, reason=reason)


def _gain(data: RankingDataset, corrected: RankingDataset, *, seed: int, threads: int | None) -> float:
    """By how many standard errors, over queries, training with weighed pairs ranks better."""
    rows, shown, _ = shown_documents(data)
    assert corrected.labels is not None
    labels, plain = corrected.labels[rows], lambdarank(METRIC)

    def measured(objective: Objective, how: str) -> Float64Array:
        what = f"{WHAT}, pairs {how}"
        scores = held_out_scores(shown, objective, [N_TREES], what=what, seed=seed, threads=threads)[0]
        lists = ScoredLists(scores=scores, labels=labels, groups=shown.groups)
        return evaluate_lists(lists, [measure], measure.convention, threads=thread_count(threads))[METRIC].values

    measure = as_measure(METRIC)
    gains = measured(PairwiseDebiased(plain), "weighed by position") - measured(plain, "as they are")
    return standard_errors(gains[~np.isnan(gains)])


def refuse_bias(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Raise if the data has position bias that was to be corrected, and its features are not in memory for that."""
    if not found.weighs_positions and looks_at_bias(ranker, data):
        raise InputError(
            f"{ranker.name} corrects position bias on features in memory, not on shards, on data read only once or on "
            f"bins: read the data first, or set debias to none"
        )
    return data, found


def looks_at_bias(ranker: DebiasedSettings, data: RankingDataset) -> bool:
    """Whether the data tells how likely its documents were examined, and the ranker is to look at that first."""
    if data.preferences is not None or ranker.debias == "none":
        return False
    return data.positions is not None or (data.propensities is not None and ranker.debias != "pairwise")


class _FirstRows(Exception):
    """Carries the first rows of a file out of its reading."""


def tells_examination(file: DataFile) -> bool:
    """Whether the first documents of a file have positions or propensities."""
    if isinstance(file, Shards) or any(map(is_read_once, file.paths)):
        return False
    format = file.format or format_of(file.paths)
    if format == "svmlight":
        return False  # which has no place for them
    options = {name: value for name, value in file.options.items() if name not in FILES_BESIDE}
    options |= {"features": (), "categories": ()}  # which are not looked at here

    def stop(rows: Rows) -> None:
        raise _FirstRows(rows.positions is not None or rows.propensities is not None)

    try:
        # Unlike `iterate`, this takes rows in any order.
        DataFile(file.paths, format=format, **options).stream_rows(stop)
    except _FirstRows as found:
        return bool(found.args[0])
    return False


# What rankers that look at positions have besides.

debiasing_view = View[Debiasing | None](
    lambda trained: trained.findings.debiasing,
    "What was found about position bias; None where the data had neither positions nor propensities.",
)


position_ratios_view = View[PositionRatios | None](
    lambda trained: getattr(trained.findings.debiasing, "ratios", None),
    "What positions count by in the trained model; None where documents were not weighed by position.",
)


def plot_bias(self: Ranker, ax: Axes | None = None) -> Axes:
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
    debiasing = self.trained_.findings.debiasing
    if debiasing is None:
        raise InputError(f"this {self.name} was trained without positions, or with debias='none': it knows no bias")
    if len(debiasing.examination) == 0:
        raise InputError(f"this {self.name} was trained with propensities, and knows no curve of positions to draw")
    axes = axes_or_new(ax)
    draw_bias(axes, debiasing)
    return axes

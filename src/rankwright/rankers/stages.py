"""The stages that data goes through before it is learned from: each takes data and gives it on, with what it found.

The stages here are functions of a ranker, for its settings and what it states it takes; with the ranker given they are
a `Stage`, which knows nothing of who runs it:

    data, found = run_stages(data, (partial(weigh, ranker), partial(refuse, ranker)), TrainingFindings())
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankwright.clicks.weights import weighed_by_propensity
from rankwright.data.columns import quoted_list
from rankwright.data.dataset import RankingDataset, call_irrelevant
from rankwright.data.keys import key_order
from rankwright.errors import InputError, Message, Parameter
from rankwright.metrics.metric_table import parse_metric
from rankwright.rankers.lesson_facts import check_something_to_learn
from rankwright.rankers.seen import SeenQueries
from rankwright.rankers.trained import TrainingFindings
from rankwright.ranking.gains import GAINS

logger = logging.getLogger(__name__)

USUAL_METRIC = "ndcg@10"  # what rankers are measured by that aim at no metric
UNJUDGED_STREAM = 0x756E  # added to the seed, so that draws here do not depend on those of training

Passed = tuple[RankingDataset, TrainingFindings]  # what a stage gives on
Stage = Callable[[RankingDataset, TrainingFindings], Passed]


def run_stages(data: RankingDataset, stages: Iterable[Stage], found: TrainingFindings) -> Passed:
    """The data after all stages, and what was found before and by them."""
    for stage in stages:
        data, found = stage(data, found)
    return data, found


def weigh(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Weigh clicks by inverse propensity, if the data has propensities."""
    if data.propensities is not None and not ranker.takes_propensities:
        raise InputError(
            f"{ranker.name} measures whole lists, in which one click cannot count more than another: leave propensity "
            f"out, or train a ranker that follows pairs or lists of documents"
        )
    weighed, weights = weighed_by_propensity(data)
    return weighed, found if weights is None else replace(found, propensity_weights=weights)


def refuse(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Raise if the data has something that the ranker cannot learn from, by what it states it takes."""
    if data.initial_scores is not None and not ranker.takes_initial_scores:
        raise InputError(f"{ranker.name} cannot start from initial scores: leave them out")
    weights = data.document_weights
    if not ranker.takes_document_weights and weights is not None and (weights != weights[:1]).any():
        raise InputError(
            f"{ranker.name} measures whole lists, in which a document's weight has no meaning: weigh queries "
            f"(query_weight), or leave document weights out"
        )
    if data.categories and not ranker.takes_categories:
        texts = f"{ranker.name} learns from numbers, and {quoted_list(list(data.categories))} holds texts"
        others = ", turn it into numbers, or train trees, which take categories"
        raise InputError(Message(f"{texts}: leave it out with ", Parameter("drop"), others))
    if data.positions is not None and not ranker.takes_positions:
        given = f"{ranker.name} does not learn from positions, and was given them"
        raise InputError(Message(f"{given}: leave position out, or drop that column with ", Parameter("drop")))
    _check_gains(ranker, data)
    return data, found


def _check_gains(ranker: Any, data: RankingDataset) -> None:
    """Raise where a label has no gain in the metric that the ranker aims at, which could not be measured then.

    A ranker that aims at none may learn from such labels: the log says that the usual metric cannot measure it.
    """
    metric = getattr(ranker, "metric", None)
    if data.labels is None or not (metric is None or isinstance(metric, str)):
        return
    measure = parse_metric(metric or USUAL_METRIC)
    judged = data.labels[~np.isnan(data.labels)]
    if len(judged) == 0 or "gain" not in measure.metric.depends_on:
        return
    try:
        measure.convention.gain(judged if measure.convention.gain.name not in GAINS else judged.max(keepdims=True))
    except InputError as error:
        if metric is None:
            logger.warning("%s; %s learns from it, but %s cannot measure it", error, ranker.name, measure.metric.name)
        else:
            raise InputError(f"{error}, in the setting metric: {metric} can measure no ranker of this data") from None


def order(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Put the data in the order of its keys, so that the order it was given in does not matter; note some queries."""
    keys = key_order(data, threads=ranker.threads)
    return data.in_key_order(keys), replace(found, seen_queries=SeenQueries.of_keys(keys.keys))


def judge_some(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Make a share of the unjudged documents irrelevant, drawn at random; None leaves all of them unjudged."""
    return call_irrelevant(data, ranker.unjudged, np.random.default_rng([ranker.seed, UNJUDGED_STREAM])), found


def ask(ranker: Any, data: RankingDataset, found: TrainingFindings) -> Passed:
    """Raise if there is nothing in the data that the ranker could learn from."""
    check_something_to_learn(ranker.name, data, alone=ranker.recipe.learns_alone(ranker, found))
    return data, found


def usual_stages(ranker: Any, *, allow_empty: bool, ordered: bool = False) -> tuple[Stage, ...]:
    """The stages between what was given and scaling; what is binned already is `ordered` by its keys."""
    stages = (weigh, refuse, *(() if ordered else (order,)), judge_some, *(() if allow_empty else (ask,)))
    return tuple(partial(stage, ranker) for stage in stages)

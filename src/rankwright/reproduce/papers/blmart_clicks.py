"""Click-through data: the slides' pairs of clicks 2, 5 and 7, how often such pairs are right, rankers trained on them.

Clicks are simulated on judged, web-search-like lists: users who read from the top, click what is relevant more often,
and lists made by a poor ranker. With `--data`, the preferences of a real log are compared with its human labels too,
and rankers are trained on them, each document known by what the log says of it; they are measured by the labels of
queries that they were not trained on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array
from rankwright.bagging.blmart import BLMART
from rankwright.clicks.logs.click_log import ClickLog
from rankwright.clicks.logs.log_files import read_log
from rankwright.clicks.preferences import click_rates, row_lookup, with_preferences
from rankwright.clicks.simulation import simulate
from rankwright.clicks.votes import RULES, count_votes, skip_above
from rankwright.data.dataset import RankingDataset
from rankwright.formats.trec import read_qrels
from rankwright.mart.lambdamart import LambdaMART
from rankwright.metrics.confidence_intervals import bootstrap_interval, weighted_mean
from rankwright.metrics.evaluation import RESAMPLES, evaluate
from rankwright.reproduce.experiment import SLIDES, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, ahead, by_fold, figure_of
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.reproduce.sources import CLICKS, DataSource, click_files
from rankwright.synthetic import web_search
from rankwright.tuning.trials import for_json

NAME = "blmart-clicks"
CLICKED = (2, 5, 7)
SLIDE_PAIRS = ((2, 1), (5, 1), (5, 3), (5, 4), (7, 1), (7, 3), (7, 4), (7, 6))
METRIC = "ndcg@10"
SIMULATED = "simulated clicks"
SHOWN, RATES, DEBIASED, JUDGED = "the shown order", "click rates", "click rates, debiased", "judgments"
SKIP, CORRECTED, AND_NEXT = "skip-above", "skip-above, corrected", "skip-above-and-next"
WAYS = (SHOWN, SKIP, CORRECTED, AND_NEXT, RATES, DEBIASED, JUDGED)
LOG_WAYS = (SHOWN, SKIP, CORRECTED, AND_NEXT, RATES)
PAIR_RULES = (*RULES, CORRECTED)
LOG_FOLDS = 5
AGAINST_THE_ORDER = (
    "skip-above only ever votes against the order that was shown: where that order is good, most of its votes are wrong"
)
TOO_FEW_VOTES = "the interval over queries holds 0.5, which is chance"
CLICKS_KNOW_LESS = (
    "documents at the end of the lists are hardly ever seen, so that pairs say nothing about them, while the ranker "
    "that made the lists was trained on labels, though on few: other ways of the table learn more from the same clicks"
)
LABELS_FOLLOW_THE_ORDER = (
    "the log's labels follow the order of the engine, which is hard to beat by them; and documents have no features of "
    "their own here, only what the log says of them"
)
LOG_FEATURES = ("mean rank", "times shown", "click rate", "last-click rate", "first-click rate")


def sources(setup: Setup) -> Sequence[DataSource]:
    """The logs that were given."""
    return [source for source in setup.given if source.kind == CLICKS]


def parts(setup: Setup) -> list[RunPart]:
    """A part for each way to learn from simulated clicks, and for each rule; the same for each log."""
    logs = {"simulated": (None, WAYS)} | {source.name: (source.name, LOG_WAYS) for source in sources(setup)}
    found = []
    for name, (log, ways) in logs.items():
        found += [RunPart(NAME, f"{name}, {way}", {"log": log, "way": way}) for way in ways]
        found += [RunPart(NAME, f"{name}, pairs by {rule}", {"log": log, "rule": rule}) for rule in PAIR_RULES]
    return found


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """The agreement of a rule's pairs with the labels, or the test values of a ranker."""
    if values["log"] is None:
        train, test, log, shown = _simulated(setup)
        if "rule" in values:
            return _agreement(log, train, values["rule"])
        ranker = shown if values["way"] == SHOWN else _ranker(values["way"], train, log, setup)
        return {"values": {METRIC: _values(ranker.predict(test), test)}}
    source = next(one for one in sources(setup) if one.name == values["log"])
    log, data = _logged(source)
    if "rule" in values:
        return _agreement(log, data, values["rule"])
    return {"values": {METRIC: _on_log(values["way"], log, data, setup)}}


@lru_cache(maxsize=1)
def _simulated(setup: Setup) -> tuple[RankingDataset, RankingDataset, ClickLog, LambdaMART]:
    """Documents to train and to test on, clicks on the former, and the ranker that made the lists."""
    queries, sessions = setup.pick(1000, 300, 24), setup.pick(50, 50, 5)
    data = web_search(2 * queries, docs_per_query=20, seed=setup.seed)
    train, test = (data.take_queries(np.arange(queries) + first) for first in (0, queries))
    few = train.take_queries(np.arange(max(2, queries // 100)))
    shown = LambdaMART(
        n_trees=30, max_leaves=15, learning_rate=0.05, min_docs_in_leaf=5, seed=setup.seed, threads=THREADS
    ).fit(few)
    return train, test, simulate(train, shown.predict(train), sessions=sessions, seed=setup.seed), shown


def _ranker(way: str, train: RankingDataset, log: ClickLog, setup: Setup) -> BLMART:
    ranker = BLMART(
        n_bags=setup.pick(20, 5, 2),
        n_trees=setup.pick(200, 100, 3),
        max_leaves=15,
        learning_rate=0.05,
        debias="auto" if way == DEBIASED else "none",
        seed=setup.seed,
        threads=THREADS,
    )
    if way == JUDGED:
        return ranker.fit(train)
    return ranker.fit(click_rates(train, log) if way in (RATES, DEBIASED) else _preferences(way, train, log))


def _preferences(way: str, train: RankingDataset, log: ClickLog) -> RankingDataset:
    rule = way.partition(",")[0]
    return with_preferences(train, log, rule=rule, correct=way == CORRECTED, threads=THREADS).data


def _values(scores: Float64Array, data: RankingDataset) -> list[float | None]:
    return for_json(evaluate(scores, data, [METRIC], threads=THREADS)[METRIC].values)


def _agreement(log: ClickLog, data: RankingDataset, rule: str) -> Result:
    """Of each query's votes on pairs of different labels, how many there are and how many are for the better label."""
    votes = count_votes(log, rule.partition(",")[0], correct=rule == CORRECTED, threads=THREADS)
    rows_of = row_lookup(data, votes.query_ids, votes.document_ids)
    first, second = rows_of(votes.queries, votes.first), rows_of(votes.queries, votes.second)
    probability, weight = votes.preferred()
    assert data.labels is not None
    labels = np.append(data.labels, np.nan)  # row -1 has none
    gap = labels[first] - labels[second]
    counts = (np.nan_to_num(gap) != 0) & (probability != 0.5)
    right = (probability > 0.5) == (gap > 0)
    queries = votes.queries[counts]
    totals = np.bincount(queries, weights=weight[counts], minlength=len(votes.query_ids))
    agree = np.bincount(queries, weights=(weight * right)[counts], minlength=len(votes.query_ids))
    return {
        "pairs": len(votes),
        "against_order": float(votes.against_order),
        "totals": totals[totals > 0].tolist(),
        "agree": agree[totals > 0].tolist(),
    }


@lru_cache(maxsize=1)
def _logged(source: DataSource) -> tuple[ClickLog, RankingDataset]:
    """The log, and the judged documents that it shows, with what it says of each as features."""
    path, labels = click_files(source)
    log, judged = read_log(path), read_qrels(labels)
    grade = {
        (str(q), str(d)): float(g) for q, d, g in zip(judged.query_ids, judged.document_ids, judged.labels, strict=True)
    }
    told = dict(_told_of_documents(log))
    known = [key for key in told if key in grade]
    data = RankingDataset.from_arrays(
        np.array([told[key] for key in known], np.float32),
        np.array([grade[key] for key in known], np.float32),
        qid=np.array([query for query, _ in known]),
        document_ids=np.array([document for _, document in known]),
        feature_names=LOG_FEATURES,
    )
    return log, data


def _told_of_documents(log: ClickLog) -> Iterator[tuple[tuple[str, str], list[float]]]:
    """For each query and document that the log shows: mean rank, how often shown, and rates of clicks."""
    lists = log.list_of_row
    pairs = log.queries[lists].astype(np.int64) << 32 | log.documents
    keys, place = np.unique(pairs, return_inverse=True)
    clicked, ranks = log.clicked.astype(np.float64), log.ranks.astype(np.float64)
    clicked_ranks = np.where(log.clicked, ranks, np.nan)
    last, first = np.full(len(log.queries), -1.0), np.full(len(log.queries), np.inf)
    np.fmax.at(last, lists, clicked_ranks)
    np.fmin.at(first, lists, clicked_ranks)
    shown = np.bincount(place)
    sums = [ranks, clicked, log.clicked & (ranks == last[lists]), log.clicked & (ranks == first[lists])]
    rates = [np.bincount(place, weights=one) / shown for one in sums]
    for number, key in enumerate(keys.tolist()):
        query, document = str(log.query_ids[key >> 32]), str(log.document_ids[key & 0xFFFFFFFF])
        told = [rates[0], np.log1p(shown), *rates[1:]]
        yield (query, document), [float(one[number]) for one in told]


def _on_log(way: str, log: ClickLog, data: RankingDataset, setup: Setup) -> list[float | None]:
    """The value of each query: its documents ranked by what was learnt from clicks on other queries."""
    if way == SHOWN:
        return _values(-data.features[:, 0].astype(np.float64), data)
    if way == RATES:
        return _values(data.features[:, 2].astype(np.float64), data)
    scores = np.zeros(data.n_docs)
    part_of_query = np.random.default_rng(setup.seed).permutation(data.n_queries) % LOG_FOLDS
    for part in range(LOG_FOLDS):
        train = data.take_queries(np.flatnonzero(part_of_query != part))
        held = np.flatnonzero(part_of_query[data.groups.query_of_row] == part)
        pairs = _preferences(way, train, log)
        ranker = LambdaMART(
            n_trees=setup.pick(200, 100, 5), max_leaves=7, learning_rate=0.05, seed=setup.seed, threads=THREADS
        ).fit(pairs)
        scores[held] = ranker.predict(data)[held]
    return _values(scores, data)


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """The tables of each log, and what they say."""
    pairs = skip_above(CLICKED)
    shown = ", ".join(f"({better},{worse})" for better, worse in pairs)
    claims = [Claim("clicks at 2, 5 and 7 give the slide's eight pairs", tuple(pairs) == SLIDE_PAIRS, shown)]
    tables = []
    for log, ways in [(SIMULATED, WAYS), *((source.name, LOG_WAYS) for source in sources(setup))]:
        prefix = "simulated" if log == SIMULATED else log
        agreement = {rule: results[f"{prefix}, pairs by {rule}"] for rule in PAIR_RULES}
        tables.append(PaperTable(f"Preferences from {log} beside labels", _agreement_rows(agreement), 3))
        values = {way: results[f"{prefix}, {way}"] for way in ways}
        rows = {way: {METRIC: figure_of(by_fold([one], METRIC))} for way, one in values.items()}
        tables.append(PaperTable(f"Rankers trained on {log}, measured by labels", rows))
        claims += _claims(log, agreement, {way: by_fold([one], METRIC) for way, one in values.items()})
    note = (
        "agreement: of the votes on pairs of different labels, the share for the better label; 0.5 is chance. "
        "Skip-above only ever votes against the shown order, so that it falls below chance where that order is good"
    )
    return Findings(tables, claims, [note])


def _agreement_rows(agreement: Mapping[str, Result]) -> dict[str, dict[str, Figure]]:
    return {
        rule: {
            "pairs": Figure(float(found["pairs"])),
            "against the order": Figure(found["against_order"]),
            "agreement": _agreement_figure(found),
        }
        for rule, found in agreement.items()
    }


def _agreement_figure(found: Result) -> Figure:
    totals, agree = np.array(found["totals"]), np.array(found["agree"])
    if not len(totals):
        return Figure()
    low, high = bootstrap_interval(agree / totals, totals, resamples=RESAMPLES, seed=0, threads=THREADS)
    return Figure(weighted_mean(agree / totals, totals), None, low, high)


def _claims(log: str, agreement: Mapping[str, Result], values: Mapping[str, Any]) -> Iterator[Claim]:
    for rule in (SKIP, CORRECTED):
        figure = _agreement_figure(agreement[rule])
        if figure.ours is not None and figure.low is not None and figure.high is not None:
            holds = True if figure.low > 0.5 else False if figure.high < 0.5 else None
            found = f"{figure.ours:.3f}, 95 % interval {figure.low:.3f} to {figure.high:.3f}"
            text = f"{log}: what is clicked is more relevant than what was skipped above it ({rule})"
            yield Claim(text, holds, found, AGAINST_THE_ORDER if holds is False else TOO_FEW_VOTES)
    text = f"{log}: a ranker that learns from such pairs (corrected) beats the order that was shown"
    why = CLICKS_KNOW_LESS if log == SIMULATED else LABELS_FOLLOW_THE_ORDER
    yield ahead(text, values[CORRECTED], values[SHOWN], (CORRECTED, SHOWN), otherwise=why)


EXPERIMENT = PaperExperiment(NAME, SLIDES, "Click-through data: implicit feedback", parts, run, conclude, sources)

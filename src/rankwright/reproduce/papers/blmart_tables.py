"""The slides' tables of results: LambdaMART, with randomisation, BL-MART, and the rankers they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rankwright.bagging.blmart import BLMART
from rankwright.mart.lambdamart import LambdaMART
from rankwright.reproduce.experiment import SLIDES, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, ahead, best_of, by_fold, convention_of, fitted
from rankwright.reproduce.outcome import Claim, Findings, PaperTable
from rankwright.reproduce.published import PLAIN, RANDOM, SLIDES_TABLES, WITH, WITHOUT, Rows
from rankwright.reproduce.set_experiments import metrics_table, parts_by_row, ranker_of_table, results_by_row, sets_of
from rankwright.reproduce.sources import DataSource, source_named

NAME = "blmart-tables"
METRICS = ("ndcg@1", "ndcg@3", "ndcg@5", "mean-ndcg", "map")
FORESTS = (PLAIN, RANDOM, WITHOUT, WITH)
# The best configurations of the slides: leaves, share of the rows in a leaf, learning rate, queries and features drawn.
BEST: Mapping[str, tuple[int, float, float, float, float]] = {
    "TD2004": (15, 0.0012, 0.05, 0.5, 0.1),
    "MQ2007": (10, 0.0012, 0.05, 0.5, 0.5),
    "MSLR-WEB10K": (70, 0.0025, 0.05, 1.0, 0.3),
}
USUAL = "MQ2007"  # whose configuration and rankers other sets take
N_BAGS = {"TD2004": 1000, "MQ2007": 1000, "MSLR-WEB10K": 50}

sources = sets_of(*SLIDES_TABLES)


def paper_of(source: DataSource) -> Rows:
    """The slides' rows for a set; for a set that they do not have, the rankers of MQ2007 without figures."""
    return SLIDES_TABLES.get(source.stands_for) or {row: {} for row in SLIDES_TABLES[USUAL]}


def parts(setup: Setup) -> list[RunPart]:
    """A part for each set, fold and ranker."""
    return parts_by_row(NAME, setup, sources(setup), paper_of, quick=2)


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """A ranker's values on the test documents of a fold."""
    source = source_named(sources(setup), values["set"])
    ranker = ranker_for(setup, source, values["row"], f"map:{convention_of(source)}")
    return fitted(ranker, setup, source, values["fold"], METRICS)


def ranker_for(setup: Setup, source: DataSource, row: str, select: str) -> Any:
    """The ranker of a row of the tables, with the slides' settings where they tell them."""
    shared: dict[str, Any] = {"select": select, "seed": setup.seed, "threads": THREADS}
    if row not in FORESTS:
        return ranker_of_table(row, **shared)
    leaves, least, rate, queries, features = BEST.get(source.stands_for, BEST[USUAL])
    shared |= {"max_leaves": leaves, "min_docs_in_leaf": least, "learning_rate": rate}
    shared |= {"n_trees": setup.pick(500, 100, 3)}
    drawn = (1.0, 1.0) if row == PLAIN else (queries, features)
    shared |= dict(zip(("query_fraction", "feature_fraction"), drawn, strict=True))
    if row in (PLAIN, RANDOM):
        return LambdaMART(early_stopping=setup.pick(100, 30, 3), **shared)
    n_bags = setup.pick(N_BAGS.get(source.stands_for, 50), 10, 2)
    return BLMART(n_bags=n_bags, overfit=row == WITH, **shared)


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """A table for each set, and the slides' conclusions."""
    tables: list[PaperTable] = []
    claims: list[Claim] = []
    for source in sources(setup):
        values, paper = results_by_row(source, results), paper_of(source)
        printed = {metric for row in paper.values() for metric in row}
        metrics = [metric for metric in METRICS if not printed or metric in printed]
        tables.append(metrics_table(source, "", values, metrics, paper))
        claims += _claims(source, values)
    note = (
        f"{setup.pick('all', 'two', 'one')} of the folds, "
        f"{setup.pick('the bags of the slides', '10 bags of 100 trees', '2 bags of 3 trees')}; rankers other than "
        "forests with our defaults, forests with the slides' best configuration, steps chosen by MAP on validation "
        "documents"
    )
    return Findings(tables, claims, [note])


def _claims(source: DataSource, values: Mapping[str, Sequence[Result]]) -> Iterator[Claim]:
    *_, queries, features = BEST.get(source.stands_for, BEST[USUAL])
    otherwise = (
        f"the slides' best configuration is taken as it is, with {queries:g} of the queries and {features:g} of the "
        f"features for each tree, and was not tuned for this set: {source.differs}"
    )
    for better, worse, text in (
        (RANDOM, PLAIN, "randomisation makes LambdaMART better"),
        (WITHOUT, RANDOM, "BL-MART beats one randomised LambdaMART"),
        (WITH, WITHOUT, "overfitting in the bags helps BL-MART"),
    ):
        pair = [by_fold(values[row], "map") for row in (better, worse)]
        yield ahead(f"{source.name}: {text} (MAP)", pair[0], pair[1], (better, worse), otherwise=otherwise)
    others = {row: by_fold(found, "map") for row, found in values.items() if row not in FORESTS}
    if others:
        best = best_of(others)
        mine = by_fold(values[WITH], "map")
        text = f"{source.name}: BL-MART beats every other ranker (MAP)"
        yield ahead(text, mine, others[best], (WITH, best), otherwise=otherwise)


EXPERIMENT = PaperExperiment(NAME, SLIDES, "Evaluation results", parts, run, conclude, sources)

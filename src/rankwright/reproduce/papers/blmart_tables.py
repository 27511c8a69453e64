"""The slides' tables of results: LambdaMART, with randomisation, BL-MART, and the rankers they are compared with."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.bagging.blmart import BLMART
from rankwright.experiments.variance import best_length
from rankwright.mart.lambdamart import LambdaMART
from rankwright.reproduce.experiment import FULL, SLIDES, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import (
    THREADS,
    ahead,
    best_fitted,
    best_of,
    by_fold,
    convention_of,
    figure_of,
    fitted,
    values_of,
)
from rankwright.reproduce.outcome import Claim, Findings, PaperTable
from rankwright.reproduce.papers.blmart_tuning import COLUMNS, best_of_some, n_tried
from rankwright.reproduce.published import PLAIN, RANDOM, SLIDES_BEST_CONFIGURATIONS, SLIDES_TABLES, WITH, WITHOUT, Rows
from rankwright.reproduce.set_experiments import (
    TUNED_NOTE,
    metrics_table,
    parts_by_row,
    rankers_of_table,
    results_by_row,
    sets_of,
)
from rankwright.reproduce.sources import DataSource, fold, source_named
from rankwright.tuning.trials import for_json, from_json

NAME = "blmart-tables"
METRICS = ("ndcg@1", "ndcg@3", "ndcg@5", "mean-ndcg", "map")
BAGGED = (WITHOUT, WITH)
# Forests follow our usual forces; one LambdaMART is trained by the slides' formula, too.
BY_FORMULA = {f"{row}, by the slides' formula": row for row in (PLAIN, RANDOM)}
SINGLE = (PLAIN, RANDOM, *BY_FORMULA)
FORESTS = (*SINGLE, *BAGGED)
USUAL = "MQ2007"  # whose configuration and rankers other sets take
N_BAGS = {"TD2004": 1000, "MQ2007": 1000, "MSLR-WEB10K": 50}
SEEDS = 5  # of one LambdaMART; fixed before anything was run
STUDENT_OF_SEEDS = 2.776  # standard errors of a mean over five seeds that hold 95 %
BAGS_OF_A_PART = 50  # so that a run that is killed loses minutes
STEP = 0.01  # of sums of scores, in which documents of a query differ by several units
BAGS_STREAM = 1000  # seeds of a part's bags are so far from those of the next one

sources = sets_of(*SLIDES_TABLES)


def paper_of(source: DataSource) -> Rows:
    """The slides' rows for a set; for a set that they do not have, the rankers of MQ2007 without figures."""
    return SLIDES_TABLES.get(source.stands_for) or {row: {} for row in SLIDES_TABLES[USUAL]}


def parts(setup: Setup) -> list[RunPart]:
    """A part for each set, fold and ranker; the bags of both BL-MARTs are the same ones, in parts of a few.

    The first bags of every fold come before more bags of any, so that a run that was stopped has all folds.
    """
    single_rows = partial(_single_rows, setup)
    single = [_seeded(setup, part) for part in parts_by_row(NAME, setup, sources(setup), single_rows, quick=2)]
    parts_of_bags = partial(_parts_of_bags, setup)
    bags = parts_by_row(NAME, setup, sources(setup), parts_of_bags, quick=2, name="bags", shown="bags {}")
    bags.sort(key=lambda part: int(part.values["bags"]))
    return [*single, *(replace(part, cost=setup.pick(BAGS_OF_A_PART, 10, 2)) for part in bags)]


def _seeded(setup: Setup, part: RunPart) -> RunPart:
    """One forest depends on chance: where there is time, it is trained with several seeds."""
    n_seeds = setup.pick(SEEDS, 1, 1)
    if part.values["row"] not in SINGLE or n_seeds == 1:
        return part
    return replace(part, values={**part.values, "seeds": n_seeds}, cost=n_seeds)


def _single_rows(setup: Setup, source: DataSource) -> list[str]:
    rows = [row for row in paper_of(source) if row not in BAGGED]
    return rows + setup.pick(list(BY_FORMULA), [], [])


def _n_bags(setup: Setup, source: DataSource) -> int:
    return setup.pick(N_BAGS.get(source.stands_for, 50), 10, 2)


def _parts_of_bags(setup: Setup, source: DataSource) -> range:
    return range(-(-_n_bags(setup, source) // BAGS_OF_A_PART))


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """A ranker's values on the test documents of a fold, or what a part of the bags adds to their scores."""
    source = source_named(sources(setup), values["set"])
    select = f"map:{convention_of(source)}"
    if "bags" in values:
        return _bags(setup, source, values["fold"], values["bags"], select)
    if values["row"] not in FORESTS:
        rankers = rankers_of_table(
            values["row"], thorough=setup.size == FULL, select=select, seed=setup.seed, threads=THREADS
        )
        return best_fitted(rankers, setup, source, values["fold"], METRICS)
    ranker = forest_for(setup, source, values["row"], select)
    if "seeds" in values:
        return _with_seeds(ranker, setup, source, values)
    return fitted(ranker, setup, source, values["fold"], METRICS)


def _with_seeds(ranker: Any, setup: Setup, source: DataSource, values: Mapping[str, Any]) -> Result:
    """The mean over seeds of each query's values, and the means over queries of each seed."""
    found = [
        fitted(ranker.set_params(seed=setup.seed + seed), setup, source, values["fold"], METRICS)
        for seed in range(values["seeds"])
    ]
    by_query = {metric: np.array([from_json(one["values"][metric]) for one in found]) for metric in METRICS}
    return {
        "values": {metric: for_json(own.mean(axis=0)) for metric, own in by_query.items()},
        "by_seed": {metric: np.nanmean(own, axis=1).tolist() for metric, own in by_query.items()},
        "training_seconds": sum(one["training_seconds"] for one in found),
    }


def forest_for(setup: Setup, source: DataSource, row: str, select: str) -> Any:
    """The forest of a row of the tables, in the set's best configuration; a plain one draws nothing."""
    settings: dict[str, Any] = {"select": select, "seed": setup.seed, "threads": THREADS}
    settings |= _configuration(setup, source) | {"n_trees": setup.pick(500, 100, 3)}
    if BY_FORMULA.get(row, row) == PLAIN:
        settings |= {"query_fraction": 1.0, "feature_fraction": 1.0}
    if row in BY_FORMULA:
        settings["mode"] = "paper"
    if row in BAGGED:
        return BLMART(n_bags=_n_bags(setup, source), overfit=row == WITH, **settings)
    return LambdaMART(early_stopping=setup.pick(100, 30, 3), **settings)


def _configuration(setup: Setup, source: DataSource) -> dict[str, Any]:
    """The slides' best configuration where the set is theirs, and one that was found here where it is not."""
    if not _is_tuned_by_slides(source):
        return dict(best_of_some(setup, source))
    return dict(zip(COLUMNS.values(), SLIDES_BEST_CONFIGURATIONS[source.stands_for][0][1:], strict=True))


def _is_tuned_by_slides(source: DataSource) -> bool:
    return source.is_known and source.stands_for in SLIDES_BEST_CONFIGURATIONS


def _bags(setup: Setup, source: DataSource, number: int, part: int, select: str) -> Result:
    """The sums over some bags of the test documents' scores: with all trees, and with those that validation chooses.

    Each part has a seed of its own; together they are the bags of one BL-MART. Sums are whole numbers of `STEP`: they
    add up the same in any order, and are kept in little space.
    """
    train, vali, test = fold(source, number, setup.seed)
    ranker = forest_for(setup, source, WITH, select)
    n_bags = min(BAGS_OF_A_PART, ranker.n_bags - part * BAGS_OF_A_PART)
    ranker.set_params(n_bags=n_bags, seed=setup.seed + part * BAGS_STREAM).fit(train)
    sums = {row: np.zeros(test.n_docs) for row in BAGGED}
    n_trees = []
    for bag in map(ranker.bag, range(n_bags)):
        chosen = bag.truncated(best_length(bag, vali, select, ranker.smoothing, threads=THREADS))
        n_trees.append(chosen.n_trees)
        for row, forest in ((WITHOUT, chosen), (WITH, bag)):
            sums[row] += forest.predict(test.features, threads=THREADS)
    return {"sums": {row: _in_steps(total).tolist() for row, total in sums.items()}, "trees": n_trees}


def _in_steps(sums: Float64Array) -> IntArray:
    return np.rint(sums / STEP).astype(np.int64)


def packed(results: Mapping[str, Result]) -> dict[str, Result]:
    """The results with the sums of a fold's bags in the first of their parts."""
    found = dict(results)
    for keys in _parts_of_folds(results).values():
        totals = {row: _total(results, keys, row).tolist() for row in BAGGED}
        for key in keys:
            found[key] = {**results[key], "sums": totals if key == keys[0] else {}}
    return found


def _parts_of_folds(results: Mapping[str, Result]) -> dict[str, list[str]]:
    """The keys of the parts that hold bags, by set and fold."""
    found: dict[str, list[str]] = {}
    for key in (key for key in results if "sums" in results[key]):
        found.setdefault(key.rpartition(", ")[0], []).append(key)
    return found


def _total(results: Mapping[str, Result], keys: Sequence[str], row: str) -> IntArray:
    """The sums over all bags of these parts; those of a packed one are in another."""
    found: IntArray = np.sum([results[key]["sums"][row] for key in keys if results[key]["sums"]], axis=0)
    return found


def with_bags(setup: Setup, results: Mapping[str, Result]) -> dict[str, Result]:
    """The results by set, fold and row: the parts of the bags become the values of both BL-MARTs."""
    found = {key: result for key, result in results.items() if "sums" not in result}
    for source in sources(setup):
        for name, keys in _parts_of_folds(results).items():
            if not name.startswith(f"{source.name}, "):
                continue
            test = fold(source, int(name.rpartition(" ")[2]) - 1, setup.seed)[2]
            n_bags = sum(len(results[key]["trees"]) for key in keys)
            for row in BAGGED:
                scores = test.in_source_order(_total(results, keys, row) * (STEP / n_bags))
                values = values_of(scores, test, METRICS, convention_of(source))
                found[f"{name}, {row}"] = {"values": values, "bags": n_bags}
    return found


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """A table for each set, and the slides' conclusions."""
    tables: list[PaperTable] = []
    claims: list[Claim] = []
    notes: list[str] = []
    results = with_bags(setup, results)
    for source in sources(setup):
        values, paper = _complete(results_by_row(source, results)), dict(paper_of(source))
        paper |= {row: paper[original] for row, original in BY_FORMULA.items()}
        printed = {metric for row in paper.values() for metric in row}
        metrics = [metric for metric in METRICS if not printed or metric in printed]
        tables.append(metrics_table(source, "", values, metrics, paper))
        claims += _claims(setup, source, values)
        notes += [*_chance_of_seeds(source, values), *_bags_so_far(setup, source, values[WITH])]
    note = (
        f"{setup.pick('all', 'two', 'one')} of the folds, "
        f"{setup.pick('the bags of the slides', '10 bags of 100 trees', '2 bags of 3 trees')}; rankers other than "
        f"forests with our defaults ({TUNED_NOTE}), forests with the slides' "
        f"best configuration (for sets not theirs, the best of {n_tried(setup)} on validation documents), "
        "steps chosen by MAP on validation documents; the forces of forests are our usual ones, YetiRank's, unless a "
        "row says that they are those of the slides"
    )
    return Findings(tables, claims, [note, *notes])


def _complete(values: Mapping[str, list[Result]]) -> dict[str, list[Result]]:
    """The rows that have all folds, in a run that is not at its end."""
    return {row: folds for row, folds in values.items() if len(folds) == len(values[WITH])}


def _by_seed(folds: Sequence[Result]) -> Float64Array | None:
    """The MAP of each seed, as a mean over folds; None where a row has one seed."""
    if not all("by_seed" in one for one in folds):
        return None
    return np.asarray(np.mean([one["by_seed"]["map"] for one in folds], axis=0))


def _chance_of_seeds(source: DataSource, values: Mapping[str, Sequence[Result]]) -> Iterator[str]:
    """How much the MAP of one forest depends on its seed; intervals in the tables are over queries alone."""
    for row, folds in values.items():
        if (means := _by_seed(folds)) is not None:
            yield (
                f"{source.name}: {row} has the mean over {len(means)} seeds of each query's value; from seed to seed "
                f"its MAP moves by {means.std(ddof=1):.4f}, one standard deviation, beside the chance over queries "
                "that intervals tell"
            )


def _seeds_told(claim: Claim, pair: Sequence[Sequence[Result]]) -> Claim:
    """The statement with the chance over seeds told apart; it is undecided if that chance could do as much."""
    variances = [means.var(ddof=1) / len(means) for folds in pair if (means := _by_seed(folds)) is not None]
    if not variances:
        return claim
    reach = STUDENT_OF_SEEDS * math.sqrt(sum(variances))
    better, worse = (figure_of(by_fold(folds, "map")).ours or 0.0 for folds in pair)
    found = f"{claim.found}; over seeds ±{reach:.4f} (95 %)"
    if claim.holds is None or abs(better - worse) > reach:
        return replace(claim, found=found)
    return replace(claim, holds=None, found=found, why=f"chance over seeds alone moves it by {reach:.4f} either way")


def _bags_so_far(setup: Setup, source: DataSource, folds: Sequence[Result]) -> Iterator[str]:
    """How many bags there are, where a run is not at its end."""
    numbers, all_bags = sorted({one["bags"] for one in folds}), _n_bags(setup, source)
    if numbers[0] < all_bags:
        told = " to ".join(f"{number:,}" for number in dict.fromkeys((numbers[0], numbers[-1])))
        yield f"{source.name}: BL-MART has {told} bags on a fold so far, of {all_bags:,}"


def work(setup: Setup) -> float:
    """The documents that trees of the bags are grown on: all else is little beside them."""
    n_folds_run = setup.pick(5, 2, 1)
    return sum(
        float(n_folds_run * source.all_docs * _n_bags(setup, source) * setup.pick(500, 100, 3))
        for source in sources(setup)
    )


def is_needed(_: Setup, part: RunPart) -> bool:
    """Fewer bags are a smaller BL-MART, but there must be some on each fold; rows that are extra may be missing."""
    return bool(part.values.get("bags", 0) == 0 and part.values.get("row") not in BY_FORMULA)


def _claims(setup: Setup, source: DataSource, values: Mapping[str, Sequence[Result]]) -> Iterator[Claim]:
    otherwise = source.differs
    if not _is_tuned_by_slides(source):
        otherwise += f"; its configuration was chosen among {n_tried(setup)} on the validation documents of one fold"
    by_formula, plain_by_formula = reversed(BY_FORMULA)
    for better, worse, text in (
        (RANDOM, PLAIN, "randomisation makes LambdaMART better"),
        (by_formula, plain_by_formula, "randomisation makes LambdaMART better, by the slides' formula"),
        (WITHOUT, RANDOM, "BL-MART beats one randomised LambdaMART"),
        (WITH, WITHOUT, "overfitting in the bags helps BL-MART"),
    ):
        if better not in values:
            continue
        pair = [values[row] for row in (better, worse)]
        first, second = (by_fold(folds, "map") for folds in pair)
        claim = ahead(f"{source.name}: {text} (MAP)", first, second, (better, worse), otherwise=otherwise)
        yield _seeds_told(claim, pair)
    others = {row: by_fold(found, "map") for row, found in values.items() if row not in FORESTS}
    if others:
        best = best_of(others)
        mine = by_fold(values[WITH], "map")
        text = f"{source.name}: BL-MART beats every other ranker (MAP)"
        yield ahead(text, mine, others[best], (WITH, best), otherwise=otherwise)


EXPERIMENT = PaperExperiment(
    NAME, SLIDES, "Evaluation results", parts, run, conclude, sources, is_needed=is_needed, packed=packed, work=work
)

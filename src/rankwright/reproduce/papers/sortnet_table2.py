"""SortNet's Table 2: NDCG@1-10 and P@1-10 beside RankBoost, RankSVM, FRank, ListNet and AdaRank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rankwright.reproduce.experiment import FULL, SORTNET, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, ahead, best_fitted, best_of, by_fold, convention_of, figure_of
from rankwright.reproduce.outcome import Claim, Findings
from rankwright.reproduce.papers.sortnet_table1 import (
    METRICS,
    PAPER_CHOICE,
    SCALED_NOTE,
    sortnet_on_fold,
    sources,
    with_scalings,
)
from rankwright.reproduce.published import BY_MAP, BY_P10, NDCG_AT, P_AT, SORTNET_TABLE2, Rows
from rankwright.reproduce.set_experiments import (
    TUNED_NOTE,
    metrics_table,
    parts_by_row,
    rankers_of_table,
    results_by_row,
)
from rankwright.reproduce.sources import DataSource, source_named

NAME = "sortnet-table2"
NOTE = f"rankers other than SortNet with our defaults ({TUNED_NOTE}); means over folds"
QUALITY = {BY_MAP: "map", BY_P10: "p@10"}
USUAL_SIZE = 20  # hidden neurons, for sets that the paper does not have


def paper_of(source: DataSource) -> Rows:
    """The paper's rows for a set; the same rows without figures for another set."""
    return SORTNET_TABLE2.get(source.stands_for) or {row: {} for row in SORTNET_TABLE2["TD2004"]}


def parts(setup: Setup) -> list[RunPart]:
    """A part for each set, fold and ranker."""
    return [with_scalings(setup, part) for part in parts_by_row(NAME, setup, sources(setup), paper_of, quick=3)]


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """A ranker's values on the test documents of a fold."""
    source, row = source_named(sources(setup), values["set"]), values["row"]
    if row in QUALITY:
        hidden = PAPER_CHOICE.get(source.stands_for, USUAL_SIZE)
        return sortnet_on_fold(setup, source, values, hidden=hidden, quality=QUALITY[row])
    settings = {"select": f"map:{convention_of(source)}", "seed": setup.seed, "threads": THREADS}
    rankers = rankers_of_table(row, thorough=setup.size == FULL, scalings=values["scalings"], **settings)
    return best_fitted(rankers, setup, source, values["fold"], METRICS)


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """Both tables of each set, and whether SortNet leads."""
    tables, claims = [], []
    for source in sources(setup):
        found = results_by_row(source, results)
        tables += [metrics_table(source, f", {title}", found, metrics, paper_of(source), 3)
                   for title, metrics in (("NDCG@n", NDCG_AT), ("P@n", P_AT))]  # fmt: skip
        claims += leads(source, found, "ndcg@10")
    return Findings(tables, claims, [NOTE, SCALED_NOTE])


def leads(source: DataSource, found: Mapping[str, list[Result]], metric: str) -> list[Claim]:
    """Whether SortNet is better than the best of the others, as the paper says of TD2004 and not of TD2003."""
    others = {row: by_fold(own, metric) for row, own in found.items() if row not in QUALITY}
    best = best_of(others)
    mine = by_fold(found[BY_MAP], metric)
    text = f"{source.name}: SortNet is better than all others ({metric})"
    otherwise = f"the best of {len(others)} others is taken, after the fact; {source.differs}"
    claim = ahead(text, mine, others[best], (BY_MAP, best), otherwise=otherwise)
    if source.stands_for != "TD2003":
        return [claim]
    # The paper's words for TD2003: about as good as AdaRank and RankBoost.
    like = [row for row in ("RankBoost", "AdaRank-MAP", "AdaRank-NDCG") if row in others]
    values = {row: figure_of(others[row]).ours or 0.0 for row in like}
    own = figure_of(mine)
    holds = None if own.low is None or own.high is None else any(own.low <= one <= own.high for one in values.values())
    told = f"SortNet {own.ours:.4f}; " + ", ".join(f"{row} {value:.4f}" for row, value in values.items())
    text = f"{source.name}: SortNet is about as good as AdaRank and RankBoost ({metric})"
    return [Claim(text, holds, told, f"none of the three lies in SortNet's interval; {source.differs}")]


EXPERIMENT = PaperExperiment(NAME, SORTNET, "SortNet beside other rankers", parts, run, conclude, sources)

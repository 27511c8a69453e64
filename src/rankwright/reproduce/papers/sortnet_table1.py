"""SortNet's Table 1: NDCG@1-10, P@1-10 and MAP of comparators with 10, 20 and 30 hidden neurons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from rankwright.comparators.sortnet import SortNet
from rankwright.reproduce.experiment import SORTNET, PaperExperiment, Result, RunPart, Setup
from rankwright.reproduce.fold_values import THREADS, ahead, by_fold, convention_of, figure_of, fitted
from rankwright.reproduce.outcome import Claim, Findings, PaperTable
from rankwright.reproduce.published import NDCG_AT, P_AT, SORTNET_TABLE1
from rankwright.reproduce.set_experiments import metrics_table, parts_by_row, results_by_row, sets_of
from rankwright.reproduce.sources import DataSource, source_named

NAME = "sortnet-table1"
METRICS = (*NDCG_AT, *P_AT, "map")
HIDDEN = (10, 20, 30)
# Of features: as each ranker has it by itself (SortNet's is the paper's Eq. 4), and by ranks in the query, where a few
# huge values do not press all others together. Every ranker of a table chooses on validation documents.
SCALINGS = (None, "query-ranks")
SCALED_NOTE = (
    "in full runs every ranker takes features as by its defaults (SortNet: the paper's Eq. 4) or as ranks in their "
    "query, whichever does better on the validation documents of the fold"
)
PAPER_CHOICE = {"TD2003": 10, "TD2004": 20}
MAX_ITER = 20

sources = sets_of("TD2003", "TD2004")


def parts(setup: Setup) -> list[RunPart]:
    """A part for each set, fold and number of neurons."""
    found = parts_by_row(NAME, setup, sources(setup), lambda _: HIDDEN, quick=3, name="hidden", shown="{} hidden")
    return [with_scalings(setup, part) for part in found]


def with_scalings(setup: Setup, part: RunPart) -> RunPart:
    """The part, with the scalings of features that it is to try: in a full run all, otherwise the ranker's own."""
    tried = setup.pick(SCALINGS, SCALINGS[:1], SCALINGS[:1])
    return replace(part, values={**part.values, "scalings": list(tried)})


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """A SortNet chosen by MAP on validation documents: its test values, and validation MAP by iteration."""
    source = source_named(sources(setup), values["set"])
    return sortnet_on_fold(setup, source, values, hidden=values["hidden"], quality="map")


def sortnet_on_fold(
    setup: Setup, source: DataSource, values: Mapping[str, Any], *, hidden: int, quality: str
) -> Result:
    """SortNet on a fold, its net and its scaling of features chosen by `quality` on the validation documents."""
    tried = [_scaled_sortnet(setup, source, values["fold"], hidden, quality, one) for one in values["scalings"]]
    return max(tried, key=lambda one: max(one["history"]))


def _scaled_sortnet(
    setup: Setup, source: DataSource, number: int, hidden: int, quality: str, scaling: str | None
) -> dict[str, Any]:
    scaled: dict[str, Any] = {} if scaling is None else {"scaling": scaling}
    ranker = SortNet(
        hidden=hidden,
        select=f"{quality}:{convention_of(source)}",
        max_iter=setup.pick(MAX_ITER, MAX_ITER, 2),
        epochs=setup.pick(30, 30, 2),
        seed=setup.seed,
        threads=THREADS,
        **scaled,
    )
    found = fitted(ranker, setup, source, number, METRICS)
    history = [float(value) for value in ranker.history_.values]
    pairs = [float(one.share_of_pairs) for one in ranker.iterations_]
    return {**found, "history": history, "share_of_pairs": pairs, "scaling": ranker.scaling}


def of_size(source: DataSource, results: Mapping[str, Result], hidden: int) -> list[Result]:
    """The results of nets of one size on a set, a fold each."""
    return results_by_row(source, results)[f"{hidden} hidden"]


def conclude(setup: Setup, results: Mapping[str, Result]) -> Findings:
    """The three tables of each set, and the sizes that validation chooses."""
    tables: list[PaperTable] = []
    claims: list[Claim] = []
    for source in sources(setup):
        paper = SORTNET_TABLE1.get(source.stands_for, {})
        found = {hidden: of_size(source, results, hidden) for hidden in HIDDEN}
        rows = {f"{hidden} hidden": own for hidden, own in found.items()} | {"chosen on vali": _chosen(found)}
        printed = {f"{hidden} hidden": figures for hidden, figures in paper.items()}
        tables += [metrics_table(source, f", {title}", rows, metrics, printed, 3)
                   for title, metrics in (("NDCG@n", NDCG_AT), ("P@n", P_AT), ("MAP", ("map",)))]  # fmt: skip
        claims += _claims(source, found)
    notes = ["nets are chosen by MAP on validation documents; means over folds"]
    return Findings(tables, claims, [*notes, SCALED_NOTE])


def _chosen(found: Mapping[int, list[Result]]) -> list[Result]:
    """For each fold, the result of the size that does best on its validation documents."""
    return [max(sizes, key=lambda one: max(one["history"])) for sizes in zip(*found.values(), strict=True)]


def _claims(source: DataSource, found: Mapping[int, list[Result]]) -> list[Claim]:
    validation = {hidden: sum(max(one["history"]) for one in own) / len(own) for hidden, own in found.items()}
    test = {hidden: figure_of(by_fold(own, "map")).ours or 0.0 for hidden, own in found.items()}
    chosen, best = (max(values, key=lambda hidden: values[hidden]) for values in (validation, test))
    told = "; ".join(
        f"{hidden} hidden: {validation[hidden]:.3f} on vali, {test[hidden]:.3f} on test" for hidden in HIDDEN
    )
    text = f"{source.name}: the size that validation MAP chooses is best on test"
    pair = [by_fold(found[hidden], "map") for hidden in (best, chosen)]
    gap = ahead(text, pair[0], pair[1], (f"{best} hidden", f"{chosen} hidden"), otherwise="")
    few = f"a fold validates on few queries, and the sizes are close: {gap.found}"
    claims = [Claim(text, True if chosen == best else False if gap.holds else None, told, few)]
    if source.stands_for in PAPER_CHOICE:
        wanted = PAPER_CHOICE[source.stands_for]
        # A set in the likeness of the paper's need not want as many neurons.
        holds = chosen == wanted if source.is_known or chosen == wanted else None
        text = f"{source.name}: {wanted} hidden neurons are chosen"
        claims.append(Claim(text, holds, told, f"{few}; {source.differs}"))
    return claims


EXPERIMENT = PaperExperiment(NAME, SORTNET, "The number of hidden neurons", parts, run, conclude, sources)

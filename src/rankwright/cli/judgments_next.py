"""`rankwright judgments next`: which documents to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from rankwright.cli import judgment_options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, DATA_FORMAT, arg, opt, reads_data
from rankwright.cli.output import print_json, print_shown, progress, tell_written
from rankwright.errors import SettingError, require
from rankwright.tables.text import ShownTable, counted

if TYPE_CHECKING:
    from rankwright.judgments.choosing.judging_plan import JudgingPlan
    from rankwright.judgments.judgment_table import Judgments
    from rankwright.metrics.evaluation import ScoredLists

EXAMPLES = (
    "Example: rankwright judgments next documents.txt --model a.rw --model b.rw --budget 100 --out to-judge.csv\n\n"
    "Example: rankwright judgments next --run a.run --run b.run --judged judged.db --budget 50\n\n"
    "Example: rankwright judgments next documents.txt --goal training --model a.rw --judged ratings.csv --budget 200"
)
MOST_SHOWN = 20


@reads_data()
def judgments_next(
    reading: dict[str, Any],
    data: str | None = arg("The documents, with ids of queries and documents.", "DATA", default=None),
    model: list[str] | None = opt("A model file that ranks the documents; may be repeated.", "MODEL"),
    scores: list[str] | None = opt("A file with one score per line, in the order of DATA; may be repeated.", "FILE"),
    run: list[str] | None = opt("A TREC run; may be repeated.", "[NAME=]RUN"),
    goal: Literal["comparison", "training"] = opt(
        "comparison: tell two rankers apart. training: improve the data that one ranker learns from.",
        default="comparison",
    ),
    budget: int = opt("How many documents to propose.", default=50, min=1),
    judged: list[str] | None = opt(
        "Files of judgments or stores with what was judged so far; may be repeated.", "FILE"
    ),
    expected: list[str] | None = opt("Grades that a model foretells; may be repeated.", "FILE"),
    metric: str = opt("comparison: dcg@k or p@k.", default="dcg@10"),
    convention: str = opt("The name of a convention.", default="standard"),
    out: str | None = opt("Write the proposed documents as .csv or .tsv.", "OUT", writes=output_kinds.proposed),
    format: str | None = DATA_FORMAT,
    seed: int = opt("The same seed proposes the same documents.", default=0),
    as_json: bool = AS_JSON,
) -> None:
    """Propose documents whose judgments tell the most, within a budget.

    To tell two rankers apart, documents are drawn at random, more often where the two rank them differently. Judge
    them in the order in which they are proposed, give what was judged with --judged, and the command says which ranker
    is better as soon as that is clear; the estimate has no bias, whenever one stops.

    To improve data to train on, documents are proposed a query at a time, those first of which most is open: some that
    the ranker puts high, and some further down as the contrast.
    """
    from rankwright.judgments.choosing.judging_plan import plan_comparison

    systems = _systems(data, model or [], scores or [], run or [], format, reading)
    with progress():
        known = shared.read_given(judged, {}) if judged else None
        if goal == "training":
            require(len(systems) == 1, f"--goal training takes one ranker, got {len(systems)}")
            found, table = _for_training(systems[0], known, budget, seed)
        else:
            require(
                len(systems) == 2,
                f"a comparison takes two rankers, got {len(systems)}: give --model, --scores or --run twice",
            )
            foretold = shared.read_given(expected, {}) if expected else None
            first, second = systems
            plan = plan_comparison(first, second, metric, convention, expected=foretold, seed=seed)
            found, table = _for_comparison(plan, known, budget)
    if out is not None:
        from rankwright.report.table_files import write_columns

        write_columns(out, found["proposed"])
        tell_written(out)
    print_json(found) if as_json else print_shown(table)


def _for_comparison(plan: JudgingPlan, known: Judgments | None, budget: int) -> tuple[dict[str, Any], ShownTable]:
    """What to judge next and what is known so far, for JSON and as a table."""
    rows = plan.proposed(known, budget)
    columns = {name: [values[row] for row in rows.tolist()] for name, values in plan.columns().items()}
    difference = plan.difference(plan.gains_of(known))
    n_others = 0 if known is None else known.graded().n_pairs - difference.n_judged - difference.n_elsewhere
    found = {"proposed": columns, "difference": difference.to_dict(), "documents": len(plan), "pooled": plan.n_pooled,
             "judged_others": n_others}  # fmt: skip
    others = f"{counted(n_others, 'judged document is', 'judged documents are')} not in the plan, and did not count"
    notes = difference.told(plan.measure.metric.name) + ([others] if n_others else [])
    return found, _table(columns, plan.shown().title, notes)


def _for_training(
    lists: ScoredLists, known: Judgments | None, budget: int, seed: int
) -> tuple[dict[str, Any], ShownTable]:
    from rankwright.arrays import text_ids
    from rankwright.judgments.choosing.training_plan import training_order
    from rankwright.judgments.combining.combined_labels import combine

    if known is None:
        raise SettingError("--goal training needs --judged: what is unsure follows from what was judged")
    order, worth = training_order(lists, combine(known), seed=seed)
    rows = order[:budget]
    assert lists.query_ids is not None
    assert lists.document_ids is not None
    columns = {
        "query": text_ids(lists.query_ids)[lists.groups.query_of_row[rows]].tolist(),
        "document": text_ids(lists.document_ids)[rows].tolist(),
        "tells": (worth[: len(rows)] / max(float(worth[0]), 1e-12)).tolist(),
    }
    title = f"{counted(len(rows), 'document')} whose judgments would improve the data most"
    return {"proposed": columns, "documents": len(order)}, _table(columns, title, [])


def _table(columns: dict[str, Any], title: str, notes: list[str]) -> ShownTable:
    rows = [[query, document, f"{tells:.3f}"] for query, document, tells in zip(*columns.values(), strict=True)]
    more = [f"and {len(rows) - MOST_SHOWN:,} more: --out writes all"] if len(rows) > MOST_SHOWN else []
    return ShownTable(title, list(columns), rows[:MOST_SHOWN], ["tells"], [*more, *notes])


def _systems(
    data: str | None,
    models: list[str],
    scores: list[str],
    runs: list[str],
    format: str | None,
    reading: dict[str, Any],
) -> list[ScoredLists]:
    """What each ranker ranked."""
    if runs:
        require(not models and not scores and data is None, "--run needs no DATA: leave out --model and --scores")
        from rankwright.formats.trec import read_run
        from rankwright.metrics.runs import lists_of_run

        return [lists_of_run(read_run(path.partition("=")[2] or path)) for path in runs]
    if data is None:
        raise SettingError("nothing to rank: give DATA with --model or --scores, or --run")
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for
    from rankwright.formats.reading import read
    from rankwright.formats.sidecars import read_scores
    from rankwright.judgments.prediction_powered import unlabelled_lists

    found = []
    for path in models:
        ranker = load(path)
        documents = read_for(ranker.trained(), data, format=format, **reading)
        found.append(unlabelled_lists(ranker.predict(documents), documents))
    for path in scores:
        documents = read(data, format=format, **reading)
        found.append(unlabelled_lists(read_scores(path, n_docs=documents.n_docs), documents))
    return found

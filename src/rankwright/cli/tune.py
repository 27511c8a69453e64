"""`rankwright tune`: the settings that validation prefers, a model trained with them, and reports on studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, metric_names, opt, reads_data
from rankwright.cli.output import echo, print_json, print_table, progress, tell, tell_written
from rankwright.cli.reporting import check_report_option, origin, write_report
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.rankers.ranker import Ranker
    from rankwright.tuning.cross_validation import CrossValidation
    from rankwright.tuning.strategies import TuningPlan
    from rankwright.tuning.tuner import NestedResult, Tuned

EXAMPLES = (
    "Example: rankwright tune train.txt --strategy halving --space slides-b --folds 5 --metric ndcg@10 --study study "
    "--out model.rw\n\n"
    "Example: rankwright tune train.txt --strategy tpe --trials 50 --search max_leaves=4..64:log --search "
    "learning_rate=0.02..0.3:log --out model.rw\n\n"
    "Example: rankwright tune train.parquet --ranker bm25f --index INDEX --queries queries.tsv --out bm25f.rw\n\n"
    "Example: rankwright tune --show study"
)
OF_HALVING, OF_STUDIES = "With --strategy halving", "Studies that were made"
OF_BM25F, BM25F = "With --ranker bm25f", "bm25f"


@reads_data()
def tune(
    reading: dict[str, Any],
    data: str | None = arg("The documents to train on, or a LETOR folder: Fold1, Fold2, …", "TRAIN", default=None),
    out: str | None = opt("The model file to write, or with --show the folder.", "MODEL", writes=output_kinds.tuned),
    ranker: str = shared.RANKER,
    valid: str | None = opt("Documents to validate on. Default: folds of TRAIN.", "F"),
    settings: list[str] | None = opt("A setting that is not searched; may be repeated.", "KEY=VALUE", name="--set"),
    search: list[str] | None = opt(
        "A setting to search: a list, a,b,c, or a range, low..high[:log]. May be repeated.",
        "KEY=VALUES",
        name="--search",
    ),
    space: str | None = opt(
        "What to search: own, slides-a, slides-b, or a .json or .toml file. Default: --search, or own."
    ),
    strategy: str = opt("How to search: grid, random, halving, tpe, gp or qmc.", default="random"),
    trials: int | None = opt("How many configurations to try."),
    metric: str = opt("The metric to improve, such as ndcg@10:letor.", default="ndcg@10"),
    metrics: str | None = opt("Further metrics to record, separated by commas."),
    folds: int = opt("How many folds to cut TRAIN into; each is used for validation in turn.", default=5),
    seeds: int = shared.FOLD_SEEDS,
    seed: int = opt("The same seed gives the same search.", default=0),
    min_budget: int | None = opt("How many steps the first round gets.", panel=OF_HALVING),
    eta: int = opt("One configuration in ETA continues, with ETA times the steps.", panel=OF_HALVING, default=3),
    nested: int | None = opt("Measure the whole search on K outer folds that it never sees.", "K"),
    study: str | None = opt(
        "A folder that keeps every experiment; a killed search continues from it.",
        "DIR",
        writes=output_kinds.kept_folder,
    ),
    report: str | None = shared.REPORT_FILE,
    show: list[str] | None = opt("Show the study in this folder; may be repeated, to compare.", "DIR", OF_STUDIES),
    picture: str = opt("svg, png or pdf.", panel=OF_STUDIES, default="svg"),
    index: str | None = opt("The index of the documents.", "INDEX", OF_BM25F),
    queries: str | None = opt("The queries of TRAIN with their texts.", "F", OF_BM25F),
    cluster: str | None = shared.CLUSTER,
    workers: int | None = opt("How many experiments to run at a time. Default: one per core."),
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Search for the best settings of a ranker, then train with them on all of TRAIN.

    Without --search and --space, the ranker's own space is searched. --search alone is the whole space; with --space it
    replaces what the space says about that setting. A setting given by --set is not searched.

    On a LETOR folder, settings are chosen on the validation documents and measured on the test documents. With
    --nested, K outer folds show what such a search reaches on queries it never saw.

    --ranker bm25f tunes BM25F, which is no ranker that is trained: k1, and of each text field weight.FIELD and b.FIELD,
    on the documents of TRAIN, found by their ids in --index. `compare` and `evaluate` take it as they take models.

    --show shows a study as tables and pictures: what each search reached with how much work, which settings matter,
    and the best configurations. --report writes one page about the search.
    """
    check_report_option(report, valid)
    if show:
        require(data is None, "--show reads studies: leave out TRAIN")
        _show_studies(show, out, picture, report, as_json)
        return
    if data is None:
        raise SettingError("give TRAIN, the documents to train on, or --show")
    from rankwright.formats.reading import has_folds
    from rankwright.tuning.search_spaces import search_from_text
    from rankwright.tuning.strategies import TuningPlan
    from rankwright.tuning.studies.study import announce_study

    metric_names(metric)
    halving: dict[str, Any] = {"min_budget": min_budget, "eta": eta}
    measured: dict[str, Any] = {"metric": metric, "metrics": tuple(metric_names(metrics) or ())}
    plan = TuningPlan(strategy=strategy, trials=trials, folds=folds, seeds=seeds, seed=seed, **measured, **halving)
    if ranker == BM25F:
        unused = (valid, settings, space, nested, study, report, cluster, workers)
        require(not any(unused), "--ranker bm25f takes --search, --strategy, --trials, --metric and --seed")
        _tune_bm25f(data, {"format": format} | reading, search or [], plan, (index, queries), out, as_json)
        return
    require(index is None and queries is None, "--index and --queries go with --ranker bm25f")
    chosen, searched = search_from_text(ranker, settings or (), space=space, search=search or ())
    how: dict[str, Any] = {"space": searched, "plan": plan, "study": study, "cluster": cluster, "workers": workers}
    how["listeners"], reading = [announce_study], {"format": format} | reading
    if nested is not None:
        require(report is None, "--nested has no one search to report on: leave out --report")
        require(valid is None and out is None, "--nested measures a search and writes no model: no --valid, no --out")
        require(not has_folds(data), "--nested cuts folds itself: give one set of documents")
        _nested(chosen, data, nested, reading, as_json, how)
        return
    if has_folds(data):
        require(valid is None, f"{data} has validation documents of its own: leave out --valid")
        require(out is None, "folds of LETOR overlap: there is no one set to train a model on, no --out")
    tuned, tested = _search(chosen, data, valid, reading, how, refits=out is not None)
    if out is not None:
        tuned.ranker.save(out)
    if as_json:
        test = None if tested is None else tested.to_dict()
        print_json(tuned.to_dict() | {"model": out, "study": study, "test": test})
    else:
        _show(tuned, tested)
        tell_written(out)
    if report is not None:
        from rankwright.report.pages.search_page import page_of_tuned

        files = {"training documents": data, "validation documents": valid}
        about = origin(files, {} if out is None else {ranker: out}, seed)
        write_report(report, lambda: page_of_tuned(tuned, about, tested))


def _tune_bm25f(
    data: str,
    reading: dict[str, Any],
    search: list[str],
    plan: TuningPlan,
    texts: tuple[str | None, str | None],
    out: str | None,
    as_json: bool,
) -> None:
    from rankwright.formats.reading import read
    from rankwright.text.collections.queries import read_queries
    from rankwright.text.index.reading import open_index
    from rankwright.text.model_features import rows_in_index
    from rankwright.tuning.bm25f import tune_bm25f
    from rankwright.tuning.search_spaces import space_from_text

    if texts[0] is None or texts[1] is None:
        raise SettingError(
            "--ranker bm25f needs --index and --queries: the documents of TRAIN and the texts of queries"
        )
    with progress():
        index = open_index(texts[0])
        rows = rows_in_index(read(data, **reading), index, read_queries(texts[1]))
        tuned = tune_bm25f(index, rows, plan=plan, space=space_from_text(search) if search else None)
    if out is not None:
        tuned.scorer.save(out)
    if as_json:
        print_json(tuned.to_dict() | {"model": out})
        return
    table = tuned.shown()
    print_table(table.columns, table.rows, numbers=table.numbers)
    echo(f"\n{table.title}")
    tell_written(out)


def _search(
    ranker: Ranker, data: str, valid: str | None, reading: dict[str, Any], how: dict[str, Any], *, refits: bool
) -> tuple[Tuned, CrossValidation | None]:
    """The search, and for a LETOR folder what the chosen settings reach on its test documents."""
    from rankwright.catalog.training import read_parts
    from rankwright.formats.reading import has_folds
    from rankwright.tuning.letor import tune_on_letor
    from rankwright.tuning.tuner import tune as tune_ranker

    with progress():
        if has_folds(data):
            return tune_on_letor(ranker, data, reading=reading, **how)
        parts = read_parts(data, valid, **reading)
        return tune_ranker(ranker, parts.train, valid=parts.valid, refits=refits, **how), None


def _nested(ranker: Ranker, data: str, folds: int, reading: dict[str, Any], as_json: bool, how: dict[str, Any]) -> None:
    from rankwright.formats.reading import read
    from rankwright.tuning.tuner import nested_cross_validation

    with progress():
        found = nested_cross_validation(ranker, read(data, **reading), folds=folds, tell=tell, **how)
    print_json(found.to_dict()) if as_json else _show_nested(found)


def _show(tuned: Tuned, tested: CrossValidation | None) -> None:
    table = tuned.shown()
    print_table(table.columns, table.rows, numbers=table.numbers)
    echo(f"\n{table.title}")
    if tested is not None:
        for name in tested.metrics:
            low, high = tested.interval(name)
            echo(f"test {name} of the chosen settings: {tested.mean(name):.4f} ({low:.4f} to {high:.4f})")


def _show_nested(found: NestedResult) -> None:
    from rankwright.tuning.tuner import listed_settings

    low, high = found.interval()
    columns = ["outer fold", "validation", "test", "settings"]
    rows = [
        [str(number), f"{tuned.best.value:.4f}", f"{result.mean:.4f}", listed_settings(tuned.settings)]
        for number, (tuned, result) in enumerate(zip(found.tuned, found.measured, strict=True), start=1)
    ]
    print_table(columns, rows, numbers=columns[:3])
    echo(f"\n{found.metric} of the whole search on queries it never saw: {found.mean:.4f} ({low:.4f} to {high:.4f})")


def _show_studies(studies: list[str], out: str | None, picture: str, report: str | None, as_json: bool) -> None:
    from rankwright.report.pages.search_page import page_of_studies
    from rankwright.report.study_report import write_study_report
    from rankwright.tuning.studies.study_summary import summarise

    summaries = [summarise(folder) for folder in studies]
    target = Path(studies[0]) / "report" if out is None else Path(out)
    written = write_study_report(summaries, target, picture=picture)
    if as_json:
        print_json(written.document | {"files": [str(path) for path in written.files]})
    else:
        echo(written.text)
        tell_written(*written.files)
    if report is not None:
        write_report(report, lambda: page_of_studies(summaries, origin({})))

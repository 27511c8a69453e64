"""`rankwright tune`: the settings that validation prefers, a model trained with them, and reports on studies."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.options import AsJson, Cluster, DataFormat
from rankwright.cli.output import print_json, print_table
from rankwright.cli.progress import study_progress
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.rankers.ranker import Ranker
    from rankwright.settings.spaces import Space
    from rankwright.tuning.cross_validation import CrossValidation
    from rankwright.tuning.folds import Folds
    from rankwright.tuning.nested import NestedResult
    from rankwright.tuning.tuner import Tuned, TuningPlan

EXAMPLE = (
    "Example: rankwright tune train.txt --strategy halving --space slides-b --folds 5 --metric ndcg@10 --study study "
    "--out model.rw   ·   rankwright tune train.txt --strategy tpe --trials 50 --search max_leaves=4..64:log --search "
    "learning_rate=0.02..0.3:log --out model.rw   ·   rankwright tune --report study"
)

OWN = "own"  # what --space calls the ranker's own space


def tune(
    data: Annotated[
        str | None,
        typer.Argument(metavar="TRAIN", help="The documents to train on; or a folder of LETOR's Fold1, Fold2, …"),
    ] = None,
    out: Annotated[str | None, typer.Option(metavar="MODEL", help="The model file to write.")] = None,
    ranker: Annotated[str, typer.Option(help="Its name; `rankwright list rankers` tells which.")] = "lambdamart",
    valid: Annotated[
        str | None, typer.Option(metavar="F", help="Documents to validate on. Default: folds of TRAIN.")
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="A setting that is not searched; may be repeated."),
    ] = None,
    search: Annotated[
        list[str] | None,
        typer.Option("--search", metavar="KEY=VALUES", help="A list, a,b,c, or a range, low..high[:log]; repeated."),
    ] = None,
    space: Annotated[
        str | None,
        typer.Option(help="own, slides-a, slides-b, or a .json or .toml file. Default: --search alone, else own."),
    ] = None,
    strategy: Annotated[str, typer.Option(help="grid, random, halving, tpe, gp or qmc.")] = "random",
    trials: Annotated[int | None, typer.Option(help="How many configurations to try.")] = None,
    metric: Annotated[str, typer.Option(help="What to search for, such as ndcg@10:letor.")] = "ndcg@10",
    metrics: Annotated[str | None, typer.Option(help="Others to record beside it, separated by commas.")] = None,
    folds: Annotated[int, typer.Option(help="Parts of TRAIN to validate on in turn.")] = 5,
    seeds: Annotated[int, typer.Option(help="How many times each fold is trained.")] = 1,
    seed: Annotated[int, typer.Option(help="The same seed makes the same search.")] = 0,
    min_budget: Annotated[int | None, typer.Option(help="Halving: steps of the first round.")] = None,
    eta: Annotated[int, typer.Option(help="Halving: one in so many goes on, for as many times the steps.")] = 3,
    nested: Annotated[
        int | None, typer.Option(metavar="K", help="Measure the whole search by K outer folds it never sees.")
    ] = None,
    study: Annotated[
        str | None, typer.Option(metavar="DIR", help="Keeps every experiment; a killed search goes on from it.")
    ] = None,
    report: Annotated[
        list[str] | None,
        typer.Option(metavar="DIR", help="Report on the study in this folder instead; repeat to compare studies."),
    ] = None,
    picture: Annotated[str, typer.Option(help="With --report: svg, png or pdf.")] = "svg",
    cluster: Cluster = None,
    workers: Annotated[int | None, typer.Option(help="Experiments at a time. Default: one a core.")] = None,
    format: DataFormat = None,
    as_json: AsJson = False,
) -> None:
    """Search for a ranker's settings, then train with the best on all of TRAIN.

    Without --search and --space the ranker's own space is searched. --search alone is the whole space; beside --space
    it takes the place of what that says of a setting. What is --set is not searched. With --nested, K outer folds tell
    what such a search is worth on queries it never saw. --report draws and tabulates a study: what each search reached
    with how much work, which settings matter, and the best configurations.
    """
    if report:
        require(data is None, "--report reads studies: leave out TRAIN")
        _report(report, out, picture, as_json)
        return
    require(data is not None, "give TRAIN, the documents to train on, or --report")
    assert data is not None
    require(out != "-", "a model goes to a file, not to standard output")
    from rankwright.tuning.tuner import TuningPlan

    chosen, searched = _searched(ranker, settings or [], space, search or [])
    plan = TuningPlan(
        strategy=strategy,
        trials=trials,
        metric=metric,
        metrics=() if metrics is None else tuple(_split(metrics)),
        folds=folds,
        seeds=seeds,
        seed=seed,
        min_budget=min_budget,
        eta=eta,
    )
    where: dict[str, Any] = {"study": study, "cluster": cluster, "workers": workers}
    if nested is not None:
        require(valid is None and out is None, "--nested measures a search and writes no model: no --valid, no --out")
        _nested(chosen, searched, data, plan, nested, where, format, as_json)
        return
    _tune(chosen, searched, data, valid, plan, out, where, format, as_json)


def _searched(ranker: str, settings: list[str], space: str | None, search: list[str]) -> tuple[Ranker, Space]:
    """The ranker and the space; what is set is not searched."""
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.settings.text import values_of
    from rankwright.tuning.space_text import space_from_text
    from rankwright.tuning.tuner import searched_space

    fixed = values_of(settings)
    own = None if space == OWN else space
    chosen, found = searched_space(ranker_from_text(ranker, settings), own, keeps=fixed)
    if space is None and search:
        return chosen, space_from_text(search)
    narrowed = {name: dimension for name, dimension in found.items() if name not in fixed}
    return chosen, narrowed | dict(space_from_text(search))


def _split(metrics: str) -> list[str]:
    from rankwright.metrics.registry import split_metrics

    return split_metrics(metrics)


def _tune(
    ranker: Ranker,
    space: Space,
    data: str,
    valid: str | None,
    plan: TuningPlan,
    out: str | None,
    where: dict[str, Any],
    format: str | None,
    as_json: bool,
) -> None:
    from rankwright.tuning.tuner import tune as tune_ranker

    letor = _letor(data, valid)
    require(letor is None or out is None, "folds of LETOR overlap: there is no one set to train a model on, no --out")
    train, watched = _documents(data, valid, format) if letor is None else (letor[0], None)
    tested = None
    with study_progress() as listeners:
        tuned = tune_ranker(
            ranker, train, valid=watched, space=space, plan=plan, refits=out is not None, listeners=listeners, **where
        )
        if letor is not None:
            tested = _tested(tuned, letor[1], where)
    if out is not None:
        tuned.ranker.save(out)
    if as_json:
        test = None if tested is None else tested.to_dict()
        print_json(tuned.to_dict() | {"model": out, "study": where["study"], "test": test})
        return
    _show(tuned)
    if tested is not None:
        for name in tested.metrics:
            low, high = tested.interval(name)
            typer.echo(f"test {name} of the chosen settings: {tested.mean(name):.4f} ({low:.4f} to {high:.4f})")
    if out is not None:
        typer.echo(f"wrote {out}", err=True)


def _letor(data: str, valid: str | None) -> tuple[Folds, Folds] | None:
    """The folds of a LETOR folder, to choose settings by and to test them on; None where it is no such folder."""
    from rankwright.formats.letor_folders import fold_folders, has_folds, read_fold

    if not has_folds(data):
        return None
    require(valid is None, f"{data} has validation documents of its own: leave out --valid")
    from rankwright.tuning.folds import given_folds

    found = [read_fold(folder) for folder in fold_folders(data)]
    return (
        given_folds([(fold.train, fold.vali, fold.vali) for fold in found]),
        given_folds([(fold.train, fold.vali, fold.test) for fold in found]),
    )


def _tested(tuned: Tuned, folds: Folds, where: dict[str, Any]) -> CrossValidation:
    from rankwright.tuning.cross_validation import cross_validate

    plan = tuned.plan
    return cross_validate(
        tuned.ranker.set_params(select=plan.metric),
        folds,
        metrics=plan.all_metrics,
        seeds=plan.seeds,
        seed=plan.seed,
        cluster=where["cluster"],
        workers=where["workers"],
    )


def _documents(data: str, valid: str | None, format: str | None) -> tuple[RankingDataset, RankingDataset | None]:
    from rankwright.formats.data_file import DataFile

    files = [DataFile(path, format=format) for path in (data, valid) if path is not None]
    for file in files:
        file.check_readable()
    train = files[0].read()
    return train, None if valid is None else files[1].with_defaults(n_features=train.n_features).read()


def _nested(
    ranker: Ranker,
    space: Space,
    data: str,
    plan: TuningPlan,
    folds: int,
    where: dict[str, Any],
    format: str | None,
    as_json: bool,
) -> None:
    from rankwright.tuning.nested import nested_cross_validation

    require(_letor(data, None) is None, "--nested cuts folds itself: give one set of documents")
    train, _ = _documents(data, None, format)
    with study_progress() as listeners:
        found = nested_cross_validation(
            ranker,
            train,
            folds=folds,
            space=space,
            plan=plan,
            listeners=listeners,
            tell=lambda text: typer.echo(text, err=True),
            **where,
        )
    print_json(found.to_dict()) if as_json else _show_nested(found)


def _show(tuned: Tuned) -> None:
    columns = [tuned.plan.metric, "steps", "settings"]
    rows = [
        [f"{result.value:.4f}", f"{result.kept:.0f}", _settings(result.trial.settings)] for result in tuned.ranked[:5]
    ]
    print_table(columns, rows, numbers=columns[:2])
    experiments = sum(len(trial.records) for trial in tuned.trials)
    typer.echo(
        f"\nvalues on validation; {len(tuned.trials)} trials, {experiments} experiments, {tuned.steps_taken} steps"
    )


def _show_nested(found: NestedResult) -> None:
    low, high = found.interval()
    columns = ["outer fold", "validation", "test", "settings"]
    rows = [
        [str(number), f"{tuned.best.value:.4f}", f"{result.mean:.4f}", _settings(tuned.settings)]
        for number, (tuned, result) in enumerate(zip(found.tuned, found.measured, strict=True), start=1)
    ]
    print_table(columns, rows, numbers=columns[:3])
    typer.echo(
        f"\n{found.metric} of the whole search on queries it never saw: {found.mean:.4f} ({low:.4f} to {high:.4f})"
    )


def _settings(settings: dict[str, Any]) -> str:
    return ", ".join(f"{name} {_short(value)}" for name, value in settings.items())


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _report(studies: list[str], out: str | None, picture: str, as_json: bool) -> None:
    from rankwright.report.tuning import write_report
    from rankwright.tuning.study_summary import summarise

    summaries = [summarise(folder) for folder in studies]
    target = Path(studies[0]) / "report" if out is None else Path(out)
    written = write_report(summaries, target, picture=picture)
    if as_json:
        print_json(written.document | {"files": [str(path) for path in written.files]})
        return
    typer.echo(written.text)
    for path in written.files:
        typer.echo(f"wrote {path}", err=True)

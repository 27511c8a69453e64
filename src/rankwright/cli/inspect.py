"""`rankwright inspect`: what a data file or a model file holds, or what an objective's forces are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, DATA_FORMAT, THREADS, arg, flag, metric_names, opt, reads_data
from rankwright.cli.output import echo, print_json, print_rows, print_table, progress, tell_written
from rankwright.errors import SettingError, require
from rankwright.progress.stages import announce
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.arrays import Float64Array
    from rankwright.catalog.rankers import ModelDescription
    from rankwright.data.dataset import RankingDataset
    from rankwright.objectives.diagnostics import Diagnosis
    from rankwright.objectives.objective import Objective
    from rankwright.profile.data_summary import NumberRange, Summary
    from rankwright.rankers.importance import PermutationImportance

EXAMPLES = (
    "Example: rankwright inspect train.txt.gz\n\n"
    "Example: rankwright inspect log.jsonl.gz\n\n"
    "Example: rankwright inspect INDEX\n\n"
    "Example: rankwright inspect pbm.rw --plot examination.svg\n\n"
    "Example: rankwright inspect model.rw --data test.txt --metric ndcg@10\n\n"
    "Example: rankwright inspect --objective lambdarank:ndcg@10 --plot forces.svg"
)
OF_MODEL, OF_OBJECTIVE, OF_LOG = "A model", "An objective", "A click log"
DEFAULT_METRIC = "ndcg@10"
NAMES_SHOWN = 10
EXAMINED_WIDTH, DIAGNOSED_WIDTH = 28, 34
FACT_LABELS = {"most_leaves": "leaves, largest tree", "of": "bags of"}  # for facts whose names say too little


@reads_data(query="query_column")
def inspect(
    reading: dict[str, Any],
    file: str | None = arg(
        "A data file, - for standard input; a click log; a file of a model or a click model; or an index's folder.",
        "DATA|MODEL|INDEX",
        default=None,
    ),
    data: str | None = opt("Documents to examine MODEL on: how much worse it is without each feature.", "F", OF_MODEL),
    metric: str | None = opt(
        "The metric to examine MODEL by, with --data.", panel=OF_MODEL, show_default=DEFAULT_METRIC
    ),
    top: int = opt("How many features of MODEL to show.", "N", OF_MODEL, min=0, default=10),
    objective: str | None = opt(
        "Diagnose the forces of this objective, on a query of DATA or on an example.", "NAME", OF_OBJECTIVE
    ),
    settings: list[str] | None = opt(
        "A setting of the objective, such as margin=2; mode=paper is the plain formula of the papers. May be repeated.",
        "KEY=VALUE",
        OF_OBJECTIVE,
        name="--set",
    ),
    query: str | None = opt("The id of a query of DATA. Default: the first query.", "Q", OF_OBJECTIVE),
    scores: str | None = opt("One score per document of DATA. Default: random scores.", "F", OF_OBJECTIVE),
    strict: bool = flag("--strict", "Stop at the first event that cannot be read.", OF_LOG),
    plot: str | None = opt(
        "Draw the forces on the documents of the query, the training of MODEL, or how far down users look by a click "
        "model: .svg, .png or .pdf.",
        "FILE",
        writes=output_kinds.picture,
    ),
    format: str | None = DATA_FORMAT,
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Describe a data file and point out what looks wrong in it, or describe a click log, a model file, a file of a
    click model, or an index of documents, of which every byte is checked.

    The features of a model are listed by how much their splits gained. With --data, they are also listed by how much
    the metric drops when the values of a feature are shuffled among all documents; for SortNet, the stability of its
    order is shown as well.

    With --objective, diagnose the forces of an objective on the documents of one query.
    """
    require(data is not None or metric is None, "--metric goes with --data")
    metric_names(metric)
    reading = {"format": format} | reading
    if objective is not None:
        require(not strict, "--strict goes with a click log, not with --objective")
        require(data is None, "--data goes with a model: give the documents to diagnose on as DATA")
        from rankwright.catalog.settings import objective_from_text

        diagnosed = objective_from_text(objective, settings or ())
        _inspect_objective(diagnosed, *_query_with_scores(file, query, scores, reading), plot, as_json)
        return
    require(not (settings or query or scores), "--set, --query and --scores go with --objective")
    if file is None:
        raise SettingError(
            "there is nothing to inspect: give a data file, a click log, a model file, or an --objective"
        )
    from rankwright.clicks.models.named_models import is_click_model
    from rankwright.container.file import is_container
    from rankwright.imports.format_table import source_of
    from rankwright.text.index.manifest import SEGMENT_PREFIX, is_index

    if is_index(file) or any(Path(file).glob(f"{SEGMENT_PREFIX}*")):  # what a build that was ended leaves is one, too
        require(
            not (strict or plot or data), f"--strict, --plot and --data go with other files, and {file} is an index"
        )
        _inspect_index(file, as_json)
        return
    if is_click_model(file):
        require(not strict, f"--strict goes with a click log, and {file} is a click model")
        require(data is None, f"--data goes with a ranker, and {file} is a click model")
        _inspect_click_model(file, plot, as_json)
        return
    if is_container(file) or source_of(file) is not None:
        require(not strict, f"--strict goes with a click log, and {file} is a model")
        if plot is not None:
            _draw_training(file, plot)
        _inspect_model(file, data, reading, metric or DEFAULT_METRIC, threads, top, as_json)
        return
    require(plot is None, f"--plot goes with --objective or a model, and {file} is none")
    require(data is None, f"--data goes with a model, and {file} is none")
    from rankwright.clicks.logs.log_files import looks_like_log

    if format is None and looks_like_log(file):
        _inspect_log(file, strict, as_json)
        return
    require(not strict, f"--strict goes with a click log, and {file} does not look like one")
    _inspect_data(file, reading, as_json)


def _inspect_index(path: str, as_json: bool) -> None:
    """Print what an index holds, after a check of all of it."""
    from rankwright.text.index.reading import open_index
    from rankwright.text.index.summary import index_rows, index_summary

    with progress():
        index = open_index(path, check=True)
    print_json(index_summary(index)) if as_json else print_rows(index_rows(index))


def _inspect_log(path: str, strict: bool, as_json: bool) -> None:
    """Print what a click log holds, and how much of it is of use."""
    from rankwright.clicks.log_summary import summarise_log
    from rankwright.clicks.logs.log_files import read_log

    summary = summarise_log(read_log(path, strict=strict))
    problems = [f"{problem}: {count:,}" for problem, count in summary.problems.items()]
    print_json(summary.to_dict()) if as_json else print_rows(summary.told(), "Found while reading:", problems)


def _inspect_click_model(path: str, plot: str | None, as_json: bool) -> None:
    """Print what a click model learned, and draw how far down users look by it."""
    from rankwright.clicks.models.named_models import load_click_model

    model = load_click_model(path)
    if plot is not None:
        from rankwright.report.drawing import draw_examination

        draw_examination({model.name: model.columns()["examination"]}, plot)
        tell_written(plot)
    print_json(model.to_dict()) if as_json else print_rows(model.told())


def _inspect_data(path: str, reading: dict[str, Any], as_json: bool) -> None:
    """Print what a data file holds and what looks wrong in it."""
    from rankwright.formats.reading import read
    from rankwright.profile.data_summary import summarise

    with progress():
        data = read(path, **reading)
        announce("looking for what is suspicious")
        summary = summarise(data)
    if as_json:
        print_json(summary.as_dict())
    else:
        print_rows(data_rows(summary), "Worth a second look:", [str(remark) for remark in summary.remarks])


def data_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    """The labels and texts that show a person the summary."""
    yield "queries", f"{summary.queries:,}, {summary.queries_with_nothing_relevant:,} with nothing relevant"
    yield "documents", f"{summary.documents:,}"
    if summary.documents_per_query is not None:
        yield "documents a query", _spread(summary.documents_per_query)
    yield "features", f"{summary.features:,}"
    yield from _label_rows(summary)
    yield "missing values", _missing(summary)
    yield "constant features", _listed(summary.constant_features)
    yield "duplicate features", _listed([" = ".join(group) for group in summary.duplicate_features])
    if summary.also_has:
        yield "also has", ", ".join(summary.also_has)


def _label_rows(summary: Summary) -> Iterator[tuple[str, str]]:
    if summary.labels:
        for place, (label, count) in enumerate(summary.labels.items()):
            yield ("labels" if place == 0 else ""), f"{label:>4}  {count:>12,}  {count / summary.documents:6.1%}"
    elif summary.label_spread is not None:
        yield "labels", _spread(summary.label_spread)
    if summary.unjudged:
        yield "unjudged", counted(summary.unjudged, "document")
    yield "queries of one label", f"{summary.queries_with_one_label:,}"


def _spread(spread: NumberRange) -> str:
    return f"{spread.smallest:,g} to {spread.largest:,g}, median {spread.median:,g}, mean {spread.mean:,.4g}"


def _missing(summary: Summary) -> str:
    if not summary.missing_values:
        return "none"
    worst = sorted(summary.missing_share_of.items(), key=lambda item: -item[1])
    share = summary.missing_values / (summary.documents * summary.features)
    return f"{share:.2%}, in {counted(len(worst), 'feature')}: " + _listed(
        [f"{name} ({part:.0%})" for name, part in worst]
    )


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    return (", ".join(names[:NAMES_SHOWN]) + more) or "none"


def _draw_training(path: str, plot: str) -> None:
    from rankwright.catalog.rankers import load
    from rankwright.report.drawing import draw_training

    draw_training(load(path), plot)
    tell_written(plot)


def _inspect_model(
    path: str, data: str | None, reading: dict[str, Any], metric: str, threads: int | None, top: int, as_json: bool
) -> None:
    """Print what a model file holds, and what the model does with the documents of `data`, where they are given."""
    from rankwright.catalog.rankers import describe_model, load

    model, found, permuted = describe_model(path), dict[str, Any](), None
    if data is not None:
        from rankwright.catalog.scoring import read_for
        from rankwright.rankers.importance import permutation_importance

        with progress():
            ranker = load(path).set_params(threads=threads)
            documents = read_for(ranker.trained(), data, **reading)
            found = ranker.examine(documents)
            permuted = permutation_importance(ranker, documents, metric, threads=threads)
    if as_json:
        print_json(model.to_dict() | found | {"permutation": None if permuted is None else permuted.to_dict()})
    else:
        _show_model(model, found, permuted, top)


def _show_model(
    model: ModelDescription, examined: dict[str, Any], permuted: PermutationImportance | None, top: int
) -> None:
    print_rows(_model_rows(model))
    kinds = model.importances
    if kinds:
        echo()
        rows = [
            [model.feature_names[number], *(f"{values[number]:,.4g}" for values in kinds.values())]
            for number in model.ordered()[:top].tolist()
        ]
        print_table(["feature", *kinds], rows, numbers=kinds)
    for name, figures in examined.items():
        echo(f"\n{name} the documents of the data:")
        for label, value in figures.items():
            echo(f"  {label.replace('_', ' '):{EXAMINED_WIDTH}}{_number(value)}")
    if permuted is not None:
        _show_permuted(permuted, top)


def _show_permuted(permuted: PermutationImportance, top: int) -> None:
    drop, names = f"drop of {permuted.metric}", permuted.feature_names
    echo(f"\n{permuted.metric} is {permuted.baseline:.4f}; with one feature shuffled it drops by:")
    mean, spread = permuted.mean, permuted.spread
    rows = [
        [names[number], f"{mean[number]:.4f}", f"{spread[number]:.4f}"] for number in permuted.ordered()[:top].tolist()
    ]
    print_table(["feature", drop, "spread"], rows, numbers=[drop, "spread"])


def _model_rows(model: ModelDescription) -> Iterator[tuple[str, str]]:
    yield "ranker", model.ranker
    yield "features", f"{len(model.feature_names):,}"
    yield "scaling", model.scaling or "none"
    for name, value in model.facts.items():
        label = FACT_LABELS.get(name, name.replace("_", " "))
        if name == "weights_of_rankers":  # of a blend
            for place, one in enumerate(value):
                sizes = ", ".join(f"{size:,} {what}" for what, size in one.items() if isinstance(size, int))
                told = f"{one['ranker']} {one['weight']:.3f}" + (f" ({sizes})" if sizes else "")
                yield (label if place == 0 else ""), told
        else:
            yield label, _number(value)
    if model.compressed_from is not None:
        yield "compressed from", ", ".join(f"{name} {_number(value)}" for name, value in model.compressed_from.items())
    if model.debiasing is not None:
        yield "position bias", model.debiasing["reason"]
        if model.debiasing["examination"]:  # none where propensities were given
            yield "", "examined, by position: " + " ".join(f"{one:.2f}" for one in model.debiasing["examination"])
    yield from _text_rows(model)
    yield "training", _training(model.history)
    if model.training_data is not None:
        yield "training data", model.training_data
    for place, (name, value) in enumerate(sorted(model.settings.items())):
        shown = f"{model.chosen[name]} (by the data)" if value is None and name in model.chosen else value
        yield ("settings" if place == 0 else ""), f"{name} = {_named(shown)}"


def _named(value: Any) -> Any:
    """The value of a setting; rankers of a bag or a blend by their names alone, `--json` has their settings."""
    if isinstance(value, dict):
        return value.get("name", value.get("ranker", value))
    if isinstance(value, list) and any(isinstance(one, dict) for one in value):
        return ", ".join(str(_named(one)) for one in value)
    return value


def _text_rows(model: ModelDescription) -> Iterator[tuple[str, str]]:
    """How features are made of texts, where they are."""
    if model.feature_origin is None:
        return
    yield "features are made of", ", ".join(f"{name} ({kind})" for name, kind in model.feature_origin["fields"])
    analyser = model.feature_origin["analyser"]
    yield "texts are analysed by", ", ".join(f"{name} {value}" for name, value in sorted(analyser.items()))
    for place, line in enumerate(model.feature_origin["specification"]["features"]):
        told = " ".join(f"{name}={_listed_value(value)}" for name, value in line.items() if name != "family")
        yield ("specification" if place == 0 else ""), f"{line['family']} {told}".strip()
    for name, fingerprint in model.feature_origin["functions"].items():
        yield "own function", f"{name}, fingerprint {fingerprint}"
    if model.text_statistics is not None:
        kept = model.text_statistics
        which = "all" if kept["complete"] else "the commonest"
        yield "statistics of texts", f"{which} {kept['terms']:,} terms of {counted(kept['documents'], 'document')}"


def _listed_value(value: Any) -> str:
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _number(value: Any) -> str:
    return f"{value:,.6g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _training(history: dict[str, Any]) -> str:
    end = ", interrupted" if history["interrupted"] else ", stopped early" if history["stopped_early"] else ""
    if history["best_step"] is None:
        return f"nothing was watched{end}"
    steps, which = len(history["values"]), "best" if history["chosen"] else "last"
    return (
        f"{which} {history['watched']} {history['best_value']:.4f} "
        f"after step {history['best_step'] + 1} of {steps}{end}"
    )


def _inspect_objective(
    objective: Objective, documents: RankingDataset, scores: Float64Array, plot: str | None, as_json: bool
) -> None:
    """Diagnose an objective's forces on the documents of a query; print what was found, and draw."""
    from rankwright.objectives.diagnostics import diagnose

    diagnosis = diagnose(objective, documents, scores)
    if plot is not None:
        from rankwright.report.drawing import draw_forces

        draw_forces(objective, documents, scores, plot)
        tell_written(plot)
    print_json(diagnosis.as_dict()) if as_json else echo("\n".join(_diagnosed(diagnosis)))


def _query_with_scores(
    file: str | None, query: str | None, scores: str | None, reading: dict[str, Any]
) -> tuple[RankingDataset, Float64Array]:
    """The documents of a query of the file and their scores; without a file, those of an example."""
    from rankwright.formats.reading import read
    from rankwright.formats.sidecars import read_scores
    from rankwright.objectives.force_field import example_query, query_with_scores

    if file is None:
        require(not (query or scores), "--query and --scores go with a data file")
        return example_query()
    documents = read(file, **reading)
    given = None if scores is None else read_scores(scores, n_docs=documents.n_docs)
    return query_with_scores(documents, query, given, name=file)


def _diagnosed(found: Diagnosis) -> Iterator[str]:
    """The lines that show a person the diagnosis."""
    documents = counted(found.field.n_docs, "document")
    yield f"{found.objective} on {documents}, at {found.n_points} points around the scores"
    yield ""
    for label, holds, text in _diagnosis_rows(found):
        yield f"{label:{DIAGNOSED_WIDTH}}{'' if holds is None else 'yes' if holds else 'no':5}{text}".rstrip()


def _diagnosis_rows(found: Diagnosis) -> Iterator[tuple[str, bool | None, str]]:
    small, asymmetry, loop = found.negligible, found.asymmetry, found.loop
    lowest, sideways, down = found.lowest_eigenvalue.size, found.sideways_jump.size, found.downward_jump.size
    bends = f"largest |J_ij - J_ji| {asymmetry.size:.2g}" + _documents(asymmetry.documents, asymmetry.size > small)
    yield "Jacobian symmetric (Eq. 11)", found.has_symmetric_jacobian, bends
    is_open = abs(loop.size) > small
    moved = f", moved by {loop.moves[0]:.2f} and {loop.moves[1]:.2f} and back" if is_open else ""
    integral = f"largest integral {loop.size:.2g}{_documents(loop.documents, is_open)}{moved}"
    yield "closed paths integrate to 0", abs(loop.size) <= small, integral
    yield "rank changes move only the two", sideways <= small, f"largest jump of another force {sideways:.2g}"
    recovered = f"recovered by integration to within {found.cost_error or 0:.1g} of the objective's own"
    yield "a cost exists", found.has_cost, "" if found.cost_error is None else recovered
    yield "Jacobian positive semidefinite", found.is_semidefinite, f"lowest eigenvalue {_rounded(lowest, small)}"
    yield "no jump down at rank changes", down <= small, f"largest {_rounded(down, small)}"
    yield "convex", found.is_convex, ""
    alpha = "none: no slope makes up for a jump" if found.alpha is None else f"{found.alpha:.4g}"
    yield "smallest α for which α·s mends it", None, alpha


def _documents(documents: tuple[int, ...], is_fault: bool) -> str:
    return f", documents {documents[0]} and {documents[1]}" if is_fault and documents else ""


def _rounded(size: float, negligible: float) -> str:
    return "0" if abs(size) <= negligible else f"{size:.3g}"

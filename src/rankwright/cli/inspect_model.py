"""`rankwright inspect MODEL`: what a model file holds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli.printing import print_json, print_rows, print_table, tell_written
from rankwright.cli.verbosity import progress

if TYPE_CHECKING:
    from rankwright.catalog.inspection import ModelDescription
    from rankwright.rankers.permutation import PermutationImportance

EXAMINED_WIDTH = 28
FACT_LABELS = {"most_leaves": "leaves, largest tree", "of": "bags of"}  # for facts whose names say too little


def inspect_model(
    path: str,
    data: str | None,
    reading: dict[str, Any],
    *,
    metric: str,
    threads: int | None,
    plot: str | None,
    top: int,
    as_json: bool,
) -> None:
    """Print what a model file holds, and what the model does with the documents of `data`, where they are given."""
    from rankwright.catalog.inspection import describe_model
    from rankwright.catalog.rankers import load

    model, found, permuted = describe_model(path), dict[str, Any](), None
    if plot is not None:
        from rankwright.report.drawing import draw_training

        draw_training(load(path), plot)
        tell_written(plot)
    if data is not None:
        from rankwright.catalog.scoring import read_for
        from rankwright.rankers.permutation import permutation_importance

        with progress():
            ranker = load(path).set_params(threads=threads)
            documents = read_for(ranker.trained(), data, **reading)
            found = ranker.examine(documents)
            permuted = permutation_importance(ranker, documents, metric, threads=threads)
    if as_json:
        print_json(model.to_dict() | found | {"permutation": None if permuted is None else permuted.to_dict()})
    else:
        _show(model, found, permuted, top)


def _show(model: ModelDescription, examined: dict[str, Any], permuted: PermutationImportance | None, top: int) -> None:
    print_rows(_rows(model))
    kinds = model.importances
    if kinds:
        typer.echo()
        rows = [
            [model.feature_names[number], *(f"{values[number]:,.4g}" for values in kinds.values())]
            for number in model.ordered()[:top].tolist()
        ]
        print_table(["feature", *kinds], rows, numbers=kinds)
    for name, figures in examined.items():
        typer.echo(f"\n{name} the documents of the data:")
        for label, value in figures.items():
            typer.echo(f"  {label.replace('_', ' '):{EXAMINED_WIDTH}}{_number(value)}")
    if permuted is not None:
        _show_permuted(permuted, top)


def _show_permuted(permuted: PermutationImportance, top: int) -> None:
    drop, names = f"drop of {permuted.metric}", permuted.feature_names
    typer.echo(f"\n{permuted.metric} is {permuted.baseline:.4f}; with one feature shuffled it drops by:")
    mean, spread = permuted.mean, permuted.spread
    rows = [
        [names[number], f"{mean[number]:.4f}", f"{spread[number]:.4f}"] for number in permuted.ordered()[:top].tolist()
    ]
    print_table(["feature", drop, "spread"], rows, numbers=[drop, "spread"])


def _rows(model: ModelDescription) -> Iterator[tuple[str, str]]:
    yield "ranker", model.ranker
    yield "features", f"{len(model.feature_names):,}"
    yield "scaling", model.scaling or "none"
    for name, value in model.facts.items():
        yield FACT_LABELS.get(name, name.replace("_", " ")), _number(value)
    if model.compressed_from is not None:
        yield "compressed from", ", ".join(f"{name} {_number(value)}" for name, value in model.compressed_from.items())
    if model.debiasing is not None:
        yield "position bias", model.debiasing["reason"]
        if model.debiasing["examination"]:  # none where propensities were given
            yield "", "examined, by position: " + " ".join(f"{one:.2f}" for one in model.debiasing["examination"])
    yield "training", _training(model.history)
    if model.training_data is not None:
        yield "training data", model.training_data
    for place, (name, value) in enumerate(sorted(model.settings.items())):
        shown = f"{model.chosen[name]} (by the data)" if value is None and name in model.chosen else value
        yield ("settings" if place == 0 else ""), f"{name} = {shown}"


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

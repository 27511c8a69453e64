"""What `rankwright inspect MODEL` tells a person."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli.output import LABEL_WIDTH, print_table

if TYPE_CHECKING:
    from rankwright.catalog.inspection import ModelDescription
    from rankwright.rankers.permutation import PermutationImportance

EXAMINED_WIDTH = 28


def show_model(
    model: ModelDescription, examined: dict[str, Any], permuted: PermutationImportance | None, top: int
) -> None:
    """Print the description, what the model does with the data it was examined on, and the `top` features."""
    for label, text in _rows(model):
        typer.echo(f"{label:{LABEL_WIDTH}}{text}")
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
        yield name.replace("_", " "), _number(value)
    if model.compressed_from is not None:
        yield "compressed from", ", ".join(f"{name} {_number(value)}" for name, value in model.compressed_from.items())
    yield "training", _training(model.history)
    if model.training_data is not None:
        yield "training data", model.training_data
    for place, (name, value) in enumerate(sorted(model.settings.items())):
        yield ("settings" if place == 0 else ""), f"{name} = {value}"


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

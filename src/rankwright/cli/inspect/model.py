"""`rankwright inspect MODEL`: what a model file holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli.talk.output import LABEL_WIDTH, print_json, print_table, tell_written
from rankwright.cli.talk.voice import working

if TYPE_CHECKING:
    from rankwright.catalog.inspection import ModelDescription
    from rankwright.rankers.permutation import PermutationImportance

EXAMINED_WIDTH = 28


@dataclass(frozen=True, slots=True)
class Examined:
    """The documents that a model is examined on, and the metric that is looked at."""

    data: str
    metric: str
    reading: dict[str, Any]
    threads: int | None


def inspect_model(path: str, examined: Examined | None, plot: str | None, top: int, as_json: bool) -> None:
    """Print what a model file holds, and what the model does with the documents it is examined on."""
    from rankwright.catalog.inspection import describe_model

    model, found, permuted = describe_model(path), dict[str, Any](), None
    if plot is not None:
        from rankwright.catalog.rankers import load
        from rankwright.report.drawing import draw_training

        draw_training(load(path), plot)
        tell_written(plot)
    if examined is not None:
        with working():
            found, permuted = _examine(path, examined)
    if as_json:
        print_json(model.to_dict() | found | {"permutation": None if permuted is None else permuted.to_dict()})
    else:
        _show(model, found, permuted, top)


def _examine(path: str, examined: Examined) -> tuple[dict[str, Any], PermutationImportance]:
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for
    from rankwright.rankers.permutation import permutation_importance

    ranker = load(path).set_params(threads=examined.threads)
    documents = read_for(ranker.trained(), examined.data, **examined.reading)
    found = ranker.examine(documents)
    return found, permutation_importance(ranker, documents, examined.metric, threads=examined.threads)


def _show(model: ModelDescription, examined: dict[str, Any], permuted: PermutationImportance | None, top: int) -> None:
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

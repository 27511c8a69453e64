"""`rankwright inspect --objective`: the forces of an objective, diagnosed and drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from rankwright.cli.printing import print_json, tell_written
from rankwright.errors import require
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.arrays import Float64Array
    from rankwright.data.dataset import RankingDataset
    from rankwright.objectives.diagnostics import Diagnosis

LABEL_WIDTH = 34


def inspect_objective(
    name: str,
    settings: Sequence[str],
    file: str | None,
    reading: dict[str, Any],
    *,
    query: str | None,
    scores: str | None,
    plot: str | None,
    as_json: bool,
) -> None:
    """Diagnose an objective's forces on a query of the file, or on an example; print what was found, and draw."""
    from rankwright.catalog.settings import objective_from_text
    from rankwright.objectives.diagnostics import diagnose

    objective = objective_from_text(name, settings)
    documents, scored = _query_with_scores(file, query, scores, reading)
    diagnosis = diagnose(objective, documents, scored)
    if plot is not None:
        from rankwright.report.drawing import draw_forces

        draw_forces(objective, documents, scored, plot)
        tell_written(plot)
    print_json(diagnosis.as_dict()) if as_json else typer.echo("\n".join(report(diagnosis)))


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


def report(found: Diagnosis) -> Iterator[str]:
    """The lines that show a person the diagnosis."""
    documents = counted(found.field.n_docs, "document")
    yield f"{found.objective} on {documents}, at {found.n_points} points around the scores"
    yield ""
    for label, holds, text in _rows(found):
        yield f"{label:{LABEL_WIDTH}}{'' if holds is None else 'yes' if holds else 'no':5}{text}".rstrip()


def _rows(found: Diagnosis) -> Iterator[tuple[str, bool | None, str]]:
    small, asymmetry, loop = found.negligible, found.asymmetry, found.loop
    yield (
        "Jacobian symmetric (Eq. 11)",
        found.has_symmetric_jacobian,
        f"largest |J_ij - J_ji| {asymmetry.size:.2g}" + _documents(asymmetry.documents, asymmetry.size > small),
    )
    yield (
        "closed paths integrate to 0",
        abs(loop.size) <= small,
        f"largest integral {loop.size:.2g}"
        + _documents(loop.documents, abs(loop.size) > small)
        + (f", moved by {loop.moves[0]:.2f} and {loop.moves[1]:.2f} and back" if abs(loop.size) > small else ""),
    )
    yield (
        "rank changes move only the two",
        found.sideways_jump.size <= small,
        f"largest jump of another force {found.sideways_jump.size:.2g}",
    )
    yield "a cost exists", found.has_cost, _cost(found)
    yield (
        "Jacobian positive semidefinite",
        found.is_semidefinite,
        f"lowest eigenvalue {_rounded(found.lowest_eigenvalue.size, small)}",
    )
    yield (
        "no jump down at rank changes",
        found.downward_jump.size <= small,
        f"largest {_rounded(found.downward_jump.size, small)}",
    )
    yield "convex", found.is_convex, ""
    alpha = "none: no slope makes up for a jump" if found.alpha is None else f"{found.alpha:.4g}"
    yield "smallest α for which α·s mends it", None, alpha


def _documents(documents: tuple[int, ...], is_fault: bool) -> str:
    return f", documents {documents[0]} and {documents[1]}" if is_fault and documents else ""


def _rounded(size: float, negligible: float) -> str:
    return "0" if abs(size) <= negligible else f"{size:.3g}"


def _cost(found: Diagnosis) -> str:
    if found.cost_error is None:
        return ""
    return f"recovered by integration to within {found.cost_error:.1g} of the objective's own"

"""`rankwright inspect --objective`: what a λ-function is, and its forces as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from rankwright.cli.output import print_json
from rankwright.errors import InputError, require

if TYPE_CHECKING:
    from rankwright.arrays import Float64Array
    from rankwright.data.dataset import RankingDataset
    from rankwright.objectives.diagnostics import Diagnosis

ObjectiveSettings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A setting of the objective, such as margin=2; mode=paper for the papers' plain formula. May be repeated.",
    ),
]

# What is diagnosed where no data is given: good and bad documents, in the right order and in the wrong one.
EXAMPLE_LABELS = (3.0, 0.0, 2.0, 0.0, 1.0, 0.0, 0.0, 1.0)
EXAMPLE_SCORES = (0.6, 2.0, -0.4, 1.3, 0.1, -1.0, -1.7, -2.2)
LABEL_WIDTH = 34


def inspect_objective(
    name: str,
    settings: Sequence[str],
    data: str | None,
    query: str | None,
    scores: str | None,
    plot: str | None,
    format: str | None,
    as_json: bool,
) -> None:
    """Diagnose an objective's forces on a query of the data, or on the example's; print what was found, and draw."""
    from rankwright.catalog.settings import objective_from_text
    from rankwright.objectives.diagnostics import diagnose

    objective = objective_from_text(name, settings)
    documents, places = _example() if data is None else _query_of(data, query, scores, format)
    require(data is not None or not (query or scores), "--query and --scores go with a data file")
    diagnosis = diagnose(objective, documents, places)
    if plot is not None:
        from rankwright.report.forces import draw_forces

        draw_forces(objective, documents, places, plot)
        typer.echo(f"wrote {plot}", err=True)
    print_json(diagnosis.as_dict()) if as_json else typer.echo("\n".join(report(diagnosis)))


def _example() -> tuple[RankingDataset, Float64Array]:
    import numpy as np

    from rankwright.data.dataset import RankingDataset

    n_docs = len(EXAMPLE_LABELS)
    return RankingDataset.from_arrays(np.zeros((n_docs, 0)), EXAMPLE_LABELS, group=[n_docs]), np.array(EXAMPLE_SCORES)


def _query_of(
    data: str, query: str | None, scores: str | None, format: str | None
) -> tuple[RankingDataset, Float64Array]:
    import numpy as np

    from rankwright.formats.reading import read
    from rankwright.formats.sidecars import read_scores

    documents = read(data, format=format)
    every = documents.from_source_order(
        np.random.default_rng(0).normal(size=documents.n_docs)
        if scores is None
        else read_scores(scores, n_docs=documents.n_docs)
    )
    ids = [str(name) for name in documents.qid[documents.groups.offsets[:-1]]]
    if query is not None and query not in ids:
        raise InputError(f"{data} has no query {query!r}; its queries are {', '.join(ids[:5])}{', …' * (len(ids) > 5)}")
    chosen = 0 if query is None else ids.index(query)
    return documents.take_queries([chosen]), every[documents.groups.rows_of(np.array([chosen]))]


def report(found: Diagnosis) -> Iterator[str]:
    """The lines that tell a person what the diagnosis says."""
    yield f"{found.objective} on {found.field.n_docs} documents, at {found.n_points} points around the scores"
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

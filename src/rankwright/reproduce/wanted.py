"""Which data sets an experiment runs on: those that were given, or likenesses of those that the paper has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from rankwright.reproduce.experiment import RunPart, Setup
from rankwright.reproduce.sources import CLICKS, DataSource, made_like, n_folds


def sets_of(*wanted: str) -> Callable[[Setup], Sequence[DataSource]]:
    """The judged sets that were given, or, where there are none, sets like the wanted ones."""

    def sources(setup: Setup) -> Sequence[DataSource]:
        given = [source for source in setup.given if source.kind != CLICKS]
        return given or [made_like(name, setup.size) for name in wanted]

    return sources


def source_named(sources: Sequence[DataSource], name: str) -> DataSource:
    """The one of that name."""
    return next(source for source in sources if source.name == name)


def folds_used(setup: Setup, source: DataSource, quick: int) -> range:
    """The folds that a setup runs: all of them, `quick` of them, or one."""
    return range(min(n_folds(source), setup.pick(5, quick, 1)))


def parts_by_row(
    name: str,
    setup: Setup,
    sources: Sequence[DataSource],
    rows_of: Callable[[DataSource], Iterable[str]],
    quick: int,
) -> list[RunPart]:
    """A part of the experiment for each set, fold and row of the set's table."""
    return [
        RunPart(name, f"{source.name}, fold {number + 1}, {row}", {"set": source.name, "fold": number, "row": row})
        for source in sources
        for number in folds_used(setup, source, quick)
        for row in rows_of(source)
    ]

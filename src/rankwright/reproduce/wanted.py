"""Which data sets an experiment runs on: those that were given, or likenesses of those that the paper has."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rankwright.reproduce.experiment import Setup
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

"""The table of experiments: a new one is a file in `papers` and a name here."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from types import ModuleType

from rankwright.errors import UnknownNameError
from rankwright.reproduce.experiment import PaperExperiment

ALL = "all"
# In the order of the papers. The module of `papers` has the same name with underscores; it is loaded when asked for.
EXPERIMENTS = (
    *("ranknet-figure1", "ranknet-table1", "ranknet-table2", "ranknet-tables3-6"),
    *("lambdarank-wta", "lambdarank-figure1"),
    *("blmart-clicks", "blmart-tables", "blmart-variance", "blmart-overfitting", "blmart-tuning"),
    *("sortnet-table1", "sortnet-table2", "sortnet-figure2", "sortnet-figure3"),
)


def experiment_named(name: str) -> PaperExperiment:
    """The experiment of that name."""
    found: PaperExperiment = _module_of(name).EXPERIMENT
    return found


def summary_of(name: str) -> str:
    """The first line of what the experiment's file says of itself."""
    return (_module_of(name).__doc__ or "").splitlines()[0]


def _module_of(name: str) -> ModuleType:
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, known=[*EXPERIMENTS, ALL])
    return import_module(f"rankwright.reproduce.papers.{name.replace('-', '_')}")


def experiments_named(names: Iterable[str]) -> list[PaperExperiment]:
    """The experiments of those names, each once; `all` names every one."""
    wanted = [one for name in names for one in (EXPERIMENTS if name == ALL else [name])]
    return [experiment_named(name) for name in dict.fromkeys(wanted)]

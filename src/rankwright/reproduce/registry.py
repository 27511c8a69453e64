"""The table of experiments: a new one is a file in `papers` and a line here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module

from rankwright.errors import UnknownNameError
from rankwright.reproduce.experiment import PaperExperiment

ALL = "all"
# Where each experiment stands, in the order of the papers; modules are loaded when they are asked for.
EXPERIMENTS: Mapping[str, str] = {
    "ranknet-figure1": "ranknet_figure1",
    "ranknet-table1": "ranknet_table1",
    "ranknet-table2": "ranknet_table2",
    "ranknet-tables3-6": "ranknet_tables3_6",
    "lambdarank-wta": "lambdarank_wta",
    "lambdarank-figure1": "lambdarank_figure1",
    "blmart-clicks": "blmart_clicks",
    "blmart-tables": "blmart_tables",
    "blmart-variance": "blmart_variance",
    "blmart-overfitting": "blmart_overfitting",
    "blmart-tuning": "blmart_tuning",
    "sortnet-table1": "sortnet_table1",
    "sortnet-table2": "sortnet_table2",
    "sortnet-figure2": "sortnet_figure2",
    "sortnet-figure3": "sortnet_figure3",
}


def experiment_named(name: str) -> PaperExperiment:
    """The experiment of that name."""
    if name not in EXPERIMENTS:
        raise UnknownNameError("experiment", name, known=[*EXPERIMENTS, ALL])
    found: PaperExperiment = import_module(f"rankwright.reproduce.papers.{EXPERIMENTS[name]}").EXPERIMENT
    return found


def summary_of(name: str) -> str:
    """The first line of what the experiment's file says of itself."""
    experiment_named(name)
    text = import_module(f"rankwright.reproduce.papers.{EXPERIMENTS[name]}").__doc__ or ""
    return text.splitlines()[0]


def experiments_named(names: Iterable[str]) -> list[PaperExperiment]:
    """The experiments of those names, each once; `all` names every one."""
    wanted = [one for name in names for one in (EXPERIMENTS if name == ALL else [name])]
    return [experiment_named(name) for name in dict.fromkeys(wanted)]

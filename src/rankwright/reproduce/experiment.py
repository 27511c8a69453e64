"""What an experiment is: its parts, which run side by side and are kept, and what follows from their results."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeVar

from rankwright.errors import SettingError
from rankwright.reproduce.outcome import Findings
from rankwright.reproduce.sources import DataSource

FULL, QUICK, TINY = "full", "quick", "tiny"
SIZES = (FULL, QUICK, TINY)  # as the paper's; for minutes; for seconds, to see that it runs

T = TypeVar("T")
Result = Mapping[str, Any]  # what running a part gave, in types JSON can hold


@dataclass(frozen=True, slots=True)
class Setup:
    """How large an experiment is, its seed, and the data sets that were given; none where data is to be made."""

    size: str = FULL
    seed: int = 0
    given: tuple[DataSource, ...] = ()

    def __post_init__(self) -> None:
        if self.size not in SIZES:
            raise SettingError(f"size is one of {', '.join(SIZES)}, got {self.size!r}")

    def pick(self, full: T, quick: T, tiny: T) -> T:
        """The one of the three that goes with the size."""
        return {FULL: full, QUICK: quick, TINY: tiny}[self.size]

    def to_dict(self) -> dict[str, Any]:
        """What results depend on, in types JSON can hold."""
        data = [{name: value for name, value in one.to_dict().items() if name != "told"} for one in self.given]
        return {"size": self.size, "seed": self.seed, "data": data}


@dataclass(frozen=True, slots=True)
class RunPart:
    """A piece of work that is run and kept alone: the experiment that runs it, its name, and what it is to do.

    `values` are in types JSON can hold. Experiments that need the same work have parts of the same experiment. `cost`
    is about how much work it is beside other parts of its experiment.
    """

    of: str
    key: str
    values: Mapping[str, Any]
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class PaperExperiment:
    """A table or figure of a paper.

    `parts` lists the work of a setup, `run` does one part of it, and `conclude` says what follows from the results,
    which it gets by the keys of the parts, in order. `sources` are the data sets that a setup has for it. `is_needed`
    says of a part that nothing can be concluded before it is done. `packed` gives results by key in less space, such
    that the same follows from them. `work` is about how many documents all trees are grown on, where the time goes by
    that.
    """

    name: str
    paper: str
    title: str
    parts: Callable[[Setup], Sequence[RunPart]]
    run: Callable[[Setup, Mapping[str, Any]], Result]
    conclude: Callable[[Setup, Mapping[str, Result]], Findings]
    sources: Callable[[Setup], Sequence[DataSource]] = lambda _: ()
    is_needed: Callable[[Setup, RunPart], bool] = lambda _, __: True
    packed: Callable[[Mapping[str, Result]], Mapping[str, Result]] = lambda results: results
    work: Callable[[Setup], float] | None = None


def grid_parts(of: str, key: str, **axes: Iterable[Any]) -> list[RunPart]:
    """A part of the experiment `of` for each combination of values; `key` names it, with values in braces."""
    cells = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    return [RunPart(of, key.format(**cell), cell) for cell in cells]


RANKNET = "RankNet (Burges et al. 2005)"
LAMBDARANK = "LambdaRank (Burges 2005)"
SLIDES = "LambdaMART and BL-MART (Ganjisaffar, slides)"
SORTNET = "SortNet (Rigutini et al. 2008)"

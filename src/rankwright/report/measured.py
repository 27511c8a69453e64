"""What a report is about: systems that were measured on the same queries, and where they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.metrics.comparison.system_comparison import SystemComparison
from rankwright.metrics.comparison.verdict import trained_for
from rankwright.metrics.convention import DEFAULT
from rankwright.metrics.evaluation import DEFAULT_METRICS, Evaluation, ScoredLists, evaluate_lists
from rankwright.rankers.ranker import Ranker
from rankwright.report.shown_texts import ShownTexts


@dataclass(frozen=True, slots=True)
class SearchPlace:
    """Where the queries can be searched for: the address of a page, and the command that opens it."""

    address: str
    command: str


@dataclass(frozen=True, slots=True)
class Origin:
    """Where things came from, so that all of it can be done again.

    `command` is the line that was run; `files` are paths by role; `models` are the model files of systems, by name;
    `seed` is that of intervals and tests; `search` is there where an index of the documents is at hand.
    """

    command: str | None = None
    files: Mapping[str, str] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)
    seed: int | None = None
    search: SearchPlace | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """Systems measured on the same queries: one, or several that were compared."""

    evaluations: Mapping[str, Evaluation]
    comparison: SystemComparison | None = None
    lists: Mapping[str, ScoredLists] = field(default_factory=dict)
    data: RankingDataset | None = None
    systems: Mapping[str, Any] = field(default_factory=dict)  # those that score documents by themselves
    texts: ShownTexts = field(default_factory=ShownTexts)

    @classmethod
    def of_comparison(cls, comparison: SystemComparison, texts: ShownTexts) -> Measured:
        """The systems of a comparison, with their lists where it kept them; the best system first."""
        order, material = comparison.ordered(), comparison.material
        evaluations = {name: comparison.evaluations[name] for name in order}
        if material is None:
            return cls(evaluations, comparison, texts=texts)
        lists = {name: material.lists[name] for name in order}
        systems = {name: material.rankers[name] for name in order if name in material.rankers}
        return cls(evaluations, comparison, lists, material.data, systems, texts)

    @property
    def some(self) -> Evaluation:
        """One of the evaluations, for what all of them share."""
        return next(iter(self.evaluations.values()))

    @property
    def metric(self) -> str:
        """The metric that the verdict is about: what the systems were trained for, or else the first one."""
        if self.comparison is not None:
            return self.comparison.headline_metric
        return trained_for(self.systems, self.some) or next(iter(self.some.results))

    @property
    def rankers(self) -> dict[str, Ranker]:
        """The systems that are rankers of ours, which tell how they were trained and what they look at."""
        return {name: system for name, system in self.systems.items() if isinstance(system, Ranker)}


def measured_ranker(ranker: Ranker, data: RankingDataset, texts: ShownTexts) -> Measured:
    """A ranker measured on documents with labels."""
    name, lists = ranker.name, ScoredLists.of_dataset(ranker.predict_from_start(data), data)
    evaluation = evaluate_lists(lists, DEFAULT_METRICS, DEFAULT, threads=ranker.threads)
    return Measured({name: evaluation}, None, {name: lists}, data, {name: ranker}, texts)

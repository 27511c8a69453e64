"""The verdict of a comparison: one metric is its headline, and what the others say against it is named beside it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.metrics.comparison.comparison_tables import p_text, two_digits
from rankwright.metrics.evaluation import Evaluation
from rankwright.metrics.metric_table import as_measure
from rankwright.metrics.significance import AgainstBest, PairedTest, word_of
from rankwright.tables.text import counted, listed

if TYPE_CHECKING:
    from rankwright.metrics.comparison.system_comparison import SystemComparison


def trained_for(systems: Mapping[str, Any], evaluation: Evaluation) -> str | None:
    """The evaluated metric that all rankers among the systems were trained for; None where there is no such metric.

    A metric counts as the same under another convention, if it was not evaluated under its own.
    """
    aims = {name: getattr(system, "selected_metric", None) for name, system in systems.items()}
    found = {_evaluated(aim, evaluation) for aim in aims.values() if aim is not None}
    return found.pop() if len(found) == 1 else None


def _evaluated(metric: Any, evaluation: Evaluation) -> str | None:
    aim = as_measure(metric)
    measures = {name: result.measure for name, result in evaluation.results.items()}
    same = [name for name, own in measures.items() if own == aim]
    alike = [name for name, own in measures.items() if own.metric.name == aim.metric.name]
    return next(iter(same + alike), None)


@dataclass(frozen=True, slots=True, eq=False)
class ComparisonVerdict:
    """What a comparison comes to: the best system by the headline's metric, and what all other metrics say of it.

    `against` is how the second system differs from the first. The other metrics are told apart by where the first
    system stands in them: `better` has those in which it beats the second beyond chance, `worse` those in which the
    best system beats it beyond chance, and `behind` those in which the best system is ahead, which may be chance.
    """

    comparison: SystemComparison
    first: str
    second: str
    against: AgainstBest

    @classmethod
    def of(cls, comparison: SystemComparison) -> ComparisonVerdict:
        """The verdict of a comparison."""
        first, second, *_ = comparison.ordered()
        return cls(comparison, first, second, comparison.against_best[comparison.headline_metric][second])

    @property
    def is_sure(self) -> bool:
        """Whether the first system is better than the second by more than chance, by the headline's metric."""
        return self.against.paired.queries > 1 and self._is_sure(self.against)

    def _is_sure(self, against: AgainstBest) -> bool:
        return against.paired.difference != 0 and against.randomisation_holm < self.comparison.alpha

    @property
    def _others(self) -> list[str]:
        return [metric for metric in self.comparison.metrics if metric != self.comparison.headline_metric]

    @property
    def better(self) -> dict[str, AgainstBest]:
        """Of the other metrics those in which the first system beats the second beyond chance."""
        own = {metric: self.comparison.against_best[metric] for metric in self._others if self._leads(metric)}
        return {metric: against[self.second] for metric, against in own.items() if self._is_sure(against[self.second])}

    def _leads(self, metric: str) -> bool:
        return self.comparison.best[metric] == self.first

    def _is_ahead(self, metric: str) -> bool:
        """Whether the first system leads in another metric, of which nothing else is told."""
        if not self._leads(metric) or (not self.is_sure and metric in self.better):
            return False
        return all(one.paired.difference != 0 for one in self.comparison.against_best[metric].values())

    @property
    def _trails(self) -> dict[str, AgainstBest]:
        against = {metric: self.comparison.against_best[metric].get(self.first) for metric in self._others}
        return {metric: one for metric, one in against.items() if one is not None and one.paired.difference != 0}

    @property
    def worse(self) -> dict[str, AgainstBest]:
        """Of the other metrics those in which the best system beats the first beyond chance."""
        return {metric: one for metric, one in self._trails.items() if self._is_sure(one)}

    @property
    def behind(self) -> list[str]:
        """Of the other metrics those in which another system is ahead of the first, which may be chance."""
        return [metric for metric, one in self._trails.items() if not self._is_sure(one)]

    @property
    def headline(self) -> str:
        """The verdict in a few words."""
        metric, worse = self.comparison.headline_metric, list(self.worse)
        where = f" in {metric}" if worse or (self.better and not self.is_sure) else ""
        if self.against.paired.difference == 0:
            told = f"{self.first} and {self.second} are equal{where}"
        else:
            told = f"{self.first} wins{where}" if self.is_sure else f"{self.first} leads{where}, but that may be chance"
        if worse:
            winner = self.comparison.best[worse[0]]
            more = f" and {counted(len(worse) - 1, 'more metric')}" if len(worse) > 1 else ""
            return f"{told}{', but' if self.is_sure else ';'} {winner} wins in {worse[0]}{more}"
        return f"{told}; it wins in {listed(self.better)}" if where else told

    @property
    def sentence(self) -> str:
        """The verdict in full: by how much, how sure that is, on how many queries, and what other metrics say."""
        return " ".join([self._of_headline_metric(), *self._of_other_metrics()])

    def _of_headline_metric(self) -> str:
        comparison = self.comparison
        metric, alpha = comparison.headline_metric, comparison.alpha
        found = conclusion_of(metric, self.first, self.second, self.against, comparison.n_tests, alpha)
        against = comparison.against_best[metric]
        if len(against) == 1:
            return found
        beaten, n_others = sum(one.randomisation_holm < alpha for one in against.values()), len(against)
        of_others = {0: f"none of the {n_others} others", n_others: f"all {n_others} others"}
        than = of_others.get(beaten, f"{beaten} of the {n_others} others")
        return f"{found.removesuffix('.')}; {self.first} is significantly better than {than}."

    def _of_other_metrics(self) -> Iterator[str]:
        best, worse, behind = self.comparison.best, self.worse, self.behind
        if worse:
            told = "; ".join(_beats(best[metric], self.first, metric, one) for metric, one in worse.items())
            yield f"But {told}."
        if self.better and not self.is_sure:
            told = "; ".join(_beats(self.first, self.second, metric, one) for metric, one in self.better.items())
            yield f"And {told}."
        if behind:
            leaders = list(dict.fromkeys(best[metric] for metric in behind))
            told = f"{listed(leaders)} {'is' if len(leaders) == 1 else 'are'} ahead of {self.first}"
            yield f"In {listed(behind)} {told}, which may be chance."
        ahead = [metric for metric in self._others if self._is_ahead(metric)]
        if ahead and self.against.paired.difference != 0:
            yield f"{self.first} is ahead in {listed(ahead)}, too."


def _beats(winner: str, loser: str, metric: str, against: AgainstBest) -> str:
    by = f"by {abs(against.paired.difference):.4f}, {p_text(against.randomisation_holm)}"
    return f"in {metric} {winner} is better than {loser} {by}"


def conclusion_of(metric: str, first: str, second: str, against: AgainstBest, n_tests: int, alpha: float) -> str:
    """One sentence on the first system, the better one, against the second; `against` has the second less the first."""
    test, p_value = against.paired, against.randomisation_holm
    on = f"on {counted(test.queries, 'query')}"
    if test.difference == 0:
        return f"{first} and {second} are equal in {metric} {on}."
    low, high = gained(test)
    by = f"by {abs(test.difference):.4f} {metric} (95 % interval {low:.4f} to {high:.4f})"
    if test.queries == 1:
        ahead = f"{abs(test.difference):.4f} {metric}"
        return f"{first} is ahead of {second} by {ahead}, but one query tells nothing of chance."
    size, needed = test.effect.size, test.effect.needed
    sure = p_text(p_value)
    if n_tests > 1:
        sure += f" after correction for {n_tests} tests (without it, as the interval is, {p_text(test.p_value)})"
    if p_value >= alpha:
        chance = f"{first} is ahead of {second} {by}, but {on} that may be chance: {sure}"
        if needed is None or needed <= test.queries:
            return f"{chance}."
        return f"{chance}; to be sure of a difference of this size you would need about {two_digits(needed):,} queries."
    effect = "the same on every query" if math.isinf(size) else f"a {word_of(size)} effect"
    return f"{first} is better than {second} {by} {on}; that is hardly chance: {sure}, {effect}."


def gained(test: PairedTest) -> tuple[float, float]:
    """The ends of the interval of a difference, above 0 where they have the sign of the difference."""
    low, high = sorted(abs(end) if end * test.difference > 0 else 0.0 - abs(end) for end in test.interval)
    return low, high

"""A gate: whether a new system may take the place of an old one, or loses more than is allowed, beyond chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rankwright.data.frames import Tabular
from rankwright.errors import InputError, UnknownNameError, require, require_type
from rankwright.metrics.comparison.comparison_tables import p_cell, p_text
from rankwright.metrics.evaluation import Evaluation
from rankwright.metrics.metric_table import as_measure
from rankwright.metrics.significance import PairedTest, holm, loss_p_value, noticed_loss, paired_test
from rankwright.tables.text import ShownTable, ShownTables, counted


@dataclass(frozen=True, slots=True)
class GateCheck:
    """What a gate found in one metric.

    Attributes
    ----------
    metric : str
        The name of the metric.
    allowed : float
        How much of it the new system may lose.
    loss : float
        How much it loses; below 0 where it gains.
    low, high : float
        The 95 % interval of the loss, which is not corrected.
    p_value : float
        How likely chance alone gives such a loss where the new system loses no more than is allowed: of the one-sided
        randomisation test, corrected for the number of metrics checked.
    failed : bool
        Whether the loss is more than is allowed, beyond chance.
    noticed : float
        The true loss that so many queries show, four times out of five, to be more than is allowed.
    queries : int
        How many queries count for both systems.
    """

    metric: str
    allowed: float
    loss: float
    low: float
    high: float
    p_value: float
    failed: bool
    noticed: float
    queries: int


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Gate(Tabular):
    """Whether a new system may take the place of an old one; `SystemComparison.gate` makes it.

    Attributes
    ----------
    old, new : str
        The names of the two systems.
    checks : tuple of GateCheck
        What was found in each metric.
    alpha : float
        The level below which a p-value is taken for more than chance.
    passed : bool
        Whether the new system loses no more than is allowed in any of the metrics, or only so little more that it may
        be chance.
    conclusion : str
        The outcome, how large the losses are, how sure that is, and which losses would have been noticed.
    """

    old: str
    new: str
    checks: tuple[GateCheck, ...]
    alpha: float

    @property
    def passed(self) -> bool:
        """Whether no metric fails."""
        return not any(one.failed for one in self.checks)

    @property
    def conclusion(self) -> str:
        """The outcome in plain words, first of the metrics that fail."""
        outcome = "passed" if self.passed else "failed"
        told = sorted(self.checks, key=lambda one: not one.failed)
        return f"gate {outcome}: {' '.join(map(self._sentence, told))}"

    def _sentence(self, one: GateCheck) -> str:
        on = f"on {counted(one.queries, 'query')}"
        if one.loss <= one.allowed:
            told = "equal to" if one.loss == 0 else "worse than" if one.loss > 0 else "better than"
            by = f" by {abs(one.loss):.4f}" if one.loss else ""
            within = f", within the {one.allowed:g} that is allowed" if one.loss > 0 else ""
            found = f"{self.new} is {told} {self.old}{by} in {one.metric} {on}{within}"
        else:
            chance = "that is hardly chance" if one.failed else "that may be chance"
            by = f"by {one.loss:.4f} in {one.metric} (95 % interval {one.low:.4f} to {one.high:.4f}) {on}"
            more = f"more than the {one.allowed:g} that is allowed"
            joint = "and" if one.failed else "but"
            found = (
                f"{self.new} is worse than {self.old} {by}, {more}, {joint} {chance}: {p_text(one.p_value)}, one-sided"
            )
        if one.failed:
            return f"{found}."
        return f"{found}; a true loss of {one.noticed:.4f} would be noticed four times out of five."

    def columns(self) -> dict[str, list[Any]]:
        """Return the checks.

        Returns
        -------
        dict of str to list
            Columns by name, with a row for each metric: the attributes of `GateCheck`.
        """
        return {name: [getattr(one, name) for one in self.checks] for name in GateCheck.__dataclass_fields__}

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as a dictionary for JSON.

        Returns
        -------
        dict
            `passed`, `conclusion`, `old`, `new`, `alpha`, and `checks` with what was found in each metric.
        """
        checks = [dict(zip(self.columns(), row, strict=True)) for row in zip(*self.columns().values(), strict=True)]
        told = {"passed": self.passed, "conclusion": self.conclusion, "old": self.old, "new": self.new}
        return told | {"alpha": self.alpha, "checks": checks}

    def shown(self) -> ShownTables:
        """Return the checks as people read them."""
        columns = ["metric", "allowed", "loss (95 %)", "p", "outcome"]
        rows = [
            [one.metric, f"{one.allowed:g}", f"{one.loss:+.4f} ({one.low:+.4f} to {one.high:+.4f})",
             p_cell(one.p_value), "failed" if one.failed else "passed"]
            for one in self.checks
        ]  # fmt: skip
        table = ShownTable(f"what {self.new} loses against {self.old}", columns, rows, ("allowed", "p"))
        return ShownTables([table], [self.conclusion])


def check_not_worse(
    old: tuple[str, Evaluation],
    new: tuple[str, Evaluation],
    allowed: Mapping[Any, float],
    alpha: float,
    randomisations: int,
) -> Gate:
    """The gate of two systems, each a name and its evaluation."""
    require_type(allowed, Mapping, "allowed", "a mapping of metrics to losses, such as {'ndcg@10': 0.002}")
    require(bool(allowed), "a gate needs a metric to check, such as {'ndcg@10': 0.002}")
    require(old[0] != new[0], f"a gate compares two systems, and both are called {new[0]}")
    tests, p_values = {}, []
    for metric, loss in allowed.items():
        wanted = f"the loss that is allowed in {metric} must be a number of 0 or more, got {loss}"
        require(0 <= loss < float("inf"), wanted)
        name = _evaluated(metric, old[1])
        pair = old[1][name], new[1][name]
        tests[name] = paired_test(*pair, randomisations=randomisations), loss
        p_values.append(loss_p_value(*pair, loss, randomisations=randomisations))
    _check_enough(tests, alpha)
    corrected = holm(p_values).tolist()
    checks = [
        _check(name, test, loss, p_value, old[1], alpha)
        for (name, (test, loss)), p_value in zip(tests.items(), corrected, strict=True)
    ]
    return Gate(old[0], new[0], tuple(checks), alpha)


def _evaluated(metric: Any, evaluation: Evaluation) -> str:
    """The name under which a metric was evaluated."""
    wanted = as_measure(metric, evaluation.convention)
    for name, result in evaluation.results.items():
        if result.measure == wanted:
            return name
    raise UnknownNameError("metric of this comparison", metric, evaluation.results)


def _check_enough(tests: Mapping[str, tuple[PairedTest, float]], alpha: float) -> None:
    """Raise where so few queries count that no loss could be told from chance: such a gate would always pass."""
    for metric, (test, _) in tests.items():
        if 0.5**test.queries * len(tests) >= alpha:
            enough = next(n for n in range(1, 1100) if 0.5**n * len(tests) < alpha)
            told = f"a gate on {metric} needs {enough} queries or more, got {test.queries}"
            raise InputError(f"{told}: with fewer, chance alone may give any loss, and the gate would always pass")


def _check(
    metric: str, test: PairedTest, allowed: float, p_value: float, evaluation: Evaluation, alpha: float
) -> GateCheck:
    sign = -1.0 if evaluation[metric].measure.higher_is_better else 1.0
    low, high = sorted(round(sign * end, 12) + 0.0 for end in test.interval)  # -1e-18 would be shown as -0.0000
    loss = sign * test.difference + 0.0  # -0.0 becomes 0.0
    failed = loss > allowed and p_value < alpha
    noticed = noticed_loss(test, allowed, alpha)
    return GateCheck(metric, float(allowed), loss, low, high, p_value, failed, noticed, test.queries)

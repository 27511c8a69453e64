"""Which candidates are chosen by their scores of held-out queries, and how good the choice will be on new queries.

The best candidate of each kind stands on a short list. A blend begins with the safest candidate, or with the best of
all where that is clearly better, and members of the list are added to it, one at a time and some of them twice, as long
as the metric gains.

What the choice reaches on the queries that it was made by is too good: chance had a part in it. So the whole choice is
repeated on samples of the queries, drawn with replacement, and each is measured on the queries that its sample lacks
(Tsamardinos, Greasidou and Borboudakis 2018). The mean over these is what new queries can expect of models that were
trained on all folds but one; that models of all queries are a little better, the learning curve tells.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.stats import t as student

from rankwright.arrays import Float64Array, IntArray
from rankwright.blending.combining import ListSpread
from rankwright.blending.weights import worths
from rankwright.data.dataset import RankingDataset

LISTED, MEMBERS = 5, 5  # candidates on the short list, and the most members of a blend, doubles counted
LEAST_GAIN = 0.0003  # of the metric, for which a member is added
SAMPLES, STREAM = 200, 0x7365
EQUAL = 100.0  # so many queries' worth of equal weights
CLEARLY = 2.0  # standard errors by which the best must lead over the safest to take its place
Members = tuple[int, ...]  # numbers of candidates, ascending; one that counts twice stands there twice


@dataclass(slots=True, eq=False)
class HeldOut:
    """The scores of candidates that were measured on all folds, of all documents: a column each."""

    data: RankingDataset
    scores: Float64Array
    families: Sequence[str]
    metric: str
    threads: int
    allowed: Callable[[Members], bool] = lambda members: True  # noqa: ARG005  # by its cost and size
    safest: int | None = None  # the candidate that a blend begins with where none is clearly better
    _values: dict[Members, Float64Array] = field(default_factory=dict)
    _comparable: Float64Array | None = None

    def values(self, members: Members) -> Float64Array:
        """The metric of each query, higher is better; NaN where a query does not count."""
        if members not in self._values:
            if len(set(members)) == 1:
                scores = self.scores[:, members[0]]
            else:
                if self._comparable is None:
                    spread = ListSpread.of(self.scores, self.data.groups)
                    self._comparable = spread.z_scores(self.scores, self.data.groups)
                scores = sum((self._comparable[:, one] for one in members), np.zeros(len(self.scores)))
            self._values[members] = worths(scores, self.data, self.metric, threads=self.threads)
        return self._values[members]

    def chosen(self, counts: IntArray) -> Members:
        """What is chosen where each query counts so often."""

        def mean(members: Members) -> float:
            values = self.values(members)
            counted = ~np.isnan(values)
            return float(counts[counted] @ values[counted]) / max(1, int(counts[counted].sum()))

        alone = [(one,) for one in range(self.scores.shape[1])]
        within = [one for one in alone if self.allowed(one)] or alone
        ordered = sorted(within, key=lambda one: -mean(one))
        best_of_kinds = {self.families[one[0]]: one[0] for one in reversed(ordered)}
        listed = sorted(best_of_kinds.values(), key=lambda one: -mean((one,)))[:LISTED]
        rest = [one[0] for one in ordered if one[0] not in listed]
        listed += rest[: LISTED - len(listed)]
        members: Members = ordered[0]
        if self.safest is not None and (self.safest,) in within and not self._leads_clearly(members[0], counts):
            members = (self.safest,)
        value = mean(members)
        while len(members) < MEMBERS:
            larger = [tuple(sorted((*members, one))) for one in listed]
            possible = [one for one in larger if len(set(one)) > 1 and self.allowed(one)]
            if not possible:
                break
            best = max(possible, key=mean)
            if mean(best) < value + LEAST_GAIN:
                break
            members, value = best, mean(best)
        return members

    def _leads_clearly(self, one: int, counts: IntArray) -> bool:
        """Whether a candidate leads over the safest by more than chance easily does, each query counted so often."""
        assert self.safest is not None
        gaps = self.values((one,)) - self.values((self.safest,))
        counted = ~np.isnan(gaps)
        gaps, times = gaps[counted], counts[counted]
        n = max(1, int(times.sum()))
        mean = float(times @ gaps) / n
        error = float(np.sqrt(times @ (gaps - mean) ** 2)) / n
        return mean > CLEARLY * error

    def weights(self, members: Members) -> dict[int, float]:
        """How much each different member counts, drawn a little towards equal weights."""
        counts, n = Counter(members), self.data.n_queries
        share = EQUAL / (EQUAL + n)
        return {one: (1 - share) * count / len(members) + share / len(counts) for one, count in counts.items()}


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over queries with its standard error and its 95 % interval."""

    mean: float
    error: float
    low: float
    high: float
    p_value: float  # that the mean is 0

    @classmethod
    def of(
        cls, values: Float64Array, shift: float = 0.0, own_error: float = 0.0, one_choice: Float64Array | None = None
    ) -> Estimate:
        """The estimate from a value of each query; `shift` is added to the mean, and is itself off by `own_error`.

        Means over many choices vary less between queries than the values of `one_choice`, which is what is used.
        """
        n = len(values)
        mean = float(values.mean()) + shift
        spread = max(own.std(ddof=1) for own in (values, one_choice) if own is not None) if n > 1 else np.inf
        error = float(np.hypot(spread / np.sqrt(n), own_error))
        reach = float(student.ppf(0.975, max(n - 1, 1))) * error
        p_value = 1.0 if error in (0.0, np.inf) else float(2 * student.sf(abs(mean) / error, max(n - 1, 1)))
        return cls(mean, error, mean - reach, mean + reach, p_value)


def repeated_choices(held_out: HeldOut, seed: int) -> Float64Array:
    """The metric that each query can expect of the choice: the mean over the samples that lack the query."""
    n = held_out.data.n_queries
    rng = np.random.default_rng([seed, STREAM])
    sums, times = np.zeros(n), np.zeros(n)
    for _ in range(SAMPLES):
        counts = np.bincount(rng.integers(n, size=n), minlength=n)
        lacking = counts == 0
        sums[lacking] += held_out.values(held_out.chosen(counts))[lacking]
        times[lacking] += 1
    whole = held_out.values(held_out.chosen(np.ones(n, np.int64)))
    return np.where(times > 0, sums / np.maximum(times, 1), whole)

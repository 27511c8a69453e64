"""The kinds of raters there may be: for each, how likely it gives each grade where another one is true.

A rater sees the true level t as b + c + a (t − c) + noise and answers with the nearest level: b is leniency (strict
raters have b < 0), a is how far the rater spreads the scale around its middle c (a < 1 avoids the ends, a large one
knows only the ends), and the noise is normal. With some chance the answer is careless: it has nothing to do with t.
Others always give the same grade. These few numbers say what a confusion matrix says with many, so that a handful of
grades is enough to tell what kind a rater is; how frequent each kind is, is learned from all raters.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rankwright.arrays import BoolArray, Float64Array, IntArray

LENIENCIES = (-2.0, -1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5, 2.0)
NOISES = (0.3, 0.6, 1.1)  # standard deviations, in levels
CARELESS = (0.0, 0.2, 0.5)  # shares of answers
SPREADS = (0.3, 0.6, 1.7, 6.0)  # other than 1
LENIENCIES_WHERE_SPREAD = (-0.7, 0.0, 0.7)
SAME_GRADE = 0.95  # the share of the same grade, for raters who always give it
LEAST_CHANCE = 1e-3  # of any answer: what a kind calls impossible may still happen
# Before any grade is seen: most raters are nearly unbiased, somewhat noisy and seldom careless.
USUAL_LENIENCY, USUAL_NOISE, NOISE_WIDTH, USUAL_CARELESS, SPREAD_WIDTH = 0.7, 0.5, 0.5, 0.3, 0.6
ALL_CARELESS = 0.3  # how frequent raters are who never look, compared with the most frequent kind
# A trusted rater has no leniency of its own and looks at what it judges.
TRUSTED_NOISE, TRUSTED_CARELESS = 0.3, 0.1

# How far a search looks at first, and where it ends, for each trait.
FIRST_STEPS, LOWEST, HIGHEST = (0.25, 0.1, 0.2, 0.1, 0.25), (-3.0, 0.15, 0.2, 0.0, 0.0), (3.0, 3.0, 8.0, 1.0, 1.0)

HIGHEST_OF_TRUSTED = (0.0, TRUSTED_NOISE, 1.0, TRUSTED_CARELESS, 1.0)


class Traits(NamedTuple):
    """What characterises raters or kinds of them, each an array with a number for each.

    `blind` is how much of what careless raters answer is any grade at random; the rest is as frequent as all grades.
    """

    leniency: Float64Array
    noise: Float64Array
    spread: Float64Array
    careless: Float64Array
    blind: Float64Array

    def confusion(self, shares: Float64Array) -> Float64Array:
        """How likely each level is given where each is true, by rater, true and given level.

        `shares` are how often each level was given by all raters.
        """
        from scipy.special import ndtr

        levels, middle = np.arange(len(shares)), (len(shares) - 1) / 2
        wide = np.maximum(self.spread, 1.0)  # who exaggerates, exaggerates what was seen, noise and all
        seen = middle + self.spread[:, None] * (levels - middle) + (self.leniency * wide)[:, None]
        borders = np.concatenate([[-np.inf], levels[1:] - 0.5, [np.inf]])
        below = ndtr((borders - seen[:, :, None]) / (self.noise * wide)[:, None, None])
        anything = self.blind[:, None] / len(shares) + (1 - self.blind[:, None]) * shares
        careless = self.careless[:, None, None]
        return _with_least((1 - careless) * np.diff(below, axis=2) + careless * anything[:, None, :])

    def log_prior(self) -> Float64Array:
        """The logarithm of how frequent such raters are beforehand, up to a constant."""
        distance = (self.leniency / USUAL_LENIENCY) ** 2 + (np.log(self.noise / USUAL_NOISE) / NOISE_WIDTH) ** 2
        distance = distance + (np.log(self.spread) / SPREAD_WIDTH) ** 2
        return np.asarray(-distance / 2 - self.careless / USUAL_CARELESS, np.float64)


class RaterKinds(NamedTuple):
    """Kinds of raters: what characterises each, how frequent it is beforehand, and its confusion matrix."""

    traits: Traits
    prior: Float64Array
    confusion: Float64Array  # kind, true level, given level

    @property
    def may_be_trusted(self) -> BoolArray:
        """Which kinds a trusted rater may be of."""
        plain = (self.traits.leniency == 0) & (self.traits.spread == 1)
        fits: BoolArray = plain & (self.traits.noise <= TRUSTED_NOISE) & (self.traits.careless <= TRUSTED_CARELESS)
        return fits


def rater_kinds(shares: Float64Array) -> RaterKinds:
    """All kinds, on a scale of as many levels as `shares`, which are how often each was given."""
    n_levels = len(shares)
    described = np.array(_described()).T
    traits = Traits(*described, np.full(described.shape[1], 0.5))
    always = np.full((n_levels, n_levels, n_levels), (1 - SAME_GRADE) / n_levels)
    always[np.arange(n_levels), :, np.arange(n_levels)] += SAME_GRADE
    matrices = np.concatenate([traits.confusion(shares), _with_least(always)])
    padding = (0.0, NOISES[0], 1.0, 1.0, 0.5)
    whole = Traits(*(np.append(one, np.full(n_levels, value)) for one, value in zip(traits, padding, strict=True)))
    logs = whole.log_prior() + np.where(whole.careless == 1, np.log(ALL_CARELESS) + 1 / USUAL_CARELESS, 0.0)
    weights = np.exp(logs - logs.max())
    return RaterKinds(whole, weights / weights.sum(), matrices)


def _with_least(confusion: Float64Array) -> Float64Array:
    confusion = np.maximum(confusion, LEAST_CHANCE)
    return np.asarray(confusion / confusion.sum(axis=2, keepdims=True), np.float64)


def _described() -> list[tuple[float, float, float, float]]:
    """Leniency, noise, spread and carelessness of each kind but those that always give the same grade."""
    made = [(leniency, noise, 1.0, careless) for noise in NOISES for careless in CARELESS for leniency in LENIENCIES]
    made += [
        (leniency, noise, spread, careless)
        for noise in NOISES
        for spread in SPREADS
        for careless in CARELESS[:2]
        for leniency in LENIENCIES_WHERE_SPREAD
    ]
    return [*made, (0.0, NOISES[0], 1.0, 1.0)]


class Search(NamedTuple):
    """A search for the traits under which the grades of raters are most likely: where it is, and how far it looks."""

    traits: Traits
    steps: Float64Array  # of each rater, as a share of `FIRST_STEPS`


def begun_search(kinds: RaterKinds, kind: IntArray) -> Search:
    """A search from the traits of the kinds that raters seem to be of."""
    return Search(Traits(*(one[kind] for one in kinds.traits)), np.ones(len(kind)))


def searched(search: Search, counts: Float64Array, shares: Float64Array, is_trusted: BoolArray) -> Search:
    """The search after looking once in each direction; `counts` are grades by rater, true and given level."""
    best, fit = search.traits, _fit(search.traits, counts, shares)
    before = fit
    for place, (first_step, low, high) in enumerate(zip(FIRST_STEPS, LOWEST, HIGHEST, strict=True)):
        for sign in (1.0, -1.0):
            moved = np.clip(best[place] + sign * first_step * search.steps, low, high)
            moved = np.where(is_trusted, np.minimum(moved, HIGHEST_OF_TRUSTED[place]), moved)
            if place in (0, 2):  # leniency and spread are not for those who are trusted
                moved = np.where(is_trusted, best[place], moved)
            tried = _with_trait(best, place, moved)
            found = _fit(tried, counts, shares)
            better = found > fit
            best, fit = (
                _with_trait(best, place, np.where(better, moved, best[place])),
                np.maximum(fit, found),
            )
    return Search(best, np.where(fit > before, search.steps, search.steps / 2))


def _fit(traits: Traits, counts: Float64Array, shares: Float64Array) -> Float64Array:
    return np.asarray((counts * np.log(traits.confusion(shares))).sum(axis=(1, 2)) + traits.log_prior(), np.float64)


def _with_trait(traits: Traits, place: int, values: Float64Array) -> Traits:
    """The traits with other values of the one at that place."""
    return Traits(*(values if number == place else one for number, one in enumerate(traits)))

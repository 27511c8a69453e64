"""Raters to simulate: kinds of strictness, carelessness and collusion, on scales and in numbers that vary.

A scene has documents with true grades and raters who each graded some of them; a kind of raters says which grades they
gave. Four sets of ten kinds were written one after the other, all but the first before any method had been
tried on them: a model that was chosen by looking at one set is judged on another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

RINGS = 12  # of raters who copy from each other
# What a scene of any set but the first may be; a scene of the first is always the same.
LEVELS, DOCUMENTS, GRADES_EACH, GRADES_OF_RATER = (
    (3, 4, 5, 7),
    (150, 400, 1000),
    (3, 4, 6),
    ((3, 10), (3, 30), (12, 30)),
)
SHAPES: tuple[Callable[[np.ndarray], np.ndarray], ...] = (
    lambda place: np.ones_like(place),  # place: from 0 at the lowest grade to 1 at the highest
    lambda place: 0.15**place,
    lambda place: 1 + 6 * np.abs(place - 0.5),
    lambda place: np.exp(-6 * (place - 0.5) ** 2),
)


@dataclass(frozen=True)
class Scene:
    """True grades of documents, and who graded which of them; `nth` counts a rater's grades in order."""

    rng: np.random.Generator
    n_levels: int
    truth: np.ndarray
    rater: np.ndarray
    document: np.ndarray
    nth: np.ndarray

    @property
    def true(self) -> np.ndarray:
        """The true grade behind each row."""
        return np.asarray(self.truth[self.document])

    @property
    def top(self) -> int:
        return self.n_levels - 1

    def of_rater(self, values: np.ndarray) -> np.ndarray:
        """Values of raters, for each row."""
        return np.asarray(values[self.rater])

    @property
    def n_raters(self) -> int:
        return int(self.rater.max()) + 1

    def share(self) -> np.ndarray:
        """A number from 0 to 1 for each rater, for each row."""
        return self.of_rater(self.rng.random(self.n_raters))

    def often(self, share: float | np.ndarray) -> np.ndarray:
        """Which rows something happens to that happens with this chance."""
        return np.asarray(self.rng.random(len(self.rater)) < share)

    def clipped(self, grades: np.ndarray) -> np.ndarray:
        """Grades kept on the scale."""
        return np.asarray(np.clip(grades, 0, self.top), np.int64)

    def careful(self, wrong: float | np.ndarray = 0.1) -> np.ndarray:
        """The true grade, or with some chance one next to it."""
        other = self.true + np.where(self.often(0.5), -1, 1)
        other = np.where(other < 0, 1, np.where(other > self.top, self.top - 1, other))
        return np.where(self.often(wrong), other, self.true)

    def noisy(self, deviation: float | np.ndarray, shift: float | np.ndarray = 0.0) -> np.ndarray:
        """The true grade and normal noise, rounded."""
        return self.clipped(np.rint(self.true + shift + deviation * self.rng.normal(0, 1, len(self.rater))))

    def anything(self) -> np.ndarray:
        """Any grade."""
        return self.rng.integers(0, self.n_levels, len(self.rater))

    def copied(self, answers: np.ndarray) -> np.ndarray:
        """What the members of a ring answer alike; `answers` are by ring and document."""
        ring = self.rng.integers(0, len(answers), self.n_raters)
        return np.asarray(answers[self.of_rater(ring), self.document])


def made_scene(rng: np.random.Generator, truth: np.ndarray, n_levels: int, each: int, sizes: tuple[int, int]) -> Scene:
    """Raters who graded between `sizes` documents each, so that each document got about `each` grades."""
    n_rows = len(truth) * each
    n_of_rater = rng.integers(sizes[0], sizes[1] + 1, n_rows)  # more than are needed
    rater = np.repeat(np.arange(n_rows), n_of_rater)[:n_rows]
    document = np.concatenate([rng.permutation(len(truth)) for _ in range(each)])
    _, once = np.unique(rater * len(truth) + document, return_index=True)
    rater, document = rater[np.sort(once)], document[np.sort(once)]
    nth = np.arange(len(rater)) - np.searchsorted(rater, rater)
    return Scene(rng, n_levels, truth, rater, document, nth)


def first_scene(rng: np.random.Generator) -> Scene:
    """400 documents on a scale of four grades, four grades each."""
    return made_scene(rng, rng.choice(4, 400, p=(0.4, 0.3, 0.2, 0.1)), 4, 4, (3, 30))


def any_scene(rng: np.random.Generator) -> Scene:
    """A scale, a distribution of grades, and numbers of documents, grades and raters, all drawn at random."""
    n_levels = int(rng.choice(LEVELS))
    shares = SHAPES[rng.integers(len(SHAPES))](np.linspace(0, 1, n_levels))
    truth = rng.choice(n_levels, int(rng.choice(DOCUMENTS)), p=shares / shares.sum())
    return made_scene(rng, truth, n_levels, int(rng.choice(GRADES_EACH)), GRADES_OF_RATER[rng.integers(3)])


Raters = Callable[[Scene], np.ndarray]


def some(share: float, odd: Raters, usual: Raters) -> Raters:
    """A share of the raters is odd."""
    return lambda scene: np.where(scene.share() < share, odd(scene), usual(scene))


def one_grade_always(scene: Scene) -> np.ndarray:
    """Each rater has one grade for everything."""
    return scene.of_rater(scene.rng.integers(0, scene.n_levels, scene.n_raters))


def strict_and_lenient(scene: Scene) -> np.ndarray:
    """Two in five raters are strict by a grade and as many lenient."""
    share = scene.share()
    return scene.noisy(0.5, np.select([share < 0.4, share < 0.8], [-1, 1], 0))


def copiers_of_anything(scene: Scene) -> np.ndarray:
    """Rings whose members give the same grade, whatever the document is."""
    return scene.copied(scene.rng.integers(0, scene.n_levels, (RINGS, len(scene.truth))))


FIRST: dict[str, Raters] = {
    "careful": lambda scene: scene.careful(),
    "noisy": lambda scene: scene.noisy(0.9),
    "some strict": some(0.4, lambda scene: scene.clipped(scene.careful() - 1), lambda scene: scene.careful()),
    "strict and lenient": strict_and_lenient,
    "some careless": some(0.3, lambda scene: scene.anything(), lambda scene: scene.careful()),
    "all careless at times": lambda scene: np.where(
        scene.often(0.8 * scene.share()), scene.anything(), scene.careful()
    ),
    "always one grade": some(0.25, one_grade_always, lambda scene: scene.careful(0.15)),
    "avoid the ends": some(
        0.5, lambda scene: np.clip(scene.careful(), 1, scene.top - 1), lambda scene: scene.careful()
    ),
    "know only the ends": some(
        0.5, lambda scene: np.where(scene.noisy(0.6) > scene.top / 2, scene.top, 0), lambda scene: scene.noisy(0.6)
    ),
    "collusion": some(0.3, copiers_of_anything, lambda scene: scene.careful(0.15)),
}


def own_borders(scene: Scene) -> np.ndarray:
    """Every rater has a leniency of its own, in parts of a grade, and noise of its own."""
    shift = scene.rng.normal(0, 0.7, scene.n_raters)
    return scene.noisy(scene.of_rater(scene.rng.uniform(0.2, 0.8, scene.n_raters)), scene.of_rater(shift))


def own_threshold(scene: Scene) -> np.ndarray:
    """The highest grade from a border on that each rater has for itself, and the lowest below."""
    border = scene.of_rater(scene.rng.uniform(0.5, scene.top - 0.5, scene.n_raters))
    return np.where(scene.noisy(0.4) > border, scene.top, 0)


def tired(scene: Scene) -> np.ndarray:
    """Careful for the first six documents, then careless more and more."""
    return np.where(scene.often(np.clip((scene.nth - 6) / 14, 0, 0.9)), scene.anything(), scene.careful())


def behind_a_leader(scene: Scene) -> np.ndarray:
    """Four rings whose members copy a leader, who looks at the document and errs."""
    noise = scene.rng.normal(0, 1.0, (4, len(scene.truth)))
    return scene.copied(scene.clipped(np.rint(scene.truth + noise)))


def hard_documents(scene: Scene) -> np.ndarray:
    """Some documents are hard for everybody."""
    hard = scene.rng.random(len(scene.truth)) < 0.4
    return scene.noisy(np.where(hard[scene.document], 1.4, 0.3))


def a_bit_of_all(scene: Scene) -> np.ndarray:
    """Strict, lenient, careless and stubborn raters, and three in ten who are careful."""
    share = scene.share()
    ways = [scene.clipped(scene.careful() - 1), scene.clipped(scene.careful() + 1), scene.anything(),
            one_grade_always(scene)]  # fmt: skip
    return np.select([share < 0.2, share < 0.4, share < 0.6, share < 0.7], ways, scene.careful())


SECOND: dict[str, Raters] = {
    "borders of their own": own_borders,
    "most overrate": some(
        0.6, lambda scene: scene.clipped(scene.careful() + scene.often(0.7)), lambda scene: scene.careful()
    ),
    "good or bad": some(0.5, own_threshold, lambda scene: scene.noisy(0.5)),
    "tired": tired,
    "lowest grade for all": some(0.4, lambda scene: np.zeros_like(scene.rater), lambda scene: scene.careful(0.2)),
    "behind a leader": some(0.35, behind_a_leader, lambda scene: scene.careful(0.2)),
    "scale reversed": some(0.15, lambda scene: scene.top - scene.careful(), lambda scene: scene.careful(0.2)),
    "hard documents": hard_documents,
    "a bit of all": a_bit_of_all,
    "experts and a crowd": some(0.15, lambda scene: scene.true, lambda scene: scene.noisy(1.2)),
}


def stricter_with_time(scene: Scene) -> np.ndarray:
    """By one grade after the first eight documents."""
    return scene.clipped(scene.careful() - (scene.nth >= 8))


def only_upwards(scene: Scene) -> np.ndarray:
    """Errors are upwards, each rater's with a frequency of its own."""
    often = scene.of_rater(scene.rng.beta(1, 2, scene.n_raters))
    return scene.clipped(scene.true + scene.often(often))


def boosters(scene: Scene) -> np.ndarray:
    """Rings that give the highest grade to a fifth of the documents, and are careful elsewhere."""
    wanted = scene.copied((scene.rng.random((3, len(scene.truth))) < 0.2).astype(np.int64))
    return np.where(wanted == 1, scene.top, scene.careful())


def copiers_of_the_first(scene: Scene) -> np.ndarray:
    """What the first rater of the document gave, who may have erred."""
    first = scene.clipped(np.rint(scene.truth + scene.rng.normal(0, 0.7, len(scene.truth))))
    return np.asarray(first[scene.document])


def by_frequency(scene: Scene) -> np.ndarray:
    """Grades as frequent as they are, without a look at the document."""
    return np.asarray(scene.rng.permutation(scene.true))


THIRD: dict[str, Raters] = {
    "stricter with time": stricter_with_time,
    "every second grade": some(
        0.5, lambda scene: scene.clipped(2 * (scene.careful() // 2)), lambda scene: scene.careful()
    ),
    "only upwards": only_upwards,
    "careless each in its way": lambda scene: np.where(
        scene.often(scene.of_rater(scene.rng.beta(1, 2, scene.n_raters))), scene.anything(), scene.careful()
    ),
    "boosters": some(0.3, boosters, lambda scene: scene.careful()),
    "copiers of the first": some(0.4, copiers_of_the_first, lambda scene: scene.noisy(0.5)),
    "never the highest": some(
        0.5, lambda scene: np.minimum(scene.careful(), scene.top - 1), lambda scene: scene.careful()
    ),
    "drawn to the middle": some(
        0.5,
        lambda scene: scene.clipped(np.rint((scene.noisy(0.6) + scene.top / 2) / 2)),
        lambda scene: scene.noisy(0.6),
    ),
    "half look": some(0.5, by_frequency, lambda scene: scene.careful()),
    "some exaggerate": some(
        0.5,
        lambda scene: scene.clipped(np.rint(scene.top / 2 + 1.8 * (scene.noisy(0.4) - scene.top / 2))),
        lambda scene: scene.noisy(0.4),
    ),
}


def never(levels: Callable[[Scene], np.ndarray]) -> Raters:
    """Careful, but some grades are never given: one of those next to them is."""

    def graded(scene: Scene) -> np.ndarray:
        given, avoided = scene.careful(), levels(scene)
        aside = np.where(scene.often(0.5) & (given > 0) | (given == scene.top), given - 1, given + 1)
        return np.where(np.isin(given, avoided), aside, given)

    return graded


def behind_two_leaders(scene: Scene) -> np.ndarray:
    """Two rings whose members mostly copy a leader, who errs."""
    noise = scene.rng.normal(0, 0.9, (2, len(scene.truth)))
    led = scene.copied(scene.clipped(np.rint(scene.truth + noise)))
    return np.where(scene.often(0.8), led, scene.noisy(0.6))


def mixed_up(scene: Scene) -> np.ndarray:
    """The two lowest grades are taken for each other."""
    given = scene.careful()
    return np.where(given <= 1, 1 - given, given)


def lenient_where_liked(scene: Scene) -> np.ndarray:
    """Each rater likes half of the documents, and gives them a grade more."""
    liked = scene.rng.random((scene.n_raters, len(scene.truth))) < 0.5
    return scene.clipped(scene.careful() + liked[scene.rater, scene.document])


def learners(scene: Scene) -> np.ndarray:
    """Careless for the first five documents, then careful."""
    return np.where((scene.nth < 5) & scene.often(0.7), scene.anything(), scene.careful())


FOURTH: dict[str, Raters] = {
    "never the lowest": some(0.5, never(lambda _: np.array([0])), lambda scene: scene.careful()),
    "never the middle": some(0.5, never(lambda scene: np.array([scene.top // 2])), lambda scene: scene.careful()),
    "behind two leaders": some(0.5, behind_two_leaders, lambda scene: scene.noisy(0.6)),
    "copy the first, if noisily": some(0.3, copiers_of_the_first, lambda scene: scene.noisy(0.8)),
    "lenient where liked": lenient_where_liked,
    "lowest two mixed up": some(0.3, mixed_up, lambda scene: scene.careful()),
    "good or bad at one border": some(
        0.6, lambda scene: np.where(2 * scene.careful() > scene.top, scene.top, 0), lambda scene: scene.noisy(0.5)
    ),
    "learners": learners,
    "precise or careless": some(0.5, lambda scene: scene.noisy(1.4), lambda scene: scene.noisy(0.2)),
    "strict, fair, lenient": lambda scene: scene.clipped(
        scene.careful() + scene.of_rater(scene.rng.integers(-1, 2, scene.n_raters))
    ),
}

SETS: Mapping[str, tuple[Callable[[np.random.Generator], Scene], Mapping[str, Raters]]] = {
    "first": (first_scene, FIRST),
    "second": (any_scene, SECOND),
    "third": (any_scene, THIRD),
    "fourth": (any_scene, FOURTH),
}

"""What changed between the documents that a model was trained on and those that it scores now, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.formats.reading import DataFile
from rankwright.profile.shifts import CountsByQuery, chances_of
from rankwright.profile.spread import N_BINS, HashedSample, Spread, TrainingProfile, stability_index
from rankwright.rankers.trained import TrainedRanker
from rankwright.tables.text import counted

LEAST_INDEX = 0.1  # below it a change is small, however sure it is: the usual rule of thumb
SURE = 0.05  # how likely an alarm may be where nothing changed, over all features and the scores together
WEIGHTY = 0.1  # the share of a model's importance from which features that moved make its order doubtful
MOST_FEATURES = 20_000  # of a profile: wider data is sparse, and has none
SHOWN = 20  # features in a table
NO_PROFILE = (
    "the model holds no profile of its training data: `rankwright train` makes one, unless --no-profile is given; "
    "files of 0.2.0 and those saved from Python have none"
)


def profile_of(trained: TrainedRanker, rows: Float32Array, *, threads: int | None = None) -> TrainingProfile:
    """How the features of these rows are spread, and the scores that the model gives them."""
    scores = None
    if not trained.looks_at_queries:
        found = trained.scores(_as_dataset(rows), threads=thread_count(threads))
        scores = Spread.of(found.astype(np.float32)[:, None])
    return TrainingProfile(Spread.of(rows), scores)


def profile_of_file(trained: TrainedRanker, file: DataFile, *, threads: int | None = None) -> TrainingProfile | None:
    """The profile of the documents of a file, which are not kept; None where they are so wide that they are sparse."""
    file = trained.features.file(file)
    if trained.n_features > MOST_FEATURES or file.begins_sparse():
        return None
    sample = HashedSample()
    file.stream(sample.take)
    return profile_of(trained, sample.rows(), threads=threads)


def _as_dataset(rows: Float32Array) -> RankingDataset:
    return RankingDataset(features=rows, labels=None, groups=Groups(np.array([0, len(rows)])))


@dataclass(frozen=True, slots=True)
class MovedFeature:
    """How far a feature, or the scores, moved: the index, whether it may be chance, and shares before and now.

    Attributes
    ----------
    name : str
        The feature's name, or "scores".
    index : float
        Its population stability index.
    chance : float
        How likely it is that any of the features, or the scores, seems to have moved as surely where nothing did.
    missing : tuple of float
        The share of missing values in training and now.
    importance : float
        The share of the model's importance that the feature has; NaN where the model has none.
    direction : str
        Whether values are mostly higher or lower than in training, or more of them are missing.
    """

    name: str
    index: float
    chance: float
    missing: tuple[float, float]
    importance: float
    direction: str

    @property
    def moved(self) -> bool:
        """Whether it counts as moved."""
        return self.index > LEAST_INDEX and self.chance < SURE


@dataclass(frozen=True, slots=True)
class DriftReport:
    """What moved since training.

    Attributes
    ----------
    documents : int
        How many documents were looked at.
    features : tuple of MovedFeature
        All features, the one that moved most first.
    scores : MovedFeature or None
        The scores; None where a document's score depends on the rest of its list.
    """

    documents: int
    features: tuple[MovedFeature, ...]
    scores: MovedFeature | None

    @property
    def moved(self) -> tuple[MovedFeature, ...]:
        """The features that moved."""
        return tuple(one for one in self.features if one.moved)

    @property
    def verdict(self) -> str:
        """One of "as in training", "watch" and "distrust"."""
        weight = sum(one.importance for one in self.moved if one.importance == one.importance)
        if (self.scores is not None and self.scores.moved) or weight >= WEIGHTY:
            return "distrust"
        return "watch" if self.moved else "as in training"

    def lines(self) -> Iterator[str]:
        """The report in words."""
        n = counted(self.documents, "document")
        if not self.moved and not (self.scores is not None and self.scores.moved):
            yield f"nothing moved in {n}: features and scores are spread as in training"
            return
        yield f"{counted(len(self.moved), 'feature')} of {len(self.features):,} moved in {n}"
        for one in self.moved[:SHOWN]:
            share = "" if one.importance != one.importance else f", {one.importance:.1%} of the model's importance"
            yield f"{one.name}: {one.direction} (PSI {one.index:.3f}, chance {one.chance:.1%}{share})"
        if self.scores is not None:
            what = "moved" if self.scores.moved else "are spread as in training"
            yield f"scores {what} (PSI {self.scores.index:.3f})"
        yield {
            "distrust": "the ranking should be distrusted until it is measured on new judgments, or trained again",
            "watch": "the ranking hardly looks at what moved; watch it",
        }[self.verdict]

    def to_dict(self) -> dict[str, Any]:
        """Return the report in types JSON can hold.

        Returns
        -------
        dict
            The verdict, features and scores.
        """
        everything = [_as_dict(one) for one in self.features]
        scores = None if self.scores is None else _as_dict(self.scores)
        return {"verdict": self.verdict, "documents": self.documents, "scores": scores, "features": everything}


def _as_dict(one: MovedFeature) -> dict[str, Any]:
    importance = None if one.importance != one.importance else one.importance
    return {
        "name": one.name,
        "moved": one.moved,
        "psi": one.index,
        "chance": one.chance,
        "missing_before": one.missing[0],
        "missing_now": one.missing[1],
        "importance": importance,
        "direction": one.direction,
    }


def required_profile(trained: TrainedRanker) -> TrainingProfile:
    """The model's profile, or the line that says why there is none."""
    profile = trained.findings.profile
    if profile is None:
        raise InputError(NO_PROFILE)
    return profile


def drift_of(trained: TrainedRanker, data: RankingDataset, *, threads: int | None = None) -> DriftReport:
    """Compare documents with those that a model was trained on.

    Parameters
    ----------
    trained : TrainedRanker
        A model whose file has a profile.
    data : RankingDataset
        The documents that it scores now; they need no labels.
    threads : int, optional
        How many threads score them.

    Returns
    -------
    DriftReport
        What moved, and whether the ranking should be distrusted.
    """
    profile = required_profile(trained)
    data = trained.aligned(data).dense("drift")
    if not data.n_docs:
        raise InputError("there are no documents to compare")
    importance = _importance(trained)
    n_tests = data.n_features + (profile.scores is not None)
    features = _moved(profile.features, data.features, data.groups, trained_names(trained), importance, n_tests)
    scores = None
    if profile.scores is not None:
        found = trained.scores(data, threads=thread_count(threads)).astype(np.float32)[:, None]
        scores = _moved(profile.scores, found, data.groups, ("scores",), np.full(1, np.nan), n_tests)[0]
    ordered = sorted(features, key=lambda one: (not one.moved, -one.index, one.name))
    return DriftReport(data.n_docs, tuple(ordered), scores)


def trained_names(trained: TrainedRanker) -> tuple[str, ...]:
    """The names of a model's features, or their numbers."""
    from rankwright.data.feature_names import numbered_names

    return trained.feature_names or numbered_names(trained.n_features)


def _importance(trained: TrainedRanker) -> Float64Array:
    """The share of each feature in the model's importance; NaN where the model tells none."""
    kinds = trained.model.importance_kinds
    if not kinds:
        return np.full(trained.n_features, np.nan)
    values = np.abs(trained.model.importances(kinds[0]))
    total = values.sum()
    return values / total if total > 0 else np.zeros(len(values))


def _moved(
    before: Spread, values: Float32Array, groups: Groups, names: tuple[str, ...], importance: Float64Array, n_tests: int
) -> list[MovedFeature]:
    now = CountsByQuery.of(before, values, groups)
    index = stability_index(before.counts, now.counts)
    chances = np.minimum(1.0, n_tests * chances_of(before.counts, now))
    gone = _missing(before.counts), _missing(now.counts)
    return [
        MovedFeature(
            name,
            float(index[place]),
            float(chances[place]),
            (float(gone[0][place]), float(gone[1][place])),
            float(importance[place]),
            _direction(before.counts[place], now.counts[place]),
        )
        for place, name in enumerate(names)
    ]


def _missing(counts: IntArray) -> Float64Array:
    share: Float64Array = counts[:, N_BINS] / np.maximum(counts.sum(axis=1), 1)
    return share


def _direction(before: Any, now: Any) -> str:
    """In which direction values went, by where most of the change is."""
    shares = [counts / max(1, counts.sum()) for counts in (before, now)]
    missing = shares[1][N_BINS] - shares[0][N_BINS]
    known = [share[:N_BINS] / max(share[:N_BINS].sum(), 1e-12) for share in shares]
    shift = float(np.sum(np.cumsum(known[0]) - np.cumsum(known[1]))) / N_BINS
    if abs(missing) > abs(shift):
        return f"{'more' if missing > 0 else 'fewer'} values are missing ({shares[1][N_BINS]:.1%})"
    return "values are higher" if shift > 0 else "values are lower"

"""What if: a document with other features, or BM25F with other weights, and the list that comes of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite

import numpy as np

from rankwright.errors import SettingError, require
from rankwright.search.session import RankedList, SearchAnswer, SearchSession
from rankwright.text.features import QueryDocuments, features_of
from rankwright.text.specification import FeatureLine, FeatureSpecification
from rankwright.tuning.bm25f import K1, WEIGHT, B, bm25f_line

MOST_K1, MOST_WEIGHT = 8.0, 20.0


@dataclass(frozen=True, slots=True)
class Slider:
    """A number that can be moved; where low and high are equal, it is the same for all."""

    key: str  # what an address calls it
    name: str
    value: float
    before: float
    low: float
    high: float

    @property
    def is_changed(self) -> bool:
        """Whether it stands elsewhere than it did."""
        return self.value != self.before and not (np.isnan(self.value) and np.isnan(self.before))

    @property
    def position(self) -> float:
        """Where its handle is; that of a missing value is at the low end."""
        return self.low if np.isnan(self.value) else self.value


def number_in(text: str, name: str) -> float:
    """The number that an address gives for a slider."""
    try:
        value = float(text)
    except ValueError:
        value = np.nan
    if not isfinite(value) or abs(value) > float(np.finfo(np.float32).max):
        raise SettingError(f"{name} must be a number, got {text[:40]!r}")
    return value


def feature_sliders(
    session: SearchSession, answer: SearchAnswer, ranker: str, place: int, changes: Mapping[str, float], prefix: str
) -> list[Slider]:
    """The features that the ranker looks at: those first that matter most to the document, going by the ranker."""
    data, trained = answer.features[ranker], session.ranker(ranker).trained
    used = np.flatnonzero(trained.model.used_features(data.n_features))
    finite = np.where(np.isfinite(data.features), data.features, np.float32(np.nan))
    low, high = np.fmin.reduce(finite), np.fmax.reduce(finite)
    worth = np.nan_to_num(high - low)
    if not trained.model.needs_queries:
        first = answer.lists[ranker].order[:10].tolist()
        places = [place, *(one for one in first if one != place)]
        worth = np.abs(session.explanation(answer, ranker, places).centred[0])
    order = used[np.argsort(-worth[used], kind="stable")].tolist()
    sliders = []
    for one in order:
        before = float(data.features[place, one])
        value = changes.get(data.names[one], before)
        ends = [end for end in (float(low[one]), float(high[one]), value) if not np.isnan(end)]
        least, most = (min(ends), max(ends)) if ends else (0.0, 0.0)
        sliders.append(Slider(f"{prefix}{one + 1}", data.names[one], value, before, least, most))
    # What is the same for all candidates comes last: it cannot tell them apart.
    return sorted(sliders, key=lambda slider: slider.low == slider.high)


def settings_of(line: FeatureLine) -> dict[str, float]:
    """BM25F's settings by name: k1, weight.FIELD and b.FIELD, as `tune` calls them."""
    found = {K1: float(line.settings[K1])}
    for kind, key in ((WEIGHT, "weights"), (B, "b")):
        values = tuple(line.settings[key])
        each = values * (len(line.fields) if len(values) == 1 else 1)
        found |= {f"{kind}.{name}": float(value) for name, value in zip(line.fields, each, strict=True)}
    return found


def setting_sliders(line: FeatureLine, changes: Mapping[str, float], prefix: str) -> list[Slider]:
    """BM25F's settings."""
    most = {K1: MOST_K1, WEIGHT: MOST_WEIGHT, B: 1.0}
    return [
        Slider(f"{prefix}{name}", name, changes.get(name, value), value, 0.0,
               max(most[name.partition(".")[0]], value, changes.get(name, value)))
        for name, value in settings_of(line).items()
    ]  # fmt: skip


def reweighted(session: SearchSession, answer: SearchAnswer, ranker: str, changes: Mapping[str, float]) -> RankedList:
    """The candidates as BM25F orders them with other settings."""
    line = session.ranker(ranker).bm25f_line
    if line is None:
        raise SettingError(f"{ranker} is no BM25F: it has no weights of fields")
    own = settings_of(line)
    unknown = next((name for name in changes if name not in own), None)
    require(unknown is None, f"BM25F has no setting {unknown!r}; it has {', '.join(own)}")
    made = FeatureSpecification([bm25f_line(line.fields, own | dict(changes))])
    rows = QueryDocuments([answer.query], [answer.query], np.array([0, len(answer)]), answer.ordinals)
    data = features_of(session.index, rows, made, threads=session.threads)
    return RankedList.of(ranker, data.features[:, 0].astype(np.float64))

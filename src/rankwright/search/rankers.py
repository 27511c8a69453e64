"""Rankers that search: trained ones that know how their features are made of texts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rankwright.catalog.rankers import load_trained
from rankwright.errors import InputError, require
from rankwright.linear.bm25f import bm25f_scorer
from rankwright.linear.bm25f_settings import NAME as BM25F
from rankwright.rankers.trained import TrainedRanker
from rankwright.text.features import origin_of
from rankwright.text.index.reading import Index
from rankwright.text.origin import OwnFunction
from rankwright.text.specification import FeatureLine, FeatureSpecification
from rankwright.tuning.bm25f import bm25f_line

WITHOUT_MODEL = "bm25f"
ELSEWHERE = {"clicks": "a log of clicks", "vectors": "vectors"}  # sources of features that a search does not have


@dataclass(frozen=True, slots=True, eq=False)
class SearchRanker:
    """A ranker by the name that people see, and the features that it needs."""

    name: str
    trained: TrainedRanker
    specification: FeatureSpecification
    path: str = ""  # of the model file; empty for the formula that needs none
    functions: Mapping[str, OwnFunction] | None = None

    @classmethod
    def of(
        cls,
        name: str,
        trained: TrainedRanker,
        index: Index,
        path: str = "",
        functions: Mapping[str, OwnFunction] | None = None,
    ) -> SearchRanker:
        """The ranker, once it is sure that its features can be made of this index."""
        origin = trained.features.origin
        if origin is None:
            raise InputError(
                f"{path or name} does not know how its features are made: train it on what `rankwright features` wrote "
                "as Parquet"
            )
        if origin.opened_analyser().fingerprint != index.analyser.fingerprint:
            raise InputError(f"the index {index.path} makes terms of texts in another way than {path or name} expects")
        specification = _needed(origin.specification, trained.feature_names)
        for column in specification.columns:
            require(
                column.source not in ELSEWHERE,
                f"{path or name} needs {ELSEWHERE.get(column.source)} ({column.name!r}), which a search does not have",
            )
        known = origin.checked_functions(functions or trained.functions) if specification.functions else {}
        origin_of(index, specification, known)  # an error where the index lacks a field
        return cls(name, trained, specification, path, known)

    @property
    def bm25f_line(self) -> FeatureLine | None:
        """The formula's settings, if that is what ranks."""
        return self.specification.lines[0] if self.trained.ranker == BM25F else None


def _needed(specification: FeatureSpecification, names: Sequence[str]) -> FeatureSpecification:
    """The lines that have a feature of these names."""
    wanted = set(names)
    return FeatureSpecification(
        [line for line in specification.lines if not wanted.isdisjoint(one.name for one in line.columns())]
    )


def plain_ranker(index: Index) -> SearchRanker:
    """BM25F with its usual settings and all fields alike: what searches where no model was given."""
    scorer = bm25f_scorer(index, bm25f_line(index.text_fields, {}))
    return SearchRanker.of(WITHOUT_MODEL, scorer.trained(), index)


def open_rankers(
    given: Sequence[str], index: Index, functions: Mapping[str, OwnFunction] | None = None
) -> list[SearchRanker]:
    """The rankers of model files, each given as MODEL or NAME=MODEL; the plain formula where there is none."""
    if not given:
        return [plain_ranker(index)]
    named = [named_model(text) for text in given]
    twice = next((name for place, (name, _) in enumerate(named) if name in [one for one, _ in named[:place]]), None)
    require(twice is None, f"two models are called {twice!r}: name them, as in --model old=a.rw --model new=b.rw")
    return [SearchRanker.of(name, load_trained(path), index, path, functions) for name, path in named]


def named_model(text: str) -> tuple[str, str]:
    """The name of a model and its file: what stands before an equals sign, or the file's name without its ending."""
    name, equals, path = text.partition("=")
    if not equals or Path(text).exists():
        name, path = Path(text).name.removesuffix(".rw"), text
    require(bool(name and path), f"a model is given as MODEL or NAME=MODEL, got {text!r}")
    return name, path


@dataclass(frozen=True, slots=True, eq=False)
class SharedFeatures:
    """Features that are computed once, and the rankers that look at them."""

    specification: FeatureSpecification
    rankers: tuple[str, ...]
    functions: Mapping[str, OwnFunction]


def shared_features(rankers: Sequence[SearchRanker]) -> list[SharedFeatures]:
    """As few specifications as there can be: two rankers share one unless they call different features alike."""
    lines: list[dict[str, FeatureLine]] = []  # of each specification, the line of each name
    users: list[list[SearchRanker]] = []
    for ranker in rankers:
        own = {column.name: line for line in ranker.specification.lines for column in line.columns()}
        for known, sharing in zip(lines, users, strict=True):
            if all(known.get(name, line) == line for name, line in own.items()):
                known.update(own)
                sharing.append(ranker)
                break
        else:
            lines.append(own)
            users.append([ranker])
    return [
        SharedFeatures(
            FeatureSpecification(_different(known.values())),
            tuple(one.name for one in sharing),
            {name: function for one in sharing for name, function in (one.functions or {}).items()},
        )
        for known, sharing in zip(lines, users, strict=True)
    ]


def _different(lines: Iterable[FeatureLine]) -> list[FeatureLine]:
    found: list[FeatureLine] = []
    for line in lines:
        if line not in found:
            found.append(line)
    return found

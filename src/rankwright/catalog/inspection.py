"""What is in a model file, for people and for programs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.catalog.rankers import read_model


@dataclass(frozen=True, slots=True, eq=False)
class ModelDescription:
    """A trained ranker: what it is, what it was trained with and on, what training saw, and what matters to it."""

    ranker: str
    settings: dict[str, Any]
    feature_names: tuple[str, ...]  # where training had none, numbers from 1
    scaling: str | None
    training_data: str | None  # a fingerprint
    history: dict[str, Any]  # what was watched after each step, and the best of it
    facts: dict[str, Any]  # what the model is made of, as its kind tells
    importances: dict[str, list[float]]  # of each kind the ranker knows, one a feature
    compressed_from: dict[str, Any] | None = None  # the larger model it stands for, and how it was made from it

    def ordered(self) -> IntArray:
        """The features' numbers from 0, the most important first, by the first kind of importance."""
        if not self.importances:
            return np.arange(len(self.feature_names))
        return np.argsort(-np.array(next(iter(self.importances.values()))), kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """The description as `rankwright inspect --json` prints it; features that matter most come first."""
        features = [
            {"name": self.feature_names[number]} | {kind: values[number] for kind, values in self.importances.items()}
            for number in self.ordered().tolist()
        ]
        return {
            "kind": "model",
            "ranker": self.ranker,
            "settings": self.settings,
            "features": features,
            "scaling": self.scaling,
            "training_data": self.training_data,
            "history": self.history,
            "model": self.facts,
            "compressed_from": self.compressed_from,
        }


def describe_model(path: str | os.PathLike[str]) -> ModelDescription:
    """The description of the model in a file."""
    ranker, header = read_model(path)
    history = ranker.history_
    numbers = range(1, ranker.n_features_in_ + 1)
    return ModelDescription(
        ranker=ranker.name,
        settings=header["settings"],
        feature_names=tuple(header["feature_names"]) or tuple(map(str, numbers)),
        scaling=None if ranker.scaling_ is None else ranker.scaling_.scaling.name,
        training_data=header.get("training_data"),
        history=history.to_dict() | {"best_step": history.best_step, "best_value": history.best_value},
        facts=ranker.facts(),
        compressed_from=ranker.compressed_from_,
        importances={kind: ranker.importances(kind).tolist() for kind in ranker.importance_kinds},
    )

"""What is in a model file, for people and for programs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.catalog.rankers import read_model


@dataclass(frozen=True, slots=True, eq=False)
class ModelDescription:
    """A trained ranker: its kind, settings, data, training history and important features.

    Attributes
    ----------
    ranker : str
        Its name.
    settings : dict
        The settings it was trained with.
    feature_names : tuple of str
        The names of its features, or the numbers from 1 if they had none in training.
    scaling : str or None
        The name of its scaling.
    training_data : str or None
        A fingerprint of the data it was trained on.
    history : dict
        The metric watched after each step, and its best value.
    facts : dict
        What the model is made of; it depends on the kind.
    importances : dict
        For each kind of importance that the ranker has, a list with one value per feature.
    compressed_from : dict or None
        The larger model that it was compressed from, and how.
    chosen : dict
        What training chose for settings that are None.
    debiasing : dict or None
        What was found about position bias in the clicks it was trained on.
    """

    ranker: str
    settings: dict[str, Any]
    feature_names: tuple[str, ...]
    scaling: str | None
    training_data: str | None
    history: dict[str, Any]
    facts: dict[str, Any]
    importances: dict[str, list[float]]
    compressed_from: Mapping[str, Any] | None = None
    chosen: dict[str, Any] = field(default_factory=dict)
    debiasing: dict[str, Any] | None = None

    def ordered(self) -> IntArray:
        """Order the features by the first kind of importance.

        Returns
        -------
        array of int64
            Their numbers from 0, the most important first.
        """
        if not self.importances:
            return np.arange(len(self.feature_names))
        return np.argsort(-np.array(next(iter(self.importances.values()))), kind="stable")

    def to_dict(self) -> dict[str, Any]:
        """Give the description as `rankwright inspect --json` prints it.

        Returns
        -------
        dict
            The whole description, the most important features first.
        """
        features = [
            {"name": self.feature_names[number]} | {kind: values[number] for kind, values in self.importances.items()}
            for number in self.ordered().tolist()
        ]
        return {
            "kind": "model",
            "ranker": self.ranker,
            "settings": self.settings,
            "chosen": self.chosen,
            "features": features,
            "scaling": self.scaling,
            "training_data": self.training_data,
            "history": self.history,
            "model": self.facts,
            "compressed_from": self.compressed_from,
            "debiasing": self.debiasing,
        }


def describe_model(path: str | os.PathLike[str]) -> ModelDescription:
    """Describe the model in a file.

    Parameters
    ----------
    path : path
        A model file.

    Returns
    -------
    ModelDescription
        What the file holds, for people and for programs.
    """
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
        chosen=dict(ranker.chosen_),
        debiasing=header.get("debiasing"),
        importances={kind: ranker.importances(kind).tolist() for kind in ranker.importance_kinds},
    )

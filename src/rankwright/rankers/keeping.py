"""A ranker kept in a file, and made from one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib import import_module
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays
from rankwright.container.checks import read_any_field
from rankwright.container.file import container_size, write_container
from rankwright.errors import InputError
from rankwright.rankers.inputs import (
    check_trained,
)
from rankwright.rankers.state import RankerState
from rankwright.rankers.trained import MODEL_KIND, TrainedRanker, read_trained
from rankwright.settings.setting import restored_settings


class KeptRanker(RankerState):
    """A ranker that is saved, exported, and restored."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model file, which `rankwright.load` reads back.

        Parameters
        ----------
        path : path
            Where to write it. An existing file is replaced in one step.
        """
        write_container(path, MODEL_KIND, *self.to_state())

    def export(self, path: str | os.PathLike[str], *, to: str, **options: Any) -> Any:
        """Write the trained model in the format of another engine, with documents that prove it.

        Parameters
        ----------
        path : path
            The file to write; what else goes with it is written beside it.
        to : str
            The target, such as `"onnx"` or `"xgboost-json"`; `rankwright list targets` shows them.
        **options
            Those of `rankwright.export`.

        Returns
        -------
        Exported
            The files written, what is good to know about them, and the verdict where one was asked for.
        """
        # Exporters know every family of models, so they stand above all rankers; this is their door.
        return import_module("rankwright.exchange.exporting").export(self, path, to=to, **options)

    def file_size(self) -> int:
        """Tell how large the model file is.

        Returns
        -------
        int
            Its size in bytes.
        """
        return container_size(MODEL_KIND, *self.to_state())

    def trained(self) -> TrainedRanker:
        """Return the trained ranker as a value without the scikit-learn interface.

        Returns
        -------
        TrainedRanker
            All that the model file holds.
        """
        check_trained(self)
        return TrainedRanker(
            ranker=self.name,
            settings=self.stored_settings(),
            model=self.model_,
            scaling=self.scaling_,
            n_features=int(self.n_features_in_),
            feature_names=tuple(getattr(self, "feature_names_in_", ())),
            history=self.history_,
            training_data=self.data_digest_,
            chosen=self.chosen_,
            compressed_from=self.compressed_from_,
            seen_queries=self.seen_queries_,
            categories=self.categories_,
        )

    def to_state(self) -> tuple[dict[str, Any], Arrays]:
        """Return the content of the model file.

        Returns
        -------
        (dict, dict of arrays)
            The header and the arrays that `from_state` reads.
        """
        return self.trained().to_state()

    @classmethod
    def from_state(cls, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], **given: Any) -> Self:
        """Make the ranker that a model file's header and arrays describe.

        Parameters
        ----------
        header, arrays
            What `to_state` gave.
        **given
            Settings that files do not hold, such as the `module` of a net of your own.

        Returns
        -------
        Ranker
            A trained ranker of this class.
        """
        ranker = restored_settings(cls, read_any_field(header, "settings"), **given)
        ranker._take(read_trained(header, arrays, ranker.model_kind, ranker, ranker._read_member))
        return ranker

    @classmethod
    def of_trained(cls, trained: TrainedRanker, **given: Any) -> Self:
        """Make a ranker of this class from a trained ranker.

        Parameters
        ----------
        trained : TrainedRanker
            What `trained` gave.
        **given
            Settings that it does not hold, such as the `module` of a net of your own.

        Returns
        -------
        Ranker
            A trained ranker of this class.
        """
        ranker = cls(**trained.settings, **given)
        ranker._take(trained)
        return ranker

    def _take(self, trained: TrainedRanker) -> None:
        """Take over the attributes of a trained ranker."""
        self.n_features_in_ = trained.n_features
        if trained.feature_names:
            self.feature_names_in_ = np.array(trained.feature_names, dtype=object)
        self.model_, self.scaling_, self.history_ = trained.model, trained.scaling, trained.history
        self.data_digest_, self.seen_queries_ = trained.training_data, trained.seen_queries
        self.chosen_, self.categories_ = dict(trained.chosen), trained.categories
        self.compressed_from_ = None if trained.compressed_from is None else dict(trained.compressed_from)

    def _read_member(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TrainedRanker:  # noqa: ARG002
        raise InputError(f"a {self.name} holds no other rankers")

"""Model files read as rankers and described, and the class of each kind by name.

Nothing here needs scikit-learn or torch unless a ranker's class is asked for: model files are scored without them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import IntArray
from rankwright.bagging.settings import BaggingSettings
from rankwright.blending.settings import BlendSettings
from rankwright.catalog.kinds import KINDS, UNTRAINED, Kind, found_at, kind_named
from rankwright.container.checks import file_faults, read_any_field, read_field
from rankwright.container.file import Container, begins_as_container, is_container, read_container
from rankwright.errors import ContainerError, InputError, require, require_input, require_type
from rankwright.nets.settings import NetSettings
from rankwright.rankers.trained import MODEL_KIND, TrainedRanker, read_trained
from rankwright.settings.setting import restored_settings

if TYPE_CHECKING:
    from rankwright.imports.assembly import ForeignForest
    from rankwright.rankers.ranker import Ranker


NOT_STATED = "objective is for the list of trees that XGBoost's dump_model writes: other models tell their own"


def ranker_named(name: str) -> type[Ranker]:
    """The class of the ranker of that name; hyphens may be left out."""
    return kind_named(name).ranker_class()


def load(
    path: Any,
    *,
    module: Any = None,
    objective: str | None = None,
    functions: Mapping[str, Callable[..., Any]] | None = None,
) -> Ranker:
    """Read a trained ranker from its model file, or another library's model as one; reading it runs no code.

    Parameters
    ----------
    path : path or model
        A file that `save`, or the command line, wrote; or a model of LightGBM (text or JSON), XGBoost (JSON, UBJSON or
        dump), CatBoost (JSON, or .cbm where CatBoost is installed), RankLib or ONNX, told by its content; or a live
        model of LightGBM, XGBoost, CatBoost or scikit-learn.
    module : torch.nn.Module, optional
        For a net that was trained from a module of your own: such a module, into which the weights are put.
    objective : str, optional
        For the list of trees that XGBoost's `dump_model` writes: the objective that they were trained for, such as
        `"rank:ndcg"`. The list does not tell, and trees of several classes, which are no ranker, look the same.
    functions : mapping from str to function, optional
        For a ranker whose features are made by functions of your own: these functions by name. The file records their
        fingerprints; another function is an error.

    Returns
    -------
    Ranker
        The trained ranker; models of other libraries are an `ImportedForest`, which scores as they do.

    Examples
    --------
    >>> import tempfile
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=30, seed=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rw.LambdaMART(n_trees=3, max_leaves=4).fit(data).save(f"{folder}/ranker.rw")
    ...     rw.load(f"{folder}/ranker.rw").n_trees_
    3
    """
    ranker = read_model(path, module=module, objective=objective)[0]
    if functions:
        ranker.trained_ = ranker.trained().with_functions(functions)
    return ranker


def read_model(path: Any, *, module: Any = None, objective: str | None = None) -> tuple[Ranker, dict[str, Any]]:
    """The ranker in a model file, and the file's header."""
    foreign = _foreign(path, objective)
    if foreign is not None:
        ranker = _imported(foreign)
        return ranker, ranker.to_state()[0]
    model, kind = _open_model(path)
    told = f"{os.fspath(path)} holds a {kind.name}, which has no module"
    require(module is None or issubclass(kind.settings, NetSettings) or kind.name == "bagging", told)
    given: dict[str, Any] = {} if module is None else {"module": module}
    if kind.name in (BaggingSettings.name, BlendSettings.name):
        given["kinds"] = _Rankers({**KINDS, **UNTRAINED}) if kind.name == BlendSettings.name else RANKERS
    with file_faults(path, "model"):
        return kind.ranker_class().from_state(model.header, model.arrays, **given), model.header


def load_trained(path: str | os.PathLike[str]) -> TrainedRanker:
    """The trained ranker in a model file, without its scikit-learn class; reading it runs no code."""
    foreign = _foreign(path)
    if foreign is not None:
        return _imported(foreign).trained()
    model, _ = _open_model(path)
    with file_faults(path, "model"):
        return _read(model.header, model.arrays)


def _foreign(path: Any, objective: str | None = None) -> ForeignForest | None:
    """The forest of another tool's model, if that is what was given."""
    if isinstance(path, str | os.PathLike) and begins_as_container(path):
        require(objective is None, NOT_STATED)
        return None
    # Loaded here because most models are our own, and scoring with those should begin at once.
    from rankwright.imports.format_table import is_live, read_foreign, read_live, source_of, told_of_stranger

    if is_live(path):
        require(objective is None, NOT_STATED)
        return read_live(path)
    require_type(
        path, (str, os.PathLike), "path", "the name of a model file, or a live model of a library that is known"
    )
    source = source_of(path)  # before the name: a model of another tool may be called model.rw
    if source is None and Path(path).is_file() and not is_container(path):
        raise ContainerError(os.fspath(path), told_of_stranger(path))
    require(objective is None or source is None or source.takes_objective, NOT_STATED)
    return None if source is None else read_foreign(path, source, objective)


def _imported(foreign: ForeignForest) -> Ranker:
    ranker: Ranker = found_at("imports.imported:imported")(foreign)
    return ranker


def _open_model(path: str | os.PathLike[str]) -> tuple[Container, Kind]:
    """The content of a model file, and the kind of ranker that it names."""
    model = read_container(path, MODEL_KIND)
    try:
        return model, _kind_of(model.header)
    except InputError as error:
        raise ContainerError(os.fspath(path), str(error)) from None


def _read(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> TrainedRanker:
    kind = _kind_of(header)
    settings = restored_settings(kind.settings, read_any_field(header, "settings"))
    _check_inner(settings)
    return read_trained(header, arrays, kind.model_class(settings), settings, _read)


def _check_inner(settings: Any) -> None:
    """Raise where the settings of what a bag or a blend is made of are none."""
    if isinstance(settings, BaggingSettings) and settings.ranker is not None:
        described = {name: value for name, value in settings.ranker.items() if name != "ranker"}
        restored_settings(_kind_of(settings.ranker).settings, described)
    if isinstance(settings, BlendSettings):
        for one in settings.rankers or ():
            kind = _kind_of({"ranker": read_field(one, "name", str)})
            _check_inner(restored_settings(kind.settings, read_any_field(one, "settings")))


def _kind_of(header: Mapping[str, Any]) -> Kind:
    name = read_field(header, "ranker", str)
    if name in UNTRAINED:
        return UNTRAINED[name]
    require_input(name in KINDS, f"holds a ranker of kind {name!r}, which this release does not know")
    return KINDS[name]


class _Rankers(Mapping[str, "type[Ranker]"]):
    """The classes of kinds by name, each imported when it is asked for."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._kinds = kinds

    def __getitem__(self, name: str) -> type[Ranker]:
        return self._kinds[name].ranker_class()

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)


RANKERS: Mapping[str, type[Ranker]] = _Rankers(KINDS)


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
    feature_origin : dict or None
        How its features are made of texts: specification, fields, analyser, functions.
    text_statistics : dict or None
        What it keeps of an index, with which texts that are in none can be scored.
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
    feature_origin: dict[str, Any] | None = None
    text_statistics: dict[str, Any] | None = None

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
            "feature_origin": self.feature_origin,
            "text_statistics": self.text_statistics,
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
        feature_origin=header.get("feature_origin"),
        text_statistics=_described_statistics(ranker.trained_),
        importances={kind: ranker.importances(kind).tolist() for kind in ranker.importance_kinds},
    )


def _described_statistics(trained: TrainedRanker) -> dict[str, Any] | None:
    kept = trained.text_statistics
    if kept is None:
        return None
    n_documents = kept.field_totals.n_documents
    return {"terms": len(kept.number_of), "documents": n_documents, "complete": kept.is_complete}

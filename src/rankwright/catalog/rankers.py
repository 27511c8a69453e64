"""The table of names: every kind of ranker with its settings, its model and its class; and reading model files.

Nothing here needs scikit-learn or torch: tables of settings can be printed, and model files scored, without them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from rankwright.bagging.settings import BagBooSettings, BaggingSettings, BLMARTSettings
from rankwright.boosters.settings import (
    AdaRankSettings,
    BoltzRankSettings,
    CoordinateAscentSettings,
    FRankSettings,
    RankBoostSettings,
)
from rankwright.comparators.settings import SortNetSettings
from rankwright.container.checks import file_faults, known, part
from rankwright.container.file import Container, begins_as_container, is_container, read_container
from rankwright.errors import ContainerError, InputError, UnknownNameError, require, require_type
from rankwright.imports.foreign import ForeignForest
from rankwright.imports.settings import ImportedForestSettings
from rankwright.imports.table import is_live, read_foreign, read_live, source_of, told_of_stranger
from rankwright.linear.settings import (
    CRRSettings,
    KernelPRankSettings,
    LinearRegressionSettings,
    OAPBPMSettings,
    PRankSettings,
    RankSVMSettings,
    RankSVMStructSettings,
    SmoothRankSettings,
    SVMMAPSettings,
)
from rankwright.nets.settings import (
    LambdaRankSettings,
    ListNetSettings,
    NetRankerSettings,
    NetSettings,
    RankNetSettings,
    RankPropSettings,
)
from rankwright.rankers.trained import MODEL_KIND, TrainedRanker, read_trained
from rankwright.settings.setting import restored_settings
from rankwright.settings.shared import RankerSettings
from rankwright.trees.settings import LambdaMARTSettings, MARTSettings

if TYPE_CHECKING:
    from rankwright.rankers.model import Model
    from rankwright.rankers.ranker import Ranker

FOREST = "rankwright.trees.model:ForestModel"
BAGGED_FOREST = "rankwright.bagging.model:BaggedForestModel"
NET = "rankwright.nets.model:NetModel"
ARRAYS = "rankwright.linear.model:ArraysModel"
WEIGHTED_SUM = "rankwright.boosters.model:WeightedSumModel"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of ranker: its settings, and where to find its class and its model, written `module:name`."""

    settings: type[RankerSettings]
    ranker: str
    model: str

    @property
    def name(self) -> str:
        """The name of the kind."""
        return self.settings.name

    def ranker_class(self) -> type[Ranker]:
        """The class with the scikit-learn interface."""
        found: type[Ranker] = _found(self.ranker)
        return found

    def model_class(self, settings: RankerSettings) -> type[Model]:
        """The class of the model that a ranker with these settings has."""
        if isinstance(settings, ListNetSettings) and not len(settings.hidden):
            from rankwright.linear.model import LinearListNet

            return LinearListNet
        found: type[Model] = _found(self.model)
        return found


_TABLE = (
    Kind(LambdaMARTSettings, "rankwright.trees.lambdamart:LambdaMART", FOREST),
    Kind(BLMARTSettings, "rankwright.bagging.blmart:BLMART", BAGGED_FOREST),
    Kind(MARTSettings, "rankwright.trees.mart:MART", FOREST),
    Kind(BagBooSettings, "rankwright.bagging.bagboo:BagBoo", BAGGED_FOREST),
    Kind(RankNetSettings, "rankwright.nets.ranknet:RankNet", NET),
    Kind(LambdaRankSettings, "rankwright.nets.lambdarank:LambdaRank", NET),
    Kind(NetRankerSettings, "rankwright.nets.net_ranker:NetRanker", NET),
    Kind(SortNetSettings, "rankwright.comparators.sortnet:SortNet", "rankwright.comparators.model:ComparatorModel"),
    Kind(BaggingSettings, "rankwright.bagging.bagging:Bagging", "rankwright.bagging.model:BagModel"),
    Kind(LinearRegressionSettings, "rankwright.linear.linear_regression:LinearRegression", ARRAYS),
    Kind(PRankSettings, "rankwright.linear.prank:PRank", ARRAYS),
    Kind(KernelPRankSettings, "rankwright.linear.kernel_prank:KernelPRank", "rankwright.linear.model:KernelPRankModel"),
    Kind(OAPBPMSettings, "rankwright.linear.prank:OAPBPM", ARRAYS),
    Kind(RankPropSettings, "rankwright.nets.rankprop:RankProp", NET),
    Kind(RankSVMSettings, "rankwright.linear.ranksvm:RankSVM", "rankwright.linear.model:RankSVMModel"),
    Kind(RankSVMStructSettings, "rankwright.linear.ranksvm_struct:RankSVMStruct", ARRAYS),
    Kind(SVMMAPSettings, "rankwright.linear.svmmap:SVMMAP", ARRAYS),
    Kind(ListNetSettings, "rankwright.nets.listnet:ListNet", NET),
    Kind(SmoothRankSettings, "rankwright.linear.smoothrank:SmoothRank", ARRAYS),
    Kind(CRRSettings, "rankwright.linear.crr:CRR", ARRAYS),
    Kind(AdaRankSettings, "rankwright.boosters.adarank:AdaRank", WEIGHTED_SUM),
    Kind(RankBoostSettings, "rankwright.boosters.rankboost:RankBoost", FOREST),
    Kind(FRankSettings, "rankwright.boosters.frank:FRank", FOREST),
    Kind(BoltzRankSettings, "rankwright.boosters.boltzrank:BoltzRank", "rankwright.boosters.model:PotentialsModel"),
    Kind(CoordinateAscentSettings, "rankwright.boosters.coordinate_ascent:CoordinateAscent", WEIGHTED_SUM),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _TABLE}
# Kinds that model files may hold and nobody trains here.
_IMPORTED = Kind(ImportedForestSettings, "rankwright.imports.imported:ImportedForest", FOREST)


def kind_named(name: str) -> Kind:
    """The kind of ranker of that name; hyphens may be left out."""
    for own, kind in KINDS.items():
        if name in (own, own.replace("-", "")):
            return kind
    raise UnknownNameError("ranker", name, known=KINDS)


def ranker_named(name: str) -> type[Ranker]:
    """The class of the ranker of that name; hyphens may be left out."""
    return kind_named(name).ranker_class()


def load(path: Any, *, module: Any = None) -> Ranker:
    """Read a trained ranker from its model file, or another library's model as one; reading it runs no code.

    Parameters
    ----------
    path : path or model
        A file that `save`, or the command line, wrote; or a model of LightGBM (text or JSON), XGBoost (JSON, UBJSON or
        dump), CatBoost (JSON), RankLib or ONNX, told by its content; or a live model of LightGBM, XGBoost, CatBoost or
        scikit-learn.
    module : torch.nn.Module, optional
        For a net that was trained from a module of your own: such a module, into which the weights are put.

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
    return read_model(path, module=module)[0]


def read_model(path: Any, *, module: Any = None) -> tuple[Ranker, dict[str, Any]]:
    """The ranker in a model file, and the file's header."""
    foreign = _foreign(path)
    if foreign is not None:
        ranker = _imported(foreign)
        return ranker, ranker.to_state()[0]
    model, kind = _open_model(path)
    require(
        module is None or issubclass(kind.settings, NetSettings) or kind.name == "bagging",
        f"{os.fspath(path)} holds a {kind.name}, which has no module",
    )
    given: dict[str, Any] = {} if module is None else {"module": module}
    if kind.name == "bagging":
        given["kinds"] = RANKERS
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


def _foreign(path: Any) -> ForeignForest | None:
    """The forest of another tool's model, if that is what was given."""
    if is_live(path):
        return read_live(path)
    require_type(
        path, (str, os.PathLike), "path", "the name of a model file, or a live model of a library that is known"
    )
    if begins_as_container(path):
        return None
    source = source_of(path)  # before the name: a model of another tool may be called model.rw
    if source is None and Path(path).is_file() and not is_container(path):
        raise ContainerError(os.fspath(path), told_of_stranger(path))
    return None if source is None else read_foreign(path, source)


def _imported(foreign: ForeignForest) -> Ranker:
    ranker: Ranker = _found("rankwright.imports.imported:imported")(foreign)
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
    settings = restored_settings(kind.settings, known(header, "settings"))
    if isinstance(settings, BaggingSettings) and settings.ranker is not None:
        _check_described(settings.ranker)
    return read_trained(header, arrays, kind.model_class(settings), settings, _read)


def _check_described(ranker: Any) -> None:
    """Raise unless this is what a file holds of a ranker to bag: its name, and its settings."""
    kind = _kind_of(ranker)
    restored_settings(kind.settings, {name: value for name, value in ranker.items() if name != "ranker"})


def _kind_of(header: Mapping[str, Any]) -> Kind:
    name = part(header, "ranker", str)
    if name == _IMPORTED.name:
        return _IMPORTED
    if name not in KINDS:
        raise InputError(f"holds a ranker of kind {name!r}, which this release does not know")
    return KINDS[name]


def _found(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


class _Rankers(Mapping[str, "type[Ranker]"]):
    """The classes of all kinds by name, each imported when it is asked for."""

    def __getitem__(self, name: str) -> type[Ranker]:
        return KINDS[name].ranker_class()

    def __iter__(self) -> Iterator[str]:
        return iter(KINDS)

    def __len__(self) -> int:
        return len(KINDS)


RANKERS: Mapping[str, type[Ranker]] = _Rankers()

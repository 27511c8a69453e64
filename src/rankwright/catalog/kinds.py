"""The table of names: every kind of ranker with its settings, and where its model and its class are found.

Nothing here needs scikit-learn or torch, so tables of settings can be printed without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.bagging.settings import BagBooSettings, BaggingSettings, BLMARTSettings
from rankwright.boosters.settings import (
    AdaRankSettings,
    BoltzRankSettings,
    CoordinateAscentSettings,
    FRankSettings,
    RankBoostSettings,
)
from rankwright.comparators.settings import SortNetSettings
from rankwright.errors import UnknownNameError
from rankwright.imports.imported_settings import ImportedForestSettings
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
from rankwright.mart.settings import LambdaMARTSettings, MARTSettings
from rankwright.nets.settings import (
    LambdaRankSettings,
    ListNetSettings,
    NetRankerSettings,
    RankNetSettings,
    RankPropSettings,
)
from rankwright.settings.shared import RankerSettings

if TYPE_CHECKING:
    from rankwright.rankers.model import Model
    from rankwright.rankers.ranker import Ranker

FOREST = "rankwright.trees.model:ForestModel"
BAGGED_FOREST = "rankwright.bagging.bag_models:BaggedForestModel"
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
        found: type[Ranker] = found_at(self.ranker)
        return found

    def model_class(self, settings: RankerSettings) -> type[Model]:
        """The class of the model that a ranker with these settings has."""
        if isinstance(settings, ListNetSettings) and not len(settings.hidden):
            from rankwright.linear.model import LinearListNet

            return LinearListNet
        found: type[Model] = found_at(self.model)
        return found


_TABLE = (
    Kind(LambdaMARTSettings, "rankwright.mart.lambdamart:LambdaMART", FOREST),
    Kind(BLMARTSettings, "rankwright.bagging.blmart:BLMART", BAGGED_FOREST),
    Kind(MARTSettings, "rankwright.mart.mart:MART", FOREST),
    Kind(BagBooSettings, "rankwright.bagging.blmart:BagBoo", BAGGED_FOREST),
    Kind(RankNetSettings, "rankwright.nets.net_rankers:RankNet", NET),
    Kind(LambdaRankSettings, "rankwright.nets.net_rankers:LambdaRank", NET),
    Kind(NetRankerSettings, "rankwright.nets.net_rankers:NetRanker", NET),
    Kind(SortNetSettings, "rankwright.comparators.sortnet:SortNet", "rankwright.comparators.model:ComparatorModel"),
    Kind(BaggingSettings, "rankwright.bagging.bagging:Bagging", "rankwright.bagging.bag_models:BagModel"),
    Kind(LinearRegressionSettings, "rankwright.linear.linear_regression:LinearRegression", ARRAYS),
    Kind(PRankSettings, "rankwright.linear.perceptrons:PRank", ARRAYS),
    Kind(KernelPRankSettings, "rankwright.linear.perceptrons:KernelPRank", "rankwright.linear.model:KernelPRankModel"),
    Kind(OAPBPMSettings, "rankwright.linear.perceptrons:OAPBPM", ARRAYS),
    Kind(RankPropSettings, "rankwright.nets.net_rankers:RankProp", NET),
    Kind(RankSVMSettings, "rankwright.linear.ranksvm:RankSVM", "rankwright.linear.model:RankSVMModel"),
    Kind(RankSVMStructSettings, "rankwright.linear.structural_svms:RankSVMStruct", ARRAYS),
    Kind(SVMMAPSettings, "rankwright.linear.structural_svms:SVMMAP", ARRAYS),
    Kind(ListNetSettings, "rankwright.nets.listnet:ListNet", NET),
    Kind(SmoothRankSettings, "rankwright.linear.smoothrank:SmoothRank", ARRAYS),
    Kind(CRRSettings, "rankwright.linear.crr:CRR", ARRAYS),
    Kind(AdaRankSettings, "rankwright.boosters.adarank:AdaRank", WEIGHTED_SUM),
    Kind(RankBoostSettings, "rankwright.boosters.stump_rankers:RankBoost", FOREST),
    Kind(FRankSettings, "rankwright.boosters.stump_rankers:FRank", FOREST),
    Kind(BoltzRankSettings, "rankwright.boosters.boltzrank:BoltzRank", "rankwright.boosters.model:PotentialsModel"),
    Kind(CoordinateAscentSettings, "rankwright.boosters.coordinate_ascent:CoordinateAscent", WEIGHTED_SUM),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _TABLE}
# Kinds that model files may hold and nobody trains here.
IMPORTED = Kind(ImportedForestSettings, "rankwright.imports.imported:ImportedForest", FOREST)


def kind_named(name: str) -> Kind:
    """The kind of ranker of that name; hyphens may be left out."""
    for own, kind in KINDS.items():
        if name in (own, own.replace("-", "")):
            return kind
    raise UnknownNameError("ranker", name, known=KINDS)


def found_at(place: str) -> Any:
    """What stands at a place written `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)

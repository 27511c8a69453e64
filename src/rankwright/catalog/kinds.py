"""The table of names: every kind of ranker with its settings, and where its model and its class are found.

Nothing here needs scikit-learn or torch, so tables of settings can be printed without them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rankwright.bagging import settings as bagging
from rankwright.blending.settings import BlendSettings
from rankwright.boosters import settings as boosters
from rankwright.comparators import settings as comparators
from rankwright.errors import UnknownNameError
from rankwright.imports.imported_settings import ImportedForestSettings
from rankwright.linear import settings as linear
from rankwright.linear.bm25f_settings import BM25FScorerSettings
from rankwright.mart import settings as mart
from rankwright.nets import settings as nets
from rankwright.settings.shared import RankerSettings

if TYPE_CHECKING:
    from rankwright.rankers.model import Model
    from rankwright.rankers.ranker import Ranker

FOREST = "trees.model:ForestModel"
BAGGED_FOREST = "bagging.bag_models:BaggedForestModel"
NET = "nets.model:NetModel"
ARRAYS = "linear.model:ArraysModel"
WEIGHTED_SUM = "boosters.model:WeightedSumModel"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of ranker: its settings, and where its class and its model stand in the package, as `module:name`."""

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
        if isinstance(settings, nets.ListNetSettings) and not len(settings.hidden):
            from rankwright.linear.model import LinearListNet

            return LinearListNet
        found: type[Model] = found_at(self.model)
        return found


_TABLE = (
    Kind(mart.LambdaMARTSettings, "mart.lambdamart:LambdaMART", FOREST),
    Kind(bagging.BLMARTSettings, "bagging.blmart:BLMART", BAGGED_FOREST),
    Kind(mart.MARTSettings, "mart.mart:MART", FOREST),
    Kind(bagging.BagBooSettings, "bagging.blmart:BagBoo", BAGGED_FOREST),
    Kind(nets.RankNetSettings, "nets.net_rankers:RankNet", NET),
    Kind(nets.LambdaRankSettings, "nets.net_rankers:LambdaRank", NET),
    Kind(nets.NetRankerSettings, "nets.net_rankers:NetRanker", NET),
    Kind(comparators.SortNetSettings, "comparators.sortnet:SortNet", "comparators.model:ComparatorModel"),
    Kind(bagging.BaggingSettings, "bagging.bagging:Bagging", "bagging.bag_models:BagModel"),
    Kind(BlendSettings, "blending.blend:Blend", "blending.model:BlendModel"),
    Kind(linear.LinearRegressionSettings, "linear.linear_regression:LinearRegression", ARRAYS),
    Kind(linear.PRankSettings, "linear.perceptrons:PRank", ARRAYS),
    Kind(linear.KernelPRankSettings, "linear.perceptrons:KernelPRank", "linear.model:KernelPRankModel"),
    Kind(linear.OAPBPMSettings, "linear.perceptrons:OAPBPM", ARRAYS),
    Kind(nets.RankPropSettings, "nets.net_rankers:RankProp", NET),
    Kind(linear.RankSVMSettings, "linear.ranksvm:RankSVM", "linear.model:RankSVMModel"),
    Kind(linear.RankSVMStructSettings, "linear.structural_svms:RankSVMStruct", ARRAYS),
    Kind(linear.SVMMAPSettings, "linear.structural_svms:SVMMAP", ARRAYS),
    Kind(nets.ListNetSettings, "nets.listnet:ListNet", NET),
    Kind(linear.SmoothRankSettings, "linear.smoothrank:SmoothRank", ARRAYS),
    Kind(linear.CRRSettings, "linear.crr:CRR", ARRAYS),
    Kind(boosters.AdaRankSettings, "boosters.adarank:AdaRank", WEIGHTED_SUM),
    Kind(boosters.RankBoostSettings, "boosters.stump_rankers:RankBoost", FOREST),
    Kind(boosters.FRankSettings, "boosters.stump_rankers:FRank", FOREST),
    Kind(boosters.BoltzRankSettings, "boosters.boltzrank:BoltzRank", "boosters.model:PotentialsModel"),
    Kind(boosters.CoordinateAscentSettings, "boosters.coordinate_ascent:CoordinateAscent", WEIGHTED_SUM),
)
KINDS: Mapping[str, Kind] = {kind.name: kind for kind in _TABLE}
# Kinds that model files may hold and nobody trains here.
IMPORTED = Kind(ImportedForestSettings, "imports.imported:ImportedForest", FOREST)
BM25F = Kind(BM25FScorerSettings, "linear.bm25f:BM25FScorer", ARRAYS)
UNTRAINED: Mapping[str, Kind] = {kind.name: kind for kind in (IMPORTED, BM25F)}


# What others call our rankers, and tools whose ranker is of a kind that is here.
OTHER_NAMES = {
    **dict.fromkeys(("xgboost", "lightgbm", "catboost", "gbdt", "gbm", "xgbranker", "lgbmranker"), "lambdamart"),
    **dict.fromkeys(("svmrank", "svm-rank", "svm"), "ranksvm"),
    **dict.fromkeys(("random-forest", "randomforest", "rf"), "bagboo"),
    **dict.fromkeys(("linear", "ridge", "regression"), "linear-regression"),
    **dict.fromkeys(("neural-net", "mlp", "nn"), "ranknet"),
}


def kind_named(name: str) -> Kind:
    """The kind of ranker of that name; hyphens may be left out."""
    for own, kind in KINDS.items():
        if name in (own, own.replace("-", "")):
            return kind
    raise UnknownNameError("ranker", name, known=KINDS, meant=OTHER_NAMES.get(name.lower()))


def found_at(place: str) -> Any:
    """What stands at a place of the package, written `module:name`."""
    module, _, name = place.partition(":")
    return getattr(import_module(f"rankwright.{module}"), name)

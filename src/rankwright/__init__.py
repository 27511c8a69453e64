"""Learning to rank: from judgments or clicks to a measured, explained, deployed ranker.

Names are loaded when first used, so that `import rankwright` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright import objectives
    from rankwright.catalog.inspection import ModelDescription, describe_model
    from rankwright.catalog.rankers import load
    from rankwright.data import scaling, synthetic, targets
    from rankwright.data.columns import Columns
    from rankwright.data.conversion import convert
    from rankwright.data.dataset import RankingDataset
    from rankwright.data.files import DataFile
    from rankwright.data.groups import Groups
    from rankwright.data.pairs import read_pairs, write_pairs
    from rankwright.data.preferences import Preferences
    from rankwright.data.reading import read, write
    from rankwright.data.splits import QueryKFold
    from rankwright.data.svmlight import iter_svmlight, read_svmlight, write_svmlight
    from rankwright.data.tables import from_frame, to_arrow, to_pandas, to_polars, to_sparse
    from rankwright.data.trec import Qrels, Run, read_qrels, read_run, write_qrels, write_run
    from rankwright.ensembles.bagboo import BagBoo
    from rankwright.ensembles.bagging import Bagging
    from rankwright.ensembles.blmart import BLMART
    from rankwright.ensembles.compression import Compressed, compress
    from rankwright.ensembles.distillation import StudentParams
    from rankwright.errors import RankwrightError
    from rankwright.metrics.comparison import compare_conventions
    from rankwright.metrics.convention import Convention, parse_convention
    from rankwright.metrics.evaluation import Evaluation, evaluate
    from rankwright.metrics.registry import Measure, parse_metric
    from rankwright.metrics.runs import evaluate_run
    from rankwright.metrics.significance import paired_test
    from rankwright.metrics.systems import SystemComparison, compare, compare_evaluations
    from rankwright.objectives.diagnostics import Diagnosis, diagnose
    from rankwright.rankers.adarank import AdaRank
    from rankwright.rankers.boltzrank import BoltzRank
    from rankwright.rankers.coordinate_ascent import CoordinateAscent
    from rankwright.rankers.frank import FRank
    from rankwright.rankers.lambdamart import LambdaMART
    from rankwright.rankers.lambdarank import LambdaRank
    from rankwright.rankers.mart import MART
    from rankwright.rankers.net_ranker import NetRanker
    from rankwright.rankers.permutation import PermutationImportance, permutation_importance
    from rankwright.rankers.rankboost import RankBoost
    from rankwright.rankers.ranknet import RankNet
    from rankwright.rankers.sortnet import SortNet
    from rankwright.ranking.gains import Gain
    from rankwright.ranking.order import Ranking, Ties, rank
    from rankwright.trees.from_file import bin_file

# Where each public name lives; a module lives under its own name.
_HOME_OF = {
    "AdaRank": "rankwright.rankers.adarank",
    "BLMART": "rankwright.ensembles.blmart",
    "BagBoo": "rankwright.ensembles.bagboo",
    "Bagging": "rankwright.ensembles.bagging",
    "BoltzRank": "rankwright.rankers.boltzrank",
    "Columns": "rankwright.data.columns",
    "Compressed": "rankwright.ensembles.compression",
    "Convention": "rankwright.metrics.convention",
    "CoordinateAscent": "rankwright.rankers.coordinate_ascent",
    "DataFile": "rankwright.data.files",
    "Diagnosis": "rankwright.objectives.diagnostics",
    "Evaluation": "rankwright.metrics.evaluation",
    "FRank": "rankwright.rankers.frank",
    # wright.metrics.evaluation",
    "Gain": "rankwright.ranking.gains",
    "Groups": "rankwright.data.groups",
    "LambdaMART": "rankwright.rankers.lambdamart",
    "LambdaRank": "rankwright.rankers.lambdarank",
    "MART": "rankwright.rankers.mart",
    "Measure": "rankwright.metrics.registry",
    "ModelDescription": "rankwright.catalog.inspection",
    "NetRanker": "rankwright.rankers.net_ranker",
    "PermutationImportance": "rankwright.rankers.permutation",
    "Preferences": "rankwright.data.preferences",
    "Qrels": "rankwright.data.trec",
    "QueryKFold": "rankwright.data.splits",
    "RankBoost": "rankwright.rankers.rankboost",
    "RankNet": "rankwright.rankers.ranknet",
    "Ranking": "rankwright.ranking.order",
    "RankingDataset": "rankwright.data.dataset",
    "RankwrightError": "rankwright.errors",
    "Run": "rankwright.data.trec",
    "SortNet": "rankwright.rankers.sortnet",
    "StudentParams": "rankwright.ensembles.distillation",
    "SystemComparison": "rankwright.metrics.systems",
    "Ties": "rankwright.ranking.order",
    "bin_file": "rankwright.trees.from_file",
    "compare": "rankwright.metrics.systems",
    "compare_conventions": "rankwright.metrics.comparison",
    "compare_evaluations": "rankwright.metrics.systems",
    "compress": "rankwright.ensembles.compression",
    "convert": "rankwright.data.conversion",
    "describe_model": "rankwright.catalog.inspection",
    "diagnose": "rankwright.objectives.diagnostics",
    "evaluate": "rankwright.metrics.evaluation",
    "evaluate_run": "rankwright.metrics.runs",
    "from_frame": "rankwright.data.tables",
    "iter_svmlight": "rankwright.data.svmlight",
    "load": "rankwright.catalog.rankers",
    "objectives": "rankwright.objectives",
    "paired_test": "rankwright.metrics.significance",
    "parse_convention": "rankwright.metrics.convention",
    "parse_metric": "rankwright.metrics.registry",
    "permutation_importance": "rankwright.rankers.permutation",
    "rank": "rankwright.ranking.order",
    "read": "rankwright.data.reading",
    "read_pairs": "rankwright.data.pairs",
    "read_qrels": "rankwright.data.trec",
    "read_run": "rankwright.data.trec",
    "read_svmlight": "rankwright.data.svmlight",
    "scaling": "rankwright.data.scaling",
    "synthetic": "rankwright.data.synthetic",
    "targets": "rankwright.data.targets",
    "to_arrow": "rankwright.data.tables",
    "to_pandas": "rankwright.data.tables",
    "to_polars": "rankwright.data.tables",
    "to_sparse": "rankwright.data.tables",
    "write": "rankwright.data.reading",
    "write_pairs": "rankwright.data.pairs",
    "write_qrels": "rankwright.data.trec",
    "write_run": "rankwright.data.trec",
    "write_svmlight": "rankwright.data.svmlight",
}

__all__ = [
    "BLMART",
    "MART",
    "AdaRank",
    "BagBoo",
    "Bagging",
    "BoltzRank",
    "Columns",
    "Compressed",
    "Convention",
    "CoordinateAscent",
    "DataFile",
    "Diagnosis",
    "Evaluation",
    "FRank",
    "Gain",
    "Groups",
    "LambdaMART",
    "LambdaRank",
    "Measure",
    "ModelDescription",
    "NetRanker",
    "PermutationImportance",
    "Preferences",
    "Qrels",
    "QueryKFold",
    "RankBoost",
    "RankNet",
    "Ranking",
    "RankingDataset",
    "RankwrightError",
    "Run",
    "SortNet",
    "StudentParams",
    "SystemComparison",
    "Ties",
    "__version__",
    "bin_file",
    "compare",
    "compare_conventions",
    "compare_evaluations",
    "compress",
    "convert",
    "describe_model",
    "diagnose",
    "evaluate",
    "evaluate_run",
    "from_frame",
    "iter_svmlight",
    "load",
    "objectives",
    "paired_test",
    "parse_convention",
    "parse_metric",
    "permutation_importance",
    "rank",
    "read",
    "read_pairs",
    "read_qrels",
    "read_run",
    "read_svmlight",
    "scaling",
    "synthetic",
    "targets",
    "to_arrow",
    "to_pandas",
    "to_polars",
    "to_sparse",
    "write",
    "write_pairs",
    "write_qrels",
    "write_run",
    "write_svmlight",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("rankwright")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'rankwright' has no attribute {name!r}")
    home = import_module(_HOME_OF[name])
    value = home if _HOME_OF[name].endswith(f".{name}") else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

"""Learning to rank: from judgments or clicks to a measured, explained, deployed ranker.

Names are loaded when first used, so that `import rankwright` costs little more than NumPy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rankwright import objectives, synthetic, targets
    from rankwright.bagging.bagboo import BagBoo
    from rankwright.bagging.bagging import Bagging
    from rankwright.bagging.blmart import BLMART
    from rankwright.boosters.adarank import AdaRank
    from rankwright.boosters.boltzrank import BoltzRank
    from rankwright.boosters.coordinate_ascent import CoordinateAscent
    from rankwright.boosters.frank import FRank
    from rankwright.boosters.rankboost import RankBoost
    from rankwright.catalog.inspection import ModelDescription, describe_model
    from rankwright.catalog.rankers import load
    from rankwright.cluster.engine import open_engine
    from rankwright.comparators.sortnet import SortNet
    from rankwright.compression.curve import Compressed, compress
    from rankwright.compression.distillation import StudentParams
    from rankwright.data.columns import Columns
    from rankwright.data.dataset import RankingDataset
    from rankwright.data.groups import Groups
    from rankwright.data.preferences import Preferences
    from rankwright.data.splits import QueryKFold
    from rankwright.errors import RankwrightError
    from rankwright.features import scaling
    from rankwright.formats.conversion import convert
    from rankwright.formats.data_file import DataFile
    from rankwright.formats.reading import read, write
    from rankwright.formats.shards import Shards
    from rankwright.formats.sidecars import read_pairs, write_pairs
    from rankwright.formats.svmlight.files import iter_svmlight, read_svmlight, write_svmlight
    from rankwright.formats.tables import from_frame, to_arrow, to_pandas, to_polars, to_sparse
    from rankwright.formats.trec import Qrels, Run, read_qrels, read_run, write_qrels, write_run
    from rankwright.linear.crr import CRR
    from rankwright.linear.kernel_prank import KernelPRank
    from rankwright.linear.linear_regression import LinearRegression
    from rankwright.linear.prank import OAPBPM, PRank
    from rankwright.linear.ranksvm import RankSVM
    from rankwright.linear.ranksvm_struct import RankSVMStruct
    from rankwright.linear.smoothrank import SmoothRank
    from rankwright.linear.svmmap import SVMMAP
    from rankwright.metrics.comparison import compare_conventions
    from rankwright.metrics.convention import Convention, parse_convention
    from rankwright.metrics.evaluation import Evaluation, evaluate
    from rankwright.metrics.registry import Measure, parse_metric
    from rankwright.metrics.runs import evaluate_run
    from rankwright.metrics.significance import paired_test
    from rankwright.metrics.systems import SystemComparison, compare, compare_evaluations
    from rankwright.nets.lambdarank import LambdaRank
    from rankwright.nets.listnet import ListNet
    from rankwright.nets.net_ranker import NetRanker
    from rankwright.nets.ranknet import RankNet
    from rankwright.nets.rankprop import RankProp
    from rankwright.objectives.diagnostics import Diagnosis, diagnose
    from rankwright.rankers.permutation import PermutationImportance, permutation_importance
    from rankwright.ranking.gains import Gain
    from rankwright.ranking.order import Ranking, Ties, rank
    from rankwright.trees.from_file import bin_file
    from rankwright.trees.lambdamart import LambdaMART
    from rankwright.trees.mart import MART
    from rankwright.tuning.cross_validation import CrossValidation, cross_validate
    from rankwright.tuning.nested import nested_cross_validation
    from rankwright.tuning.plan import TuningPlan
    from rankwright.tuning.tuner import Tuned, tune

# Where each public name lives; a module lives under its own name.
_HOME_OF = {
    "AdaRank": "rankwright.boosters.adarank",
    "BLMART": "rankwright.bagging.blmart",
    "BagBoo": "rankwright.bagging.bagboo",
    "Bagging": "rankwright.bagging.bagging",
    "CRR": "rankwright.linear.crr",
    "Columns": "rankwright.data.columns",
    "Compressed": "rankwright.compression.curve",
    "Convention": "rankwright.metrics.convention",
    "CrossValidation": "rankwright.tuning.cross_validation",
    "BoltzRank": "rankwright.boosters.boltzrank",
    "CoordinateAscent": "rankwright.boosters.coordinate_ascent",
    "DataFile": "rankwright.formats.data_file",
    "Diagnosis": "rankwright.objectives.diagnostics",
    "Evaluation": "rankwright.metrics.evaluation",
    "FRank": "rankwright.boosters.frank",
    "Gain": "rankwright.ranking.gains",
    "Groups": "rankwright.data.groups",
    "KernelPRank": "rankwright.linear.kernel_prank",
    "LambdaMART": "rankwright.trees.lambdamart",
    "LambdaRank": "rankwright.nets.lambdarank",
    "LinearRegression": "rankwright.linear.linear_regression",
    "ListNet": "rankwright.nets.listnet",
    "MART": "rankwright.trees.mart",
    "Measure": "rankwright.metrics.registry",
    "ModelDescription": "rankwright.catalog.inspection",
    "NetRanker": "rankwright.nets.net_ranker",
    "OAPBPM": "rankwright.linear.prank",
    "PRank": "rankwright.linear.prank",
    "PermutationImportance": "rankwright.rankers.permutation",
    "Preferences": "rankwright.data.preferences",
    "Qrels": "rankwright.formats.trec",
    "QueryKFold": "rankwright.data.splits",
    "RankBoost": "rankwright.boosters.rankboost",
    "RankNet": "rankwright.nets.ranknet",
    "RankProp": "rankwright.nets.rankprop",
    "RankSVM": "rankwright.linear.ranksvm",
    "RankSVMStruct": "rankwright.linear.ranksvm_struct",
    "Ranking": "rankwright.ranking.order",
    "RankingDataset": "rankwright.data.dataset",
    "RankwrightError": "rankwright.errors",
    "Run": "rankwright.formats.trec",
    "Shards": "rankwright.formats.shards",
    "SVMMAP": "rankwright.linear.svmmap",
    "SmoothRank": "rankwright.linear.smoothrank",
    "SortNet": "rankwright.comparators.sortnet",
    "StudentParams": "rankwright.compression.distillation",
    "SystemComparison": "rankwright.metrics.systems",
    "Ties": "rankwright.ranking.order",
    "Tuned": "rankwright.tuning.tuner",
    "TuningPlan": "rankwright.tuning.plan",
    "bin_file": "rankwright.trees.from_file",
    "compare": "rankwright.metrics.systems",
    "compare_conventions": "rankwright.metrics.comparison",
    "compare_evaluations": "rankwright.metrics.systems",
    "compress": "rankwright.compression.curve",
    "convert": "rankwright.formats.conversion",
    "cross_validate": "rankwright.tuning.cross_validation",
    "describe_model": "rankwright.catalog.inspection",
    "diagnose": "rankwright.objectives.diagnostics",
    "evaluate": "rankwright.metrics.evaluation",
    "evaluate_run": "rankwright.metrics.runs",
    "from_frame": "rankwright.formats.tables",
    "iter_svmlight": "rankwright.formats.svmlight.files",
    "load": "rankwright.catalog.rankers",
    "nested_cross_validation": "rankwright.tuning.nested",
    "objectives": "rankwright.objectives",
    "open_engine": "rankwright.cluster.engine",
    "paired_test": "rankwright.metrics.significance",
    "parse_convention": "rankwright.metrics.convention",
    "parse_metric": "rankwright.metrics.registry",
    "permutation_importance": "rankwright.rankers.permutation",
    "rank": "rankwright.ranking.order",
    "read": "rankwright.formats.reading",
    "read_pairs": "rankwright.formats.sidecars",
    "read_qrels": "rankwright.formats.trec",
    "read_run": "rankwright.formats.trec",
    "read_svmlight": "rankwright.formats.svmlight.files",
    "scaling": "rankwright.features.scaling",
    "synthetic": "rankwright.synthetic",
    "targets": "rankwright.targets",
    "to_arrow": "rankwright.formats.tables",
    "to_pandas": "rankwright.formats.tables",
    "to_polars": "rankwright.formats.tables",
    "to_sparse": "rankwright.formats.tables",
    "tune": "rankwright.tuning.tuner",
    "write": "rankwright.formats.reading",
    "write_pairs": "rankwright.formats.sidecars",
    "write_qrels": "rankwright.formats.trec",
    "write_run": "rankwright.formats.trec",
    "write_svmlight": "rankwright.formats.svmlight.files",
}

__all__ = [
    "BLMART",
    "CRR",
    "MART",
    "OAPBPM",
    "SVMMAP",
    "AdaRank",
    "BagBoo",
    "Bagging",
    "BoltzRank",
    "Columns",
    "Compressed",
    "Convention",
    "CoordinateAscent",
    "CrossValidation",
    "DataFile",
    "Diagnosis",
    "Evaluation",
    "FRank",
    "Gain",
    "Groups",
    "KernelPRank",
    "LambdaMART",
    "LambdaRank",
    "LinearRegression",
    "ListNet",
    "Measure",
    "ModelDescription",
    "NetRanker",
    "PRank",
    "PermutationImportance",
    "Preferences",
    "Qrels",
    "QueryKFold",
    "RankBoost",
    "RankNet",
    "RankProp",
    "RankSVM",
    "RankSVMStruct",
    "Ranking",
    "RankingDataset",
    "RankwrightError",
    "Run",
    "Shards",
    "SmoothRank",
    "SortNet",
    "StudentParams",
    "SystemComparison",
    "Ties",
    "Tuned",
    "TuningPlan",
    "__version__",
    "bin_file",
    "compare",
    "compare_conventions",
    "compare_evaluations",
    "compress",
    "convert",
    "cross_validate",
    "describe_model",
    "diagnose",
    "evaluate",
    "evaluate_run",
    "from_frame",
    "iter_svmlight",
    "load",
    "nested_cross_validation",
    "objectives",
    "open_engine",
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
    "tune",
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

"""The table of targets: where rankers can go. A new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from rankwright.errors import UnknownNameError
from rankwright.exchange.target import Target
from rankwright.exchange.targets.c_source import C
from rankwright.exchange.targets.lightgbm import LIGHTGBM, VESPA
from rankwright.exchange.targets.onnx import ONNX, ONNX_REGRESSOR
from rankwright.exchange.targets.search_plugins import PLUGINS
from rankwright.exchange.targets.solr import SOLR
from rankwright.exchange.targets.xgboost import XGBOOST_JSON, XGBOOST_UBJ

_TABLE = (ONNX, ONNX_REGRESSOR, C, LIGHTGBM, XGBOOST_JSON, XGBOOST_UBJ, *PLUGINS, SOLR, VESPA)
TARGETS: Mapping[str, Target] = {target.name: target for target in _TABLE}
# What targets are called elsewhere.
MEANT = {
    **dict.fromkeys(("elasticsearch", "opensearch", "elastic", "es", "plugin", "ltr"), "plugin-xgboost"),
    **dict.fromkeys(("xgboost", "xgb", "json"), "xgboost-json"),
    **dict.fromkeys(("c++", "cpp", "h", "header"), "c"),
    "vespa": "vespa-lightgbm",
    "lgbm": "lightgbm",
    "lucene": "solr",
}


def target_named(name: str) -> Target:
    """The target of that name."""
    if name not in TARGETS:
        raise UnknownNameError("target", name, known=TARGETS, meant=MEANT.get(name.casefold()))
    return TARGETS[name]

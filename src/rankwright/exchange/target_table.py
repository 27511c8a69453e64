"""The table of targets: where rankers can go. A new one is a file and a line here."""

from __future__ import annotations

from collections.abc import Mapping

from rankwright.errors import UnknownNameError
from rankwright.exchange.target import Target
from rankwright.exchange.targets.c_source import C
from rankwright.exchange.targets.lightgbm import LIGHTGBM
from rankwright.exchange.targets.onnx import ONNX, ONNX_REGRESSOR
from rankwright.exchange.targets.ranklib import RANKLIB
from rankwright.exchange.targets.search_plugins import PLUGIN_DUMP, PLUGIN_DUMP_OBJECTIVE, PLUGIN_LINEAR
from rankwright.exchange.targets.solr import SOLR
from rankwright.exchange.targets.vespa import VESPA
from rankwright.exchange.targets.xgboost import PLUGIN_RAW, XGBOOST_JSON, XGBOOST_UBJ

_TABLE = (
    ONNX,
    ONNX_REGRESSOR,
    C,
    LIGHTGBM,
    XGBOOST_JSON,
    XGBOOST_UBJ,
    PLUGIN_DUMP,
    PLUGIN_DUMP_OBJECTIVE,
    PLUGIN_RAW,
    PLUGIN_LINEAR,
    RANKLIB,
    SOLR,
    VESPA,
)
TARGETS: Mapping[str, Target] = {target.name: target for target in _TABLE}


def target_named(name: str) -> Target:
    """The target of that name."""
    if name not in TARGETS:
        raise UnknownNameError("target", name, known=TARGETS)
    return TARGETS[name]

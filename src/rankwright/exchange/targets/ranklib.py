"""RankLib's model text: `model/ranklib` of the plugins, and RankLib itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rankwright.arrays import Float32Array
from rankwright.exchange.feature_sets import plugin_feature_set
from rankwright.exchange.rules import ranklib_trees
from rankwright.exchange.splits import (
    refuse_categories,
    refuse_missing_left,
    refuse_readings,
    with_base_tree,
)
from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions, Target, TargetRun, Written, as_forest
from rankwright.trees.forests.forest import Forest

HEADER = "## LambdaMART\n## No. of trees = {trees}\n## No. of leaves = {leaves}\n\n"


def write(subject: Subject, options: ExportOptions) -> Written:
    """The ensemble; features count from 1."""
    given = as_forest(subject, "RankLib")
    refuse_readings(given, "RankLib", "lightgbm or c")
    refuse_categories(given, "RankLib", "lightgbm, onnx or c")
    refuse_missing_left(given, "RankLib", options, "plugin-xgboost, onnx or c")
    forest = with_base_tree(given)
    leaves = int(forest.n_leaves_of_trees().max(initial=1))
    parts = [HEADER.format(trees=forest.n_trees, leaves=leaves).encode(), b"<ensemble>\n"]
    for tree in range(forest.n_trees):
        parts.append(f'\t<tree id="{tree + 1}" weight="1.0">\n{_tree(forest, tree)}\t</tree>\n'.encode())
    parts.append(b"</ensemble>\n")
    return Written({"": b"".join(parts)}, ["features count from 1: feature 1 is the first"])


def _tree(forest: Forest, tree: int) -> str:
    start, stop = int(forest.offsets[tree]), int(forest.offsets[tree + 1])
    inner = (forest.feature[start:stop] >= 0).tolist()
    lines: list[str] = []
    todo: list[tuple[int, str, int] | str] = [(start, "", 2)]
    while todo:
        item = todo.pop()
        if isinstance(item, str):
            lines.append(item)
            continue
        node, side, depth = item
        tabs = "\t" * depth
        lines.append(f'{tabs}<split pos="{side}">\n' if side else f"{tabs}<split>\n")
        if not inner[node - start]:
            lines.append(f"{tabs}\t<output> {_number(forest.value[node])} </output>\n{tabs}</split>\n")
            continue
        lines.append(f"{tabs}\t<feature> {forest.feature[node] + 1} </feature>\n")
        lines.append(f"{tabs}\t<threshold> {_number(forest.threshold[node])} </threshold>\n")
        todo += [f"{tabs}</split>\n", (int(forest.right[node]), "right", depth + 1),
                 (int(forest.left[node]), "left", depth + 1)]  # fmt: skip
    return "".join(lines)


def _number(value: float) -> str:
    """A float32 number as Java reads it."""
    text = f"{float(value):.9g}"
    return {"inf": "Infinity", "-inf": "-Infinity"}.get(text, text)


def run_by_rule(path: Path, features: Float32Array, names: Sequence[str]) -> TargetRun:  # noqa: ARG001
    """Scores by RankLib's rules."""
    return TargetRun(ranklib_trees.score(path.read_bytes(), features), "by rule, not run")


RANKLIB = Target(
    name="ranklib",
    suffix=".xml",
    summary="RankLib's model text: for RankLib, and model/ranklib of the plugins of Elasticsearch and OpenSearch",
    takes=("forest",),
    write=write,
    runners=(run_by_rule,),
    nearest="plugin-xgboost",
    feature_set=plugin_feature_set,
)

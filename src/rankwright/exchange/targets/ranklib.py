"""RankLib's model text: `model/ranklib` of the plugins, and RankLib itself."""

from __future__ import annotations

import numpy as np

from rankwright.exchange.engine_rules import ranklib_scores
from rankwright.exchange.subject import ForestSubject, NotExportableError, Subject
from rankwright.exchange.target import ExportOptions, Target, Written, by_rule
from rankwright.exchange.targets.search_plugins import feature_set
from rankwright.exchange.tree_formats import inner_nodes, plain_forest, with_base_tree
from rankwright.trees.forests.forest import Forest

HEADER = "## LambdaMART\n## No. of trees = {trees}\n## No. of leaves = {leaves}\n\n"


def write(subject: Subject, options: ExportOptions) -> Written:
    """The ensemble; features count from 1."""
    given = plain_forest(subject, "RankLib", zeros="lightgbm or c", categories="lightgbm, onnx or c")
    if options.missing == "kept":
        _refuse_missing_left(given)
    forest = with_base_tree(given)
    leaves = int(forest.n_leaves_of_trees().max(initial=1))
    parts = [HEADER.format(trees=forest.n_trees, leaves=leaves).encode(), b"<ensemble>\n"]
    for tree in range(forest.n_trees):
        parts.append(f'\t<tree id="{tree + 1}" weight="1.0">\n{_tree(forest, tree)}\t</tree>\n'.encode())
    parts.append(b"</ensemble>\n")
    return Written({"": b"".join(parts)}, ["features count from 1: feature 1 is the first"])


def _refuse_missing_left(subject: ForestSubject) -> None:
    """Raise where a missing value goes left: RankLib sends it right always."""
    lefts = np.flatnonzero(inner_nodes(subject.forest) & subject.forest.missing_left)
    if len(lefts):
        feature = subject.names[subject.forest.feature[lefts[0]]]
        raise NotExportableError(
            f"RankLib sends missing values right, and splits of feature {feature} send them left: take plugin-xgboost, "
            f"onnx or c, or say --missing never where documents never lack a value"
        )


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


RANKLIB = Target(
    name="ranklib",
    suffix=".xml",
    summary="RankLib's model text: for RankLib, and model/ranklib of the plugins of Elasticsearch and OpenSearch",
    takes=("forest",),
    write=write,
    runners=(by_rule(ranklib_scores),),
    nearest="plugin-xgboost",
    feature_set=feature_set,
)

"""How RankLib scores: a value that is at most the threshold, both float32, goes left; NaN is not, and goes right.

A tree's value times its weight is added in float32. Features count from 1.
"""

from __future__ import annotations

from xml.etree import ElementTree

import numpy as np

from rankwright.arrays import BoolArray, Float32Array
from rankwright.errors import InputError
from rankwright.exchange.rules.walking import TreeLeaf, TreeSplit, leaf_values


def score(content: bytes, features: Float32Array) -> Float32Array:
    """The scores of RankLib's text."""
    text = content.decode("utf-8")
    if not text.startswith("## LambdaMART"):
        raise InputError("the first line must name the ranker")
    body = "\n".join(line for line in text.splitlines() if not line.startswith("##"))
    total = np.zeros(len(features), np.float32)
    for tree in ElementTree.fromstring(body.strip()):
        values = leaf_values(_node(tree[0]), features)
        total += values * np.float32(tree.attrib["weight"])
    return total


def _node(split: ElementTree.Element) -> TreeLeaf | TreeSplit:
    output = split.find("output")
    if output is not None:
        return TreeLeaf(np.float32(output.text or ""))
    number, threshold = split.find("feature"), split.find("threshold")
    if number is None or threshold is None:
        raise InputError("a split needs feature and threshold")
    bound = np.float32((threshold.text or "").strip())

    def goes_left(values: Float32Array) -> BoolArray:
        return values <= bound

    sides = {child.attrib["pos"]: child for child in split.findall("split")}
    feature = int(number.text or "0") - 1
    if feature < 0:
        raise InputError("features count from 1")
    return TreeSplit(feature, goes_left, _node(sides["left"]), _node(sides["right"]))

"""Mutants of other tools' model files: bytes changed, cut, doubled, and numbers replaced by odd ones."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from tests.fuzz.mutation import changed_json, chosen
from tests.fuzz.subject import Refused, quiet, refusing, require

import rankwright as rw
from rankwright.exchange.subject import subject_of
from rankwright.exchange.target import ExportOptions
from rankwright.exchange.target_table import TARGETS

ODD_TOKENS = (b"-1", b"0", b"nan", b"inf", b"-inf", b"1e400", b"4294967296", b"99999999999999999999", b"", b"x", b"[",
              b"{}", b"null", b"-2147483649", b"1e-400")  # fmt: skip
NUMBER = re.compile(rb"-?\d+(\.\d+)?([eE][-+]?\d+)?")


def seeds() -> Mapping[str, bytes]:
    """A small model in every format, by the format's name."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(200, 4)).astype(np.float32)
    features[:, 3] = rng.integers(0, 5, 200)
    labels = (features[:, 0] > 0) + features[:, 3] % 2
    data = rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(10), 20))
    plain = rw.LambdaMART(n_trees=3, max_leaves=5, threads=1).fit(data)
    categories = rw.LambdaMART(n_trees=3, max_leaves=5, categorical=[4], threads=1).fit(data)
    found = {}
    for name, ranker in (("lightgbm", categories), ("xgboost-json", categories), ("xgboost-ubj", categories),
                         ("onnx", categories), ("onnx-regressor", plain),
                         ("plugin-xgboost-objective", plain), ("ranklib", plain),
                         ("vespa-lightgbm", plain)):  # fmt: skip
        options = ExportOptions(name="model", missing="never")
        found[name] = TARGETS[name].write(subject_of(ranker.trained()), options).files[""]
    stored = found["lightgbm"].replace(b"categorical:null", b"categorical:[[10, 20, 30, 45, 50]]")
    stored = stored.replace(b"end of parameters", b"[categorical_feature: 3]\nend of parameters")
    return found | {"catboost": catboost_seed(), "lightgbm-categories": stored}


def catboost_seed() -> bytes:
    splits = [{"float_feature_index": 0, "border": 0.5, "split_type": "FloatFeature", "split_index": 0},
              {"float_feature_index": 1, "border": -0.25, "split_type": "FloatFeature", "split_index": 1}]  # fmt: skip
    features = [{"feature_index": n, "flat_feature_index": n, "nan_value_treatment": "AsFalse", "borders": [0.5],
                 "feature_id": f"a{n}", "has_nans": False} for n in (0, 1)]  # fmt: skip
    tree = {"splits": splits, "leaf_values": [0.1, 0.2, 0.3, 0.4], "leaf_weights": [1, 2, 3, 4]}
    document = {"features_info": {"float_features": features}, "model_info": {}, "oblivious_trees": [tree, tree],
                "scale_and_bias": [1, [0.5]]}  # fmt: skip
    return json.dumps(document).encode()


def mutant_of(content: bytes, rng: np.random.Generator) -> bytes:
    """The file after one to three changes."""
    for _ in range(int(rng.integers(1, 4))):
        content = chosen(rng, CHANGES)(content, rng)
    return content


def _cut(content: bytes, rng: np.random.Generator) -> bytes:
    return content[: int(rng.integers(len(content) + 1))]


def _other_bytes(content: bytes, rng: np.random.Generator) -> bytes:
    changed = bytearray(content)
    for place in rng.integers(0, max(len(changed), 1), size=int(rng.integers(1, 5))).tolist():
        if changed:
            changed[place] = int(rng.integers(256))
    return bytes(changed)


def _doubled(content: bytes, rng: np.random.Generator) -> bytes:
    first, last = sorted(rng.integers(0, len(content) + 1, size=2).tolist())
    return content[:last] + content[first:]


def _removed(content: bytes, rng: np.random.Generator) -> bytes:
    first = int(rng.integers(len(content) + 1))
    return content[:first] + content[first + int(rng.integers(1, 40)) :]


def _odd_number(content: bytes, rng: np.random.Generator) -> bytes:
    found = list(NUMBER.finditer(content[:20_000]))
    if not found:
        return content
    place = found[int(rng.integers(len(found)))]
    token: bytes = chosen(rng, ODD_TOKENS)
    return content[: place.start()] + token + content[place.end() :]


def _odd_json(content: bytes, rng: np.random.Generator) -> bytes:
    try:
        return json.dumps(changed_json(json.loads(content), rng)).encode()
    except (ValueError, RecursionError, UnicodeEncodeError):
        return _other_bytes(content, rng)


CHANGES = (_cut, _other_bytes, _other_bytes, _doubled, _removed, _odd_number, _odd_number, _odd_json, _odd_json)


def judge(path: Path) -> bool:
    """Whether the file is refused, in one line that names it; otherwise it must score documents."""
    try:
        ranker = refusing(lambda: rw.load(path), path.name)
    except Refused:
        return True
    width = int(ranker.n_features_in_)
    features = np.random.default_rng(0).normal(size=(20, width)).astype(np.float32)
    features[::3] = np.nan
    with quiet():
        scores = ranker.forest_.predict(features)
    require(bool(np.isfinite(scores).all()), "scores are not finite")
    return False


class Foreign:
    """A model file of each format in turn: mutant n is of format n modulo their number."""

    def prepare(self, folder: Path) -> None:
        if not folder.exists():
            folder.mkdir(parents=True)
            for name, content in seeds().items():
                (folder / name).write_bytes(content)

    def warm_up(self, folder: Path) -> None:
        for path in folder.iterdir():
            require(not judge(path), f"the seed {path.name} is refused")

    def make(self, folder: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        paths = sorted(folder.iterdir())
        target.write_bytes(mutant_of(paths[number % len(paths)].read_bytes(), rng))

    def judge(self, target: Path) -> None:
        path = target.replace(target.with_name("mutant"))  # a name that does not say it is a model of ours
        if judge(path):
            raise Refused("one line that names it")

"""Mutants of specifications, of what data tells of its features, and of models that keep statistics of texts."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzz.foreign import mutant_of
from tests.fuzz.mutation import Parts
from tests.fuzz.mutation import mutant_of as mutant_of_model
from tests.fuzz.subject import quiet, refusing, require
from tests.text.small_index import QUERIES, every_pair, index_of

import rankwright as rw
from rankwright.container.file import read_container
from rankwright.errors import RankwrightError
from rankwright.rankers.text_scoring import DocumentScorer, with_statistics_of
from rankwright.text import FeatureLine, FeatureSpecification, features_of, read_specification

MODEL = "model.rw"
DOCUMENTS = [{"title": "a red boat", "body": "boats and sails"}, {"body": "harbour"}]


class Specifications:
    """Files of specifications, and a model with one."""

    def prepare(self, seeds: Path) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        if (seeds / MODEL).exists():
            return
        index = index_of(seeds / "index")
        data = features_of(index, every_pair(index), _specification())
        labels = np.tile(np.array([2, 1, 0, 0], np.float32), len(QUERIES))
        ranker = rw.RankSVM().fit(replace(data, labels=labels))
        ranker.trained_ = with_statistics_of(ranker.trained_, index)
        ranker.save(seeds / MODEL)
        (seeds / "a.toml").write_text(_specification().to_toml(), encoding="utf-8")
        (seeds / "b.json").write_text(json.dumps(_specification().to_dict()), encoding="utf-8")

    def warm_up(self, seeds: Path) -> None:
        for name in ("a.toml", "b.json", MODEL):
            target = seeds.parent / "mutant.rw"
            target.write_bytes(f"{name}\n".encode() + (seeds / name).read_bytes())
            self.judge(target)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        name = ("a.toml", "b.json", MODEL)[number % 3]
        if name == MODEL:
            content = mutant_of_model(_parts(seeds / name), rng).signed()
        else:
            content = mutant_of((seeds / name).read_bytes(), rng)
        target.write_bytes(f"{name}\n".encode() + content)

    def judge(self, target: Path) -> None:
        name, _, content = target.read_bytes().partition(b"\n")
        path = target.with_name(name.decode())
        path.write_bytes(content)
        if path.name == MODEL:
            self._judge_model(path)
            return
        spec = refusing(lambda: read_specification(path), path.name)
        require(FeatureSpecification.from_toml(spec.to_toml()) == spec, "it prints as another specification")
        require(len(set(spec.names)) == len(spec.columns), "two features have one name")

    def _judge_model(self, path: Path) -> None:
        model = refusing(lambda: rw.load(path), path.name)
        try:
            with quiet():
                scores = DocumentScorer(model).scores("red boats", DOCUMENTS)
        except RankwrightError as error:
            require("\n" not in str(error), f"the message is not one line: {error}")
            return
        require(scores.shape == (len(DOCUMENTS),), f"{scores.shape} scores")


def _specification() -> FeatureSpecification:
    return FeatureSpecification(
        [
            FeatureLine("bm25", ("title", "body", "*")),
            FeatureLine("tf_idf", ("body",), ("sum", "variance"), log=True),
            FeatureLine("bm25f", ("title", "body"), settings={"weights": [2.0, 1.0]}),
            FeatureLine("absolute_discount", ("*",)),
            FeatureLine("unordered_pairs", ("body",), log=True),
            FeatureLine("in_links", absent="missing"),
            FeatureLine("url_depth", ("url",), name="depth"),
            FeatureLine("number", ("price",)),
        ]
    )


@cache
def _parts(path: Path) -> Parts:
    return Parts.of(read_container(path))

"""Folders of studies: a mutant is refused in one line, or the search goes on from it and can be reported."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from tests.contracts.trained import learnable
from tests.fuzz.mutation import Parts, changed_json, chosen, mutant_of
from tests.fuzz.subject import refusing
from tests.here_engine import HereEngine

import rankwright as rw
from rankwright.container.file import read_container
from rankwright.settings.spaces import Choice
from rankwright.tuning.studies.study_summary import summarise
from rankwright.tuning.tuner import tune

SPACE = {"max_leaves": Choice((3, 5)), "learning_rate": Choice((0.05, 0.2))}
ENGINE: Any = HereEngine()
SHORT = 0.05  # how often a file is cut or has a bit changed, not a value


class Studies:
    """The folder of a search by halving, in which trials can be continued."""

    def prepare(self, seeds: Path) -> None:
        if not seeds.exists():
            search(seeds)

    def warm_up(self, seeds: Path) -> None:
        folder = seeds.parent / "warm-study"
        shutil.rmtree(folder, ignore_errors=True)
        self.judge(shutil.copytree(seeds, folder))
        shutil.rmtree(folder)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:  # noqa: ARG002
        shutil.copytree(seeds, target)
        kind = chosen(rng, list(FILES))
        paths = sorted(target.rglob(f"*{kind}"))
        path = chosen(rng, paths)
        content = path.read_bytes()
        path.write_bytes(damaged(content, rng) if rng.random() < SHORT else FILES[kind](path, content, rng))
        if kind == ".rw" or rng.random() < 0.5:
            lose_records(target, rng)  # so that experiments are run again, from the states there are

    def judge(self, target: Path) -> None:
        refusing(lambda: search(target), target.name)
        refusing(lambda: summarise(target), target.name)


def search(study: Path) -> None:
    """Begin a search, or go on with it."""
    tune(
        rw.LambdaMART(n_trees=4, min_docs_in_leaf=2, threads=1),
        documents(),
        space=SPACE,
        study=study,
        engine=ENGINE,
        strategy="halving",
        min_budget=2,
        eta=2,
        trials=4,
        folds=2,
        metric="ndcg@5",
    )


@cache
def documents() -> rw.RankingDataset:
    return learnable().take_queries(np.arange(8))


def lose_records(target: Path, rng: np.random.Generator) -> None:
    """Take away the records after some line, as if the search had been killed there."""
    for path in target.glob("records/*.jsonl"):
        lines = path.read_bytes().splitlines(keepends=True)
        path.write_bytes(b"".join(lines[: int(rng.integers(1, len(lines) + 1))]))


def damaged(content: bytes, rng: np.random.Generator) -> bytes:
    place = int(rng.integers(len(content)))
    return (
        content[:place] if rng.random() < 0.5 else content[:place] + bytes([rng.integers(256)]) + content[place + 1 :]
    )


def changed_object(path: Path, content: bytes, rng: np.random.Generator) -> bytes:  # noqa: ARG001
    value = json.loads(content)
    for _ in range(int(rng.integers(1, 3))):
        value = changed_json(value, rng)
    return json.dumps(value).encode()


def changed_line(path: Path, content: bytes, rng: np.random.Generator) -> bytes:
    lines = content.splitlines()
    place = int(rng.integers(len(lines)))
    lines[place] = changed_object(path, lines[place], rng)
    return b"\n".join(lines) + b"\n"


def changed_state(path: Path, content: bytes, rng: np.random.Generator) -> bytes:  # noqa: ARG001
    """A state whose own parts are changed, or those of the checkpoint that it holds."""
    parts = Parts.of(read_container(path))
    if rng.random() < 0.3:
        return mutant_of(parts, rng).signed()
    inner = path.with_name("inner")
    changed = {}
    for name, values in parts.arrays.items():
        inner.write_bytes(values.tobytes())
        changed[name] = np.frombuffer(mutant_of(Parts.of(read_container(inner)), rng).signed(), np.uint8)
    inner.unlink()
    return Parts(parts.kind, parts.header, changed).signed()


FILES: Mapping[str, Callable[[Path, bytes, np.random.Generator], bytes]] = {
    ".json": changed_object,
    ".jsonl": changed_line,
    ".rw": changed_state,
}

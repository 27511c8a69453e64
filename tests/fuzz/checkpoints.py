"""Checkpoints of every ranker that takes steps: a mutant is refused in one line, or training goes on from it."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
from tests.contracts.trained import COUNTING, after, learnable
from tests.fuzz.mutation import Parts, mutant_of
from tests.fuzz.subject import quiet, refusing, require

import rankwright as rw
from rankwright.container.file import read_container

BEGUN, ENDED = 2, 3  # steps
NAME_FILE = "ranker"  # in a mutant's folder: which ranker it is of
WATCHED = "-watched"  # what the name of a folder ends with where validation data was given


class Checkpoints:
    """The folder that two steps of training leave, with and without validation data."""

    def prepare(self, seeds: Path, names: Iterable[str] = COUNTING) -> None:
        for name in names:
            for folder in (seeds / name, seeds / f"{name}{WATCHED}"):
                if not folder.exists():
                    _fit(folder.name, BEGUN, folder)

    def warm_up(self, seeds: Path) -> None:
        folder = seeds.parent / "warm"
        for seed in sorted(path for path in seeds.iterdir() if path.is_dir()):
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(seed, folder)
            _fit(seed.name, ENDED, folder)
        shutil.rmtree(folder, ignore_errors=True)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        names = [f"{name}{watched}" for name in COUNTING for watched in ("", WATCHED)]
        name = names[number % len(names)]
        files = _files(seeds / name)
        chosen = files[int(rng.integers(len(files)))]
        for path in files:
            copy = target / path.relative_to(seeds / name)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(mutant_of(_parts(path), rng).signed() if path == chosen else path.read_bytes())
        (target / NAME_FILE).write_text(name, encoding="ascii")

    def judge(self, target: Path) -> None:
        name = (target / NAME_FILE).read_text(encoding="ascii")
        ranker = refusing(lambda: _fit(name, ENDED, target), target.name)
        with quiet():
            scores = ranker.predict(documents())
        require(scores.shape == (documents().n_docs,), f"{scores.shape} scores of {documents().n_docs} documents")
        require(bool(np.isfinite(scores).all()), "scores that are not finite")


def _fit(name: str, n_steps: int, folder: Path) -> rw.LambdaMART:
    kind, watched, _ = name.partition(WATCHED)
    with quiet():
        ranker: rw.LambdaMART = after(kind, n_steps, threads=1)
        return ranker.fit(documents(), valid=documents() if watched else None, checkpoint=folder)


@cache
def documents() -> rw.RankingDataset:
    return learnable().take_queries(np.arange(12))


@cache
def _parts(path: Path) -> Parts:
    return Parts.of(read_container(path))


def _files(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.rw"))

"""Indexes of documents whose files were damaged, or changed and signed again.

A mutant is opened, searched by every scorer, asked for features and all it stores, and added to. It is refused in one
line, or gives documents that it has, and scores and features that are numbers.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.fuzz.mutation import ODD_NUMBERS, Parts, mutant_of
from tests.fuzz.subject import refusing, require
from xxhash import xxh3_64_hexdigest

from rankwright.container.file import read_container
from rankwright.text import (
    BM25,
    BM25F,
    DPH,
    Dirichlet,
    Index,
    QueryDocuments,
    build_index,
    features_of,
    open_index,
    read_documents,
    top_documents,
)
from rankwright.text.index.manifest import MANIFEST

SCORERS = (BM25(), BM25(fields=["title"]), BM25F(), Dirichlet(), DPH())
WORDS = ("boat", "red", "sail", "rope", "blue", "harbour")


class TextIndexes:
    """A small index of two segments, with texts, numbers and links."""

    def prepare(self, seeds: Path) -> None:
        if (seeds / "index" / MANIFEST).exists():
            return
        seeds.mkdir(parents=True, exist_ok=True)
        build_index(read_documents(documents(0, 90)), seeds / "index", threads=1)
        build_index(read_documents(documents(90, 120)), seeds / "index", threads=1, append=True)

    def warm_up(self, seeds: Path) -> None:
        target = seeds.parent / "mutant.rw"
        _copy(seeds, target)
        self.judge(target)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        _copy(seeds, target)
        kind = number % 4
        if kind == 0:
            _damage(target, rng)
        elif kind == 1:
            parts = mutant_of(Parts.of(read_container(target / MANIFEST)), rng)
            (target / MANIFEST).write_bytes(parts.signed())
        else:
            _alter(target, rng)

    def judge(self, target: Path) -> None:
        index = refusing(lambda: open_index(target), target.name)
        refusing(lambda: _use(index), target.name)
        refusing(lambda: build_index(read_documents(documents(200, 210)), target, append=True), target.name)


def documents(start: int, stop: int) -> list[dict[str, Any]]:
    return [
        {
            "id": f"d{number}",
            "title": WORDS[number % 6],
            "body": " ".join(WORDS[number * step % 6] for step in range(1 + number % 9)),
            "price": float(number),
            "links": [f"d{number // 2}"],
        }
        for number in range(start, stop)
    ]


def _use(index: Index) -> None:
    queries = ["red boat", '"red blue" sail', "nothing"]
    for scorer in SCORERS:
        for where in (None, {"price": (10, None)}, {"body": "red"}):
            found = top_documents(index, queries, scorer=scorer, k=30, where=where, threads=1)
            require(bool(np.isfinite(found.scores).all()), "a score is no number")
            inside = found.ordinals.min(initial=0) >= 0 and found.ordinals.max(initial=0) < index.n_documents
            require(bool(inside), "a document is not there")
            index.ids(found.ordinals)
    every = np.arange(index.n_documents)
    require(len(index.ids(every)) == index.n_documents, "ids are missing")
    index.stored(every)
    index.ordinals([f"d{number}" for number in range(150)])
    starts, targets = index.links()
    require(len(starts) == index.n_documents + 1 and starts[-1] == len(targets), "links do not fit")
    for field in index.number_fields:
        index.numbers(field)
    index.statistics(WORDS)
    index.totals()
    every = np.arange(40) % max(index.n_documents, 1)
    rows = QueryDocuments(["q1", "q2"], ["red boat", "blue sail"], np.array([0, 20, 40]), every)
    features = features_of(index, rows, threads=1).features
    require(not bool(np.isinf(features).any()), "a feature is infinite")


def _copy(seeds: Path, target: Path) -> None:
    if target.is_dir():
        shutil.rmtree(target)
    target.unlink(missing_ok=True)
    shutil.copytree(seeds / "index", target)


def _files(target: Path) -> list[Path]:
    return sorted(path for path in target.rglob("*") if path.is_file() and path.name != ".lock")


def _damage(target: Path, rng: np.random.Generator) -> None:
    """Change a byte, cut a file short, or remove it; nothing is signed."""
    path = _files(target)[rng.integers(len(_files(target)))]
    content = bytearray(path.read_bytes())
    change = rng.integers(4)
    if change == 0 or not content:
        path.unlink()
    elif change == 1:
        path.write_bytes(content[: rng.integers(len(content))])
    else:
        content[rng.integers(len(content))] ^= 1 << rng.integers(8)
        path.write_bytes(content)


def _alter(target: Path, rng: np.random.Generator) -> None:
    """Change arrays of segments, and sign everything again."""
    container = read_container(target / MANIFEST)
    header = json.loads(json.dumps(container.header))
    for _ in range(int(rng.integers(1, 4))):
        segment = header["segments"][rng.integers(len(header["segments"]))]
        name = sorted(segment["arrays"])[rng.integers(len(segment["arrays"]))]
        record, path = segment["arrays"][name], target / segment["name"] / name
        changed = _changed(np.frombuffer(path.read_bytes(), record["dtype"]), rng)
        path.write_bytes(changed.tobytes())
        record |= {"length": len(changed), "checksum": xxh3_64_hexdigest(changed.tobytes())}
    (target / MANIFEST).write_bytes(Parts(container.kind, header, {}).signed())


def _changed(values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
    found = values.copy()
    change = rng.integers(5)
    if change == 0 or not len(found):
        return np.append(found, found[:1] if len(found) else np.zeros(1, found.dtype))
    if change == 1:
        return found[:-1]
    if change == 2:
        rng.shuffle(found)
        return found
    place = rng.integers(len(found))
    if found.dtype.kind == "f":
        found[place] = [np.nan, np.inf, -1e300][rng.integers(3)]
    else:
        limits = np.iinfo(found.dtype)
        odd = [number for number in ODD_NUMBERS if limits.min <= number <= limits.max]
        near = int(found[place]) + int(rng.integers(-2, 3))
        found[place] = odd[rng.integers(len(odd))] if change == 3 else min(max(near, limits.min), limits.max)
    return found

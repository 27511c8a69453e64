"""The data that experiments run on: folders as their authors ship them, or sets made in their likeness.

LETOR 2.0, 3.0 and 4.0 and MSLR are folders Fold1 to Fold5 with files to train on, to validate on and to test on;
Yahoo's sets are files set1.train.txt and so on, or train.txt and so on in a folder of each; Istella's are train.txt and
test.txt, with or without vali.txt. A click log has labels (qrels) beside it. Which set it is, is told by its features,
labels, queries, documents and relevant documents.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.formats.reading import fold_folders, read_fold, read_wide
from rankwright.formats.storage.streams import open_input
from rankwright.synthetic import topic_distillation, web_search
from rankwright.tables.text import counted

FOLDS, PARTS, CLICKS, MADE = "folds", "parts", "clicks", "made"
DEEPEST = 5  # folders below the one that was given
LOOKED_FOR = (
    "Fold1, Fold2, … with train, vali and test files in each (LETOR, MSLR), set1.train.txt, set1.valid.txt and "
    "set1.test.txt (Yahoo), train.txt and test.txt (Yahoo, Istella), or a click log beside its labels.qrels"
)
NORMALISED = "QueryLevelNorm"  # a folder of LETOR 3.0
VALID_SHARE = 0.2  # of the training queries, where a set has nothing to validate on
GRADES = frozenset((b"0", b"1", b"2", b"3", b"4"))  # labels of the known sets; -1 is unjudged, more are ranks
UNJUDGED = b"-1"

Fold = tuple[RankingDataset, RankingDataset, RankingDataset]  # to train on, to validate on, to test on


@dataclass(frozen=True, slots=True)
class DataSource:
    """A data set: how it is stored, where, and which set it is.

    `likeness` is the set that a made one stands for. `is_known` says that it is the set of that name which the papers
    used, so that their figures can be compared.
    """

    name: str
    kind: str
    path: str = ""
    likeness: str = ""
    is_known: bool = False
    n_queries: int = 0
    n_docs: int = 0
    n_features: int = 0

    @property
    def stands_for(self) -> str:
        """The set whose figures go beside those of this one."""
        return self.likeness or self.name

    @property
    def all_docs(self) -> int:
        """About how many documents the set has."""
        return self.n_queries * self.n_docs if self.kind == MADE else self.n_docs

    @property
    def differs(self) -> str:
        """In what the set, or what is done with it, is not the paper's."""
        if self.kind == MADE:
            return f"{self.name} is synthetic: its features relate to relevance in other ways than {self.likeness}'s"
        if self.is_known:
            return f"{self.name} is a real data set, but settings that the paper does not give are our defaults"
        return f"the paper does not know {self.name}"

    @property
    def told(self) -> str:
        """A sentence on what the figures were computed on."""
        if self.kind == MADE:
            return (
                f"{self.name}: {self.n_queries:,} queries of up to {self.n_docs:,} documents or so, "
                f"synthetic: they resemble {self.likeness} but are not that set, so the figures cannot be compared one "
                "to one; --data takes a folder with the real set"
            )
        if self.kind == CLICKS:
            return f"{self.name}: a click log with labels"
        counts = {"query": self.n_queries, "document": self.n_docs, "feature": self.n_features}
        size = ", ".join(counted(number, noun) for noun, number in counts.items())
        own = "the set of that name" if self.is_known else "a set that is not known here by name"
        return f"{self.name}: {size}; {own}"

    def to_dict(self) -> dict[str, Any]:
        """What tells the set from others, in types JSON can hold; not where it is."""
        return {
            "name": self.name,
            "kind": self.kind,
            "stands_for": self.stands_for,
            "is_known": self.is_known,
            "queries": self.n_queries,
            "documents": self.n_docs,
            "features": self.n_features,
            "told": self.told,
        }


class Known(NamedTuple):
    """What a set is told by: its numbers of features and queries, and about how many documents a query has.

    `least_relevant` and `most_docs` are means over queries, which tell sets with the same number of queries apart.
    """

    features: tuple[int, ...]
    n_queries: int
    least_relevant: float = 0.0
    most_docs: float = float("inf")


KNOWN_SETS: Mapping[str, Known] = {
    "TD2003": Known((44, 64), 50, 3.0),
    "TD2004": Known((44, 64), 75, 3.0),
    "OHSUMED": Known((25, 45), 106),
    "MQ2007": Known((46,), 1692),
    "MQ2008": Known((46,), 784),
    "MSLR-WEB10K": Known((136,), 10_000),
    "MSLR-WEB30K": Known((136,), 31_531),
    "Yahoo set1": Known((699, 700), 29_921),
    "Yahoo set2": Known((699, 700), 6_330),
    "Istella-S": Known((220,), 33_018, most_docs=150),
    "Istella": Known((220,), 33_018),
    "Istella-X": Known((220,), 10_000),
}
YAHOO = re.compile(r"(set[12])\.train\.txt(\.gz|\.zst)?$")
# What stands for a set that is not given: in the paper's size and smaller (queries, documents of each). Smaller ones
# have shorter lists rather than fewer queries: statements are decided by queries.
SIZES_LIKE: Mapping[str, Mapping[str, tuple[int, int]]] = {
    "TD2003": {"full": (50, 1000), "quick": (100, 150), "tiny": (10, 25)},
    "TD2004": {"full": (75, 1000), "quick": (150, 150), "tiny": (10, 25)},
    "MQ2007": {"full": (1692, 41), "quick": (300, 41), "tiny": (15, 10)},
    "MSLR-WEB10K": {"full": (10_000, 120), "quick": (250, 120), "tiny": (15, 12)},
}


def made_like(name: str, size: str) -> DataSource:
    """The set that is made where the one of that name is not given."""
    n_queries, n_docs = SIZES_LIKE[name][size]
    return DataSource(f"{name}-like", MADE, size, likeness=name, n_queries=n_queries, n_docs=n_docs)


def source_named(sources: Sequence[DataSource], name: str) -> DataSource:
    """The one of that name."""
    return next(source for source in sources if source.name == name)


def find_sources(folder: str | os.PathLike[str]) -> tuple[DataSource, ...]:
    """The data sets in a folder and in the folders below it; each set once."""
    if not Path(folder).is_dir():
        raise InputError(f"{os.fspath(folder)} is not a folder; --data takes one with {LOOKED_FOR}")
    found: dict[str, DataSource] = {}
    for place in _folders(Path(folder)):
        for source in _sources_at(place):
            # LETOR 3.0 ships each set several times; the one whose features are normalised is the one people use.
            if source.name not in found or NORMALISED in place.relative_to(folder).as_posix():
                found[source.name] = source
    if not found:
        raise InputError(f"{os.fspath(folder)} holds no data set that is known here: it was searched for {LOOKED_FOR}")
    return tuple(found.values())


def _folders(top: Path) -> Iterator[Path]:
    """The folder and those below it, in order of their names, each once; links are followed, folds are not entered."""
    seen: set[str] = set()
    for place, below, _ in os.walk(top, followlinks=True):
        if (real := os.path.realpath(place)) in seen:  # links may go in circles
            below.clear()
            continue
        seen.add(real)
        depth = len(Path(place).relative_to(top).parts)
        below[:] = sorted(one for one in below if depth < DEEPEST and not re.fullmatch(r"Fold\d+", one))
        yield Path(place)


def _sources_at(place: Path) -> Iterator[DataSource]:
    names = sorted(path.name for path in place.iterdir())
    if any(re.fullmatch(r"Fold\d+", name) for name in names):
        first = fold_folders(place)[0]
        yield _described(place, FOLDS, [path for path in sorted(first.iterdir()) if ".txt" in path.name])
        return
    for name in (match[1] for match in map(YAHOO.match, names) if match):
        files = [path for path in sorted(place.iterdir()) if path.name.startswith(f"{name}.")]
        described = _described(place, PARTS, files)
        yield replace(described, name=f"Yahoo {name}", path=str(place / name), is_known=True)
    if _part(place, "train") and _part(place, "test"):
        yield _described(place, PARTS, [path for path in (_part(place, one) for one in PART_NAMES) if path])
    if _log_and_labels(place):
        yield DataSource(place.name, CLICKS, str(place))


def click_files(source: DataSource) -> tuple[str, str]:
    """The log of a source of clicks, and its labels."""
    log, labels = _log_and_labels(Path(source.path))
    return str(log), str(labels)


def _log_and_labels(place: Path) -> Sequence[Path]:
    """The log and the labels in a folder; nothing where it has not both."""
    paths = sorted(place.iterdir())
    labels = [path for path in paths if ".qrels" in path.name]
    logs = [path for path in paths if re.search(r"\.(jsonl|csv|parquet)(\.gz|\.zst)?$", path.name)]
    return (logs[0], labels[0]) if labels and logs else ()


PART_NAMES = ("train", "vali", "test")


def _part(place: Path, name: str, prefix: str = "") -> Path | None:
    spellings = ("vali", "valid") if name == "vali" else (name,)
    paths = [place / f"{prefix}{one}.txt{ending}" for one in spellings for ending in ("", ".gz", ".zst")]
    return next((path for path in paths if path.is_file()), None)


def _described(place: Path, kind: str, files: Sequence[Path]) -> DataSource:
    """The set in these files, by name where it is a known one and by its folder otherwise."""
    n_features, n_docs, n_relevant = 0, 0, 0
    queries: set[bytes] = set()
    labels: set[bytes] = set()
    for path in files:
        with open_input(path) as file:
            for line in file:
                label, _, rest = line.lstrip().partition(b" ")
                query, _, features = rest.lstrip().partition(b" ")
                if not query.startswith(b"qid:"):
                    continue
                queries.add(query)
                labels.add(label)
                n_relevant += label not in (b"0", UNJUDGED)
                # Text leaves out zeros: the last feature need not be in the first lines.
                last = features.partition(b"#")[0].rpartition(b":")[0].rpartition(b" ")[2]
                n_features = max(n_features, int(last) if last.isdigit() else 0)
                n_docs += 1
    if not queries:
        raise InputError(f"{place} has files named as LETOR names them, but they hold no line with a qid")
    n_queries = len(queries)
    name = known_name(n_features, n_queries, n_relevant / n_queries, n_docs / n_queries) if labels <= GRADES else None
    return DataSource(name or place.name, kind, str(place), "", name is not None, n_queries, n_docs, n_features)


def known_name(n_features: int, n_queries: int, relevant: float, docs: float) -> str | None:
    """The known set with so many features and queries, and so many relevant and other documents of a query."""
    for name, known in KNOWN_SETS.items():
        has_shape = n_features in known.features and n_queries == known.n_queries
        if has_shape and relevant >= known.least_relevant and docs <= known.most_docs:
            return name
    return None


def n_folds(source: DataSource) -> int:
    """How many folds the set has."""
    if source.kind == FOLDS:
        return len(fold_folders(source.path))
    return 5 if source.kind == MADE else 1


@lru_cache(maxsize=1)
def fold(source: DataSource, number: int, seed: int = 0) -> Fold:
    """The documents of a fold; kept, because a worker runs several parts on the same fold."""
    if source.kind == MADE:
        return list(_made(source, seed).letor_folds())[number]
    if source.kind == FOLDS:
        one = read_fold(fold_folders(source.path)[number], n_features=source.n_features, allow_infinity=True)
        return _finite(one.train), _finite(one.vali), _finite(one.test)
    parts = {
        name: _finite(read_wide(path, source.n_features, allow_infinity=True))
        for name, path in _parts_of(source).items()
    }
    if "vali" not in parts:
        parts["train"], parts["vali"] = parts["train"].split(valid=VALID_SHARE, seed=seed)
    return parts["train"], parts["vali"], parts["test"]


def _finite(data: RankingDataset) -> RankingDataset:
    """The same with infinite features missing: Istella writes the largest number there is for missing values."""
    infinite = np.isinf(data.features)
    return replace(data, features=np.where(infinite, np.float32(np.nan), data.features)) if infinite.any() else data


def _parts_of(source: DataSource) -> dict[str, Path]:
    place = Path(source.path)
    where = (place, "") if place.is_dir() else (place.parent, f"{place.name}.")  # set1.train.txt and so on
    found = {part: _part(where[0], part, where[1]) for part in PART_NAMES}
    if found["train"] is None or found["test"] is None:
        raise InputError(f"{source.path} has no file to train on, or none to test on")
    return {part: path for part, path in found.items() if path is not None}


@lru_cache(maxsize=1)
def _made(source: DataSource, seed: int) -> RankingDataset:
    n_queries, n_docs = source.n_queries, source.n_docs
    if source.likeness.startswith("TD"):
        features = 44 if source.likeness == "TD2003" else 64
        return topic_distillation(n_queries, docs_per_query=n_docs, n_features=features, seed=seed)
    return web_search(n_queries, docs_per_query=n_docs, seed=seed)

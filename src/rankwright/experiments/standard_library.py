"""Documents that every Python brings along: the documentation strings of its standard library, and queries for them.

Modules are read with `ast` and never imported. A document is a module, a class or a function with a documentation
string: its title is the qualified name, its body the string, its links what it is part of and its parts. A query is
what somebody types who has seen a document and wants it again: a few words of a passage, in their order, rare ones more
likely, and sometimes a part of its name. The document that it was made from is what it should find.
"""

from __future__ import annotations

import ast
import re
import sysconfig
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np

from rankwright.arrays import Seed, generator
from rankwright.errors import InputError
from rankwright.formats.storage.streams import atomic_text_output

LEFT_OUT = frozenset(
    {"site-packages", "dist-packages", "test", "tests", "idlelib", "lib2to3", "turtledemo", "__pycache__"}
)
SHORTEST_BODY = 40  # letters: of shorter ones no query could be made
WORD = re.compile(r"[A-Za-z][a-z]{2,}")
WORDS_OF_QUERY = (2, 3, 4)
PASSAGE = 12  # words that stand together, of which some are remembered
FROM_NAME = 0.3  # how often a word of the name is among them
FORGOTTEN = 0.15  # how often a word is remembered wrongly: another one of the collection
EXACT, NEAR = 3, 1  # the grade of the document that was meant, and of those that it is part of, or that are part of it
COMMON = 0.1  # the share of documents above which a word is too common to be typed


@dataclass(frozen=True, slots=True)
class DocumentedName:
    """A module, a class or a function, and what is said of it."""

    name: str
    body: str
    links: tuple[str, ...]

    def record(self) -> dict[str, object]:
        """The document as a collection holds it."""
        return {"id": self.name, "title": self.name, "body": self.body, "links": list(self.links)}


@dataclass(frozen=True, slots=True)
class KnownItemQuery:
    """A query, and the documents that it should find, with their grades."""

    id: str
    text: str
    grades: dict[str, int]


def standard_library_folder() -> Path:
    """Where this Python has its standard library."""
    return Path(sysconfig.get_paths()["stdlib"])


def documented_names(folder: Path) -> list[DocumentedName]:
    """All that has a documentation string below a folder of modules, by name."""
    found: dict[str, DocumentedName] = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        if LEFT_OUT.isdisjoint(parts) and all(part.isidentifier() for part in parts):
            name = ".".join(part for part in parts if part != "__init__")
            for one in _of_module(name, path):
                found.setdefault(one.name, one)
    if not found:
        raise InputError(
            f"{folder} has no module with documentation strings: this Python was installed without its own"
        )
    known = found.keys()
    return [
        DocumentedName(one.name, one.body, tuple(link for link in one.links if link in known))
        for one in sorted(found.values(), key=lambda one: one.name)
    ]


def _of_module(name: str, path: Path) -> Iterator[DocumentedName]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of escapes in strings, for example
            tree = ast.parse(path.read_bytes())
    except (SyntaxError, ValueError, RecursionError):
        return  # a file that is there to be wrong
    if name:
        yield from _of_node(name, tree)


def _of_node(
    name: str, node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[DocumentedName]:
    body = ast.get_docstring(node) or ""
    parts = [
        one
        for one in node.body
        if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not one.name.startswith("_")
    ]
    if len(body) >= SHORTEST_BODY:
        parent = name.rpartition(".")[0]
        links = [*([parent] if parent else []), *(f"{name}.{one.name}" for one in parts)]
        yield DocumentedName(name, body, tuple(links))
    if isinstance(node, ast.Module | ast.ClassDef):
        for one in parts:
            yield from _of_node(f"{name}.{one.name}", one)


def known_item_queries(names: Sequence[DocumentedName], n: int, seed: Seed = 0) -> list[KnownItemQuery]:
    """Queries of people who remember a document; the same for the same documents and seed."""
    rng = generator(seed)
    words = [[one.lower() for one in WORD.findall(name.body)] for name in names]
    spread = Counter(word for own in words for word in set(own))
    rarity = {word: log(len(names) / count) for word, count in spread.items() if count <= COMMON * len(names)}
    others = sorted(rarity)
    by_name = {one.name: one for one in names}
    usable = [place for place, own in enumerate(words) if len(set(own) & rarity.keys()) >= max(WORDS_OF_QUERY)]
    queries: list[KnownItemQuery] = []
    seen: set[str] = set()
    for place in rng.permutation(usable).tolist():
        name = names[place]
        chosen = _remembered(name, words[place], rarity, others, rng)
        text = " ".join(chosen)
        if text in seen:
            continue
        seen.add(text)
        near = {link: NEAR for link in name.links if link in by_name}
        queries.append(KnownItemQuery(f"q{len(queries) + 1}", text, near | {name.name: EXACT}))
        if len(queries) == n:
            break
    return queries


def _remembered(
    name: DocumentedName,
    words: Sequence[str],
    rarity: dict[str, float],
    others: Sequence[str],
    rng: np.random.Generator,
) -> list[str]:
    """A few words of a passage of the document, in its order."""
    start = int(rng.integers(max(1, len(words) - PASSAGE + 1)))
    known = [word for word in words[start : start + PASSAGE] if word in rarity] or [w for w in words if w in rarity]
    weights = np.array([rarity[word] for word in known])
    n = min(int(rng.choice(WORDS_OF_QUERY)), len(known))
    chosen = [
        known[one] for one in sorted(rng.choice(len(known), n, replace=False, p=weights / weights.sum()).tolist())
    ]
    if rng.random() < FROM_NAME:
        parts = [one.lower() for one in WORD.findall(name.name.rpartition(".")[2])]
        chosen[0] = parts[0] if parts else chosen[0]
    if rng.random() < FORGOTTEN:
        chosen[-1] = others[int(rng.integers(len(others)))]
    return list(dict.fromkeys(chosen))


def write_collection(names: Sequence[DocumentedName], queries: Sequence[KnownItemQuery], folder: Path) -> None:
    """Write documents, queries and judgments as files that commands read."""
    import json

    with atomic_text_output(folder / "documents.jsonl") as file:
        file.writelines(json.dumps(one.record()) + "\n" for one in names)
    with atomic_text_output(folder / "queries.tsv") as file:
        file.writelines(f"{one.id}\t{one.text}\n" for one in queries)
    with atomic_text_output(folder / "judgments.qrels") as file:
        file.writelines(
            f"{one.id} 0 {document} {grade}\n" for one in queries for document, grade in sorted(one.grades.items())
        )

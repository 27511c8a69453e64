"""RankLib's model text: `<ensemble>` of trees, several of them for random forests.

A value that is at most the threshold goes left, a missing one right; features count from 1. XML is read by hand: the
format has seven tags, and a file from a stranger must not make a parser expand entities.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from rankwright.errors import InputError, require_input
from rankwright.imports.assembly import ForeignForest, ListedNode, TreeTable, at_most, columns_of, foreign_forest

NAME = "RankLib XML"
TOKEN = re.compile(r"<([^<>]{1,200})>|([^<>\s][^<>]*)")
ATTRIBUTE = re.compile(r"([a-z]+)\s*=\s*[\"']([^\"']*)[\"']")
COMMENT = re.compile(r"^##.*$", re.MULTILINE)

Tokens = Iterator[tuple[str, dict[str, str] | str]]  # tags with their attributes; text as the tag `#`


def begins(start: bytes) -> bool:
    """Whether a file that starts so is RankLib's."""
    return b"<ensemble>" in start and start.lstrip()[:1] in (b"#", b"<")


def read(content: bytes) -> ForeignForest:
    """The mean of the ensembles, of which there is one unless it is a random forest."""
    tokens = _tokens(COMMENT.sub("", content.decode("utf-8")))
    del content  # it is as large as all that is made from it
    ensembles: list[list[TreeTable]] = []
    for tag, _ in tokens:
        if tag == "":
            break
        require_input(tag == "ensemble", f"<ensemble> was wanted, got {tag!r}")
        ensembles.append(list(_trees(tokens)))
    if not ensembles:
        raise InputError("there is no <ensemble>")
    trees = [tree.scaled(1 / len(ensembles)) for ensemble in ensembles for tree in ensemble]
    return foreign_forest(NAME, trees, None)


def _tokens(text: str) -> Tokens:
    for found in TOKEN.finditer(text):
        if found[1] is None:
            yield "#", found[2].strip()
        elif not found[1].startswith("?"):
            name, _, rest = found[1].partition(" ")
            yield name.strip(), dict(ATTRIBUTE.findall(rest))
    yield "", {}  # the end


def _trees(tokens: Tokens) -> Iterator[TreeTable]:
    for tag, attributes in tokens:
        if tag == "/ensemble":
            return
        if tag != "tree" or not isinstance(attributes, dict):
            raise InputError(f"<tree> was wanted, got {tag!r}")
        yield _Tree(tokens).table().scaled(float(np.float32(attributes.get("weight", "1"))))
    raise InputError("the text ends inside <ensemble>: it is cut short")


class _Tree:
    """A tree that is being read: its nodes, and where reading has come to."""

    def __init__(self, tokens: Tokens) -> None:
        self.nodes: list[ListedNode] = []
        self.children: list[list[int]] = []
        self.open: list[int] = []  # the nodes around the place
        for tag, content in tokens:
            if tag == "/tree":
                break
            self._take(tag, content, tokens)
        require_input(bool(self.nodes) and not self.open, "a tree is cut short")

    def _take(self, tag: str, content: dict[str, str] | str, tokens: Tokens) -> None:
        if tag == "split" and isinstance(content, dict):
            self._begin(content.get("pos"))
        elif tag == "/split":
            if not self.open:
                raise InputError("a </split> closes nothing")
            self.open.pop()
        elif tag in ("feature", "threshold", "output") and self.open:
            node = self.nodes[self.open[-1]]
            text = next(tokens)
            require_input(text[0] == "#" and next(tokens)[0] == f"/{tag}", f"<{tag}> must hold one number")
            if tag == "feature":
                node.feature = int(str(text[1])) - 1
                if node.feature < 0:
                    raise InputError(f"features count from 1, got {text[1]}")
            else:
                setattr(node, "value" if tag == "output" else tag, float(np.float32(str(text[1]))))
        else:
            raise InputError(f"{tag or 'the end'!r} was found inside a tree")

    def _begin(self, side: str | None) -> None:
        number = len(self.nodes)
        if self.open:
            if side not in ("left", "right"):
                raise InputError(f"a split is neither the left nor the right one of its parent, but {side!r}")
            own = self.children[self.open[-1]]
            place = side == "right"
            if own[place] >= 0:
                raise InputError(f"a split has two {side} ones")
            own[place] = number
        elif number:
            raise InputError("a tree has two roots")
        self.nodes.append(ListedNode())
        self.children.append([-1, -1])
        self.open.append(number)

    def table(self) -> TreeTable:
        """The nodes read."""
        children, columns = np.array(self.children, np.int64), columns_of(self.nodes)
        if ((children >= 0).all(axis=1) != (columns["feature"] >= 0)).any():
            raise InputError("a split lacks its feature or one of its sides")
        columns["threshold"] = at_most(columns["threshold"])
        return TreeTable(**columns, left=children[:, 0], right=children[:, 1])

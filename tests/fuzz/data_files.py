"""Data files with extreme contents: nothing in them, huge indices and numbers, control characters, odd names.

A mutant is inspected as on the command line and trained on. It is refused in one line, or all scores are numbers; and
nothing that is printed can command a terminal.
"""

from __future__ import annotations

import contextlib
import io
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from unittest import mock

import numpy as np
from tests.contracts.trained import quick
from tests.fuzz.foreign import mutant_of
from tests.fuzz.mutation import chosen
from tests.fuzz.subject import Refused, quiet, require

import rankwright as rw
from rankwright import memory
from rankwright.catalog.rankers import RANKERS
from rankwright.cli.app import main
from rankwright.errors import RankwrightError

FORMATS = ("txt", "csv", "tsv", "parquet")
FREE = 1 << 28  # bytes of memory that mutants are told are free, so that the outcome is the same on every machine
CONTROLS = ("\x1b[2J", "\x1b]0;x\x07", "\x00", "\r", "\x7f", "\x9b", "\u202e", "\u2028", "\ud800", "\ufeff")
NAMES = ("__proto__", "constructor", "=1+1", "")
INDICES = (0, 1, 2000, 4 * 10**8, 2**31 - 1, 2**31, 2**32, 10**12, 10**30)
VALUES = ("3e38", "-3e38", "1e39", "1e-40", "1e-400", "nan", "inf", "-inf", "-0", "1e400", "", "0x10", "1,5", "1_0")
LABELS = ("30", "31", "2000", "-1", "1e30", "0.5", "nan")


class DataFiles:
    """A small data file of each format in turn, and each ranker in turn to train on it."""

    def prepare(self, seeds: Path) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        for ending in FORMATS:
            if not (seeds / f"data.{ending}").exists():
                rw.write(documents(), seeds / f"data.{ending}")

    def warm_up(self, seeds: Path) -> None:
        for number, ending in enumerate(FORMATS):
            target = seeds.parent / "mutant.rw"
            target.write_bytes(_named(number) + (seeds / f"data.{ending}").read_bytes())
            self.judge(target)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        ending = FORMATS[number % len(FORMATS)]
        content = (seeds / f"data.{ending}").read_bytes()
        change = mutant_of if ending == "parquet" or rng.random() < 0.2 else _extreme
        target.write_bytes(_named(number) + change(content, rng))

    def judge(self, target: Path) -> None:
        name, ranker, content = target.read_bytes().split(b"\n", 2)
        path = target.with_name(name.decode())
        path.write_bytes(content)
        with _little_memory(target.with_name("meminfo")), quiet():
            _inspect(path)
            _train(path, ranker.decode())


def _named(number: int) -> bytes:
    """What stands before a mutant's content: the name of its file, and the ranker to train."""
    ranker = list(RANKERS)[number // len(FORMATS) % len(RANKERS)]
    return f"mutant.{FORMATS[number % len(FORMATS)]}\n{ranker}\n".encode()


@contextlib.contextmanager
def _little_memory(meminfo: Path) -> Iterator[None]:
    meminfo.write_text(f"MemAvailable: {FREE // 1024} kB\n", encoding="ascii")
    with mock.patch.object(memory, "SYSTEM", meminfo):
        yield


def _inspect(path: Path) -> None:
    """Run the command; what it prints must be one line where it refuses, and safe in any case."""
    out, err = io.StringIO(), io.StringIO()
    code = None
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            with mock.patch.object(sys, "argv", ["rankwright", "inspect", "-q", str(path)]):
                main()
        except SystemExit as end:
            code = end.code
    said = err.getvalue()
    require(code in (0, None) or (code == 2 and said.count("\n") == 1), f"inspect ended with {code!r}: {said}")
    require((out.getvalue() + said).replace("\n", "").isprintable(), f"control characters: {out.getvalue() + said!r}")


def _train(path: Path, name: str) -> None:
    try:
        data = rw.read(path)
        scores = quick(name, threads=1).fit(data).predict(data)
    except (RankwrightError, OSError) as error:
        require("\n" not in str(error) or not isinstance(error, RankwrightError), f"several lines: {error}")
        raise Refused(str(error)) from error
    require(scores.shape == (data.n_docs,), f"{scores.shape} scores of {data.n_docs} documents")
    require(bool(np.isfinite(scores).all()), f"{name} gives scores that are not finite")


@cache
def documents() -> rw.RankingDataset:
    rng = np.random.default_rng(0)
    features = np.round(rng.normal(size=(24, 3)), 2)
    labels = np.clip(np.round(features[:, 0] + 1), 0, 3)
    return rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(["q1", "q2", "q3", "q4"], 6))


# --- extremes ---


def _extreme(content: bytes, rng: np.random.Generator) -> bytes:
    text = content.decode()
    for _ in range(int(rng.integers(1, 4))):
        text = chosen(rng, EXTREMES)(text, rng)
    return text.encode(errors="surrogatepass")


def _cells(line: str) -> tuple[list[str], str]:
    """The cells of a line, and what stands between them."""
    mark = next((mark for mark in ("\t", ",", " ") if mark in line), " ")
    return line.split(mark), mark


def _with_cell(text: str, rng: np.random.Generator, change: Callable[[str], str], *, header: bool = False) -> str:
    """The text with one cell changed: of its first line, or of any."""
    lines = text.split("\n")
    row = 0 if header else int(rng.integers(len(lines)))
    cells, mark = _cells(lines[row])
    place = int(rng.integers(len(cells)))
    cells[place] = change(cells[place])
    lines[row] = mark.join(cells)
    return "\n".join(lines)


def _no_features(text: str, rng: np.random.Generator) -> str:  # noqa: ARG001
    rows = (_cells(line) for line in text.split("\n"))
    return "\n".join(mark.join(cells[:2]) for cells, mark in rows)


def _no_rows(text: str, rng: np.random.Generator) -> str:
    kept: str = chosen(rng, ("", "\n", text.split("\n")[0], text.split("\n")[0] + "\n", "# nothing\n"))
    return kept


def _one_row(text: str, rng: np.random.Generator) -> str:  # noqa: ARG001
    return "\n".join(text.split("\n")[:2])


def _huge_index(text: str, rng: np.random.Generator) -> str:
    index = chosen(rng, INDICES)
    return _with_cell(text, rng, lambda cell: f"{index}:{cell.partition(':')[2]}" if ":" in cell else str(index))


def _odd_number(text: str, rng: np.random.Generator) -> str:
    value: str = chosen(rng, (*VALUES, *LABELS))
    return _with_cell(text, rng, lambda cell: f"{cell.partition(':')[0]}:{value}" if ":" in cell else value)


def _odd_column(text: str, rng: np.random.Generator) -> str:
    """The same odd number in one column of every row."""
    value: str = chosen(rng, VALUES)
    first, *lines = text.split("\n")
    place, changed = int(rng.integers(1, 4)), [first]
    for line in lines:
        cells, mark = _cells(line)
        if place < len(cells):
            cells[place] = f"{cells[place].partition(':')[0]}:{value}" if ":" in cells[place] else value
        changed.append(mark.join(cells))
    return "\n".join(changed)


def _controls(text: str, rng: np.random.Generator) -> str:
    odd: str = chosen(rng, (*CONTROLS, *NAMES))
    return _with_cell(text, rng, lambda cell: chosen(rng, (odd, cell + odd)), header=rng.random() < 0.6)


EXTREMES: Sequence[Callable[[str, np.random.Generator], str]] = (
    _no_features, _no_rows, _one_row, _huge_index, _huge_index, _odd_number, _odd_number, _odd_column, _controls,
    _controls,
)  # fmt: skip

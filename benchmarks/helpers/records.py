"""What a benchmark leaves for the page of results: the question, what was found, by which command, when and with what.

`make results` takes every record that stands in `results/`; one of the same name takes the place of an earlier one.
"""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from benchmarks.helpers.places import RESULTS

# Whose versions a record tells, if the benchmark loaded them: by module, what they are called where they are installed.
LIBRARIES = {
    "rankwright": "rankwright",
    "numpy": "numpy",
    "lightgbm": "lightgbm",
    "xgboost": "xgboost-cpu",
    "catboost": "catboost",
    "sklearn": "scikit-learn",
    "scipy": "scipy",
    "torch": "torch",
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "pytrec_eval": "pytrec-eval-terrier",
    "onnxruntime": "onnxruntime",
    "lleaves": "lleaves",
    "tl2cgen": "tl2cgen",
    "treelite": "treelite",
    "ray": "ray",
}


def command() -> str:
    """The command that runs this benchmark as it was run, without the folders of this machine."""
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    given = [Path(one).name if Path(one).is_absolute() else one for one in sys.argv[1:]]
    return shlex.join(["python", "-m", spec.name if spec else Path(sys.argv[0]).stem, *given])


def versions() -> dict[str, str]:
    """The versions of Python and of the libraries that are loaded."""
    found = {"python": platform.python_version()}
    for module, package in LIBRARIES.items():
        if module in sys.modules:
            try:
                found[module] = version(package)
            except PackageNotFoundError:
                found[module] = "of unknown version"
    return found


def leave(name: str, question: str, **found: Any) -> None:
    """Write a record: what was found, the command, the day, the machine, and the versions that it was found with."""
    RESULTS.mkdir(exist_ok=True)
    record = {
        "question": question,
        "command": command(),
        "date": date.today().isoformat(),
        "machine": {"processors": os.cpu_count(), "architecture": platform.machine(), "system": platform.system()},
        "versions": versions(),
        **found,
    }
    (RESULTS / f"{slug_of(name)}.json").write_text(json.dumps(record, indent=2, default=str) + "\n")


def slug_of(name: str) -> str:
    """A file's name for a record."""
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-")[:60]


def show(name: str, question: str, rows: Sequence[Mapping[str, Any]], **notes: Any) -> None:
    """Print the rows under the question, and leave them with the notes."""
    print(f"\n{question}")
    columns = list(dict.fromkeys(column for row in rows for column in row))
    cells = [[_text(row.get(column, "")) for column in columns] for row in rows]
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]
    for line in (columns, *cells):
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
    leave(name, question, rows=list(rows), notes=notes)


def _text(value: Any) -> str:
    return f"{value:.4f}" if isinstance(value, float) else str(value)

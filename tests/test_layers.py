"""A folder imports what stands below it, never upwards and never its neighbours; heavy libraries have one home."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankwright

SOURCE = Path(rankwright.__file__).parent

# From the ground up; what shares a line may not import each other.
LAYERS = [
    {"errors"},
    {"arrays"},
    {"kernels"},
    {"container"},
    {"cluster"},
    {"data"},
    {"ranking"},
    {"metrics", "objectives"},
    {"clicks"},
    {"training"},
    {"trees", "nets", "comparators", "linear", "boosters"},
    {"rankers"},
    {"ensembles"},
    {"catalog"},
    {"tuning"},
    {"report", "exchange"},
    {"experiments"},
    {"serve"},
    {"cli"},
]
HEIGHT_OF = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}

# Where a heavy library may be imported, as prefixes of paths below the package.
HOMES_OF = {
    "torch": ("nets/", "comparators/"),
    "ray": ("cluster/",),
    "pandas": ("data/frames.py",),
    "polars": ("data/frames.py",),
    "pyarrow": ("data/frames.py", "data/parquet.py"),
    "sklearn": ("rankers/", "ensembles/", "tuning/"),
}

FILES = sorted(SOURCE.rglob("*.py"))


def imports_of(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def folder_of(module: str) -> str | None:
    parts = module.split(".")
    return parts[1] if parts[0] == "rankwright" and len(parts) > 1 and parts[1] in HEIGHT_OF else None


def test_files_were_found():
    assert len(FILES) > 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_downwards(path):
    own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    if own == "__init__":
        return  # the package's own table of names, loaded lazily
    assert own in HEIGHT_OF, f"{own} has no place in the layers"
    for module in imports_of(path):
        other = folder_of(module)
        assert other is None or other == own or HEIGHT_OF[other] < HEIGHT_OF[own], f"{path} imports {module}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_heavy_libraries_stay_in_their_homes(path):
    place = path.relative_to(SOURCE).as_posix()
    for module in imports_of(path):
        homes = HOMES_OF.get(module.split(".")[0])
        assert homes is None or place.startswith(homes), f"{place} imports {module}"

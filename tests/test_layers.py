"""A folder imports what stands below it, never upwards and never its neighbours; heavy libraries have one home."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import rankwright

SOURCE = Path(rankwright.__file__).parent

# From the ground up; what shares a line may not import each other.
LAYERS = [
    {"errors"},
    {"arrays"},
    {"kernels", "settings"},
    {"container"},
    {"cluster"},
    {"data"},
    {"features", "targets", "profile", "synthetic"},
    {"formats"},
    {"ranking"},
    {"metrics"},
    {"objectives"},
    {"training"},
    {"rankers"},
    {"trees", "linear"},
    {"nets", "comparators", "boosters"},
    {"bagging"},
    {"compression"},
    {"catalog"},
    {"tuning"},
    {"report"},
    {"experiments"},
    {"cli"},
]
HEIGHT_OF = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}

# Where a heavy library may be imported, as prefixes of paths below the package.
HOMES_OF = {
    "torch": ("nets/", "comparators/"),
    "ray": ("cluster/",),
    "pandas": ("data/frames.py",),
    "polars": ("data/frames.py",),
    "pyarrow": ("data/frames.py", "formats/parquet.py"),
    "sklearn": ("rankers/", "bagging/", "tuning/"),
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


def test_imports_point_downwards():
    assert len(FILES) > 100, "the source was not found"
    wrong = []
    for path in FILES:
        own = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if own == "__init__":
            continue  # the package's own table of names, loaded lazily
        assert own in HEIGHT_OF, f"{own} has no place in the layers"
        for module in imports_of(path):
            other = folder_of(module)
            if other is not None and other != own and HEIGHT_OF[other] >= HEIGHT_OF[own]:
                wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert not wrong, "\n".join(wrong)


def test_heavy_libraries_stay_in_their_homes():
    wrong = []
    for path in FILES:
        place = path.relative_to(SOURCE).as_posix()
        for module in imports_of(path):
            homes = HOMES_OF.get(module.split(".")[0])
            if homes is not None and not place.startswith(homes):
                wrong.append(f"{place} imports {module}")
    assert not wrong, "\n".join(wrong)

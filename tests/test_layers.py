"""How the house is kept: a folder imports what stands below it, never upwards and never its neighbours; heavy libraries
have one home; what is private stays in its module; no two classes share a name; no module is imported in a circle; and
between a ranker and scikit-learn stand two classes of ours and its settings."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

import rankwright
from rankwright.catalog.rankers import RANKERS

SOURCE = Path(rankwright.__file__).parent

# From the ground up; what shares a line may not import each other.
LAYERS = [
    {"client", "errors", "escapes"},
    {"arrays", "memory", "progress", "tables"},
    {"kernels", "settings", "linear_algebra"},
    {"container"},
    {"cluster"},
    {"data"},
    {"features", "targets", "profile", "synthetic"},
    {"formats"},
    {"ranking"},
    {"metrics"},
    {"objectives"},
    {"clicks"},
    {"text", "judgments"},
    {"training"},
    {"explanations"},
    {"rankers"},
    {"trees"},
    {"debiasing"},
    {"mart", "linear"},
    {"nets", "comparators", "boosters", "imports"},
    {"bagging"},
    {"compression", "blending"},
    {"catalog"},
    {"tuning"},
    {"auto"},
    {"report", "exchange"},
    {"experiments"},
    {"reproduce"},
    {"web"},
    {"serve", "search"},
    {"cli"},
]
HEIGHT_OF = {folder: height for height, layer in enumerate(LAYERS) for folder in layer}

# Where a heavy library may be imported, as prefixes of paths below the package.
HOMES_OF = {
    "torch": ("nets/torch_net.py", "cluster/gloo.py"),
    "ray": ("cluster/", "serve/"),
    "pandas": ("data/frames.py",),
    "polars": ("data/frames.py",),
    "fsspec": ("formats/storage/places.py",),
    "pyarrow": ("data/frames.py", "formats/parquet.py", "serve/", "text/collections/"),
    "granian": ("web/", "serve/"),
    "msgspec": ("web/", "serve/", "search/", "client/"),
    "sklearn": ("rankers/", "bagging/", "blending/", "tuning/"),
    "jinja2": ("report/", "search/"),
    "vl_convert": ("report/",),
    "sqlite3": ("judgments/",),
}

MOST_BEHAVIOUR = 2  # classes of ours above a ranker, besides its settings
DEEPEST_SETTINGS = 3  # ancestors of a class of settings, one above the other
FROM_ELSEWHERE = {
    "_Options",
    "_devices",
    "_exit",
    "_replace",
    "_timeout",
}  # Python's own, public in spite of the underscore

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


def test_what_is_private_stays_in_its_module():
    wrong = []
    for path in FILES:
        tree = ast.parse(path.read_text())
        own = names_made_in(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and is_private(node.attr) and node.attr not in own | FROM_ELSEWHERE:
                if not is_own_object(node.value):
                    wrong.append(f"{path.relative_to(SOURCE)}:{node.lineno} uses {ast.unparse(node)}")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("rankwright"):
                names = [alias.name for alias in node.names if is_private(alias.name) and alias.name != "_core"]
                wrong += [f"{path.relative_to(SOURCE)}:{node.lineno} imports {name}" for name in names]
    assert not wrong, "\n".join(wrong)


def test_no_two_classes_share_a_name():
    homes = defaultdict(list)
    for path in FILES:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(str(path.relative_to(SOURCE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}


def test_no_module_is_imported_in_a_circle():
    """Not even by functions that import when they are called; what only type checkers read does not count."""
    modules = {module_name(path): path for path in FILES}
    graph = {name: set(imported_modules(path, modules)) - {name, "rankwright"} for name, path in modules.items()}
    done: set[str] = set()
    for name in sorted(graph):
        circle = circle_from(name, graph, done, [])
        assert circle is None, " → ".join(circle)


def module_name(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(["rankwright", *(parts[:-1] if parts[-1] == "__init__" else parts)])


def imported_modules(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    for node in ast.walk(WithoutTypes().visit(ast.parse(path.read_text()))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            parts = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (part if part in modules else node.module for part in parts)


class WithoutTypes(ast.NodeTransformer):
    def visit_If(self, node: ast.If) -> ast.AST | None:
        return None if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


def circle_from(name: str, graph: dict[str, set[str]], done: set[str], path: list[str]) -> list[str] | None:
    """The modules of a circle that is reached from a module; None if there is none."""
    if name in path:
        return [*path[path.index(name) :], name]
    if name in done:
        return None
    for other in sorted(graph[name]):
        circle = circle_from(other, graph, done, [*path, name])
        if circle is not None:
            return circle
    done.add(name)
    return None


@pytest.mark.parametrize("kind", [*RANKERS.values(), rankwright.ImportedForest], ids=lambda kind: kind.name)
def test_few_classes_stand_between_a_ranker_and_scikit_learn(kind):
    own = [base for base in kind.__mro__[1:] if base.__module__.startswith("rankwright.")]
    settings = [base for base in own if "__dataclass_fields__" in vars(base)]
    behaviour = [base.__name__ for base in own if base not in settings]
    assert len(behaviour) <= MOST_BEHAVIOUR, behaviour
    # One class of settings, from which all others are inherited.
    assert set(settings) == {base for base in settings[0].__mro__ if base is not object}
    assert depth_of(settings[0]) <= DEEPEST_SETTINGS


def depth_of(kind: type) -> int:
    """How many ancestors stand above a class, one above the other."""
    return max((1 + depth_of(base) for base in kind.__bases__ if base is not object), default=0)


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def is_own_object(node: ast.expr) -> bool:
    """Whether this is `self`, `cls` or `super()`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "super"
    return isinstance(node, ast.Name) and node.id in ("self", "cls")


def names_made_in(tree: ast.Module) -> set[str]:
    """What a module defines or assigns, as names or as attributes of its own objects."""
    made: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and is_own_object(node.value):
            made.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.add(node.id)
    return made

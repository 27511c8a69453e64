"""Learning to rank: from judgments or clicks to a measured, explained, deployed ranker.

Names are loaded when first used, so that `import rankwright` costs little more than NumPy. The stub beside this file
says where each of them is defined.
"""

import ast
from importlib import import_module
from pathlib import Path
from typing import Any

_STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
_HOME_OF = {
    alias.name: str(node.module) for node in _STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names
}

__all__ = sorted([*_HOME_OF, "__version__"])  # read from the stub


def __getattr__(name: str) -> Any:
    if name == "__version__":
        version = globals()[name] = import_module("importlib.metadata").version("rankwright")
        return version
    if name not in _HOME_OF:
        near = import_module("rankwright.errors").nearest(name, __all__)
        raise AttributeError(
            f"module 'rankwright' has no attribute {name!r}" + (f"; did you mean {near}?" if near else "")
        )
    home = _HOME_OF[name]
    value = vars(import_module(home)).get(name) or import_module(f"{home}.{name}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__

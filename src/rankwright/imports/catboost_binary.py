"""CatBoost's binary form (.cbm), which only CatBoost reads: it turns the file into JSON, in a process of its own.

The file may come from anyone, and CatBoost reads it in C++: where it crashes there, this process goes on.
"""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rankwright.errors import InputError
from rankwright.imports import catboost_json
from rankwright.imports.assembly import ForeignForest

NAME = "CatBoost binary"
MAGIC = b"CBM1"
AS_JSON = "import sys, catboost; catboost.CatBoost().load_model(sys.argv[1]).save_model(sys.argv[2], format='json')"
LONGEST = 600  # seconds that it may take
INSTEAD = "write it with save_model(path, format='json') where CatBoost is"


def begins(start: bytes) -> bool:
    """Whether a file that starts so is CatBoost's binary form."""
    return start.startswith(MAGIC)


def read(content: bytes) -> ForeignForest:
    """The forest in the file, where CatBoost is installed."""
    if find_spec("catboost") is None:
        raise InputError(f"only CatBoost reads this form, and it is not installed here: {INSTEAD}")
    with TemporaryDirectory() as folder:
        binary, text = Path(folder) / "model.cbm", Path(folder) / "model.json"
        binary.write_bytes(content)
        del content
        try:
            done = subprocess.run(
                [sys.executable, "-P", "-c", AS_JSON, str(binary), str(text)], capture_output=True, timeout=LONGEST
            )
        except subprocess.TimeoutExpired:
            raise InputError(f"CatBoost could not read it within {LONGEST} seconds") from None
        if done.returncode or not text.is_file():
            told = done.stderr.decode(errors="replace").strip().splitlines()
            raise InputError(f"CatBoost cannot turn it into JSON: {told[-1] if told else 'it crashed'}")
        return catboost_json.read(text.read_bytes())

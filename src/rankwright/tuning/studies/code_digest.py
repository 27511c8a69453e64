"""A fingerprint of the library's own code, by which a record says which code made it."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import xxhash

import rankwright

ENDINGS = (".py", ".so", ".pyd")


@cache
def code_digest() -> str:
    """The fingerprint of every file of code in the package."""
    digest = xxhash.xxh3_128()
    folder = Path(rankwright.__file__).parent
    for path in sorted(path for path in folder.rglob("*") if path.suffix in ENDINGS):
        digest.update(path.relative_to(folder).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()

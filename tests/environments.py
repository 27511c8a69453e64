"""Environments of their own for what tests hold us against and is no requirement of ours, made once in build."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "build" / "environments"


def environment(name: str, *requirements: str) -> Path:
    """The Python of an environment with these packages; the test is skipped where they cannot be installed."""
    digest = hashlib.sha256("\n".join(requirements).encode()).hexdigest()[:8]
    folder = FOLDER / f"{name}-{digest}"
    python, done = folder / "bin" / "python", folder / "installed"
    if not done.exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(folder)], check=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *requirements]
        told = subprocess.run(command, capture_output=True, text=True, check=False)
        if told.returncode:
            pytest.skip(f"{name} cannot be installed here: {told.stderr.strip()[-200:]}")
        done.touch()
    return python

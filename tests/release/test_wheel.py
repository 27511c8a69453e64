"""What users install: the source distribution, the wheel that is built from it, and both in an empty environment."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LARGEST = 3_000_000  # bytes of a wheel
FIRST_MINUTES = """
import rankwright as rw
assert rw.__version__ == {version!r}, rw.__version__
train, test = rw.synthetic.web_search(30, docs_per_query=15, seed=0).split(valid=0.3, seed=0)
ranker = rw.LambdaMART(n_trees=5, max_leaves=7).fit(train)
ranker.save("model.rw")
assert (rw.load("model.rw").predict(test) == ranker.predict(test)).all()
rw.write(test, "test.txt")
"""


def interpreter(version: str) -> str | None:
    """The program of that version: along the search path, or among pyenv's."""
    among = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    found = [*sorted(among.glob(f"{version}.*/bin/python")), shutil.which(f"python{version}")]
    return next((str(path) for path in found if path and runs(str(path), version)), None)


def runs(program: str, version: str) -> bool:
    asked = subprocess.run([program, "-c", "import sys; print(*sys.version_info[:2], sep='.')"], capture_output=True)
    return asked.returncode == 0 and asked.stdout.decode().strip() == version


@pytest.fixture(scope="module")
def source_distribution(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sdist")
    code = "import sys; from scikit_build_core.build import build_sdist; print(build_sdist(sys.argv[1]))"
    subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, check=True, capture_output=True)
    (path,) = folder.iterdir()
    return path


def test_the_source_distribution_has_what_building_needs_and_no_more(source_distribution):
    assert source_distribution.name == f"rankwright-{PROJECT['version']}.tar.gz"
    with tarfile.open(source_distribution) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"pyproject.toml", "CMakeLists.txt", "README.md", "LICENSE", "src/rankwright/py.typed"} <= names
    assert not [name for name in names if name.startswith(("tests/", "benchmarks/", "docs/", ".ci"))]


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_the_wheel_is_small_and_runs_in_an_empty_environment(version, source_distribution, tmp_path):
    python = interpreter(version)
    if python is None:
        pytest.skip(f"no Python {version} here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "env")], check=True)
    inside = tmp_path / "env" / "bin"
    clean = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "VIRTUAL_ENV")}
    # Also what builds the package comes from the constraints.
    clean |= {"PIP_CONSTRAINT": str(ROOT / "constraints.txt"), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}

    def pip(*arguments: str) -> None:
        done = subprocess.run([inside / "python", "-m", "pip", *arguments], env=clean, capture_output=True, text=True)
        if "Could not find a version" in done.stderr or "No matching distribution" in done.stderr:
            pytest.skip(f"no package index with what is needed: {done.stderr.strip().splitlines()[-1]}")
        assert done.returncode == 0, done.stdout + done.stderr

    pip("wheel", "--quiet", "--no-deps", "--wheel-dir", str(tmp_path), str(source_distribution))
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.stat().st_size < LARGEST, f"{wheel.stat().st_size:,} bytes"
    names = zipfile.ZipFile(wheel).namelist()
    assert "rankwright/py.typed" in names
    assert any(re.fullmatch(r"rankwright/kernels/_core\..*\.so", name) for name in names)
    pip("install", "--quiet", str(wheel))

    code = FIRST_MINUTES.format(version=PROJECT["version"])
    subprocess.run([inside / "python", "-c", code], cwd=tmp_path, env=clean, check=True)
    command = [inside / "rankwright", "evaluate", "test.txt", "--model", "model.rw", "--metrics", "ndcg@10"]
    printed = subprocess.run(command, cwd=tmp_path, env=clean, check=True, capture_output=True, text=True).stdout
    assert "ndcg@10" in printed

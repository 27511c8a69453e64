"""Whatever a file of another tool holds, reading it gives a forest that scores, or one line that names the file."""

from __future__ import annotations

import subprocess
import sys

import pytest
from tests.fuzz.foreign import judge, mutant_of, seeds
from tests.fuzz.subject import generator

from rankwright.imports.wire.protobuf import field

PER_FORMAT = 60
SEEDS = seeds()


def judge_mutants(name: str, folder, numbers: range) -> int:
    n_refused = 0
    for number in numbers:
        path = folder / f"mutant-{number}"
        path.write_bytes(mutant_of(SEEDS[name], generator(20, number)))
        try:
            n_refused += judge(path)
        except BaseException as error:
            error.add_note(f"mutant {number} of {name}")
            raise
        path.unlink()
    return n_refused


@pytest.mark.parametrize("name", SEEDS)
def test_the_files_that_are_changed_can_be_read(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(SEEDS[name])
    assert not judge(path)


@pytest.mark.parametrize("name", SEEDS)
def test_mutants(name, tmp_path):
    assert judge_mutants(name, tmp_path, range(PER_FORMAT)) > PER_FORMAT / 3


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_many_mutants(name, tmp_path):
    assert judge_mutants(name, tmp_path, range(PER_FORMAT, 3000)) > 1000


def graph_of(number: int, content: bytes, n_fields: int) -> bytes:
    """An ONNX file whose graph has a field so many times."""
    return field(1, 9) + field(7, field(number, content) * n_fields)


HOSTILE = {
    "deep.json": b"[" + b'{"nodeid":0,"children":[' * 20_000,
    "deep2.json": b'{"learner":' * 30_000,
    "huge_list.ubj": b"{L\0\0\0\0\0\0\0\x07learner[$d#L\x7f\xff\xff\xff\xff\xff\xff\xff",
    "wide.txt": b"tree\nversion=v4\nnum_class=1\nmax_feature_idx=2147483646\n\nTree=0\nnum_leaves=1\nleaf_value=1\n\n"
    b"end of trees\n",
    "many_leaves.txt": b"tree\nversion=v4\nmax_feature_idx=1\n\nTree=0\nnum_leaves=2147483647\nleaf_value=1\n\n"
    b"end of trees\n",
    "category.txt": b"tree\nversion=v4\nmax_feature_idx=1\n\nTree=0\nnum_leaves=2\nnum_cat=1\nsplit_feature=0\n"
    b"threshold=0\ndecision_type=1\nleft_child=-1\nright_child=-2\nleaf_value=1 2\n"
    b"cat_boundaries=0 2147483647\ncat_threshold=1\n\n"
    b"end of trees\n",
    "entities.xml": b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbbbbbbbb">]><ensemble>&b;&b;</ensemble>',
    "long.onnx": b"\x08\x09\x3a\xff\xff\xff\xff\xff\xff\xff\xff\x7f",
    "many_constants.onnx": graph_of(5, b"", 1_500_000),
    "many_words.onnx": graph_of(5, b"abc", 600_000),
    "many_operators.onnx": graph_of(1, b"", 300_000),
}
LIMIT = 200 << 20  # bytes above what Python and its libraries take, beside 20 times the file

READ = """
import resource, sys
import numpy, rankwright as rw
from rankwright.catalog import rankers
import rankwright.imports.imported
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    rw.load(sys.argv[1])
except rw.RankwrightError as error:
    print("refused", (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10)
    sys.exit("\\n" in str(error))
"""


@pytest.mark.parametrize("name", HOSTILE)
def test_bombs_are_refused_quickly_and_in_little_memory(name, tmp_path):
    path = tmp_path / name
    path.write_bytes(HOSTILE[name])
    done = subprocess.run(
        [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-500:]
    assert int(done.stdout.split()[1]) < LIMIT + 20 * len(HOSTILE[name])

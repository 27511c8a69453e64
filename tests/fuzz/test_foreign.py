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

# Each file is read by a child of one process that has loaded all there is to load, which takes longer than any file.
READ = """
import os, resource, signal, sys
import numpy, rankwright as rw
from rankwright.catalog import rankers
import rankwright.imports.imported

def read(path):
    signal.alarm(120)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        rw.load(path)
    except rw.RankwrightError as error:
        more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) << 10
        os.write(1, f"{os.path.basename(path)} {more}\\n".encode())
        return "\\n" in str(error)
    return 2

for path in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        code = 3
        try:
            code = read(path)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        os.write(2, f"{os.path.basename(path)} ended with {code}\\n".encode())
"""


@pytest.fixture(scope="module")
def refused(tmp_path_factory):
    """The bytes that each file took until it was refused, by the names of those that were; and complaints."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, content in HOSTILE.items():
        (folder / name).write_bytes(content)
    paths = [str(folder / name) for name in HOSTILE]
    done = subprocess.run([sys.executable, "-c", READ, *paths], capture_output=True, text=True, check=True)
    return {name: int(more) for name, more in map(str.split, done.stdout.splitlines())}, done.stderr


@pytest.mark.parametrize("name", HOSTILE)
def test_bombs_are_refused_quickly_and_in_little_memory(name, refused):
    taken, complaints = refused
    assert name in taken, complaints[-500:]
    assert f"{name} ended with" not in complaints
    assert taken[name] < LIMIT + 20 * len(HOSTILE[name])

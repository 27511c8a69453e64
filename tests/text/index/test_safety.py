"""A build that is killed, a second build at the same time, damage and later versions: the index stays, or one line."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.fuzz.mutation import Parts
from xxhash import xxh3_64_hexdigest

from rankwright.container.file import read_container
from rankwright.errors import ContainerError, InputError, SettingError
from rankwright.text import (
    FeatureLine,
    FeatureSpecification,
    QueryDocuments,
    build_index,
    features_of,
    open_index,
    read_documents,
    top_documents,
)
from rankwright.text.index.manifest import MANIFEST, SEGMENT_PREFIX

DOCUMENTS = [{"id": str(number), "text": f"red boat number {number}"} for number in range(200)]

# Builds an index whose last documents never come: the process waits in the middle of its work until it is killed.
ENDLESS = """
import sys, time
from rankwright.text import DocumentBatch, build_index
def batches():
    for start in range(0, 300, 100):
        ids = [f"new{number}" for number in range(start, start + 100)]
        yield DocumentBatch(ids, {"text": ["blue sails " * 40] * 100}, {}, None)
    print("waiting", flush=True)
    time.sleep(600)
import rankwright.text.index.building as building
building.MOST_RUN = 10_000
build_index(batches(), sys.argv[1], append=sys.argv[2] == "append")
"""


@pytest.fixture
def folder(tmp_path):
    build_index(read_documents(DOCUMENTS), tmp_path / "index")
    return tmp_path / "index"


def started(folder: Path, how: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, str(folder), how], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "waiting\n"
    return process


@pytest.mark.parametrize("how", ["anew", "append"])
def test_a_killed_build_leaves_the_old_index(folder, how):
    process = started(folder, how)
    try:
        with pytest.raises(SettingError, match="being built by another process"):
            build_index(read_documents(DOCUMENTS), folder)
        assert open_index(folder, check=True).n_documents == 200  # which can be read meanwhile
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    index = open_index(folder, check=True)
    assert index.ids(top_documents(index, ["number 7"], k=1).ordinals) == ["7"]
    assert any(path.name.startswith(".building-") for path in folder.iterdir())
    assert build_index(read_documents([{"id": "x", "text": "ship"}]), folder, append=True).n_documents == 201
    assert not any(path.name.startswith(".building-") for path in folder.iterdir())


def test_an_open_index_outlives_its_replacement(folder):
    old = open_index(folder)
    build_index(read_documents(DOCUMENTS[:3]), folder)
    assert len(top_documents(old, ["boat"], k=1000).ordinals) == 200
    assert old.stored(np.array([150]))[0]["text"] == DOCUMENTS[150]["text"]
    assert open_index(folder).n_documents == 3
    assert len(list(folder.glob(f"{SEGMENT_PREFIX}*"))) == 1


def test_a_build_that_fails_leaves_nothing_new(folder):
    batch = next(iter(read_documents(DOCUMENTS).batches()))
    with pytest.raises(InputError, match="two documents have the id"):
        build_index([batch, batch], folder)
    assert {path.name for path in folder.iterdir()} == {
        ".lock",
        MANIFEST,
        *(path.name for path in folder.glob(f"{SEGMENT_PREFIX}*")),
    }
    assert open_index(folder).n_documents == 200


@pytest.mark.parametrize("name", [MANIFEST, "posting_documents", "stored_bytes", "counts.0", "id_order"])
def test_damage_is_noticed(folder, name):
    path = next(folder.rglob(name))
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)
    with pytest.raises(ContainerError, match=name):
        open_index(folder)
    path.write_bytes(content[:-1])
    with pytest.raises(ContainerError, match=name):
        open_index(folder)
    path.unlink()
    with pytest.raises((ContainerError, InputError), match=name):
        open_index(folder)


def altered(folder: Path, **changes: object) -> None:
    container = read_container(folder / MANIFEST)
    header = json.loads(json.dumps(container.header)) | changes
    (folder / MANIFEST).write_bytes(Parts(container.kind, header, {}).signed())


def test_later_versions_are_refused_in_one_line(folder):
    altered(folder, layout=2)
    with pytest.raises(ContainerError, match="of version 2; this release reads version 1"):
        open_index(folder)
    altered(folder, layout=1, analyser=open_analyser() | {"rules": 9})
    with pytest.raises(ContainerError, match="by version 9 of the rules"):
        open_index(folder)


def test_names_of_fields_that_no_file_can_hold_are_refused(folder):
    for name in ("\ud800", "a\udfff"):  # half a character, as JSON's escapes may say it
        altered(folder, fields=[[name, "text"]])
        with pytest.raises(ContainerError, match="a field cannot be called") as raised:
            open_index(folder)
        str(raised.value).encode()


def test_an_index_without_documents_is_refused(folder):
    altered(folder, segments=[])
    with pytest.raises(ContainerError, match="and this one 0"):
        open_index(folder)


def test_numbers_of_terms_that_there_are_not_are_told_in_one_line(folder):
    header = read_container(folder / MANIFEST).header
    record = header["segments"][0]["arrays"]["stream_tokens.0"]
    path = folder / header["segments"][0]["name"] / "stream_tokens.0"
    tokens = np.full(record["length"], 2**31, record["dtype"]).tobytes()
    path.write_bytes(tokens)
    record["checksum"] = xxh3_64_hexdigest(tokens)
    altered(folder, segments=header["segments"])
    rows = QueryDocuments(["q"], ["red boat"], np.array([0, 1]), np.array([0]))
    with pytest.raises(ContainerError, match="the parts of the index do not fit together"):
        features_of(open_index(folder), rows, FeatureSpecification([FeatureLine("feedback")]))


def open_analyser() -> dict[str, object]:
    from rankwright.text import Analyser

    return Analyser().to_dict()


def test_what_is_no_index(tmp_path):
    with pytest.raises(InputError, match="is not there"):
        open_index(tmp_path / "none")
    with pytest.raises(InputError, match="is no index"):
        open_index(tmp_path)

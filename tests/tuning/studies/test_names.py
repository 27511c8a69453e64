"""Names of studies, however odd: refused in one line, or a folder of that name and nothing beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rankwright.errors import SettingError
from rankwright.tuning.studies.store import Store

IDENTITY = {"ranker": "lambdamart", "data": "abc"}
REFUSED = {
    "": "is empty",
    "a\0b": "has a null character",
    "s3://bucket/study": "is an address",
    "http://host/study": "is an address",
    "data.txt": "is a file",
    "data.txt/study": "there is no folder data.txt",
    "dangling": "leads nowhere",
    "circle": "leads nowhere",
    "x" * 300: "File name too long",
    "y/" * 5000: "File name too long",
}
ODD = (
    *(
        "-x",
        "--force",
        "-",
        " ",
        "~",
        "*",
        "%s{}",
        "=1+1",
        "a\nb",
        "a\x1b[31mb",
        "a\u202eb",
        "a\udcffb",
        "e\u0301",
        "é",
    ),
    *("<script>alert(1)</script>", "sub/", "sub/../study", "Study", "con", "link", "."),
)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A folder to be in, which has a file, a link to another folder, and links that lead nowhere."""
    (tmp_path / "here" / "other").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    Path("data.txt").write_text("mine")
    for link, target in {"link": "other", "dangling": "nowhere", "circle": "circle"}.items():
        Path(link).symlink_to(target)
    return tmp_path


def files_in(folder: Path) -> set[Path]:
    return {Path(found, name) for found, _, names in os.walk(folder) for name in names}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_name_is_refused(place, name):
    before = files_in(place)
    with pytest.raises((SettingError, OSError), match=REFUSED[name]) as caught:
        Store(name, IDENTITY)
    assert "\n" not in str(caught.value)
    assert files_in(place) == before


@pytest.mark.parametrize("name", [*ODD, "../beside", "absolute"])
def test_odd_names_are_names(place, name):
    name = str(place / name) if name == "absolute" else name
    before = files_in(place)
    store = Store(name, IDENTITY)
    store.close()
    inside = Path(name).resolve()
    assert files_in(place) - before == {inside / "study.json", inside / "claims.lock"}
    assert Path("data.txt").read_text() == "mine"


@pytest.mark.usefixtures("place")
def test_names_that_differ_in_case_are_one_study_or_two():
    """As the file system has it; in no case is one study continued as the other."""
    Store("study", IDENTITY).close()
    if Path("STUDY").exists():
        with pytest.raises(ValueError, match="holds another study"):
            Store("STUDY", IDENTITY | {"data": "other"})
    else:
        Store("STUDY", IDENTITY | {"data": "other"}).close()
    Store("study", IDENTITY).close()

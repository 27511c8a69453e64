"""The quickstart of searching, on a small library of modules."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import rankwright as rw
from rankwright.errors import InputError
from rankwright.experiments.search_quickstart import is_free_or_own, run_search_quickstart
from rankwright.experiments.standard_library import (
    EXACT,
    documented_names,
    known_item_queries,
    standard_library_folder,
)
from rankwright.search.rankers import open_rankers
from rankwright.text import open_index

MODULE = '''"""Reads and writes parcels, which are packets of letters."""
raise SystemExit("this module is never imported")

class Parcel:
    """A packet of letters that can be sent to somebody."""

    def send(self):
        """Send the packet to whoever it is for, by the next train."""
        def inner():
            """Nobody can call this from outside, so it is no document."""

    def _hidden(self):
        """Nobody should call this, so that it is no document either."""

def short():
    """Short."""
'''


@pytest.fixture
def library(tmp_path: Path) -> Path:
    folder = tmp_path / "library"
    for name in ("post/parcels.py", "test/test_post.py", "site-packages/other.py", "not-a-name.py"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(MODULE)
    (folder / "broken.py").write_text("def (:\n")
    (folder / "post/__init__.py").write_text(
        '"""Post: parcels, letters and whatever else is sent by train or ship."""\n'
    )
    return folder


def test_documents_are_read_and_never_run(library):
    names = documented_names(library)
    assert [one.name for one in names] == ["post", "post.parcels", "post.parcels.Parcel", "post.parcels.Parcel.send"]
    assert names[1].links == ("post", "post.parcels.Parcel")
    assert names[2].links == ("post.parcels", "post.parcels.Parcel.send")


def test_a_folder_without_modules_is_refused(tmp_path):
    with pytest.raises(InputError, match="no module with documentation strings"):
        documented_names(tmp_path)


def test_queries_are_made_of_what_they_should_find():
    names = documented_names(standard_library_folder() / "json") + documented_names(standard_library_folder() / "email")
    queries = known_item_queries(names, 50)
    assert queries == known_item_queries(names, 50)
    assert len({one.text for one in queries}) == len(queries) > 20
    body = {one.name: f"{one.name} {one.body}".lower() for one in names}
    found = 0
    for one in queries:
        (meant,) = [name for name, grade in one.grades.items() if grade == EXACT]
        found += all(word in body[meant] for word in one.text.split())
    assert found > len(queries) / 2  # some words are remembered wrongly


def test_the_quickstart_gives_what_a_page_is_opened_with(tmp_path):
    result = run_search_quickstart(tmp_path / "out", standard_library_folder() / "email", n_queries=40)
    index = open_index(tmp_path / "out" / "INDEX")
    assert result.n_documents == index.n_documents > 100
    models = [str(tmp_path / "out" / f"{name}.rw") for name in ("bm25f", "lambdamart")]
    assert [one.name for one in open_rankers(models, index)] == ["bm25f", "lambdamart"]
    assert result.page_command.endswith("--page")
    told = json.loads((tmp_path / "out" / "search.json").read_text())
    assert told["queries"] == {"train": 28, "test": 12}
    assert rw.load(tmp_path / "out" / "lambdamart.rw").trained().features.origin is not None
    assert is_free_or_own(tmp_path / "out")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "queries.tsv").write_text("my own\n")
    assert not is_free_or_own(tmp_path / "mine")

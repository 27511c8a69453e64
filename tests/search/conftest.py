from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import rankwright  # noqa: F401
from tests.search.small_collection import Searchable, make_searchable

from rankwright.search.rankers import open_rankers, plain_ranker
from rankwright.search.session import SearchSession
from rankwright.text import open_index


@pytest.fixture(scope="session")
def searchable(tmp_path_factory: pytest.TempPathFactory) -> Searchable:
    return make_searchable(Path(tmp_path_factory.mktemp("search")))


@pytest.fixture(scope="session")
def session(searchable: Searchable) -> SearchSession:
    index = open_index(searchable.index)
    return SearchSession(index, [*open_rankers([str(searchable.model)], index), plain_ranker(index)], threads=1)

from __future__ import annotations

from pathlib import Path

import pytest
from tests.text.small_index import DOCUMENTS, index_of
from tests.text.test_text_scoring import trained_on

import rankwright as rw
from rankwright.rankers.text_scoring import with_statistics_of
from rankwright.serve.application import RankServer, ServeSettings
from rankwright.web.application import Application

NAMES = ("bm25", "age", "clicks", "length")


@pytest.fixture(scope="session")
def data() -> rw.RankingDataset:
    made = rw.synthetic.web_search(n_queries=60, seed=3)
    return made.with_features(made.features[:, :4].copy(), NAMES, None)


@pytest.fixture(scope="session")
def model_file(data: rw.RankingDataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "web.rw"
    rw.LambdaMART(n_trees=10, max_leaves=6, seed=1).fit(data).save(path)
    return path


@pytest.fixture(scope="session")
def linear_file(data: rw.RankingDataset, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "linear.rw"
    other = data.with_features(data.features[:, :2].copy(), NAMES[:2], None)
    rw.LinearRegression().fit(other).save(path)
    return path


@pytest.fixture(scope="session")
def texts_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that scores texts."""
    folder = tmp_path_factory.mktemp("texts")
    index = index_of(folder / "index", [{"id": one["id"], "body": one["body"]} for one in DOCUMENTS])
    ranker, _ = trained_on(index)
    ranker.trained_ = with_statistics_of(ranker.trained_, index)
    ranker.save(folder / "texts.rw")
    return folder / "texts.rw"


@pytest.fixture(scope="session")
def server(model_file, linear_file) -> RankServer:
    settings = ServeSettings([("web", str(model_file)), ("linear", str(linear_file))], reload_seconds=0)
    return RankServer(settings)


@pytest.fixture(scope="session")
def app(server: RankServer) -> Application:
    return server.application()


@pytest.fixture(scope="session")
def query(data: rw.RankingDataset) -> rw.RankingDataset:
    return data.take_queries([0])

"""A changed file is taken whole or not at all; what is worse, broken or of other features is not taken."""

from __future__ import annotations

import shutil
import socket

import numpy as np
import pytest
from tests.serve.conftest import NAMES

import rankwright as rw
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.reading import hand_over, handed_over
from rankwright.serve.reloading import CheckSample, Reloader
from rankwright.web.metrics import MetricBoard


@pytest.fixture
def served(model_file, tmp_path):
    path = tmp_path / "served.rw"
    shutil.copy(model_file, path)
    shelf, board = ModelShelf([ServedModel.read("web", path)]), MetricBoard()
    made = Reloader(shelf, board)
    board.open()
    return path, shelf, made, board


def reloads(board: MetricBoard) -> dict[str, float]:
    lines = [line for line in board.text().splitlines() if line.startswith("rankwright_reloads_total")]
    return {line.split('outcome="')[1].split('"')[0]: float(line.split()[-1]) for line in lines}


def replaced(path, content: bytes) -> None:
    """Another file in its place, as `save` does it."""
    other = path.with_suffix(".new")
    other.write_bytes(content)
    other.replace(path)


def test_a_better_model_is_taken(served, data, query):
    path, shelf, reloader, board = served
    before = shelf.named(None)
    reloader.look()
    assert shelf.named(None) is before
    new = rw.LambdaMART(n_trees=20, seed=2).fit(data)
    new.save(path)
    reloader.look()
    assert shelf.named(None).version != before.version
    assert np.array_equal(shelf.named(None).scores(query.features), new.predict(query))
    assert np.array_equal(before.scores(query.features), before.trained.predict(query))
    assert reloads(board) == {"taken": 1, "refused": 0}


def test_a_model_is_handed_over_as_it_is(served, query):
    _, shelf, _, _ = served
    model, (ours, theirs) = shelf.named(None), socket.socketpair()
    with ours, theirs:
        for thing in (model, "no arrays"):
            hand_over(theirs, thing)
            found = handed_over(ours)
            assert (found == thing) or np.array_equal(found.scores(query.features), model.scores(query.features))
        theirs.close()
        assert handed_over(ours) is None


def test_half_a_file_is_never_seen(served, model_file):
    path, shelf, reloader, board = served
    before, whole = shelf.named(None), model_file.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"junk" * 99, whole[:-1] + bytes([whole[-1] ^ 1])):
        replaced(path, content)
        reloader.look()
        assert shelf.named(None) is before
    path.unlink()
    reloader.look()
    assert shelf.named(None) is before
    assert reloads(board) == {"taken": 0, "refused": 4}


def test_a_model_of_other_features_is_not_taken(served, data):
    path, shelf, reloader, _ = served
    before = shelf.named(None)
    rw.LambdaMART(n_trees=2).fit(data.with_features(data.features, (*NAMES[:3], "other"), None)).save(path)
    reloader.look()
    assert shelf.named(None) is before


def test_a_model_that_is_worse_on_the_check_sample_is_not_taken(served, data):
    path, shelf, _, _ = served
    before = shelf.named(None)
    board = MetricBoard()
    reloader = Reloader(shelf, board, sample=CheckSample(data, most_lost=0.02))
    board.open()
    upside_down = rw.RankingDataset.from_arrays(
        data.features, data.labels.max() - data.labels, qid=data.qid, feature_names=NAMES
    )
    rw.LambdaMART(n_trees=10).fit(upside_down).save(path)
    reloader.look()
    assert shelf.named(None) is before
    assert reloads(board) == {"taken": 0, "refused": 1}

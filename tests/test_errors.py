from __future__ import annotations

import pickle

import pytest

from rankwright.errors import (
    FileFormatError,
    MissingExtraError,
    RankwrightError,
    SettingError,
    UnknownNameError,
    require,
)

EXAMPLES = [
    FileFormatError("train.txt", "found 'x', wanted a number", line=3),
    MissingExtraError("reading .zst files", "zstandard", "zstd"),
    UnknownNameError("metric", "ndgc", ["ndcg", "map"]),
]


def test_a_file_error_says_where():
    assert str(EXAMPLES[0]) == "train.txt:3: found 'x', wanted a number"


def test_an_unknown_name_suggests_the_nearest_and_lists_all():
    assert str(EXAMPLES[2]) == "unknown metric 'ndgc'; did you mean 'ndcg'? Known: map, ndcg"
    assert str(UnknownNameError("metric", "zzz", ["map"])) == "unknown metric 'zzz'. Known: map"


@pytest.mark.parametrize("error", EXAMPLES, ids=lambda error: type(error).__name__)
def test_errors_travel_between_processes(error):
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), str(copy)) == (type(error), str(error))
    assert isinstance(error, RankwrightError)


def test_require_lets_what_holds_pass():
    require(True, "never said")
    with pytest.raises(SettingError, match="max_leaves must be 2 or more"):
        require(False, "max_leaves must be 2 or more, got 1")

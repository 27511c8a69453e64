from __future__ import annotations

import pickle

import pytest

from rankwright.errors import (
    FileFormatError,
    InputError,
    Message,
    MissingExtraError,
    Parameter,
    RankwrightError,
    SettingError,
    UnknownNameError,
    require,
)

EXAMPLES = [
    FileFormatError("train.txt", "found 'x', wanted a number", line=3),
    MissingExtraError("reading .zst files", "zstandard", "zstd"),
    UnknownNameError("metric", "ndgc", ["ndcg", "map"]),
    InputError(Message("leave out what is text with ", Parameter("drop", ["url", "title"]), ", or rename it")),
    FileFormatError("train.txt", Message("has no query ids; wanted ", Parameter("group")), line=3),
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
    assert (copy.parameter, copy.message.parts) == (error.parameter, error.message.parts)
    assert isinstance(error, RankwrightError)


def test_an_error_knows_the_parameter_it_is_about():
    assert str(EXAMPLES[3]) == "leave out what is text with drop=['url', 'title'], or rename it"
    assert str(EXAMPLES[4]) == "train.txt:3: has no query ids; wanted group="
    assert [error.parameter for error in EXAMPLES] == [None, None, None, "drop", "group"]


def test_a_message_shows_its_parameters_as_it_is_told_to():
    message = EXAMPLES[4].message.shown(lambda parameter: f"<{parameter.name}>")
    assert message == "train.txt:3: has no query ids; wanted <group>"


def test_a_message_of_messages_keeps_their_parameters():
    inner = Message("{found} is infinite; ", Parameter("allow_infinity", True), " lets it in").filled(found="'1:inf'")
    outer = Message("column 'a': ", inner)
    assert outer == "column 'a': '1:inf' is infinite; allow_infinity=True lets it in"
    assert Parameter("allow_infinity", True) in outer.parts


def test_require_lets_what_holds_pass():
    require(True, "never said")
    with pytest.raises(SettingError, match="max_leaves must be 2 or more"):
        require(False, "max_leaves must be 2 or more, got 1")

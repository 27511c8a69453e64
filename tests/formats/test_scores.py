"""Files of scores."""

from __future__ import annotations

import gzip

import numpy as np
import pytest

from rankwright.errors import FileFormatError
from rankwright.formats.scores import read_scores


@pytest.fixture
def scores_file(tmp_path):
    def write(content: bytes):
        path = tmp_path / "scores.txt"
        path.write_bytes(content)
        return path

    return write


@pytest.mark.parametrize(
    "content", [b"1\n-2.5\n3e2\ninf\n", b"1\r\n-2.5\r\n3e2\r\ninf", b" 1 \n-2.5\t\n+3e2\nInfinity\n"]
)
def test_numbers_one_a_line(scores_file, content):
    assert read_scores(scores_file(content)).tolist() == [1.0, -2.5, 300.0, np.inf]


def test_every_bit_of_a_printed_score_comes_back(scores_file):
    scores = np.random.default_rng(0).normal(size=1000)
    content = "".join(f"{score!r}\n" for score in scores.tolist()).encode()
    assert read_scores(scores_file(content)).tolist() == scores.tolist()


def test_compressed_files(tmp_path):
    path = tmp_path / "scores.txt.gz"
    path.write_bytes(gzip.compress(b"1\n2\n"))
    assert read_scores(path).tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b"1\n\n2\n", 2, "a score must be a number, found ''"),
        (b"1\n2\n\n", 3, "a score must be a number, found ''"),
        (b"# scores\n1\n", 1, "found '# scores'"),
        (b"1\n2 3\n", 2, "found '2 3'"),
        (b"1\n2\nnan\n", 3, "found 'nan'"),
        (b"1\n\xff\xfe\n", 2, "is not UTF-8 text"),
    ],
)
def test_anything_else_is_an_error_that_says_where(scores_file, content, line, problem):
    path = scores_file(content)
    with pytest.raises(FileFormatError) as raised:
        read_scores(path)
    assert str(raised.value).startswith(f"{path}:{line}: ")
    assert problem in str(raised.value)


@pytest.mark.parametrize(("content", "found"), [(b"", 0), (b"1\n2\n", 2)])
def test_a_wrong_count_says_both_counts(scores_file, content, found):
    with pytest.raises(FileFormatError, match=f"has {found} scores, but the data has 3 documents"):
        read_scores(scores_file(content), n_docs=3)

"""Every messy thing that real SVMlight files do, and what becomes of it."""

from __future__ import annotations

import gzip
import io
import sys

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.errors import FileFormatError, InputError, SettingError
from rankwright.formats.reading import iterate
from rankwright.formats.reading import read as read_any
from rankwright.formats.svmlight.reader import read_svmlight
from rankwright.formats.svmlight.writer import write_svmlight

NAN = float("nan")


@pytest.fixture
def file_of(tmp_path):
    """A function that writes text to a file and gives its path."""

    def write(text, name="data.txt"):
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return write


@pytest.fixture
def read(file_of):
    """A function that reads text as if it were a file."""
    return lambda text, **settings: read_svmlight(file_of(text), **settings)


def equal(found, expected):
    np.testing.assert_array_equal(found, np.array(expected, np.float32))


def test_a_letor_file(read):
    data = read(
        "2 qid:10 1:0.5 2:1 #docid = GX1 inc = 1 prob = 0.08\n"
        "0 qid:10 1:0.25 2:0 #docid = GX2\n"
        "1 qid:11 1:1e-3 2:-7 #docid = GX3\n"
    )
    equal(data.features, [[0.5, 1], [0.25, 0], [1e-3, -7]])
    equal(data.labels, [2, 0, 1])
    assert data.groups.offsets.tolist() == [0, 2, 3]
    assert data.query_ids.dtype == np.int64
    assert data.query_ids.tolist() == [10, 11]
    assert data.document_ids.tolist() == ["GX1", "GX2", "GX3"]
    assert data.source_rows is None
    assert data.feature_names == ()


MESSY = {
    "carriage returns": "1 qid:1 1:2\r\n0 qid:1 1:3\r\n",
    "tabs": "1\tqid:1\t1:2\n0\tqid:1\t1:3\n",
    "many blanks": "   1   qid:1  1:2   \n\t0 qid:1 1:3 \n",
    "form feeds": "1 qid:1\f1:2\n0 qid:1\v1:3\n",
    "blank lines": "\n\n1 qid:1 1:2\n   \n\t\n0 qid:1 1:3\n\n\n",
    "comment lines": "# a file\n1 qid:1 1:2\n  # 1 qid:9 1:9\n0 qid:1 1:3\n#",
    "no newline at the end": "1 qid:1 1:2\n0 qid:1 1:3",
    "comments that touch": "1 qid:1 1:2#x\n0 qid:1 1:3#",
    "other comments": "1 qid:1 1:2 # doc 7\n0 qid:1 1:3 #docid\n",
    "signs and exponents": "+1 qid:1 1:+0.2E+1\n0e5 qid:1 1:3000e-3\n",
    "leading zeros": "01 qid:1 001:02\n0 qid:1 1:3.000\n",
    "a byte order mark": "\ufeff1 qid:1 1:2\n0 qid:1 1:3\n",
}


@pytest.mark.parametrize("name", MESSY)
def test_the_same_data_in_messy_clothes(read, name):
    data = read(MESSY[name])
    equal(data.features, [[2], [3]])
    equal(data.labels, [1, 0])
    assert data.query_ids.tolist() == [1]
    assert data.document_ids is None


@pytest.mark.parametrize("name", MESSY)
@pytest.mark.parametrize("block_size", [1, 2, 3, 5, 7, 11, 17, 29])
def test_block_boundaries_do_not_matter(read, name, block_size):
    assert read(MESSY[name], block_size=block_size).equals(read(MESSY[name]))


def test_block_boundaries_at_every_place_of_a_longer_file(file_of):
    rng = np.random.default_rng(3)
    lines = ["# head"]
    for row in range(25):
        pairs = " ".join(f"{index}:{rng.normal():.6g}" for index in rng.permutation(12)[: rng.integers(0, 12)] + 1)
        lines.append(f"{row % 3} qid:q{row // 7} {pairs} #docid = D{row}" + "\r" * (row % 2))
    path = file_of("\n".join(lines))
    whole = read_svmlight(path)
    assert whole.n_docs == 25
    for block_size in range(1, path.stat().st_size + 2, 7):
        assert read_svmlight(path, block_size=block_size).equals(whole)


@pytest.mark.parametrize("threads", [1, 2, 7, None])
def test_threads_do_not_matter(file_of, small_data, threads):
    path = file_of("")
    write_svmlight(small_data, path)
    assert read_svmlight(path, threads=threads).equals(small_data)


def test_missing_values_are_nan(read):
    data = read("0 qid:1 1:nan 2:NULL 3:NaN 4:null 5:-nan\nnan qid:1 1:1\nNULL qid:1 1:2\n")
    equal(data.features, [[NAN] * 5, [1, 0, 0, 0, 0], [2, 0, 0, 0, 0]])
    equal(data.labels, [0, NAN, NAN])


def test_an_absent_index_is_zero_or_missing(read):
    text = "0 qid:1 2:5\n1 qid:1\n2 qid:1 4:0\n"
    equal(read(text).features, [[0, 5, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    equal(read(text, absent="missing").features, [[NAN, 5, NAN, NAN], [NAN] * 4, [NAN, NAN, NAN, 0]])


def test_indices_need_no_order(read):
    equal(read("0 qid:1 3:3 1:1 2:2\n").features, [[1, 2, 3]])


def test_infinity_is_read_where_it_is_allowed(read):
    text = "0 qid:1 1:inf 2:-Infinity 3:1e39\n"
    equal(read(text, allow_infinity=True).features, [[np.inf, -np.inf, np.inf]])


def test_labels_are_real_numbers(read):
    equal(read("0.5 qid:1\n3.25e1 qid:1\n1e-3 qid:1\n").labels, [0.5, 32.5, 1e-3])


def test_no_features_at_all(read):
    assert read("1 qid:1\n0 qid:2\n").features.shape == (2, 0)


def test_rows_of_a_query_need_not_be_together(read):
    data = read("0 qid:b 1:1\n1 qid:a 1:2\n2 qid:b 1:3\n3 qid:c 1:4\n4 qid:a 1:5\n")
    assert data.query_ids.tolist() == ["b", "a", "c"]
    equal(data.labels, [0, 2, 1, 4, 3])
    equal(data.in_source_order(data.labels), [0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    ("ids", "expected"),
    [
        (["1", "2"], [1, 2]),
        (["-5", "0"], [-5, 0]),
        (["999999999999999999"], [999999999999999999]),
        (["9999999999999999999"], ["9999999999999999999"]),
        (["1", "x"], ["1", "x"]),
        (["007", "7"], ["007", "7"]),
        (["+7", "7"], ["+7", "7"]),
        (["-0"], ["-0"]),
        (["é:ü", "日本"], ["é:ü", "日本"]),
        (["1.0", "1"], ["1.0", "1"]),
    ],
)
def test_ids_are_numbers_only_where_all_are_written_as_such(read, ids, expected):
    data = read("".join(f"0 qid:{text} 1:1 #docid = {text}\n" for text in ids))
    assert data.query_ids.tolist() == expected
    assert data.document_ids.tolist() == expected


def test_ids_have_one_type_whatever_the_blocks(read):
    text = "".join(f"0 qid:{i} 1:1 #docid = {i}\n" for i in range(50)) + "0 qid:last 1:1\n"
    for block_size in (1, 100, 10_000):
        data = read(text, block_size=block_size)
        assert data.query_ids.tolist() == [*map(str, range(50)), "last"]
        assert data.document_ids.tolist() == [*map(str, range(50)), ""]


def test_the_width_is_the_largest_index_or_what_is_asked_for(read):
    text = "0 qid:1 1:1\n0 qid:1 7:1\n0 qid:2 3:1\n"
    assert read(text).n_features == 7
    assert read(text, block_size=1).equals(read(text))
    wide = read(text, n_features=9, absent="missing")
    equal(wide.features[:, 7:], [[NAN, NAN]] * 3)
    with pytest.raises(FileFormatError, match=r"data\.txt:2: feature index 7 lies beyond n_features=6"):
        read(text, n_features=6)


def test_rows_before_a_wider_one_are_filled_up(read):
    text = "".join(f"0 qid:1 {i}:{i}\n" for i in range(1, 40))
    for absent, filling in (("zero", 0), ("missing", NAN)):
        features = read(text, block_size=20, absent=absent).features
        equal(features, np.where(np.eye(39, dtype=bool), np.arange(1, 40), filling))


def test_files_that_count_from_zero_say_so(read):
    text = "0 qid:1 0:5 2:7\n"
    with pytest.raises(FileFormatError, match=r"data\.txt:1: the feature index of '0:5' is below 1; .* index_base=0"):
        read(text)
    equal(read(text, index_base=0).features, [[5, 0, 7]])


BAD_LINES = {
    "x qid:1 1:1": "the label is 'x'; wanted a number",
    "qid:1 1:1": "the label is 'qid:1'; wanted a number",
    "-1 qid:1 1:1": "the label is '-1'; wanted a finite number, 0 or more",
    "inf qid:1 1:1": "the label is 'inf'; wanted a finite number, 0 or more",
    "0 qid: 1:1": "found 'qid:'; wanted qid:ID",
    "0 qid:1 1": "found '1'; wanted index:value",
    "0 qid:1 a:1": "found 'a:1'; wanted index:value with a whole number as index",
    "0 qid:1 -1:1": "found '-1:1'; wanted index:value with a whole number as index",
    "0 qid:1 1.5:1": "found '1.5:1'; wanted index:value with a whole number as index",
    "0 qid:1 :1": "found ':1'; wanted index:value with a whole number as index",
    "0 1:1 qid:1": "found 'qid:1' among the features; wanted it right after the label, once",
    "0 qid:1 qid:2": "found 'qid:2' among the features; wanted it right after the label, once",
    "0 qid:1 0:1": "the feature index of '0:1' is below 1; wanted indices from 1, or index_base=0",
    "0 qid:1 4000000000:1": "the feature index of '4000000000:1' is too large; wanted 2147483647 at most",
    "0 qid:1 1:": "the value of '1:' is not a number",
    "0 qid:1 1:abc": "the value of '1:abc' is not a number; wanted one with a decimal point",
    "0 qid:1 1:1,5": "the value of '1:1,5' is not a number",
    "0 qid:1 1:1 2:inf": "the value of '2:inf' is infinite as a 32-bit number; wanted a finite one, or allow_infinity",
    "0 qid:1 1:1e39": "the value of '1:1e39' is infinite as a 32-bit number",
    "0 qid:1 1:1 2:1 1:3": "the feature index of '1:3' appears twice in the line; wanted each once",
    "0 1:1": "some lines have a qid and some have none",
    "0 qid:1 1:" + "9" * 50 + "x": "the value of '1:" + "9" * 38 + "…' is not a number",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_an_error_says_where_what_was_found_and_what_was_wanted(read, line):
    text = f"# comment\n\n1 qid:1 1:1\r\n2 qid:1 1:1\n{line}\n1 qid:1 1:1\n"
    for settings in ({}, {"block_size": 10}, {"threads": 1}):
        with pytest.raises(FileFormatError) as caught:
            read(text, **settings)
        assert str(caught.value).endswith(caught.value.problem)
        assert f"data.txt:5: {BAD_LINES[line]}" in str(caught.value)
        assert "\n" not in str(caught.value)


def test_an_id_that_is_not_text_is_an_error(read):
    with pytest.raises(FileFormatError, match=r"data\.txt:2: the id '\\\\xff\\\\xfe' is not UTF-8"):
        read(b"0 qid:1 1:1\n0 qid:\xff\xfe 1:1\n")
    with pytest.raises(FileFormatError, match=r"data\.txt:1: the id 'd\\\\xff' is not UTF-8"):
        read(b"0 qid:1 1:1 #docid = d\xff\n")
    assert read(b"0 qid:1 1:1 # caf\xe9\n").document_ids is None  # other comments may be anything


def test_an_index_that_no_memory_could_hold_is_an_error(read):
    text = "0 qid:1 1:1\n" * 9 + "0 qid:1 2000000000:1\n"
    with pytest.raises(
        FileFormatError, match=r"data\.txt:10: feature index 2000000000 asks for 600\.0 GB for 10 documents"
    ):
        read(text)


@pytest.mark.parametrize("content", ["", "\n\n", "# only\n# comments", "\ufeff"])
def test_a_file_without_documents_is_an_error(read, content):
    with pytest.raises(FileFormatError, match=r"data\.txt: holds no documents; wanted lines of `label qid:ID"):
        read(content)


def test_a_binary_file_is_an_error(read):
    with pytest.raises(FileFormatError, match=r"data\.txt: is a binary file; wanted text"):
        read(bytes(range(256)) * 10)


def test_a_truncated_file_is_an_error(file_of):
    content = gzip.compress(b"".join(b"0 qid:%d 1:%d\n" % (i, i * i) for i in range(5000)))
    path = file_of(content[:-100], "data.txt.gz")
    with pytest.raises(FileFormatError, match=r"data\.txt\.gz: ends in the middle of its \.gz data"):
        read_svmlight(path)


def test_a_line_of_a_gigabyte_is_one_error(file_of):
    path = file_of("0 qid:1 1:1\n0 qid:1 1:1 # ")
    with path.open("r+b") as file:
        file.truncate(1 << 30)
    with pytest.raises(FileFormatError, match=r"data\.txt: is a binary file"):
        read_svmlight(path)
    path = file_of("0 qid:1 1:1\n" * 8000 + "0 qid:1 1:1 # ")
    with path.open("r+b") as file:
        file.truncate(1 << 30)
    with pytest.raises(FileFormatError, match=r"data\.txt:8001: the line has more than 33554432 bytes"):
        read_svmlight(path)


def test_folders_and_missing_files_are_the_systems_errors(tmp_path):
    with pytest.raises(IsADirectoryError):
        read_svmlight(tmp_path)
    with pytest.raises(FileNotFoundError):
        read_svmlight(tmp_path / "missing.txt")


@pytest.mark.parametrize(
    "settings",
    [
        {"absent": "NaN"},
        {"index_base": 2},
        {"n_features": -1},
        {"threads": 0},
        {"block_size": 0},
        {"n_features": 1 << 31},
    ],
)
def test_settings_cannot_hold_nonsense(read, settings):
    with pytest.raises(SettingError, match=next(iter(settings))):
        read("0 qid:1 1:1\n", **settings)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"0 qid:1 1:5\n1 qid:1 x\n")))
    with pytest.raises(FileFormatError, match=r"standard input:2: found 'x'; wanted index:value"):
        read_svmlight("-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"0 qid:1 1:5\n"))))
    equal(read_svmlight("-").features, [[5]])


def test_several_files_are_one_dataset(file_of):
    first = file_of("0 qid:1 1:1\n1 qid:2 1:2\n", "a.txt")
    second = file_of(gzip.compress(b"2 qid:x 3:3\n"), "b.txt.gz")
    data = read_svmlight([first, second])
    equal(data.features, [[1, 0, 0], [2, 0, 0], [0, 0, 3]])
    assert data.qid.tolist() == ["1", "2", "x"]
    with pytest.raises(InputError, match="at least one file"):
        read_svmlight([])


def test_a_query_in_two_files_is_an_error(file_of):
    first = file_of("0 qid:1 1:1\n0 qid:2 1:1\n", "a.txt")
    second = file_of("# b\n0 qid:3 1:1\n1 qid:3 1:1\n0 qid:1 1:1\n", "b.txt")
    with pytest.raises(FileFormatError, match=r"b\.txt:4: query 1 comes back after it had ended; wanted its rows"):
        read_svmlight([first, second])


def test_files_with_and_without_query_ids_do_not_mix(file_of):
    paths = [file_of("0 qid:1 1:1\n", "a.txt"), file_of("0 1:1\n", "b.txt")]
    with pytest.raises(FileFormatError, match=r"b\.txt: some files have query ids and some have none"):
        read_svmlight(paths)


NO_QUERY_IDS = "0 1:1\n1 1:2\n2 1:3\n"


@pytest.mark.parametrize(
    ("name", "query_name"),
    [
        ("rank.train", "rank.train.query"),
        ("rank.train.gz", "rank.train.query"),
        ("rank.train.gz", "rank.train.query.gz"),
        ("rank.train.gz", "rank.train.gz.query"),
        ("rank.train", "rank.train.query.gz"),
    ],
)
def test_sizes_are_found_beside_a_file_without_query_ids(file_of, name, query_name):
    def content(text, path):
        return gzip.compress(text.encode()) if path.endswith(".gz") else text

    file_of(content("1\n\n2\r\n", query_name), query_name)
    data = read_svmlight(file_of(content(NO_QUERY_IDS, name), name))
    assert data.groups.offsets.tolist() == [0, 1, 3]
    assert data.query_ids is None
    equal(data.features, [[1], [2], [3]])


def test_sizes_can_be_given(file_of):
    path = file_of(NO_QUERY_IDS)
    sizes = file_of("2\n1\n", "sizes")
    for group in (sizes, str(sizes), [sizes], [2, 1], np.array([2, 1])):
        assert read_svmlight(path, group=group).groups.offsets.tolist() == [0, 2, 3]
    other = file_of("3\n", "other")
    both = read_svmlight([path, file_of(NO_QUERY_IDS, "more.txt")], group=[sizes, other])
    assert both.groups.offsets.tolist() == [0, 2, 3, 6]


def test_wrong_sizes_are_errors(file_of):
    path = file_of(NO_QUERY_IDS)
    with pytest.raises(
        FileFormatError, match=r"has no query ids; wanted qid:ID after each label, a file data\.txt\.query"
    ):
        read_svmlight(path)
    with pytest.raises(InputError, match="add up to 2 documents, but the data has 3"):
        read_svmlight(path, group=[2])
    with pytest.raises(InputError, match="group sizes must be 1 or more, got 0"):
        read_svmlight(path, group=[3, 0])
    with pytest.raises(FileFormatError, match=r"sizes:2: found '-1'; wanted the number of documents"):
        read_svmlight(path, group=file_of("4\n-1\n", "sizes"))
    for size in (str(2**63), str(2**64 + 3), "9" * 5000):
        with pytest.raises(FileFormatError, match=rf"sizes:1: found '{size[:40]}'; wanted the number of documents"):
            read_svmlight(path, group=file_of(f"{size}\n", "sizes"))
    with pytest.raises(InputError, match="group must hold numbers"):
        read_svmlight(path, group=[2**70])
    with pytest.raises(FileFormatError, match=r"sizes: is empty"):
        read_svmlight(path, group=file_of("\n", "sizes"))
    with pytest.raises(InputError, match="has query ids, so that group must not be given"):
        read_svmlight(file_of("0 qid:1\n", "with.txt"), group=[1])


def test_standard_input_without_query_ids_needs_sizes(monkeypatch):
    for group in (None, [3]):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(NO_QUERY_IDS.encode())))
        if group is None:
            with pytest.raises(FileFormatError, match="standard input: has no query ids; wanted qid:ID"):
                read_svmlight("-", group=group)
        else:
            assert read_svmlight("-", group=group).n_queries == 1


@pytest.mark.slow
def test_one_query_of_two_million_documents(tmp_path):
    n_docs = 2_000_000
    path = tmp_path / "large.txt.gz"
    features = np.arange(n_docs, dtype=np.float32).reshape(-1, 1)
    labels = np.arange(n_docs, dtype=np.float32) % 5
    data = RankingDataset.from_arrays(features, labels, qid=np.full(n_docs, 7))
    write_svmlight(data, path)
    assert read_svmlight(path).equals(data)


THREE_FEATURES = "1 qid:1 1:0.5 3:2\n0 qid:1 2:1\n"


def names_beside(folder, n_names):
    (folder / "data.txt").write_text(THREE_FEATURES)
    (folder / "feature_names.txt").write_text("".join(f"name{number}\n" for number in range(n_names)))
    return folder / "data.txt"


def test_names_that_do_not_fit_are_refused(tmp_path):
    assert read_any(names_beside(tmp_path, 3)).names == ("name0", "name1", "name2")
    for n_names, found in (
        (5, "the last feature is number 3, and there are 5 names"),
        (2, "feature index 3 has no name"),
    ):
        with pytest.raises(FileFormatError, match=found):
            read_any(names_beside(tmp_path, n_names))
        with pytest.raises(FileFormatError, match=found):
            list(iterate(names_beside(tmp_path, n_names)))
        assert read_any(tmp_path / "data.txt", feature_names="none").n_features == 3


def test_names_may_be_more_where_the_number_of_features_is_told(tmp_path):
    assert read_any(names_beside(tmp_path, 5), n_features=5).names[-1] == "name4"
    with pytest.raises(FileFormatError, match="there are 5 names"):
        read_any(tmp_path / "data.txt", n_features=4)


def test_features_of_a_ranker_that_never_occur_are_told(tmp_path, caplog):
    (tmp_path / "data.txt").write_text(THREE_FEATURES)
    assert read_any(tmp_path / "data.txt", n_trained=5).n_features == 5
    told = "features 4 to 5 of the 5 that the ranker was trained on never occur; they count as zero"
    assert caplog.messages == [f"{tmp_path / 'data.txt'}: {told}"]
    with pytest.raises(FileFormatError, match="lies beyond the 2 features that the ranker was trained on"):
        read_any(tmp_path / "data.txt", n_trained=2)

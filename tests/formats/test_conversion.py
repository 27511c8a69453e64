from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import FileFormatError, SettingError, UnknownNameError
from rankwright.formats import parquet
from rankwright.formats.conversion import TREC_SUFFIX_OF, Conversion, convert
from rankwright.formats.file_formats import FORMATS
from rankwright.formats.trec import read_qrels, read_run

ENDINGS = {"svmlight": ".letor", "csv": ".csv", "tsv": ".tsv", "parquet": ".parquet"}


@pytest.fixture
def data(small_data):
    """Forty queries with ids of both kinds, and nothing that some format has no place for."""
    documents = np.array([f"d{row}" for row in range(small_data.n_docs)], np.dtypes.StringDType())
    return rw.RankingDataset.from_arrays(
        small_data.features.round(2), small_data.labels, qid=small_data.qid, document_ids=documents
    )


@pytest.mark.parametrize("target", FORMATS)
@pytest.mark.parametrize("source", FORMATS)
@pytest.mark.parametrize("whole", [False, True])
def test_every_format_becomes_every_other(data, tmp_path, monkeypatch, source, target, whole):
    for name in ("VALUES_READ_AT_ONCE", "VALUES_WRITTEN_AT_ONCE"):
        monkeypatch.setattr(parquet, name, 64)  # so that there are many pieces
    first, second = tmp_path / f"a{ENDINGS[source]}", tmp_path / f"b{ENDINGS[target]}"
    rw.write(data, first)
    done = convert(first, second, whole=whole)
    assert done == Conversion(source, target, data.n_queries, data.n_docs, data.n_features, second.stat().st_size)
    assert rw.read(second).equals(data)


@pytest.mark.parametrize("target", FORMATS)
def test_rows_in_any_order_are_converted_whole_in_that_order(full_data, tmp_path, target):
    rw.write(full_data, tmp_path / "a.csv")
    with pytest.raises(FileFormatError, match=r"a\.csv: query b comes back at row 2 after it had ended"):
        convert(tmp_path / "a.csv", tmp_path / f"b{ENDINGS[target]}")
    assert not (tmp_path / f"b{ENDINGS[target]}").exists()
    if target == "svmlight":
        return  # it cannot hold this data's ids
    convert(tmp_path / "a.csv", tmp_path / f"b{ENDINGS[target]}", whole=True)
    assert rw.read(tmp_path / f"b{ENDINGS[target]}").equals(full_data)


@pytest.mark.parametrize("target", ["csv", "parquet"])
def test_queries_told_apart_by_sizes_get_numbers(tmp_path, target):
    (tmp_path / "a.svm").write_text("1 1:5\n0 2:6\n2 1:7\n")
    (tmp_path / "a.svm.query").write_text("2\n1\n")
    convert(tmp_path / "a.svm", tmp_path / f"b{ENDINGS[target]}", absent="missing")
    back = rw.read(tmp_path / f"b{ENDINGS[target]}")
    assert back.qid.tolist() == [0, 0, 1]
    np.testing.assert_array_equal(back.features, [[5, np.nan], [np.nan, 6], [7, np.nan]])


def test_what_lines_leave_out_is_shared_by_reader_and_writer(tmp_path):
    (tmp_path / "a.svm").write_text("1 qid:1 1:5 2:0\n0 qid:1 2:6\n")
    convert(tmp_path / "a.svm", tmp_path / "b.svm", absent="missing", threads=1)
    assert (tmp_path / "b.svm").read_text() == "1 qid:1 1:5 2:0\n0 qid:1 2:6\n"
    convert(tmp_path / "a.svm", tmp_path / "c.svm")
    assert (tmp_path / "c.svm").read_text() == "1 qid:1 1:5 2:0\n0 qid:1 1:0 2:6\n"


def test_columns_are_read_by_the_names_given_and_written_by_the_usual_ones(tmp_path):
    (tmp_path / "a.csv").write_text("search,url,grade,f\n7,x,1,0.5\n")
    columns = rw.Columns(query="search", label="grade")
    convert(tmp_path / "a.csv", tmp_path / "b.tsv", columns=columns, drop=["url"])
    assert (tmp_path / "b.tsv").read_text() == "qid\tlabel\tf\n7\t1\t0.5\n"


def test_a_dataset_becomes_qrels_and_with_scores_a_run(data, tmp_path):
    rw.write(data, tmp_path / "a.csv")
    scores = np.arange(data.n_docs) / 8
    (tmp_path / "scores").write_text("".join(f"{score}\n" for score in scores))
    convert(tmp_path / "a.csv", tmp_path / "b.qrels.gz")
    qrels = read_qrels(tmp_path / "b.qrels.gz")
    assert qrels.document_ids.tolist() == np.asarray(data.document_ids).tolist()
    np.testing.assert_array_equal(qrels.labels, data.labels)
    convert(tmp_path / "a.csv", tmp_path / "b.run", scores=tmp_path / "scores", tag="mine")
    run = read_run(tmp_path / "b.run")
    score_of = dict(zip(np.asarray(data.document_ids).tolist(), scores, strict=True))
    assert run.scores.tolist() == [score_of[document] for document in run.document_ids.tolist()]
    assert (tmp_path / "b.run").read_text().splitlines()[0].split()[3::2] == ["1", "mine"]


def test_documents_without_ids_are_numbered_through_all_pieces(small_data, tmp_path, monkeypatch):
    for name in ("VALUES_READ_AT_ONCE", "VALUES_WRITTEN_AT_ONCE"):
        monkeypatch.setattr(parquet, name, 64)
    rw.write(small_data, tmp_path / "a.parquet")
    convert(tmp_path / "a.parquet", tmp_path / "b.qrels")
    assert read_qrels(tmp_path / "b.qrels").document_ids.tolist() == [str(row) for row in range(small_data.n_docs)]


@pytest.mark.parametrize("n_scores", [0, 39, 41, 100])
def test_a_run_needs_a_score_for_each_document(tmp_path, n_scores):
    rw.write(rw.RankingDataset.from_arrays(np.zeros((40, 1)), qid=np.arange(40) // 3), tmp_path / "a.csv")
    (tmp_path / "scores").write_text("1\n" * n_scores)
    wanted = "40" if n_scores > 40 else "more"
    with pytest.raises(FileFormatError, match=f"scores: has {n_scores} scores, but the data has {wanted} documents"):
        convert(tmp_path / "a.csv", tmp_path / "b.run", scores=tmp_path / "scores")
    assert not (tmp_path / "b.run").exists()


@pytest.mark.parametrize("name", TREC_SUFFIX_OF)
def test_trec_files_cannot_become_datasets(tmp_path, name):
    with pytest.raises(SettingError, match=f"{name} files hold no features .* read_{name} reads them"):
        convert(tmp_path / "a", tmp_path / "b.csv", source_format=name)


def test_what_does_not_fit_together_is_refused(small_data, tmp_path):
    rw.write(small_data, tmp_path / "a.csv")
    with pytest.raises(SettingError, match="scores and the target format run belong together"):
        convert(tmp_path / "a.csv", tmp_path / "b.run")
    with pytest.raises(SettingError, match="scores and the target format run belong together"):
        convert(tmp_path / "a.csv", tmp_path / "b.csv", scores=tmp_path / "scores")
    with pytest.raises(SettingError, match="converting csv to parquet has no option 'absent'; it has columns"):
        convert(tmp_path / "a.csv", tmp_path / "b.parquet", absent="zero")
    with pytest.raises(
        UnknownNameError, match=r"unknown format 'csw'; did you mean 'csv'\? Known: csv, parquet, qrels"
    ):
        convert(tmp_path / "a.csv", tmp_path / "b", target_format="csw")
    with pytest.raises(SettingError, match="names no format"):
        convert(tmp_path / "a.csv", tmp_path / "b.xyz")
    with pytest.raises(SettingError, match="compresses its columns itself"):
        convert(tmp_path / "a.csv", tmp_path / "b.parquet.gz")


def test_a_file_is_not_converted_into_itself(data, tmp_path):
    rw.write(data, tmp_path / "a.csv")
    before = (tmp_path / "a.csv").read_bytes()
    with pytest.raises(SettingError, match=r"a\.csv is an input, and would be replaced"):
        convert(tmp_path / "a.csv", tmp_path / "a.csv", target_format="tsv")
    assert (tmp_path / "a.csv").read_bytes() == before

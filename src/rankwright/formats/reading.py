"""Datasets read from files in any format: at once, in chunks, or with the features passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.formats.blocks import Reader, errors_name_file
from rankwright.formats.file_formats import check_options, format_named, format_of
from rankwright.formats.pipeline import Documents, TakeRows, must_be_found, read_in_chunks, read_whole, stream_rows
from rankwright.formats.sidecars import read_pairs, read_query_weights, read_scores, with_query_weights
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import Paths, input_name, list_of_paths, spooled
from rankwright.formats.svmlight.files_beside import names_beside


def read(
    source: Paths,
    *,
    format: str | None = None,
    pairs: FilePath | None = None,
    query_weights: FilePath | None = None,
    initial_scores: FilePath | None = None,
    **options: Any,
) -> RankingDataset:
    """Read a dataset from a file, several files, or standard input.

    Parameters
    ----------
    source : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input. Text may be compressed (.gz, .zst).
    format : {"svmlight", "csv", "tsv", "parquet"}, optional
        The format; LETOR files are svmlight. The default finds it by the ending or the beginning of the file.
    pairs : str or path-like, optional
        A file of preferences that belongs to the data; `read_pairs` describes it.
    query_weights : str or path-like, optional
        A file with a line `query weight` for each query.
    initial_scores : str or path-like, optional
        A file of scores that training starts from, one line for each document.
    **options : object
        Options of the format. For svmlight, those of `read_svmlight`: `absent`, `n_features`, `group`, `index_base`,
        `allow_infinity`, `threads`, `block_size`, and `feature_names`: a file with a name for each feature, one a line,
        or a list of them; feature_names.txt beside the data is found by itself, unless this is "none".
        For csv, tsv and parquet, those of `from_frame`: `columns`, `features`, `drop`, `allow_infinity`; and
        `categories`, the columns whose texts are categories, which trees can split on. For csv and
        tsv also `delimiter` (found in the first line by default), `names` (the columns of a file without a header),
        `description` (CatBoost's file of column types) and `threads`.

    Returns
    -------
    RankingDataset
        The documents of all files. Rows may be in any order, but a query must be in one file.

    Raises
    ------
    FileFormatError
        Where a file is not as it should be; the message names file, line or row, what was found and what was wanted.
    SettingError
        Where the format has no such option.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.synthetic.random_polynomial(20)
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(data, f"{folder}/train.csv.gz")
    ...     again = rw.read(f"{folder}/train.csv.gz")
    >>> again.equals(data)
    True
    """
    reader = reader_of(source, format, options)
    with _readable(source, reader) as paths:
        data = read_whole(paths, reader)
    return _with_files_beside(data, pairs, query_weights, initial_scores)


def stream(
    source: Paths,
    take: TakeRows,
    *,
    format: str | None = None,
    pairs: FilePath | None = None,
    query_weights: FilePath | None = None,
    initial_scores: FilePath | None = None,
    **options: Any,
) -> Documents:
    """The documents that `read` reads with the same options, without features; rows with these go to `take`.

    They come a block at a time, in the order of the file.
    """
    reader = reader_of(source, format, options)
    with _readable(source, reader) as paths:
        documents = stream_rows(paths, reader, take)
    return replace(documents, data=_with_files_beside(documents.data, pairs, query_weights, initial_scores))


def iterate(
    source: Paths, *, format: str | None = None, whole: bool = False, **options: Any
) -> Iterator[RankingDataset]:
    """The datasets of whole queries that make up what `read` reads with the same options; with `whole` there is one."""
    reader = reader_of(source, format, options)
    return iter([read_whole(source, reader)]) if whole else read_in_chunks(source, reader)


def read_wide(source: Paths, n_features: int | None, *, format: str | None = None, **options: Any) -> RankingDataset:
    """The dataset of a file that has `n_features` features, though text that leaves out zeros may show fewer.

    None takes the features that the file shows.
    """
    name = format_of(source) if format is None else format
    if n_features is not None and "n_features" in format_named(name).options:
        options["n_features"] = n_features
    return read(source, format=name, **options)


def reader_of(source: Paths, format: str | None, options: Mapping[str, Any]) -> Reader:
    """The reader of the source's format with these options, and with the names of features from a file beside it."""
    name = format_of(source) if format is None else format
    chosen = format_named(name)
    if "feature_names" in chosen.options and options.get("feature_names") is None:
        options = {**options, "feature_names": names_beside(list_of_paths(source))}
    check_options(name, chosen.options, options)
    return chosen.reader(**options)


def _readable(source: Paths, reader: Reader) -> AbstractContextManager[Paths]:
    """The files; a copy of standard input where it is read twice, or not from beginning to end."""
    return spooled(source) if reader.jumps or must_be_found(reader.categories) else nullcontext(source)


def _with_files_beside(
    data: RankingDataset, pairs: FilePath | None, query_weights: FilePath | None, initial_scores: FilePath | None
) -> RankingDataset:
    if pairs is not None:
        with errors_name_file(input_name(pairs)):
            data = data.with_preferences(read_pairs(pairs))
    if query_weights is not None:
        with errors_name_file(input_name(query_weights)):
            data = with_query_weights(data, read_query_weights(query_weights))
    if initial_scores is not None:
        with errors_name_file(input_name(initial_scores)):
            data = data.with_initial_scores(read_scores(initial_scores, n_docs=data.n_docs))
    return data

"""Datasets read from files in any format: at once, in chunks, later, or fold by fold from folders in LETOR's form."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

from rankwright.data.categories import Categories
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.formats.blocks import Reader, errors_name_file
from rankwright.formats.file_formats import FORMATS, TEXT_SUFFIXES, check_options, format_named, format_of
from rankwright.formats.pipeline import (
    Documents,
    TakeFeatures,
    TakeRows,
    begins_sparse,
    read_in_chunks,
    read_whole,
    stream_rows,
)
from rankwright.formats.sidecars import names_beside, read_pairs, read_query_weights, read_scores, with_query_weights
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import (
    COMPRESSIONS,
    Paths,
    input_name,
    is_read_once,
    list_of_paths,
    open_input,
    spooled,
)
from rankwright.formats.svmlight.reader import VALUE_OF_ABSENT

FILES_BESIDE = ("pairs", "query_weights", "initial_scores")  # options of `read` that name other files
PARTS = {"train": ("train", "trainingset"), "vali": ("vali", "valid", "validationset"), "test": ("test", "testset")}
PLAIN_ENDINGS = (*TEXT_SUFFIXES, *(suffix for kind in FORMATS.values() for suffix in kind.suffixes))
ENDINGS = [ending + packed for ending in PLAIN_ENDINGS for packed in ("", *(kind.suffix for kind in COMPRESSIONS))]


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
        or a list of them; feature_names.txt beside the data is found by itself, unless this is "none". `n_trained` is
        how many features a ranker was trained on: like `n_features`, and the log says which of them never occur.
        For csv, tsv and parquet, those of `from_frame`: `columns`, `features`, `drop`, `allow_infinity`, `side`; and
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
    if n_features is not None and "n_trained" in format_named(name).options:
        options["n_trained"] = n_features
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
    return spooled(source) if reader.jumps or reader.seeks_categories else nullcontext(source)


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


class DataFile:
    """A file of documents and how to read it; nothing is read before it is needed.

    Rankers take it in place of a dataset. Those that grow trees then read the file in blocks and never hold its
    feature matrix in memory.

    Parameters
    ----------
    paths : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input.
    format : {"svmlight", "csv", "tsv", "parquet"}, optional
        The format; the default finds it as `read` does.
    **options : object
        The other options of `read`: `pairs`, `query_weights`, `initial_scores`, and those of the format.

    Attributes
    ----------
    paths : tuple of str
        The files.
    format : str or None
        The format, None where it is still to be found.
    options : dict
        The other options.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(rw.synthetic.random_polynomial(20), f"{folder}/train.csv")
    ...     file = rw.DataFile(f"{folder}/train.csv", drop=["1"])
    ...     file.read()
    RankingDataset(20 queries, 1,000 documents, 49 features)
    """

    __slots__ = ("format", "options", "paths")

    def __init__(self, paths: Paths, *, format: str | None = None, **options: Any) -> None:
        self.paths, self.format = tuple(list_of_paths(paths)), format
        self.options: dict[str, Any] = options

    def __repr__(self) -> str:
        options = {} if self.format is None else {"format": self.format}
        options |= self.options
        paths = self.paths[0] if len(self.paths) == 1 else list(self.paths)
        return f"DataFile({', '.join([repr(paths), *(f'{name}={value!r}' for name, value in options.items())])})"

    @property
    def name(self) -> str:
        """What messages call the file."""
        return ", ".join(map(input_name, self.paths))

    def read(self) -> RankingDataset:
        """Read the file.

        Returns
        -------
        RankingDataset
            The dataset that the file holds.
        """
        return read(self.paths, format=self.format, **self.options)

    def iterate(self, *, whole: bool = False) -> Iterator[RankingDataset]:
        """Read the file a few queries at a time.

        Parameters
        ----------
        whole : bool, default False
            Whether to read it at once, so that its rows may have any order.

        Yields
        ------
        RankingDataset
            Some of its queries, in the order of the file.
        """
        yield from iterate(self.paths, format=self.format, whole=whole, **self.options)

    def stream(self, take: TakeFeatures) -> Documents:
        """Read the file without keeping its features.

        Parameters
        ----------
        take : callable
            Gets the features of a block of rows, an array of float32, in the order of the file. The memory of the array
            may be used again afterwards.

        Returns
        -------
        Documents
            Everything else: `data`, a dataset without features, and `feature_names`.
        """
        return self.stream_rows(lambda rows: take(rows.features))

    def stream_rows(self, take: TakeRows) -> Documents:
        """Read the file without keeping its features, and see the rows as they come.

        Parameters
        ----------
        take : callable
            Gets a block of rows, with features and query ids, in the order of the file. The memory of the features may
            be used again afterwards.

        Returns
        -------
        Documents
            As `stream` returns it.
        """
        return stream(self.paths, take, format=self.format, **self.options)

    def begins_sparse(self) -> bool:
        """Tell whether `read` keeps the features sparse, by the first rows of the file.

        Returns
        -------
        bool
            True where these are so wide, and name so few features, that the full matrix would be much larger.
        """
        if any(map(is_read_once, self.paths)):
            return False
        own = {name: value for name, value in self.options.items() if name not in FILES_BESIDE}
        reader = reader_of(self.paths, self.format, own)
        return reader.may_be_sparse(self.paths[0]) and begins_sparse(self.paths, reader)

    def check_readable(self) -> None:
        """Raise an error now if a file that will only be read later cannot be opened."""
        for path in self.paths:
            if not is_read_once(path):
                open_input(path).close()

    @property
    def absent(self) -> float:
        """The value of a feature that a row does not name."""
        return VALUE_OF_ABSENT.get(self.options.get("absent", "zero"), 0.0)  # the reader refuses any other word

    def with_defaults(self, **defaults: Any) -> DataFile:
        """Return the same file, with these options where none were given.

        Parameters
        ----------
        **defaults : object
            Options; those that the format does not have are left out.

        Returns
        -------
        DataFile
            The file with the options; the file itself where there are none to add.
        """
        name = self.format or format_of(self.paths)
        known = format_named(name).options
        chosen = {option: value for option, value in defaults.items() if option in known}
        return DataFile(self.paths, format=name, **(chosen | self.options)) if chosen else self

    def with_categories(self, categories: Categories | None) -> DataFile:
        """Return the same file, with the categories that a model was trained with in place of its own.

        Parameters
        ----------
        categories : mapping of str to tuple of str, or None
            The columns that hold categories, and the texts of each in the order of their codes; None changes nothing.

        Returns
        -------
        DataFile
            The file; texts that are not among the categories are read as missing values. Formats that hold numbers
            alone are taken as coded already.
        """
        name = self.format or format_of(self.paths)
        if not categories or "categories" not in format_named(name).options:
            return self
        return DataFile(self.paths, format=name, **(self.options | {"categories": categories}))

    @contextmanager
    def repeatable(self) -> Iterator[DataFile]:
        """The same file as one that can be read more than once, which standard input and pipes cannot.

        Yields
        ------
        DataFile
            The file itself, or one that reads a temporary copy, which is removed at the end of the block.
        """
        with spooled(self.paths) as paths:
            yield self if tuple(paths) == self.paths else DataFile(paths, format=self.format, **self.options)


def as_data_file(value: Any) -> DataFile | None:
    """`value` as a file where it is one: a `DataFile`, a path, or a list or tuple of paths."""
    if isinstance(value, DataFile):
        return value
    paths = [value] if isinstance(value, str | PathLike) else value
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(p, str | PathLike) for p in paths):
        return None
    return DataFile(paths)


@dataclass(frozen=True, slots=True, eq=False)
class LetorFold:
    """One fold: its name, and its documents to train on, to validate on and to test on."""

    name: str
    train: RankingDataset
    vali: RankingDataset
    test: RankingDataset


def has_folds(folder: str | os.PathLike[str]) -> bool:
    """Whether this is a LETOR folder."""
    return any(path.is_dir() for path in Path(folder).glob("Fold*"))


def fold_folders(folder: str | os.PathLike[str]) -> list[Path]:
    """The folders Fold1, Fold2, … of a LETOR folder, in order."""
    found = sorted(path for path in Path(folder).glob("Fold*") if path.is_dir())
    if not found:
        raise InputError(f"{os.fspath(folder)} has no folders Fold1, Fold2, … with train, vali and test files in each")
    return found


def read_fold(folder: Path, **reading: Any) -> LetorFold:
    """The documents of one fold; `reading` are options of `read`."""
    train = read(_file_of(folder, PARTS["train"]), **reading)
    wide: dict[str, Any] = {"n_features": train.n_features} | reading
    vali, test = (read_wide(_file_of(folder, PARTS[part]), **wide) for part in ("vali", "test"))
    return LetorFold(folder.name, train, vali, test)


def _file_of(folder: Path, names: Sequence[str]) -> Path:
    for path in (folder / f"{name}{ending}" for name in names for ending in ENDINGS):
        if path.exists():
            return path
    raise InputError(f"{folder} has no {names[0]}.txt, nor one that ends in .csv, .tsv, .parquet, .gz or the like")

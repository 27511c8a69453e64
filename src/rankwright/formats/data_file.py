"""Files of documents that are still to be read: what rankers may be given in place of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from rankwright.data.categories import Categories
from rankwright.data.dataset import RankingDataset
from rankwright.formats.file_formats import format_named, format_of
from rankwright.formats.pipeline import Documents, TakeFeatures, TakeRows
from rankwright.formats.reading import iterate, read, stream
from rankwright.formats.storage.streams import Paths, input_names, is_read_once, list_of_paths, open_input, spooled
from rankwright.formats.svmlight.reader import VALUE_OF_ABSENT


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
        return input_names(self.paths)

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

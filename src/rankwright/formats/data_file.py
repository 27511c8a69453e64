"""Files of documents that are still to be read: what rankers may be given in place of a dataset."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from os import PathLike
from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.formats.pipeline import Documents, TakeFeatures
from rankwright.formats.reading import format_named, format_of, read, stream
from rankwright.formats.sources import Paths, input_names, listed, open_input, spooled
from rankwright.formats.svmlight.parser import VALUE_OF_ABSENT


class DataFile:
    """A file, or several that make up one dataset, and how to read it; nothing is read before it is needed.

    The options are those of `read`: `format`, `pairs`, `query_weights` and those of the format's own reader.
    """

    __slots__ = ("format", "options", "paths")

    def __init__(self, paths: Paths, *, format: str | None = None, **options: Any) -> None:
        self.paths, self.format = tuple(listed(paths)), format
        self.options: dict[str, Any] = options

    def __repr__(self) -> str:
        options = {} if self.format is None else {"format": self.format}
        options |= self.options
        paths = self.paths[0] if len(self.paths) == 1 else list(self.paths)
        return f"DataFile({', '.join([repr(paths), *(f'{name}={value!r}' for name, value in options.items())])})"

    @property
    def name(self) -> str:
        """What messages call it."""
        return input_names(self.paths)

    def read(self) -> RankingDataset:
        """The dataset that the file holds."""
        return read(self.paths, format=self.format, **self.options)

    def stream(self, take: TakeFeatures) -> Documents:
        """The documents without their features, which go to `take`, a block of rows at a time in the file's order."""
        return stream(self.paths, take, format=self.format, **self.options)

    def check_readable(self) -> None:
        """Raise where a file cannot be opened: soon, where it will be read late."""
        for path in self.paths:
            open_input(path).close()

    @property
    def absent(self) -> float:
        """What a feature is where a row does not name it."""
        return VALUE_OF_ABSENT.get(self.options.get("absent", "zero"), 0.0)  # the reader refuses any other word

    def with_defaults(self, **defaults: Any) -> DataFile:
        """The same file, read with these options where the format has them and they were not given."""
        name = format_of(self.paths) if self.format is None else self.format
        known = format_named(name).options
        chosen = {option: value for option, value in defaults.items() if option in known}
        return DataFile(self.paths, format=name, **(chosen | self.options))

    @contextmanager
    def repeatable(self) -> Iterator[DataFile]:
        """The same file as one that can be read more than once, as standard input and pipes cannot."""
        with spooled(self.paths) as paths:
            yield DataFile(paths, format=self.format, **self.options)


def as_data_file(value: Any) -> DataFile | None:
    """`value` as a file where it is one: a `DataFile`, a path, or a list or tuple of paths."""
    if isinstance(value, DataFile):
        return value
    paths = [value] if isinstance(value, str | PathLike) else value
    if not isinstance(paths, list | tuple) or not paths or not all(isinstance(p, str | PathLike) for p in paths):
        return None
    return DataFile(paths)

"""Documents to train on, to validate on and to test on, read from files of their own."""

from __future__ import annotations

from typing import NamedTuple

from rankwright.data.dataset import RankingDataset
from rankwright.formats.data_file import DataFile
from rankwright.formats.sources import FilePath


class Parts(NamedTuple):
    """Datasets of the same features; None where no file was given."""

    train: RankingDataset
    valid: RankingDataset | None
    test: RankingDataset | None


def read_parts(
    train: FilePath, valid: FilePath | None = None, test: FilePath | None = None, *, format: str | None = None
) -> Parts:
    """The datasets of the files, all with as many features as `train` has.

    A file that cannot be opened is reported before any is read.
    """
    files = [None if path is None else DataFile(path, format=format) for path in (train, valid, test)]
    for file in files:
        if file is not None:
            file.check_readable()
    assert files[0] is not None
    first = files[0].read()
    others = [None if file is None else file.with_defaults(n_features=first.n_features).read() for file in files[1:]]
    return Parts(first, *others)

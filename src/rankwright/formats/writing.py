"""Datasets written to files in any format."""

from __future__ import annotations

from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.formats.file_formats import check_options, format_named, format_of_name, write_options
from rankwright.formats.storage.places import FilePath


def write(data: RankingDataset, path: FilePath, *, format: str | None = None, **options: Any) -> None:
    """Write a dataset to a file; reading the file gives the same dataset.

    Rows are written in the order they had in the data they came from. What the format has no place for, such as
    preferences, is left out, and the log says so. The file appears complete or not at all.

    Parameters
    ----------
    data : RankingDataset
        What to write.
    path : str or path-like
        Where to write; `-` is standard output. Text whose name ends in .gz or .zst is compressed.
    format : {"svmlight", "csv", "tsv", "parquet"}, optional
        The format; the default is shown by the ending of `path`.
    **options : object
        Options of the format. For svmlight: `absent`, `index_base`, `threads`, as in `write_svmlight`. For the
        others: `columns`, the names to write; for csv and tsv also `delimiter` and `threads`.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.RankingDataset.from_arrays([[0.5], [1.5]], [1, 0], qid=["a", "a"], feature_names=["bm25"])
    >>> with TemporaryDirectory() as folder:
    ...     rw.write(data, Path(folder, "data.csv"))
    ...     print(Path(folder, "data.csv").read_text())
    qid,label,bm25
    a,1,0.5
    a,0,1.5
    <BLANKLINE>
    """
    name = format_of_name(path) if format is None else format
    function = format_named(name).write
    check_options(name, write_options(function), options)
    function(data, path, **options)

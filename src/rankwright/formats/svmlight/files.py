"""SVMlight/LETOR text: `label qid:ID index:value … # comment`, a line for each document; see docs/svmlight.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from rankwright.arrays import thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import require
from rankwright.formats.pipeline import read_in_chunks, read_whole
from rankwright.formats.sources import BLOCK_SIZE, FilePath, Paths, atomic_output
from rankwright.formats.svmlight.formatter import SvmlightStyle, format_lines
from rankwright.formats.svmlight.parser import CHUNK_SIZE, Absent, SvmlightReader
from rankwright.formats.svmlight.query_file import QuerySizes
from rankwright.formats.writing import numbered_chunks
from rankwright.kernels.shared_codes import Omit

OMIT_OF_ABSENT = {"zero": Omit.ZERO, "missing": Omit.MISSING}
# What the format has no place for.
NO_PLACE = {
    "feature_names": "feature names",
    "preferences": "preferences",
    "query_weights": "query weights",
    "document_weights": "document weights",
    "positions": "positions",
    "propensities": "propensities",
    "categories": "the texts of categories (their codes are there)",
}


def read_svmlight(
    paths: Paths,
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: QuerySizes | None = None,
    index_base: int = 1,
    allow_infinity: bool = False,
    threads: int | None = None,
    block_size: int = BLOCK_SIZE,
) -> RankingDataset:
    r"""Read SVMlight or LETOR text files into one dataset.

    A line is a document: `label qid:ID index:value … # comment`. Lines of a query may be in any order within their
    file, and a query must be in one file. Ids are integers where all of them are whole numbers, else strings.
    docs/svmlight.md describes every case.

    Parameters
    ----------
    paths : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input. Text may be compressed (.gz, .zst).
    absent : {"zero", "missing"}, default "zero"
        The value of a feature that a line does not name: 0, or missing.
    n_features : int, optional
        The number of features. The default is the largest index found; give it where a file may not name the last
        features, or to read standard input in chunks.
    group : array-like of int, path or sequence of paths, optional
        The number of documents of each query, or files that hold these numbers, for data without `qid:`. The default
        looks for `.query` files beside the data.
    index_base : {0, 1}, default 1
        The number of the first feature. 0 is for files that count features from 0.
    allow_infinity : bool, default False
        Whether infinite values, and values beyond the range of float32, are accepted.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core. The result is the same for any
        number.
    block_size : int, default 4194304
        How many bytes of text are parsed at a time. The result does not depend on it.

    Returns
    -------
    RankingDataset
        The documents of all files.

    Raises
    ------
    FileFormatError
        Where a file is not as it should be; the message names file, line, what was found and what was wanted.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "train.txt").write_text("2 qid:1 1:0.5 3:1\n0 qid:1 2:0.25\n")
    ...     data = rw.read_svmlight(Path(folder, "train.txt"))
    >>> data.features.tolist()
    [[0.5, 0.0, 1.0], [0.0, 0.25, 0.0]]
    """
    reader = SvmlightReader(absent, n_features, group, index_base, allow_infinity, threads, block_size)
    return read_whole(paths, reader)


def iter_svmlight(
    paths: Paths,
    *,
    absent: Absent = "zero",
    n_features: int | None = None,
    group: QuerySizes | None = None,
    index_base: int = 1,
    allow_infinity: bool = False,
    threads: int | None = None,
    block_size: int = CHUNK_SIZE,
) -> Iterator[RankingDataset]:
    """Read SVMlight or LETOR text files in chunks of whole queries.

    Memory holds a few chunks, however long the files. The rows of a query must be next to each other. Without
    `n_features` the files are read twice, the first time for their width and for whether all ids are whole numbers.
    With it they are read once, and ids are strings.

    Parameters
    ----------
    paths : str, path-like, or a sequence of them
        The file, or the files that make up the dataset; `-` is standard input. Text may be compressed (.gz, .zst).
    absent : {"zero", "missing"}, default "zero"
        The value of a feature that a line does not name: 0, or missing.
    n_features : int, optional
        The number of features. The default is the largest index found; give it where a file may not name the last
        features, or to read standard input in chunks.
    group : array-like of int, path or sequence of paths, optional
        The number of documents of each query, or files that hold these numbers, for data without `qid:`. The default
        looks for `.query` files beside the data.
    index_base : {0, 1}, default 1
        The number of the first feature. 0 is for files that count features from 0.
    allow_infinity : bool, default False
        Whether infinite values, and values beyond the range of float32, are accepted.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core. The result is the same for any
        number.
    block_size : int, default 16777216
        About how many bytes of text make a chunk. A chunk holds one query at least.

    Returns
    -------
    iterator of RankingDataset
        The chunks, in the order of the files. Together they hold what `read_svmlight` reads.

    Examples
    --------
    >>> import rankwright as rw
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.synthetic.random_polynomial(100)
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_svmlight(data, f"{folder}/train.txt")
    ...     chunks = rw.iter_svmlight(f"{folder}/train.txt", block_size=100_000)
    ...     sum(chunk.n_docs for chunk in chunks)
    5000
    """
    reader = SvmlightReader(absent, n_features, group, index_base, allow_infinity, threads, block_size)
    return read_in_chunks(paths, reader)


def write_svmlight(
    data: RankingDataset | Iterable[RankingDataset],
    path: FilePath,
    *,
    absent: Absent | None = None,
    index_base: int = 1,
    threads: int | None = None,
) -> None:
    r"""Write a dataset as SVMlight text; `read_svmlight` gives back the same numbers, bit by bit.

    Rows are written in the order they had in the data they came from. Queries without ids get numbers from 0. The
    format has no place for feature names, preferences, weights and positions: they are left out, and the log says so.
    The file appears complete or not at all.

    Parameters
    ----------
    data : RankingDataset or iterable of RankingDataset
        The dataset, or its chunks one after another.
    path : str or path-like
        Where to write; `-` is standard output. Names that end in .gz or .zst are compressed.
    absent : {"zero", "missing"}, optional
        Which features to leave out to make the file smaller: zeros, or missing values. Read the file with the same
        `absent`. The default writes every feature.
    index_base : {0, 1}, default 1
        The number of the first feature.
    threads : int, optional
        The number of threads; the default is `OMP_NUM_THREADS`, or else every core.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> data = rw.RankingDataset.from_arrays([[0.5, 0.0]], [2], qid=["a"])
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_svmlight(data, Path(folder, "data.txt"), absent="zero")
    ...     Path(folder, "data.txt").read_text()
    '2 qid:a 1:0.5 2:0\n'
    """
    require(absent in (None, *OMIT_OF_ABSENT), f"absent must be 'zero', 'missing' or None, got {absent!r}")
    require(index_base in (0, 1), f"index_base must be 0 or 1, got {index_base!r}")
    style = SvmlightStyle(index_base, OMIT_OF_ABSENT[absent] if absent else Omit.NOTHING, thread_count(threads))
    with atomic_output(path) as output:
        for chunk, n_queries in numbered_chunks(data, path, "SVMlight text", NO_PLACE):
            for lines in format_lines(chunk, style, first_query=n_queries, mark_width=n_queries == 0):
                output.write(lines)

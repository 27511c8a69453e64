"""Files that go with a file of documents: preferences, weights, sizes and columns of queries, scores, feature names.

    pairs     better  worse  [weight  [probability]]     rows of the file of documents, counted from 0
    weights   query   weight
    scores    score                                      a line for each document, in the order of the documents
    columns   query   value…                             a header, then a line for each query, by commas or by tabs
    sizes     number                                     documents of each query, as LightGBM's data.txt.query has them
    names     name                                       a line for each feature, as in feature_names.txt

Other fields are separated by blanks or tabs; CatBoost's files of pairs and group weights have this form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import Float64Array, IntArray, as_vector
from rankwright.data.columns import check_different
from rankwright.data.dataset import RankingDataset
from rankwright.data.preferences import Preferences
from rankwright.errors import FileFormatError, InputError, InputTypeError, Message, Parameter, require_type
from rankwright.formats.lines import LONGEST_QUOTE, csv_rows, is_count, number_in, numbered_fields, text_lines
from rankwright.formats.storage.places import FilePath, beside, is_file, opened
from rankwright.formats.storage.streams import (
    COMPRESSIONS,
    atomic_text_output,
    compression_of_name,
    input_name,
    is_standard,
)

PAIRS_LINE = "better row, worse row, weight (optional), probability (optional)"
WEIGHTS_LINE = "query, weight"
QUERY_SUFFIX = ".query"
FEATURE_NAMES_FILE = "feature_names.txt"  # the name that is looked for beside the data
NO_NAMES = "none"

# The number of documents of each query, or the files that hold these numbers.
QuerySizes: TypeAlias = FilePath | Sequence[FilePath] | ArrayLike
# The names of features, or the file that holds them.
FeatureNames: TypeAlias = FilePath | Sequence[str] | None


def read_pairs(path: FilePath) -> Preferences:
    r"""Read preferences from a file of pairs.

    A line is `better worse`, two rows of the file of documents counted from 0, optionally followed by a weight and a
    probability: `better worse weight probability`. Fields are separated by blanks or tabs, and lines that begin with
    `#` are comments. CatBoost's files of pairs have this form.

    Parameters
    ----------
    path : str or path-like
        The file, compressed or not; `-` is standard input.

    Returns
    -------
    Preferences
        The pairs. `RankingDataset.with_preferences` gives them to a dataset.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pairs").write_text("0 1\n2 1 0.5\n")
    ...     pairs = rw.read_pairs(Path(folder, "pairs"))
    >>> pairs.better.tolist(), pairs.worse.tolist(), pairs.weight.tolist()
    ([0, 2], [1, 1], [1.0, 0.5])
    """
    pairs: list[tuple[int, int, float, float]] = []
    for line, fields in numbered_fields(path, PAIRS_LINE, 2):
        if not (is_count(fields[0]) and is_count(fields[1])):
            found = " ".join(fields[:2])[:LONGEST_QUOTE]
            raise FileFormatError(input_name(path), f"found {found!r}, wanted two row numbers from 0", line)
        weight = number_in(fields[2], "a weight", path, line) if len(fields) > 2 else 1.0
        probability = number_in(fields[3], "a probability", path, line) if len(fields) > 3 else 1.0
        if not (0 <= weight < np.inf and 0 <= probability <= 1):
            wanted = "wanted a weight of 0 or more, and a probability from 0 to 1"
            raise FileFormatError(input_name(path), f"found {' '.join(fields[2:4])!r}, {wanted}", line)
        pairs.append((int(fields[0]), int(fields[1]), probability, weight))
    return Preferences(*zip(*pairs, strict=True))


def write_pairs(data: RankingDataset, path: FilePath) -> None:
    """Write the preferences of a dataset to a file of pairs.

    Parameters
    ----------
    data : RankingDataset
        A dataset with preferences. Rows are numbered as in the data it came from, which is the order that `write`
        keeps.
    path : str or path-like
        Where to write; `-` is standard output.

    Examples
    --------
    >>> import rankwright as rw
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> pairs = rw.Preferences([0], [1], probability=0.75)
    >>> data = rw.RankingDataset.from_arrays([[1.0], [2.0]], group=[2], preferences=pairs)
    >>> with TemporaryDirectory() as folder:
    ...     rw.write_pairs(data, Path(folder, "pairs"))
    ...     Path(folder, "pairs").read_text().split()
    ['0', '1', '1.0', '0.75']
    """
    require_type(data, RankingDataset, "data", "a RankingDataset")
    pairs = data.preferences
    if pairs is None:
        raise InputError("the dataset has no preferences to write")
    source_row = np.arange(data.n_docs) if data.source_rows is None else data.source_rows
    rows = zip(source_row[pairs.better], source_row[pairs.worse], pairs.weight, pairs.probability, strict=True)
    with atomic_text_output(path) as file:
        for better, worse, weight, probability in rows:
            file.write(f"{better}\t{worse}\t{weight}\t{probability}\n")


def read_query_weights(path: FilePath) -> dict[str, float]:
    """The weight of each query in a file of weights."""
    weight_of: dict[str, float] = {}
    for line, fields in numbered_fields(path, WEIGHTS_LINE, 2):
        if fields[0] in weight_of:
            problem = f"query {fields[0]} has a weight already; wanted each query once"
            raise FileFormatError(input_name(path), problem, line)
        weight_of[fields[0]] = number_in(fields[1], "a weight", path, line)
    return weight_of


def with_query_weights(data: RankingDataset, weight_of: Mapping[str, float]) -> RankingDataset:
    """The dataset with a weight for each query; every query must have one."""
    ids = [str(query) for query in (range(data.n_queries) if data.query_ids is None else data.query_ids)]
    missing = [query for query in ids if query not in weight_of]
    if missing:
        raise InputError(f"query {missing[0]} has no weight; wanted one for each of the {data.n_queries} queries")
    return replace(data, query_weights=np.array([weight_of[query] for query in ids], np.float32))


def read_query_columns(path: FilePath) -> dict[str, dict[str, float | str]]:
    """What a file with a header says of queries: by column, by query. The first column has the queries' ids.

    A column of numbers gives numbers; any other gives texts. Empty cells are left out.
    """
    lines = text_lines(path)
    rows = csv_rows(lines, "\t" if lines and "\t" in lines[0] else ",", input_name(path))
    _, header = next(rows, (1, []))
    if len(header) < 2:
        raise FileFormatError(input_name(path), "has no header of query and columns, separated by commas or tabs", 1)
    columns: dict[str, dict[str, float | str]] = {name.strip(): {} for name in header[1:]}
    if len(columns) < len(header) - 1:
        raise FileFormatError(input_name(path), "has two columns of one name; wanted different ones", 1)
    seen: set[str] = set()
    for number, fields in rows:
        if not fields:
            continue
        if len(fields) != len(header):
            raise FileFormatError(input_name(path), f"found {len(fields)} cells, wanted {len(header)}", number)
        if fields[0] in seen:
            raise FileFormatError(input_name(path), f"query {fields[0]} came before; wanted each once", number)
        seen.add(fields[0])
        for name, cell in zip(columns, fields[1:], strict=True):
            if cell.strip():
                columns[name][fields[0]] = cell.strip()
    return {name: _as_numbers(values) for name, values in columns.items()}


def _as_numbers(values: dict[str, float | str]) -> dict[str, float | str]:
    try:
        return {query: float(cell) for query, cell in values.items()}
    except ValueError:
        return values


def read_scores(path: FilePath, *, n_docs: int | None = None) -> Float64Array:
    """The scores in a file, one number a line; there must be `n_docs` of them where that is given."""
    lines = enumerate(text_lines(path), start=1)
    scores = np.fromiter((number_in(line.strip(), "a score", path, number) for number, line in lines), np.float64)
    if n_docs is not None and len(scores) != n_docs:
        raise FileFormatError(input_name(path), f"has {len(scores)} scores, but the data has {n_docs} documents")
    return scores


def group_sizes(paths: Sequence[FilePath], group: QuerySizes | None) -> IntArray:
    """The number of documents of each query of `paths`: from `group`, or else from `.query` files beside them.

    `group` holds the sizes themselves, or names the files that do.
    """
    if group is None:
        return np.concatenate([read_sizes(_file_beside(path)) for path in paths])
    listed = [group] if isinstance(group, str | PathLike) else group
    if isinstance(listed, Sequence) and any(isinstance(item, str | PathLike) for item in listed):
        return np.concatenate([read_sizes(cast(FilePath, path)) for path in listed])
    sizes = as_vector(cast(ArrayLike, group), name="group", dtype=np.int64)
    if len(sizes) and sizes.min() < 1:
        raise InputError(f"group sizes must be 1 or more, got {int(sizes.min())}")
    return sizes


def read_sizes(path: FilePath) -> IntArray:
    """The numbers of a `.query` file."""
    sizes = []
    for line, text in enumerate(text_lines(path), start=1):
        word = text.strip()
        if word and not (is_count(word) and int(word) > 0):
            problem = f"found {word[:LONGEST_QUOTE]!r}; wanted the number of documents of a query"
            raise FileFormatError(input_name(path), problem, line)
        if word:
            sizes.append(int(word))
    if not sizes:
        raise FileFormatError(input_name(path), "is empty; wanted the number of documents of each query")
    return np.array(sizes, dtype=np.int64)


def _file_beside(path: FilePath) -> Path:
    name = fspath(path)
    if is_standard(path):
        problem = Message("has no query ids; wanted qid:ID after each label, or ", Parameter("group"))
        raise FileFormatError(input_name(path), problem)
    compression = compression_of_name(name)
    plain = name if compression is None else name[: -len(compression.suffix)]
    for base in dict.fromkeys((plain, name)):
        for ending in ("", *(kind.suffix for kind in COMPRESSIONS)):
            candidate = Path(f"{base}{QUERY_SUFFIX}{ending}")
            if candidate.exists():
                return candidate
    wanted = f"wanted qid:ID after each label, a file {Path(name).name}{QUERY_SUFFIX} beside it, or "
    raise FileFormatError(name, Message(f"has no query ids; {wanted}", Parameter("group")))


def feature_names_of(names: Any) -> tuple[str, ...]:
    """The names that a caller gives: themselves, or the file that holds them; none for None and for "none"."""
    if names is None or names == NO_NAMES:
        return ()
    if isinstance(names, str | PathLike):
        return read_feature_names(names)
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputTypeError(f"feature_names must be a file, or a list of names, got {type(names).__name__}")
    check_different(names)
    return tuple(names)


def read_feature_names(path: FilePath) -> tuple[str, ...]:
    """The names in a file: one a line, the first for feature 1; lines that are blank at the end do not count."""
    try:
        with opened(path) as file:
            lines = (file.read() or b"").decode("utf-8-sig").rstrip().splitlines()
    except UnicodeDecodeError:
        raise FileFormatError(fspath(path), "is no text; wanted the name of a feature in each line") from None
    names = [line.strip() for line in lines]
    try:
        check_different(names)
    except InputError as error:
        raise FileFormatError(fspath(path), str(error).replace("column", "feature")) from None
    return tuple(names)


def names_beside(paths: Sequence[str]) -> str | None:
    """The file of names in the folder of the first data file, if there is one."""
    if not paths or is_standard(paths[0]):
        return None
    names = beside(paths[0], FEATURE_NAMES_FILE)
    return names if is_file(names) else None

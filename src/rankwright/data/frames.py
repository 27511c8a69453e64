"""Tables of pandas, polars and Arrow, turned into NumPy columns and made from them; results that become such tables.

None of these libraries is imported before it is needed: a table is recognised by the library that its type comes from.
Any other table with Arrow's C stream interface (DuckDB's, for example) is read through pyarrow.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import FEATURE_DTYPE, Float32Array, IdArray, as_features, as_ids
from rankwright.data.categories import Categories, CategoryCodes, category_codes, codes_in, texts_among
from rankwright.data.columns import check_different, how_to_choose_features
from rankwright.data.sparse_rows import SparseRows, stays_sparse
from rankwright.errors import InputError, MissingExtraError, require_type
from rankwright.tables.text import Showable

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

PandasFrame: TypeAlias = "pandas.DataFrame"  # texts, because the libraries are loaded only when they are needed
PandasSeries: TypeAlias = "pandas.Series"
PolarsFrame: TypeAlias = "polars.DataFrame"
ArrowTable: TypeAlias = "pyarrow.Table"


# Columns are copied into a row-major matrix, and out of it, as many rows at a time as stay in the cache.
VALUES_AT_A_TIME = 1 << 19


@dataclass(frozen=True, slots=True)
class Library:
    """How the tables of one library are read; columns are of the library's own type."""

    names: Callable[[Any], list[str]]
    columns: Callable[[Any], list[Any]]
    is_numeric: Callable[[Any], bool]
    numbers: Callable[[Any], NDArray[Any]]  # real numbers, NaN where there is none
    values: Callable[[Any], NDArray[Any]]  # as they are
    is_text: Callable[[Any], bool]  # whether it holds texts or categories
    texts: Callable[[Any], list[Any]]  # Python's own values, None or NaN where there is none
    like: Callable[[Any, NDArray[Any], str], Any] = lambda frame, values, name: values  # noqa: ARG005


@dataclass(frozen=True, slots=True)
class Table:
    """The named columns of a table of any library; `coded` columns are read as the codes of their categories."""

    columns: Mapping[str, Any]
    n_rows: int
    library: Library
    coded: Mapping[str, CategoryCodes] = field(default_factory=dict)
    index: frozenset[str] = frozenset()  # columns that pandas would make a frame's index

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in their order."""
        return tuple(self.columns)

    def numbers(self, name: str) -> NDArray[Any]:
        """The column as real numbers, NaN where a value is missing."""
        self.require_numeric([name])
        return self._numbers(name)

    def _numbers(self, name: str) -> NDArray[Any]:
        return self.coded[name].codes if name in self.coded else self.library.numbers(self.columns[name])

    def with_codes(self, names: Sequence[str]) -> Table:
        """The same table, with texts and categories among these columns read as codes."""
        texts = [name for name in names if self.library.is_text(self.columns[name])]
        codes = {name: category_codes(name, self.library.texts(self.columns[name])) for name in texts}
        return replace(self, coded=codes)

    def with_codes_in(self, categories: Categories) -> Table:
        """The same table, with columns read as the codes of categories that are known."""
        named = {name: known for name, known in categories.items() if name in self.columns}
        codes = {name: codes_in(self.library.texts(self.columns[name]), own) for name, own in named.items()}
        return replace(self, coded=codes)

    def texts(self, name: str) -> set[str]:
        """The texts in a column, each once."""
        return texts_among(self.library.texts(self.columns[name]))

    def categories(self) -> dict[str, tuple[str, ...]] | None:
        """The categories of the coded columns; None where no column is."""
        return {name: column.categories for name, column in self.coded.items()} or None

    def ids(self, name: str) -> IdArray:
        """The column as ids: whole numbers or strings."""
        return as_ids(self.library.values(self.columns[name]), name=f"column {name!r}")

    def require_numeric(self, names: Sequence[str]) -> None:
        """Raise unless all these columns hold numbers; booleans and columns that hold only nulls count as numbers."""
        wrong = [name for name in names if name not in self.coded and not self.library.is_numeric(self.columns[name])]
        if wrong:
            which = f"{'column' if len(wrong) == 1 else 'columns'} {', '.join(map(repr, wrong))}"
            raise InputError(f"{which} must hold numbers; ", how_to_choose_features())

    def matrix(self, names: Sequence[str], out: Float32Array | None = None) -> Float32Array:
        """The columns as a matrix with a row for each document; it is written into `out` where that is given."""
        self.require_numeric(names)
        matrix = np.empty((self.n_rows, len(names)), FEATURE_DTYPE) if out is None else out
        parts = [self._numbers(name) for name in names]
        with np.errstate(over="ignore"):  # numbers beyond float32's range become infinite
            for rows in _row_blocks(matrix):
                for place, part in enumerate(parts):
                    matrix[rows, place] = part[rows]
        return matrix


def table_of(frame: Any) -> Table:
    """The table behind a pandas or polars frame, an Arrow table or batch, or a mapping from names to arrays."""
    library = library_of(frame)
    if library is None and isinstance(frame, Mapping):
        library = MAPPINGS
    elif library is None and hasattr(frame, "__arrow_c_stream__"):
        frame, library = load_package("pyarrow", "reading this table").table(frame), LIBRARIES["pyarrow"]
    if library is None or (not hasattr(type(frame), "columns") and library is not MAPPINGS):
        wanted = "a pandas or polars frame, an Arrow table, or a mapping from names to arrays"
        raise InputError(f"a table must be {wanted}, got {type(frame).__name__}")
    if hasattr(frame, "collect"):
        frame = frame.collect()  # polars' lazy ones
    names, columns = library.names(frame), library.columns(frame)
    check_different(names)
    for name, column in zip(names, columns, strict=True):
        require_type(column, Sized, f"column {name!r}", "a list or an array")
    lengths = sorted({len(column) for column in columns})
    if len(lengths) > 1:
        raise InputError(f"columns must be of equal length, got lengths from {lengths[0]} to {lengths[-1]}")
    index = index_columns(frame.schema) if library is LIBRARIES["pyarrow"] else frozenset()
    return Table(dict(zip(names, columns, strict=True)), lengths[0] if lengths else 0, library, index=index)


def index_columns(schema: Any) -> frozenset[str]:
    """The columns of an Arrow table that hold the index of the pandas frame it was made from, as pandas notes them."""
    try:
        noted = json.loads((schema.metadata or {}).get(b"pandas", b"{}"))["index_columns"]
    except (ValueError, LookupError, TypeError):  # there is no note, or none that pandas wrote
        return frozenset()
    return frozenset(name for name in noted if isinstance(name, str)) if isinstance(noted, list) else frozenset()


def library_of(value: Any) -> Library | None:
    """The library whose table or column `value` is, if it is one."""
    roots = {base.__module__.partition(".")[0] for base in type(value).__mro__}
    return next((library for name, library in LIBRARIES.items() if name in roots), None)


def is_frame(value: Any) -> bool:
    """Whether `value` is a table of a library that we know, or anything else with Arrow's stream interface."""
    if isinstance(value, type):
        return False
    return hasattr(type(value), "columns") if library_of(value) else hasattr(value, "__arrow_c_stream__")


def like_frame(frame: Any, values: NDArray[Any], name: str) -> Any:
    """The values, one a row of the frame, as a column of its library: a pandas Series has the frame's index."""
    library = library_of(frame)
    return values if library is None else library.like(frame, values, name)


def names_are_text(frame: Any) -> bool:
    """Whether the columns of a frame have names of their own; pandas numbers them where they have none."""
    return library_of(frame) is not LIBRARIES["pandas"] or all(isinstance(name, str) for name in frame.columns)


def values_of(values: Any) -> Any:
    """`values` in a form that NumPy takes: columns of other libraries become arrays, all else stays as it is."""
    library = library_of(values)
    if library is None:
        return values
    return library.numbers(values) if library.is_numeric(values) else library.values(values)


def coded_features(
    features: Any, *, absent: str = "zero"
) -> tuple[Float32Array, tuple[str, ...], dict[str, tuple[str, ...]] | None]:
    """The matrix of an array, a sparse matrix or a frame, its column names, and what the codes in it stand for.

    Texts and categories of a frame become codes; `absent` is for sparse matrices, of which large ones stay sparse.
    """
    if isinstance(features, SparseRows):
        return cast(Float32Array, features), (), None
    if not is_frame(features):
        return of_sparse(features, absent) if hasattr(features, "tocsr") else as_features(features), (), None
    table = table_of(features)
    if not names_are_text(features):
        return table.matrix(table.names), (), None
    names = tuple(name for name in table.names if name not in table.index)
    table = table.with_codes(names)
    return table.matrix(names), names, table.categories()


def of_sparse(sparse: Any, absent: str) -> Float32Array:
    """A scipy sparse matrix as features: a full matrix, or where that would be much larger, `SparseRows`.

    Entries that it does not store are 0, or NaN where `absent` is "missing".
    """
    rows = SparseRows.of(sparse, absent)
    return cast(Float32Array, rows) if stays_sparse(rows.shape, len(rows.values)) else rows.dense()


def columns_of_matrix(matrix: Float32Array) -> Float32Array:
    """The columns of `matrix`, each contiguous: its transpose."""
    columns = np.empty(matrix.shape[::-1], matrix.dtype)
    for rows in _row_blocks(matrix):
        columns[:, rows] = matrix[rows].T
    return columns


def _row_blocks(matrix: Float32Array) -> Iterator[slice]:
    n_rows, n_columns = matrix.shape
    rows_at_a_time = max(1, VALUES_AT_A_TIME // max(1, n_columns))
    for start in range(0, n_rows, rows_at_a_time):
        yield slice(start, start + rows_at_a_time)


def pandas_frame(roles: Mapping[str, NDArray[Any]], names: Sequence[str], features: Float32Array) -> PandasFrame:
    """A pandas frame of the roles' columns, then the features."""
    pandas = load_package("pandas", "making a pandas frame")
    left = pandas.DataFrame({name: plain_values(values) for name, values in roles.items()})
    return pandas.concat([left, pandas.DataFrame(features, columns=list(names))], axis=1)


def polars_frame(roles: Mapping[str, NDArray[Any]], names: Sequence[str], features: Float32Array) -> PolarsFrame:
    """A polars frame of the roles' columns, then the features; a missing number is null."""
    polars = load_package("polars", "making a polars frame")
    columns = [*roles.items(), *zip(names, columns_of_matrix(features), strict=True)]
    series = [polars.Series(name, plain_values(values), nan_to_null=True) for name, values in columns]
    frame: PolarsFrame = polars.DataFrame(series)
    return frame


def arrow_table(roles: Mapping[str, NDArray[Any]], names: Sequence[str], features: Float32Array) -> ArrowTable:
    """An Arrow table of the roles' columns, then the features; a missing number is null."""
    arrow = load_package("pyarrow", "making an Arrow table")
    columns = [*roles.values(), *columns_of_matrix(features)]
    arrays = [arrow.array(plain_values(values), from_pandas=True) for values in columns]
    return arrow.Table.from_arrays(arrays, names=[*roles, *names])


def frame_of(columns: Mapping[str, Any]) -> PandasFrame:
    """A frame of these columns: of pandas, or of polars where that alone is installed."""
    for package in ("pandas", "polars"):
        try:
            return import_module(package).DataFrame(dict(columns))
        except ModuleNotFoundError as error:
            if error.name != package:
                raise
    raise MissingExtraError("a frame", "pandas", "frames")


def load_package(package: str, purpose: str) -> Any:
    """The package, or an error that says how to install it."""
    try:
        return import_module(package)
    except ModuleNotFoundError:
        raise MissingExtraError(purpose, package, "frames") from None


def plain_values(values: NDArray[Any]) -> Any:
    """Values in a form that every library takes: NumPy's variable-width strings become a list."""
    return values.tolist() if values.dtype.kind == "T" else values


def _is_number(value: object) -> bool:
    return value is None or isinstance(value, int | float | np.number | np.bool_)


def _numbers_of_objects(values: NDArray[Any]) -> NDArray[Any]:
    return np.array([np.nan if value is None else value for value in values], np.float64)


def _pandas_is_numeric(series: Any) -> bool:
    types = import_module("pandas.api.types")
    if series.dtype == object:
        return all(map(_is_number, series))
    return bool(types.is_numeric_dtype(series.dtype)) and not types.is_complex_dtype(series.dtype)


def _pandas_numbers(series: Any) -> NDArray[Any]:
    if series.dtype == object:
        return _numbers_of_objects(series.to_numpy())
    if series.dtype.kind in "iuf" and isinstance(series.dtype, np.dtype):
        return series.to_numpy()  # type: ignore[no-any-return]
    return series.to_numpy(dtype=np.float64, na_value=np.nan)  # type: ignore[no-any-return]


def _pandas_is_text(series: Any) -> bool:
    if str(series.dtype) in ("category", "string", "str"):
        return True
    return series.dtype == object and any(isinstance(value, str) for value in series)


def _arrow_is(column: Any, *kinds: str) -> bool:
    types = import_module("pyarrow.types")
    return any(getattr(types, f"is_{kind}")(column.type) for kind in kinds)


def _array_is_text(values: Any) -> bool:
    array = _array_of(values)
    return array.dtype.kind in "UT" or (array.dtype.kind == "O" and any(isinstance(value, str) for value in array))


def _polars_numbers(series: Any) -> NDArray[Any]:
    exact = series.dtype.is_integer() and not series.has_nulls()
    return (series if exact else series.cast(float)).to_numpy()  # type: ignore[no-any-return]


def _arrow_numbers(column: Any) -> NDArray[Any]:
    if _arrow_is(column, "boolean"):
        column = column.cast("int8")
    exact = _arrow_is(column, "floating") or (_arrow_is(column, "integer") and column.null_count == 0)
    return np.asarray((column if exact else column.cast("float64", safe=False)).to_numpy(zero_copy_only=False))


def _array_of(values: Any) -> NDArray[Any]:
    return np.asarray(values_of(values))


def _array_is_numeric(values: Any) -> bool:
    array = _array_of(values)
    return array.dtype.kind in "biuf" or (array.dtype.kind == "O" and all(map(_is_number, array)))


def _array_numbers(values: Any) -> NDArray[Any]:
    array = _array_of(values)
    return _numbers_of_objects(array) if array.dtype.kind == "O" else array


LIBRARIES: Mapping[str, Library] = {
    "pandas": Library(
        names=lambda frame: [str(name) for name in frame.columns],
        columns=lambda frame: [frame.iloc[:, place] for place in range(frame.shape[1])],
        is_numeric=_pandas_is_numeric,
        numbers=_pandas_numbers,
        values=lambda series: series.to_numpy(),
        is_text=_pandas_is_text,
        texts=lambda series: series.astype(object).tolist(),
        like=lambda frame, values, name: import_module("pandas").Series(values, index=frame.index, name=name),
    ),
    "polars": Library(
        names=lambda frame: list(frame.columns),
        columns=lambda frame: frame.get_columns(),
        is_numeric=lambda series: bool(series.dtype.is_numeric()) or str(series.dtype) in ("Boolean", "Null"),
        numbers=_polars_numbers,
        values=lambda series: series.to_numpy(),
        is_text=lambda series: str(series.dtype).partition("(")[0] in ("String", "Utf8", "Categorical", "Enum"),
        texts=lambda series: series.to_list(),
        like=lambda frame, values, name: import_module("polars").Series(name, values),  # noqa: ARG005
    ),
    "pyarrow": Library(
        names=lambda table: list(table.schema.names),
        columns=lambda table: list(table.columns),
        is_numeric=lambda column: _arrow_is(column, "integer", "floating", "boolean", "decimal", "null"),
        numbers=_arrow_numbers,
        values=lambda column: np.asarray(
            column.to_pylist() if column.null_count else column.to_numpy(False), object if column.null_count else None
        ),
        is_text=lambda column: _arrow_is(column, "string", "large_string", "dictionary"),
        texts=lambda column: column.to_pylist(),
    ),
}
MAPPINGS = Library(
    names=lambda mapping: [str(name) for name in mapping],
    columns=lambda mapping: list(mapping.values()),
    is_numeric=_array_is_numeric,
    numbers=_array_numbers,
    values=_array_of,
    is_text=_array_is_text,
    texts=lambda values: _array_of(values).tolist(),
)


class Tabular:
    """A result that is a table: notebooks draw it, `repr` prints it, and `to_frame` gives it as a frame."""

    __slots__ = ()

    @abstractmethod
    def shown(self) -> Showable:
        """Return the table as people read it.

        Returns
        -------
        ShownTable or ShownTables
            Its `text`, `markdown` and `html`.
        """

    @abstractmethod
    def columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the numbers behind the table.

        Returns
        -------
        mapping of str to sequence
            Columns by name, all of the same length.
        """

    def to_frame(self) -> PandasFrame:
        """Return the numbers behind the table as a frame.

        Returns
        -------
        pandas.DataFrame, or polars.DataFrame where pandas is not installed
            One row for each row of `columns`.
        """
        return frame_of(self.columns())

    def __str__(self) -> str:
        return self.shown().text()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.shown().html()

    def __dir__(self) -> list[str]:
        return visible(super().__dir__())


def visible(names: Any) -> list[str]:
    """The names that a user looks for: no internals, which begin with an underscore."""
    return [name for name in names if not name.startswith("_") or name.startswith("__")]

"""Numbers that Python and the kernels exchange, by name; the C++ headers have the same."""

from __future__ import annotations

from enum import IntEnum


class SvmlightProblem(IntEnum):
    """What can be wrong with a line of SVMlight text."""

    NONE = 0
    LABEL_NOT_A_NUMBER = 1
    LABEL_OUT_OF_RANGE = 2
    QUERY_ID_EMPTY = 3
    PAIR_WITHOUT_COLON = 4
    INDEX_NOT_A_NUMBER = 5
    INDEX_TOO_LARGE = 6
    INDEX_BELOW_BASE = 7
    VALUE_NOT_A_NUMBER = 8
    VALUE_INFINITE = 9
    INDEX_REPEATED = 10


LARGEST_FEATURE_INDEX = 2_147_483_647  # beyond it an index is refused, whatever the matrix could hold


class Omit(IntEnum):
    """Values that a written line leaves out because the reader puts them back."""

    NOTHING = 0
    ZERO = 1
    MISSING = 2


class CellProblem(IntEnum):
    """What can be wrong with a cell of CSV text."""

    NONE = 0
    WRONG_COUNT = 1  # of cells in the row
    NO_NUMBER = 2
    BAD_QUOTE = 3  # one that does not close, or closes before the cell's end


class JsonProblem(IntEnum):
    """What can be wrong with documents' features in JSON."""

    NONE = 0
    NOT_JSON = 1
    NOT_A_NUMBER = 2
    NUMBER_TOO_LARGE = 3  # for float32
    WRONG_WIDTH = 4  # of a row
    UNKNOWN_FEATURE = 5
    MISSING_FEATURE = 6
    REPEATED_FEATURE = 7
    TOO_MANY_ROWS = 8  # for the room given
    UNEVEN_COLUMNS = 9
    ESCAPED_NAME = 10  # which only another reader can read


class JsonShape(IntEnum):
    """How documents' features are written in JSON."""

    NONE = 0  # no member has features
    ROWS = 1
    COLUMNS = 2
    DOCUMENTS = 3

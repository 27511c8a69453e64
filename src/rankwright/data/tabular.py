"""What results share in notebooks: they print as a table, and become a frame."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankwright.data.frames import frame_of
from rankwright.tables.text import Showable

if TYPE_CHECKING:
    from rankwright.data.frames import PandasFrame


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

"""A closer look at a comparison: on slices of the queries, and at the lists of two systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.metrics.comparison.diff import RankingDiff
    from rankwright.metrics.comparison.slice_comparison import SliceComparison
    from rankwright.metrics.comparison.system_comparison import SystemComparison

TOP = 20


def separated(text: str) -> list[str]:
    """The parts of a text that are separated by commas."""
    return [part.strip() for part in text.split(",") if part.strip()]


@dataclass(frozen=True, slots=True)
class CloserLook:
    """What the options ask for: names to slice by, a file of columns, and two systems."""

    names: tuple[str, ...] = ()
    file: str | None = None
    systems: tuple[str, str] | None = None
    top: int = TOP

    @classmethod
    def asked(cls, names: str | None, file: str | None, diff: str | None, top: int | None) -> CloserLook:
        """The look that the texts of the options ask for."""
        require(diff is not None or top is None, "--top goes with --diff")
        pair = None if diff is None else separated(diff)
        if pair is not None and len(pair) != 2:
            raise SettingError(f"--diff takes the names of two systems, A,B, got {diff!r}")
        by = () if names is None else tuple(separated(names))
        require(names is None or bool(by), "--slice names nothing to slice by")
        return cls(by, file, None if pair is None else (pair[0], pair[1]), TOP if top is None else top)

    def at(self, comparison: SystemComparison) -> dict[str, SliceComparison | RankingDiff]:
        """What is seen in a comparison, by its name in JSON."""
        seen: dict[str, Any] = {}
        if self.names or self.file is not None:
            seen["slices"] = comparison.slice_by(self._columns())
        if self.systems is not None:
            seen["diff"] = comparison.diff(*self.systems, self.top)
        return seen

    def _columns(self) -> dict[str, Any]:
        """The names, with values for those that are columns of the file; without names, all its columns."""
        if self.file is None:
            return dict.fromkeys(self.names)
        from rankwright.formats.sidecars import read_query_columns

        columns = read_query_columns(self.file)
        return {name: columns.get(name) for name in self.names} if self.names else dict(columns)

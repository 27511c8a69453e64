"""CatBoost's column descriptions (.cd): which column of a file without a header has which role.

    0   Auxiliary
    1   GroupId
    2   Label
    5   Num     clicks

Columns are counted from 0; one that is not described holds a number. The third field, a feature's name, may be absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rankwright.data.columns import Columns
from rankwright.errors import FileFormatError, InputError
from rankwright.formats.lines import LONGEST_QUOTE, is_count, numbered_fields
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import input_name

FEATURE, LEFT_OUT = "feature", "left out"
ROLE_OF_TYPE: Mapping[str, str] = {
    "Label": "label",
    "Target": "label",
    "GroupId": "query",
    "QueryId": "query",
    "SampleId": "document",
    "DocId": "document",
    "GroupWeight": "query_weight",
    "Weight": "document_weight",
    "Num": FEATURE,
    "Auxiliary": LEFT_OUT,
    "SubgroupId": LEFT_OUT,
    "Timestamp": LEFT_OUT,
}


@dataclass(frozen=True, slots=True)
class ColumnDescription:
    """The role of every column that is described, and the names of those that have one."""

    role_of: Mapping[int, str]
    name_of: Mapping[int, str]

    def names(self, n_columns: int) -> list[str]:
        """A name for each column of a file; unnamed features are numbered from 1."""
        last = max(self.role_of)
        if last >= n_columns:
            raise InputError(f"the description speaks of column {last}, but there are {n_columns}, counted from 0")
        names, n_features = [], 0
        for column in range(n_columns):
            role = self.role_of.get(column, FEATURE)
            n_features += role == FEATURE
            unnamed = str(n_features) if role == FEATURE else f"column {column}"
            names.append(self.name_of.get(column, unnamed))
        return names

    def columns(self, names: list[str]) -> Columns:
        """The names of the columns that have a role."""
        special = {role: names[column] for column, role in self.role_of.items() if role not in (FEATURE, LEFT_OUT)}
        return Columns(**special)

    def left_out(self, names: list[str]) -> list[str]:
        """The names of the columns that are not read."""
        return [names[column] for column, role in self.role_of.items() if role == LEFT_OUT]


def read_column_description(path: FilePath) -> ColumnDescription:
    """The columns a CatBoost description file describes."""
    role_of: dict[int, str] = {}
    name_of: dict[int, str] = {}
    for line, fields in numbered_fields(path, "column, type, name (optional)", 2):
        if not is_count(fields[0]):
            found = fields[0][:LONGEST_QUOTE]
            raise FileFormatError(input_name(path), f"a column must be a number from 0, found {found!r}", line)
        column, role = int(fields[0]), ROLE_OF_TYPE.get(fields[1])
        if role is None:
            known = ", ".join(ROLE_OF_TYPE)
            raise FileFormatError(
                input_name(path),
                f"columns of type {fields[1]!r} cannot be read; wanted one of {known} (Auxiliary leaves one out)",
                line,
            )
        if column in role_of or (role not in (FEATURE, LEFT_OUT) and role in role_of.values()):
            raise FileFormatError(input_name(path), f"column {column} or its type {fields[1]} is described twice", line)
        role_of[column] = role
        if len(fields) > 2:
            name_of[column] = " ".join(fields[2:])
    return ColumnDescription(role_of, name_of)

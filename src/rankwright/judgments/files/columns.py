"""Which column of a table says what: by its usual names, or by the name that the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rankwright.errors import FileFormatError, Message, Parameter, UnknownNameError, folded_name

# The names under which tools write each part of a judgment.
ROLES: Mapping[str, tuple[str, ...]] = {
    "query": ("query", "qid", "query_id", "query_text"),
    "document": ("document", "docid", "doc_id", "document_id", "doc"),
    "rater": ("rater", "judge", "user", "user_email", "annotator", "worker", "rater_id"),
    "kind": ("kind",),
    "grade": ("grade", "rating", "label", "relevance"),
    "other": ("other", "other_document"),
    "preference": ("preference",),
    "error": ("error", "standard_error"),
    "time": ("time", "timestamp"),
    "comment": ("comment", "explanation"),
}


@dataclass(frozen=True, slots=True)
class HowToRead:
    """What a caller says of a file of judgments.

    `rater` is who judged where no column tells, `models` are raters that are language models, and `columns` are the
    names of columns by their roles, where they are not the usual ones.
    """

    rater: str
    models: frozenset[str] = frozenset()
    columns: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for role in self.columns:
            if role not in ROLES:
                raise UnknownNameError("part of a judgment", role, known=ROLES)

    def roles_of(self, names: Sequence[str], path: str) -> dict[str, str]:
        """The column of each part of a judgment, among columns of these names."""
        found: dict[str, str] = {}
        folded = {folded_name(name): name for name in reversed(names)}
        for role, usual in ROLES.items():
            wanted = self.columns.get(role)
            if wanted is not None and wanted not in names:
                raise FileFormatError(path, f"there is no column {wanted!r}: found {', '.join(names)[:200]}")
            own = wanted or next((folded[one] for one in map(folded_name, usual) if one in folded), None)
            if own is not None:
                found[role] = own
        missing = [role for role in ("query", "document") if role not in found]
        if missing or not found.keys() & {"grade", "other"}:
            wanted = "query, document and grade, or query, document and other"
            found_names = ", ".join(names)[:200]
            how = Parameter("column", "grade=NAME", python="columns={'grade': 'NAME'}")
            told = f"found the columns {found_names}; wanted {wanted}; name one that is called otherwise with "
            raise FileFormatError(path, Message(told, how))
        return found

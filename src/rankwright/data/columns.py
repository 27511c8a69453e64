"""Which column of a table plays which part.

A column's role is one of `ROLES`; every other column is a feature. A role that was not named is looked for under its
usual names, in upper or lower case and with words separated by `_`, `-`, a blank or nothing: `qid`, `Query ID`,
`GroupId`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rankwright.errors import InputError, Message, Parameter, folded_name, require

# The usual names of each role; tables are written with the first.
USUAL_NAMES: Mapping[str, tuple[str, ...]] = {
    "query": ("qid", "query_id", "query", "group_id", "group"),
    "label": ("label", "relevance", "rel", "grade", "judgment", "judgement", "target"),
    "document": ("document_id", "doc_id", "docno", "document", "doc"),
    "query_weight": ("query_weight", "group_weight"),
    "document_weight": ("document_weight", "doc_weight", "sample_weight"),
    "position": ("position",),
    "propensity": ("propensity",),
}
ROLES = tuple(USUAL_NAMES)


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns of a table that are not features.

    A role left at None is looked for under its usual names (docs/data.md lists them); when a table is written, the
    column gets the first of them. A role that is named must be in the table. Only the query column is required.

    Parameters
    ----------
    query : str, optional
        The column of query ids. Usual names: qid, query_id, query, group_id, group.
    label : str, optional
        The column of relevance labels. Usual names: label, relevance, rel, grade, judgment, target.
    document : str, optional
        The column of document ids. Usual names: document_id, doc_id, docno, document, doc.
    query_weight : str, optional
        The column of query weights, the same in all rows of a query. Usual names: query_weight, group_weight.
    document_weight : str, optional
        The column of document weights. Usual names: document_weight, doc_weight, sample_weight.
    position : str, optional
        The column of positions in a click log, counted from 0. Usual name: position.
    propensity : str, optional
        The column that tells how likely each document was examined where it was shown, above 0 and at most 1. Usual
        name: propensity.

    Examples
    --------
    >>> import rankwright as rw
    >>> table = {"topic": [1, 1, 2], "stars": [0, 3, 1], "bm25": [0.2, 0.9, 0.4]}
    >>> rw.from_frame(table, rw.Columns(query="topic", label="stars")).feature_names
    ('bm25',)
    """

    query: str | None = None
    label: str | None = None
    document: str | None = None
    query_weight: str | None = None
    document_weight: str | None = None
    position: str | None = None
    propensity: str | None = None

    def __post_init__(self) -> None:
        counts = Counter(name for name in map(self.given, ROLES) if name is not None)
        for name, count in counts.items():
            require(count == 1, f"column {name!r} cannot have {count} roles")
            require(name != "", "a column's name must not be empty")

    def given(self, role: str) -> str | None:
        """The column that was named for a role.

        Parameters
        ----------
        role : {"query", "label", "document", "query_weight", "document_weight", "position", "propensity"}
            The role.

        Returns
        -------
        str or None
            Its column's name, None where none was given.
        """
        name: str | None = getattr(self, role)
        return name

    def written(self, role: str) -> str:
        """The name under which the column of a role is written.

        Parameters
        ----------
        role : {"query", "label", "document", "query_weight", "document_weight", "position", "propensity"}
            The role.

        Returns
        -------
        str
            The name that was given, or else the first usual one.
        """
        return self.given(role) or USUAL_NAMES[role][0]


@dataclass(frozen=True, slots=True)
class TableLayout:
    """The columns of a table: the column of each role, None where there is none, and the features in order."""

    query: str
    label: str | None
    document: str | None
    query_weight: str | None
    document_weight: str | None
    position: str | None
    propensity: str | None
    features: tuple[str, ...]
    side: tuple[str, ...] = ()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the features; none where they are the numbers from 1, as unnamed features are written."""
        numbers = tuple(str(number) for number in range(1, len(self.features) + 1))
        return () if self.features == numbers else self.features

    def only_queries(self) -> TableLayout:
        """The layout of the query column alone."""
        return TableLayout(self.query, None, None, None, None, None, None, ())

    @property
    def used(self) -> tuple[str, ...]:
        """Every column that is read, roles first."""
        roles = (name for name in (getattr(self, role) for role in ROLES) if name is not None)
        return tuple(dict.fromkeys((*roles, *self.features, *self.side)))


def find_layout(
    names: Sequence[str],
    columns: Columns | None = None,
    *,
    features: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    categories: Collection[str] = (),
    index: Collection[str] = (),
    side: Sequence[str] = (),
) -> TableLayout:
    """The layout of a table with columns `names`.

    Columns in `drop` are left out, and so are those of an `index` that have no role. Where `features` are given, only
    those are features, in that order, and they have no other role; columns without a role are then left out. Those in
    `categories` must be features. Columns in `side` are features only where `features` names them too.
    """
    columns = columns or Columns()
    check_different(names)
    _check_mentioned(names, columns, features, drop)
    _check_mentioned(names, columns, side, drop)
    mentioned = {*drop, *side, *(features or ())}
    open_names = [name for name in names if name not in mentioned]
    column_of = {role: columns.given(role) or _usual_column(role, open_names, columns) for role in ROLES}
    if column_of["query"] is None:
        wanted = f"wanted {' or '.join(USUAL_NAMES['query'])}, or a name given as "
        raise InputError(f"there is no query column: found {quoted_list(names)}; {wanted}", column_parameter("query"))
    if features is None:
        taken = set(column_of.values())
        features = [name for name in open_names if name not in taken and name not in index]
    _check_categories(names, features, categories)
    return TableLayout(**column_of, features=tuple(features), side=tuple(side))  # type: ignore[arg-type]  # the query's name was checked


def column_parameter(role: str) -> Parameter:
    """The parameter that names the column of a role, for messages."""
    return Parameter(role, "NAME", python=f"Columns({role}=…)")


def how_to_choose_features(texts: Sequence[str] | None = None) -> Message:
    """Advice for a table in which columns of text, perhaps `texts`, stand among the features."""
    chosen = "leave out what is no feature with ", Parameter("drop", texts), ", choose with ", Parameter("features")
    return Message(*chosen, ", or name in ", Parameter("categories"), " what trees should take as categories")


def check_written_names(feature_names: Sequence[str], columns: Columns) -> None:
    """Raise an error where the column of a feature would be read back as that of a role."""
    for role in ROLES:
        given = columns.given(role)
        taken = {folded_name(name) for name in USUAL_NAMES[role]} if given is None else {given}
        clashing = [name for name in feature_names if (name if given else folded_name(name)) in taken]
        if clashing:
            told = f"a feature called {clashing[0]!r} would be read back as the {role} column; "
            raise InputError(told, "rename it, or name that column otherwise with ", column_parameter(role))


def check_different(names: Sequence[str]) -> None:
    """Raise an error where a column has no name, or two have the same."""
    repeated = [name for name, count in Counter(names).items() if count > 1 and name]
    if repeated:
        raise InputError(f"columns must have different names, but there are several called {quoted_list(repeated)}")
    if "" in names:
        place = list(names).index("") + 1
        hint = "; is it the index of pandas? to_csv(index=False) leaves it out" if place == 1 else ""
        raise InputError(f"every column must have a name, but column {place} has none{hint}")


def _check_categories(names: Sequence[str], features: Sequence[str], categories: Collection[str]) -> None:
    wrong = [name for name in categories if name not in features]
    if not wrong:
        return
    if wrong[0] not in names:
        raise InputError(f"there is no column {quoted_list(wrong)}: found {quoted_list(names)}")
    raise InputError(f"column {wrong[0]!r} cannot be a category: it is no feature, but has another role or is left out")


def _usual_column(role: str, names: Sequence[str], columns: Columns) -> str | None:
    usual = {folded_name(name) for name in USUAL_NAMES[role]}
    elsewhere = {columns.given(other) for other in ROLES}
    candidates = [name for name in names if folded_name(name) in usual and name not in elsewhere]
    if len(candidates) > 1:
        told = f"{quoted_list(candidates)} could each be the {role} column; say which with "
        raise InputError(told, column_parameter(role), ", and drop what is no feature")
    return candidates[0] if candidates else None


def _check_mentioned(
    names: Sequence[str], columns: Columns, features: Sequence[str] | None, drop: Sequence[str]
) -> None:
    """Raise an error where the caller names a column that does not exist, or names one twice."""
    mentioned = [name for name in (*map(columns.given, ROLES), *(features or ()), *drop) if name is not None]
    present = set(names)
    absent = [name for name in mentioned if name not in present]
    if absent:
        raise InputError(f"there is no column {quoted_list(absent)}: found {quoted_list(names)}")
    twice = [name for name, count in Counter(mentioned).items() if count > 1]
    if twice:
        where = "among roles, features, side columns and dropped ones"
        raise InputError(f"column {quoted_list(twice)} is named more than once {where}")


def quoted_list(names: Sequence[str], most: int = 10) -> str:
    """The first of the names, in quotes, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"

"""The specification of features: a value that says which features to compute, and nothing of how.

It prints as TOML and as a dictionary and parses back; it holds names and numbers only, no code. A `FeatureLine` is a
family with its fields and settings, and stands for one column for each field and statistic.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rankwright.errors import InputError, SettingError, UnknownNameError, require
from rankwright.text.families import FAMILIES, STATISTICS, Family, NumberSetting

VERSION = 1
ALL_FIELDS = "*"  # all fields of text, read one after another
REFUSE, MISSING = "refuse", "missing"
MOST_COLUMNS = 10_000
LONGEST_NAME = 200
MOST_CHARACTERS = 4 << 20  # of a specification's file
FORBIDDEN = '[]{}":,<>'  # in names of features: engines that take models by name refuse them
PARTS = ("family", "fields", "statistics", "log", "absent", "name")  # of a line, besides its family's settings

SettingValue = float | str | tuple[float, ...]


@dataclass(frozen=True, slots=True)
class FeatureColumn:
    """One feature: a column of the matrix."""

    name: str
    family: str
    fields: tuple[str, ...]
    statistic: str
    settings: tuple[tuple[str, SettingValue], ...]
    log: bool
    absent: str

    @property
    def source(self) -> str:
        """What the feature is computed from."""
        return FAMILIES[self.family].source

    def number(self, name: str) -> float:
        """The setting of that name, which is a number."""
        value = dict(self.settings)[name]
        assert isinstance(value, float)
        return value

    def text(self, name: str) -> str:
        """The setting of that name, which is a text."""
        return str(dict(self.settings)[name])


@dataclass(frozen=True, slots=True)
class FeatureLine:
    """A family of features with its fields and settings: one feature for each field and statistic.

    Parameters
    ----------
    family : str
        The name of the family, one of `rankwright.text.FAMILIES`.
    fields : tuple of str, default ()
        The fields to look at; "*" is all fields of text, read one after another. Families that look at no field have
        none.
    statistics : tuple of str, default ()
        Of families that give a number for each of the query's terms: any of "sum", "min", "max", "mean", "variance".
    settings : mapping, default {}
        The family's settings; what is left out has its default.
    log : bool, default False
        Whether ln(1 + value) takes the value's place, as is usual for counts.
    absent : {"refuse", "missing"}, default "refuse"
        What happens where the feature cannot be computed, as links and clicks cannot for a text that is in no index:
        an error, or a missing value.
    name : str, default ""
        The feature's name in place of the usual one; `{field}` and `{statistic}` in it stand for these.

    Examples
    --------
    >>> from rankwright.text import FeatureLine
    >>> [column.name for column in FeatureLine("bm25", ("title", "*"), settings={"b": 0.3}).columns()]
    ['bm25 of title (k1=1.2 b=0.3)', 'bm25 of all fields (k1=1.2 b=0.3)']
    """

    family: str
    fields: tuple[str, ...] = ()
    statistics: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    log: bool = False
    absent: str = REFUSE
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.family, str) or self.family not in FAMILIES:
            raise UnknownNameError("family of features", str(self.family), FAMILIES)
        object.__setattr__(self, "fields", _names(self.fields, f"the fields of {self.family}"))
        object.__setattr__(self, "statistics", _names(self.statistics, f"the statistics of {self.family}"))
        object.__setattr__(self, "settings", _checked_settings(self))
        self._check()

    def _check(self) -> None:
        known, wants_fields = self.known, self.known.source in ("text", "texts", "url", "number")
        require(bool(self.fields) == wants_fields, f"{self.family} {_wanted_fields(wants_fields)}")
        require(bool(self.statistics) == known.has_statistics, f"{self.family} {_wanted_statistics(known)}")
        for statistic in self.statistics:
            if statistic not in STATISTICS:
                raise UnknownNameError("statistic", statistic, STATISTICS)
        if ALL_FIELDS in self.fields:
            alone = len(self.fields) == 1
            fits = known.source == "text" or (known.source == "texts" and alone)
            require(fits, f"{self.family} cannot look at {ALL_FIELDS!r}, which is all fields of text together")
        require(isinstance(self.log, bool), f"log of {self.family} must be true or false, got {self.log!r}")
        require(
            known.takes_log or not self.log, f"{self.family} takes no log: its values may be negative or are shares"
        )
        require(self.absent in (REFUSE, MISSING), f"absent must be {REFUSE!r} or {MISSING!r}, got {self.absent!r}")
        require(isinstance(self.name, str), f"the name of {self.family} must be a text, got {self.name!r}")

    @property
    def known(self) -> Family:
        """The family."""
        return FAMILIES[self.family]

    def columns(self) -> list[FeatureColumn]:
        """The features, statistic by statistic and field by field.

        Returns
        -------
        list of FeatureColumn
            What each column of the features is.
        """
        together = self.known.source == "texts"
        fields = [self.fields] if together or not self.fields else [(name,) for name in self.fields]
        settings = tuple(self.settings.items())
        return [
            FeatureColumn(self._name(own, statistic), self.family, own, statistic, settings, self.log, self.absent)
            for statistic in self.statistics or ("",)
            for own in fields
        ]

    def _name(self, fields: tuple[str, ...], statistic: str) -> str:
        where = " + ".join("all fields" if name == ALL_FIELDS else name for name in fields)
        if self.name:
            return self.name.replace("{field}", where).replace("{statistic}", statistic)
        words = f"{statistic} of {self.known.words}" if statistic else self.known.words
        words = f"log of {words}" if self.log else words
        words = f"{words} of {where}" if where else words
        settings = " ".join(f"{name}={_shown(value)}" for name, value in self.settings.items())
        return f"{words} ({settings})" if settings else words

    def to_dict(self) -> dict[str, Any]:
        """The line in JSON's types, without what has its default.

        Returns
        -------
        dict
            What `from_dict` takes.
        """
        told: dict[str, Any] = {"family": self.family}
        if self.fields:
            told["fields"] = list(self.fields)
        if self.statistics:
            told["statistics"] = list(self.statistics)
        told |= {key: list(value) if isinstance(value, tuple) else value for key, value in self.settings.items()}
        if self.log:
            told["log"] = True
        if self.absent != REFUSE:
            told["absent"] = self.absent
        return told | ({"name": self.name} if self.name else {})

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> FeatureLine:
        """The line that a dictionary describes.

        Parameters
        ----------
        given : mapping
            What `to_dict` gave; settings stand beside the family.

        Returns
        -------
        FeatureLine
            The same line.
        """
        if not isinstance(given, Mapping):
            raise SettingError(f"a feature must be a table with a family, got {given!r}")
        require("family" in given, f"a feature must have a family, got {', '.join(map(str, given)) or 'nothing'}")
        family = given["family"]
        if not isinstance(family, str) or family not in FAMILIES:
            raise UnknownNameError("family of features", str(family), FAMILIES)
        own = FAMILIES[family].settings
        settings = {key: value for key, value in given.items() if key in own}
        parts = {key: value for key, value in given.items() if key not in own}
        unknown = sorted(map(str, parts.keys() - set(PARTS)))
        if unknown:
            raise UnknownNameError(f"setting of {family}", unknown[0], [*own, *PARTS])
        return cls(**parts, settings=settings)


@dataclass(frozen=True, slots=True)
class FeatureSpecification:
    """Which features to compute of a query and a document.

    Parameters
    ----------
    lines : sequence of FeatureLine
        Families of features, in the order of the columns.

    Examples
    --------
    >>> from rankwright.text import FeatureLine, FeatureSpecification
    >>> spec = FeatureSpecification([FeatureLine("length", ("title",), log=True), FeatureLine("dph", ("*",))])
    >>> spec.names
    ('log of length of title', 'dph of all fields')
    >>> FeatureSpecification.from_toml(spec.to_toml()) == spec
    True
    """

    lines: Sequence[FeatureLine]

    def __post_init__(self) -> None:
        require(all(isinstance(line, FeatureLine) for line in self.lines), "lines must be FeatureLine values")
        object.__setattr__(self, "lines", tuple(self.lines))
        names = self.names
        require(0 < len(names) <= MOST_COLUMNS, f"there must be 1 to {MOST_COLUMNS} features, got {len(names)}")
        for name in names:
            wrong = [letter for letter in name if letter in FORBIDDEN or not letter.isprintable()]
            require(not wrong and 0 < len(name) <= LONGEST_NAME, _wrong_name(name))
        twice = next((name for name, n in _counted(names).items() if n > 1), None)
        require(twice is None, f"there are two features {twice!r}")

    @property
    def names(self) -> tuple[str, ...]:
        """The features' names, column by column."""
        return tuple(column.name for column in self.columns)

    @property
    def columns(self) -> tuple[FeatureColumn, ...]:
        """The features, column by column."""
        return tuple(column for line in self.lines for column in line.columns())

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that features look at, without "*"."""
        return tuple(dict.fromkeys(name for line in self.lines for name in line.fields if name != ALL_FIELDS))

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of functions of the user's own."""
        return tuple(column.text("function") for column in self.columns if column.source == "function")

    def only(self, sources: Sequence[str]) -> FeatureSpecification:
        """The lines whose families are computed from these sources.

        Parameters
        ----------
        sources : sequence of str
            Of "text", "texts", "query", "url", "links", "number", "clicks", "vectors", "function".

        Returns
        -------
        FeatureSpecification
            A specification of those lines.
        """
        return FeatureSpecification([line for line in self.lines if line.known.source in sources])

    def to_dict(self) -> dict[str, Any]:
        """The specification in JSON's types.

        Returns
        -------
        dict
            What `from_dict` takes.
        """
        return {"version": VERSION, "features": [line.to_dict() for line in self.lines]}

    @classmethod
    def from_dict(cls, given: Mapping[str, Any]) -> FeatureSpecification:
        """The specification that a dictionary describes.

        Parameters
        ----------
        given : mapping
            What `to_dict` gave.

        Returns
        -------
        FeatureSpecification
            The same specification.
        """
        if not isinstance(given, Mapping) or not isinstance(given.get("features"), list):
            raise SettingError("a specification must have a list of features")
        unknown = sorted(map(str, given.keys() - {"version", "features"}))
        if unknown:
            raise UnknownNameError("part of a specification", unknown[0], ["version", "features"])
        version = given.get("version", VERSION)
        require(version == VERSION and not isinstance(version, bool),
                f"the specification is of version {version!r}; this release reads version {VERSION}")  # fmt: skip
        require(len(given["features"]) <= MOST_COLUMNS, f"there must be at most {MOST_COLUMNS} features")
        lines = []
        for number, line in enumerate(given["features"], start=1):
            try:
                lines.append(FeatureLine.from_dict(line))
            except (SettingError, UnknownNameError, InputError) as error:
                raise SettingError(f"feature {number} of the specification: {error}") from None
        return cls(lines)

    def to_toml(self) -> str:
        """The specification as TOML, a table for each line.

        Returns
        -------
        str
            What `from_toml` takes.
        """
        tables = [f"version = {VERSION}\n"]
        for line in self.lines:
            tables.append("".join(["[[features]]\n", *(f"{k} = {_toml(v)}\n" for k, v in line.to_dict().items())]))
        return "\n".join(tables)

    @classmethod
    def from_toml(cls, text: str) -> FeatureSpecification:
        """The specification that a TOML document describes.

        Parameters
        ----------
        text : str
            What `to_toml` gave, or written by hand.

        Returns
        -------
        FeatureSpecification
            The specification.
        """
        try:
            return cls.from_dict(tomllib.loads(text))
        except (tomllib.TOMLDecodeError, RecursionError) as error:
            raise SettingError(f"the specification is no TOML: {error}") from None


def read_specification(path: str | Path) -> FeatureSpecification:
    """Read a specification from a .toml or .json file.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    FeatureSpecification
        What it says; a wrong line is named in the error.
    """
    content = Path(path).read_bytes()
    try:
        require(len(content) <= MOST_CHARACTERS, f"it has {len(content)} bytes; {MOST_CHARACTERS} at most are read")
        text = content.decode("utf-8")
        if Path(path).suffix != ".json":
            return FeatureSpecification.from_toml(text)
        return FeatureSpecification.from_dict(json.loads(text))
    except (SettingError, UnknownNameError, ValueError, RecursionError) as error:
        raise SettingError(f"{path}: {' '.join(str(error).split())}") from None


def _names(given: Any, what: str) -> tuple[str, ...]:
    listed = (given,) if isinstance(given, str) else given
    if not isinstance(listed, list | tuple) or not all(isinstance(name, str) and name for name in listed):
        raise SettingError(f"{what} must be a list of names, got {given!r}")
    twice = next((name for name, n in _counted(listed).items() if n > 1), None)
    require(twice is None, f"{what} name {twice!r} twice")
    return tuple(listed)


def _checked_settings(line: FeatureLine) -> dict[str, SettingValue]:
    """All settings of the family, in the order of its table; those that are left out have their defaults."""
    given, known = line.settings, line.known.settings
    require(isinstance(given, Mapping), f"the settings of {line.family} must be a table, got {given!r}")
    for name in given:
        if name not in known:
            raise UnknownNameError(f"setting of {line.family}", str(name), known)
    checked: dict[str, SettingValue] = {}
    for name, own in known.items():
        value = given.get(name, own.default)
        if isinstance(own, NumberSetting):
            checked[name] = _numbers(line, name, value, own) if own.per_field else _number(line, name, value, own)
        else:
            fits = isinstance(value, str) and bool(value) and (not own.known or value in own.known)
            wanted = " or ".join(map(repr, own.known)) if own.known else "a name"
            require(fits, f"{name} of {line.family} must be {wanted}, got {value!r}")
            checked[name] = value
    return checked


def _number(line: FeatureLine, name: str, value: Any, own: NumberSetting) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    require(fits and own.least <= value <= own.most,
            f"{name} of {line.family} must lie between {own.least:g} and {own.most:g}, got {value!r}")  # fmt: skip
    return float(value)


def _numbers(line: FeatureLine, name: str, value: Any, own: NumberSetting) -> tuple[float, ...]:
    """A number for each field; one number, or one of the single "*", stands for all."""
    listed = list(value) if isinstance(value, list | tuple) else [value] * max(1, len(line.fields))
    require(len(listed) == max(1, len(line.fields)),
            f"{name} of {line.family} must have a number for each of its {len(line.fields)} fields")  # fmt: skip
    return tuple(_number(line, name, one, own) for one in listed)


def _wanted_fields(wants: bool) -> str:
    return "needs a list of fields" if wants else "looks at no field: leave out fields"


def _wanted_statistics(known: Family) -> str:
    return f"needs statistics: any of {', '.join(STATISTICS)}" if known.has_statistics else "has no statistics"


def _wrong_name(name: str) -> str:
    return f"a feature's name must have 1 to {LONGEST_NAME} characters and none of {FORBIDDEN}, got {name[:300]!r}"


def _counted(names: Sequence[str]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return counts


def _shown(value: SettingValue) -> str:
    if isinstance(value, tuple):
        return "/".join(f"{one:g}" for one in value)
    return value if isinstance(value, str) else f"{value:g}"


def _toml(value: Any) -> str:
    """A value as TOML writes it; texts as JSON does, which TOML reads alike."""
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str | bool) else repr(value)

"""A setting is a field of a dataclass: its type, its default, the values it may have, and where a search looks.

A ranker's settings are such a dataclass, whose docstring says what each of them does. Its constructor, the checks at
`fit`, `--set`, `rankwright list settings`, the space that a search looks in, the tables in docs and the `Parameters` of
the ranker's docstring are all made from it.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cache
from inspect import cleandoc
from numbers import Integral, Real
from sys import float_info
from typing import Any, Literal, TypeVar, Union, dataclass_transform, get_args, get_origin, get_type_hints

import numpy as np

from rankwright.errors import InputError, SettingError, UnknownNameError, comma_hint
from rankwright.settings.arguments import answers_strangers
from rankwright.settings.spaces import Dimension, Space

SPEC = "rankwright"  # our key in a field's metadata
UNSET: Any = object()
Kind = TypeVar("Kind")
WORDS = {int: "a whole number", float: "a number", str: "text", bool: "true or false", type(None): "none"}


def fits(value: Any, hint: Any) -> bool:
    """Whether `value` is of type `hint`; a whole number counts as a number, true and false do not."""
    origin = get_origin(hint)
    if hint is Any:
        return True
    if origin in (Union, types.UnionType):
        return any(fits(value, choice) for choice in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is Sequence:
        return isinstance(value, list | tuple | np.ndarray) and all(fits(item, get_args(hint)[0]) for item in value)
    if origin is tuple:
        return isinstance(value, list | tuple | np.ndarray) and _all_fit(value, get_args(hint))
    if origin is Callable:
        return callable(value) and not isinstance(value, type)
    if origin is Mapping:
        return isinstance(value, Mapping) and all(_all_fit(entry, get_args(hint)) for entry in value.items())
    if hint in (int, float):
        return isinstance(value, Integral if hint is int else Real) and not isinstance(value, bool)
    if hint is bool:
        return isinstance(value, bool | np.bool_)
    return value is None if hint is type(None) else isinstance(value, hint)


def _all_fit(values: Collection[Any] | np.ndarray[Any, Any], hints: Sequence[Any]) -> bool:
    """Whether the values are of these types, one of each; or all of the first, where `...` follows it."""
    if hints[-1] is ...:
        return all(fits(value, hints[0]) for value in values)
    return len(values) == len(hints) and all(map(fits, values, hints))


def described(hint: Any, limits: str = "", names: Sequence[str] = ()) -> str:
    """The type in words; `limits` is the range of its numbers, `names` are the allowed texts."""
    origin = get_origin(hint)
    if origin in (Union, types.UnionType):
        parts = list(dict.fromkeys(described(choice, limits, names) for choice in get_args(hint)))
        return (", or " if any("," in part for part in parts) else " or ").join(parts)
    if origin is Literal or (hint is str and names):
        return " or ".join(map(repr, names or get_args(hint)))
    if origin is Sequence or origin is tuple:
        return "a list"
    if origin is Mapping:
        return "an object"
    if origin is Callable:
        return "a function"
    words = WORDS.get(hint, getattr(hint, "__name__", str(hint)))
    return f"{words}, {limits}" if limits and hint in (int, float) else words


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What a setting is, besides its name, type and default.

    `small` is a value that makes training quick, for trying things out and for tests. `stored` turns a value into what
    a model file holds; False keeps the setting out of files: it says how to train, not what. `restored` turns what a
    file holds, perhaps an older one, into a value. `unsaid` is the value that files mean which do not name the setting:
    what code did before it had the setting, whatever the default is now.
    """

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: Callable[[], Any] | None = None  # the known names, looked up when they are needed
    search: Dimension | None = None
    small: Any = UNSET
    stored: Callable[[Any], Any] | bool = True
    restored: Callable[[Any], Any] | None = None
    unsaid: Any = UNSET

    def limits(self) -> str:
        """The range of numbers in words, such as `1 or more`; empty where any finite one will do."""
        low = self.least if self.above is None else self.above
        high = self.most if self.below is None else self.below
        if low is not None and high is not None and (self.above is None) == (self.below is None):
            return f"between {low:,} and {high:,}" + ("" if self.above is None else ", ends excluded")
        words = [] if low is None else [f"{low:,} or more" if self.above is None else f"above {low:,}"]
        words += [] if high is None else [f"at most {high:,}" if self.below is None else f"below {high:,}"]
        return " and ".join(words)

    def allows(self, value: float) -> bool:
        """Whether a number is finite and lies in the range."""
        return (
            abs(value) <= float_info.max  # which no infinity, NaN or endless whole number is
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of one kind of ranker, complete."""

    name: str
    type: Any
    default: Any
    text: str  # what it does, in a sentence or two
    spec: Spec

    @property
    def allowed(self) -> str:
        """The allowed values in words: the type, the range of numbers, and the names there are."""
        names = () if self.spec.choices is None else tuple(self.spec.choices())
        return described(self.type, self.spec.limits(), names)

    def only_fits_none(self, text: str) -> bool:
        """Whether the setting can be None, and cannot be this text."""
        allows_text = fits(text, self.type) and (self.spec.choices is None or text in self.spec.choices())
        return fits(None, self.type) and not allows_text

    def check(self, value: Any) -> None:
        """Raise where the setting cannot have this value."""
        if not fits(value, self.type):
            hint = comma_hint(value) if fits(0.5, self.type) else ""
            raise SettingError(f"{self.name} must be {described(self.type)}, got {value!r}{hint}")
        numbers = [one for one in (value if isinstance(value, list | tuple) else [value]) if fits(one, float)]
        if not all(map(self.spec.allows, numbers)):
            raise SettingError(f"{self.name} must be {self.spec.limits() or 'finite'}, got {value!r}")
        if isinstance(value, str) and self.spec.choices is not None and value not in self.spec.choices():
            raise UnknownNameError(self.name, value, known=self.spec.choices())


def setting(default: Any, **parts: Any) -> Any:
    """A field with this default, and these parts of a `Spec`."""
    return field(default=default, metadata=about(**parts))


def changed(settings: type, name: str, default: Any = UNSET, **parts: Any) -> Any:
    """The field `name` of `settings` again, with another default or other parts of its `Spec`."""
    found = next(one for one in fields(settings) if one.name == name)
    spec = replace(found.metadata[SPEC], **parts)
    return field(default=found.default if default is UNSET else default, metadata={SPEC: spec})


def about(**parts: Any) -> dict[str, Spec]:
    """The metadata of a field that is a setting."""
    return {SPEC: Spec(**parts)}


# Type checkers know only `field` as a field: to them, what `setting` returns is a default, as it should be.
@dataclass_transform(kw_only_default=True, eq_default=False, field_specifiers=(field,))
def settings_class(kind: type[Kind]) -> type[Kind]:
    """A class whose fields are settings: its constructor takes them by name, and no other method is generated."""
    made = dataclass(kw_only=True, eq=False, repr=False)(kind)
    made.__init__ = answers_strangers()(made.__init__)  # type: ignore[method-assign]
    return made


def settings_of(kind: type) -> Mapping[str, Setting]:
    """The settings of a dataclass, or of a class made from one, by name in the order of its fields."""
    return _known_settings(kind)


@cache
def _known_settings(kind: Any) -> Mapping[str, Setting]:
    owner = settings_owner(kind)
    hints, texts = get_type_hints(owner), _texts(owner)
    return {
        one.name: Setting(one.name, hints[one.name], one.default, texts.get(one.name, ""), one.metadata[SPEC])
        for one in fields(owner)
    }


def settings_owner(kind: type) -> Any:
    """The dataclass of settings that `kind` is, or is made from."""
    return next(base for base in kind.__mro__ if "__dataclass_fields__" in vars(base))


def summary_of(kind: type) -> str:
    """The first paragraph of the docstring of the settings of `kind`: what it is, in a line."""
    return " ".join(cleandoc(settings_owner(kind).__doc__ or "").partition("\n\n")[0].split())


def _texts(owner: type) -> dict[str, str]:
    """The text of each setting under `Parameters` in the docstrings; the nearest class decides."""
    found: dict[str, str] = {}
    for base in reversed(owner.__mro__):
        _, _, section = cleandoc(vars(base).get("__doc__") or "").partition("Parameters\n----------\n")
        name = ""
        for line in section.splitlines():
            if line and not line.startswith(" "):
                name, found[line] = line, ""
            else:
                found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def check_settings(owner: Any) -> None:
    """Raise for the first setting of `owner` that has a value it cannot have."""
    for name, one in settings_of(type(owner)).items():
        one.check(getattr(owner, name))


def restored_settings(kind: type[Kind], stored: Any, **given: Any) -> Kind:
    """A `kind` with the settings that a file holds, and those given, which files do not hold."""
    if not isinstance(stored, Mapping):
        raise InputError(f"settings must be an object, got {stored!r}")
    unknown = sorted(stored.keys() - settings_of(kind).keys())
    if unknown:
        raise InputError(f"there are settings that are not known here: {', '.join(unknown)}")
    unsaid = {name: one.spec.unsaid for name, one in settings_of(kind).items() if one.spec.unsaid is not UNSET}
    ways = {name: settings_of(kind)[name].spec.restored for name in stored}
    values = {name: value if (way := ways[name]) is None else way(value) for name, value in stored.items()}
    owner = kind(**(unsaid | values), **given)
    check_settings(owner)
    return owner


def stored_settings(owner: Any) -> dict[str, Any]:
    """The settings of `owner` as a model file holds them."""
    found = {}
    for name, one in settings_of(type(owner)).items():
        stored, value = one.spec.stored, getattr(owner, name)
        if stored is not False and (one.spec.unsaid is UNSET or value != one.spec.unsaid):
            found[name] = stored(value) if callable(stored) else value
    return found


def small_settings(kind: type) -> dict[str, Any]:
    """Settings with which training takes almost no time."""
    return {name: one.spec.small for name, one in settings_of(kind).items() if one.spec.small is not UNSET}


def space_of(kind: type) -> Space:
    """The default search space: where to look for the settings that matter."""
    return {name: one.spec.search for name, one in settings_of(kind).items() if one.spec.search is not None}

"""How the features of a dataset were made: what training, evaluation, search and serving need to make them again."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import dedent
from typing import Any

from rankwright.arrays import Float64Array
from rankwright.container.checks import read_field, read_list
from rankwright.errors import InputError, SettingError, require_input, require_type
from rankwright.text.analysis import Analyser
from rankwright.text.collections.field_kinds import KINDS, Field
from rankwright.text.specification import FeatureSpecification

Documents = Sequence[Mapping[str, str]]  # the stored texts of each, by field
OwnFunction = Callable[[str, Documents], Float64Array]  # from a query's text and documents to a number for each of them
FINGERPRINT_LETTERS = 32


@dataclass(frozen=True, slots=True)
class FeatureOrigin:
    """How features are made: their specification, the fields of documents, and how texts become terms.

    Attributes
    ----------
    specification : FeatureSpecification
        Which features there are.
    fields : tuple of Field
        What documents have.
    analyser : dict
        How texts become terms, as `Analyser.to_dict` tells.
    fingerprints : dict from str to str
        A fingerprint of each function of your own that the specification names.
    """

    specification: FeatureSpecification
    fields: tuple[Field, ...]
    analyser: Mapping[str, Any] = field(hash=False)
    fingerprints: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def text_fields(self) -> tuple[str, ...]:
        """The fields whose words are counted."""
        return tuple(one.name for one in self.fields if one.is_text)

    def opened_analyser(self) -> Analyser:
        """How texts become terms.

        Returns
        -------
        Analyser
            An analyser of this release; where it has other rules, that is an error.
        """
        return Analyser.from_dict(self.analyser)

    def checked_functions(self, given: Mapping[str, OwnFunction] | None) -> Mapping[str, OwnFunction]:
        """The functions that the specification names.

        Parameters
        ----------
        given : mapping from str to function, or None
            Functions by name.

        Returns
        -------
        mapping
            The same; an error where one is lacking, or is not the one that features were made with.
        """
        functions = given or {}
        for name, wanted in self.fingerprints.items():
            if name not in functions:
                raise InputError(f"the features need the function {name!r}: give it as functions={{{name!r}: …}}")
            if function_fingerprint(functions[name]) != wanted:
                raise InputError(
                    f"the function {name!r} is not the one that the features were made with: it has changed"
                )
        return functions

    def to_dict(self) -> dict[str, Any]:
        """The origin in JSON's types.

        Returns
        -------
        dict
            What `from_dict` takes.
        """
        return {
            "specification": self.specification.to_dict(),
            "fields": [[one.name, one.kind] for one in self.fields],
            "analyser": dict(self.analyser),
            "functions": dict(self.fingerprints),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> FeatureOrigin:
        """The origin that a dictionary describes, which is checked.

        Parameters
        ----------
        stored : mapping
            What `to_dict` gave.

        Returns
        -------
        FeatureOrigin
            The same origin.
        """
        fields = [_field(one) for one in read_list(stored, "fields", list)]
        require_input(len({one.name for one in fields}) == len(fields), "a field is there twice")
        functions = read_field(stored, "functions", dict)
        specification = FeatureSpecification.from_dict(read_field(stored, "specification", dict))
        fits = all(isinstance(text, str) and len(text) == FINGERPRINT_LETTERS for text in functions.values())
        require_input(fits and set(functions) == set(specification.functions), "functions must have a fingerprint each")
        lacking = set(specification.fields) - {one.name for one in fields}
        require_input(not lacking, f"the specification names a field that is not there: {sorted(lacking)[:1]}")
        return cls(specification, tuple(fields), read_field(stored, "analyser", dict), functions)

    def to_json(self) -> str:
        """The origin as one line of JSON, always the same for the same origin.

        Returns
        -------
        str
            What `from_json` takes; datasets carry it.
        """
        return json.dumps(self.to_dict(), sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> FeatureOrigin:
        """The origin that a dataset carries.

        Parameters
        ----------
        text : str
            What `to_json` gave.

        Returns
        -------
        FeatureOrigin
            The same origin.
        """
        try:
            stored = json.loads(text)
        except (ValueError, RecursionError):
            raise InputError("what the data tells of how its features were made is no JSON") from None
        require_input(isinstance(stored, dict), "what the data tells of how its features were made is no JSON object")
        try:
            return cls.from_dict(stored)
        except SettingError as error:
            raise InputError(f"what the data tells of how its features were made: {error}") from None


def _field(stored: list[Any]) -> Field:
    fits = len(stored) == 2 and all(isinstance(part, str) and part for part in stored) and stored[1] in KINDS
    require_input(fits, f"a field must have a name and a kind ({', '.join(KINDS)}), got {stored!r}")
    return Field(*stored)


def function_fingerprint(function: Callable[..., Any]) -> str:
    """A text that is the same for functions with the same source, and another for others.

    Parameters
    ----------
    function : function
        A function; of one whose source cannot be found, the compiled code counts.

    Returns
    -------
    str
        The fingerprint.
    """
    require_type(function, Callable, "a function of features", "callable")  # type: ignore[arg-type]
    try:
        content = dedent(inspect.getsource(function)).encode()
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        content = repr(function.__class__).encode() if code is None else code.co_code + repr(code.co_consts).encode()
    return hashlib.sha256(content).hexdigest()[:FINGERPRINT_LETTERS]

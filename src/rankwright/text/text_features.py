"""Features of texts that are in no index, weighed by what a model keeps of one: the same numbers, to the bit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, Uint32Array
from rankwright.errors import InputError, require_input
from rankwright.kernels.records import QueryPairs, TokenStream
from rankwright.text.collections.field_kinds import DATE, NUMBER, seconds_of
from rankwright.text.document_values import number_values, url_values
from rankwright.text.features import own_values, written
from rankwright.text.index.segments import NO_TERM
from rankwright.text.matching import MATCHED, KnownTexts, Matcher, MatchPlan, QueryTexts
from rankwright.text.origin import FeatureOrigin, OwnFunction
from rankwright.text.specification import REFUSE, FeatureColumn

Document = Mapping[str, Any]  # values by field: texts, numbers, dates
NEEDS_INDEX = {
    "feedback": "the query's best documents",
    "links": "links between documents",
    "clicks": "a log of clicks",
    "vectors": "vectors",
}


class TextFeatures:
    """Computes the features of a query and documents that come as texts.

    Parameters
    ----------
    origin : FeatureOrigin
        How the features are made.
    known : KnownTexts
        What weighs terms: statistics that a model keeps, or an index.
    functions : mapping from str to function, optional
        The functions of your own that the specification names.
    """

    def __init__(
        self, origin: FeatureOrigin, known: KnownTexts, functions: Mapping[str, OwnFunction] | None = None
    ) -> None:
        self.origin, self._known = origin, known
        self._columns = origin.specification.columns
        refused = next((one for one in self._columns if one.source in NEEDS_INDEX and one.absent == REFUSE), None)
        if refused is not None:
            lacking = NEEDS_INDEX[refused.source]
            raise InputError(f"{refused.name!r} needs {lacking}, which a text that is in no index does not have")
        self._functions = origin.checked_functions(functions)
        self._analyser = origin.opened_analyser()
        self._plan = MatchPlan.of(origin.specification, known.text_fields)
        self._kinds = {one.name: one.kind for one in origin.fields}

    def of(
        self, query: str, documents: Sequence[Document | str], *, time: float = np.nan, threads: int = 1
    ) -> Float32Array:
        """The features of each document.

        Parameters
        ----------
        query : str
            The query's text.
        documents : sequence of mapping, or of str
            The values of each document by field; a field that is left out is empty. A document that is a text is that
            of the first field.
        time : float, optional
            The query's time in seconds since 1970, from which ages are counted.
        threads : int, default 1
            How many threads to use.

        Returns
        -------
        array of float32, shape (n_documents, n_features)
            What `features_of` gives for documents of an index with the same texts; NaN where a feature needs an index.
        """
        given = [self._checked(one) for one in documents]
        out = np.full((len(given), len(self._columns)), np.nan, np.float32)
        if given:
            self._fill_matches(query, given, out, threads)
            for place, column in enumerate(self._columns):
                if column.source not in (*MATCHED, *NEEDS_INDEX):
                    out[:, place] = written(column, self._values(column, query, given, time))
        return out

    def _checked(self, document: Document | str) -> Document:
        if isinstance(document, str):
            return {self.origin.text_fields[0]: document}
        if not isinstance(document, Mapping):
            raise InputError(f"a document must be a text, or texts by field, got {type(document).__name__}")
        unknown = next((name for name in document if name not in self._kinds), None)
        known = ", ".join(self._kinds)
        require_input(unknown is None, f"a document has the field {unknown!r}; the features are made of {known}")
        for name in self.origin.text_fields:
            require_input(isinstance(document.get(name) or "", str), f"the field {name!r} must be a text")
        return document

    def _fill_matches(self, query: str, documents: Sequence[Document], out: Float32Array, threads: int) -> None:
        n, fields = len(documents), self._plan.fields
        found = self._analyser.streams([one.get(name) or "" for name in fields for one in documents])
        streams = [TokenStream(found.offsets[k * n : (k + 1) * n + 1], found.tokens) for k in range(len(fields))]
        number_of = {term: number for number, term in enumerate(found.vocabulary)}

        def numbers_of(terms: list[str]) -> Uint32Array:
            return np.array([number_of.get(term, NO_TERM) for term in terms], np.uint32)

        matcher = Matcher(self._plan, self._known, QueryTexts.of([self._analyser.terms(query)]))
        pairs = QueryPairs(np.array([0, n], np.int64), np.arange(n, dtype=np.int64))
        matcher.fill(streams, numbers_of, pairs, out, threads)

    def _values(self, column: FeatureColumn, query: str, documents: Sequence[Document], time: float) -> Float64Array:
        if column.source == "function":
            texts = [{name: one.get(name) or "" for name in self.origin.text_fields} for one in documents]
            return own_values(column, self._functions[column.text("function")], query, texts)
        (name,) = column.fields
        if column.source == "url":
            return url_values(column.family, [one.get(name) or "" for one in documents], query)
        values = np.array([self._number(name, one.get(name)) for one in documents], np.float64)
        is_date = self._kinds[name] == DATE
        return number_values(column.family, values, np.full(len(documents), time), is_date=is_date)

    def _number(self, name: str, value: Any) -> float:
        if value is None or value == "":
            return np.nan
        if isinstance(value, str) and self._kinds[name] == DATE:
            value = seconds_of(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            kind = "a number" if self._kinds[name] == NUMBER else "a date, or seconds since 1970"
            raise InputError(f"the field {name!r} must be {kind}, got {value!r}")
        return float(value)

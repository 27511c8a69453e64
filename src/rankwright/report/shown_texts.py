"""What people know documents and queries by: titles and texts that a report shows beside ids."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, require_type
from rankwright.formats.file_formats import format_named, format_of
from rankwright.formats.reading import read

MOST_LETTERS = 200  # of a title or text: a page shows which one it is, not all of it


@dataclass(frozen=True, slots=True, eq=False)
class ShownTexts:
    """The title of each row and the text of each query, in the order of the dataset; None where there are none."""

    titles: list[str] | None = None
    queries: list[str] | None = None

    @classmethod
    def given(cls, titles: Any, texts: Any, data: RankingDataset | None) -> ShownTexts:
        """What a caller gives: titles in the order of the data's source, texts by query id."""
        if titles is None and texts is None:
            return cls()
        if data is None:
            raise InputError("titles and texts belong to documents, and these results do not know theirs")
        in_order = None if titles is None else _titles_of(titles, data)
        return cls(in_order, None if texts is None else _texts_of(texts, data))


def _titles_of(titles: Any, data: RankingDataset) -> list[str]:
    found = np.array([_short(one) for one in titles], dtype=object)
    if len(found) != data.n_docs:
        raise InputError(f"titles must have {data.n_docs} entries, one a document, got {len(found)}")
    return list(data.from_source_order(found))


def _texts_of(texts: Any, data: RankingDataset) -> list[str]:
    require_type(texts, Mapping, "texts", "a mapping from query ids to texts")
    by_id = {str(query): text for query, text in texts.items()}
    ids = range(data.n_queries) if data.query_ids is None else data.query_ids.tolist()
    found = [by_id.get(str(query)) for query in ids]
    if data.n_queries and not any(found):
        raise InputError(f"texts has no query of the data, whose ids are such as {next(iter(ids))}")
    return list(map(_short, found))


def read_shown_texts(
    path: str, format: str | None, options: Mapping[str, Any], *, title: str | None, text: str | None
) -> ShownTexts:
    """The titles and texts in columns of a data file; `options` are those that its documents are read with.

    The rows come in the order of the dataset that `read` makes of the file.
    """
    names = [name for name in (title, text) if name is not None]
    if not names:
        return ShownTexts()
    kept = {option: value for option, value in options.items() if option != "drop"}
    # Texts are read as categories are: each has a code, and what is missing has none.
    data = read(path, format=format, **(kept | {"features": names, "categories": names}))
    titles = None if title is None else _texts_in(data, title)
    if text is None:
        return ShownTexts(titles)
    by_row, starts, sizes = _texts_in(data, text), data.groups.offsets[:-1].tolist(), data.groups.sizes.tolist()
    queries = [by_row[start] if size else "" for start, size in zip(starts, sizes, strict=True)]
    return ShownTexts(titles, queries)


def _texts_in(data: RankingDataset, name: str) -> list[str]:
    """The text of each row in a column of categories; nothing where it is missing."""
    texts = list(map(_short, (data.categories or {})[name]))
    codes = data.features[:, data.names.index(name)].tolist()
    return ["" if math.isnan(code) else texts[int(code)] for code in codes]


def without_texts(path: str, format: str | None, options: Mapping[str, Any], *names: str | None) -> dict[str, Any]:
    """The options of reading a data file in which the named columns are shown to people, and are no features."""
    shown = [name for name in names if name is not None]
    if not shown:
        return dict(options)
    kind = format or format_of(path)
    if "drop" not in format_named(kind).options:
        raise SettingError(f"--title and --text name columns, and {kind} files have none: give CSV, TSV or Parquet")
    dropped = [*options.get("drop", ()), *(name for name in shown if name not in options.get("drop", ()))]
    return {**options, "drop": dropped}


def _short(text: Any) -> str:
    told = "" if text is None or text != text else " ".join(str(text).split())
    return told if len(told) <= MOST_LETTERS else f"{told[: MOST_LETTERS - 1]}…"

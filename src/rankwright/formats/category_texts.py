"""Columns of files that hold categories: their texts are found in a reading of their own, before the rows are read.

The code of a category is its place among all of them, so it is known only when all rows were seen. Where a model says
what the categories are, nothing is read beforehand, and texts that it never saw are missing values.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from rankwright.data.categories import Categories, in_code_order
from rankwright.data.dataset import RankingDataset
from rankwright.formats.blocks import Reader, errors_name_file
from rankwright.formats.sources import input_name, input_names
from rankwright.progress.stages import announce


def must_be_found(categories: Collection[str]) -> bool:
    """Whether the texts of these columns are still to be found, so that files are read twice."""
    return bool(categories) and not isinstance(categories, Mapping)


def with_known_categories(reader: Reader, paths: Sequence[str]) -> Reader:
    """The reader with the texts of all columns that it takes as categories."""
    if not must_be_found(reader.categories):
        return reader
    found: dict[str, set[str]] = {name: set() for name in reader.categories}
    for path in paths:
        announce(f"finding the categories in {input_name(path)}")
        for texts in reader.category_texts(path):
            for name, own in texts.items():
                found[name] |= own
    with errors_name_file(input_names(paths)):
        known = {name: in_code_order(name, texts) for name, texts in found.items()}
    changed: Any = reader  # readers with categories are dataclasses
    made: Reader = replace(changed, categories=known)
    return made


def with_texts(data: RankingDataset, categories: Collection[str]) -> RankingDataset:
    """The data, which holds codes, with what they stand for."""
    known: Categories | None = categories if isinstance(categories, Mapping) and categories else None
    return data if known is None else replace(data, categories=known)

"""What features know of a document beside its words: its address, links, numbers and dates."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial

import numpy as np

from rankwright import kernels
from rankwright.arrays import Float64Array, IntArray
from rankwright.text.page_rank import page_rank

SECONDS_A_DAY = 86_400.0
ADDRESSES_KEPT = 1 << 16  # whose values are kept: a document comes back for many queries
ADDRESS = re.compile(
    r"(?:[a-z][a-z0-9+.-]*:)?(?://)?(?P<host>[^/?#]*)(?P<path>[^?#]*)(?:\?(?P<query>[^#]*))?", re.IGNORECASE
)


def url_values(family: str, addresses: Sequence[str], query: str) -> Float64Array:
    """The values of a family of addresses, one for each of them; NaN where there is no address."""
    of_host = family == "query_in_host"
    own = partial(_share_of_host, _letters(query)) if of_host else partial(_url_value, family)
    return np.array([own(address) if address else np.nan for address in addresses], np.float64)


@lru_cache(ADDRESSES_KEPT)
def _url_value(family: str, address: str) -> float:
    return URL_MEASURES[family](address)


def _parts(address: str) -> tuple[str, str, str]:
    found = ADDRESS.match(address)
    return (found["host"].lower(), found["path"], found["query"] or "") if found else ("", "", "")


def _depth(address: str) -> float:
    return float(sum(bool(part) for part in _parts(address)[1].split("/")))


def _parameters(address: str) -> float:
    return float(sum(bool(part) for part in re.split("[&;]", _parts(address)[2])))


def _letters(text: str) -> str:
    return "".join(letter for letter in text.casefold() if letter.isalnum())


@lru_cache(ADDRESSES_KEPT)
def _names_in_host(address: str) -> tuple[str, ...]:
    """The letters of each part of the host's name, without its last part and www."""
    names = _parts(address)[0].removeprefix("www.").split(":")[0].split(".")
    return tuple(map(_letters, names[:-1] or names))


def _share_of_host(wanted: str, address: str) -> float:
    """The share of a part of the host's name that the query's letters are, where they stand there in one piece."""
    shares = [len(wanted) / len(name) for name in _names_in_host(address) if wanted and wanted in name]
    return max(shares, default=0.0)


URL_MEASURES: Mapping[str, Callable[[str], float]] = {
    "url_slashes": lambda address: float(address.count("/")),
    "url_length": lambda address: float(len(address)),
    "url_depth": _depth,
    "url_digits": lambda address: float(sum(letter.isdigit() for letter in address)),
    "url_parameters": _parameters,
    "url_host_parts": lambda address: float(len(_parts(address)[0].split("."))),
}


def link_values(family: str, offsets: IntArray, targets: IntArray, damping: float, threads: int) -> Float64Array:
    """The values of a family of links, one for each document of the collection."""
    n = len(offsets) - 1
    if family == "out_links":
        return np.diff(offsets).astype(np.float64)
    if family == "in_links":
        return np.bincount(targets, minlength=n).astype(np.float64)
    return page_rank(offsets, targets, damping=damping, threads=threads) * n


def logs_of(values: Float64Array) -> Float64Array:
    """ln(1 + value) of counts, with the same bits on every machine; NaN stays."""
    known, logs = np.isfinite(values), np.full(len(values), np.nan)
    counts = np.ascontiguousarray(values[known])
    kernels.logs_of_counts(counts, counts, 1)
    logs[known] = counts
    return logs


def number_values(family: str, values: Float64Array, times: Float64Array, *, is_date: bool) -> Float64Array:
    """The values of a family of numbers: of rows with these values, at these times (NaN where unknown)."""
    if family == "age":
        return (times - values) / SECONDS_A_DAY
    if family == "log_number":
        return np.sign(values) * logs_of(np.abs(values))
    return values / SECONDS_A_DAY if is_date else values

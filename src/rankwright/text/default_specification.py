"""Specifications made for the fields that there are: the default one, and Microsoft's 136 features by name."""

from __future__ import annotations

from collections.abc import Sequence

from rankwright.errors import require
from rankwright.text.collections.field_kinds import DATE, LINKS, NUMBER, TEXT, URL, Field
from rankwright.text.families import STATISTICS
from rankwright.text.specification import ALL_FIELDS, MISSING, FeatureLine, FeatureSpecification

MSLR_STREAMS = ("body", "anchor", "title", "url", "whole document")


def default_specification(fields: Sequence[Field], *, links: bool | None = None) -> FeatureSpecification:
    """The features that suit documents with these fields.

    Parameters
    ----------
    fields : sequence of Field
        What documents have, as a collection or an index tells.
    links : bool, optional
        Whether documents link to each other; by default whether there is a field of links.

    Returns
    -------
    FeatureSpecification
        Matches of the query in each field of text and in all of them together; what addresses, links, numbers and dates
        tell of a document. Features that need the index are missing for texts that are in none.
    """
    texts = _names(fields, TEXT, URL)
    require(bool(texts), "a default specification needs a field of text")
    lines = [FeatureLine("query_length"), *_match_lines(texts), *_feedback_lines(), *_url_lines(_names(fields, URL))]
    if links or (links is None and _names(fields, LINKS)):
        lines += [FeatureLine(family, log=True, absent=MISSING) for family in ("in_links", "out_links", "page_rank")]
    if _names(fields, NUMBER, DATE):
        lines.append(FeatureLine("number", _names(fields, NUMBER, DATE), absent=MISSING))
    return FeatureSpecification(lines)


def _match_lines(texts: tuple[str, ...]) -> list[FeatureLine]:
    every = texts if len(texts) == 1 else (*texts, ALL_FIELDS)
    return [
        FeatureLine("covered_terms", every),
        *(FeatureLine(family, every) for family in ("covered_share", "covered_idf_share", "boolean")),
        FeatureLine("length", every, log=True),
        FeatureLine("idf", every[-1:], ("sum", "max", "mean")),
        FeatureLine("tf", every, ("sum", "max", "mean"), log=True),
        FeatureLine("tf_share", every, ("sum", "max")),
        FeatureLine("tf_idf", every, ("sum", "max", "mean"), log=True),
        FeatureLine("vector_space", every),
        FeatureLine("bm25", every, settings={"k1": 0.9, "b": 0.4}),
        FeatureLine("bm25", every, settings={"k1": 1.6, "b": 0.8}),
        *([FeatureLine("bm25f", texts, settings={"k1": 1.2, "b": 0.6})] if len(texts) > 1 else []),
        FeatureLine("absolute_discount", every),
        FeatureLine("dirichlet", every, settings={"mu": 500.0}),
        FeatureLine("jelinek_mercer", every, settings={"background": 0.4}),
        FeatureLine("dph", every),
        FeatureLine("shortest_window", every, log=True),
        FeatureLine("first_position", every),
        FeatureLine("phrase", texts, log=True),
        FeatureLine("ordered_pairs", every, log=True),
        FeatureLine("unordered_pairs", every, log=True, settings={"within": 8.0}),
        FeatureLine("longest_run", every),
        FeatureLine("closeness", every),
        FeatureLine("begins_with_query", texts),
        FeatureLine("equals_query", texts),
    ]


def _feedback_lines() -> list[FeatureLine]:
    settings = ({"documents": 5.0, "terms": 20.0}, {"documents": 10.0, "terms": 30.0})
    return [FeatureLine("feedback", settings=own, absent=MISSING) for own in settings]


def _url_lines(urls: tuple[str, ...]) -> list[FeatureLine]:
    counts = ("url_slashes", "url_length", "url_depth", "url_digits", "url_parameters", "url_host_parts")
    return [FeatureLine(family, urls) for family in (*counts, "query_in_host")] if urls else []


def mslr_specification(fields: Sequence[Field], *, links: bool | None = None) -> FeatureSpecification:
    """Microsoft's 136 features (MSLR-WEB30K) by name, as far as these fields allow.

    Parameters
    ----------
    fields : sequence of Field
        What documents have. The streams are the fields body, anchor (or anchors), title and url, and all of them
        together, which is the whole document.
    links : bool, optional
        Whether documents link to each other; by default whether there is a field of links.

    Returns
    -------
    FeatureSpecification
        Up to 131 features: 125 of matches, in the order of MSLR's list, 2 of the address, 3 of links, and the clicks of
        a document for the query and for all others where a log is given later are left to you; site rank, quality
        scores and dwell times are Microsoft's own.
    """
    texts, urls = _names(fields, TEXT, URL), _names(fields, URL)
    field_of = {"body": "body", "title": "title", "url": urls[0] if urls else "url"}
    field_of |= {"anchor": next((name for name in ("anchor", "anchors") if name in texts), "anchor")}
    streams = [(stream, field_of[stream]) for stream in MSLR_STREAMS[:-1] if field_of[stream] in texts]
    require(bool(streams), "MSLR's features need a field called body, anchor, title or url")
    streams.append((MSLR_STREAMS[-1], ALL_FIELDS))
    lines = [
        FeatureLine(family, (name,), (statistic,) if statistic else (), settings, name=f"{words} of {stream}")
        for family, statistic, settings, words in _mslr_matches()
        for stream, name in streams
    ]
    if urls:
        lines.append(FeatureLine("url_slashes", urls[:1], name="number of slash in URL"))
        lines.append(FeatureLine("url_length", urls[:1], name="length of URL"))
    if links or (links is None and _names(fields, LINKS)):
        named = (("in_links", "inlink number"), ("out_links", "outlink number"), ("page_rank", "PageRank"))
        lines += [FeatureLine(family, absent=MISSING, name=words) for family, words in named]
    return FeatureSpecification(lines)


def _mslr_matches() -> list[tuple[str, str, dict[str, float], str]]:
    """Family, statistic, settings and MSLR's name of each feature that every stream has, in MSLR's order."""
    values = (("tf", "term frequency"), ("tf_share", "stream length normalized term frequency"), ("tf_idf", "tf*idf"))
    return [
        ("covered_terms", "", {}, "covered query term number"),
        ("covered_share", "", {}, "covered query term ratio"),
        ("length", "", {}, "stream length"),
        ("idf", "sum", {}, "IDF"),
        *((family, statistic, {}, f"{statistic} of {words}") for family, words in values for statistic in STATISTICS),
        ("boolean", "", {}, "boolean model"),
        ("vector_space", "", {}, "vector space model"),
        ("bm25", "", {"k1": 1.2, "b": 0.75}, "BM25"),
        ("absolute_discount", "", {"discount": 0.7}, "LMIR.ABS"),
        ("dirichlet", "", {"mu": 2000.0}, "LMIR.DIR"),
        ("jelinek_mercer", "", {"background": 0.1}, "LMIR.JM"),
    ]


def _names(fields: Sequence[Field], *kinds: str) -> tuple[str, ...]:
    return tuple(one.name for one in fields if one.kind in kinds)

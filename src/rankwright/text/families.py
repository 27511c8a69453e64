"""The table of feature families: what each computes, from what, and with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Source = Literal["text", "texts", "query", "feedback", "url", "links", "number", "clicks", "vectors", "function"]

STATISTICS = ("sum", "min", "max", "mean", "variance")
SAME, OTHER, ANY = "same", "other", "any"  # the queries whose clicks count


@dataclass(frozen=True, slots=True)
class NumberSetting:
    """A number that a family needs, with the values it may have; one for each field where `per_field` says so."""

    default: float
    least: float
    most: float
    per_field: bool = False


@dataclass(frozen=True, slots=True)
class NameSetting:
    """A text that a family needs: one of `known` where those are given, else any name; there may be no default."""

    default: str | None = None
    known: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """A family of features.

    `source` is what its features are computed from: "text" is one feature for each field, "texts" is one of all the
    fields together, "query" looks at the query alone; the others are what is known of a document beside its texts.
    `words` is what a feature's name begins with. A family of counts may be replaced by logs.
    """

    source: Source
    about: str
    words: str
    settings: Mapping[str, NumberSetting | NameSetting] = field(default_factory=dict)
    has_statistics: bool = False
    takes_log: bool = False  # never negative


K1 = NumberSetting(1.2, 0.0, 1000.0)
B = NumberSetting(0.75, 0.0, 1.0)
WITHIN = NumberSetting(8.0, 1.0, 1e6)
OF_QUERIES = NameSetting(SAME, (SAME, OTHER, ANY))

FAMILIES: Mapping[str, Family] = {
    "covered_terms": Family("text", "How many of the query's different terms the field has.", "covered terms",
                            takes_log=True),
    "covered_share": Family("text", "The share of the query's different terms that the field has.", "covered share"),
    "covered_idf_share": Family("text", "The same with each term weighed by its idf.", "covered share by idf"),
    "length": Family("text", "How many tokens the field has.", "length", takes_log=True),
    "different_terms": Family("text", "How many different tokens the field has.", "different terms", takes_log=True),
    "tf": Family("text", "How often the query's terms occur in the field, over the terms.", "tf", {}, True, True),
    "tf_share": Family("text", "The same divided by the field's length.", "tf by length", {}, True, True),
    "idf": Family("text", "ln(1 + (N - n + ½) / (n + ½)) of the query's terms, n of N documents having the term.",
                  "idf", {}, True, True),
    "tf_idf": Family("text", "tf · idf of the query's terms.", "tf·idf", {}, True, True),
    "boolean": Family("text", "1 where the field has all of the query's terms, else 0.", "boolean"),
    "vector_space": Family("text", "The product of the tf · idf of query and field, over the length of the query's and "
                           "the square root of the field's number of tokens.", "vector space", takes_log=True),
    "bm25": Family("text", "Σ idf · tf / (tf + k1 · (1 - b + b · length / mean length)), as Lucene has it.", "bm25",
                   {"k1": K1, "b": B}, takes_log=True),
    "bm25f": Family("texts", "BM25 of several fields, saturated once over their weighted counts.", "bm25f",
                    {"k1": K1, "weights": NumberSetting(1.0, 0.0, 1e6, per_field=True),
                     "b": NumberSetting(0.75, 0.0, 1.0, per_field=True)}, takes_log=True),
    "absolute_discount": Family("text", "How much likelier the query is by the field's language model than by the "
                                "collection's, as a log; each count gives up `discount`.", "absolute discount",
                                {"discount": NumberSetting(0.7, 0.01, 1.0)}),
    "dirichlet": Family("text", "The same, `mu` tokens of the collection added to the field.", "dirichlet",
                        {"mu": NumberSetting(2000.0, 0.01, 1e9)}),
    "jelinek_mercer": Family("text", "The same, the collection's model mixed in with the share `background`.",
                             "jelinek-mercer", {"background": NumberSetting(0.1, 0.001, 1.0)}),
    "dph": Family("text", "Divergence from randomness without settings, hypergeometric with Popper's normalisation.",
                  "dph"),
    "shortest_window": Family("text", "The length of the shortest stretch with all the query's terms that the field "
                              "has; 0 where it has none.", "shortest window", takes_log=True),
    "first_position": Family("text", "1 / the position, from 1, of the first of the query's terms; 0 without one.",
                             "first position"),
    "phrase": Family("text", "How often the query stands in the field word for word.", "phrase", takes_log=True),
    "ordered_phrase": Family("text", "How often the query's terms follow each other in order, with at most `slack` "
                             "other tokens between them.", "ordered phrase",
                             {"slack": NumberSetting(8.0, 0.0, 1e6)}, takes_log=True),
    "ordered_pairs": Family("text", "How often two neighbours in the query follow each other, at most `within` tokens "
                            "apart.", "ordered pairs", {"within": NumberSetting(1.0, 1.0, 1e6)}, takes_log=True),
    "unordered_pairs": Family("text", "How often different terms of the query stand next to each other among its "
                              "occurrences, at most `within` tokens apart.", "unordered pairs",
                              {"within": WITHIN}, takes_log=True),
    "longest_run": Family("text", "The longest part of the query that the field has word for word, in terms.",
                          "longest run", takes_log=True),
    "closeness": Family("text", "Σ idf · near / (near + saturation of BM25), near being the sum over neighbours of "
                        "other terms' idf / distance².", "closeness", {"k1": K1, "b": B}, takes_log=True),
    "begins_with_query": Family("text", "1 where the field begins with the query, else 0.", "begins with query"),
    "equals_query": Family("text", "1 where the field is the query, else 0.", "equals query"),
    "query_length": Family("query", "How many terms the query has.", "query length", takes_log=True),
    "feedback": Family("feedback", "BM25, over all fields, of the `terms` that stand out in the query's best "
                       "`documents` by BM25, each weighed by its share of their texts.", "feedback",
                       {"documents": NumberSetting(5.0, 1.0, 100.0), "terms": NumberSetting(20.0, 1.0, 1000.0),
                        "k1": K1, "b": B}, takes_log=True),
    "url_slashes": Family("url", "How many slashes the address has.", "slashes", takes_log=True),
    "url_length": Family("url", "How many characters the address has.", "characters", takes_log=True),
    "url_depth": Family("url", "How many parts the address's path has.", "depth", takes_log=True),
    "url_digits": Family("url", "How many digits the address has.", "digits", takes_log=True),
    "url_parameters": Family("url", "How many parameters follow the address's question mark.", "parameters",
                             takes_log=True),
    "url_host_parts": Family("url", "How many parts the host's name has.", "host parts", takes_log=True),
    "query_in_host": Family("url", "How much of the host's name, without its last part and www, the query's letters "
                            "are, where the name has them in one piece; else 0.", "query in host"),
    "in_links": Family("links", "How many documents link to the document.", "in-links", takes_log=True),
    "out_links": Family("links", "How many documents the document links to.", "out-links", takes_log=True),
    "page_rank": Family("links", "PageRank, times the number of documents.", "page rank",
                        {"damping": NumberSetting(0.85, 0.0, 0.99)}, takes_log=True),
    "number": Family("number", "The number in the field; a date is in days since 1970.", "value"),
    "log_number": Family("number", "sign · ln(1 + size) of the number in the field.", "log of value"),
    "age": Family("number", "How many days before the row's time the date in the field is.", "age in days"),
    "shown": Family("clicks", "How often the log shows the document, before the row's time, for this query or others.",
                    "times shown", {"queries": OF_QUERIES}, takes_log=True),
    "clicks": Family("clicks", "How often it was clicked then.", "clicks", {"queries": OF_QUERIES}, takes_log=True),
    "click_rate": Family("clicks", "Its clicks over the times it was shown, drawn to the log's rate so far as if by "
                         "`prior` more times.", "click rate",
                         {"queries": OF_QUERIES, "prior": NumberSetting(10.0, 0.0, 1e6)}),
    "cosine": Family("vectors", "The cosine of the query's and the document's vectors of that name.", "cosine",
                     {"vectors": NameSetting()}),
    "function": Family("function", "What a function of your own gives for the query and the document.",
                       "own value", {"function": NameSetting()}),
}  # fmt: skip

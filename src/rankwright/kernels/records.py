"""What kernels take as one argument: values that belong together.

A kernel reads their fields by name, as `native/bindings` defines; the code that makes a record checks it. Classes that
train or score often extend a record with methods.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float32Array, Float64Array, Int32Array, IntArray, Uint32Array, Uint64Array

FloatArray = NDArray[Any]  # float32, or float64 for diagnostics
SplitGain = Literal["newton", "least-squares"]
Growth = Literal["best-first", "symmetric"]


class RankedLists(NamedTuple):
    """The list of each query, best first.

    Query q owns the stretch of `rows` from `offsets[q]` to `offsets[q + 1]`; its first `n_ranked[q]` rows are its list,
    and those after them were not retrieved. `tied` tells for each rank whether its document is tied with the one
    before; it is empty where ties do not count.
    """

    offsets: IntArray
    n_ranked: IntArray
    rows: IntArray
    tied: BoolArray


class WeighedGroups(NamedTuple):
    """The queries of a dataset: query q owns rows `offsets[q]` to `offsets[q + 1]`. Empty weights are all 1."""

    offsets: IntArray
    document_weights: Float32Array
    query_weights: Float32Array


class Batch(NamedTuple):
    """Queries asked for and the scores of their rows, those of `queries[k]` from `starts[k]` to `starts[k + 1]`."""

    scores: Float64Array
    queries: IntArray
    starts: IntArray
    key: int = 0  # what random numbers are made from


class Forces(NamedTuple):
    """What a λ-kernel fills: a gradient and a curvature for each score, and a cost per query, unless that is empty."""

    gradient: FloatArray
    curvature: FloatArray
    cost: Float64Array


@dataclass(frozen=True, slots=True)
class PairSettings:
    """How pairs are made and weighed."""

    loss: str = "logistic"  # or hinge, spring
    shape: float = 1.0  # σ of the logistic loss, the margin of the others
    delta: str = "constant"  # or discounted-gain, average-precision, reciprocal-rank, expected-reciprocal-rank
    truncation: int = 0  # only pairs with a document among this many top ranks; 0: all
    sampled: int = 0  # partners drawn for each document, in queries where that is fewer than all; 0: all
    pair_equal_labels: bool = False  # with target ½
    certainty: float = inf  # the target is logistic(certainty · label difference)
    query_norm: bool = False  # scale a query's forces by log2(1 + S) / S, S the sum of their sizes
    gap_norm: bool = False  # divide a pair's force by 0.01 + its score gap, where not all scores are equal
    shuffle_ties: bool = False  # equal scores rank in random order, else in row order
    expected_ties: bool = False  # weights are means over all orders of equal scores; only with discounted-gain
    perturbations: int = 0  # weights are means over so many noisy orders; 0: one order, that of the scores
    noise: float = 1.0  # times logistic noise is added to the scores; 0: only equal scores change places
    neighbours: bool = False  # only neighbours in a noisy order are pairs
    constant_share: float = 0.0  # of the weights, which all pairs within the truncation have alike


class LabelledQueries(NamedTuple):
    """Queries whose documents of different labels are pairs; unjudged documents (NaN) are in none."""

    groups: WeighedGroups
    labels: Float32Array
    by_label: IntArray  # each query's rows in the dataset, highest label first, unjudged last
    worth: Float64Array
    discount: Float64Array
    settings: PairSettings


class Exchange(Protocol):
    """What workers that grow one tree together tell each other; each has documents of its own, all take the same steps.

    Every method is called by all workers, in the same order. Arrays are of int64, and must not be kept.
    """

    @property
    def size(self) -> int:
        """How many workers there are."""

    @property
    def rank(self) -> int:
        """The number of this one."""

    def add_up(self, values: IntArray) -> None:
        """Replace each value by its sum over the workers."""

    def trade(self, out: IntArray, sizes: IntArray, into: IntArray) -> None:
        """Send `sizes[w]` values to worker w, those for worker 0 first, and fill `into` with what each sent here."""

    def gather(self, own: IntArray, into: IntArray) -> None:
        """Fill `into` with the values of each worker, worker 0 first."""


@dataclass(frozen=True, slots=True, eq=False)
class SparseTable:
    """A matrix of which only some values are stored: row r has those from `starts[r]` to `starts[r + 1]`.

    The columns of a row ascend. Values that are not stored are `absent`, which is 0 or NaN.
    """

    starts: IntArray
    columns: Int32Array
    values: Float32Array
    n_columns: int
    absent: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class SparseCodes:
    """Bin codes of rows that have the usual code in most features: only other codes, which are set, are kept.

    Each code of a feature but the usual one has a place, in the order of codes: the feature's `n_places` places begin
    at `first`. Features that are never set in the same row may be a bundle, whose rows have one number each: the place
    that is set, less the bundle's base, or 0. The places of other features that are set are listed row by row, in
    ascending order.
    """

    first: Uint32Array
    n_places: Uint32Array  # 0 where a feature is never set
    usual: Uint32Array
    bundle: Int32Array  # -1 where a feature is in none
    bases: Uint32Array  # of the bundles
    bundled: NDArray[np.uint16]  # (rows, bundles)
    starts: IntArray  # of each row's list, and the end
    listed: Uint32Array
    crowded: Uint32Array  # runs of places, first and end of each, of features that are set in more than 8,191 rows
    n_total_places: int  # with the bases, at which bundles count where nothing is set
    row_hashes: Uint64Array  # of the features

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.starts) - 1


class SplitColumns(NamedTuple):
    """What is known about each feature that a tree may split on."""

    n_bins: IntArray  # not counting the one for missing values
    categorical: BoolArray
    monotone: NDArray[np.int8]  # +1 where values must rise with the feature, -1 where they must fall, else 0
    asked: BoolArray  # whether the tree may split on it


class ArrangedRows(NamedTuple):
    """One-byte codes in another arrangement, from which the compiled kernel sums histograms.

    A row has the codes of features by place, 16 places being a group; then a word whose bit g says whether group g has
    an unusual code; then padding. Without places there is no arrangement.
    """

    rows: NDArray[np.uint8]  # (rows, bytes of a row)
    features: Int32Array  # by place, 8, 16, … of them; -1 where there is none
    usual: NDArray[np.uint8]  # the usual code by place
    n_skipping: int  # so many groups, the first ones, are worth skipping rows in
    counts: Uint32Array  # of the rows with each code: 256 numbers for a place


class GrowthScratch(NamedTuple):
    """Memory that the compiled kernel works in; a caller keeps it from tree to tree."""

    rows: Uint32Array  # as many as the tree has
    sides: NDArray[np.uint8]
    histograms: NDArray[np.uint64]  # room for two at least
    arranged: ArrangedRows  # the codes again


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeSettings:
    """How a tree may grow.

    `split_gain` says what a split is worth: `newton` counts how much the two Newton steps lower the cost, gradient² /
    (curvature + l2) of each side; `least-squares` how much they lower the squared error of a fit to the gradients,
    gradient² / count. Leaf values are Newton steps, −gradient / (curvature + l2), times `learning_rate`.

    `growth` says which splits are made: `best-first` splits the leaf that gains most, `symmetric` one level at a time
    by the split that gains most in all its leaves together. A leaf where a level's split is not allowed, or gains
    nothing, takes no part in it, and may take part in later ones; so no leaf has fewer documents than allowed.

    With `gain_noise` the split of a leaf or level is drawn: of each feature's best one, the root of the gain is taken
    from about a normal distribution around the true root, and the greatest wins. The deviation is `gain_noise` times
    the root of what a split that tells nothing apart gains on average, Σ gradient² / (Σ curvature + l2) over the tree's
    documents, or Σ gradient² / count; 1 is thus about as much as gains vary by chance alone.
    """

    max_leaves: int = 31
    max_depth: int | None = None  # splits between the root and a leaf; None = as many as leaves allow
    min_docs_in_leaf: int = 20
    min_curvature_in_leaf: float = 1e-3
    l2: float = 0.0
    min_gain: float = 0.0  # a split must gain more than this
    split_gain: SplitGain = "newton"
    learning_rate: float = 0.1
    # A category's mean gradient, by which categories are ordered, is drawn to 0 as if by this many average documents.
    category_smoothing: float = 10.0
    max_split_categories: int = 32  # on the side of a split that has fewer categories
    growth: Growth = "best-first"
    gain_noise: float = 0.0
    split_feature_fraction: float = 1.0  # of the tree's features, drawn for each leaf or level that looks for a split


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TreeNodes:
    """The nodes of a tree that was grown on bins, the root first. Feature -1 marks a leaf, which scores `value`.

    A document whose code of `feature` is at most `bin` goes to node `left`, another to `right`; one that lacks it goes
    left where `missing_left` is set. For a categorical feature, `bin` is -1, and category code c goes left where bit c
    of the node's `categories` is set.
    """

    feature: Int32Array
    bin: Int32Array
    left: Int32Array
    right: Int32Array
    missing_left: BoolArray
    value: Float32Array
    gain: Float64Array  # how much a node's split lowered the cost
    count: IntArray  # how many of the rows it was grown on reach a node
    curvature: Float32Array | None = None  # the sum of theirs; None where a tree was not grown by forces
    categories: Uint32Array  # (nodes, words)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class ForestTrees:
    """The nodes and leaves of some trees, laid out for scoring.

    A tree's leaves are numbered from left to right. A document starts at number 0 and visits the nodes, parents first:
    where its number is that of the first leaf below a node and its code is greater than the node's, the number becomes
    that of the first leaf below the right child. In the end it is the number of the document's leaf.

    In the form that `score_by_bits` takes, each different split of a tree is one node: where a document's code is
    greater than the node's, its number gets the node's bit, which stands in place of the first leaf on the right. A
    leaf may have several numbers.
    """

    # (nodes, 5): two columns (where no document lacks a value, and where some may), first leaf, code, first leaf on the
    # right; of the last three the lowest `lane_bytes` bytes count.
    nodes: Uint32Array
    node_offsets: IntArray
    leaf_values: Float32Array
    leaf_offsets: IntArray
    lane_bytes: int  # 1 or 2: of codes and leaf numbers


@dataclass(frozen=True, slots=True, eq=False)
class FeatureColumns:
    """What nodes compare: for each column the feature, and either ascending edges or the categories that go left."""

    features: Int32Array
    edges: Float32Array
    offsets: IntArray
    category_words: IntArray  # where a column's words begin in `categories`; -1 where it is a number
    categories: Uint32Array


@dataclass(frozen=True, slots=True, eq=False)
class SplitShares:
    """The inner nodes of `ForestTrees` in the same order: what each splits, and how many documents it sends left.

    A child is the number of an inner node within its tree, or -1 - the number of a leaf.
    """

    feature: Int32Array
    share: Float64Array  # of the documents at the node that go left
    left: Int32Array
    right: Int32Array


@dataclass(frozen=True, slots=True, eq=False)
class LabelPairs:
    """All pairs of documents of a query with different labels; unjudged documents are in none.

    Query q owns `order[offsets[q]]` to `order[offsets[q + 1]]`: its judged rows, by ascending label. A pair counts its
    query's weight times the weights of its two documents.
    """

    labels: Float32Array
    weights: Float64Array
    query_weights: Float64Array
    offsets: IntArray
    order: IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LevelledRows:
    """What rank perceptrons learn from. Levels count from 0; a document's weight multiplies its step, empty: all 1."""

    features: Float32Array
    levels: Int32Array
    weights: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class MarginPairs:
    """All pairs of documents of a query with different levels, and what they weigh.

    A pair's weight is its query's factor times the weights of both documents times that of both levels, the better one
    first; empty weights are all 1.
    """

    offsets: IntArray
    levels: Int32Array
    document_weights: Float64Array
    query_factors: Float64Array
    level_weights: Float64Array  # (levels, levels)


class PairSums(NamedTuple):
    """Filled, for each document: the weight of its active partners below and above, and sums of values over them."""

    weight_below: Float64Array
    sum_below: Float64Array
    weight_above: Float64Array
    sum_above: Float64Array


class DrawnRows(NamedTuple):
    """Documents to draw from. Empty weights are all 1."""

    features: Float32Array
    labels: Float32Array
    weights: Float64Array  # of a document's step, and of the first document of a pair
    partner_weights: Float64Array  # of the second


class DrawnPairs(NamedTuple):
    """Pairs of documents of different labels to draw from.

    The partners of the document at place p are its query's places from `query_first[p]` on, except those of its label,
    `same_first[p]` to `same_last[p]`.
    """

    by_label: IntArray  # each query's rows, sorted by label
    query_first: IntArray
    same_first: IntArray
    same_last: IntArray
    pairs_before: IntArray  # the partners of the places before each, and of all


class DrawSettings(NamedTuple):
    """How draws are made, and how far each moves the weights: draw t by 1 / (stiffness + l2 · t)."""

    regression_share: float  # of the draws that are documents, not pairs
    l2: float
    stiffness: float
    logistic: bool
    key: int


@dataclass(frozen=True, slots=True, eq=False)
class ComparedPairs:
    """Pairs of documents of which the first should rank higher, and the documents they name, both query by query."""

    features: Float32Array
    offsets: IntArray  # of each query's documents
    pair_offsets: IntArray  # of each query's pairs
    better: IntArray
    worse: IntArray
    weight: Float32Array


class Pieces(NamedTuple):
    """Standardised features cut into pieces, which are a net's inputs behind these features themselves.

    A feature of numbers has an input for each stretch between two neighbours of its knots: 0 below it, `height` above
    it, and on a line between in it. A feature of categories, between which its knots lie, has one for each, 0 or
    `height`, and is itself 0. Then comes the one of missing values, 0 or `height`, where the feature has it; elsewhere
    a missing value counts as 0.
    """

    starts: (
        IntArray  # feature f has knots[starts[f]:starts[f + 1]], in ascending order; numbers have none, or two or more
    )
    knots: Float32Array
    categorical: BoolArray
    missing: BoolArray  # whether missing values have an input of their own
    height: float


@dataclass(eq=False)
class StandardisedRows:
    """The rows of a matrix, each value as (x - shift) · factor, 0 where it is missing."""

    features: Float32Array
    shift: Float32Array
    factor: Float32Array
    pieces: Pieces | None = None  # which nets alone look at


class LayeredNet(NamedTuple):
    """Fully connected layers, the last with one unit, which is the score."""

    widths: IntArray  # the number of features, then the units of each layer
    weights: Float32Array  # of each layer: [unit, input], scales where there are members, thresholds; they are changed
    last_threshold: bool  # whether the last layer has one; all others do
    activation: str  # relu, tanh, sigmoid or gelu
    dropout: float  # the share of hidden units left out, drawn anew for every document and step
    n_members: int = (
        1  # they share hidden layers but for [member, unit] scales and thresholds, and have a last one each
    )


class StepRule(NamedTuple):
    """How the weights follow the mean derivative of a step's queries."""

    optimizer: str  # adam or sgd
    learning_rate: float
    weight_decay: float
    pull: float  # this times the weights is added to the derivative
    mean: Float32Array  # Adam's running mean of derivatives, which is updated
    square: Float32Array  # the same of their squares
    n_steps: int  # steps taken before


class QueryWalk(NamedTuple):
    """The queries to go through, and what is noted of each before its step."""

    queries: IntArray
    starts: IntArray  # the scores of queries[k] are starts[k] to starts[k + 1]
    keys: IntArray  # one per step: its random numbers come from it
    batch_queries: int  # queries per step
    scores: Float64Array  # filled
    cost: Float64Array  # filled, one per query; or empty


class ShownLists(NamedTuple):
    """Result lists with clicks: list k was shown for `queries[k]`, its documents are `offsets[k]` to `offsets[k + 1]`.

    Documents stand in the order in which they were shown.
    """

    offsets: IntArray
    queries: Int32Array
    documents: Int32Array
    clicked: BoolArray


class PairLists(NamedTuple):
    """Result lists, sorted by query, whose documents are numbered: a pair is a document of a query.

    Query q has the lists `list_starts[q]` to `list_starts[q + 1]` and the pairs `pair_starts[q]` to
    `pair_starts[q + 1]`; list k was seen `counts[k]` times.
    """

    list_starts: IntArray
    pair_starts: IntArray
    offsets: IntArray
    pairs: Int32Array
    clicked: BoolArray
    counts: IntArray


class PairCells(NamedTuple):
    """How often each pair was shown and clicked in each context; those of pair p are `starts[p]` to `starts[p + 1]`."""

    starts: IntArray
    contexts: Int32Array
    shown: IntArray
    clicks: IntArray


class IdTable(NamedTuple):
    """Where ids are found by their hash: a power of two of slots, half of them used at most; -1 marks free ones."""

    hashes: Uint64Array
    numbers: Int32Array


class Texts(NamedTuple):
    """Texts in UTF-8, one after another: text t is `bytes[starts[t] : starts[t + 1]]`."""

    bytes: NDArray[np.uint8]
    starts: IntArray


class VoteTable(NamedTuple):
    """Votes added up: as many slots for each part as `n_used` has parts; a slot without a query (-1) is free.

    `pairs` has the document voted for in its upper 32 bits and the other one in the lower. `above` and `below` are what
    was voted where the first was shown above the other, and below it.
    """

    queries: Int32Array
    pairs: Uint64Array
    above: IntArray
    below: IntArray
    n_used: IntArray


class TokenStream(NamedTuple):
    """A field of many documents: the terms of document d, by number, are `tokens[offsets[d] : offsets[d + 1]]`."""

    offsets: IntArray
    tokens: Uint32Array


class StreamViews(NamedTuple):
    """What features look at: view v is the streams `members[starts[v] : starts[v + 1]]`, read one after another."""

    starts: IntArray
    members: IntArray
    tokens: Float64Array  # of all documents, by view
    mean_lengths: Float64Array  # of documents with such a text, by view
    stream_mean_lengths: Float64Array  # the same by stream
    n_documents: float


class MatchedTerms(NamedTuple):
    """The queries: query q has the different terms `starts[q]` to `starts[q + 1]`.

    Its text is `places[place_starts[q] : place_starts[q + 1]]`, which counts among its terms.
    """

    starts: IntArray
    numbers: Uint32Array  # as streams number terms; NO_TERM where no document has the term
    document_frequencies: Float64Array  # (terms, views)
    collection_counts: Float64Array  # (terms, views)
    place_starts: IntArray
    places: IntArray


class QueryPairs(NamedTuple):
    """The rows of query q are `starts[q]` to `starts[q + 1]`, each with a document."""

    starts: IntArray
    documents: IntArray


class TextColumns(NamedTuple):
    """What to compute: the measure of each column, the view it looks at, its settings, and whether to take the log."""

    measures: list[str]
    views: IntArray
    settings: Float64Array  # (columns, most settings)
    logs: BoolArray


class SegmentPostings(NamedTuple):
    """The postings of a segment, in the fields that are searched: term t has those from `starts[t]` on.

    `lengths` are those of each field's documents, or one array for all fields together. Each block of postings of a
    term has the largest count of each field, and the least length of a document that has the term there.
    """

    starts: IntArray
    documents: Uint32Array
    counts: tuple[NDArray[Any], ...]  # uint8, uint16 or uint32
    lengths: tuple[Int32Array, ...]
    block_starts: IntArray
    block_most: tuple[Uint32Array, ...]
    block_least: tuple[Uint32Array, ...]


class SegmentStreams(NamedTuple):
    """The terms of each document in order, field by field; empty where no phrase is asked for."""

    offsets: tuple[IntArray, ...]
    tokens: tuple[Uint32Array, ...]


class QueryTerms(NamedTuple):
    """The distinct terms of queries: query q has those from `starts[q]` on, numbers of a segment or 2**32 - 1."""

    starts: IntArray
    terms: Uint32Array
    weights: Float64Array
    rarities: Float64Array
    lengths: Float64Array  # of each query


class QueryPhrases(NamedTuple):
    """Sequences of terms that documents must have: query q has the phrases from `starts[q]` on."""

    starts: IntArray
    term_starts: IntArray
    terms: Uint32Array


class TextScorer(NamedTuple):
    """How postings are scored; `model` is "bm25", "bm25f", "dirichlet" or "dph"."""

    model: str
    saturation: float
    bases: Float64Array
    slopes: Float64Array
    weights: Float64Array
    smoothing: float
    mean_length: float
    least_length: float


class TopDocuments(NamedTuple):
    """The best documents of each query so far: a row a query, best first, with how many there are."""

    scores: NDArray[np.float64]
    documents: NDArray[np.int64]
    sizes: IntArray

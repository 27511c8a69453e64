"""What the kernel that trains a narrow net takes, in groups. It reads the fields by name."""

from __future__ import annotations

from dataclasses import dataclass

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.kernels.pair_settings import PairSettings


@dataclass(frozen=True, slots=True, eq=False)
class NarrowNet:
    """Fully connected layers, the last with one unit, which is the score."""

    widths: IntArray  # the number of features, then the units of each layer
    weights: Float32Array  # of each layer: [unit, input], then its thresholds; they are changed
    last_threshold: bool  # whether the last layer has one; all others do
    activation: str  # relu, tanh or sigmoid
    dropout: float  # the share of hidden units left out, drawn anew for every document and step


@dataclass(frozen=True, slots=True, eq=False)
class ScaledFeatures:
    """Features, which the net sees as (x - shift) · factor, and as 0 where they are missing."""

    features: Float32Array
    shift: Float32Array
    factor: Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class LabelledQueries:
    """Queries whose documents of different labels are pairs, as `label_pair_lambdas` takes them."""

    offsets: IntArray
    labels: Float32Array
    by_label: IntArray
    worth: Float64Array
    discount: Float64Array
    document_weights: Float32Array
    query_weights: Float32Array
    settings: PairSettings


@dataclass(frozen=True, slots=True, eq=False)
class StepRule:
    """How the weights follow the mean derivative of a step's queries."""

    optimizer: str  # adam or sgd
    learning_rate: float
    weight_decay: float
    pull: float  # this times the weights is added to the derivative
    mean: Float32Array  # Adam's running mean of derivatives, which is updated
    square: Float32Array  # the same of their squares
    n_steps: int  # steps taken before


@dataclass(frozen=True, slots=True, eq=False)
class QueryWalk:
    """The queries to go through, and what is noted of each before its step."""

    queries: IntArray
    starts: IntArray  # the scores of queries[k] are starts[k] to starts[k + 1]
    keys: IntArray  # one per step: its random numbers come from it
    batch_queries: int  # queries per step
    scores: Float64Array  # filled
    cost: Float64Array  # filled, one per query; or empty

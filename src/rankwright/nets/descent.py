"""What nets in training have in common, whoever computes them: our kernels or torch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from numpy.typing import NDArray

from rankwright.arrays import Arrays, Float64Array, IntArray
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.nets.inputs import FeatureRows
from rankwright.nets.params import DescentParams


class Walked(NamedTuple):
    """What a walk saw: the scores of all rows, each before its query's step, and the costs in the order of the walk."""

    scores: Float64Array
    costs: Float64Array
    is_finite: bool  # False where scores were not, which ended the walk


class Net(Protocol):
    """A net that can be scored and stored: a plain one, or a module of torch."""

    @property
    def n_weights(self) -> int:
        """How many numbers it learns."""

    def scores(self, rows: FeatureRows) -> Float64Array:
        """A score for every row."""

    def arrays(self) -> Arrays:
        """Copies of everything the net has learned, by name."""

    def put(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take what `arrays` gave of a net of the same kind."""


class Descent(Protocol):
    """A net in training, with the memory of its optimizer."""

    learning_rate: float

    def walk(self, order: IntArray, keys: IntArray, seed: int) -> Walked:
        """Go through the queries in this order, with one step for each key, which its random numbers are drawn from.

        What a module draws by means of torch comes from `seed`.
        """

    def memory(self) -> Arrays:
        """What `take_up` needs, besides the net's weights, to continue from here."""

    def take_up(self, memory: Mapping[str, NDArray[Any]]) -> None:
        """Continue with the memory of another descent."""


def batches(order: IntArray, size: int) -> Iterator[IntArray]:
    """The queries of each step."""
    for start in range(0, len(order), size):
        yield order[start : start + size]


def pull_of(params: DescentParams, groups: Groups) -> float:
    """The factor that turns a weight into the penalty's share of a query's mean derivative."""
    return 2.0 * params.penalty / groups.n_queries


def check_same_form(arrays: Mapping[str, NDArray[Any]], own: Arrays) -> None:
    """Raise unless the arrays have the names, shapes and types of a net's own."""
    differing = sorted(own.keys() ^ arrays.keys()) or [name for name in own if own[name].shape != arrays[name].shape]
    if differing:
        raise InputError(f"the module is not the one that was saved: {', '.join(differing)} differ")
    converted = [name for name, values in arrays.items() if values.dtype != own[name].dtype]
    if converted:
        raise InputError(f"the module is not the one that was saved: {', '.join(converted)} are of other types")

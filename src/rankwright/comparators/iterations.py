"""Records of what each iteration of Algorithm 3.1 was trained on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import Arrays
from rankwright.container.checks import MOST, check_between, read_any_field, read_array, read_integer, read_number

NO_EPOCH = -1  # stands in checkpoints for the missing best epoch of iteration 0, whose net is random


@dataclass(frozen=True, slots=True)
class Iteration:
    """What the net of an iteration was trained on: the number of pairs, and their share of all possible pairs."""

    n_pairs: int
    n_valid_pairs: int
    share_of_pairs: float
    share_of_valid_pairs: float
    best_epoch: int | None  # from 0; None for the random net of iteration 0

    def to_dict(self) -> dict[str, Any]:
        """The iteration as files keep it."""
        return asdict(self)

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Iteration:
        """The iteration that `to_dict` recorded."""
        counts = [read_integer(record, name) for name in ("n_pairs", "n_valid_pairs")]
        shares = [read_number(record, name) for name in ("share_of_pairs", "share_of_valid_pairs")]
        epoch = None if read_any_field(record, "best_epoch") is None else read_integer(record, "best_epoch")
        return cls(counts[0], counts[1], shares[0], shares[1], epoch)


def iterations_to_arrays(iterations: list[Iteration]) -> Arrays:
    """The iterations as arrays with one value for each iteration."""
    counts = [(one.n_pairs, one.n_valid_pairs, NO_EPOCH if one.best_epoch is None else one.best_epoch)
              for one in iterations]  # fmt: skip
    shares = [(one.share_of_pairs, one.share_of_valid_pairs) for one in iterations]
    return {"counts": np.array(counts, np.int64).reshape(-1, 3), "shares": np.array(shares).reshape(-1, 2)}


def iterations_from_arrays(arrays: Mapping[str, NDArray[Any]]) -> list[Iteration]:
    """The iterations in the arrays that `iterations_to_arrays` made."""
    counts = read_array(arrays, "counts", np.int64, (None, 3))
    shares = read_array(arrays, "shares", np.float64, (len(counts), 2))
    check_between("counts", counts, NO_EPOCH, MOST)
    return [
        Iteration(n_pairs, n_valid, share, valid_share, None if epoch == NO_EPOCH else epoch)
        for (n_pairs, n_valid, epoch), (share, valid_share) in zip(counts.tolist(), shares.tolist(), strict=True)
    ]

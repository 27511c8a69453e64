"""Parts of a dataset, cut between queries and never through one.

Functions name queries by their number in `Groups`; `QueryKFold`, which is for scikit-learn, names rows. Parts list
their queries in the order of the dataset; LETOR's training parts keep LETOR's order.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rankwright.arrays import IntArray, Seed, as_ids, generator
from rankwright.data.frames import values_of
from rankwright.data.groups import Groups, group_rows
from rankwright.errors import InputError, UnknownNameError, require

LETOR_PARTS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """The queries to train on, to validate on (none in plain k-fold) and to test on."""

    train: IntArray
    valid: IntArray
    test: IntArray


def split_queries(
    groups: Groups, *, valid: float = 0.2, test: float | None = None, seed: Seed = 0, order: IntArray | None = None
) -> tuple[IntArray, ...]:
    """Queries to train on, to validate on and, where `test` is given, to test on, drawn at random.

    `valid` and `test` are shares of the queries, rounded to whole ones; no part may end up empty. `order` lists the
    queries in the order of their keys, so that the parts do not depend on the order of the data.
    """
    shares = {"valid": valid} if test is None else {"valid": valid, "test": test}
    for name, share in shares.items():
        require(0 < share < 1, f"{name} must lie between 0 and 1, got {share}")
    sizes = {name: round(share * groups.n_queries) for name, share in shares.items()}
    sizes = {"train": groups.n_queries - sum(sizes.values())} | sizes
    wanted = ", ".join(f"{part}={share}" for part, share in shares.items())
    for name, size in sizes.items():
        require(size >= 1, f"{wanted} of {groups.n_queries} queries leaves no query for {name}")
    drawn = generator(seed).permutation(groups.n_queries if order is None else order)
    return tuple(np.sort(part) for part in np.split(drawn, np.cumsum(list(sizes.values()))[:-1]))


def k_fold(
    groups: Groups, k: int = 5, *, shuffle: bool = True, seed: Seed = 0, order: IntArray | None = None
) -> list[Fold]:
    """`k` folds; every query is in the test part of exactly one and in the training part of all others.

    Test parts differ by at most one query. With `shuffle`, queries are dealt by size, like cards from a sorted deck, so
    that the parts also have about as many documents; otherwise they are runs of neighbouring queries. `order` lists the
    queries in the order of their keys: with `shuffle`, parts then do not depend on the order of the data.
    """
    _check_parts(k, groups.n_queries, what="folds")
    order = np.arange(groups.n_queries) if order is None else order
    parts = _dealt_by_size(groups, k, generator(seed), order) if shuffle else _neighbours(groups, k)
    nothing = np.zeros(0, np.int64)
    return [Fold(np.sort(np.concatenate(parts[:i] + parts[i + 1 :])), nothing, parts[i]) for i in range(k)]


def letor_folds(groups: Groups) -> list[Fold]:
    """LETOR's five folds: of five runs of neighbouring queries, three to train, one to validate, one to test.

    With the runs S1 to S5, fold 1 trains on S1, S2, S3, validates on S4 and tests on S5. Each next fold moves on by one
    and starts again after S5, as the files of the benchmark do: fold 4 trains on S4, S5, S1 in this order.
    """
    _check_parts(LETOR_PARTS, groups.n_queries, what="LETOR parts")
    parts = _neighbours(groups, LETOR_PARTS)
    rotations = [parts[i:] + parts[:i] for i in range(LETOR_PARTS)]
    return [Fold(np.concatenate(turn[:3]), turn[3], turn[4]) for turn in rotations]


@dataclass(frozen=True, slots=True)
class QueryKFold:
    """Splits rows into folds for scikit-learn without cutting a query.

    It works like scikit-learn's `GroupKFold`, with the query ids as groups; rows may be in any order. With metadata
    routing it accepts `qid`, as rankers do, or `groups`; without, scikit-learn passes `groups`.

    Parameters
    ----------
    n_splits : int, default 5
        The number of folds, 2 or more.
    shuffle : bool, default True
        Whether queries are dealt to the folds at random, so that all folds have about as many rows. Otherwise folds
        are runs of neighbouring queries.
    seed : int, default 0
        Where the draw starts: the same seed gives the same folds.

    Examples
    --------
    >>> import rankwright as rw
    >>> qid = [1, 1, 2, 2, 3, 3]
    >>> for train, test in rw.QueryKFold(3, shuffle=False).split(None, groups=qid):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 4 5] [2 3]
    [0 1 2 3] [4 5]
    """

    n_splits: int = 5
    shuffle: bool = True
    seed: int = 0
    _requests: dict[str, Any] = field(
        default_factory=lambda: {"groups": True, "qid": True}, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        require(self.n_splits >= 2, f"n_splits must be 2 or more, got {self.n_splits}")

    def split(
        self,
        X: Any,
        y: Any = None,  # noqa: ARG002
        groups: ArrayLike | None = None,
        qid: ArrayLike | None = None,
    ) -> Iterator[tuple[IntArray, IntArray]]:
        """The rows to train on and to test on, fold after fold.

        Parameters
        ----------
        X : array-like, frame or None
            The data to split; only its number of rows is looked at.
        y : object, optional
            Not used; scikit-learn passes it.
        groups : array-like of int or str, shape (n_rows,), optional
            The query id of each row. Give either `groups` or `qid`.
        qid : array-like of int or str, shape (n_rows,), optional
            The same, under the name that rankers use.

        Yields
        ------
        train, test : array of int64
            Row numbers, in ascending order.
        """
        if (groups is None) == (qid is None):
            raise InputError("QueryKFold needs groups or qid, the query id of each row, and one of them only")
        name, ids = ("groups", groups) if qid is None else ("qid", qid)
        grouping = group_rows(as_ids(values_of(ids), name=name, length=None if X is None else _n_rows(X)))
        by_id = np.argsort(grouping.query_ids, kind="stable")  # whatever order the rows are in
        for fold in k_fold(grouping.groups, self.n_splits, shuffle=self.shuffle, seed=self.seed, order=by_id):
            train, test = (grouping.groups.rows_of(queries) for queries in (fold.train, fold.test))
            if grouping.order is not None:
                train, test = np.sort(grouping.order[train]), np.sort(grouping.order[test])
            yield train, test

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, qid: Any = None) -> int:  # noqa: ARG002
        """The number of folds.

        Parameters
        ----------
        X, y, groups, qid : object, optional
            Not used; scikit-learn passes them.

        Returns
        -------
        int
            `n_splits`.
        """
        return self.n_splits

    def get_metadata_routing(self) -> Any:
        """What scikit-learn should route to `split`: the query ids.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRequest
            The request. Only scikit-learn calls this, so it is loaded already: nothing is imported here.
        """
        request = sys.modules["sklearn.utils.metadata_routing"].MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.split.add_request(param=name, alias=alias)
        return request

    def set_split_request(self, **requests: bool | str | None) -> QueryKFold:
        """Choose which metadata scikit-learn routes to `split`.

        Parameters
        ----------
        **requests : bool, str or None
            `groups` and `qid`: True to ask for it, False to ignore it, None to refuse it, or the name under which the
            caller passes it.

        Returns
        -------
        QueryKFold
            This splitter.
        """
        for name in requests:
            if name not in self._requests:
                raise UnknownNameError("metadata of QueryKFold.split", name, known=self._requests)
        self._requests.update(requests)
        return self


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _check_parts(k: int, n_queries: int, *, what: str) -> None:
    require(k >= 2, f"there must be 2 folds or more, got {k}")
    require(k <= n_queries, f"{k} {what} need at least {k} queries, got {n_queries}")


def _neighbours(groups: Groups, k: int) -> list[IntArray]:
    return np.array_split(np.arange(groups.n_queries), k)


def _dealt_by_size(groups: Groups, k: int, rng: np.random.Generator, order: IntArray) -> list[IntArray]:
    # Shuffled first, so that chance orders queries of equal size; then each hand of k queries of about the same size
    # is dealt one to a part, in an order drawn anew. The last, short hand goes to parts drawn at random.
    shuffled = rng.permutation(order)
    deck = shuffled[np.argsort(-groups.sizes[shuffled], kind="stable")]
    hands = np.tile(np.arange(k), (-(-len(deck) // k), 1))
    part_of = rng.permuted(hands, axis=1).ravel()[: len(deck)]
    return [np.sort(deck[part_of == part]) for part in range(k)]

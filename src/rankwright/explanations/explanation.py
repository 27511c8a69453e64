"""An explanation as a value: of the documents of a query, and of two of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, IntArray
from rankwright.data.frames import PandasFrame, frame_of
from rankwright.data.groups import Groups
from rankwright.explanations.contributions import centred
from rankwright.explanations.counterfactuals import Counterfactual
from rankwright.tables.axes import COLOURS, INK, Axes, axes_or_new
from rankwright.tables.text import ShownTable, counted, short

SHOWN_DOCUMENTS = 10
SHOWN_REASONS = 3  # of a document in a list
SHOWN_FEATURES = 12  # of a pair
WIDTH = 80
TOLD_APART = 6  # features that have a colour of their own in a list
OTHERS = "#b8bec7"
LARGE, VERY_LARGE = 1e4, 1e9  # between them numbers are shown without an exponent and without a fraction


class PrintedTable:
    """What explanations share: they print as their table, in lines that fit a terminal; notebooks draw it."""

    __slots__ = ()

    @abstractmethod
    def table(self) -> ShownTable:
        """Make the table that is printed."""

    def __repr__(self) -> str:
        table = self.table()
        notes = [line for note in table.notes for line in wrap(note, WIDTH, break_on_hyphens=False)]
        return replace(table, notes=notes).text(WIDTH)

    def _repr_html_(self) -> str:
        return self.table().html()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Explanation(PrintedTable):
    """Why the documents of a query rank as they do: what each feature adds to each score.

    Attributes
    ----------
    ranker : str
        The ranker's name.
    query : str or int
        The query.
    documents : tuple
        The ids of its documents, in the order of the data; row numbers from 0 where they have none.
    features : tuple of str
        What the features are called.
    values : array of float32
        The documents' features as they were given, a row for each document.
    contributions : array of float64
        What each feature adds to each score: `base` and a row add up to the document's score.
    base : float
        The score where no feature is known.
    scores : array of float64
        What `predict` gives.
    labels : array of float32, optional
        The documents' labels, where the data has any.
    how : str
        How contributions were counted.
    interactions : array of float64, optional
        What pairs of features add by acting together, where they were asked for: a square for each document, whose
        rows add up to `contributions`.
    """

    ranker: str
    query: Any
    documents: tuple[Any, ...]
    features: tuple[str, ...]
    values: Float32Array
    contributions: Float64Array
    base: float
    scores: Float64Array
    labels: Float32Array | None
    how: str
    interactions: Float64Array | None = None

    @property
    def centred(self) -> Float64Array:
        """The contributions minus their mean over the query: what all documents have in common moves none of them."""
        return centred(self.contributions, Groups.of_sizes([len(self.contributions)]))

    @property
    def order(self) -> IntArray:
        """The places of the documents, best first; equal scores stay in the order of the data."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def importances(self) -> Float64Array:
        """The mean size of each feature's centred contributions in this query."""
        return np.asarray(np.abs(self.centred).mean(axis=0))

    def to_frame(self) -> PandasFrame:
        """Return a frame with a row for each document and feature.

        Returns
        -------
        pandas or polars DataFrame
            Columns query, document, rank (from 1), score, feature, value, contribution and centred; documents best
            first, the features of each in their own order.
        """
        order, n_features = self.order, len(self.features)
        ids = [self.documents[place] for place in order.tolist()]
        return frame_of(
            {
                "query": [self.query] * (len(ids) * n_features),
                "document": [one for one in ids for _ in range(n_features)],
                "rank": np.repeat(np.arange(1, len(ids) + 1), n_features),
                "score": np.repeat(self.scores[order], n_features),
                "feature": list(self.features) * len(ids),
                "value": self.values[order].reshape(-1),
                "contribution": self.contributions[order].reshape(-1),
                "centred": self.centred[order].reshape(-1),
            }
        )

    def to_dict(self, top: int | None = None) -> dict[str, Any]:
        """Return the explanation as a dictionary for JSON.

        Parameters
        ----------
        top : int, optional
            How many documents to keep, best first; all unless given.

        Returns
        -------
        dict
            The query, its documents best first, and what each feature adds; a missing value is None.
        """
        centred = self.centred
        documents = [
            {
                "document": _plain(self.documents[place]),
                "rank": rank,
                "score": float(self.scores[place]),
                "contributions": {
                    name: {"value": _number(value), "contribution": float(own), "centred": float(moves)}
                    for name, value, own, moves in zip(
                        self.features, self.values[place], self.contributions[place], centred[place], strict=True
                    )
                    if own != 0 or moves != 0
                },
            }
            for rank, place in enumerate(self.order[:top].tolist(), start=1)
        ]
        about = {"ranker": self.ranker, "query": _plain(self.query), "how": self.how, "base": self.base}
        return about | {"documents": documents}

    def table(self, top: int = SHOWN_DOCUMENTS) -> ShownTable:
        """Make the table that is printed.

        Parameters
        ----------
        top : int, default 10
            How many documents to show.

        Returns
        -------
        ShownTable
            The documents, best first, each with the features that move it most against the query's mean.
        """
        centred, order = self.centred, self.order
        rows = []
        for rank, place in enumerate(order[:top].tolist(), start=1):
            label = [] if self.labels is None else [short(float(self.labels[place]))]
            reasons = ", ".join(
                f"{centred[place, feature]:+.3g} {label_of(self.features[feature])} = "
                f"{shown(self.values[place, feature])}"
                for feature in _largest(centred[place], SHOWN_REASONS)
            )
            rows.append([str(rank), str(self.documents[place]), f"{self.scores[place]:.4g}", *label, reasons])
        names = ["rank", "document", "score", *([] if self.labels is None else ["label"]), "moved most by"]
        left = len(order) - len(rows)
        notes = [f"… and {counted(left, 'more document')}"] if left > 0 else []
        notes.append(f"what a feature adds to a score, minus its mean over the query ({self.how})")
        title = f"Query {self.query}: {counted(len(order), 'document')}, ranked by {self.ranker}"
        return ShownTable(title, names, rows, numbers=["rank", "score", "label"], notes=notes)

    def plot(self, ax: Axes | None = None, *, top: int = SHOWN_DOCUMENTS) -> Axes:
        """Draw the documents, best first, and the features that move them.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        top : int, default 10
            How many documents to draw.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        axes, shown_places = axes_or_new(ax), self.order[:top]
        centred = self.centred[shown_places]
        heights = np.arange(len(centred))[::-1]  # the first document is at the top
        chosen, parts = features_told_apart(centred)
        names = [*(label_of(self.features[feature]) for feature in chosen), "all others"]
        colours = [*(COLOURS[place % len(COLOURS)] for place in range(len(chosen))), OTHERS]
        right, left = np.zeros(len(centred)), np.zeros(len(centred))  # the ends of what is stacked so far
        for name, values, colour in zip(names, parts.T, colours, strict=True):
            starts = np.where(values >= 0, right, left)
            axes.barh(heights, values, left=starts, color=colour, label=name, height=0.7)
            right, left = right + np.maximum(values, 0), left + np.minimum(values, 0)
        axes.plot(centred.sum(axis=1), heights, "o", color=INK, markersize=4, label="together")
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_yticks(heights, [str(self.documents[place]) for place in shown_places.tolist()])
        axes.set(xlabel="score against the query's mean", title=f"Query {self.query}")
        axes.legend(fontsize="small", loc="best")
        return axes


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairExplanation(PrintedTable):
    """Why one document ranks above another of its query.

    Attributes
    ----------
    ranker : str
        The ranker's name.
    query : str or int
        The query.
    above, below : str or int
        The two documents, the one that ranks higher first.
    features : tuple of str
        What the features are called.
    values : array of float32
        The features of the two documents, a row each.
    contributions : array of float64
        By how much each feature puts the first above the second: they add up to `margin`.
    margin : float
        By how much the first is ahead.
    scores : array of float64
        What `predict` gives the two.
    how : str
        How contributions were counted.
    counterfactual : Counterfactual, optional
        The smallest change of one feature that swaps the two, to a value that it may have, going by the data; None
        where no single feature does.
    """

    ranker: str
    query: Any
    above: Any
    below: Any
    features: tuple[str, ...]
    values: Float32Array
    contributions: Float64Array
    margin: float
    scores: Float64Array
    how: str
    counterfactual: Counterfactual | None

    def ordered(self) -> IntArray:
        """Order the features by the size of what they contribute.

        Returns
        -------
        array of int64
            Their numbers from 0, the largest first.
        """
        return np.argsort(-np.abs(self.contributions), kind="stable")

    def reason(self) -> int | None:
        """Find the feature that does most to put the first document above the second.

        Returns
        -------
        int, optional
            Its number from 0; None where no feature speaks for the first document.
        """
        best = int(np.argmax(self.contributions))
        return best if self.contributions[best] > 0 else None

    def to_frame(self) -> PandasFrame:
        """Return a frame with a row for each feature, the largest contribution first.

        Returns
        -------
        pandas or polars DataFrame
            Columns feature, above and below (the values of the two documents), and contribution.
        """
        order = self.ordered()
        return frame_of(
            {
                "feature": [self.features[feature] for feature in order.tolist()],
                "above": self.values[0, order],
                "below": self.values[1, order],
                "contribution": self.contributions[order],
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a dictionary for JSON.

        Returns
        -------
        dict
            The two documents, what each feature contributes, the largest first, and what would swap them.
        """
        features = [
            {
                "feature": self.features[feature],
                "above": _number(self.values[0, feature]),
                "below": _number(self.values[1, feature]),
                "contribution": float(self.contributions[feature]),
            }
            for feature in self.ordered().tolist()
        ]
        return {
            "ranker": self.ranker,
            "query": _plain(self.query),
            "above": _plain(self.above),
            "below": _plain(self.below),
            "scores": self.scores.tolist(),
            "margin": self.margin,
            "how": self.how,
            "features": features,
            "counterfactual": None if self.counterfactual is None else self.counterfactual.to_dict(),
        }

    def table(self, top: int = SHOWN_FEATURES) -> ShownTable:
        """Make the table that is printed.

        Parameters
        ----------
        top : int, default 12
            How many features to show.

        Returns
        -------
        ShownTable
            The features that tell the two documents apart, the largest contribution first, and what would swap them.
        """
        used = [feature for feature in self.ordered().tolist() if self.contributions[feature] != 0]
        rows = [
            [label_of(self.features[feature]), *(shown(value) for value in self.values[:, feature]),
             f"{self.contributions[feature]:+.4g}"]
            for feature in used[:top]
        ]  # fmt: skip
        rest = used[top:]
        if rest:
            rows.append([f"{len(rest)} others", "", "", f"{self.contributions[rest].sum():+.4g}"])
        rows.append(["together", "", "", f"{self.margin:+.4g}"])
        names = ["feature", str(self.above), str(self.below), "puts it above by"]
        title = f"Query {self.query}: why {self.above} is above {self.below}, by {self.ranker}"
        return ShownTable(title, names, rows, numbers=names[1:], notes=[self._swap(), f"counted as {self.how}"])

    def _swap(self) -> str:
        found = self.counterfactual
        if found is None:
            return "No change of one feature to a value that it may have, going by the data, swaps them."
        # As few digits as give it back.
        after = "missing" if np.isnan(found.after) else str(np.float32(found.after)).removesuffix(".0")
        return (
            f"Smallest change that swaps them: {label_of(found.feature)} of {found.document} from "
            f"{shown(found.before)} to {after} ({found.size:.2g} deviations)."
        )

    def plot(self, ax: Axes | None = None, *, top: int = SHOWN_FEATURES) -> Axes:
        """Draw what each feature contributes, the largest first.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.
        top : int, default 12
            How many features to draw.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        axes, chosen = axes_or_new(ax), self.ordered()[:top]
        values, heights = self.contributions[chosen], np.arange(len(chosen))[::-1]  # the first feature is at the top
        axes.barh(heights, values, color=[COLOURS[0] if value >= 0 else COLOURS[1] for value in values.tolist()])
        axes.axvline(0.0, color=INK, linewidth=0.8)
        axes.set_yticks(heights, [compared(self, feature) for feature in chosen.tolist()])
        axes.set(xlabel="puts it above by", title=f"Why {self.above} is above {self.below}")
        axes.margins(y=0.02)
        return axes


def _largest(values: Float64Array, n: int) -> list[int]:
    order = np.argsort(-np.abs(values), kind="stable")[:n]
    return [int(feature) for feature in order if values[feature] != 0]


def shown(value: Any) -> str:
    """A feature's value in few letters; `missing` for NaN."""
    if np.isnan(value):
        return "missing"
    return f"{value:.0f}" if LARGE <= abs(value) < VERY_LARGE else short(float(value))


def label_of(feature: str) -> str:
    """What a feature is called in a sentence: those without a name have a number."""
    return f"feature {feature}" if feature.isdigit() else feature


def compared(found: PairExplanation, feature: int) -> str:
    """A feature with its values in both documents, as charts name it."""
    return f"{label_of(found.features[feature])}: {shown(found.values[0, feature])} | {shown(found.values[1, feature])}"


def _number(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _plain(identity: Any) -> Any:
    return identity.item() if isinstance(identity, np.generic) else identity


def features_told_apart(centred: Float64Array) -> tuple[list[int], Float64Array]:
    """The features with the largest contributions, and a column for each of them; the last column adds up the rest."""
    sizes = np.abs(centred).mean(axis=0)
    chosen = np.argsort(-sizes, kind="stable")[: min(TOLD_APART, int(np.count_nonzero(sizes)))]
    rest = np.delete(centred, chosen, axis=1).sum(axis=1)
    return chosen.tolist(), np.column_stack([centred[:, chosen], rest])

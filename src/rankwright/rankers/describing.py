"""What a trained ranker tells of its model, in figures and pictures."""

from __future__ import annotations

from typing import Any

from rankwright.arrays import BoolArray, Float64Array
from rankwright.data.dataset_parts import numbered_names
from rankwright.errors import InputError, UnknownNameError
from rankwright.rankers.inputs import (
    check_trained,
)
from rankwright.rankers.plots import draw_history, draw_importances
from rankwright.rankers.state import RankerState
from rankwright.tables.axes import axes_or_new


class DescribedRanker(RankerState):
    """A ranker that tells what its model is made of, and which features matter."""

    def used_features(self) -> BoolArray:
        """Tell which features the trained model looks at.

        Returns
        -------
        array of bool
            One value per feature; all are True unless the model can tell which.
        """
        check_trained(self)
        return self.model_.used_features(int(self.n_features_in_))

    def facts(self) -> dict[str, Any]:
        """Tell what the trained model is made of.

        Returns
        -------
        dict
            Figures by name, in types JSON can hold; each kind of model has its own.
        """
        check_trained(self)
        return self.model_.facts()

    def examine(self, X: Any, qid: Any = None) -> dict[str, Any]:  # noqa: ARG002
        """Tell what the trained model does with documents besides ranking them, if its kind can.

        Parameters
        ----------
        X, qid
            As for `predict`.

        Returns
        -------
        dict
            A name and figures in types JSON can hold; empty for most kinds.
        """
        return {}

    @property
    def importance_kinds(self) -> tuple[str, ...]:
        """The kinds of importance that `importances` can be asked for."""
        return self.model_kind.importance_kinds

    def importances(self, kind: str | None = None) -> Float64Array:
        """Tell how much each feature matters to the model.

        Parameters
        ----------
        kind : str, optional
            One of `importance_kinds`; the first unless given.

        Returns
        -------
        array of float64
            One value per feature; its meaning depends on the kind.
        """
        kinds = self.importance_kinds
        wanted = kinds[0] if kind is None and kinds else str(kind)
        if wanted not in kinds:
            raise UnknownNameError(f"importance of {self.name}", wanted, known=kinds)
        check_trained(self)
        return self.model_.importances(wanted)

    def plot(self, ax: Any = None) -> Any:
        """Draw how training went: the watched metric after each step, with a mark at the best.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        check_trained(self)
        if not self.history_.values:
            raise InputError(f"this {self.name} was trained without validation data: there is no curve to draw")
        axes = axes_or_new(ax)
        draw_history(axes, self.history_, "step")
        return axes

    def plot_importances(self, kind: str | None = None, *, top: int = 20, ax: Any = None) -> Any:
        """Draw how much each feature matters to the model.

        Parameters
        ----------
        kind : str, optional
            One of `importance_kinds`; the first unless given.
        top : int, default 20
            How many features to draw, the most important ones.
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes
            What was drawn on.
        """
        values = self.importances(kind)
        names = getattr(self, "feature_names_in_", None)
        axes = axes_or_new(ax)
        shown = numbered_names(len(values)) if names is None else [str(name) for name in names]
        draw_importances(axes, shown, values, kind or self.importance_kinds[0], top)
        return axes

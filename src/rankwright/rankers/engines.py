"""Rankers that workers of an engine can train."""

from __future__ import annotations

from typing import Any, Self

from rankwright.cluster.engine import Engine
from rankwright.rankers.ranker import Ranker


class TrainedByWorkers(Ranker):
    """A ranker that trains in this process, or by the workers of the engine given to `on`."""

    _engine: Any = None

    def on(self, engine: Engine | None) -> Self:
        """Have this ranker trained by the workers of an engine.

        Parameters
        ----------
        engine : Engine or None
            What `rankwright.open_engine` gave; None for this process again. The engine is no setting: copies do not
            have it, and the model is the same without it.

        Returns
        -------
        self
            This ranker.
        """
        self._engine = engine
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        assert isinstance(state, dict)
        return {name: value for name, value in state.items() if name != "_engine"}

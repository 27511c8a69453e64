"""What every bag shares: it can be trained by an engine's workers."""

from __future__ import annotations

from typing import Any, Self

from rankwright.cluster.engine import Engine


class Bagged:
    """Bags that know where they are trained: by threads of this process, unless `on` an engine."""

    _engine: Engine | None = None

    def on(self, engine: Engine | None) -> Self:
        """This ranker, whose bags the workers of `engine` will train; None for threads of this process again.

        The engine is how, not what: it is no setting, copies do not have it, and the model is the same without it.
        """
        self._engine = engine
        return self

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        assert isinstance(state, dict)
        return {name: value for name, value in state.items() if name != "_engine"}

"""A net trained with any objective."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

from rankwright.objectives.objective import Objective
from rankwright.objectives.registry import objective_named
from rankwright.rankers.gradient_net import GradientNet


class NetRanker(GradientNet):
    """A net, ours or a `torch.nn.Module` of your own, that follows the forces of any objective.

    `objective` is a name (`rankwright.objectives.OBJECTIVES`) or an objective, such as one that
    `objectives.from_function` made from λs of your own. The other settings are those of RankNet.
    """

    name: ClassVar[str] = "net"
    output_bias: ClassVar[bool] = True  # objectives of single documents need one

    def __init__(
        self,
        objective: str | Objective = "lambdarank",
        module: Any = None,
        *,
        hidden: Sequence[int] | None = None,
        activation: str | None = None,
        epochs: int = 100,
        learning_rate: float | None = None,
        optimizer: str | None = None,
        weight_decay: float = 0.0,
        dropout: float | None = None,
        batch_queries: int | None = None,
        scaling: str | None = None,
        metric: str = "ndcg@10",
        select: str | None = None,
        mode: Literal["default", "paper"] = "default",
        early_stopping: int | None = None,
        unjudged: float | None = None,
        seed: int = 0,
        threads: int | None = None,
        device: str = "cpu",
    ) -> None:
        self.objective = objective
        self.module = module
        self.hidden = hidden
        self.activation = activation
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.batch_queries = batch_queries
        self.scaling = scaling
        self.metric = metric
        self.select = select
        self.mode = mode
        self.early_stopping = early_stopping
        self.unjudged = unjudged
        self.seed = seed
        self.threads = threads
        self.device = device

    def _objective(self) -> Objective:
        return objective_named(self.objective) if isinstance(self.objective, str) else self.objective

    def _storable_settings(self) -> dict[str, Any]:
        return super()._storable_settings() | {"objective": self._objective().name}

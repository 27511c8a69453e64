"""The base class of net rankers: training by descent along an objective's forces.

torch is an extra: it is imported when a net is first needed, and an error of one line says if it is missing.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, ClassVar

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import MissingExtraError
from rankwright.features.nystrom import FittedNystrom
from rankwright.nets.params import descent_params, net_shape, recipe_of
from rankwright.nets.settings import DescentSettings
from rankwright.objectives.objective import Objective
from rankwright.objectives.registry import learns_alone
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker
from rankwright.training.driver import Lesson

if TYPE_CHECKING:
    from rankwright.nets.inputs import NetInputs

NO_SCALING = "none"


class GradientNet(Ranker, DescentSettings):
    """A ranker whose model is a net. Its objective gives the force on each document's score."""

    trains_beside_others: ClassVar[bool] = False  # torch's switches apply to the whole process

    @property
    def model_kind(self) -> type[Model]:
        """The kind of model; asking for it imports torch."""
        require_torch(self.name)
        from rankwright.nets.model import NetModel

        return NetModel

    @property
    def importance_kinds(self) -> tuple[str, ...]:
        """None: a net has no weights of single features."""
        return ()

    @abstractmethod
    def _objective(self) -> Objective: ...

    def _learns_alone(self) -> bool:
        return learns_alone(self._objective())

    def _training_data(self, data: RankingDataset) -> RankingDataset:
        """The data with the pairs to train on."""
        return data

    def _nystrom(self, scaled_features: Callable[[], Float32Array]) -> FittedNystrom | None:  # noqa: ARG002
        """The kernel's map, where there is a kernel, learned from the features that the function gives."""
        return None

    def _penalty(self) -> float:
        return 0.0

    @property
    def scaling_name(self) -> str | None:
        """The name of the scaling to train with: the recipe's unless another was named."""
        name: str | None = recipe_of(self).scaling if self.scaling is None else self.scaling
        return None if name == NO_SCALING else name

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        from rankwright.nets.inputs import NetInputs
        from rankwright.nets.lesson import NetPlan, net_lesson

        threads = thread_count(self.threads)
        plan = NetPlan(
            shape=net_shape(self),
            descent=descent_params(self, self._penalty()),
            module=self._optional("module"),
            device=self._optional("device", "cpu"),
            threads=threads,
        )
        objective, pairs = self._objective(), self._training_data(data)
        scaled = NetInputs(self.scaling_)
        inputs = NetInputs(self.scaling_, self._nystrom(lambda: scaled.matrix(data, threads=threads)))
        return net_lesson(pairs, valid, objective, plan, inputs, self._watch)

    def _scores(self, data: RankingDataset) -> Float64Array:
        model: Any = self.model_
        scores: Float64Array = model.scores(
            data, threads=thread_count(self.threads), device=self._optional("device", "cpu")
        )
        return scores

    @property
    def net_(self) -> Any:
        """The trained torch module."""
        return self.model_.module  # type: ignore[attr-defined]  # only other modules import torch

    @property
    def inputs_(self) -> NetInputs:
        """What is done to features before the net sees them."""
        inputs: NetInputs = self.model_.inputs  # type: ignore[attr-defined]
        return inputs

    @property
    def n_epochs_(self) -> int:
        """How many epochs the net was trained for."""
        return self.model_.n_steps


def require_torch(name: str) -> None:
    """Raise unless torch, which the ranker of that name needs, is installed."""
    if find_spec("torch") is None:
        raise MissingExtraError(f"ranker {name}", "torch", "nets")

"""The base class of net rankers: training by descent along an objective's forces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.features.nystrom import FittedNystrom
from rankwright.nets.inputs import NetInputs
from rankwright.nets.lesson import NetPlan, net_lesson
from rankwright.nets.model import NetModel
from rankwright.nets.params import Recipe, descent_params, net_shape, recipes_of
from rankwright.nets.plain_net import PlainNet
from rankwright.nets.settings import DescentSettings
from rankwright.nets.trial import chosen_recipe
from rankwright.objectives.families import learns_alone
from rankwright.objectives.objective import Objective
from rankwright.rankers.model import Model
from rankwright.rankers.ranker import Ranker
from rankwright.training.driver import Lesson, learn
from rankwright.training.loop import LoopPlan

NO_SCALING = "none"


class GradientNet(Ranker, DescentSettings):
    """A ranker whose model is a net. Its objective gives the force on each document's score."""

    @property
    def trains_beside_others(self) -> bool:  # type: ignore[override]  # a constant of other classes
        """Whether several can be trained at once by threads of one process; torch's switches apply to all of it."""
        return self._optional("module") is None and self._optional("device", "cpu") == "cpu"

    @property
    def model_kind(self) -> type[Model]:
        """The kind of model."""
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
        name: str | None = recipes_of(self)[0].scaling if self.scaling is None else self.scaling
        return None if name == NO_SCALING else name

    def _lesson(self, data: RankingDataset, valid: RankingDataset | None) -> Lesson:
        threads = thread_count(self.threads)
        scaled = NetInputs(self.scaling_)
        inputs = NetInputs(self.scaling_, self._nystrom(lambda: scaled.matrix(data, threads=threads)))
        plan = self._plan(self._recipe(data, inputs), data.n_queries)
        return net_lesson(self._training_data(data), valid, self._objective(), plan, inputs, self._watch)

    def _plan(self, recipe: Recipe, n_queries: int) -> NetPlan:
        """How to train by a recipe on so many queries, where settings do not say otherwise."""
        completed = recipe.completed(self, n_queries)
        return NetPlan(
            recipe=completed,
            shape=net_shape(completed, self.output_bias),
            descent=descent_params(completed, self, self._penalty()),
            module=self._optional("module"),
            device=self._optional("device", "cpu"),
            threads=thread_count(self.threads),
        )

    def _recipe(self, data: RankingDataset, inputs: NetInputs) -> Recipe:
        """The recipe to train by: tried out on held-out queries where the mode has several that the settings allow."""
        recipes = recipes_of(self)
        is_linear = self.hidden is not None and not len(self.hidden)
        if is_linear or self.dropout is not None or self.activation is not None or self._optional("module") is not None:
            return recipes[0]

        def scores(recipe: Recipe, train: RankingDataset, test: RankingDataset) -> Float64Array:
            plan = self._plan(recipe, train.n_queries)
            lesson = net_lesson(self._training_data(train), None, self._objective(), plan, inputs, self._watch)
            steps = LoopPlan(self._n_steps_wanted(), what="choosing a recipe", unit=self._unit())
            model: NetModel = lesson.model(learn(lesson, steps))
            return model.scores(test, threads=plan.threads, device=plan.device)

        return chosen_recipe(recipes, data, scores, self.selected_metric, seed=self.seed, threads=self.threads)

    def _scores(self, data: RankingDataset) -> Float64Array:
        model: Any = self.model_
        scores: Float64Array = model.scores(
            data, threads=thread_count(self.threads), device=self._optional("device", "cpu")
        )
        return scores

    @property
    def net_(self) -> Any:
        """The trained net: a `PlainNet`, or the `torch.nn.Module` trained in its place."""
        net = self.model_.net  # type: ignore[attr-defined]
        return net if isinstance(net, PlainNet) else net.module

    @property
    def inputs_(self) -> NetInputs:
        """What is done to features before the net sees them."""
        inputs: NetInputs = self.model_.inputs  # type: ignore[attr-defined]
        return inputs

    @property
    def n_epochs_(self) -> int:
        """How many epochs the net was trained for."""
        return self.model_.n_steps

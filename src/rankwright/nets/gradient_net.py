"""What net rankers share: training by descent along an objective's forces, and how their nets are looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.debiasing.stage import Debias
from rankwright.features.nystrom import FittedNystrom
from rankwright.nets.inputs import NetInputs
from rankwright.nets.lesson import NetPlan, net_lesson
from rankwright.nets.model import NetModel
from rankwright.nets.params import NetRecipe, descent_params, net_shape, recipes_of
from rankwright.nets.plain_net import PlainNet
from rankwright.nets.settings import DescentSettings
from rankwright.nets.trial import chosen_recipe
from rankwright.objectives.families import learns_alone
from rankwright.objectives.objective import Objective
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import LessonRecipe, PreparedData, loop_plan, unit_of, watches_for, weighed_by_position
from rankwright.rankers.stages import Stage
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.rankers.views import View
from rankwright.training.driver import Lesson, learn
from rankwright.training.loop import LoopPlan

NO_SCALING = "none"


def _as_it_is(settings: Any, data: RankingDataset) -> RankingDataset:  # noqa: ARG001
    return data


def _no_kernel(settings: Any, scaled_features: Callable[[], Float32Array]) -> FittedNystrom | None:  # noqa: ARG001
    return None


@dataclass(frozen=True, slots=True)
class DescentRecipe(LessonRecipe):
    """A net whose weights follow the forces of an objective.

    `training_data` makes the pairs or lists to train on, and `nystrom` the map of a kernel, where there is one, from
    the features that a function gives; with one, `penalty` is that of its space.
    """

    objective: Callable[[Any], Objective]
    training_data: Callable[[Any, RankingDataset], RankingDataset] = _as_it_is
    nystrom: Callable[[Any, Callable[[], Float32Array]], FittedNystrom | None] = _no_kernel
    penalty: Callable[[Any], float] = lambda settings: 0.0  # noqa: ARG005
    debiases: bool = False
    alone: bool | None = None  # whether it learns from each label by itself; None leaves that to the objective

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:  # noqa: ARG002
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return learns_alone(self.objective(ranker)) if self.alone is None else self.alone

    def first_stages(self, settings: Any) -> tuple[Stage, ...]:
        """The stages that come before the usual ones."""
        return (Debias(settings),) if self.debiases else ()

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that trains a net."""
        threads = thread_count(settings.threads)
        scaled = NetInputs(prepared.scaling)
        mapped = self.nystrom(settings, lambda: scaled.matrix(prepared.data, threads=threads))
        inputs = NetInputs(prepared.scaling, mapped)
        recipe = self._net_recipe(prepared, settings, inputs)
        plan = self._plan(recipe, settings, prepared.data.n_queries)
        return self._net_lesson(prepared.data, prepared.valid, prepared, settings, plan, inputs)

    def _net_lesson(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        prepared: PreparedData,
        settings: Any,
        plan: NetPlan,
        inputs: NetInputs,
    ) -> Lesson:
        objective = weighed_by_position(self.objective(settings), prepared.findings)

        def watches(scores: Callable[[], Float64Array]) -> Any:
            return watches_for(settings, valid, prepared.parts, scores)

        return net_lesson(self.training_data(settings, data), valid, objective, plan, inputs, watches)

    def _plan(self, recipe: NetRecipe, settings: Any, n_queries: int) -> NetPlan:
        """How to train by a recipe on so many queries, where settings do not say otherwise."""
        completed = recipe.completed(settings, n_queries)
        return NetPlan(
            recipe=completed,
            shape=net_shape(completed, settings.output_bias),
            descent=descent_params(completed, settings, self.penalty(settings)),
            module=getattr(settings, "module", None),
            device=getattr(settings, "device", "cpu"),
            threads=thread_count(settings.threads),
        )

    def _net_recipe(self, prepared: PreparedData, settings: Any, inputs: NetInputs) -> NetRecipe:
        """The recipe to train by: tried out on held-out queries where the mode has several that the settings allow."""
        recipes = recipes_of(settings)
        is_linear = settings.hidden is not None and not len(settings.hidden)
        are_given = settings.dropout is not None or settings.activation is not None
        if is_linear or are_given or getattr(settings, "module", None) is not None:
            return recipes[0]

        def scores(recipe: NetRecipe, train: RankingDataset, test: RankingDataset) -> Float64Array:
            plan = self._plan(recipe, settings, train.n_queries)
            lesson = self._net_lesson(train, None, prepared, settings, plan, inputs)
            n_steps = loop_plan(settings).n_steps
            model: NetModel = lesson.model(
                learn(lesson, LoopPlan(n_steps, what="choosing a recipe", unit=unit_of(settings)))
            )
            return model.scores(test, threads=plan.threads)

        data, metric = prepared.data, settings.selected_metric
        return chosen_recipe(recipes, data, scores, metric, seed=settings.seed, threads=settings.threads)


def _net_of(trained: TrainedRanker) -> Any:
    net = trained.model.net  # type: ignore[attr-defined]
    return net if isinstance(net, PlainNet) else net.module


def _inputs_of(trained: TrainedRanker) -> NetInputs:
    inputs: NetInputs = trained.model.inputs  # type: ignore[attr-defined]
    return inputs


class GradientNet(Ranker, DescentSettings):
    """A ranker whose model is a net."""

    model_kind = NetModel
    net_ = View[Any](_net_of, "The trained net: a `PlainNet`, or the `torch.nn.Module` trained in its place.")
    inputs_ = View[NetInputs](_inputs_of, "What is done to features before the net sees them.")
    n_epochs_ = View[int](lambda trained: trained.model.n_steps, "How many epochs the net was trained for.")

    def set_params(self, **params: Any) -> Self:
        """Change settings; a trained net is computed by another device from then on.

        Parameters
        ----------
        **params
            Settings by name.

        Returns
        -------
        self
            This ranker.
        """
        super().set_params(**params)
        if "device" in params and self.__sklearn_is_fitted__():
            model = replace(self.trained_.model, device=params["device"])  # type: ignore[type-var]  # a net's model
            self.trained_ = replace(self.trained_, model=model)
        return self

    @property
    def trains_beside_others(self) -> bool:  # type: ignore[override]  # a constant of other classes
        """Whether several can be trained at once by threads of one process; torch's switches apply to all of it."""
        return getattr(self, "module", None) is None and getattr(self, "device", "cpu") == "cpu"

    @property
    def scaling_name(self) -> str | None:
        """The name of the scaling to train with: the recipe's unless another was named."""
        name: str | None = recipes_of(self)[0].scaling if self.scaling is None else self.scaling
        return None if name == NO_SCALING else name

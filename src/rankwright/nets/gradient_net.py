"""What net rankers share: training by descent along an objective's forces, by a recipe that may be tried out before.

Where the data decides between recipes, each is tried on some queries and measured on others. The first one is kept
unless another is better by more than chance: on noisy labels, a net that leaves units out can hardly be beaten, and a
choice among equals by a few held-out queries would only add noise.

A small net can start badly and stay there. Where the recipe that is taken asks for it, several starts are tried in the
same way, and training on all queries starts as the best of them did.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import islice
from math import ceil, sqrt
from typing import Any, Self

import numpy as np

from rankwright.arrays import Float32Array, Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.debiasing.stage import debias
from rankwright.errors import require
from rankwright.features.nystrom import FittedNystrom
from rankwright.metrics.evaluation import evaluate
from rankwright.nets.inputs import NetInputs
from rankwright.nets.model import NetModel
from rankwright.nets.params import NetRecipe, descent_params, net_shape, recipes_of
from rankwright.nets.plain_net import PlainNet, new_net
from rankwright.nets.settings import DescentSettings
from rankwright.nets.training import PAIR_ERROR, NetPlan, NetTraining
from rankwright.objectives.families import learns_alone
from rankwright.objectives.objective import Objective
from rankwright.rankers.ranker import Ranker
from rankwright.rankers.recipe import (
    LessonRecipe,
    PreparedData,
    unit_of,
    watched_lesson,
    weighed_by_position,
)
from rankwright.rankers.stages import Stage
from rankwright.rankers.trained import TrainedRanker, TrainingFindings
from rankwright.rankers.views import View
from rankwright.training.driver import Learned, Lesson, learn
from rankwright.training.loop import LoopPlan

HELD_OUT = 0.25  # the share of queries to measure on
FEWEST_HELD_OUT = 8  # fewer cannot tell recipes apart
ENOUGH_HELD_OUT = 40  # queries, where there are so many: small data is divided several times
MOST_QUERIES = 400  # in all, so that large data costs no more
TRIAL_EPOCHS = 50  # whatever the settings say: a run that is continued for more epochs must choose the same
STANDARD_ERRORS = 2.0  # that another recipe must be better by

Scores = Callable[[NetRecipe, int, RankingDataset, RankingDataset], Float64Array]


@dataclass(frozen=True, slots=True)
class NetTrial:
    """Recipes and starts, tried on some queries and measured on others.

    `scores(recipe, start, train, test)` trains on the one part, from the start of this number, and scores the other.
    Queries are drawn by the keys of their content, so that their order does not matter.
    """

    folds: Sequence[tuple[RankingDataset, RankingDataset]]  # queries to train on, and others
    scores: Scores
    threads: int | None

    @classmethod
    def on(cls, data: RankingDataset, scores: Scores, *, seed: int, threads: int | None) -> NetTrial | None:
        """A trial on parts of the data; None without labels, or with too few queries to tell anything apart."""
        if data.labels is None or data.n_queries * HELD_OUT < FEWEST_HELD_OUT:
            return None
        some = data.take_queries(np.arange(min(data.n_queries, MOST_QUERIES)))
        n_folds = round(1 / HELD_OUT)
        wanted = min(n_folds, ceil(ENOUGH_HELD_OUT / (some.n_queries * HELD_OUT)))
        return cls(list(islice(some.k_fold(n_folds, seed=seed), wanted)), scores, threads)

    def choice(self, recipes: Sequence[NetRecipe]) -> tuple[NetRecipe, int]:
        """The first recipe, or one that is clearly better from its best start, and the number of that start."""
        shares = [self._right_pairs(recipe, 0) for recipe in recipes]
        best = recipes[_best_of(shares)]
        if best is recipes[0]:
            return best, 0
        starts = [shares[recipes.index(best)]]
        starts += [self._right_pairs(best, number) for number in range(1, best.starts)]
        start = _best_of(starts)
        return (best, start) if _is_clearly_better(starts[start], shares[0]) else (recipes[0], 0)

    def _right_pairs(self, recipe: NetRecipe, start: int) -> Float64Array:
        """The share of right pairs in each held-out query.

        A ranking's metric looks at the top; all pairs tell sooner which net fits.
        """
        shares = []
        for train, test in self.folds:
            scores = self.scores(recipe, start, train, test)
            found = evaluate(scores, test, [PAIR_ERROR], PAIR_ERROR.convention, threads=self.threads)
            shares.append(1.0 - next(iter(found.results.values())).values)
        return np.concatenate(shares)


def _best_of(shares: Sequence[Float64Array]) -> int:
    """The place of the best mean; the first where no query could be measured."""
    counted = [found[~np.isnan(found)] for found in shares]
    return int(np.argmax([found.mean() if len(found) else 0.0 for found in counted]))


def _is_clearly_better(values: Float64Array, others: Float64Array) -> bool:
    """Whether the mean of the one leads by more than chance, query by query."""
    leads = values - others
    leads = leads[~np.isnan(leads)]
    if len(leads) < FEWEST_HELD_OUT // 2:
        return False
    return bool(leads.mean() > STANDARD_ERRORS * leads.std(ddof=1) / sqrt(len(leads)))


NO_SCALING = "none"


@dataclass(frozen=True, slots=True)
class DescentRecipe(LessonRecipe):
    """A net whose weights follow the forces of an objective.

    `training_data` makes the pairs or lists to train on. `nystrom` makes the map of a kernel, if the settings name one,
    from the scaled features, which a function gives; `penalty` is then the penalty in the kernel's space.
    """

    objective: Callable[[Any], Objective]
    training_data: Callable[[Any, RankingDataset], RankingDataset] | None = None
    nystrom: Callable[[Any, Callable[[], Float32Array]], FittedNystrom | None] | None = None
    penalty: Callable[[Any], float] | None = None
    debiases: bool = False
    alone: bool | None = None  # whether it learns from each label by itself; None leaves that to the objective

    def learns_alone(self, ranker: Any, found: TrainingFindings) -> bool:  # noqa: ARG002
        """Whether it learns from each label by itself; otherwise a query's documents must differ in label."""
        return learns_alone(self.objective(ranker)) if self.alone is None else self.alone

    def first_stages(self, settings: Any) -> tuple[Stage, ...]:
        """The stages that come before the usual ones."""
        return (partial(debias, settings),) if self.debiases else ()

    def lesson(self, prepared: PreparedData, settings: Any) -> Lesson:
        """The lesson that trains a net."""
        threads = thread_count(settings.threads)
        scaled = NetInputs(prepared.scaling)
        mapped = None
        if self.nystrom is not None:
            mapped = self.nystrom(settings, lambda: scaled.matrix(prepared.data, threads=threads))

        @cache
        def inputs_of(encoding: str, pieces: int) -> NetInputs:
            if encoding == "none":
                return replace(scaled, nystrom=mapped)
            require(mapped is None, "a kernel takes features as they are: leave out encoding, or kernel")
            return scaled.in_pieces(prepared.data, pieces, threads=threads)

        recipe, start = self._recipe_and_start(prepared, settings, inputs_of)
        plan = self._plan(recipe, start, settings, prepared.data.n_queries)
        inputs = inputs_of(plan.recipe.encoding, plan.recipe.pieces)
        lesson = self._net_lesson(prepared.data, prepared.valid, prepared, settings, plan, inputs)
        return replace(lesson, n_steps=recipe.epochs if settings.epochs is None else settings.epochs)

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
        data = data if self.training_data is None else self.training_data(settings, data)
        training = NetTraining(data, objective, plan, inputs)
        watched = None if valid is None else inputs.rows_of(valid, threads=plan.threads)

        def model_of(learned: Learned) -> NetModel:
            n_inputs = training.rows.n_inputs
            net = training.net if plan.module is not None else new_net(n_inputs, plan.shape, plan.descent.seed)
            net.put(learned.model)
            return NetModel(net, inputs, learned.n_steps, plan.recipe, plan.device)

        def current_scores() -> Float64Array:
            assert watched is not None
            return training.net.scores(watched)

        return watched_lesson(settings, training, model_of, data, valid, prepared.parts, current_scores)

    def _plan(self, recipe: NetRecipe, start: int, settings: Any, n_queries: int) -> NetPlan:
        """How to train by a recipe on so many queries, where settings do not say otherwise."""
        completed = recipe.completed(settings, n_queries)
        if completed.members > 1:
            is_ours = getattr(settings, "module", None) is None and getattr(settings, "device", "cpu") == "cpu"
            require(is_ours, "members are trained by our own kernels: leave out module and device, or set members=1")
        return NetPlan(
            recipe=completed,
            shape=net_shape(completed, settings.output_bias),
            descent=descent_params(completed, start, settings, 0.0 if self.penalty is None else self.penalty(settings)),
            module=getattr(settings, "module", None),
            device=getattr(settings, "device", "cpu"),
            threads=thread_count(settings.threads),
        )

    def _recipe_and_start(
        self, prepared: PreparedData, settings: Any, inputs_of: Callable[[str, int], NetInputs]
    ) -> tuple[NetRecipe, int]:
        """What to train by and where to start: tried out on held-out queries where settings leave it to the data."""
        recipes = recipes_of(settings)
        if prepared.data.categories and settings.encoding is None:  # which only nets of pieces take
            recipes = tuple(recipe for recipe in recipes if recipe.encoding == "piecewise")
        are_given = settings.dropout is not None or settings.activation is not None
        if are_given or len(recipes) == 1:
            return recipes[0], 0

        def scores(recipe: NetRecipe, start: int, train: RankingDataset, test: RankingDataset) -> Float64Array:
            plan = self._plan(recipe, start, settings, train.n_queries)
            inputs = inputs_of(plan.recipe.encoding, plan.recipe.pieces)
            lesson = self._net_lesson(train, None, prepared, settings, plan, inputs)
            loop = LoopPlan(min(recipe.epochs, TRIAL_EPOCHS), what="choosing a recipe", unit=unit_of(settings))
            model: NetModel = lesson.model(learn(lesson, loop))
            return model.scores(test, threads=plan.threads)

        trial = NetTrial.on(prepared.data, scores, seed=settings.seed, threads=settings.threads)
        return (recipes[0], 0) if trial is None else trial.choice(recipes)


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
        """Change settings; if `device` is among them, a trained net is computed there from then on.

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
    def usual_steps(self) -> int:  # type: ignore[override]  # a constant of other classes
        """How many epochs are usual where the settings leave them to the data."""
        return recipes_of(self)[0].epochs

    @property
    def takes_categories(self) -> bool:  # type: ignore[override]  # a constant of other classes
        """Whether it takes texts and categories: where each has an input of its own."""
        return (recipes_of(self)[0].encoding if self.encoding is None else self.encoding) == "piecewise"

    @property
    def scaling_name(self) -> str | None:
        """The name of the scaling to train with: the recipe's unless another was named."""
        name: str | None = recipes_of(self)[0].scaling if self.scaling is None else self.scaling
        return None if name == NO_SCALING else name

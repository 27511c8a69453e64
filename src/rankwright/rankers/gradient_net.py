"""What rankers made of a net share: training by descent along an objective's forces, scoring, the model file.

torch is an extra: it is imported when a net is first wanted, and its absence is one line.
"""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from rankwright.arrays import Float32Array, Float64Array, named, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, MissingExtraError, SettingError, UnknownNameError, require
from rankwright.features.nystrom import FittedNystrom
from rankwright.nets.params import RECIPES, DescentParams, NetShape, Recipe
from rankwright.objectives.objective import Objective
from rankwright.rankers.ranker import Ranker
from rankwright.training.digest import data_digest
from rankwright.training.loop import Listener, LoopPlan
from rankwright.training.spaces import Choice, Real, Space, Whole

if TYPE_CHECKING:
    from rankwright.nets.inputs import NetInputs

NO_SCALING = "none"


class GradientNet(Ranker):
    """A ranker whose model is a net; where documents should move says its objective.

    `net_` is the trained torch module, `history_` what was watched, `n_epochs_` up to which epoch the net was trained.
    """

    output_bias: ClassVar[bool] = False
    trains_beside_others: ClassVar[bool] = False  # torch's switches are the whole process's
    budget: ClassVar[str | None] = "epochs"
    scales_itself: ClassVar[bool] = True  # rows are standardised as they are fetched: no second copy of them

    space: ClassVar[Space] = {
        "hidden": Choice(((), (16,), (64,), (64, 32))),
        "learning_rate": Real(1e-4, 3e-2, log=True),
        "weight_decay": Real(1e-6, 1e-1, log=True),
        "dropout": Real(0.0, 0.5),
        "batch_queries": Whole(8, 128, log=True),
    }

    net_: Any  # a torch.nn.Module; torch is at home in nets/ alone
    inputs_: NetInputs
    n_epochs_: int

    @abstractmethod
    def _objective(self) -> Objective: ...

    def _training_data(self, data: RankingDataset) -> RankingDataset:
        """The data with the pairs to train on."""
        return data

    def _nystrom(self, scaled_features: Callable[[], Float32Array]) -> FittedNystrom | None:  # noqa: ARG002
        """The kernel's map, where there is a kernel, learned from the features that the function gives."""
        return None

    def _penalty(self) -> float:
        return 0.0

    def _learn(
        self,
        data: RankingDataset,
        valid: RankingDataset | None,
        listeners: Sequence[Listener],
        checkpoint: str | os.PathLike[str] | None,
    ) -> None:
        require_torch(self.name)
        from rankwright.nets.fitting import NetPlan, fit_net

        recipe = self._recipe()
        plan = NetPlan(
            shape=self._shape(recipe),
            descent=self._descent(recipe),
            loop=LoopPlan(self.epochs, self.early_stopping),
            select=self._selected(),
            device=self.device,
        )
        objective, pairs = self._objective(), self._training_data(data)
        self.inputs_ = self._inputs(data)
        trained = fit_net(
            pairs,
            objective,
            plan,
            self.inputs_,
            module=self.module,
            valid=valid,
            checkpoint=None if checkpoint is None else Path(checkpoint),
            settings=self._lasting_settings(),
            listeners=listeners,
            threads=thread_count(self.threads),
        )
        self.net_, self.history_, self.n_epochs_ = trained.module, trained.history, trained.n_epochs
        self.data_digest_ = data_digest(data)

    def _recipe(self) -> Recipe:
        if self.mode not in RECIPES:
            raise UnknownNameError("mode", self.mode, known=RECIPES)
        return RECIPES[self.mode]

    def _from_recipe(self, recipe: Recipe, *names: str) -> dict[str, Any]:
        """Settings of those names, the recipe's where they are None."""
        given = {name: getattr(self, name) for name in names}
        return {name: getattr(recipe, name) if value is None else value for name, value in given.items()}

    def _shape(self, recipe: Recipe) -> NetShape:
        chosen = self._from_recipe(recipe, "hidden", "activation", "dropout")
        return NetShape(
            **(chosen | {"hidden": tuple(chosen["hidden"])}),
            initialisation=recipe.initialisation,
            output_bias=self.output_bias,
        )

    def _descent(self, recipe: Recipe) -> DescentParams:
        return DescentParams(
            **self._from_recipe(recipe, "learning_rate", "optimizer", "batch_queries"),
            weight_decay=self.weight_decay,
            penalty=self._penalty(),
            halve_on_rise=recipe.halve_on_rise,
            stop_at_zero_error=recipe.stop_at_zero_error,
            seed=self.seed,
        )

    def _scaling_name(self) -> str | None:
        name: str | None = self._recipe().scaling if self.scaling is None else self.scaling
        return None if name == NO_SCALING else name

    def _inputs(self, data: RankingDataset) -> NetInputs:
        from rankwright.nets.inputs import NetInputs

        scaled = NetInputs(self.scaling_)
        return NetInputs(self.scaling_, self._nystrom(lambda: scaled.matrix(data, threads=thread_count(self.threads))))

    def _scores(self, data: RankingDataset) -> Float64Array:
        from rankwright.nets.fitting import net_scores

        return net_scores(self.net_, self.inputs_, data, threads=thread_count(self.threads), device=self.device)

    def facts(self) -> dict[str, Any]:
        """Up to which epoch the net was trained, and how many weights it has."""
        check_is_fitted(self)
        weights = sum(part.numel() for part in self.net_.parameters())
        return {"epochs": self.n_epochs_, "weights": weights}

    @property
    def n_steps_(self) -> int:
        """Up to which epoch the net was trained."""
        return self.n_epochs_

    def _storable_settings(self) -> dict[str, Any]:
        # A device is how, not what; a module of the user's own is code, which files do not hold.
        hidden = None if self.hidden is None else list(self.hidden)
        settings = super()._storable_settings() | {"hidden": hidden}
        return {name: value for name, value in settings.items() if name not in ("device", "module")}

    def _state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        from rankwright.nets.modules import weights_of

        inputs, arrays = self.inputs_.to_state()
        header = {
            "n_epochs": self.n_epochs_,
            "inputs": inputs,
            "own_module": self.module is not None,
        }
        return header, arrays | {f"net.{name}": values for name, values in weights_of(self.net_).items()}

    def _restore(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        require_torch(self.name)
        from rankwright.nets.inputs import NetInputs
        from rankwright.nets.modules import plain_net, put_weights

        self.n_epochs_ = int(header["n_epochs"])
        self.inputs_ = NetInputs.from_state(self.scaling_, header["inputs"], arrays)
        require(
            header["own_module"] == (self.module is not None),
            "this model has a module of its user's own: load(path, module=…) needs one of the same kind"
            if header["own_module"]
            else "this model's net is one of ours: load it without module=…",
        )
        weights = named(arrays, "net.")
        if self.module is None:
            n_inputs = weights["0.weight"].shape[1]
            self.net_ = plain_net(n_inputs, self._shape(self._recipe()), self.seed)
            put_weights(self.net_, weights)
        else:
            self.net_ = copy.deepcopy(self.module)
            try:
                put_weights(self.net_, weights)
            except InputError as error:
                raise SettingError(str(error)) from None  # the caller's module is wrong, not the file
        self.net_.eval()


def require_torch(name: str) -> None:
    """Raise unless torch, which the ranker of that name needs, is installed."""
    if find_spec("torch") is None:
        raise MissingExtraError(f"ranker {name}", "torch", "nets")

"""The trained model of a net: a torch module, and what is done to features before it sees them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from numpy.typing import NDArray
from torch import nn

from rankwright.arrays import Float64Array, named
from rankwright.container.checks import check_finite, part, whole
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, ModuleError
from rankwright.nets.inputs import NetInputs
from rankwright.nets.modules import plain_net_of, put_weights, weights_of
from rankwright.nets.params import net_shape
from rankwright.nets.scoring import all_scores
from rankwright.rankers.model import Model, State, StoredModel


@dataclass(frozen=True, slots=True, eq=False)
class NetModel(Model):
    """A net that was trained for `n_epochs` epochs; `own_module` says whether the user made the module."""

    scales_itself: ClassVar[bool] = True  # rows are standardised as they are fetched: no second copy of them

    module: nn.Module
    inputs: NetInputs
    n_epochs: int
    own_module: bool

    def scores(self, data: RankingDataset, *, threads: int, device: str = "cpu") -> Float64Array:
        """The net's score of each document."""
        return all_scores(self.module, self.inputs.rows_of(data, threads=threads, device=device))

    @property
    def n_steps(self) -> int:
        """How many epochs the net was trained for."""
        return self.n_epochs

    def facts(self) -> dict[str, Any]:
        """How many epochs the net was trained for, and how many weights it has."""
        return {"epochs": self.n_epochs, "weights": sum(part.numel() for part in self.module.parameters())}

    def state(self) -> State:
        """A header with the number of epochs and what is done to features, and the weights."""
        inputs, arrays = self.inputs.to_state()
        header = {"n_epochs": self.n_epochs, "inputs": inputs, "own_module": self.own_module}
        return header, arrays | {f"net.{name}": values for name, values in weights_of(self.module).items()}

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described; if its module was the user's own, the settings must have one too."""
        header, settings = stored.header, stored.settings
        inputs = NetInputs.from_state(stored.scaling, part(header, "inputs", dict), stored.arrays, stored.n_features)
        weights = named(stored.arrays, "net.")
        for name, values in weights.items():
            check_finite(f"net.{name}", values)
        own_module = part(header, "own_module", bool)
        module = _own_module(settings, own_module, weights)
        if module is None:
            width = stored.n_features if inputs.nystrom is None else inputs.nystrom.n_landmarks
            module = plain_net_of(width, net_shape(settings), weights)
        module.eval()
        return cls(module, inputs, whole(header, "n_epochs"), own_module)


def _own_module(settings: Any, wanted: bool, weights: Mapping[str, NDArray[Any]]) -> nn.Module | None:
    """A copy of the module in the settings with these weights; None where neither they nor the file have one."""
    given = getattr(settings, "module", None)
    if wanted != (given is not None):
        raise ModuleError(
            "this model has a module of its user's own: load(path, module=…) needs one of the same kind"
            if wanted
            else "this model's net is one of ours: load it without module=…"
        )
    if given is None:
        return None
    module: nn.Module = copy.deepcopy(given)
    try:
        put_weights(module, weights)
    except InputError as error:
        raise ModuleError(str(error)) from None  # the caller's module is wrong, not the file
    return module

"""The trained model of a net: a torch module, and what is done to features before it sees them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from torch import nn

from rankwright.arrays import Float64Array, named
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, require
from rankwright.nets.inputs import NetInputs
from rankwright.nets.modules import plain_net, put_weights, weights_of
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
        inputs = NetInputs.from_state(stored.scaling, header["inputs"], stored.arrays)
        given = getattr(settings, "module", None)
        require(
            header["own_module"] == (given is not None),
            "this model has a module of its user's own: load(path, module=…) needs one of the same kind"
            if header["own_module"]
            else "this model's net is one of ours: load it without module=…",
        )
        weights = named(stored.arrays, "net.")
        if given is None:
            module: nn.Module = plain_net(weights["0.weight"].shape[1], net_shape(settings), settings.seed)
            put_weights(module, weights)
        else:
            module = copy.deepcopy(given)
            try:
                put_weights(module, weights)
            except InputError as error:
                raise SettingError(str(error)) from None  # the caller's module is wrong, not the file
        module.eval()
        return cls(module, inputs, int(header["n_epochs"]), header["own_module"])

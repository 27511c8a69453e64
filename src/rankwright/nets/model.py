"""The trained model of a net: the net, and what is done to features before it sees them."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from rankwright.arrays import BoolArray, Float64Array, IntArray, arrays_with_prefix
from rankwright.container.checks import check_finite, read_field, read_integer, read_list, read_number
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, ModuleError, UnknownNameError
from rankwright.explanations.contributions import (
    Contributions,
    PairContributions,
    Question,
    along_paths,
    between_documents,
)
from rankwright.nets.descent import Net
from rankwright.nets.encoding import ENCODINGS, MOST_PIECES, by_feature
from rankwright.nets.inputs import FeatureRows, NetInputs
from rankwright.nets.params import ACTIVATIONS, MOST_MEMBERS, OPTIMIZERS, NetRecipe, net_shape, recipes_of
from rankwright.nets.plain_net import PlainNet, input_slopes, net_of, torch_part
from rankwright.rankers.model import Model, State, StoredModel


@dataclass(frozen=True, slots=True, eq=False)
class NetModel(Model):
    """A net that was trained for `n_epochs` epochs: a plain one, or a module of the user's own."""

    scales_itself: ClassVar[bool] = True  # rows are standardised as they are fetched: no second copy of them

    net: Net
    inputs: NetInputs
    n_epochs: int
    recipe: NetRecipe | None  # by which it was trained; None where the model's file does not tell
    device: str = "cpu"  # where it is computed; not kept in the file

    def scores(self, data: RankingDataset, *, threads: int) -> Float64Array:
        """The net's score of each document."""
        return self._on(self.device).scores(self.inputs.rows_of(data, threads=threads))

    def contributions(self, data: RankingDataset, question: Question) -> Contributions:
        """The net's gradients, integrated from inputs of 0: the mean, where features are standardised."""
        question.refuse_cover("a net")
        question.refuse_background("a net")
        inputs, nystrom = self._inputs_of(data, question), self.inputs.nystrom
        zeros = np.zeros((1, data.n_features), np.float32)
        middle = FeatureRows(
            zeros if nystrom is None else nystrom.transform(zeros), pieces=self.inputs.pieces, threads=1
        )
        base = float(self.net.scores(middle)[0])
        totals = self.scores(data, threads=question.threads) - base
        start = zeros if self.inputs.pieces is None else middle.fetch(np.arange(1))
        starts = np.repeat(start.astype(np.float64), len(inputs), axis=0)
        values = self._of_features(along_paths(self._slopes, starts, inputs, totals))
        return Contributions(values, base, "integrated gradients from inputs of 0")

    def pair_contributions(self, data: RankingDataset, pairs: IntArray, question: Question) -> PairContributions:
        """The net's gradients, integrated from one document to the other."""
        scores = self.scores(data, threads=question.threads)
        found = between_documents(self._slopes, self._inputs_of(data, question), scores, pairs)
        return replace(found, values=self._of_features(found.values))

    def _of_features(self, values: Float64Array) -> Float64Array:
        """What each feature adds, given what each input does."""
        return values if self.inputs.pieces is None else by_feature(self.inputs.pieces, values)

    def _inputs_of(self, data: RankingDataset, question: Question) -> Float64Array:
        """Documents as the net, or the kernel before it, sees them."""
        if not isinstance(self.net, PlainNet):
            raise InputError("a module of your own is not explained: it need not be made of layers that we know")
        before = replace(self.inputs, nystrom=None)
        return before.matrix(data, threads=question.threads).astype(np.float64)

    def _slopes(self, rows: Float64Array) -> Float64Array:
        """The derivatives of the score by each input, for inputs as `_inputs_of` gives them."""
        net, nystrom = self.net, self.inputs.nystrom
        assert isinstance(net, PlainNet)
        if nystrom is None:
            return input_slopes(net, rows)
        mapped = nystrom.transform(rows.astype(np.float32)).astype(np.float64)
        of_landmarks = np.einsum("nk,mk->nm", input_slopes(net, mapped), nystrom.whitening)
        return nystrom.slopes(rows, of_landmarks)

    def _on(self, device: str) -> Net:
        """The net where `device` computes it."""
        if isinstance(self.net, PlainNet):
            if device == "cpu":
                return self.net
            module = self.net.to_torch()
        else:
            module = self.net.module  # type: ignore[attr-defined]  # only torch_net.py imports torch
        net: Net = torch_part(f"device {device!r}").TorchNet(module, device)
        return net

    def categorical_features(self, n_features: int) -> BoolArray:
        """Which features have an input for each category."""
        pieces = self.inputs.pieces
        return np.zeros(n_features, np.bool_) if pieces is None else pieces.categorical

    @property
    def n_steps(self) -> int:
        """How many epochs the net was trained for."""
        return self.n_epochs

    def facts(self) -> dict[str, Any]:
        """How many epochs the net was trained for, how many weights it has, and the values of settings used."""
        facts = {"epochs": self.n_epochs, "weights": self.net.n_weights}
        return facts if self.recipe is None else facts | self.recipe.facts()

    def state(self) -> State:
        """A header with the number of epochs, the recipe and what is done to features, and the weights."""
        inputs, arrays = self.inputs.to_state()
        own_module = not isinstance(self.net, PlainNet)
        header: dict[str, Any] = {"n_epochs": self.n_epochs, "inputs": inputs, "own_module": own_module}
        if self.recipe is not None:
            header["recipe"] = self.recipe.facts()
        return header, arrays | {f"net.{name}": values for name, values in self.net.arrays().items()}

    @classmethod
    def restored(cls, stored: StoredModel) -> Self:
        """The model that `state` described; if its module was the user's own, the settings must have one too."""
        header, settings = stored.header, stored.settings
        inputs = NetInputs.restored(stored)
        weights = arrays_with_prefix(stored.arrays, "net.")
        for name, values in weights.items():
            check_finite(f"net.{name}", values)
        recipe = _stored_recipe(header, settings)
        net = _own_module(settings, read_field(header, "own_module", bool), weights)
        if net is None:
            width = inputs.n_inputs(stored.n_features)
            first = recipes_of(settings)[0].completed(settings, 0)  # the recipe of files that do not tell theirs
            first = replace(first, encoding="none", members=1)  # which are from before there were any
            if recipe is not None and (recipe.encoding == "piecewise") != (inputs.pieces is not None):
                raise InputError(f"the recipe says encoding {recipe.encoding}, and the net's inputs differ")
            net = net_of(width, net_shape(recipe or first, settings.output_bias), weights)
        return cls(net, inputs, read_integer(header, "n_epochs"), recipe, getattr(settings, "device", "cpu"))


def _stored_recipe(header: Mapping[str, Any], settings: Any) -> NetRecipe | None:
    """The recipe of a file; None where it has none, because it is from before recipes were chosen by the data."""
    if "recipe" not in header:
        return None
    stored = read_field(header, "recipe", dict)
    dropout, learning_rate = read_number(stored, "dropout"), read_number(stored, "learning_rate")
    hidden, newer = read_list(stored, "hidden", int), _newer_fields(stored)
    told = stored.get("weight_decay", settings.weight_decay)  # older files left nothing to recipes there
    decay = read_number({"weight_decay": told}, "weight_decay")
    fits = 0 <= dropout < 1 and learning_rate > 0 and min(hidden, default=1) >= 1 and decay >= 0
    if not fits or (newer["members"] > 1 and not hidden):
        raise InputError(f"a net cannot be trained by the recipe {stored}")
    recipe = replace(
        recipes_of(settings)[0],
        hidden=tuple(hidden),
        activation=_one_of(stored, "activation", ACTIVATIONS),
        dropout=dropout,
        learning_rate=learning_rate,
        weight_decay=decay,
        optimizer=_one_of(stored, "optimizer", OPTIMIZERS),
        batch_queries=read_integer(stored, "batch_queries", least=1),
        **newer,
    )
    for name in stored:
        given, used = getattr(settings, name, None), getattr(recipe, name, None)
        if given is not None and given != used and (name != "hidden" or tuple(given) != used):
            raise InputError(f"the file's settings and its recipe differ in {name}")
    return recipe


def _newer_fields(stored: Mapping[str, Any]) -> dict[str, Any]:
    """What a recipe tells only of nets that have features in pieces, or members."""
    found: dict[str, Any] = {"encoding": "none", "members": 1}
    if "members" in stored:
        found["members"] = read_integer(stored, "members", least=2, most=MOST_MEMBERS)
    if "encoding" in stored:
        found["encoding"] = _one_of(stored, "encoding", ENCODINGS)
        found["pieces"] = read_integer(stored, "pieces", least=1, most=MOST_PIECES)
    return found


def _one_of(stored: Mapping[str, Any], name: str, known: Sequence[str]) -> str:
    found = read_field(stored, name, str)
    if found not in known:
        raise UnknownNameError(name, found, known=known)
    return found


def _own_module(settings: Any, wanted: bool, weights: Mapping[str, NDArray[Any]]) -> Net | None:
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
    net: Net = torch_part("a module of your own").TorchNet(copy.deepcopy(given))
    try:
        net.put(weights)
    except InputError as error:
        raise ModuleError(str(error)) from None  # the caller's module is wrong, not the file
    return net

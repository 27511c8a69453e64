"""Rankers by name."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from rankwright.bagging.bagboo import BagBoo
from rankwright.bagging.bagging import Bagging
from rankwright.bagging.blmart import BLMART
from rankwright.container.file import read_container
from rankwright.errors import ContainerError, MissingExtraError, SettingError, UnknownNameError, require
from rankwright.rankers.adarank import AdaRank
from rankwright.rankers.boltzrank import BoltzRank
from rankwright.rankers.coordinate_ascent import CoordinateAscent
from rankwright.rankers.crr import CRR
from rankwright.rankers.frank import FRank
from rankwright.rankers.gradient_net import GradientNet
from rankwright.rankers.kernel_prank import KernelPRank
from rankwright.rankers.lambdamart import LambdaMART
from rankwright.rankers.lambdarank import LambdaRank
from rankwright.rankers.linear_regression import LinearRegression
from rankwright.rankers.listnet import ListNet
from rankwright.rankers.mart import MART
from rankwright.rankers.net_ranker import NetRanker
from rankwright.rankers.oap_bpm import OAPBPM
from rankwright.rankers.prank import PRank
from rankwright.rankers.rankboost import RankBoost
from rankwright.rankers.ranker import MODEL_KIND, Ranker
from rankwright.rankers.ranknet import RankNet
from rankwright.rankers.rankprop import RankProp
from rankwright.rankers.ranksvm import RankSVM
from rankwright.rankers.ranksvm_struct import RankSVMStruct
from rankwright.rankers.smoothrank import SmoothRank
from rankwright.rankers.sortnet import SortNet
from rankwright.rankers.svmmap import SVMMAP

KINDS: tuple[type[Ranker], ...] = (
    *(LambdaMART, BLMART, MART, BagBoo, RankNet, LambdaRank, NetRanker, SortNet, Bagging),
    *(LinearRegression, PRank, KernelPRank, OAPBPM, RankProp, RankSVM, RankSVMStruct, SVMMAP, ListNet, SmoothRank, CRR),
    *(AdaRank, RankBoost, FRank, BoltzRank, CoordinateAscent),
)
RANKERS: Mapping[str, type[Ranker]] = {kind.name: kind for kind in KINDS}


def ranker_named(name: str) -> type[Ranker]:
    """The kind of ranker of that name; hyphens may be left out."""
    for known, kind in RANKERS.items():
        if name in (known, known.replace("-", "")):
            return kind
    raise UnknownNameError("ranker", name, known=RANKERS)


def load(path: str | os.PathLike[str], *, module: Any = None) -> Ranker:
    """The ranker in a model file; reading it runs no code.

    A net that was trained from a `torch.nn.Module` of the user's own needs such a `module` again, to put weights into.
    """
    return read_model(path, module=module)[0]


def read_model(path: str | os.PathLike[str], *, module: Any = None) -> tuple[Ranker, dict[str, Any]]:
    """The ranker in a model file, and the file's header."""
    model = read_container(path, MODEL_KIND)
    name = str(model.header.get("ranker"))
    if name not in RANKERS:
        raise ContainerError(os.fspath(path), f"holds a ranker of kind {name!r}, which this release does not know")
    kind = RANKERS[name]
    require(
        module is None or issubclass(kind, GradientNet | Bagging),
        f"{os.fspath(path)} holds a {name}, which has no module",
    )
    given: dict[str, Any] = {} if module is None else {"module": module}
    if issubclass(kind, Bagging):
        given["kinds"] = RANKERS
    try:
        return kind.from_state(model.header, model.arrays, **given), model.header
    except (MissingExtraError, SettingError):
        raise  # the file is fine
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RuntimeError) as error:
        # The checksum holds, so the file is whole: it was written by a later release, or by a stranger.
        problem = f"{error} is not there" if isinstance(error, KeyError) else str(error)
        raise ContainerError(os.fspath(path), f"the parts of the model do not fit together: {problem}") from None

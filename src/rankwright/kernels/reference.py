"""The naive twin of every kernel: what each must compute, said as plainly as possible.

Twins share their compiled kernel's name and signature: inputs, then outputs to fill, then the number of threads,
which a twin ignores because the result must not depend on it. They are the public functions of the topics in `naive/`,
which are imported here; the helpers that several topics share are in modules of their own.
"""

# ruff: noqa: F403
# mypy: implicit-reexport

from inspect import isfunction

from rankwright.kernels.naive.boosters import *
from rankwright.kernels.naive.candidates import *
from rankwright.kernels.naive.clicks import *
from rankwright.kernels.naive.comparators import *
from rankwright.kernels.naive.features import *
from rankwright.kernels.naive.forests import *
from rankwright.kernels.naive.json_features import *
from rankwright.kernels.naive.lambdas import *
from rankwright.kernels.naive.linear import *
from rankwright.kernels.naive.matches import *
from rankwright.kernels.naive.metrics import *
from rankwright.kernels.naive.nets import *
from rankwright.kernels.naive.postings import *
from rankwright.kernels.naive.sparse import *
from rankwright.kernels.naive.text import *
from rankwright.kernels.naive.tree_grower import *
from rankwright.kernels.naive.words import *

_HELPERS = ("common", "tree_splits", "word_classes")
_HOMES = {name: value.__module__.rpartition(".") for name, value in globals().items() if isfunction(value)}
NAMES = sorted(
    name for name, (package, _, topic) in _HOMES.items() if package.endswith(".naive") and topic not in _HELPERS
)

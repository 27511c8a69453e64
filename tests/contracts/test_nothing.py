"""Laws of nothing: no features, no rows, no queries, no weights, no steps. Each is refused, or done right, by all."""

from __future__ import annotations

import dataclasses
import re
import types
import typing
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import learnable, quick, trained
from tests.fuzz.mutation import Parts
from tests.unwritten import pattern_of

import rankwright as rw
from rankwright import kernels
from rankwright.catalog.rankers import RANKERS
from rankwright.container.file import read_container
from rankwright.errors import InputError, RankwrightError, SettingError
from rankwright.kernels import reference
from rankwright.kernels.records import LayeredNet, LevelledRows, StandardisedRows

_core = pytest.importorskip("rankwright.kernels._core")
LABELS, QUERIES = np.array([0.0, 1.0, 2.0, 0.0, 1.0, 1.0]), np.array([1, 1, 1, 2, 2, 2])


@pytest.fixture(params=RANKERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class TestRankers:
    def test_data_without_features_is_refused(self, name):
        data = rw.RankingDataset.from_arrays(np.empty((6, 0), np.float32), LABELS, qid=QUERIES)
        for empty_too in (False, True):
            with pytest.raises(InputError, match="there are no features, and a ranker needs one or more"):
                quick(name).fit(data, allow_empty=empty_too)

    def test_so_is_a_file_of_such_data(self, name, tmp_path):
        path = tmp_path / "data.txt"
        path.write_text("".join(f"{label:g} qid:{query}\n" for label, query in zip(LABELS, QUERIES, strict=True)))
        with pytest.raises(InputError, match="there are no features"):
            quick(name).fit(path)

    def test_data_without_documents_is_refused(self, name):
        nothing = learnable().take_queries([])
        for empty_too in (False, True):
            with pytest.raises(InputError, match="no documents"):
                quick(name).fit(nothing, allow_empty=empty_too)

    @pytest.mark.parametrize("which", ["document_weights", "query_weights"])
    def test_weights_that_are_all_zero_are_refused(self, name, which):
        data = learnable()
        weights = np.zeros(data.n_docs if which == "document_weights" else data.n_queries)
        given: dict[str, Any] = {which: weights}
        nothing = rw.RankingDataset.from_arrays(data.features, data.labels, qid=data.qid, **given)
        with pytest.raises(InputError, match="all zero"):
            quick(name).fit(nothing)

    def test_no_step_is_no_training(self, name):
        budget = RANKERS[name].budget
        if budget is not None:
            with pytest.raises(SettingError, match=f"{budget} must be"):
                quick(name, **{budget: 0}).fit(learnable())

    def test_queries_without_documents_are_neither_learned_from_nor_scored(self, name):
        data = learnable()
        sizes = np.insert(data.groups.sizes, [0, 5, data.n_queries], 0)
        gaps = rw.RankingDataset.from_arrays(data.features, data.labels, group=sizes)
        assert np.array_equal(trained(name).predict(gaps), trained(name).predict(data))

    def test_a_file_that_states_no_features_is_refused(self, name, tmp_path):
        path = tmp_path / "model.rw"
        trained(name).save(path)
        parts = Parts.of(read_container(path))
        path.write_bytes(Parts(parts.kind, parts.header | {"n_features": 0}, parts.arrays).signed())
        with pytest.raises(RankwrightError, match="n_features must lie between 1 and"):
            rw.load(path)


# --- kernels ---

SHAPES = {  # of the fields of records that have two dimensions
    "LevelledRows.features": (0, 0), "DrawnRows.features": (0, 0), "ComparedPairs.features": (0, 0),
    "StandardisedRows.features": (0, 0), "ForestTrees.nodes": (0, 5), "TreeNodes.categories": (0, 0),
    "MarginPairs.level_weights": (0, 0), "SparseCodes.bundled": (0, 0), "ArrangedRows.rows": (0, 0),
    "TopDocuments.scores": (0, 0), "TopDocuments.documents": (0, 0), "MatchedTerms.document_frequencies": (0, 0),
    "MatchedTerms.collection_counts": (0, 0), "TextColumns.settings": (0, 0),
}  # fmt: skip
TEXTS = {"kernel": "rbf", "activation": "relu", "optimizer": "adam", "loss": "squared", "rule": "skip-above",
         "model": "bm25"}  # fmt: skip


def nothing_for(hint: Any, name: str, shape: tuple[int, ...] = (0,)) -> Any:
    """An argument of that type without any item; numbers are 1."""
    hint = _first(hint)
    if typing.get_origin(hint) is np.ndarray:
        kind = _first(typing.get_args(typing.get_args(hint)[1])[0])
        return np.empty(shape, np.float32 if kind is Any else kind)
    if typing.get_origin(hint) in (list, tuple):
        return typing.get_origin(hint)()
    if dataclasses.is_dataclass(hint) or hasattr(hint, "_fields"):
        hints, parts = typing.get_type_hints(hint), _defaults(hint)
        for field in hints.keys() - parts.keys():
            parts[field] = nothing_for(hints[field], field, SHAPES.get(f"{hint.__name__}.{field}", (0,)))
        return hint(**parts)
    return TEXTS[name] if hint is str else {bool: False, int: 1, float: 1.0}.get(hint)


def _first(hint: Any) -> Any:
    return typing.get_args(hint)[0] if isinstance(hint, types.UnionType) else hint


def _defaults(record: Any) -> dict[str, Any]:
    if hasattr(record, "_fields"):
        return dict(record._field_defaults)
    found = {field.name: field.default for field in dataclasses.fields(record)}
    return {name: value for name, value in found.items() if value not in (dataclasses.MISSING, None)}


@pytest.mark.parametrize("kernel", kernels.NAMES)
def test_a_kernel_takes_nothing_or_refuses_it(kernel):
    signature = getattr(_core, kernel).__doc__.splitlines()[0]
    shapes = re.finditer(r"(\w+): ndarray\[[^]]*shape=\(([^)]*)\)", signature)
    dimensions = {found[1]: (0,) * found[2].count("*") for found in shapes}
    hints = typing.get_type_hints(getattr(reference, kernel))
    hints.pop("return")
    given = {name: nothing_for(hint, name, dimensions.get(name, (0,))) for name, hint in hints.items()}
    with suppress(ValueError):  # says what was wanted
        getattr(_core, kernel)(*given.values())


BARE, ROWS, OFFSETS = np.empty((4, 0), np.float32), np.arange(4), np.array([0, 4])  # four documents without features
NO_WEIGHTS, SIZES, SMALL_NET = np.empty(0), np.array([0, 2]), np.linspace(-1, 1, 2 + 5, dtype=np.float32)
NET = LayeredNet(np.array([0, 2, 1]), np.linspace(0.1, 1, 2 + 2, dtype=np.float32), False, "relu", 0.0)
LEVELS = LevelledRows(BARE, np.array([0, 1, 1, 0], np.int32), NO_WEIGHTS)
OF_BARE_ROWS: dict[str, Callable[[Any, Any], None]] = {
    "linear_scores": lambda k, out: k.linear_scores(BARE, NO_WEIGHTS, out("f8", 4), 1),
    "sum_rows": lambda k, out: k.sum_rows(BARE, np.ones(4), out("f8", 0), 1),
    "quadratic_scores": lambda k, out: k.quadratic_scores(
        BARE, 1.0, 0.5, NO_WEIGHTS, np.empty((0, 0)), out("f8", 4), 1
    ),
    "kernel_scores": lambda k, out: k.kernel_scores(BARE, BARE[:2], np.ones(2), "rbf", 1.0, out("f8", 4), 1),
    "kernel_prank_pass": lambda k, out: k.kernel_prank_pass(
        LEVELS, ROWS, "rbf", 1.0, out("i8", 4, 0), out("f8", 4, 0), out("i8", 1, 0), out("f8", 1, 0), 1
    ),
    "prank_pass": lambda k, out: k.prank_pass(LEVELS, ROWS, 1.0, 0, out("f8", (2, 0)), out("f8", (2, 1), 0), 1),
    "net_scores": lambda k, out: k.net_scores(NET, StandardisedRows(BARE, BARE[0], BARE[0]), ROWS, 0, out("f8", 4), 1),
    "compare_pairs": lambda k, out: k.compare_pairs(
        BARE, SIZES, SMALL_NET, ROWS, ROWS[::-1].copy(), out("f4", (4, 2)), 1
    ),
    "count_wins": lambda k, out: k.count_wins(BARE, OFFSETS, SIZES, SMALL_NET, out("i8", 4), 1),
    "hash_rows": lambda k, out: k.hash_rows(BARE, out("u8", 4), 1),
}


@pytest.mark.parametrize("kernel", OF_BARE_ROWS)
def test_documents_without_features_are_written_like_others(kernel):
    """As the twin does, whatever memory held before: a kernel that counts values and not rows leaves them out."""
    written: list[list[np.ndarray]] = []
    for module in (_core, reference):
        made: list[np.ndarray] = []

        def out(kind: str, shape: Any, start: Any = None, made: list[np.ndarray] = made) -> np.ndarray:
            made.append(np.full(shape, pattern_of(np.dtype(kind)) if start is None else start, kind))
            return made[-1]

        OF_BARE_ROWS[kernel](module, out)
        written.append(made)
    for compiled, twin in zip(*written, strict=True):
        np.testing.assert_allclose(compiled, twin, rtol=1e-6)
        assert np.isfinite(twin).all()

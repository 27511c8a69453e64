"""A forest is the same, bit for bit, however its queries are divided among workers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.trees.distributed.thread_exchange import ThreadExchange
from tests.trees.distributed.workers import divided, owners_of, together

import rankwright as rw
from rankwright import kernels
from rankwright.errors import InputError
from rankwright.kernels import reference
from rankwright.objectives import families
from rankwright.objectives.families import OBJECTIVES, objective_named
from rankwright.objectives.objective import DataFacts, Lambdas, Objective
from rankwright.trees.bins.binned import BinnedDataset, bin_dataset
from rankwright.trees.boosting import Boosting, BoostingParams
from rankwright.trees.params import TreeParams
from rankwright.trees.share import fixed_for_all

TREE = TreeParams(max_leaves=12, min_docs_in_leaf=5)
SHAPES: dict[str, Any] = {
    "plain": {"tree": TREE},
    "drawn": {"tree": TREE, "query_fraction": 0.5, "feature_fraction": 0.6, "query_bootstrap": 0.5},
    "random splits": {"tree": replace(TREE, gain_noise=1.0, split_feature_fraction=0.5)},
    "symmetric": {"tree": replace(TREE, growth="symmetric", max_leaves=16, gain_noise=0.5)},
    "monotone": {"tree": TREE, "monotone": {0: 1, 3: -1}},
    "least squares": {"tree": replace(TREE, split_gain="least-squares", l2=1.0, max_depth=3)},
}


def web_data(n_queries: int = 60, seed: int = 1) -> rw.RankingDataset:
    """Documents of which some lack values."""
    data = rw.synthetic.web_search(n_queries=n_queries, seed=seed)
    features = data.features.copy()
    features[np.random.default_rng(0).random(features.shape) < 0.05] = np.nan
    features[:, 2] = np.arange(len(features)) % 7
    return replace(data, features=features)


def grown(
    data: BinnedDataset, objective: Objective, params: BoostingParams, n_trees: int = 4, **options: Any
) -> Boosting:
    boosting = Boosting(data, objective.bind(data), params, **options)
    for step in range(n_trees):
        boosting.take_step(step)
    return boosting


def check_alike(
    data: BinnedDataset, objective: Objective, params: BoostingParams, n_workers: int, how: str
) -> Boosting:
    """Checks that workers grow what one process does, and returns what that is."""
    alone = grown(data, objective, params)
    owners = owners_of(data.n_queries, n_workers, how)
    rows_of = [data.groups.rows_of(np.flatnonzero(owners == rank)) for rank in range(n_workers)]
    highest = float(np.nanmax(data.labels))  # type: ignore[arg-type]
    fixed = fixed_for_all(objective, DataFacts(highest, data.n_docs, data.n_queries, data.documents))

    def work(end: ThreadExchange) -> Boosting:
        own, share = divided(data, owners, end)
        return grown(own, fixed, params, share=share)

    for rank, boosting in enumerate(together(n_workers, work)):
        assert boosting.forest().equals(alone.forest())
        assert_array_equal(boosting.scores, alone.scores[rows_of[rank]])
    return alone


@pytest.mark.parametrize("lists", ["long, few documents", "long, many documents", "short, many documents"])
def test_the_usual_forces_are_those_of_all_data(lists: str, monkeypatch: pytest.MonkeyPatch) -> None:
    data = bin_dataset(web_data(), max_bins=40)
    if lists.startswith("long"):  # not for a worker that has half of the documents
        monkeypatch.setattr(families, "LONG", 0.9 * data.n_docs / data.n_queries)
    if lists.endswith("many documents"):
        monkeypatch.setattr(families, "LITTLE_IN_LONG", data.n_docs - 1)
        monkeypatch.setattr(families, "LITTLE", data.n_docs - 1)
    check_alike(data, families.UsualForces("ndcg@10"), BoostingParams(**SHAPES["plain"]), 2, "random")


@pytest.mark.parametrize("how", ["random", "skewed", "empty"])
@pytest.mark.parametrize("n_workers", [1, 2, 3, 4, 7])
def test_any_division_gives_the_same_forest(n_workers: int, how: str) -> None:
    data = bin_dataset(web_data(), max_bins=40, categorical=[3])
    check_alike(data, objective_named("lambdarank:ndcg@10"), BoostingParams(**SHAPES["plain"]), n_workers, how)


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_of_trees(shape: str) -> None:
    categorical = [] if shape == "symmetric" else [3]
    data = bin_dataset(web_data(), max_bins=40, categorical=categorical)
    check_alike(data, objective_named("lambdarank:ndcg@10"), BoostingParams(**SHAPES[shape]), 3, "random")


@pytest.mark.parametrize("name", [name for name in OBJECTIVES if name != "pairwise"])
def test_every_objective(name: str) -> None:
    data = bin_dataset(web_data(30), max_bins=20)
    check_alike(data, objective_named(name), BoostingParams(**SHAPES["drawn"]), 3, "skewed")


def test_wide_leaves_wide_codes_and_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """More documents than a packed word counts, more bins than a byte, and room for two histograms."""
    monkeypatch.setattr("rankwright.trees.grower.HISTOGRAM_MEMORY", 1)
    data = bin_dataset(web_data(300), max_bins=400)
    assert data.n_docs > 8191
    assert data.mapper.code_dtype == np.uint16
    for shape in ("plain", "symmetric"):
        check_alike(data, objective_named("lambdarank"), BoostingParams(**SHAPES[shape]), 2, "random")


def test_twins_of_the_kernels_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    wide = web_data(12)
    narrow = replace(wide, features=wide.features[:, :30].copy(), feature_names=wide.feature_names[:30])
    for shape in ("plain", "drawn", "symmetric"):
        own = bin_dataset(narrow, max_bins=12, categorical=[] if shape == "symmetric" else [3])
        params = BoostingParams(**SHAPES[shape])
        alone = grown(own, objective_named("ranknet"), params)
        with monkeypatch.context() as patch:
            for name in ("grow_tree", "quantise_lambdas"):
                patch.setattr(kernels, name, getattr(reference, name))
            by_twins = check_alike(own, objective_named("ranknet"), params, 2, "random")
        assert by_twins.forest().equals(alone.forest())


def test_forces_that_are_no_numbers_stop_every_worker() -> None:
    data = bin_dataset(web_data(10))
    owners = owners_of(data.n_queries, 2, "random")

    def work(end: ThreadExchange) -> str:
        own, share = divided(data, owners, end)
        boosting = Boosting(own, objective_named("ranknet").bind(own), BoostingParams(tree=TREE), share=share)
        boosting.lambda_fn = lambda scores, **_: Lambdas(  # type: ignore[assignment]
            np.full(len(scores), np.nan if end.rank else 1.0, np.float32), np.ones(len(scores), np.float32), scores
        )
        with pytest.raises(InputError, match="gradients must be finite"):
            boosting.take_step(0)
        return "stopped"

    assert together(2, work) == ["stopped"] * 2

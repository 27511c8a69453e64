"""Compression: the goal is met, exact changes nothing, and what comes out is an ordinary model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.compression.candidates import Goal, Point
from rankwright.compression.curve import DEFAULT_MEANS, Compressed
from rankwright.compression.distillation import StudentParams
from rankwright.compression.methods import MEANS, _most_within, _sizes
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, SettingError, UnknownNameError
from rankwright.trees.forests.merging import merge_forests

FOREST_MEANS = [name for name in MEANS if name != "net"]
METRIC = "ndcg@10"


def some_data(n_queries: int, seed: int) -> RankingDataset:
    """Queries of twelve documents; one of five features is a category, one in ten values is missing."""
    rng = np.random.default_rng(seed)
    features = rng.normal(size=(12 * n_queries, 5)).astype(np.float32)
    features[:, 4] = rng.integers(0, 6, len(features))
    worth = features[:, 0] + features[:, 1] * features[:, 2] + np.isin(features[:, 4], [1, 4])
    labels = np.clip(np.rint(worth + rng.normal(scale=0.5, size=len(worth))), 0, 4)
    features[rng.random(features.shape) < 0.1] = np.nan
    return RankingDataset.from_arrays(features, labels, group=[12] * n_queries)


@pytest.fixture(scope="module")
def train() -> RankingDataset:
    return some_data(80, 1)


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    return some_data(80, 2)


@pytest.fixture(scope="module")
def bagged(train) -> rw.LambdaMART:
    """The mean of three models of 15 trees, each of its own queries."""
    rng = np.random.default_rng(0)
    bags = [
        rw.LambdaMART(n_trees=15, max_leaves=7, categorical=[5], seed=seed).fit(
            train.take_queries(np.unique(rng.integers(0, 80, 80)))
        )
        for seed in range(3)
    ]
    return bags[0].with_forest(merge_forests([bag.forest_ for bag in bags]))


def with_values(model: rw.LambdaMART, values: np.ndarray) -> rw.LambdaMART:
    """The model, its nodes saying other values."""
    return model.with_forest(replace(model.forest_, value=values.astype(np.float32)))


def quality(model: Any, data: RankingDataset) -> float:
    return rw.evaluate(model.predict(data), data, [METRIC])[METRIC].mean


@pytest.fixture(scope="module")
def compressed(bagged, data) -> Compressed:
    return rw.compress(bagged, data, max_loss=0.01)


@pytest.mark.parametrize("means", [(name,) for name in FOREST_MEANS] + [DEFAULT_MEANS], ids="+".join)
@pytest.mark.parametrize(("max_loss", "margin"), [(0.0, 0.0), (0.01, 0.0), (0.05, 0.0), (0.05, 1.0)])
def test_no_more_is_lost_than_may_be(bagged, data, means, max_loss, margin):
    _, valid, test = data.split(valid=0.25, test=0.25, seed=0)
    found = rw.compress(bagged, data, means=means, max_loss=max_loss, margin=margin)
    assert quality(bagged, valid) - quality(found.model, valid) <= max_loss
    allowed = [point for point in found.points if point.loss + margin * point.loss_error <= max_loss]
    assert found.chosen.bytes == min(point.bytes for point in allowed)
    assert found.after.mean == quality(found.model, test)
    assert found.difference.difference == pytest.approx(quality(found.model, test) - quality(bagged, test))


@pytest.mark.parametrize("name", [name for name in FOREST_MEANS if name != "exact"])
@pytest.mark.parametrize("n_trees", [1, 5, 14])
def test_a_target_of_trees_is_kept_and_used(bagged, data, name, n_trees):
    found = rw.compress(bagged, data, means=[name], target_trees=n_trees)
    assert found.model.n_trees_ <= n_trees
    assert any(point.trees == n_trees for point in found.points)
    within = [point.valid for point in found.points if point.trees <= n_trees]
    assert found.chosen.valid == max(within)


@pytest.mark.parametrize("name", [name for name in FOREST_MEANS if name != "exact"])
def test_a_target_of_bytes_is_kept_and_used(bagged, data, name, tmp_path):
    target = 7000
    found = rw.compress(bagged, data, means=[name], target_bytes=target)
    found.model.save(tmp_path / "small.rw")
    assert (tmp_path / "small.rw").stat().st_size == found.chosen.bytes <= target
    of_a_tree = max(np.diff([point.bytes for point in found.points if point.means == name][:2]))
    largest = max(point.bytes for point in found.points if point.bytes <= target)
    assert target - largest < 2 * of_a_tree  # the largest model that fits was among those tried


def test_exact_compression_changes_no_bit(bagged, data):
    # Leaves made equal in pairs, so that there is something to drop.
    blunt = with_values(bagged, np.round(bagged.forest_.value, 1))
    found = rw.compress(blunt, data, means=["exact"], max_loss=0.0)
    assert 0 < (found.chosen.nodes or 0) < (found.original.nodes or 0)
    assert found.model.predict(data).tobytes() == blunt.predict(data).tobytes()


def test_what_comes_out_is_an_ordinary_model_that_tells_where_it_comes_from(compressed, bagged, data, tmp_path):
    compressed.model.save(tmp_path / "small.rw")
    again = rw.load(tmp_path / "small.rw")
    assert type(again) is type(bagged)
    assert np.array_equal(again.predict(data), compressed.model.predict(data))
    assert (tmp_path / "small.rw").stat().st_size == compressed.chosen.bytes
    note = rw.describe_model(tmp_path / "small.rw").compressed_from
    assert note == {
        "ranker": "lambdamart",
        "trees": bagged.n_trees_,
        "nodes": len(bagged.forest_.feature),
        "training_data": bagged.data_digest_,
        "means": compressed.chosen.means,
    }
    assert again.fit(data).compressed_from_ is None
    assert bagged.compressed_from_ is None


def test_bags_become_one_ranker(train, data, tmp_path):
    bags = rw.BLMART(n_bags=3, n_trees=6, max_leaves=5, categorical=[5]).fit(train)
    small = rw.compress(bags, data, target_trees=4).model
    small.save(tmp_path / "small.rw")
    loaded = rw.load(tmp_path / "small.rw")
    assert isinstance(loaded, rw.LambdaMART)
    assert loaded.compressed_from_ is not None
    assert loaded.compressed_from_["ranker"] == "bl-mart"
    np.testing.assert_array_equal(loaded.predict(data), small.predict(data))


def test_the_same_seed_gives_the_same_model_for_any_number_of_threads(bagged, data):
    first, second = (rw.compress(bagged, data, max_loss=0.01, seed=3, threads=threads) for threads in (1, 2))
    assert first.model.forest_.equals(second.model.forest_)
    assert [(p.means, p.trees, p.valid) for p in first.points] == [(p.means, p.trees, p.valid) for p in second.points]


def test_no_labels_are_looked_at_to_fit(bagged, data):
    fit, valid, test = data.split(valid=0.25, test=0.25, seed=0)
    unlabelled = RankingDataset(features=fit.features, labels=None, groups=fit.groups)
    given = rw.compress(bagged, fit, valid=valid, test=test, max_loss=0.01)
    blind = rw.compress(bagged, unlabelled, valid=valid, test=test, max_loss=0.01)
    assert blind.model.forest_.equals(given.model.forest_)


def test_parts_that_are_given_are_those_that_choose_and_test(bagged, data, train):
    found = rw.compress(bagged, data, valid=train, means=["prune"], max_loss=0.01)
    assert found.original.valid == quality(bagged, train)
    found = rw.compress(bagged, data, test=train, means=["prune"], max_loss=0.01)
    assert found.before.mean == quality(bagged, train)


def test_scores_keep_their_level(train, data):
    model = rw.MART(n_trees=30, max_leaves=7).fit(train)
    small = rw.compress(model, data, means=["prune", "distill"], target_trees=10).model
    assert small.predict(data).mean() == pytest.approx(model.predict(data).mean(), abs=0.1)


def test_a_model_that_scales_is_compressed_as_its_trees_see_documents(train, data):
    model = rw.LambdaMART(n_trees=20, max_leaves=7, scaling="query-minmax").fit(train)
    found = rw.compress(model, data, means=["prune"], target_trees=20)
    _, valid, _ = data.split(valid=0.25, test=0.25, seed=0)
    assert found.chosen.valid == pytest.approx(quality(found.model, valid))
    assert found.points[-1].loss == pytest.approx(0, abs=0.02)  # all trees, weighed anew, are the model again


@pytest.mark.parametrize("value", [0.0, 0.5])
def test_a_model_that_says_the_same_of_all_documents_is_compressed_to_next_to_nothing(bagged, data, value, tmp_path):
    constant = with_values(bagged, np.full_like(bagged.forest_.value, value))
    found = rw.compress(constant, data, max_loss=0.0)
    assert found.chosen.nodes in (0, 1)
    found.model.save(tmp_path / "constant.rw")
    assert np.allclose(rw.load(tmp_path / "constant.rw").predict(data), constant.predict(data))


def test_a_metric_of_which_less_is_better_is_lost_by_growing(bagged, data):
    found = rw.compress(bagged, data, means=["prune"], metric="pair-error", max_loss=0.02)
    assert found.chosen.valid - found.original.valid <= 0.02
    smallest = found.points[1]
    assert smallest.loss == pytest.approx(smallest.valid - found.original.valid)


def test_a_net_learns_from_a_forest(bagged, data, tmp_path):
    student = StudentParams(hidden=((8,),), epochs=3)
    found = rw.compress(bagged, data, means=["net"], max_loss=1.0, student=student)
    assert found.chosen.means == "net"
    assert (found.chosen.trees, found.chosen.weights) == (None, 5 * 8 + 8 + 8)
    found.model.save(tmp_path / "net.rw")
    assert rw.load(tmp_path / "net.rw").compressed_from_ == found.model.compressed_from_
    assert found.to_dict()["chosen"]["nodes"] is None


def test_a_model_without_trees_is_refused(data):
    net = rw.RankNet(hidden=(), epochs=1).fit(data)
    with pytest.raises(InputError, match=r"made of trees.* ranknet"):
        rw.compress(net, data)


def test_goals_that_cannot_be_met_and_means_that_are_not_there_are_refused(bagged, data):
    with pytest.raises(SettingError, match="10 bytes cannot be met: the smallest model found takes"):
        rw.compress(bagged, data, means=["prune"], target_bytes=10)
    with pytest.raises(SettingError, match="at most 3 trees cannot be met: the smallest model found has 45 trees"):
        rw.compress(bagged, data, means=["exact"], target_trees=3)
    with pytest.raises(UnknownNameError, match="did you mean 'prune'"):
        rw.compress(bagged, data, means=["prun"])
    with pytest.raises(SettingError, match="one means or more"):
        rw.compress(bagged, data, means=[])
    with pytest.raises(SettingError, match="three goals"):
        rw.compress(bagged, data, max_loss=0.1, target_trees=3)
    with pytest.raises(SettingError, match="no trees"):
        rw.compress(bagged, data, means=["net"], target_trees=3)
    for wrong in ({"max_loss": -1.0}, {"margin": -0.1}, {"target_trees": 0}, {"target_bytes": 0}):
        with pytest.raises(SettingError, match="or more"):
            Goal(**wrong)


def point(n_bytes: int, loss: float, trees: int = 1) -> Point:
    return Point("prune", trees, trees, None, n_bytes, 1.0, 0.5 - loss, 0.5, loss)


def test_the_smallest_within_the_loss_or_the_best_within_the_target_is_chosen():
    points = [point(100, 0.0, 10), point(50, 0.01, 5), point(20, 0.001, 2), point(10, 0.1, 1)]
    assert Goal(max_loss=0.02).chosen(points) == 2
    assert Goal(max_loss=0.0).chosen(points) == 0
    assert Goal(target_trees=5).chosen(points) == 2
    assert Goal(target_bytes=15).chosen(points) == 3
    assert Goal().max_loss == 0.002


def test_a_loss_that_is_known_badly_must_be_smaller():
    points = [point(100, 0.0), replace(point(50, 0.01), loss_error=0.004), replace(point(20, 0.01), loss_error=0.02)]
    assert Goal(max_loss=0.02).chosen(points) == 1
    assert Goal(max_loss=0.02, margin=0.0).chosen(points) == 2
    assert Goal(max_loss=0.02, margin=3.0).chosen(points) == 0


def test_sizes_grow_by_the_square_root_of_two_and_hold_the_target():
    assert _sizes(16, None) == [1, 2, 3, 4, 6, 8, 11, 16]
    assert _sizes(10, 5) == [1, 2, 3, 4, 5, 6, 8, 10]
    assert _sizes(1, None) == [1]
    assert _sizes(4, 9) == [1, 2, 3, 4]


@pytest.mark.parametrize(
    ("target", "expected"), [(50, 5), (59, 5), (40, None), (39, 3), (9, None), (85, None), (79, 7)]
)
def test_the_most_trees_that_fit_are_found_between_two_sizes(target, expected):
    tried = [(1, 10), (4, 40), (8, 80)]
    assert _most_within(target, tried, lambda n_trees: 10 * n_trees) == expected


def test_what_is_told_of_the_size_is_of_the_file(bagged, data):
    small = rw.compress(bagged, data, means=["exact", "prune"], target_trees=10)
    before, after = small.original.bytes, small.chosen.bytes
    told = f"{before / after:.1f} times smaller: {before:,} → {after:,} bytes, {small.factor:.1f} times fewer nodes"
    assert told in str(small)

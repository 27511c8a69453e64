"""Blends: how scores become one, how weights are learned, and what a blend can do that its rankers can."""

from __future__ import annotations

import pickle
from itertools import pairwise

import numpy as np
import pytest
from sklearn.base import clone
from tests.contracts.trained import learnable, quick, small

import rankwright as rw
from rankwright.blending.combining import Combining, ListSpread, slopes
from rankwright.blending.weights import learned_weights
from rankwright.catalog.settings import ranker_from_text
from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError
from rankwright.metrics.evaluation import evaluate
from rankwright.ranking.fusion import fuse

HOW = [("mean", None), ("mean", "rank"), ("mean", "calibrated"), ("rrf", None), ("borda", None), ("combsum", None),
       ("combmnz", "z-score")]  # fmt: skip


@pytest.fixture(scope="module")
def halves():
    return learnable().split(valid=0.5, seed=0)


@pytest.fixture(scope="module")
def trained_pair(halves):
    return [small("lambdamart").fit(halves[0]), small("ranksvm").fit(halves[0])]


def matrix_of(rankers, data):
    return np.asfortranarray(np.column_stack([one.predict(data) for one in rankers]))


class TestCombining:
    @pytest.mark.parametrize("how", HOW)
    @pytest.mark.parametrize("n_rankers", [2, 9])
    def test_a_list_alone_in_any_order_gets_the_same_bits(self, how, n_rankers):
        rng, combining = np.random.default_rng(n_rankers), Combining.of(*how)
        groups = Groups.of_sizes(np.r_[0, rng.integers(0, 60, 12)])
        matrix, weights = np.asfortranarray(rng.normal(size=(groups.n_docs, n_rankers))), rng.random(n_rankers)
        whole = combining.combined(matrix, groups, weights)
        for docs in groups.slices():
            order = rng.permutation(docs.stop - docs.start)
            if len(order):
                alone = np.asfortranarray(matrix[docs][order])
                found = combining.combined(alone, Groups.of_sizes([len(order)]), weights)
                assert np.array_equal(found, whole[docs][order])

    def test_z_scores_by_hand(self):
        groups = Groups.of_sizes([3, 2])
        matrix = np.asfortranarray([[1.0], [2.0], [3.0], [5.0], [5.0]])
        spread = ListSpread.of(matrix, groups)
        deviation = np.sqrt(2 / 3)
        assert spread.z_scores(matrix, groups)[:, 0] == pytest.approx([-1 / deviation, 0, 1 / deviation, 0, 0])

    @pytest.mark.parametrize("method", ["rrf", "borda", "combsum", "combmnz"])
    def test_fusion_is_that_of_fuse(self, method, trained_pair, halves):
        scores = [one.predict(halves[1]) for one in trained_pair]
        found = rw.blend(trained_pair, halves[1], combine=method, weights=[1, 3]).predict(halves[1])
        wanted = fuse(scores, method, data=halves[1], weights=[0.25, 0.75])
        assert found == pytest.approx(wanted, abs=1e-12)

    def test_a_calibrated_point_is_worth_what_least_squares_say(self):
        groups, labels = Groups.of_sizes([2, 3]), np.array([0.0, 1, 0, np.nan, 2])
        scores = np.array([0.0, 4, 10, 99, 18])
        # Apart from their query's mean, scores are ∓2 and ∓4, labels ∓1/2 and ∓1.
        assert slopes(scores[:, None], labels, groups) == pytest.approx([(2 * 2 * 0.5 + 2 * 4 * 1) / (2 * 4 + 2 * 16)])

    @pytest.mark.parametrize(("combine", "scores"), [("rrf", "z-score"), ("combsum", "rank"), ("mean", "min-max")])
    def test_scores_that_do_not_go_with_a_method_are_refused(self, combine, scores, halves):
        with pytest.raises(SettingError, match=f"combine={combine} does not take scores={scores}"):
            rw.Blend([quick("lambdamart"), quick("ranksvm")], combine=combine, scores=scores).fit(halves[0])


class TestWeights:
    def learned(self, matrix, data, **changes):
        combining, how = Combining.of("mean", None), {"shrinkage": 0.0, "seed": 0, "threads": 1} | changes
        factors = np.ones(matrix.shape[1])
        return learned_weights(np.asfortranarray(matrix), data, combining, "ndcg@10", factors=factors, **how)

    def test_who_ranks_perfectly_gets_most_and_noise_little(self):
        data, rng = learnable(), np.random.default_rng(0)
        matrix = np.column_stack([np.asarray(data.labels), rng.normal(size=(data.n_docs, 2))])
        found = self.learned(matrix, data)
        assert found.sum() == pytest.approx(1)
        assert found[0] > 0.5
        assert (found >= 0).all()

    def test_shrinkage_draws_towards_equal_weights(self):
        data, rng = learnable(), np.random.default_rng(0)
        matrix = np.column_stack([np.asarray(data.labels), rng.normal(size=data.n_docs)])
        distances = [np.abs(self.learned(matrix, data, shrinkage=share) - 0.5).max() for share in (0.0, 60.0, 1e9)]
        assert all(more > less for more, less in pairwise(distances))
        assert distances[1] == pytest.approx(distances[0] / 2)  # 60 queries, and as many that prefer equal weights

    def test_rankers_that_agree_get_equal_weights(self):
        data = learnable()
        matrix = np.column_stack([np.asarray(data.labels)] * 3)
        assert self.learned(matrix, data) == pytest.approx([1 / 3] * 3)

    def test_weights_are_learned_on_queries_that_rankers_did_not_see(self, halves):
        train, test = halves
        learns_by_heart = rw.LambdaMART(n_trees=80, max_leaves=16, min_docs_in_leaf=1, learning_rate=0.5)
        blend = rw.Blend([learns_by_heart, rw.RankSVM()], shrinkage=0).fit(train)
        assert evaluate(blend.rankers_[0].predict(train), train)["ndcg@10"].mean > 0.999
        assert blend.weights_[0] < 0.9
        assert blend.score(test) > 0.5

    def test_given_weights_are_taken_and_scaled(self, halves):
        blend = rw.Blend([quick("lambdamart"), quick("ranksvm")], weights=[1, 3]).fit(halves[0])
        assert blend.weights_.tolist() == [0.25, 0.75]

    @pytest.mark.parametrize(("weights", "told"), [([1], "must be 2 numbers"), ([0, 0], "a number above 0")])
    def test_wrong_weights_are_refused(self, weights, told, halves):
        with pytest.raises(SettingError, match=told):
            rw.Blend([quick("lambdamart"), quick("ranksvm")], weights=weights).fit(halves[0])


class TestBlend:
    def test_a_blend_of_bags_a_net_and_an_imported_forest_is_read_back(self, halves, tmp_path):
        train, test = halves
        quick("mart").fit(train).export(tmp_path / "other.txt", to="lightgbm")
        rankers = [quick("bagging"), quick("bl-mart"), quick("ranknet"), rw.load(tmp_path / "other.txt")]
        blend = rw.Blend(rankers).fit(train)
        blend.save(tmp_path / "blend.rw")
        for again in (rw.load(tmp_path / "blend.rw"), pickle.loads(pickle.dumps(blend)), clone(blend).fit(train)):
            assert np.array_equal(again.predict(test), blend.predict(test))
            assert [one.name for one in again.rankers_] == ["bagging", "bl-mart", "ranknet", "imported-forest"]
        alone = matrix_of(blend.rankers_, test)
        wanted = Combining.of("mean", None).combined(alone, test.groups, blend.weights_)
        assert np.array_equal(test.from_source_order(blend.predict(test)), wanted)

    def test_workers_give_the_same_model(self, halves, tmp_path):
        blend = rw.Blend([quick("lambdamart"), quick("ranknet")])
        blend.fit(halves[0]).save(tmp_path / "here.rw")
        with rw.open_engine(workers=2) as engine:
            clone(blend).on(engine).fit(halves[0]).save(tmp_path / "workers.rw")
        assert (tmp_path / "here.rw").read_bytes() == (tmp_path / "workers.rw").read_bytes()

    def test_finished_trainings_are_kept(self, halves, tmp_path, monkeypatch):
        blend = rw.Blend([quick("bagging"), quick("ranksvm")])
        whole = clone(blend).fit(halves[0], checkpoint=tmp_path)
        monkeypatch.setattr(rw.RankSVM, "fit", None)  # which cannot be called
        monkeypatch.setattr(rw.Bagging, "fit", None)
        again = clone(blend).fit(halves[0], checkpoint=tmp_path)
        assert np.array_equal(again.predict(halves[1]), whole.predict(halves[1]))

    def test_only_calibrated_scores_need_no_list(self, halves):
        rows = halves[1].features
        rankers = [quick("lambdamart"), quick("mart")]
        calibrated = rw.Blend(rankers, scores="calibrated").fit(halves[0])
        assert not calibrated.looks_at_queries
        assert np.array_equal(calibrated.predict(rows)[:5], calibrated.predict(rows[:5]))
        with pytest.raises(InputError, match="blend looks at the documents of a query together: give qid"):
            rw.Blend(rankers).fit(halves[0]).predict(rows)

    @pytest.mark.parametrize("combine", ["rrf", "borda"])
    def test_ranks_are_not_explained(self, combine, trained_pair, halves):
        blend = rw.blend(trained_pair, halves[1], combine=combine)
        with pytest.raises(InputError, match="by ranks gives no scores that add up"):
            blend.explain(halves[1].take_queries([0]), documents=(0, 1))

    @pytest.mark.parametrize(
        ("rankers", "told"),
        [
            ([rw.LambdaMART()], "two rankers or more, got 1"),
            ([rw.LambdaMART(), 3], "rankers, such as BLMART"),
            ([rw.LambdaMART(), rw.Blend()], "blends are not blended again"),
            (rw.LambdaMART(), "a list of rankers"),
        ],
    )
    def test_what_cannot_be_blended_is_refused(self, rankers, told, halves):
        with pytest.raises((InputError, SettingError, TypeError), match=told):
            rw.Blend(rankers).fit(halves[0])

    def test_rankers_are_named_in_a_setting(self):
        blend = ranker_from_text("blend", ["rankers=lambdamart,ranknet", "combine=rrf"])
        assert [one.name for one in blend.each()] == ["lambdamart", "ranknet"]
        blend = ranker_from_text("blend", ['rankers=["lambdamart n_trees=7", "ranknet"]'])
        assert blend.each()[0].n_trees == 7


class TestElsewhere:
    def test_means_go_to_onnx_and_only_calibrated_forests_to_c(self, trained_pair, halves, tmp_path):
        pytest.importorskip("onnxruntime")
        blend = rw.blend(trained_pair, halves[1])
        assert rw.export(blend, tmp_path / "blend.onnx", to="onnx", verify=True).verdicts[0].passed
        with pytest.raises(InputError, match="scores documents one by one, and this blend compares"):
            rw.export(blend, tmp_path / "blend.c", to="c")
        forests = [trained_pair[0], quick("mart").fit(halves[0])]
        calibrated = rw.blend(forests, halves[1], scores="calibrated")
        assert rw.export(calibrated, tmp_path / "blend.txt", to="lightgbm").notes is not None
        again = rw.load(tmp_path / "blend.txt").predict(halves[1])
        assert again == pytest.approx(calibrated.predict(halves[1]), abs=1e-6)
        with pytest.raises(InputError, match="looks at the order of whole lists"):
            rw.export(rw.blend(trained_pair, halves[1], combine="rrf"), tmp_path / "blend.onnx", to="onnx")

    def test_a_forest_learns_from_a_blend(self, trained_pair, halves):
        blend = rw.blend(trained_pair, halves[0])
        found = rw.compress(blend, halves[1], means=["distill"], target_trees=8)
        assert found.model.name == "lambdamart"
        assert found.model.n_trees_ <= 8
        assert found.model.compressed_from_ is not None
        assert found.model.compressed_from_["ranker"] == "blend"
        with pytest.raises(SettingError, match="name distill, or net, among the means"):
            rw.compress(blend, halves[1], means=["exact"])

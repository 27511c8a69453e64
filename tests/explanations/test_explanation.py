"""Explanations as values, what would swap two documents, and what features do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.contracts.trained import small

import rankwright as rw
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError, SettingError, UnknownNameError, UnknownQueryError
from rankwright.explanations.contributions import centred
from rankwright.explanations.counterfactuals import Observed, smallest_change
from rankwright.rankers.ranker import Ranker


@pytest.fixture(scope="module")
def data() -> RankingDataset:
    """Ten queries of ten documents, with ids; labels follow the first feature, and the last is constant."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(100, 4)).astype(np.float32)
    features[:, 3] = 2.0
    labels = np.clip(np.round(features[:, 0] + 1), 0, 3)
    return RankingDataset.from_arrays(
        features,
        labels,
        qid=np.repeat([f"q{number}" for number in range(10)], 10),
        document_ids=[f"d{number}" for number in range(100)],
        feature_names=["worth", "noise", "more noise", "constant"],
    )


@pytest.fixture(scope="module")
def linear(data) -> Ranker:
    return rw.LinearRegression().fit(data)


@pytest.fixture(scope="module")
def forest(data) -> Ranker:
    return rw.LambdaMART(n_trees=10, max_leaves=7, min_docs_in_leaf=3, learning_rate=0.3, truncation=30).fit(data)


class TestLists:
    def test_centred_contributions_tell_what_moves_documents(self, linear, data):
        found = linear.explain(data, query="q3")
        assert found.documents == tuple(f"d{number}" for number in range(30, 40))
        assert np.allclose(found.centred.mean(axis=0), 0, atol=1e-12)
        assert np.allclose(found.centred.sum(axis=1), found.scores - found.scores.mean())
        assert (found.centred[:, 3] == 0).all()  # what all documents have in common moves none
        assert found.features == data.feature_names

    def test_what_is_the_same_in_a_query_is_centred_to_exactly_0(self):
        values = np.array([[0.1, 1.0], [0.1, 2.0], [0.1, 6.0], [0.7, 5.0]])
        assert np.mean(values[:3, 0]) != 0.1  # rounding
        assert centred(values, Groups.of_sizes([3, 1])).tolist() == [[0, -2], [0, -1], [0, 3], [0, 0]]

    def test_a_frame_has_a_row_for_each_document_and_feature(self, forest, data):
        found = forest.explain(data, query="q3")
        frame = found.to_frame()
        assert len(frame) == 10 * 4
        assert frame["rank"].tolist() == np.repeat(np.arange(1, 11), 4).tolist()
        sums = frame.groupby("document", sort=False)["contribution"].sum() + found.base
        assert np.allclose(sums.to_numpy(), found.scores[found.order])

    def test_it_is_shown_as_text_html_json_and_a_picture(self, forest, data):
        found = forest.explain(data, query="q3")
        assert "Query q3: 10 documents, ranked by lambdamart" in repr(found)
        assert max(map(len, repr(found).splitlines())) <= 80
        assert "<table>" in found._repr_html_()
        assert len(found.to_dict(top=2)["documents"]) == 2
        assert [text.get_text() for text in found.plot(top=3).get_yticklabels()] == [
            str(found.documents[place]) for place in found.order[:3]
        ]

    def test_a_query_of_ten_thousand_documents(self, forest):
        rng = np.random.default_rng(1)
        many = RankingDataset.from_arrays(rng.normal(size=(10_000, 4)), np.zeros(10_000), qid=np.zeros(10_000, int))
        found = forest.explain(many)
        assert np.abs(found.base + found.contributions.sum(axis=1) - found.scores).max() < 1e-12
        assert forest.explain(many, documents=(0, 9999)).margin >= 0

    def test_interactions_add_up_to_contributions(self, forest, linear, data):
        found = forest.explain(data, query="q3", interactions=True)
        assert np.allclose(found.interactions.sum(axis=2), found.contributions, atol=1e-12)
        with pytest.raises(InputError, match="only forests"):
            linear.explain(data, query="q3", interactions=True)

    def test_unknown_queries_and_documents_are_named_with_the_nearest(self, forest, data):
        with pytest.raises(UnknownQueryError, match=r"no query 'q33'; the nearest ids are q3"):
            forest.explain(data, query="q33")
        with pytest.raises(InputError, match=r"query q3 has no document 'd3'; the nearest ids are d3\d"):
            forest.explain(data, query="q3", documents=("d3", "d31"))
        with pytest.raises(InputError, match="say which of the 10 queries"):
            forest.explain(data)
        numbered = RankingDataset.from_arrays(data.features, data.labels, qid=np.repeat([1, 5, 9, 20, 40], 20))
        with pytest.raises(UnknownQueryError, match="nearest ids are 20, 9, 5"):
            forest.explain(numbered.with_features(data.features, data.feature_names, None), query=19)


class TestPairs:
    def test_the_document_that_ranks_higher_comes_first(self, linear, data):
        found = linear.explain(data, query="q3", documents=("d30", "d31"))
        turned = linear.explain(data, query="q3", documents=("d31", "d30"))
        assert (found.above, found.below) == (turned.above, turned.below)
        assert found.scores[0] >= found.scores[1]
        assert found.margin == pytest.approx(found.scores[0] - found.scores[1])
        weights = linear.model_.coefficients
        scaled = linear.trained_.seen_by_model(data["q3"], 1).features.astype(float)
        above, below = (int(one[1:]) - 30 for one in (found.above, found.below))
        assert np.allclose(found.contributions, weights * (scaled[above] - scaled[below]))

    def test_it_is_shown_largest_first(self, forest, data):
        found = forest.explain(data, query="q3", documents=("d30", "d31"))
        order = found.ordered()
        assert (np.diff(np.abs(found.contributions[order])) <= 0).all()
        assert found.to_frame()["feature"].tolist() == [data.feature_names[feature] for feature in order]
        assert f"why {found.above} is above {found.below}" in repr(found)
        assert max(map(len, repr(found).splitlines())) <= 80
        assert "<table>" in found._repr_html_()
        assert found.to_dict()["features"][0]["feature"] == data.feature_names[order[0]]
        found.plot()

    def test_two_different_documents_are_wanted(self, forest, data):
        with pytest.raises(SettingError, match="two documents to compare, got 3"):
            forest.explain(data, query="q3", documents=("d30", "d31", "d32"))
        with pytest.raises(SettingError, match="two different documents"):
            forest.explain(data, query="q3", documents=("d30", "d30"))

    def test_the_smallest_change_of_a_linear_model_is_that_of_its_steepest_feature(self):
        weights, row = np.array([1.0, -2.0, 0.0]), np.array([0.0, 0.0, 0.0], np.float32)
        values = {feature: np.array([-9.0, 9.0], np.float32) for feature in range(3)}
        found = smallest_change(
            row, lambda rows: rows @ weights - 3.0, values, np.ones(3), np.zeros(3, bool), np.zeros(3, bool)
        )
        assert found is not None
        assert found.feature == 1
        assert found.after == pytest.approx(-1.5, abs=1e-4)
        assert found.margin > 0

    def test_bisection_of_whole_numbers_stops_at_one(self):
        row, whole = np.zeros(1, np.float32), np.ones(1, bool)
        values = {0: np.array([9.0], np.float32)}
        found = smallest_change(
            row, lambda rows: rows[:, 0].astype(float) - 1.5, values, np.ones(1), np.zeros(1, bool), whole
        )
        assert found is not None
        assert (found.after, found.size, found.margin) == (2.0, 2.0, 0.5)

    def test_a_change_stays_within_what_a_feature_can_be(self):
        features = np.array([[0, 0.25, np.nan, 3], [2, 0.75, np.nan, np.nan], [1, np.inf, np.nan, 3]], np.float32)
        observed = Observed.of(features)
        assert observed.whole.tolist() == [True, False, True, True]
        tried = np.array([-0.5, 0.5, 1.5, 9], np.float32)
        assert observed.within(0, tried).tolist() == [0, 1, 2]
        assert observed.within(1, tried).tolist() == [0.25, 0.5, 0.75]
        assert observed.within(2, tried).tolist() == []
        assert observed.within(3, tried).tolist() == [3]

    @pytest.mark.parametrize("name", ["lambdamart", "linear-regression", "ranknet"])
    def test_whole_numbers_swap_by_whole_numbers(self, data, name):
        counts = np.round(data.features * 3)
        whole = data.with_features(counts, data.feature_names, None)
        ranker = small(name).fit(whole)
        changes = [ranker.explain(whole, query="q3", documents=("d30", other)).counterfactual
                   for other in ("d31", "d35", "d39")]  # fmt: skip
        found = [change for change in changes if change is not None]
        assert found
        for change in found:
            column = counts[:, data.feature_names.index(change.feature)]
            assert change.after == round(change.after)
            assert column.min() <= change.after <= column.max()

    def test_a_feature_that_scores_rise_with_speaks_for_the_document_that_has_more(self, data):
        ranker = rw.LambdaMART(n_trees=10, max_leaves=7, min_docs_in_leaf=3, monotone={"worth": 1}).fit(data)
        for query in data.qid[::10]:
            own = ranker.explain(data, query=query)
            found = ranker.explain(data, query=query, documents=[own.documents[place] for place in (0, 1)])
            more = np.sign(found.values[0, 0] - found.values[1, 0])
            assert found.contributions[0] * more >= 0

    def test_two_documents_are_compared_with_each_other(self, forest, data):
        with pytest.raises(SettingError, match="leave out cover"):
            forest.explain(data, query="q3", documents=("d30", "d31"), cover="documents")
        with pytest.raises(SettingError, match="leave out background"):
            forest.explain(data, query="q3", documents=("d30", "d31"), background=data)

    def test_the_reason_speaks_for_the_document_above(self, forest, data):
        found = forest.explain(data, query="q3", documents=("d30", "d31"))
        assert found.contributions[found.reason()] == found.contributions.max() > 0
        against = replace(found, contributions=np.array([0.1, -0.5, 0.0, 0.0]))
        assert against.reason() == 0
        assert replace(found, contributions=np.zeros(4)).reason() is None

    def test_per_query_scaling_says_that_it_compares(self, data):
        ranker = small("ranknet", scaling="query-minmax").fit(data)
        found = ranker.explain(data, query="q3", documents=("d30", "d31"))
        assert "within the query" in found.how
        assert found.margin == pytest.approx(found.scores[0] - found.scores[1], rel=1e-5, abs=1e-7)

    def test_units_of_pairs_are_explained_within_their_query(self, data):
        ranker = small("boltzrank", pair_units=2).fit(data)
        found = ranker.explain(data, query="q3", documents=("d30", "d31"))
        assert found.margin == pytest.approx(found.scores[0] - found.scores[1], rel=1e-9)
        with pytest.raises(InputError, match="name two of them"):
            ranker.explain(data, query="q3")


class TestQuestions:
    def test_a_background_says_what_is_usual(self, forest, linear, data):
        for ranker in (forest, linear):
            found = ranker.explain(data, query="q3", background=data["q5"])
            assert found.base == pytest.approx(float(np.mean(ranker.predict(data["q5"]))))
            assert np.allclose(found.base + found.contributions.sum(axis=1), found.scores)

    def test_what_a_model_has_not_is_refused(self, forest, linear, data):
        with pytest.raises(InputError, match="no trees"):
            linear.explain(data, query="q3", cover="documents")
        with pytest.raises(InputError, match="give one of them"):
            forest.explain(data, query="q3", cover="documents", background=data)
        with pytest.raises(InputError, match="leave out background"):
            small("ranknet").fit(data).explain(data, query="q3", background=data)

    def test_nets_and_kernels_follow_their_gradients(self, data):
        for ranker in (small("ranknet"), small("kernel-prank"), small("ranksvm", kernel="rbf", landmarks=10)):
            found = ranker.fit(data).explain(data, query="q3")
            assert np.allclose(found.base + found.contributions.sum(axis=1), found.scores, rtol=1e-12, atol=1e-12)


class TestFeatures:
    def test_importance_by_contribution_finds_what_matters(self, forest, data):
        found = rw.feature_importance(forest, data)
        assert found.features[found.ordered()[0]] == "worth"
        assert ((found.low <= found.values) & (found.values <= found.high)).all()
        assert found.values[3] == 0
        by_query = [np.abs(forest.explain(data, query=f"q{number}").centred).mean(axis=0) for number in range(10)]
        assert np.allclose(found.values, np.mean(by_query, axis=0))

    @pytest.mark.parametrize("kind", ["gain", "count", "permutation"])
    def test_other_importances_have_intervals(self, forest, data, kind):
        found = rw.feature_importance(forest, data, kind)
        assert found.features[found.ordered()[0]] == "worth"
        assert ((found.low <= found.values) & (found.values <= found.high)).all()
        assert kind in repr(found)
        assert "<table>" in found._repr_html_()
        assert len(found.to_frame()) == 4
        assert found.to_dict()["features"][0]["feature"] == "worth"

    def test_an_importance_nobody_knows(self, forest, data):
        with pytest.raises(UnknownNameError, match="contribution"):
            rw.feature_importance(forest, data, "contribution by gain")
        with pytest.raises(InputError, match="give data"):
            rw.feature_importance(forest)

    def test_dependence_of_a_linear_model_is_a_line(self, linear, data):
        found = rw.partial_dependence(linear, data, "worth", points=5)
        assert found.by_query.shape == (10, 5)
        slopes = np.diff(found.mean) / np.diff(found.grid)
        assert np.allclose(slopes, slopes[0], rtol=1e-4)
        assert np.allclose(found.low, found.mean, atol=1e-6)  # all queries have the same line
        assert "What worth does" in repr(found)
        assert len(found.to_frame()) == len(found.to_dict()["points"]) == 5
        with pytest.raises(UnknownNameError, match="did you mean 'worth'"):
            rw.partial_dependence(linear, data, "wort")

    def test_a_feature_that_is_not_used_does_exactly_nothing(self, data):
        stump = rw.LambdaMART(n_trees=1, max_leaves=2, min_docs_in_leaf=3).fit(data)
        assert not stump.used_features()[2]
        found = rw.partial_dependence(stump, data, 3, points=7)  # counted from 1
        assert (found.mean == 0).all()
        assert (found.low == 0).all()
        assert (found.high == 0).all()
        assert rw.feature_importance(stump, data).values[2] == 0

    def test_ablation_trains_without_groups(self, data):
        train, test = data.split(valid=0.4, seed=0)
        found = rw.ablation(rw.LinearRegression(), train, test, {"all that tells": ["worth"], "rest": ["noise"]})
        assert found.ordered()[0] == "all that tells"
        assert found.tests["all that tells"].difference < 0
        assert "left out" in repr(found)
        assert found.to_frame()["group"].tolist() == found.ordered()
        with pytest.raises(UnknownNameError, match="worth"):
            rw.ablation(rw.LinearRegression(), train, test, {"a": ["worht"]})
        with pytest.raises(SettingError, match="no feature to train on"):
            rw.ablation(rw.LinearRegression(), train, test, {"all": list(data.feature_names)})


def test_one_query_and_one_document_are_told_in_the_singular(linear, data):
    one_query = data.take_queries([0])
    assert rw.partial_dependence(linear, one_query, 1, points=3).table().title.endswith("over 1 query")
    shown = linear.explain(one_query).table(top=9)
    assert shown.title.startswith("Query q0: 10 documents, ")
    assert shown.notes[0] == "… and 1 more document"

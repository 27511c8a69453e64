"""Laws of how every registered ranker treats the data it is given: awkward, reordered, weighted, wrong."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import quick

import rankwright as rw
from rankwright.catalog.rankers import RANKERS, load
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.nets.gradient_net import GradientNet
from rankwright.rankers.lesson_facts import NothingToLearnError
from rankwright.rankers.ranker import Ranker

N_DOCS = 612  # of `small_data`
# Bad input is refused before a ranker's own code begins: one ranker for each kind of recipe is enough.
WAYS_IN = list({type(kind.recipe): name for name, kind in reversed(list(RANKERS.items()))}.values())


@pytest.fixture(params=RANKERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def rows_of(data: RankingDataset, seed: int = 0) -> tuple[Any, Any, Any]:
    order = np.random.default_rng(seed).permutation(data.n_docs)
    assert data.labels is not None
    return data.features[order], data.labels[order], data.qid[order]


class Known:
    """Rankers trained on the same data before, shared by laws that only read them."""

    data: RankingDataset | None = None

    @classmethod
    def trained(cls, name: str, data: RankingDataset) -> Ranker:
        if cls.data is None:
            cls.data = data
        assert np.array_equal(cls.data.features, data.features)
        return cls._of(name)

    @classmethod
    @cache
    def _of(cls, name: str) -> Ranker:
        assert cls.data is not None
        return quick(name).fit(cls.data)


@pytest.fixture
def fitted(name: str, small_data: RankingDataset) -> Ranker:
    return Known.trained(name, small_data)


class TestOrder:
    def test_scores_follow_their_rows(self, fitted, small_data):
        X, _, qid = rows_of(small_data)
        order = np.random.default_rng(1).permutation(len(X))
        scores = fitted.predict(X, qid=qid)
        assert np.array_equal(fitted.predict(X[order], qid=qid[order]), scores[order])
        assert np.array_equal(fitted.predict(RankingDataset.from_arrays(X[order], qid=qid[order])), scores[order])

    def test_queries_do_not_see_each_other(self, fitted, small_data):
        together = fitted.predict(small_data)
        apart = [fitted.predict(small_data.take_queries([query])) for query in range(small_data.n_queries)]
        # How a product of matrices is rounded may depend on the number of its rows: nets promise 1e-6, others all bits.
        tolerance = 1e-6 if isinstance(fitted, GradientNet) else 0.0
        assert np.allclose(np.concatenate(apart), together, rtol=tolerance, atol=tolerance)

    def test_the_names_of_queries_do_not_matter(self, name, small_data):
        X, y, qid = rows_of(small_data)
        named = np.array([f"query {number}" for number in qid])
        by_name, by_number = (quick(name).fit(X, y, qid=ids).predict(X, qid=ids) for ids in (named, qid))
        assert np.array_equal(by_name, by_number)

    def test_groups_say_what_query_ids_say(self, name, fitted, small_data):
        X, y, sizes = small_data.features, small_data.labels, small_data.groups.sizes
        by_sizes = quick(name).fit(X, y, group=sizes)
        assert np.array_equal(by_sizes.predict(small_data), fitted.predict(small_data))


class TestScore:
    def test_it_is_the_mean_of_the_metric_that_select_names(self, name, small_data):
        for select, sign in (("map:letor", 1), ("pair-error", -1)):
            ranker = quick(name, select=select).fit(small_data)
            metric, _, convention = select.partition(":")
            evaluation = rw.evaluate(ranker.predict(small_data), small_data, [metric], convention or "standard")
            assert ranker.score(small_data) == sign * evaluation[metric].mean

    def test_rows_score_as_the_dataset_they_make(self, fitted, small_data):
        X, y, qid = rows_of(small_data)
        assert fitted.score(X, y, qid=qid) == fitted.score(RankingDataset.from_arrays(X, y, qid=qid))

    def test_query_weights_of_a_dataset_count(self, fitted, small_data):
        weights = np.arange(small_data.n_queries) % 2
        weighted = RankingDataset.from_arrays(
            small_data.features, small_data.labels, qid=small_data.qid, query_weights=weights
        )
        odd = small_data.take_queries(np.flatnonzero(weights))
        assert fitted.score(weighted) == pytest.approx(fitted.score(odd), abs=1e-12)


class TestAwkwardData:
    def test_queries_of_one_document(self, name, small_data):
        X, y = small_data.features[:20], small_data.labels[:20]
        ranker = quick(name).fit(X, y, qid=np.arange(20), allow_empty=True)
        assert np.isfinite(ranker.predict(X, qid=np.arange(20))).all()

    def test_one_query(self, name, small_data):
        one = small_data.take_queries([int(small_data.groups.sizes.argmax())])
        assert np.isfinite(quick(name).fit(one).predict(one)).all()

    def test_constant_features_tell_nothing_apart(self, name, small_data):
        same = np.full_like(small_data.features, 3.5)
        ranker = quick(name).fit(same, small_data.labels, qid=small_data.qid)
        assert len(set(ranker.predict(same, qid=small_data.qid).tolist())) == 1

    def test_one_label_tells_nothing_apart(self, name, small_data):
        ones, qid = np.ones(small_data.n_docs), small_data.qid
        with pytest.raises(NothingToLearnError, match=f"all {small_data.n_docs} labels are 1"):
            quick(name).fit(small_data.features, ones, qid=qid)
        ranker = quick(name).fit(small_data.features, ones, qid=qid, allow_empty=True)
        assert np.isfinite(ranker.predict(small_data)).all()

    def test_no_label_at_all(self, name, small_data):
        nothing = np.full(small_data.n_docs, np.nan)
        with pytest.raises(NothingToLearnError, match="has a label, all are missing"):
            quick(name).fit(small_data.features, nothing, qid=small_data.qid)

    def test_one_document_a_query(self, name, small_data):
        alone = RankingDataset.from_arrays(small_data.features, small_data.labels, qid=np.arange(small_data.n_docs))
        if quick(name).learns_alone:
            assert np.isfinite(quick(name).fit(alone).predict(alone)).all()
        else:
            with pytest.raises(NothingToLearnError, match="has one document"):
                quick(name).fit(alone)

    def test_positions_are_refused_where_they_are_not_used(self, name, small_data):
        if RANKERS[name].takes_positions:
            return
        rows = np.zeros(small_data.n_docs, np.int64)
        with pytest.raises(InputError, match="does not learn from positions"):
            quick(name).fit(small_data.features, small_data.labels, qid=small_data.qid, position=rows)

    def test_missing_values_in_training_and_after(self, name, small_data, tmp_path):
        X = small_data.features.copy()
        X[:, 0] = np.nan
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
        ranker = quick(name).fit(X, small_data.labels, qid=small_data.qid)
        assert np.isfinite(ranker.predict(X, qid=small_data.qid)).all()
        ranker.save(tmp_path / "model.rw")
        loaded = load(tmp_path / "model.rw")
        assert np.array_equal(loaded.predict(X, qid=small_data.qid), ranker.predict(X, qid=small_data.qid))

    def test_values_never_missing_in_training_may_be_missing_later(self, fitted, small_data):
        nothing = np.full_like(small_data.features, np.nan)
        assert np.isfinite(fitted.predict(nothing, qid=small_data.qid)).all()

    def test_query_sizes_never_seen_in_training(self, fitted, small_data):
        many = np.random.default_rng(0).normal(size=(1500, small_data.n_features))
        sizes = np.array([1, 1200, 2, 297])
        scores = fitted.predict(RankingDataset.from_arrays(many, group=sizes))
        assert np.isfinite(scores).all()
        assert fitted.rank(RankingDataset.from_arrays(many, group=sizes)).rows.shape == (1500,)

    def test_no_documents_have_no_scores(self, fitted, small_data):
        nothing = small_data.take_queries([])
        assert fitted.predict(nothing).shape == (0,)

    def test_unjudged_documents_are_scored_like_others(self, name, small_data):
        y = small_data.labels.copy()
        y[np.random.default_rng(0).random(len(y)) < 0.3] = np.nan
        y[small_data.groups.rows_of(np.array([0, 1]))] = np.nan  # two queries nobody judged
        ranker = quick(name).fit(small_data.features, y, qid=small_data.qid)
        scores = ranker.predict(small_data)
        assert np.isfinite(scores).all()
        assert len(set(scores.tolist())) > 1
        assert np.isfinite(ranker.score(small_data.features, y, qid=small_data.qid))

    def test_real_labels(self, name, small_data):
        y = np.random.default_rng(0).random(small_data.n_docs)
        assert np.isfinite(quick(name).fit(small_data.features, y, qid=small_data.qid).predict(small_data)).all()

    def test_wide_types_and_read_only_arrays_are_taken_and_left_alone(self, name, small_data):
        X, y, qid = (np.array(part, dtype) for part, dtype in zip(rows_of(small_data), "fdi", strict=True))
        for part in (X, y, qid):
            part.setflags(write=False)
        wide = quick(name).fit(X.astype(np.float64), y.tolist(), qid=qid.tolist())
        assert np.array_equal(wide.predict(X, qid=qid), quick(name).fit(X, y, qid=qid).predict(X, qid=qid))

    def test_a_second_fit_forgets_the_first(self, name, fitted, small_data):
        other = RankingDataset.from_arrays(small_data.features[:, :2], small_data.labels, qid=small_data.qid)
        again = copy.copy(fitted).fit(other)
        assert np.array_equal(again.predict(other), quick(name).fit(other).predict(other))


class TestWeights:
    def test_ones_are_no_weights(self, name, small_data):
        X, y, qid = rows_of(small_data)
        n_queries = small_data.n_queries
        plain = quick(name).fit(X, y, qid=qid).predict(X, qid=qid)
        ones: dict[str, Any] = {"sample_weight": np.ones(len(y)), "query_weight": np.ones(n_queries)}
        assert np.array_equal(quick(name).fit(X, y, qid=qid, **ones).predict(X, qid=qid), plain)

    @pytest.mark.parametrize("which", ["sample_weight", "query_weight"])
    def test_others_make_another_model(self, name, which, small_data):
        X, y, qid = rows_of(small_data)
        n = len(y) if which == "sample_weight" else small_data.n_queries
        weights = np.linspace(0.0, 4.0, n)
        given: dict[str, Any] = {which: weights}
        if which == "sample_weight" and not RANKERS[name].takes_document_weights:
            with pytest.raises(InputError, match="a document's weight has no meaning"):
                quick(name).fit(X, y, qid=qid, **given)
            return
        weighted = quick(name).fit(X, y, qid=qid, **given)
        assert not np.array_equal(weighted.predict(X, qid=qid), quick(name).fit(X, y, qid=qid).predict(X, qid=qid))


class TestBadInput:
    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"X": lambda X: np.where(X > 2, np.inf, X)}, "infinity"),
            ({"X": lambda X: X[:, 0]}, "Expected 2D array"),
            ({"X": lambda X: X.astype(str).astype(object) + "x"}, "could not convert string to float"),
            ({"X": lambda X: X[:-1]}, "inconsistent numbers of samples"),
            ({"X": lambda X: X[:0], "y": lambda y: y[:0], "qid": lambda qid: qid[:0]}, "minimum of 1 is required"),
            ({"X": lambda X: X[:, :0]}, "minimum of 1 is required"),
            ({"y": lambda _: None}, "requires y to be passed"),
            ({"y": lambda y: -1 - y}, "labels must be finite and 0 or more"),
            ({"y": lambda y: np.where(y > 3, np.inf, y)}, "labels must be finite and 0 or more"),
            ({"y": lambda y: np.stack([y, y], axis=1)}, "y should be a 1d array"),
            ({"qid": lambda qid: qid[:-1]}, "qid must have .* values"),
            ({"qid": lambda qid: qid + 0.5}, "qid must be whole numbers or strings"),
            ({"qid": lambda qid: np.where(qid > 120, None, qid)}, "qid must be whole numbers or strings, got None"),
            ({"sample_weight": lambda _: [1.0]}, "document_weights must have .* values, got 1"),
            ({"sample_weight": lambda _: np.full(N_DOCS, -1.0)}, "document_weights must be finite and 0 or more"),
            ({"query_weight": lambda _: [1.0]}, "query_weights must have .* values, got 1"),
            ({"group": lambda _: [3]}, "either qid"),
            ({"valid": lambda _: (1, 2)}, "valid must be a RankingDataset"),
            ({"valid": lambda _: 5}, "valid must be a RankingDataset"),
        ],
    )
    @pytest.mark.parametrize("name", WAYS_IN)
    def test_it_is_refused_in_training(self, name, change, message, small_data):
        X, y, qid = rows_of(small_data)
        given: dict[str, Any] = {"X": X, "y": y, "qid": qid}
        given |= {part: alter(given.get(part)) for part, alter in change.items()}
        with pytest.raises(ValueError, match=message):
            quick(name).fit(**given)

    @pytest.mark.parametrize("name", WAYS_IN)
    def test_a_dataset_and_arrays_do_not_mix(self, name, small_data):
        for extra in ({"y": small_data.labels}, {"qid": small_data.qid}, {"sample_weight": np.ones(small_data.n_docs)}):
            with pytest.raises(InputError, match="a RankingDataset or a file brings its own"):
                quick(name).fit(small_data, **extra)

    def test_it_is_refused_in_scoring(self, fitted, small_data):
        X, qid = small_data.features, small_data.qid
        with pytest.raises(ValueError, match="features"):
            fitted.predict(X[:, :2], qid=qid)
        with pytest.raises(ValueError, match="infinity"):
            fitted.predict(np.where(X > 2, np.inf, X), qid=qid)
        with pytest.raises(InputError, match="qid must have"):
            fitted.predict(X, qid=qid[:-1])
        with pytest.raises(InputError, match="trained on 5 features, got 4"):
            fitted.predict(RankingDataset.from_arrays(X[:, :4], qid=qid))
        with pytest.raises(InputError, match="no labels to evaluate against"):
            fitted.score(RankingDataset.from_arrays(X, qid=qid))

    def test_validation_data_must_have_the_same_features(self, name, small_data):
        narrow = RankingDataset.from_arrays(small_data.features[:, :4], small_data.labels, qid=small_data.qid)
        with pytest.raises(InputError, match="trained on 5 features, got 4"):
            quick(name).fit(small_data, valid=narrow)

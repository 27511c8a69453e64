"""Laws of explanations, for every registered ranker."""

from __future__ import annotations

import numpy as np
import pytest
from tests.contracts.trained import learnable, trained

from rankwright.catalog.rankers import RANKERS
from rankwright.errors import InputError

QUERY = 3


@pytest.mark.parametrize("name", RANKERS)
class TestEveryRanker:
    def test_contributions_and_base_sum_to_the_score(self, name):
        ranker, own = trained(name), learnable()[QUERY]
        if not ranker.model_.explains_lists:
            with pytest.raises(InputError, match="name two of them"):
                ranker.explain(learnable(), query=QUERY)
            return
        found = ranker.explain(learnable(), query=QUERY)
        scores = ranker.predict(own)
        scale = np.abs(found.base) + np.abs(found.contributions).sum(axis=1)
        assert (found.scores == scores).all()
        assert np.abs(found.base + found.contributions.sum(axis=1) - scores).max() <= 1e-12 * scale.max()

    def test_a_pair_is_explained_by_its_features(self, name):
        ranker, own = trained(name), learnable()[QUERY]
        scores = ranker.predict(own)
        order = np.argsort(-scores, kind="stable")
        found = ranker.explain(own, documents=order[[-1, 0]].tolist())
        assert (found.above, found.below) == (order[0], order[-1])
        assert found.contributions.sum() == pytest.approx(found.margin, rel=1e-9, abs=1e-12)
        assert found.margin > 0
        if not ranker.model_.needs_queries:
            assert found.margin == pytest.approx(scores[order[0]] - scores[order[-1]], rel=1e-6, abs=1e-9)

    def test_what_is_the_same_in_two_documents_puts_neither_above(self, name):
        ranker, own = trained(name), learnable()[QUERY]
        features = own.features.copy()
        features[1, ::2] = features[0, ::2]  # every other feature
        found = ranker.explain(own.with_features(features, own.feature_names, own.categories), documents=(0, 1))
        assert (found.contributions[::2] == 0).all()
        assert found.contributions.sum() == pytest.approx(found.margin, rel=1e-9, abs=1e-12)

    def test_a_counterfactual_swaps_the_documents(self, name):
        ranker, own = trained(name), learnable()[QUERY]
        scores = ranker.predict(own)
        order = np.argsort(-scores, kind="stable")
        below = next(row for row in order[1:] if scores[row] < scores[order[0]])
        found = ranker.explain(own, documents=[order[0], below])
        change = found.counterfactual
        assert change is not None
        assert change.document in (order[0], below)
        changed = own.features.copy()
        feature = own.names.index(change.feature)
        assert changed[change.document, feature] == pytest.approx(change.before, nan_ok=True)
        changed[change.document, feature] = np.float32(change.after)
        after = ranker.predict(own.with_features(changed, own.feature_names, own.categories))
        assert after[below] > after[order[0]]
        assert own.features[:, feature].min() <= change.after <= own.features[:, feature].max()
        assert after[below] - after[order[0]] == pytest.approx(change.margin, rel=1e-6, abs=1e-9)

    def test_threads_do_not_matter(self, name):
        ranker, own = trained(name), learnable()[QUERY]
        pair = (0, 1)
        by_threads = []
        for threads in (1, 2, 7):
            again = type(ranker).of_trained(ranker.trained())
            again.threads = threads
            found = again.explain(own, documents=pair)
            parts = [found.contributions]
            if ranker.model_.explains_lists:
                parts.append(again.explain(own).contributions.reshape(-1))
            by_threads.append(np.concatenate(parts).tobytes())
        assert len(set(by_threads)) == 1

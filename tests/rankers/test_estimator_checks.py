"""scikit-learn's own checks of an estimator, for every ranker, and the exceptions with their reasons."""

from __future__ import annotations

from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwright.blending.blend import Blend
from rankwright.catalog.rankers import RANKERS, ranker_named
from rankwright.comparators.sortnet import SortNet
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker

# Whatever a ranker's size is called: small enough for checks by the dozen, large enough to learn from ten rows.
QUICK = {
    "n_trees": 3,
    "min_docs_in_leaf": 1,
    "epochs": 3,
    "max_iter": 2,
    "n_bags": 2,
    "n_rounds": 3,
    "n_sweeps": 2,
    "threads": 1,
}
WEIGHTS = (
    "a document's weight multiplies its pairs' forces; a copy of it would take another place in the list. And bins, "
    "leaf sizes and normalisation count rows, those of weight 0 too"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
    "check_dataframe_column_names_consistency": "columns are found by name, in any order",
}
# Of rankers that compare the documents of a query with each other.
EXPECTED_OF_LISTS = EXPECTED | {
    "check_methods_subset_invariance": "a document's score is its place in the list it is given in"
}
# Of rankers that measure whole lists.
EXPECTED_WITHOUT_WEIGHTS = EXPECTED | {
    "check_sample_weights_not_overwritten": "a document's weight has no meaning where lists are measured: it is refused"
}
PAGE = Path(__file__).parents[2] / "docs" / "sklearn.md"


def one_query(X, qid):
    """Rows to score that come without query ids are one query's documents: the checks know no queries."""
    if qid is None and not isinstance(X, RankingDataset):
        return np.zeros(X.shape[0] if hasattr(X, "shape") else len(X), int)
    return qid


class OneQuerySortNet(SortNet):
    def predict(self, X, qid=None):
        return super().predict(X, one_query(X, qid))


class OneQueryBlend(Blend):
    def predict(self, X, qid=None):
        return super().predict(X, one_query(X, qid))


CHECKED: dict[str, type[Ranker]] = {**RANKERS, "sortnet": OneQuerySortNet, "blend": OneQueryBlend}


def quick(name: str) -> BaseEstimator:
    known = signature(ranker_named(name).__init__).parameters
    own: dict[str, Any] = {}
    if "ranker" in known:  # a bag of whatever else there is
        own["ranker"] = quick("lambdamart")
    if "rankers" in known:  # a blend of whatever else there is
        own["rankers"] = [quick("lambdamart"), quick("linear-regression")]
    return CHECKED[name](**own, **{key: value for key, value in QUICK.items() if key in known})


def expected_failures(ranker: BaseEstimator) -> dict[str, str]:
    if not ranker.takes_document_weights:
        return EXPECTED_WITHOUT_WEIGHTS
    return EXPECTED_OF_LISTS if ranker.needs_qid else EXPECTED


@pytest.mark.filterwarnings("ignore::rankwright.rankers.inputs.OneQueryWarning")  # the checks know no queries
@parametrize_with_checks([quick(name) for name in RANKERS], expected_failed_checks=expected_failures)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", EXPECTED_OF_LISTS | EXPECTED_WITHOUT_WEIGHTS)
def test_the_exceptions_are_documented(name):
    assert f"`{name}`" in PAGE.read_text()

"""scikit-learn's own checks of an estimator, for every ranker, and the exceptions with their reasons."""

from __future__ import annotations

from inspect import signature
from pathlib import Path

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from rankwright.catalog.rankers import RANKERS, ranker_named

# Whatever a ranker's size is called: small enough for checks by the dozen, large enough to learn from ten rows.
QUICK = {"n_trees": 3, "min_docs_in_leaf": 1, "epochs": 3, "threads": 1}
WEIGHTS = (
    "a document's weight multiplies its pairs' forces; a copy of it would take another place in the list. And bins, "
    "leaf sizes and normalisation count rows, those of weight 0 too"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS,
}
PAGE = Path(__file__).parents[2] / "docs" / "sklearn.md"


def quick(name: str) -> BaseEstimator:
    kind = ranker_named(name)
    known = signature(kind.__init__).parameters
    return kind(**{key: value for key, value in QUICK.items() if key in known})


@pytest.mark.filterwarnings("ignore::rankwright.rankers.door.OneQueryWarning")  # the checks know no queries
@parametrize_with_checks([quick(name) for name in RANKERS], expected_failed_checks=lambda _: EXPECTED)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", EXPECTED)
def test_the_exceptions_are_documented(name):
    assert f"`{name}`" in PAGE.read_text()

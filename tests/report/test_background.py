"""What the report says a model is made of."""

from __future__ import annotations

import rankwright as rw
from rankwright.report.sections.background import made_of


def test_a_forest_is_told_in_words_that_fit_its_numbers(small_data):
    one = rw.LambdaMART(n_trees=1, max_leaves=4, threads=1).fit(small_data)
    assert made_of(one) == "1 tree, 4 leaves, at most 4 leaves a tree"
    two = rw.LambdaMART(n_trees=2, max_leaves=4, threads=1).fit(small_data)
    assert made_of(two) == "2 trees, 8 leaves, at most 4 leaves a tree"


def test_other_models_are_told_in_words_too(small_data):
    weights = small_data.n_features + 1
    assert made_of(rw.LinearRegression().fit(small_data)) == f"1 step, {weights} weights"
    bag = rw.BLMART(n_bags=2, n_trees=3, max_leaves=4, threads=1).fit(small_data)
    assert made_of(bag).startswith("2 bags, at least 3 trees a bag")

"""What the report says of models: how they learnt, what they are made of and look at, and their settings."""

from __future__ import annotations

import re

import rankwright as rw
from rankwright.report.measured import Origin
from rankwright.report.page.document import Chart, Facts, PageTable, Section
from rankwright.report.pages.result_pages import page_of_ranker
from rankwright.report.sections.background import importances_section, learning_section, made_of


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


def captions_of(section: Section | None) -> list[str]:
    assert section is not None
    return [block.caption for block in section.blocks if isinstance(block, Chart)]


def watched_forest():
    data = rw.synthetic.web_search(n_queries=60, seed=0)
    train, valid = data.split(valid=0.4, seed=0)
    return rw.LambdaMART(n_trees=8, max_leaves=4, threads=1).fit(train, valid=valid), data


def test_the_report_tells_the_best_value_that_train_tells():
    forest, _ = watched_forest()
    history = forest.history_
    assert history.smoothing > 0
    (caption,) = captions_of(learning_section({"forest": forest}))
    assert f"best {history.best_value:.4f} after step {history.best_step + 1}" in caption
    assert f"the mean around it is {history.best_mean:.4f}" in caption


def test_importances_say_why_they_are_of_fewer_queries():
    forest, data = watched_forest()
    some = data.take_queries(range(5))
    sampled, whole = (captions_of(importances_section({"forest": forest}, own))[0] for own in (data, some))
    assert re.search(r"over \d+ queries of 60: an even sample of about 1,000 documents", sampled)
    assert "over 5 queries. " in whole


def test_a_seed_that_is_the_default_is_no_changed_setting(small_data):
    forest = rw.LambdaMART(n_trees=1, max_leaves=4, threads=1).fit(small_data)
    page = page_of_ranker("forest", forest, Origin())
    facts = [block.rows for block in page.sections[-1].blocks if isinstance(block, Facts)]
    assert ("seed of forest", "0") in facts[0]
    tables = [block.table for block in page.sections[-1].blocks if isinstance(block, PageTable)]
    settings = [row[0] for table in tables if table.title.startswith("Settings") for row in table.rows]
    assert "n_trees" in settings
    assert "seed" not in settings

from __future__ import annotations

from rankwright.catalog.kinds import KINDS
from rankwright.settings.other_names import meant_by
from rankwright.settings.setting import settings_of


def test_another_tools_name_is_taken_only_where_ours_is_known():
    assert meant_by("n_estimators", ["n_trees", "seed"]) == "n_trees"
    assert meant_by("n_estimators", ["n_bags", "seed"]) == "n_bags"
    assert meant_by("n_estimators", ["seed"]) is None


def test_upper_case_and_signs_between_words_do_not_matter():
    assert meant_by("N-Trees", ["n_trees", "max_leaves"]) == "n_trees"


def test_no_ranker_has_a_setting_that_is_taken_for_another():
    for kind in KINDS.values():
        for name in settings_of(kind.settings):
            assert meant_by(name, settings_of(kind.settings)) == name

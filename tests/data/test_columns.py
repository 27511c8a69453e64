from __future__ import annotations

import pytest

from rankwright.data.columns import ROLES, USUAL_NAMES, Columns, check_written_names, find_layout
from rankwright.errors import InputError, SettingError


@pytest.mark.parametrize("role", ROLES)
def test_every_usual_name_is_found_whatever_its_case_and_word_breaks(role):
    others = {} if role == "query" else {"query": "q"}
    for name in USUAL_NAMES[role]:
        for spelling in (
            name,
            name.upper(),
            name.replace("_", ""),
            name.replace("_", "-"),
            name.replace("_", " ").title(),
        ):
            names = ["f1", spelling, *others.values()]
            layout = find_layout(names, Columns(**others))
            assert getattr(layout, role) == spelling
            assert layout.features == ("f1",)


def test_no_usual_name_belongs_to_two_roles():
    every = [name for names in USUAL_NAMES.values() for name in names]
    assert len(set(every)) == len(every)


def test_everything_else_is_a_feature_in_the_table_order():
    layout = find_layout(["b", "qid", "label", "a"])
    assert layout.features == ("b", "a")
    assert layout.used == ("qid", "label", "b", "a")
    assert layout.document is layout.position is None


def test_two_candidates_are_an_error_that_names_both():
    with pytest.raises(
        InputError, match=r"'qid', 'group' could each be the query column; say which with Columns\(query"
    ):
        find_layout(["qid", "group", "f"])


def test_a_named_role_settles_what_was_ambiguous():
    assert find_layout(["qid", "group", "f"], Columns(query="qid")).features == ("group", "f")
    assert find_layout(["qid", "group", "f"], drop=["group"]).features == ("f",)
    assert find_layout(["qid", "group", "f"], features=["group"]).query == "qid"


def test_a_column_named_for_one_role_is_not_looked_at_for_another():
    layout = find_layout(["qid", "label", "grade"], Columns(document="grade"))
    assert (layout.label, layout.document) == ("label", "grade")


def test_chosen_features_keep_their_order_and_leave_the_rest_out():
    layout = find_layout(["qid", "label", "a", "b", "text"], features=["b", "a"])
    assert layout.features == ("b", "a")
    assert layout.label == "label"


def test_numbers_from_one_are_no_names():
    assert find_layout(["qid", "1", "2"]).feature_names == ()
    assert find_layout(["qid", "2", "1"]).feature_names == ("2", "1")


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        (["a", "b"], {}, "there is no query column: found 'a', 'b'; wanted qid or query_id"),
        (["qid", "a", "a"], {}, "several called 'a'"),
        (["qid", "", "a"], {}, "column 2 has none"),
        (["qid", "a"], {"columns": Columns(label="grade")}, "there is no column 'grade': found 'qid', 'a'"),
        (["qid", "a"], {"features": ["b"]}, "there is no column 'b'"),
        (["qid", "a"], {"drop": ["b"]}, "there is no column 'b'"),
        (["qid", "a"], {"features": ["a"], "drop": ["a"]}, "column 'a' is named more than once"),
        (["qid", "a"], {"columns": Columns(label="a"), "features": ["a"]}, "column 'a' is named more than once"),
    ],
)
def test_what_does_not_fit_is_said_plainly(names, options, message):
    with pytest.raises(InputError, match=message):
        find_layout(names, **options)


def test_a_column_has_one_role():
    with pytest.raises(SettingError, match="'a' cannot have 2 roles"):
        Columns(query="a", label="a")


def test_a_feature_that_would_be_read_back_as_a_role_is_refused():
    with pytest.raises(InputError, match="a feature called 'Position' would be read back as the position column"):
        check_written_names(["Position"], Columns())
    check_written_names(["Position"], Columns(position="shown_at"))
    with pytest.raises(InputError, match="'shown_at'"):
        check_written_names(["shown_at"], Columns(position="shown_at"))

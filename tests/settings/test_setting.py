"""Laws of every setting of every ranker, and of what a setting says to a wrong value."""

from __future__ import annotations

import math
import runpy
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import pytest

from rankwright.catalog.kinds import KINDS
from rankwright.catalog.rankers import RANKERS
from rankwright.errors import SettingError, UnknownNameError
from rankwright.settings.setting import (
    UNSET,
    changed,
    check_settings,
    fits,
    restored_settings,
    setting,
    settings_class,
    settings_of,
    small_settings,
    stored_settings,
)
from rankwright.settings.spaces import Choice, Real, Whole
from rankwright.settings.text import parameters_section, search_text

EVERY = [(name, one) for name, kind in KINDS.items() for one in kind.settings.settings().values()]
IDS = [f"{name}-{one.name}" for name, one in EVERY]


@pytest.mark.parametrize("name", KINDS)
def test_every_setting_has_a_sentence_and_allows_its_default_its_small_value_and_where_a_search_looks(name):
    kind = KINDS[name].settings
    for one in kind.settings().values():
        assert one.text.endswith("."), f"{one.name}: {one.text!r}"
        one.check(one.default)
        if one.name in small_settings(kind):
            one.check(small_settings(kind)[one.name])
        searched = kind.space.get(one.name)
        if isinstance(searched, Choice):
            for value in searched.values:
                one.check(value)
        elif searched is not None:
            one.check(searched.low)
            one.check(searched.high)


@pytest.mark.parametrize("name", KINDS)
def test_what_a_file_holds_makes_the_same_settings_again(name):
    kind = KINDS[name].settings
    stored = stored_settings(kind())
    assert stored_settings(kind(**stored)) == stored
    assert "threads" not in stored


@pytest.mark.parametrize(("name", "one"), EVERY, ids=IDS)
def test_a_setting_that_came_later_has_the_value_of_before_in_files_that_do_not_name_it(name, one):
    if one.spec.unsaid is UNSET:
        return
    kind = KINDS[name].settings
    assert one.name not in stored_settings(kind(**{one.name: one.spec.unsaid}))
    assert getattr(restored_settings(kind, {}), one.name) == one.spec.unsaid


@pytest.mark.parametrize("name", KINDS)
def test_the_class_has_the_settings_of_its_kind_and_explains_them(name):
    assert settings_of(RANKERS[name]) == KINDS[name].settings.settings()
    assert parameters_section(RANKERS[name]) in (RANKERS[name].__doc__ or "")
    assert (RANKERS[name].__doc__ or "").startswith(KINDS[name].settings.summary)


@pytest.mark.parametrize(("name", "one"), EVERY, ids=IDS)
def test_nonsense_is_refused_at_fit_with_the_name_of_the_setting(name, one, small_data):
    nonsense: Any = object()
    if one.type is Any:
        return  # a module or a ranker: whoever uses it says what is wrong
    with pytest.raises(SettingError, match=f"^{one.name} must be .*, got <object"):
        RANKERS[name](**{one.name: nonsense}).fit(small_data)


@settings_class
class Plain:
    """An example.

    Parameters
    ----------
    count
        How many there are.
    share
        Which part
        of them.
    name
        What it is called.
    mode
        How.
    """

    count: int | None = setting(3, least=1, search=Whole(1, 9))
    share: float = setting(0.5, above=0, below=1, search=Real(0.1, 0.9, log=True), small=0.1)
    name: str = setting("ann", choices=lambda: ("ann", "bob"))
    mode: Literal["fast", "slow"] = setting("fast", search=Choice(("fast", "slow")))


@settings_class
class Changed(Plain):
    """The same, but for one.

    Parameters
    ----------
    count
        How many, now.
    """

    share: float = changed(Plain, "share", 0.25, above=None, least=0)


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"count": 0}, SettingError, "count must be 1 or more, got 0"),
        ({"count": 2.5}, SettingError, "count must be a whole number or none, got 2.5"),
        ({"count": True}, SettingError, "count must be a whole number or none, got True"),
        ({"share": 1.0}, SettingError, "share must be between 0 and 1, ends excluded, got 1.0"),
        ({"share": math.nan}, SettingError, "share must be between 0 and 1, ends excluded, got nan"),
        ({"share": "half"}, SettingError, "share must be a number, got 'half'"),
        ({"name": "bop"}, UnknownNameError, "unknown name 'bop'; did you mean 'bob'"),
        ({"mode": "quick"}, SettingError, "mode must be 'fast' or 'slow', got 'quick'"),
    ],
)
def test_a_wrong_value_is_told_with_what_was_wanted(values, error, message):
    with pytest.raises(error, match=message):
        check_settings(Plain(**values))


def test_a_changed_setting_keeps_what_was_not_changed():
    found = settings_of(Changed)
    assert (found["share"].default, found["share"].spec.small) == (0.25, 0.1)
    check_settings(Changed(share=0.0))
    assert found["share"].text == "Which part of them."
    assert found["count"].text == "How many, now."


def test_settings_tell_what_they_are():
    found = settings_of(Plain)
    assert found["count"].allowed == "a whole number, 1 or more, or none"
    assert found["share"].allowed == "a number, between 0 and 1, ends excluded"
    assert found["name"].allowed == "'ann' or 'bob'"
    assert search_text(Real(0.1, 0.9, log=True)) == "0.1 to 0.9, logarithmic"
    assert "share : a number, between 0 and 1, ends excluded, default 0.5" in parameters_section(Plain)


def test_the_page_of_settings_is_made_from_them():
    script = Path(__file__).parents[2] / "docs" / "settings_page.py"
    made = runpy.run_path(str(script))
    assert made["PAGE"].read_text(encoding="utf-8") == made["page"](), "docs/settings.md is old: run `make docs`"


@pytest.mark.parametrize(
    ("value", "hint", "fitting"),
    [
        ([0, 1], tuple[int | str, int], True),
        (["age", 1], tuple[int | str, int], True),
        (["age", "up"], tuple[int | str, int], False),
        ([0], tuple[int | str, int], False),
        (((16,), (64, 32)), tuple[tuple[int, ...], ...], True),
        (((16,), ("x",)), tuple[tuple[int, ...], ...], False),
        ((), tuple[int, ...], True),
        ({"age": 1, 0: -1}, Mapping[int | str, int], True),
        ({"age": ["x"]}, Mapping[int | str, int], False),
    ],
)
def test_what_a_list_or_an_object_holds_must_fit_too(value, hint, fitting):
    assert fits(value, hint) is fitting


def test_a_file_cannot_ask_for_more_threads_than_there_can_be():
    with pytest.raises(SettingError, match="threads must be between 1 and 1,024, got 2147483648"):
        restored_settings(KINDS["lambdamart"].settings, {"threads": 2**31})

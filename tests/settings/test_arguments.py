from __future__ import annotations

import inspect

import pytest

import rankwright as rw
from rankwright.errors import InputTypeError, RankwrightError
from rankwright.settings.arguments import answers_strangers


class Thing:
    @answers_strangers({"colour": "paint='red'"})
    def draw(self, what: str, *, size: int = 1) -> str:
        """Draw it."""
        return what * size


def test_what_is_known_goes_through():
    assert Thing().draw("x", size=2) == "xx"
    assert str(inspect.signature(Thing.draw)) == "(self, what: 'str', *, size: 'int' = 1) -> 'str'"


@pytest.mark.parametrize(
    ("places", "names", "told"),
    [
        (["x"], {"colour": 1}, "Thing.draw has no argument 'colour'; did you mean paint='red'? It has what, size"),
        (["x"], {"siz": 1}, "Thing.draw has no argument 'siz'; did you mean size=…? It has what, size"),
        (["x"], {"qqq": 1}, "Thing.draw has no argument 'qqq'. It has what, size"),
        (["x", 2], {}, "Thing.draw takes what alone by place: draw(what, size=…)"),
    ],
)
def test_what_is_not_known_is_answered(places, names, told):
    with pytest.raises(InputTypeError) as raised:
        Thing().draw(*places, **names)
    assert str(raised.value) == told


def test_what_is_missing_is_pythons_own_affair():
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        Thing().draw()  # type: ignore[call-arg]


def test_a_constructor_still_raises_what_python_raises():
    with pytest.raises(TypeError):
        rw.MART(n_tree=3)  # type: ignore[call-arg]
    with pytest.raises(RankwrightError):
        rw.MART(n_tree=3)  # type: ignore[call-arg]

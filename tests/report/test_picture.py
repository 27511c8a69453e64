"""A specification becomes a picture, whole or not at all."""

from __future__ import annotations

import builtins

import pytest

from rankwright.errors import MissingExtraError, SettingError
from rankwright.report.picture import write_picture
from rankwright.report.specs.theme import chart

EMPTY = chart("nothing", [], mark="point")


def test_another_ending_is_refused_before_anything_is_drawn(tmp_path):
    with pytest.raises(SettingError, match=r"must end in \.svg, \.png, \.pdf"):
        write_picture(EMPTY, tmp_path / "forces.gif")
    assert list(tmp_path.iterdir()) == []


def test_a_drawing_that_fails_leaves_no_file(tmp_path):
    with pytest.raises(ValueError, match="Vega-Lite"):
        write_picture(EMPTY | {"mark": "no such mark"}, tmp_path / "forces.svg")
    assert list(tmp_path.iterdir()) == []


def test_without_the_converter_one_line_says_how_to_get_it(tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("vl_convert"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"pip install '[.a-z]+\[report\]'"):
        write_picture(EMPTY, tmp_path / "forces.svg")

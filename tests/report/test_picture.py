"""A specification becomes a picture, whole or not at all."""

from __future__ import annotations

import builtins

import pytest

from rankwright.errors import MissingExtraError, SettingError
from rankwright.report.picture import picture_bytes, write_picture
from rankwright.report.specs.explanation_charts import named_bars
from rankwright.report.specs.theme import OF_EVERY_OBJECT, UNSEEN, chart, layer, quantity, row_names, series

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


def test_names_that_javascript_has_itself_are_names_like_others():
    """Vega looks names up in plain objects, where `constructor` and its kin are found without being put there."""
    pytest.importorskip("vl_convert")
    names = [*sorted(OF_EVERY_OBJECT), "plain"]
    bars = named_bars([{"name": name, "value": 1.0} for name in names], "value", "bars")
    values = [{"document": one, "feature": other, "value": 1.0} for one in names for other in names]
    y = row_names("document", names)
    stacked = layer({"type": "bar"}, x=quantity("value"), y=y, color=series("feature", names))
    sums = layer({"type": "point"}, x=quantity("value", aggregate="sum"), y=y)
    for spec in (bars, chart("stacked", values, layer=[stacked, sums])):
        drawn = picture_bytes(spec, "svg").decode().replace(UNSEEN, "")
        assert all(f">{name}</text>" in drawn for name in names)

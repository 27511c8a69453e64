"""Curves of examination are drawn, the same bytes every time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwright.errors import SettingError
from rankwright.report.examination import draw_examination

CURVES: dict[str, Any] = {"pbm": [1.0, 0.6, 0.3], "clicks": np.array([1.0, 0.4, 0.1])}


@pytest.mark.parametrize("kind", ["svg", "png"])
def test_a_picture_is_written_with_the_same_bytes(kind, tmp_path):
    pytest.importorskip("vl_convert")
    paths = [tmp_path / f"{n}.{kind}" for n in range(2)]
    for path in paths:
        draw_examination(CURVES, path, title="Curves")
    assert paths[0].read_bytes() == paths[1].read_bytes()
    if kind == "svg":
        assert all(text in paths[0].read_text() for text in ("pbm", "clicks", "Curves", "rank"))


def test_what_cannot_be_drawn_is_refused(tmp_path):
    wrong: list[dict[str, Any]] = [{}, {"a": []}, {"a": [[1.0]]}, {"a": [np.nan]}]
    for curves in wrong:
        with pytest.raises(SettingError, match="curve"):
            draw_examination(curves, tmp_path / "a.svg")
    with pytest.raises(SettingError, match=r"must end in \.svg"):
        draw_examination(CURVES, tmp_path / "a.gif")
    assert not list(tmp_path.iterdir())

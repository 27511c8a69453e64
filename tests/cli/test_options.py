from __future__ import annotations

import pytest

from rankwright.cli.options import as_option
from rankwright.errors import Parameter


@pytest.mark.parametrize(
    ("parameter", "option"),
    [
        (Parameter("drop"), "--drop"),
        (Parameter("drop", ["url", "title"]), "--drop url,title"),
        (Parameter("index_base", 0), "--index-base 0"),
        (Parameter("allow_infinity", True), "--allow-infinity"),
        (Parameter("feature_names", "none"), "--feature-names none"),
        (Parameter("query", "NAME", python="Columns(query=…)"), "--query NAME"),
        (Parameter("qid"), "--query"),
        (Parameter("columns", python="option 'columns'"), "--query, --label and the like"),
    ],
    ids=str,
)
def test_a_parameter_is_told_as_an_option(parameter, option):
    assert as_option(parameter) == option

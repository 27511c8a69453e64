"""`rankwright list`."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from rankwright.catalog.rankers import RANKERS
from rankwright.cli.app import app
from rankwright.cli.listing import LISTINGS
from rankwright.errors import UnknownNameError
from rankwright.metrics.convention import CONVENTIONS, parse_convention
from rankwright.metrics.metric_table import ALL_METRICS
from rankwright.objectives import OBJECTIVES
from rankwright.tuning.search_spaces import NAMED_SPACES
from rankwright.tuning.strategies import STRATEGIES

NAMES = {
    "rankers": RANKERS,
    "metrics": ALL_METRICS,
    "conventions": CONVENTIONS,
    "objectives": OBJECTIVES,
    "strategies": STRATEGIES,
    "spaces": NAMED_SPACES,
}


@pytest.mark.parametrize("what", NAMES)
def test_every_name_is_listed(what):
    rows = json.loads(CliRunner().invoke(app, ["list", what, "--json"]).stdout)[what]
    assert [row["name"] for row in rows] == list(NAMES[what])
    text = CliRunner().invoke(app, ["list", what]).stdout
    assert all(name in text for name in NAMES[what])


def test_listed_rules_make_the_convention():
    for row in json.loads(CliRunner().invoke(app, ["list", "conventions", "--json"]).stdout)["conventions"]:
        rules = (f"{rule}={value}" if rule != "relevant" else f"{rule}{value}" for rule, value in row["rules"].items())
        assert parse_convention(f"standard({', '.join(rules)})") == CONVENTIONS[row["name"]]


def test_an_unknown_list_names_the_known_ones():
    result = CliRunner().invoke(app, ["list", "metric"])
    assert isinstance(result.exception, UnknownNameError)
    assert all(name in str(result.exception) for name in LISTINGS)


def test_the_settings_of_a_ranker_are_listed_with_what_they_may_be(rankwright):
    rows = json.loads(rankwright("list", "settings", "lambdamart", "--json").stdout)["settings"]
    assert {row["name"]: row["default"] for row in rows} == RANKERS["lambdamart"]().get_params()
    assert all(row["allowed"] and row["text"] for row in rows)
    assert "max_leaves" in rankwright("list", "settings", "lambdamart").stdout


@pytest.mark.parametrize("arguments", [("settings",), ("metrics", "lambdamart")])
def test_settings_go_with_a_ranker(rankwright, arguments):
    told = rankwright("list", *arguments)
    assert told.code == 2
    assert "name a ranker with settings" in told.stderr

"""`rankwright inspect --objective`."""

from __future__ import annotations

import json
import re

import pytest

LETOR = "".join(
    f"{label} qid:{query} 1:{feature}\n"
    for query, label, feature in [(7, 2, 0.1), (7, 0, 0.7), (7, 1, 0.4), (9, 1, 0.3), (9, 0, 0.2)]
)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "data.txt").write_text(LETOR)
    return tmp_path / "data.txt"


def verdicts(text: str) -> dict[str, str]:
    return dict(re.findall(r"^(\S.*?) {2,}(yes|no)\b", text, re.MULTILINE))


def test_ranknet_passes(rankwright):
    found = rankwright("inspect", "--objective", "ranknet")
    assert (found.code, found.stderr) == (0, "")
    assert set(verdicts(found.stdout).values()) == {"yes"}
    assert len(verdicts(found.stdout)) == 7


def test_the_papers_ndcg_has_no_cost(rankwright):
    found = verdicts(rankwright("inspect", "--objective", "lambdarank:ndcg", "--set", "mode=paper").stdout)
    assert found["Jacobian symmetric (Eq. 11)"] == "yes"
    assert found["closed paths integrate to 0"] == "no"
    assert found["a cost exists"] == "no"


def test_a_metric_brings_its_convention(rankwright):
    name = "lambdarank:ndcg@10:standard(gain=linear)"
    assert json.loads(rankwright("inspect", "--objective", name, "--json").stdout)["objective"] == name


@pytest.mark.parametrize(("margin", "convex"), [("1", "yes"), ("2", "no")])
def test_settings_reach_the_objective(rankwright, margin, convex):
    found = rankwright("inspect", "--objective", "spring", "--set", f"margin={margin}")
    assert verdicts(found.stdout)["convex"] == convex


def test_a_query_of_a_file_as_json_and_as_a_picture(rankwright, path, tmp_path):
    picture = tmp_path / "forces.svg"
    (tmp_path / "scores.txt").write_text("1\n2\n3\n4\n5\n")
    options = ("--query", "9", "--scores", str(tmp_path / "scores.txt"), "--plot", str(picture), "--json")
    found = rankwright("inspect", str(path), "--objective", "lambdarank:map", *options)
    assert found.code == 0
    document = json.loads(found.stdout)
    assert (document["objective"], document["documents"]) == ("lambdarank:map", 2)
    assert len(document["loop"]["scores"]) == 2
    assert picture.read_text().startswith("<svg")
    assert found.stderr == f"wrote {picture}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--objective", "ranknett"), "did you mean 'ranknet'?"),
        (("--objective", "spring", "--set", "margin=wide"), "cannot have the settings"),
        (("--objective", "spring", "--set", "width=1"), "has no setting 'width'"),
        (("--objective", "spring", "--set", "mode=paper"), "mode must be default"),
        (("--objective", "ranknet", "--query", "7"), "go with a data file"),
        (("--objective", "ranknet", "--plot", "forces.gif"), "must end in .svg"),
        (("--query", "7"), "go with --objective"),
        (("--plot", "forces.svg"), "there is nothing to inspect: give a data file"),
        ((), "there is nothing to inspect: give a data file"),
    ],
)
def test_wrong_usage_is_one_line(rankwright, arguments, problem):
    found = rankwright("inspect", *arguments)
    assert (found.code, found.stdout) == (2, "")
    assert problem in found.stderr
    assert found.stderr.count("\n") == 1


def test_a_query_that_is_not_there(rankwright, path):
    found = rankwright("inspect", str(path), "--objective", "ranknet", "--query", "8")
    assert found.code == 2
    assert "has no query '8'; its queries are 7, 9" in found.stderr

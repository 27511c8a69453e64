"""`rankwright explain`, as a user runs it."""

from __future__ import annotations

import json

import pytest

import rankwright as rw


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    train, test = rw.synthetic.web_search(n_queries=12, seed=0).split(valid=0.5, seed=0)
    rw.LambdaMART(n_trees=5, max_leaves=7).fit(train).save(folder / "model.rw")
    for name, part in (("train", train), ("test", test)):
        rw.write(part, folder / f"{name}.csv")
    (folder / "query.txt").write_text(str(test.qid[0]))
    return folder


@pytest.fixture
def explain(folder, rankwright, monkeypatch):
    monkeypatch.chdir(folder)
    return lambda *arguments: rankwright("explain", "model.rw", "test.csv", *arguments)


@pytest.fixture
def query(folder):
    return (folder / "query.txt").read_text()


def test_a_list_and_its_json(explain, query, folder):
    shown = explain("--query", query, "--top", "3", "--plot", "list.svg")
    assert shown.code == 0, shown.stderr
    assert f"Query {query}:" in shown.stdout
    assert "moved most by" in shown.stdout
    assert (folder / "list.svg").stat().st_size > 1000
    told = json.loads(explain("--query", query, "--top", "3", "--json").stdout)
    assert [one["rank"] for one in told["documents"]] == [1, 2, 3]
    first = told["documents"][0]
    total = told["base"] + sum(one["contribution"] for one in first["contributions"].values())
    assert total == pytest.approx(first["score"])


def test_a_pair_and_what_would_swap_it(explain, query):
    told = json.loads(explain("--query", query, "--top", "2", "--json").stdout)
    pair = ",".join(str(one["document"]) for one in told["documents"])
    shown = explain("--query", query, "--documents", pair)
    assert shown.code == 0, shown.stderr
    assert "puts it above by" in shown.stdout
    assert "swaps them" in shown.stdout
    found = json.loads(explain("--query", query, "--documents", pair, "--json").stdout)
    assert sum(one["contribution"] for one in found["features"]) == pytest.approx(found["margin"])


def test_what_features_do(explain):
    assert "95 % interval" in explain("--importance", "contribution", "--top", "3").stdout
    assert json.loads(explain("--dependence", "page_rank", "--json").stdout)["feature"] == "page_rank"
    shown = explain("--ablation", "ranks=page_rank,site_rank", "--train", "train.csv")
    assert shown.code == 0, shown.stderr
    assert "ranks" in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "wanted"),
    [
        (["--query", "nobody"], "the nearest ids are"),
        ([], "say which of"),
        (["--importance", "gain", "--dependence", "page_rank"], "ask one at a time"),
        (["--importance", "gain", "--query", "1"], "is about all queries"),
        (["--ablation", "each"], "give both"),
        (["--ablation", "ranks", "--train", "train.csv"], "NAME=FEATURE"),
        (["--query", "1", "--plot", "why.gif"], "must end in"),
        (["--query", "{query}", "--cover", "weight"], "unknown cover 'weight'"),
        (["--query", "{query}", "--documents", "0,1", "--cover", "documents"], "leave out --cover"),
        (["--query", "{query}", "--documents", "0,1", "--background", "test.csv"], "leave out --background"),
    ],
)
def test_wrong_usage_is_one_line(explain, query, arguments, wanted):
    outcome = explain(*(query if one == "{query}" else one for one in arguments))
    assert outcome.code == 2
    assert wanted in outcome.stderr

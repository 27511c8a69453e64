"""Reports: whatever they are about, one file that holds all it shows, and shows every text as text."""

from __future__ import annotations

import base64
import builtins
import gzip
import hashlib
import json
import re
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.here_engine import HereEngine
from tests.report.conftest import HOSTILE

import rankwright as rw
from rankwright.errors import InputTypeError, MissingExtraError, SettingError
from rankwright.report.sections import query_lists
from rankwright.report.writing import ASSETS
from rankwright.settings.spaces import Choice

SIZE = 4_000_000
SCRIPT = re.compile(r"<script(?: type=\"module\")?>(.*?)</script>", re.DOTALL)
KEYS = re.compile(r'<section id="(\w+)"')


def state_of(html: str) -> dict[str, Any]:
    """What the page's scripts read."""
    found = re.search(r'id="state">([^<]*)<', html)
    assert found is not None
    state: dict[str, Any] = json.loads(gzip.decompress(base64.b64decode(found[1])))
    return state


def written(results, folder, **options) -> str:
    path = rw.write_report(results, folder / "report.html", **options)[0]
    assert path.stat().st_size < SIZE
    assert [one.name for one in folder.iterdir()] == ["report.html"]
    return path.read_text()


@pytest.fixture(scope="module")
def html(comparison, tmp_path_factory) -> str:
    return written(comparison, tmp_path_factory.mktemp("report"))


def test_a_comparison_has_every_section(comparison, html):
    assert KEYS.findall(html) == [
        "metrics", "queries", "learning", "importances", "slices", "data", "models", "again",
    ]  # fmt: skip
    for name, evaluation in comparison.evaluations.items():
        for result in evaluation.results.values():
            assert f"{result.mean:.4f}" in html, name
    assert "Convention standard" in html


def test_the_state_has_each_query_and_its_lists(comparison, html):
    own = state_of(html)["queries"]
    evaluation = comparison.evaluations[own["systems"][0]]
    assert own["ids"] == [str(one) for one in evaluation.query_ids]
    assert own["values"][0][0] == pytest.approx(evaluation[own["metrics"][0]].values, abs=5e-5)
    data = comparison.material.data
    for place, one in own["lists"].items():
        start, size = int(data.groups.offsets[int(place)]), int(data.groups.sizes[int(place)])
        names = [str(name) for name in data.document_ids[start : start + size]]
        assert {name for name, _, _ in one["docs"]} <= set(names)
        assert sorted(rank for rank in one["ranks"][0] if rank <= own["depth"]) == list(
            range(1, min(size, own["depth"]) + 1)
        )


def test_contributions_add_up_to_differences_of_scores(html):
    own = state_of(html)["queries"]
    checked = 0
    for place, explained in own["explained"].items():
        for system, pairs in explained["pairs"].items():
            scores = own["lists"][place]["scores"][int(system)]
            differences = [one - other for one, other in combinations(scores, 2)]
            sums = [rest + sum(told[1::2]) for rest, *told in pairs]
            assert sums == pytest.approx(differences, abs=2e-3 * max(1.0, np.ptp(scores)))
            checked += 1
    assert checked >= 20


def test_the_page_tells_nothing_of_what_is_the_same_in_two_documents(html):
    own = state_of(html)["queries"]
    for explained in own["explained"].values():
        values = np.array(explained["values"], float)
        for pairs in explained["pairs"].values():
            for (one, other), (_, *told) in zip(combinations(values, 2), pairs, strict=True):
                places = told[::2]
                assert (one[places] != other[places]).all()


def verdict(found, folder) -> str:
    html = written(found, folder)
    return html[: html.index('<section id="explanation"')]


def test_the_headline_of_a_pair_names_the_main_reason_for_it(comparison, tmp_path):
    data = comparison.material.data
    features = ("for it", "against it", "the same")
    pair = rw.PairExplanation(
        "forest", 1, "a", "b", features, data.features[:2, :3], np.array([0.2, -0.15, 0.0]), 0.05,
        np.array([0.3, 0.25]), "Shapley values", None,
    )  # fmt: skip
    assert re.search(r"for it is the main reason: .* puts a above by \+0\.2; all features together do by \+0\.05\.",
                     verdict(pair, tmp_path))  # fmt: skip
    larger_against = replace(pair, contributions=np.array([0.2, -0.9, 0.0]))
    assert "for it is the main reason" in verdict(larger_against, tmp_path)
    tied = replace(pair, contributions=np.zeros(3), margin=0.0)
    assert "No feature speaks for a: the scores are equal" in verdict(tied, tmp_path)
    in_circles = replace(pair, contributions=np.array([-0.1, 0.0, 0.0]), margin=-0.1)
    assert "Of the two alone, forest prefers b" in verdict(in_circles, tmp_path)


def test_hostile_texts_are_escaped(html):
    before_scripts = html[: html.index('id="state"')]
    assert "<b>forest</b>" not in before_scripts
    assert "&lt;b&gt;forest&lt;/b&gt;" in before_scripts
    own = state_of(html)["queries"]
    assert all(any(text in one for one in own["ids"]) for text in HOSTILE)


def test_no_script_runs_but_those_of_the_page_and_nothing_is_loaded(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    scripts = SCRIPT.findall(html)
    assert len(scripts) == 5
    for script in scripts:
        assert base64.b64encode(hashlib.sha256(script.encode()).digest()).decode() in policy[1]
    assert policy[1].startswith("default-src 'none'; ")
    assert "unsafe-eval" not in policy[1]
    without_scripts = SCRIPT.sub("", html)
    assert not re.search(r"(src|href)=\"(?!#|data:,)", without_scripts)


def test_the_page_draws_with_the_versions_that_pictures_are_drawn_with():
    converter = pytest.importorskip("vl_convert")
    vega, lite = ((ASSETS / "vendor" / name).read_text() for name in ("vega.min.js", "vega-lite.min.js"))
    assert f'"{converter.get_vega_version()}"' in vega
    assert re.search(r'"(\d+\.\d+)\.\d+"', lite[:400])[1] == converter.get_vegalite_versions()[-1]  # type: ignore[index]


@pytest.fixture(scope="module")
def subjects(rankers_and_data) -> dict[str, Any]:
    rankers, test = rankers_and_data
    forest = next(iter(rankers.values()))
    evaluation = rw.evaluate(forest.predict(test), test)
    first = forest.explain(test, query=test.query_ids[0])
    return {
        "evaluation": evaluation,
        "list": first,
        "pair": forest.explain(test, query=test.query_ids[0], documents=first.documents[:2]),
        "importance": rw.feature_importance(forest, test),
        "dependence": rw.partial_dependence(forest, test, test.feature_names[1]),
        "compressed": rw.compress(forest, test, means=["exact", "prune"], max_loss=0.1),
    }


@pytest.mark.parametrize("kind", ["evaluation", "list", "pair", "importance", "dependence", "compressed"])
def test_other_results_have_pages_too(kind, subjects, tmp_path):
    html = written(subjects[kind], tmp_path, title="A title & more")
    assert "A title &amp; more" in html
    assert state_of(html)["charts"]


def test_a_search_has_a_page(small_data, tmp_path):
    ranker, space = rw.LambdaMART(n_trees=3, threads=1), {"max_leaves": Choice((3, 5))}
    options: dict[str, Any] = {"space": space, "folds": 2, "strategy": "grid", "engine": HereEngine()}
    tuned = rw.tune(ranker, small_data, **options)
    html = written(tuned, tmp_path)
    assert f"{tuned.best.value:.4f}" in html
    assert "configurations" in KEYS.findall(html)


@pytest.mark.parametrize("make", [
    lambda: rw.LambdaMART(n_trees=3, max_leaves=3, threads=1), lambda: rw.RankSVM(threads=1),
    lambda: rw.SortNet(hidden=2, max_iter=1, epochs=2, threads=1), lambda: rw.RankNet(epochs=2, threads=1),
], ids=["forest", "linear", "sortnet", "net"])  # fmt: skip
def test_a_ranker_without_history_is_reported_measured_and_not(make, small_data, tmp_path):
    train, test = small_data.split(valid=0.5, seed=0)
    ranker = make().fit(train)
    alone = written(ranker, tmp_path)
    assert "nobody knows yet how good it is" in alone
    html = written(ranker, tmp_path, data=test)
    assert "queries" in KEYS.findall(html)
    assert ("learning" in KEYS.findall(html)) == bool(ranker.history_.values)
    own = state_of(html)["queries"]
    assert own["explained"]
    assert own["pairs"]


@pytest.mark.parametrize("n_docs", [1, 2, 30])
def test_one_query_is_enough_for_a_page(n_docs, tmp_path):
    rng = np.random.default_rng(0)
    data = rw.RankingDataset.from_arrays(rng.normal(size=(n_docs, 2)), np.arange(n_docs) % 2, group=[n_docs])
    comparison = rw.compare({"one": data.features[:, 0], "two": data.features[:, 1]}, data)
    html = written(comparison, tmp_path)
    assert len(state_of(html)["queries"]["ids"]) == 1


def test_runs_of_trec_are_reported_with_their_lists(tmp_path):
    files = {
        "qrels": ["q1 0 a 1", "q1 0 b 0", "q2 0 c 2", "q2 0 d 0"],
        "one": ["q1 Q0 a 1 2 x", "q1 Q0 b 2 1 x", "q2 Q0 d 1 2 x", "q2 Q0 c 2 1 x"],
        "two": ["q1 Q0 b 1 1 x", "q2 Q0 c 1 1 x"],
    }
    for name, lines in files.items():
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    runs = {name: rw.read_run(tmp_path / name) for name in ("one", "two")}
    folder = tmp_path / "out"
    folder.mkdir()
    html = written(rw.compare_runs(runs, rw.read_qrels(tmp_path / "qrels")), folder)
    own = state_of(html)["queries"]
    assert {name for one in own["lists"].values() for name, _, _ in one["docs"]} == {"a", "b", "c", "d"}


def test_what_a_page_has_no_room_for_is_written_next_to_it(comparison, tmp_path, monkeypatch):
    pandas = pytest.importorskip("pandas")
    for name, value in (("MOST_VALUES", 3 * 10), ("MOST_QUERIES", 10), ("MOST_LISTS", 4)):
        monkeypatch.setattr(query_lists, name, value)
    page, values, lists = rw.write_report(comparison, tmp_path / "report.html")
    html = page.read_text()
    own = state_of(html)["queries"]
    assert len(own["ids"]) <= 10
    assert len(own["metrics"]) == 1
    assert values.name in html
    assert lists.name in html
    table = pandas.read_parquet(values)
    for name, evaluation in comparison.evaluations.items():
        for metric, result in evaluation.results.items():
            assert table[f"{name}:{metric}"].to_numpy() == pytest.approx(result.values, nan_ok=True)
    tops = pandas.read_parquet(lists)
    assert set(tops["system"]) == set(comparison.evaluations)
    assert tops["rank"].max() == query_lists.DEPTH
    # The largest changes are what stays.
    best, second = (comparison.evaluations[name]["ndcg@5"].values for name in comparison.ordered()[:2])
    assert str(comparison.per_query()["query"][int(np.abs(best - second).argmax())]) in own["ids"]


def test_wrong_paths_are_told_before_any_work(comparison, tmp_path):
    (tmp_path / "folder.html").mkdir()
    for path, told in (
        (tmp_path / "report.pdf", "must end in .html"),
        (tmp_path / "folder.html", "is a folder"),
        (tmp_path / "nowhere" / "report.html", "there is no folder"),
    ):
        with pytest.raises(SettingError, match=told):
            rw.write_report(comparison, path)
    with pytest.raises(InputTypeError, match="a report is about a comparison"):
        rw.write_report([1, 2], tmp_path / "report.html")
    with pytest.raises(SettingError, match="data goes with a ranker"):
        rw.write_report(comparison, tmp_path / "report.html", data=comparison.material.data)
    assert [one.name for one in tmp_path.iterdir()] == ["folder.html"]


def test_a_report_that_fails_leaves_the_old_one(comparison, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("the old report")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        rw.write_report(comparison, path)
    monkeypatch.undo()
    assert [(one.name, one.read_text()) for one in tmp_path.iterdir()] == [("report.html", "the old report")]


def test_without_the_templates_library_one_line_says_how_to_get_it(comparison, tmp_path, monkeypatch):
    real = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("jinja2"):
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    monkeypatch.setattr("rankwright.report.writing.find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match=r"a report needs jinja2.*\[report\]"):
        rw.write_report(comparison, tmp_path / "report.html")

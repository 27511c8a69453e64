"""Laws over every experiment: it says what it computes, has the paper's figures, and runs from parts to a verdict."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest
from tests.here_engine import HereEngine

from rankwright.reproduce.experiment import FULL, TINY, Setup
from rankwright.reproduce.experiment_table import EXPERIMENTS, experiment_named, summary_of
from rankwright.reproduce.fold_values import ahead
from rankwright.reproduce.outcome import PaperTable, shown, verdict_table
from rankwright.reproduce.papers import blmart_tables, sortnet_table1, sortnet_table2
from rankwright.reproduce.papers.blmart_tuning import Searched
from rankwright.reproduce.published import RANDOM
from rankwright.reproduce.running import reproduce
from rankwright.reproduce.set_experiments import rankers_of_table
from rankwright.reproduce.sources import DataSource, fold

# The paper draws these curves without printing numbers: its statements are what is compared.
WITHOUT_NUMBERS = {"blmart-clicks", "blmart-overfitting", "sortnet-figure3"}


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    found = reproduce(["all"], Setup(TINY), out=tmp_path_factory.mktemp("all"), engine=HereEngine())
    return {one.experiment.name: one.to_dict() for one in found}


def test_all_names_every_experiment(documents):
    assert list(documents) == list(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
class TestEveryExperiment:
    def test_it_says_what_it_computes(self, name):
        assert experiment_named(name).name == name
        assert experiment_named(name).paper
        assert 20 < len(summary_of(name)) <= 120
        assert summary_of(name).endswith(".")

    def test_its_parts_are_told_apart_and_survive_json(self, name):
        for size in ("full", "quick", TINY):
            parts = experiment_named(name).parts(Setup(size))
            assert len({(part.of, part.key) for part in parts}) == len(parts) > 0
            assert all(json.loads(json.dumps(part.values)) == part.values for part in parts)

    def test_a_small_run_has_figures_statements_and_a_verdict(self, name, documents):
        document = documents[name]
        figures = [figure for table in document["tables"] for figure in PaperTable.of_dict(table).figures()]
        assert any(figure.ours is not None for figure in figures)
        assert (name in WITHOUT_NUMBERS) != any(figure.paper is not None for figure in figures)
        assert document["claims"]
        assert document["verdict"]
        assert document["sentence"].count("statements hold") == 1
        assert json.loads(json.dumps(document, allow_nan=False)) == document

    def test_what_does_not_hold_has_a_reason(self, name, documents):
        for claim in documents[name]["claims"]:
            assert bool(claim["why"]) == (claim["holds"] is not True), claim
            assert not claim["why"].endswith(".")

    def test_people_can_read_it(self, name, documents):
        text = shown(documents[name]).text(100)
        assert f"Verdict: {documents[name]['verdict']}" in text
        assert documents[name]["claims"][0]["found"].split()[0] in text
        assert "Command: rankwright reproduce" in text

    def test_data_that_was_made_is_said_to_be(self, name, documents):
        for source in documents[name]["data"]:
            assert source["kind"] == "made"
            assert source["told"] in documents[name]["notes"]
            assert "cannot be compared one to one" in source["told"]
        assert not any(table["comparable"] for table in documents[name]["tables"] if documents[name]["data"])


def test_what_is_exact_comes_out_exactly(documents):
    for name in ("ranknet-figure1", "lambdarank-figure1"):
        assert documents[name]["verdict"] == "reproduced", documents[name]["claims"]
    example = documents["lambdarank-wta"]["claims"][0]
    assert example["holds"], example
    pairs = documents["blmart-clicks"]["claims"][0]
    assert (pairs["holds"], pairs["found"][:12]) == (True, "(2,1), (5,1)")
    assert documents["blmart-tuning"]["claims"][0]["holds"]


def test_shared_parts_are_counted_once(documents):
    table = verdict_table(list(documents.values()))
    told = float(table.notes[0].split(",")[1].split()[0])
    every = sum(one["processor_seconds"] for one in documents.values())
    shared = ("blmart-overfitting", "sortnet-figure2", "sortnet-figure3")
    assert told == pytest.approx(every - sum(documents[name]["processor_seconds"] for name in shared), abs=1)


def test_the_best_of_a_sample_is_its_mean_over_all_samples():
    values = np.array([0.3, 0.1, 0.4, 0.2, 0.5])
    results = {
        f"made, fold 1, configuration {number}": {
            "settings": {"max_leaves": number},
            "runs": [{"validation": value, "test": -value}],
        }
        for number, value in enumerate(values.tolist())
    }
    searched = Searched(Setup(TINY), DataSource("made", "made"), results)
    for n in range(1, 6):
        best = np.mean([max(sample) for sample in combinations(values.tolist(), n)])
        assert searched.best_of_sample(n) == pytest.approx((best, -best))


def test_bags_in_parts_are_one_bagged_ranker():
    """The sums over parts give the values of the mean over all bags, whatever the parts are."""
    setup = Setup(TINY)
    source = blmart_tables.sources(setup)[0]
    sums = np.arange(fold(source, 0)[2].n_docs)

    def part(number, times, n_bags):
        every = dict.fromkeys(blmart_tables.BAGGED, (times * sums).tolist())
        return {f"{source.name}, fold 1, bags {number}": {"sums": every, "trees": [1] * n_bags}}

    whole, halves = part(0, 2, 2), part(0, 1, 1) | part(1, 1, 1)
    assert blmart_tables.with_bags(setup, whole) == blmart_tables.with_bags(setup, halves)


def test_what_is_undecided_says_how_many_queries_would_decide_it():
    gaps = np.random.default_rng(1).normal(0.006, 0.1, 400)

    def judged(times):
        return ahead("a", [np.tile(gaps, times).tolist()], [[0.0] * 400 * times], ("x", "y"), otherwise="")

    assert judged(1).holds is None
    enough = int(judged(1).why.split("about ")[1].split()[0].replace(",", ""))
    assert judged(enough // 400 + 1).holds is not None
    assert judged(enough // 800).holds is None


def test_one_forest_is_trained_with_several_seeds_where_there_is_time():
    seeds = [part.values.get("seeds") for part in blmart_tables.parts(Setup()) if part.values.get("row") == RANDOM]
    assert set(seeds) == {blmart_tables.SEEDS}


def test_rankers_of_sortnets_tables_try_ranks_in_the_query_where_there_is_time():
    for one in (sortnet_table1, sortnet_table2):
        assert all(part.values["scalings"] == [None, "query-ranks"] for part in one.parts(Setup(FULL)))
        assert all(part.values["scalings"] == [None] for part in one.parts(Setup(TINY)))
    tried = rankers_of_table("CRR", scalings=sortnet_table1.SCALINGS)
    own, ranks = tried[: len(tried) // 2], tried[len(tried) // 2 :]
    assert {one.scaling for one in ranks} == {"query-ranks"} != {one.scaling for one in own}
    assert [one.alpha for one in ranks] == [one.alpha for one in own]


def test_sortnet_takes_the_scaling_that_does_better_on_validation_documents(monkeypatch):
    source = sortnet_table1.sources(Setup(TINY))[0]
    for best in (None, "query-ranks"):

        def scaled(*given, best=best):
            return {"history": [0.1, 0.5 if given[-1] == best else 0.4, 0.2], "scaling": given[-1]}

        monkeypatch.setattr(sortnet_table1, "_scaled_sortnet", scaled)
        values = {"fold": 0, "scalings": list(sortnet_table1.SCALINGS)}
        found = sortnet_table1.sortnet_on_fold(Setup(TINY), source, values, hidden=3, quality="map")
        assert found["scaling"] == best

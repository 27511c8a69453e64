"""Which recipe a net is trained by: what is set, and else what the data wants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.nets.gradient_net import FEWEST_HELD_OUT, chosen_recipe
from rankwright.nets.params import FREE, HELD, PAPER


def values_of(ranker):
    return {name: value for name, value in ranker.facts().items() if name not in ("epochs", "weights")}


@pytest.fixture(scope="module")
def network():
    return rw.synthetic.random_network(40, docs_per_query=30, n_features=20, seed=1)


def noise(seed):
    rng = np.random.default_rng(seed)
    return rw.RankingDataset.from_arrays(rng.normal(size=(400, 9)), rng.integers(0, 3, 400), group=[10] * 40)


def test_where_labels_are_a_function_of_features_nothing_is_left_out(network):
    ranker = rw.RankNet(select="pair-accuracy", epochs=60).fit(network)
    assert values_of(ranker) == FREE.completed(ranker, network.n_queries).facts()


def test_where_nothing_can_be_learned_the_first_recipe_stays():
    chosen = [rw.RankNet(epochs=20, threads=1).fit(noise(seed)).facts() for seed in range(8)]
    others = [facts for facts in chosen if facts["activation"] != HELD.activation]
    assert len(others) <= 2  # ten held-out queries: now and then chance alone leads by three standard errors


def test_what_is_set_is_kept(network):
    given: dict[str, Any] = {
        "dropout": 0.1,
        "activation": "gelu",
        "hidden": (5, 4),
        "batch_queries": 3,
        "learning_rate": 0.02,
    }
    facts = rw.RankNet(epochs=2, optimizer="sgd", **given).fit(network).facts()
    assert facts.items() >= (given | {"hidden": [5, 4], "optimizer": "sgd"}).items()


def test_the_papers_mode_has_one_recipe(network):
    ranker = rw.RankNet(mode="paper", epochs=2).fit(network)
    assert values_of(ranker) == PAPER.completed(ranker, network.n_queries).facts()


def test_the_values_used_are_in_the_file(network, tmp_path):
    ranker = rw.RankNet(select="pair-accuracy", epochs=60).fit(network)
    ranker.save(tmp_path / "net.rw")
    loaded = rw.load(tmp_path / "net.rw")
    assert loaded.facts() == ranker.facts()
    assert np.array_equal(loaded.predict(network), ranker.predict(network))


@pytest.mark.parametrize(("n_queries", "batch"), [(1, 1), (11, 1), (60, 5), (5000, 64)])
def test_an_epoch_has_twelve_steps_or_more(n_queries, batch):
    assert FREE.completed(rw.RankNet(), n_queries).batch_queries == batch


def trial(lead, n_queries=100, labels=True, recipes=(HELD, FREE)):
    """The recipe chosen where the second gets so much more of the queries right than the first."""
    rng = np.random.default_rng(1)
    right = np.repeat(rng.random(n_queries), 2)
    features = rng.normal(size=(2 * n_queries, 2))
    data = rw.RankingDataset.from_arrays(
        features, np.tile([1, 0], n_queries) if labels else None, group=[2] * n_queries
    )
    chance = dict(zip(map(bytes, data.features), right, strict=True))

    def scores(recipe, _, test):
        bar = 0.5 + (lead if recipe is FREE else 0.0)
        ups = np.array([chance[bytes(row)] < bar for row in test.features])
        return np.where(ups, test.labels, -test.labels)

    return chosen_recipe(recipes, data, scores, "pair-accuracy", seed=0, threads=1)


def test_another_recipe_must_be_clearly_better():
    assert trial(0.4) is FREE
    assert trial(0.01) is HELD
    assert trial(-0.4) is HELD


def test_there_is_nothing_to_try_without_labels_or_with_few_queries():
    assert trial(0.5, labels=False) is HELD
    assert trial(0.5, n_queries=4 * FEWEST_HELD_OUT - 1) is HELD
    assert trial(0.5, recipes=(HELD,)) is HELD

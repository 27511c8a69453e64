"""Which recipe a net is trained by: what is set, and else what the data wants."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.nets.gradient_net import FEWEST_HELD_OUT, NetTrial
from rankwright.nets.params import FREE, HELD, PAPER, PLAIN
from rankwright.rankers.recipe import Given, TrainingRun, prepare


def values_of(ranker):
    return {name: value for name, value in ranker.facts().items() if name not in ("epochs", "weights")}


@pytest.fixture(scope="module")
def network():
    return rw.synthetic.random_network(40, docs_per_query=30, n_features=20, seed=1)


def noise(seed):
    rng = np.random.default_rng(seed)
    return rw.RankingDataset.from_arrays(rng.normal(size=(400, 9)), rng.integers(0, 3, 400), group=[10] * 40)


def test_where_labels_are_a_function_of_features_nothing_is_left_out(network):
    ranker = rw.RankNet(epochs=60).fit(network)
    assert values_of(ranker) == FREE.completed(ranker, network.n_queries).facts()


def test_where_nothing_can_be_learned_the_first_recipe_stays():
    chosen = [rw.RankNet(epochs=20, threads=1).fit(noise(seed)).facts() for seed in range(8)]
    others = [facts for facts in chosen if facts["activation"] != HELD.activation]
    assert len(others) <= 2  # ten held-out queries: now and then chance alone leads by two standard errors


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
    ranker = rw.RankNet(epochs=60).fit(network)
    ranker.save(tmp_path / "net.rw")
    loaded = rw.load(tmp_path / "net.rw")
    assert loaded.facts() == ranker.facts()
    assert np.array_equal(loaded.predict(network), ranker.predict(network))


@pytest.mark.parametrize("recipe", [HELD, FREE])
@pytest.mark.parametrize("n_queries", [1, 11, 60, 250, 5000])
def test_an_epoch_has_its_steps_or_more(recipe, n_queries):
    batch = recipe.completed(rw.RankNet(), n_queries).batch_queries
    assert 1 <= batch <= 64
    assert batch == 1 or n_queries / batch >= recipe.least_steps


def test_longer_steps_shrink_weights_as_much():
    short, long = (HELD.completed(rw.RankNet(learning_rate=rate), 100) for rate in (0.001, 0.02))
    assert long.weight_decay * 0.02 == pytest.approx(short.weight_decay * 0.001)
    assert HELD.completed(rw.RankNet(learning_rate=0.02, weight_decay=0.3), 100).weight_decay == 0.3


@pytest.mark.parametrize("settings", [{"hidden": ()}, {"hidden": (), "kernel": "rbf", "landmarks": 4}])
def test_linear_nets_take_features_as_they_are(settings, network):
    ranker = rw.RankNet(epochs=1, **settings).fit(network)
    assert values_of(ranker) == PLAIN.completed(ranker, network.n_queries).facts()
    assert ranker.inputs_.pieces is None


def test_the_recipe_says_how_many_epochs():
    data = noise(1)
    assert rw.RankNet(dropout=0.3).fit(data).n_epochs_ == HELD.epochs == rw.RankNet().most_steps()
    assert rw.RankNet(hidden=()).fit(data).n_epochs_ == PLAIN.epochs == rw.RankNet(hidden=()).most_steps()


def test_the_net_is_a_mean_of_its_weights():
    """Of each epoch's, the share being five fifths, five sixths, five sevenths and so on of what is new."""
    data, ranker = noise(2), rw.RankNet(dropout=0.3, threads=1)
    given = prepare(ranker, data, Given(None, data), TrainingRun())
    training: Any = ranker.recipe.lesson(given, ranker).learner
    mean = training.walking.weights.copy()
    for epoch in range(6):
        training.take_step(epoch)
        mean += np.float32(5 / (5 + epoch)) * (training.walking.weights - mean)
        assert np.array_equal(np.concatenate([own.ravel() for own in training.model().values()]), mean)
    assert not np.array_equal(mean, training.walking.weights)


def trial(lead, n_queries=100, labels=True, recipes=(HELD, FREE), good_start=0):
    """What is chosen where the second recipe gets so much more of the queries right, from its good start."""
    rng = np.random.default_rng(1)
    right = np.repeat(rng.random(n_queries), 2)
    features = rng.normal(size=(2 * n_queries, 2))
    data = rw.RankingDataset.from_arrays(
        features, np.tile([1, 0], n_queries) if labels else None, group=[2] * n_queries
    )
    chance = dict(zip(map(bytes, data.features), right, strict=True))

    def scores(recipe, start, _, test):
        bar = 0.5 + (0.02 + lead * (start == good_start) if recipe is FREE else 0.0)
        ups = np.array([chance[bytes(row)] < bar for row in test.features])
        return np.where(ups, test.labels, -test.labels)

    found = NetTrial.on(data, scores, seed=0, threads=1)
    return None if found is None else found.choice(recipes)


def test_another_recipe_must_be_clearly_better():
    assert trial(0.4) == (FREE, 0)
    assert trial(0.0) == (HELD, 0)
    assert trial(-0.4) == (HELD, 0)


def test_a_start_that_fails_is_not_kept():
    assert trial(0.4, good_start=2) == (FREE, 2)
    assert trial(0.4, good_start=FREE.starts) == (HELD, 0)  # one start too late


def test_there_is_nothing_to_try_without_labels_or_with_few_queries():
    assert trial(0.5, labels=False) is None
    assert trial(0.5, n_queries=4 * FEWEST_HELD_OUT - 1) is None


def test_where_few_queries_have_pairs_the_first_recipe_stays():
    rng = np.random.default_rng(1)
    labels = np.zeros((40, 5))
    labels[0, 0] = 1
    data = rw.RankingDataset.from_arrays(rng.normal(size=(200, 3)), labels.ravel(), group=[5] * 40)
    ranker = rw.RankNet(epochs=2).fit(data)
    assert values_of(ranker) == HELD.completed(ranker, 40).facts()


def held_out(data):
    found = NetTrial.on(data, lambda *_: np.zeros(0), seed=0, threads=1)
    assert found is not None
    return sum(test.n_queries for _, test in found.folds)


def test_few_queries_are_all_held_out_once():
    few, many = (rw.synthetic.random_network(n, docs_per_query=5, n_features=3, seed=1) for n in (40, 200))
    assert [held_out(few), held_out(many)] == [40, 50]


def test_narrow_nets_learn_the_papers_task():
    data = rw.synthetic.random_network(150, seed=1)
    train, valid, test = (data.take_queries(np.arange(*part)) for part in ((0, 50), (50, 75), (75, 150)))
    right = [
        rw.evaluate(rw.RankNet(hidden=(5,), mode=mode).fit(train, valid=valid).predict(test), test, ["pair-accuracy"])
        for mode in ("default", "paper")
    ]
    ours, papers = (found["pair-accuracy"].mean for found in right)
    assert ours > papers - 0.02

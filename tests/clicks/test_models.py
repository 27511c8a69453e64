"""Click models: what they learn, how they foretell clicks, and files of them."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from rankwright import clicks
from rankwright.clicks.models.behaviour import Shown, conditional_chances
from rankwright.clicks.simulation import USERS
from rankwright.errors import ContainerError, InputError, RankwrightError

MODELS = sorted(clicks.CLICK_MODELS)


def simulated(users: str = "pbm", n_lists: int = 3000, seed: int = 0) -> clicks.ClickLog:
    """Lists of six documents in random order, of ten queries."""
    rng = np.random.default_rng(seed)
    queries = rng.integers(0, 10, n_lists)
    shown = np.array([rng.permutation(6) for _ in range(n_lists)])
    relevance = np.random.default_rng(1).uniform(0.05, 0.9, (10, 6))[queries[:, None], shown]
    from rankwright.clicks.models.behaviour import drawn_clicks

    clicked = drawn_clicks(USERS[users](clicks.EXAMINATION), Shown(relevance, relevance), rng.random(shown.shape))
    positions = [(np.flatnonzero(row) + 1).tolist() for row in clicked]
    return clicks.ClickLog.from_lists(queries.tolist(), shown.tolist(), positions)


@pytest.mark.parametrize("users", sorted(USERS))
def test_chances_of_all_click_patterns_add_up_to_one(users):
    """And those of patterns with a click at a rank add up to the chance that nothing is known above."""
    behaviour = USERS[users](clicks.EXAMINATION)
    patterns = np.array(list(product([False, True], repeat=4)))
    rng = np.random.default_rng(0)
    attraction, satisfaction = rng.uniform(0.1, 0.8, (2, 4))
    shown = Shown(np.tile(attraction, (16, 1)), np.tile(satisfaction, (16, 1)))
    chances = conditional_chances(behaviour, shown, patterns)
    whole = np.where(patterns, chances, 1 - chances).prod(axis=1)
    assert whole.sum() == pytest.approx(1)
    np.testing.assert_allclose(whole @ patterns, behaviour.marginal(shown)[0])


@pytest.mark.parametrize("name", MODELS)
def test_a_model_foretells_the_clicks_of_its_own_users(name):
    if name in ("rank-rate", "cascade"):
        pytest.skip("the one is what others are compared with, and the other knows no second click")
    train, held = simulated(name), simulated(name, seed=5)
    own = clicks.click_model(name).fit(train).evaluate(held)
    usual = clicks.click_model("rank-rate").fit(train).evaluate(held)
    assert own.log_likelihood > usual.log_likelihood
    assert own.conditional_perplexity < usual.conditional_perplexity


@pytest.mark.parametrize("name", MODELS)
def test_models_are_the_same_for_any_order_of_lists_and_any_threads(name):
    log = simulated(n_lists=600)
    models = [
        clicks.click_model(name, threads=threads, iterations=5).fit(log.take(order))
        for threads, order in ((1, np.arange(600)), (2, np.arange(600)[::-1]))
    ]
    for part, values in models[0].parameters_.items():
        np.testing.assert_array_equal(values, models[1].parameters_[part], err_msg=part)


@pytest.mark.parametrize("name", MODELS)
def test_a_saved_model_is_the_same(name, tmp_path):
    log = simulated(n_lists=300)
    model = clicks.click_model(name, iterations=3).fit(log)
    model.save(tmp_path / "model.rw")
    again = clicks.load_click_model(tmp_path / "model.rw")
    assert again.evaluate(log).log_likelihood == model.evaluate(log).log_likelihood
    np.testing.assert_array_equal(again.relevance().mean, model.relevance().mean)
    assert again.name == name


@pytest.mark.parametrize("name", MODELS)
def test_samples_of_a_model_have_the_click_rates_it_foretells(name):
    log = simulated(n_lists=4000)
    model = clicks.click_model(name, iterations=5).fit(log)
    drawn = model.sample(log, seed=3)
    assert drawn.n_lists == log.n_lists
    assert drawn.n_clicks == pytest.approx(log.n_clicks, rel=0.12)
    assert model.sample(log, seed=3).clicked.tolist() == drawn.clicked.tolist()


def test_position_based_examination_and_relevance_are_found():
    log = simulated(n_lists=40_000)
    model = clicks.click_model("pbm", iterations=200, strength=0.1, tolerance=1e-6).fit(log)
    np.testing.assert_allclose(model.examination(6), clicks.EXAMINATION[:6] / clicks.EXAMINATION[0], atol=0.05)
    true = np.random.default_rng(1).uniform(0.05, 0.9, (10, 6)).ravel() * clicks.EXAMINATION[0]
    found = model.relevance()
    np.testing.assert_allclose(found.mean, true, atol=0.06)
    assert ((found.low < found.mean) & (found.mean < found.high)).all()


def test_counting_is_exact_without_a_prior():
    log = clicks.ClickLog.from_lists(["q"] * 4, [["a", "b", "c"]] * 4, [[1], [2], [1, 2], []])
    cascade = clicks.click_model("cascade", strength=0).fit(log).parameters_["attraction"]
    np.testing.assert_allclose(cascade, [2 / 4, 1 / 2, 1e-6], atol=1e-5)
    sdbn = clicks.click_model("sdbn", strength=0).fit(log).parameters_["attraction"]
    np.testing.assert_allclose(sdbn, [2 / 4, 2 / 3, 1e-6], atol=1e-5)


def test_examination_is_found_from_random_orders_and_from_documents_that_change_places():
    log = simulated(n_lists=30_000)
    true = clicks.EXAMINATION[:6] / clicks.EXAMINATION[0]
    np.testing.assert_allclose(clicks.from_randomised(log, 6), true, atol=0.05)
    np.testing.assert_allclose(clicks.from_interventions(log, 6), true, atol=0.05)
    fixed = clicks.ClickLog.from_lists(["q"] * 2, [["a", "b"]] * 2, [[1], [2]])
    assert np.isnan(clicks.from_interventions(fixed, 2)[1])


def test_ids_of_any_length_are_found_again():
    """Addresses of pages are longer than the texts that NumPy keeps in place."""
    found = []
    for name in ("d{}", "https://example.org/pages/of/some/length/{}"):
        rng = np.random.default_rng(0)
        shown = [[name.format(place) for place in rng.permutation(40)[:4]] for _ in range(60)]
        clicked = [(np.flatnonzero(rng.random(4) < 0.4) + 1).tolist() for _ in range(60)]
        queries = [f"q{number % 7}" for number in range(60)]
        parts = slice(40), slice(30, 60)
        logs = [clicks.ClickLog.from_lists(queries[part], shown[part], clicked[part]) for part in parts]
        found.append(clicks.click_model("pbm").fit(logs[0]).evaluate(logs[1]).log_likelihood)
    assert found[0] == found[1]


def test_no_lists_cannot_be_measured_on():
    log = simulated(n_lists=50)
    with pytest.raises(InputError, match="no lists to measure"):
        clicks.click_model("pbm").fit(log).evaluate(log.take(np.empty(0, np.int64)))


def test_errors_name_what_is_wrong(tmp_path):
    with pytest.raises(InputError, match="must be fitted first"):
        clicks.click_model("pbm").relevance()
    with pytest.raises(InputError, match="no lists to learn from"):
        clicks.click_model("pbm").fit(clicks.ClickLog.from_lists([], [], []))
    path = tmp_path / "model.rw"
    path.write_bytes(b"nothing")
    with pytest.raises(ContainerError):
        clicks.load_click_model(path)


@pytest.mark.parametrize("name", MODELS)
def test_no_rank_is_examined_more_than_the_first(name):
    """Not by the cascade either, whose later clicks are mistakes: those are no examinations."""
    found = clicks.click_model(name).fit(simulated()).examination(6)
    assert found[0] == 1
    assert (found <= 1 + 1e-9).all()


def test_where_attractive_documents_stand_on_top_examination_is_not_taken_for_attraction():
    """Of each query four orders that follow attraction loosely: the curve is found although the log is sorted."""
    rng = np.random.default_rng(3)
    attraction = rng.beta(1, 3, (300, 8))
    orders = np.argsort(-attraction[:, None] + rng.normal(0, 0.2, (300, 4, 8)), axis=2)
    queries = rng.integers(0, 300, 40_000)
    shown = orders[queries, rng.integers(0, 4, len(queries))]
    chance = attraction[queries[:, None], shown] * clicks.EXAMINATION[:8]
    clicked = rng.random(shown.shape) < chance
    log = clicks.ClickLog(
        queries=queries.astype(np.int32),
        offsets=np.arange(len(queries) + 1) * 8,
        documents=(queries[:, None] * 8 + shown).astype(np.int32).ravel(),
        clicked=clicked.ravel(),
        query_ids=np.arange(300),
        document_ids=np.arange(2400),
    )
    found = clicks.click_model("pbm").fit(log).examination(8)
    np.testing.assert_allclose(found, clicks.EXAMINATION[:8] / clicks.EXAMINATION[0], atol=0.06)


def test_the_strength_of_a_prior_is_the_most_likely_of_all():
    from scipy.special import betaln

    from rankwright.clicks.models.rates import STRENGTHS, fitted_strength

    rng = np.random.default_rng(4)
    for strength in (0.5, 4.0, 50.0):
        usual = rng.uniform(0.05, 0.5, 3000)
        trials = rng.integers(0, 40, 3000).astype(float)
        events = rng.binomial(trials.astype(int), rng.beta(strength * usual, strength * (1 - usual))).astype(float)
        seen = trials > 0
        e, t, u = events[seen], trials[seen], usual[seen]
        likelihoods = [(betaln(s * u + e, s * (1 - u) + t - e) - betaln(s * u, s * (1 - u))).sum() for s in STRENGTHS]
        assert fitted_strength(events, trials, usual) == STRENGTHS[int(np.argmax(likelihoods))]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_and_its_estimates_are_tables(name):
    log = simulated(n_lists=200)
    model = clicks.click_model(name)
    assert "not yet" in repr(model)
    model.fit(log)
    assert f"{name}: {model.summary}" in repr(model)
    frame = model.to_frame()
    assert frame["examination"].tolist() == model.examination(6).tolist()
    relevance = model.relevance()
    assert "and 50 more" in repr(relevance)
    assert relevance.to_frame()["mean"].tolist() == relevance.mean.tolist()
    evaluation = model.evaluate(log)
    assert f"200 lists, log-likelihood {evaluation.log_likelihood:.4f}" in repr(evaluation)
    assert evaluation.to_frame()["perplexity"].tolist() == evaluation.perplexity_at.tolist()


WRONG: list[tuple[str, Any, str]] = [
    ("fit", "log.jsonl", "log must be a ClickLog"),
    ("evaluate", None, "log must be a ClickLog"),
    ("sample", 3, "log must be a ClickLog"),
    ("examination", 2.5, "n_ranks must be a whole number of 1 or more, got 2.5"),
    ("examination", "ten", "n_ranks must be a whole number of 1 or more, got 'ten'"),
    ("relevance", "high", "level must lie between 0 and 1, got 'high'"),
]


@pytest.mark.parametrize(("method", "argument", "why"), WRONG)
def test_methods_refuse_wrong_arguments_in_a_sentence(method, argument, why):
    model = clicks.click_model("rank-rate").fit(simulated(n_lists=20))
    with pytest.raises(RankwrightError, match=why):
        getattr(model, method)(argument)


@pytest.mark.parametrize("method", ["evaluate", "sample"])
def test_a_model_that_was_not_fitted_says_so(method, tmp_path):
    model, log = clicks.click_model("pbm"), simulated(n_lists=20)
    for call in (lambda: getattr(model, method)(log), lambda: model.save(tmp_path / "m.rw"), model.to_frame):
        with pytest.raises(InputError, match="the click model pbm must be fitted first"):
            call()


@pytest.mark.parametrize(
    ("settings", "why"),
    [
        ({"iterations": "3"}, "iterations must be a whole number of 1 or more, got '3'"),
        ({"tolerance": -1}, "tolerance must be a finite number of 0 or more, got -1"),
        ({"strength": np.nan}, "strength must be a finite number of 0 or more, got nan"),
        ({"steps": 3}, "unknown setting of a click model 'steps'"),
    ],
)
def test_settings_are_refused_in_a_sentence(settings, why):
    with pytest.raises(RankwrightError, match=why):
        clicks.click_model("pbm", **settings)
    name: Any = 3
    with pytest.raises(InputError, match="the name of a click model must be a text, got int"):
        clicks.click_model(name)

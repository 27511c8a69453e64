"""Rankers trained on clicks with positions: corrected where the log supports it, and only there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright import clicks
from rankwright.cli.app import app
from rankwright.clicks.bias import Debiasing, PairwiseDebiased, position_ratios
from rankwright.clicks.joint_examination import PositionBasedClicks, clicks_above, fitted_examination
from rankwright.data.groups import Groups
from rankwright.debiasing import correction, stage
from rankwright.errors import InputError, RankwrightError
from rankwright.rankers.lesson_facts import NothingToLearnError

QUICK: dict[str, Any] = {"n_trees": 5, "max_leaves": 5, "min_docs_in_leaf": 10, "threads": 1}


def plain_data(n_queries: int = 120, seed: int = 0) -> Any:
    """Ten documents a query; the first feature shows relevance, the second is what the logging ranker looks at."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=n_queries * 10)
    features = np.stack([quality, 0.6 * quality + 0.8 * rng.normal(size=len(quality))], axis=1)
    labels = np.clip(np.floor(quality + 1.5), 0, 4)
    return rw.RankingDataset.from_arrays(features, labels, qid=np.repeat(np.arange(n_queries), 10))


def rates_of(data: Any, users: str, **options: Any) -> Any:
    return clicks.click_rates(data, clicks.simulate(data, data.features[:, 1], users=users, **options))


@pytest.fixture(scope="module")
def data() -> Any:
    return plain_data()


@pytest.fixture
def quickly(monkeypatch):
    """Few folds and trees measure the log, where what is measured is not the question."""
    for where, name, value in (
        (correction, "N_FOLDS", 2), (correction, "STAGES", (5, 15)), (correction, "LOGGING_TREES", 5),
        (stage, "N_TREES", 15),
    ):  # fmt: skip
        monkeypatch.setattr(where, name, value)


@pytest.fixture
def supported(monkeypatch):
    """Every log supports a correction, whatever it shows."""
    found = Debiasing(True, "a test says so", np.array([1.0, 0.5]), 0.0, {"both": -1.0}, 3.0, 3.0, 0.5, 10.0)
    monkeypatch.setattr(stage, "debiased", lambda given, **_: (replace(given, positions=None), found))
    monkeypatch.setattr(stage, "_gain", lambda *_, **__: 3.0)


def test_examination_is_found_and_labels_are_corrected(data):
    ranker: Any = rw.LambdaMART(**QUICK).fit(rates_of(data, "pbm"))
    found = ranker.debiasing_
    assert found is not None
    assert found.applied
    true = clicks.EXAMINATION / clicks.EXAMINATION[0]
    np.testing.assert_allclose(found.examination, true, atol=0.1)
    assert found.held_out["both"] > max(found.held_out["position"], found.held_out["features"])
    assert 0 < found.effective_size < data.n_docs


def test_clicks_that_show_no_relevance_are_taken_as_they_are(data):
    rates = rates_of(data, "rank-rate")
    ranker: Any = rw.LambdaMART(**QUICK).fit(rates)
    assert not ranker.debiasing_.applied
    assert "does not show relevance" in ranker.debiasing_.reason
    naive = rw.LambdaMART(debias="none", **QUICK).fit(rates)
    np.testing.assert_array_equal(ranker.predict(data), naive.predict(data))


def test_clicks_without_position_bias_are_taken_as_they_are(data):
    rates = rates_of(data, "document-rate")
    ranker: Any = rw.LambdaMART(**QUICK).fit(rates)
    assert not ranker.debiasing_.applied
    assert "no position bias" in ranker.debiasing_.reason
    naive = rw.LambdaMART(debias="none", **QUICK).fit(rates)
    np.testing.assert_array_equal(ranker.predict(data), naive.predict(data))
    assert naive.debiasing_ is None


def test_a_ranker_that_knew_more_than_features_is_not_corrected_into_its_opposite():
    """What it knew makes clicks rarer further down: as examination does, and given that, features count backwards."""
    rng = np.random.default_rng(0)
    told, hidden, taste = rng.normal(size=(3, 3000))
    data = rw.RankingDataset.from_arrays(
        np.stack([told, taste], axis=1),
        np.clip(np.floor(0.7 * told + 0.9 * hidden + 1.2), 0, 4),
        qid=np.repeat(np.arange(300), 10),
    )
    rates: Any = clicks.click_rates(data, clicks.simulate(data, 0.7 * told + 0.6 * hidden + 0.3 * taste))
    found = correction.debiased(rates.in_key_order(), threads=1)[1]
    assert not found.applied
    assert "no better than chance" in found.reason
    by_propensity = with_propensities(rates, clicks.EXAMINATION).in_key_order()
    assert correction.debiased(by_propensity, threads=1)[1].applied, "nothing hides in examination that is known"


def test_lists_in_random_order_are_corrected(data):
    in_any_order = np.random.default_rng(0).random(data.n_docs)
    rates: Any = clicks.click_rates(data, clicks.simulate(data, in_any_order))
    assert correction.debiased(rates.in_key_order(), threads=1)[1].applied


@pytest.mark.usefixtures("quickly")
def test_positions_may_begin_further_down(data):
    rates = rates_of(data, "pbm").in_key_order()
    first, second = (
        correction.debiased(replace(rates, positions=rates.positions + shift), threads=1) for shift in (0, 3)
    )
    np.testing.assert_allclose(second[1].examination[3:], first[1].examination)
    labels: Any = second[0].labels
    np.testing.assert_allclose(labels, np.asarray(first[0].labels), rtol=1e-4)


@pytest.mark.usefixtures("quickly")
@pytest.mark.filterwarnings("error")
def test_logs_that_tell_nothing_are_refused_in_a_sentence(data):
    rates = rates_of(data, "pbm", sessions=1)
    nothing, unknown = np.zeros(rates.n_docs, np.float32), np.full(rates.n_docs, np.nan, np.float32)
    with pytest.raises(NothingToLearnError, match="labels are 0"):
        rw.LambdaMART(**QUICK).fit(replace(rates, labels=nothing))
    with pytest.raises(InputError, match="no document has a label"):
        correction.debiased(replace(rates, labels=unknown))
    with pytest.raises(InputError, match="places in a list"):
        rw.LambdaMART(**QUICK).fit(replace(rates, positions=rates.positions * 10**9))
    with pytest.raises(InputError, match="0 or 1, not click rates"):
        rw.LambdaMART(debias="pairwise", **QUICK).fit(rates_of(data, "pbm"))


@pytest.mark.usefixtures("quickly")
def test_the_order_of_rows_does_not_matter(data):
    rates = rates_of(data, "pbm", sessions=30)
    order = np.random.default_rng(0).permutation(rates.n_docs)
    shuffled = rw.RankingDataset.from_arrays(
        rates.features[order], rates.labels[order], qid=rates.qid[order], positions=rates.positions[order],
        document_weights=None if rates.document_weights is None else rates.document_weights[order],
    )  # fmt: skip
    both: Any = [rw.LambdaMART(**QUICK).fit(one) for one in (rates, shuffled)]
    first, second = both
    np.testing.assert_array_equal(first.predict(data), second.predict(data))
    np.testing.assert_array_equal(first.debiasing_.examination, second.debiasing_.examination)


@pytest.mark.usefixtures("quickly")
def test_pairwise_debiasing_weighs_positions(data):
    one_session = rates_of(data, "pbm", sessions=1)
    ranker: Any = rw.LambdaMART(debias="pairwise", **QUICK).fit(replace(one_session, document_weights=None))
    assert ranker.debiasing_ is not None
    ratios = position_ratios(replace(one_session, document_weights=None), np.zeros(data.n_docs))
    assert ratios.clicked[0] == ratios.other[0] == 1.0
    assert ratios.clicked[3:5].max() < 0.9, "clicks are rarer further down"
    if ranker.debiasing_.applied:
        assert ranker.position_ratios_ is not None
    with pytest.raises(InputError, match="0 or 1, not click rates"):
        position_ratios(rates_of(data, "pbm"), np.zeros(data.n_docs))


def test_the_force_of_the_joint_objective_is_the_slope_of_its_likelihood(data):
    rates = rates_of(data, "pbm")
    scores = np.random.default_rng(0).normal(size=rates.n_docs) * 0.3
    y, positions = rates.labels.astype(float), rates.positions
    weights = np.ones(rates.n_docs) if rates.document_weights is None else rates.document_weights.astype(float)

    def cost(values):
        relevance = np.exp(values)
        curve = np.bincount(positions, weights * y) / np.bincount(positions, weights * relevance)
        expected = curve[positions] * relevance
        return float((weights * (expected - y * np.log(expected))).sum())

    force = PositionBasedClicks().bind(rates, dtype=np.float64)(scores).gradient
    for row in (0, 17, 333):
        step = np.zeros(rates.n_docs)
        step[row] = 1e-5
        assert force[row] == pytest.approx((cost(scores + step) - cost(scores - step)) / 2e-5, rel=1e-3, abs=1e-4)


def test_propensities_weigh_clicks(data):
    y = (data.labels > 1).astype(float)
    chances = np.full(data.n_docs, 0.5)
    chances[:5] = 0.01
    ranker: Any = rw.LambdaMART(debias="none", **QUICK).fit(data.features, y, qid=data.qid, propensity=chances)
    found = ranker.propensity_weights_
    assert found.n_clicks == int(y.sum())
    assert found.effective_size <= found.n_clicks
    assert set(np.unique(found.weights)) <= {1.0, 2.0, 20.0}
    with pytest.raises(InputError, match="propensity must lie above 0"):
        rw.LambdaMART(**QUICK).fit(data.features, y, qid=data.qid, propensity=np.zeros(data.n_docs))


def with_propensities(rates: Any, curve: Any) -> Any:
    """The same clicks, with propensities in place of positions."""
    chances = np.asarray(curve)[np.minimum(rates.positions, len(curve) - 1)]
    return replace(rates, positions=None, propensities=chances.astype(np.float32))


@pytest.mark.usefixtures("quickly")
def test_labels_are_corrected_by_propensities_that_foretell_held_out_clicks(data):
    known = with_propensities(rates_of(data, "pbm"), clicks.EXAMINATION)
    ranker: Any = rw.LambdaMART(**QUICK).fit(known)
    found = ranker.debiasing_
    assert found.applied
    assert "propensities and features together" in found.reason
    assert ranker.propensity_weights_ is None, "labels are corrected, not weighed"
    assert len(found.examination) == 0
    corrected: Any = correction.debiased(known.in_key_order())[0].labels
    true, shown = data.in_key_order().labels, ~np.isnan(corrected)
    assert np.corrcoef(corrected[shown], true[shown])[0, 1] > 0.8
    with pytest.raises(InputError, match="no curve of positions to draw"):
        ranker.plot_bias()


def test_propensities_tell_where_documents_were_shown():
    looked, queries = np.array([0.5, 1.0, 0.5, 0.2, 0.3, 0.9]), np.array([0, 0, 0, 0, 1, 1])
    assert correction._places(looked, queries).tolist() == [1, 0, 1, 3, 1, 0]


@pytest.mark.usefixtures("quickly")
def test_propensities_that_foretell_nothing_are_not_believed(data):
    upside_down = with_propensities(rates_of(data, "pbm"), clicks.EXAMINATION[::-1])
    ranker: Any = rw.LambdaMART(**QUICK).fit(upside_down)
    assert not ranker.debiasing_.applied
    assert "propensities predict held-out clicks no better" in ranker.debiasing_.reason
    plain = replace(upside_down, propensities=None)
    naive = rw.LambdaMART(objective="lambdarank", **QUICK).fit(plain)
    np.testing.assert_array_equal(ranker.predict(data), naive.predict(data))
    believed: Any = rw.LambdaMART(debias="always", **QUICK).fit(upside_down)
    assert believed.debiasing_.applied
    assert "all the same" in believed.debiasing_.reason


def test_propensities_are_looked_at_in_memory_alone(data):
    from rankwright.trees.bins.binned import bin_dataset

    binned = bin_dataset(with_propensities(rates_of(data, "pbm", sessions=1), clicks.EXAMINATION))
    with pytest.raises(InputError, match="set debias to none"):
        rw.LambdaMART(**QUICK).fit_binned(binned)
    weighed: Any = rw.LambdaMART(debias="none", **QUICK).fit_binned(binned)
    assert weighed.propensity_weights_.n_clicks > 0


@pytest.mark.usefixtures("supported")
def test_pairs_are_not_weighed_where_that_ranks_no_better(data, monkeypatch):
    clicked = replace(rates_of(data, "pbm", sessions=1), document_weights=None)
    monkeypatch.setattr(stage, "_gain", lambda *_, **__: -0.5)
    ranker: Any = rw.LambdaMART(debias="pairwise", **QUICK).fit(clicked)
    assert not ranker.debiasing_.applied
    assert ranker.position_ratios_ is None
    assert "no better than clicks as they are (-0.5 standard errors)" in ranker.debiasing_.reason
    naive = rw.LambdaMART(debias="none", **QUICK).fit(clicked)
    np.testing.assert_array_equal(ranker.predict(data), naive.predict(data))


def test_the_gain_of_weighed_pairs_is_that_of_the_order_of_held_out_documents(data, monkeypatch):
    clicked = replace(rates_of(data, "pbm", sessions=1), document_weights=None).in_key_order()
    judged = replace(clicked, labels=data.in_key_order().labels, positions=None)
    shown = ~np.isnan(clicked.labels)

    def scores(_, objective, *__, **___):
        right = judged.labels[shown].astype(float)
        return (right if isinstance(objective, PairwiseDebiased) else -right)[None]

    monkeypatch.setattr(stage, "held_out_scores", scores)
    assert stage._gain(clicked, judged, seed=0, threads=1) > 10
    reverse = replace(judged, labels=4 - judged.labels)
    assert stage._gain(clicked, reverse, seed=0, threads=1) < -10


def test_inner_forests_are_told_as_a_measurement(data, caplog):
    with caplog.at_level("DEBUG", logger="rankwright.progress.stages"):
        rw.LambdaMART(**QUICK).fit(rates_of(data, "pbm", sessions=1))
    told = [record.getMessage() for record in caplog.records]
    assert "measuring position bias, by features: 5 of 5 forests" in told
    trained = [text for text in told if text.startswith("training lambdamart: ")]
    assert len(trained) == QUICK["n_trees"], "only the trees of the ranker itself"


@pytest.mark.usefixtures("quickly")
def test_nets_and_bags_look_at_positions_too(data):
    rates = rates_of(data, "pbm", sessions=50)
    for ranker in (rw.ListNet(epochs=1), rw.BLMART(n_bags=2, **QUICK)):
        assert ranker.fit(rates).debiasing_ is not None


@pytest.mark.usefixtures("supported")
@pytest.mark.parametrize(
    "ranker", [rw.RankNet(hidden=(2,), epochs=2), rw.LambdaRank(hidden=(2,), epochs=2), rw.BLMART(n_bags=2, **QUICK)]
)
def test_nets_and_bags_weigh_pairs_by_position(data, ranker):
    clicked = replace(rates_of(data, "pbm", sessions=1), document_weights=None)
    ranker.set_params(debias="pairwise").fit(clicked)
    assert ranker.debiasing_.applied
    assert ranker.position_ratios_.clicked[0] == 1.0
    assert ranker.position_ratios_.clicked[4] < 0.8, "clicks are rarer further down"
    plain = type(ranker)(**ranker.get_params() | {"debias": "none"}).fit(clicked)
    assert not np.array_equal(ranker.predict(data), plain.predict(data))


def test_listnet_has_no_pairs_to_weigh(data):
    with pytest.raises(ValueError, match="debias"):
        rw.ListNet(debias="pairwise").fit(data)


def test_clicks_above_are_counted_in_two_ways():
    groups = Groups.of_sizes([3, 2])
    rates, positions = np.array([0.5, 0.2, 0.25, 1.0, 0.0]), np.array([0, 2, 1, 5, 5])
    every, satisfying = clicks_above(rates, positions, groups)
    np.testing.assert_allclose(every, [0, 0.75, 0.5, 0, 0])  # those at one position are not above each other
    left = 1 - 0.5 * 0.5
    np.testing.assert_allclose(satisfying, [0, 0.25 + 0.25 * 0.25 / left, 0.25, 0, 0])


@pytest.mark.parametrize(("users", "leaving"), [("cascade", 0), ("sdbn", 1)])
def test_users_who_leave_after_clicks_are_told_from_those_who_do_not(data, users, leaving):
    rates = rates_of(data, users).in_key_order()
    above = clicks_above(rates.labels.astype(float), rates.positions, rates.groups)
    relevance = clicks.click_chances(data.in_key_order().labels)
    found = fitted_examination(rates.labels.astype(float), relevance, rates.positions, np.ones(rates.n_docs), above)
    assert found.leaving == leaving
    assert found.fading > 0.8
    np.testing.assert_allclose(found.curve / found.curve[0], 1, atol=0.4)  # PBM's curve ends near 0.1
    pbm = rates_of(data, "pbm").in_key_order()
    above = clicks_above(pbm.labels.astype(float), pbm.positions, pbm.groups)
    found = fitted_examination(pbm.labels.astype(float), relevance, pbm.positions, np.ones(pbm.n_docs), above)
    assert found.fading < 0.1
    np.testing.assert_allclose(found.curve / found.curve[0], clicks.EXAMINATION / clicks.EXAMINATION[0], atol=0.06)


@pytest.mark.usefixtures("supported")
def test_model_files_hold_what_was_found(data, tmp_path, capsys):
    one_session = replace(rates_of(data, "pbm", sessions=1), document_weights=None)
    ranker: Any = rw.LambdaMART(debias="pairwise", **QUICK).fit(one_session)
    ranker.save(tmp_path / "model.rw")
    loaded: Any = rw.load(tmp_path / "model.rw")
    assert loaded.debiasing_.to_dict() == ranker.debiasing_.to_dict()
    assert loaded.position_ratios_ is not None
    loaded.save(tmp_path / "again.rw")
    assert (tmp_path / "again.rw").read_bytes() == (tmp_path / "model.rw").read_bytes()
    described: Any = rw.describe_model(tmp_path / "model.rw").debiasing
    assert described["reason"] == ranker.debiasing_.reason
    app(["inspect", str(tmp_path / "model.rw")], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "position bias" in shown
    assert "examined, by position: 1.00 0.50" in shown
    pytest.importorskip("matplotlib")
    assert len(loaded.plot_bias().lines) == 3
    with pytest.raises(InputError, match="knows no bias"):
        rw.LambdaMART(**QUICK).fit(data).plot_bias()


def test_labels_that_are_no_clicks_are_refused(data):
    with pytest.raises(InputError, match="labels must be clicks"):
        rw.LambdaMART(**QUICK).fit(replace(data, positions=np.zeros(data.n_docs, int)))


@pytest.mark.usefixtures("quickly")
@pytest.mark.parametrize("debias", ["auto", "pairwise", "none"])
def test_the_number_of_trees_is_chosen_with_positions_too(data, debias):
    clicks = rates_of(data, "pbm", sessions=1)
    clicks = replace(clicks, labels=(clicks.labels > 0).astype(np.float32), document_weights=None)
    ranker: Any = rw.LambdaMART(debias=debias, max_leaves=4, growth="best-first").fit(clicks)
    assert ranker.chosen_["n_trees"] >= ranker.n_trees_ > 0


def test_positions_that_cannot_be_looked_at_are_refused(data):
    from rankwright.trees.bins.binned import bin_dataset

    binned = bin_dataset(rates_of(data, "pbm", sessions=1))
    with pytest.raises(InputError, match="set debias to none"):
        rw.LambdaMART(**QUICK).fit_binned(binned)
    assert rw.LambdaMART(debias="none", **QUICK).fit_binned(binned).n_trees_ > 0


def test_one_bias_is_not_corrected_twice():
    rows, clicked = np.random.default_rng(0).random((8, 2)), np.array([1, 0, 0, 1, 0, 0, 1, 0])
    both: dict[str, Any] = {
        "qid": np.repeat([1, 2], 4),
        "position": np.tile(np.arange(4), 2),
        "propensity": np.full(8, 0.5),
    }
    with pytest.raises(RankwrightError, match="correct the same bias twice"):
        rw.LambdaMART(n_trees=2).fit(rows, clicked, **both)
    with pytest.raises(RankwrightError, match="correct the same bias twice"):
        rw.LambdaMART(n_trees=2).fit(
            rw.RankingDataset.from_arrays(
                rows, clicked, qid=both["qid"], positions=both["position"], propensities=both["propensity"]
            )
        )
    assert rw.LambdaMART(n_trees=2, debias="none").fit(rows, clicked, **both).n_trees_ <= 2

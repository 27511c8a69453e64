"""Nets whose features are in pieces, and many nets in one: what they learn, take, refuse, keep and give to others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import rankwright as rw
from rankwright.container.file import read_container, write_container
from rankwright.errors import InputError, RankwrightError
from rankwright.nets.encoding import MOST_PIECES, fit_pieces, n_inputs, n_piece_inputs
from rankwright.nets.plain_net import input_slopes
from rankwright.rankers.trained import MODEL_KIND

KINDS: dict[str, dict[str, Any]] = {
    "pieces": {"encoding": "piecewise"},
    "members": {"members": 3},
    "both": {"encoding": "piecewise", "members": 3, "hidden": (6, 4), "pieces": 3},
}


@pytest.fixture(scope="module")
def bumps() -> list[rw.RankingDataset]:
    """Labels that rise and fall with the first feature, and are high where the second is missing; training and test."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(1200, 5)).astype(np.float32)
    features[rng.random(1200) < 0.2, 1] = np.nan
    labels = 2.0 * (np.sin(6 * features[:, 0]) > 0) + np.isnan(features[:, 1])
    data = rw.RankingDataset.from_arrays(features, labels, group=[20] * 60)
    return [data.take_queries(np.arange(*ends)) for ends in ((0, 40), (40, 60))]


def test_pieces_follow_what_a_linear_net_cannot(bumps):
    train, test = bumps
    plain, pieces = (
        rw.RankNet(hidden=(), epochs=60, learning_rate=0.05, select="pair-accuracy", encoding=encoding, pieces=20)
        .fit(train)
        .score(test)
        for encoding in ("none", "piecewise")
    )
    assert plain < 0.7
    assert pieces > 0.85


def test_knots_are_distinct_values_where_these_are_few():
    column = np.array([3.0, 1.0, np.nan, 1.0, 7.0, 3.0], np.float32)
    pieces = fit_pieces(column[:, None], 8, {})
    assert pieces.knots.tolist() == [1.0, 3.0, 7.0]
    assert pieces.missing.tolist() == [True]
    assert n_inputs(pieces) == 1 + 2 + 1


def test_knots_are_quantiles_that_a_frequent_value_is_only_one_of():
    rng = np.random.default_rng(0)
    column = np.where(rng.random(9000) < 0.9, 0.0, rng.random(9000)).astype(np.float32)
    pieces = fit_pieces(column[:, None], 10, {})
    assert 9 <= len(pieces.knots) <= 11
    inside = (column > 0) & (column <= pieces.knots[len(pieces.knots) // 2])
    assert inside.sum() == pytest.approx(0.5 * (column > 0).sum(), rel=0.2)


def test_a_constant_feature_has_no_pieces():
    pieces = fit_pieces(np.zeros((50, 1), np.float32), 8, {})
    assert n_piece_inputs(pieces).tolist() == [0]


def test_values_that_rounding_alone_tells_apart_share_a_piece():
    column = np.repeat(1e6 + np.arange(3) / 8, 4).astype(np.float32)
    assert len(fit_pieces(column[:, None], 8, {}).knots) == 0


def test_the_order_of_rows_changes_no_piece():
    rng = np.random.default_rng(1)
    values = rng.normal(size=(500, 4)).astype(np.float32)
    values[rng.random(values.shape) < 0.1] = np.nan
    ahead, shuffled = fit_pieces(values, 6, {}), fit_pieces(values[rng.permutation(500)], 6, {})
    for own, other in zip(ahead, shuffled, strict=True):
        np.testing.assert_array_equal(own, other)


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_a_file_gives_the_same_scores_and_tells_the_settings(settings, bumps, tmp_path):
    train, test = bumps
    ranker = rw.RankNet(**({"hidden": (5,), "epochs": 2} | settings)).fit(train)
    ranker.save(tmp_path / "net.rw")
    again = rw.load(tmp_path / "net.rw")
    assert np.array_equal(again.predict(test), ranker.predict(test))
    told = {name: again.facts().get(name) for name in ("encoding", "members")}
    assert told == {"encoding": "piecewise", "members": settings.get("members")}


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_contributions_are_of_features_and_sum_to_scores(settings, bumps):
    train, test = bumps
    ranker = rw.RankNet(**({"hidden": (5,), "epochs": 5} | settings), activation="gelu").fit(train)
    own = test.take_queries(np.arange(1))
    found = ranker.explain(own)
    assert found.contributions.shape == (own.n_docs, own.n_features)
    assert found.base + found.contributions.sum(axis=1) == pytest.approx(ranker.predict(own), abs=1e-9)


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_slopes_are_differences_of_scores(settings, bumps):
    train, _ = bumps
    net = rw.RankNet(**({"hidden": (5,), "epochs": 5} | settings), activation="tanh").fit(train).net_
    rows = np.random.default_rng(0).normal(size=(4, net.n_inputs))
    slopes, step = input_slopes(net, rows), 1e-2

    def scores(inputs):
        from rankwright.nets.inputs import FeatureRows

        return net.scores(FeatureRows(inputs.astype(np.float32), threads=1))

    for one in range(0, net.n_inputs, 3):
        moved = np.zeros(net.n_inputs)
        moved[one] = step
        difference = (scores(rows + moved) - scores(rows - moved)) / (2 * step)
        assert slopes[:, one] == pytest.approx(difference, abs=2e-3)


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_torchs_module_gives_the_same_scores(settings, bumps):
    train, test = bumps
    ranker = rw.RankNet(**({"hidden": (5,), "epochs": 2} | settings)).fit(train)
    inputs = ranker.inputs_.matrix(test, threads=1)
    with torch.no_grad():
        scores = ranker.net_.to_torch().eval()(torch.from_numpy(inputs)).numpy()[:, 0]
    assert scores == pytest.approx(ranker.predict(test), abs=1e-5)


def test_a_module_of_ones_own_sees_pieces(bumps):
    train, test = bumps
    width = rw.RankNet(encoding="piecewise", epochs=1).fit(train).net_.n_inputs
    ranker = rw.RankNet(module=torch.nn.Linear(width, 1), encoding="piecewise", epochs=2).fit(train)
    assert np.isfinite(ranker.predict(test)).all()


def test_members_differ_from_each_other(bumps):
    net = rw.RankNet(hidden=(5,), members=4, epochs=3).fit(bumps[0]).net_
    first, last = net.layers
    assert first.scales.shape == first.thresholds.shape == last.weights.shape == (4, 5)
    assert len(np.unique(last.weights, axis=0)) == 4


def test_a_linear_net_has_one_member(bumps):
    one, many = (rw.RankNet(hidden=(), epochs=2, members=members).fit(bumps[0]) for members in (None, 4))
    assert np.array_equal(one.net_.weights, many.net_.weights)


def test_one_step_of_members_is_the_mean_of_their_gradients(bumps):
    """A step of plain descent: each member's own layer moves as far as it would alone, divided by their number."""
    train = bumps[0].take_queries(np.arange(3))
    settings: dict[str, Any] = {"hidden": (5,), "optimizer": "sgd", "epochs": 1, "dropout": 0.0, "learning_rate": 0.5}
    settings |= {"weight_decay": 0.0}
    ranker = rw.RankNet(**settings, members=2, batch_queries=3).fit(train)
    start = rw.RankNet(**(settings | {"learning_rate": 1e-30}), members=2, batch_queries=3).fit(train)
    rows = ranker.inputs_.rows_of(train, threads=1)
    moved = start.net_.layers[1].weights - ranker.net_.layers[1].weights
    inputs = rows.fetch(np.arange(train.n_docs)).astype(np.float64)
    first, last = start.net_.layers
    for member in range(2):
        hidden = np.maximum(0, first.scales[member] * (inputs @ first.weights.T) + first.thresholds[member])
        scores, wanted = hidden @ last.weights[member], np.zeros(5)
        for docs in train.groups.slices():
            labels, own = train.labels[docs], scores[docs]
            better, worse = np.nonzero(labels[:, None] > labels)
            force = -1 / (1 + np.exp(own[better] - own[worse]))
            wanted += (force[:, None] * (hidden[docs][better] - hidden[docs][worse])).sum(axis=0)
        assert moved[member] == pytest.approx(0.5 * wanted / 3 / 2, rel=1e-3, abs=1e-4)


@pytest.mark.parametrize("objective", ["softmax", "lambdarank", "squared-error"])
def test_members_learn_any_objective(objective, bumps):
    train, test = bumps
    settings: dict[str, Any] = {
        "learning_rate": 0.02,
        "pieces": 20,
        "select": "pair-accuracy",
        "epochs": 60,
        "dropout": 0.0,
    }
    ranker = rw.NetRanker(objective, members=4, encoding="piecewise", **settings)
    assert ranker.fit(train).score(test) > 0.75


@pytest.mark.parametrize("settings", KINDS.values(), ids=KINDS)
def test_a_run_that_was_stopped_goes_on_as_if_it_had_not(settings, bumps, tmp_path):
    train, test = bumps
    whole = {"hidden": (5,), "dropout": 0.2} | settings
    rw.RankNet(**whole, epochs=2).fit(train, checkpoint=tmp_path)
    continued = rw.RankNet(**whole, epochs=4).fit(train, checkpoint=tmp_path)
    assert np.array_equal(continued.predict(test), rw.RankNet(**whole, epochs=4).fit(train).predict(test))


@pytest.fixture(scope="module")
def texts() -> rw.RankingDataset:
    """Documents of a category each, whose order is not that of their texts."""
    rng = np.random.default_rng(0)
    names = np.array(["apple", "berry", "cherry", "date"])
    codes = rng.integers(0, 4, 800)
    features = np.column_stack([codes, rng.random(800)]).astype(np.float32)
    plain = rw.RankingDataset.from_arrays(features, np.array([1, 3, 0, 2])[codes], group=[20] * 40)
    return plain.with_features(features, ("fruit", "size"), {"fruit": tuple(names.tolist())})


def test_categories_have_an_input_each(texts, tmp_path):
    ranker = rw.RankNet(hidden=(), encoding="piecewise", epochs=80, learning_rate=0.05, select="pair-accuracy")
    assert ranker.fit(texts).score(texts) > 0.99
    ranker.save(tmp_path / "net.rw")
    assert np.array_equal(rw.load(tmp_path / "net.rw").predict(texts), ranker.predict(texts))
    codes = np.array([3, 2, 1, 0], np.float32)[texts.features[:, 0].astype(int)]
    renamed = {"fruit": ("date", "cherry", "berry", "apple")}
    turned = texts.with_features(np.column_stack([codes, texts.features[:, 1]]), ("fruit", "size"), renamed)
    assert np.array_equal(ranker.predict(turned), ranker.predict(texts))
    for target in ("c", "onnx"):
        pytest.importorskip("onnxruntime")
        report = ranker.export(tmp_path / f"net.{target}", to=target, verify=True, sample=texts)
        assert all(verdict.passed for verdict in report.verdicts)


def test_a_category_that_nobody_has_seen_is_a_missing_value(texts):
    ranker = rw.RankNet(hidden=(3,), encoding="piecewise", epochs=3).fit(texts)
    missing, unseen = (
        texts.with_features(np.where([True, False], np.float32(code), texts.features), ("fruit", "size"), categories)
        for code, categories in ((np.nan, texts.categories), (0, {"fruit": ("fig",)}))
    )
    assert np.array_equal(ranker.predict(unseen), ranker.predict(missing))


def test_plain_nets_take_no_categories(texts):
    with pytest.raises(InputError, match="learns from numbers, and 'fruit' holds texts"):
        rw.RankNet(encoding="none").fit(texts)


@pytest.mark.parametrize(
    ("kind", "settings", "message"),
    [
        (rw.RankNet, {"members": 2, "module": torch.nn.Linear(5, 1)}, "members are trained by our own kernels"),
        (rw.RankNet, {"encoding": "piecewise", "kernel": "rbf", "hidden": ()}, "a kernel takes features as they are"),
        (rw.RankNet, {"members": 0}, "members must be"),
        (rw.RankNet, {"pieces": MOST_PIECES + 1}, "pieces must be"),
        (rw.RankNet, {"encoding": "piecwise"}, "did you mean 'piecewise'"),
        (rw.ListNet, {"encoding": "piecewise"}, "the linear ListNet takes features as they are"),
        (rw.ListNet, {"members": 3}, "the linear ListNet takes features as they are"),
    ],
)
def test_what_does_not_go_together_is_refused_in_one_line(kind, settings, message, bumps):
    with pytest.raises(RankwrightError, match=message) as found:
        kind(**({"epochs": 1} | settings)).fit(bumps[0])
    assert "\n" not in str(found.value)


def descending(_header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["pieces.knots"] = arrays["pieces.knots"][::-1].copy()


def without_height(header: dict[str, Any], _arrays: dict[str, Any]) -> None:
    del header["inputs"]["height"]


def too_high(header: dict[str, Any], _arrays: dict[str, Any]) -> None:
    header["inputs"]["height"] = 1e9


def other_members(header: dict[str, Any], _arrays: dict[str, Any]) -> None:
    header["recipe"]["members"] = 5


def other_encoding(header: dict[str, Any], _arrays: dict[str, Any]) -> None:
    header["recipe"]["encoding"] = "none"


@pytest.mark.parametrize("change", [descending, without_height, too_high, other_members, other_encoding])
def test_a_file_that_holds_nonsense_is_refused(change, bumps, tmp_path):
    path = tmp_path / "net.rw"
    rw.RankNet(hidden=(4,), encoding="piecewise", members=2, epochs=1).fit(bumps[0]).save(path)
    container = read_container(path)
    header, arrays = dict(container.header), dict(container.arrays)
    change(header, arrays)
    write_container(path, MODEL_KIND, header, arrays)
    with pytest.raises(RankwrightError, match=r"net\.rw"):
        rw.load(path)

"""A ranker that is measured on queries it was trained on says so, and on no others."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

import rankwright as rw
from rankwright.container.file import read_container
from rankwright.errors import RankwrightError
from rankwright.rankers.seen import MOST_KEPT, SeenDataWarning, SeenQueries

RANKERS = {
    "trees": rw.LambdaMART(n_trees=3),
    "scaled trees": rw.LambdaMART(n_trees=3, scaling="zscore"),
    "linear": rw.RankSVM(max_iter=2),
    "bags of trees": rw.BLMART(n_trees=2, n_bags=2),
    "bags": rw.Bagging(rw.RankSVM(max_iter=1), n_bags=2),
}


@pytest.fixture(scope="module")
def parts():
    return rw.synthetic.web_search(n_queries=60, seed=3).split(valid=0.5, seed=0)


@pytest.fixture(scope="module", params=RANKERS)
def loaded(request, parts, tmp_path_factory):
    path = tmp_path_factory.mktemp("seen") / "model.rw"
    RANKERS[request.param].fit(parts[0]).save(path)
    return rw.load(path)


def test_training_data_is_noticed_in_any_order_and_with_other_labels(loaded, parts):
    train, _ = parts
    rows = np.random.default_rng(0).permutation(train.n_docs)
    with pytest.warns(SeenDataWarning, match="trained on the queries that it is measured on"):
        loaded.score(
            rw.RankingDataset.from_arrays(
                train.features[rows], 4 - train.labels[rows], qid=train.qid[rows], feature_names=train.feature_names
            )
        )
    with pytest.warns(SeenDataWarning, match="about 50% of the queries"):
        loaded.score(rw.synthetic.web_search(n_queries=60, seed=3))


def test_other_queries_are_not(loaded, parts):
    _, test = parts
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loaded.score(test)
        rw.compare({"ranker": loaded, "labels": test.labels}, test)
        rw.permutation_importance(loaded, test, repeats=1)


@pytest.mark.parametrize("measure", ["score", "compare", "importance", "compress"])
def test_whatever_measures_a_ranker_tells(measure, parts):
    train, _ = parts
    ranker = rw.LambdaMART(n_trees=3).fit(train)
    does = {
        "score": lambda: ranker.score(train),
        "compare": lambda: rw.compare({"ranker": ranker, "labels": train.labels}, train),
        "importance": lambda: rw.permutation_importance(ranker, train, repeats=1),
        "compress": lambda: rw.compress(ranker, train, means=["exact"]),
    }
    with pytest.warns(SeenDataWarning) as told:
        does[measure]()
    assert told[0].filename == __file__  # it points at the caller


def test_files_are_noticed(parts, tmp_path):
    from rankwright.catalog.training import evaluate_file

    train, test = parts
    ranker = rw.LambdaMART(n_trees=3).fit(train)
    for name, data in {"train.txt": train, "test.txt": test}.items():
        rw.write(data, tmp_path / name)
    with pytest.warns(SeenDataWarning):
        evaluate_file(ranker, rw.DataFile(tmp_path / "train.txt"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        evaluate_file(ranker, rw.DataFile(tmp_path / "test.txt"))


def test_a_sample_of_many_queries_tells_shares():
    keys = np.random.default_rng(0).integers(0, 2**63, 40_000).astype(np.uint64)
    seen = SeenQueries.of_keys(keys[:20_000])
    assert len(seen.keys) == MOST_KEPT
    assert seen.share_of(keys[:20_000]) == 1
    assert seen.share_of(keys[20_000:]) == 0
    assert seen.share_of(keys) == pytest.approx(0.5, abs=0.1)
    again = SeenQueries.from_dict(seen.to_dict())
    assert np.array_equal(again.keys, seen.keys)
    assert again.complete == seen.complete


def without_seen(trained):
    return replace(trained, findings=replace(trained.findings, seen_queries=None))


def test_models_of_other_tools_know_nothing(parts, tmp_path):
    train, _ = parts
    ranker = rw.LambdaMART(n_trees=2).fit(train)
    ranker.trained_ = without_seen(ranker.trained_)
    ranker.save(tmp_path / "model.rw")
    assert "seen_queries" not in read_container(tmp_path / "model.rw", "model").header
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        rw.load(tmp_path / "model.rw").score(train)


@pytest.mark.parametrize("keys", [[], ["xyz"], ["0" * 15], [7], None])
def test_a_file_with_other_keys_is_refused(keys, parts):
    train, _ = parts
    header, arrays = rw.LambdaMART(n_trees=2).fit(train).to_state()
    with pytest.raises(RankwrightError):
        rw.LambdaMART.from_state(header | {"seen_queries": {"keys": keys, "complete": True}}, arrays)


def test_a_bag_does_not_say_so_of_each_member(parts):
    train, _ = parts
    bag = rw.Bagging(rw.RankSVM(max_iter=1), n_bags=2).fit(train)
    assert bag.seen_queries_ is not None
    assert all(member.findings.seen_queries is None for member in bag.model_.members)  # type: ignore[attr-defined]
    assert without_seen(bag.trained_).to_state()[0].keys() < bag.to_state()[0].keys()

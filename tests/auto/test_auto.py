"""The search over all kinds of rankers: what it chooses, what it says of that, and how it is stopped and continued."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import count

import numpy as np
import pytest

import rankwright as rw
from rankwright.auto import search as searching
from rankwright.auto.candidates import FIRST, TrialCandidate, candidates
from rankwright.auto.selection import Estimate, HeldOut, repeated_choices
from rankwright.auto.settings import bytes_of, seconds_of
from rankwright.auto.trial_runs import TrialOutcome, make_trial, visits_of
from rankwright.cluster.in_process import SerialEngine, ThreadEngine
from rankwright.errors import InputError, SettingError

SMALL = {"n_trees": 5, "max_leaves": 4}
QUICK = (
    TrialCandidate("lambdamart", SMALL),
    TrialCandidate("bl-mart", SMALL | {"n_bags": 2}),
    TrialCandidate("ranksvm", {"max_iter": 3}),
    TrialCandidate("listnet", {"epochs": 5}),
    TrialCandidate("lambdamart", {"n_trees": 3, "max_leaves": 3}),
)


@pytest.fixture(scope="module")
def data():
    return rw.synthetic.web_search(24, docs_per_query=8, seed=0)


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Candidates that train quickly in place of the usual ones."""
    monkeypatch.setattr(searching, "candidates", lambda data, seed: iter(QUICK))  # noqa: ARG005
    monkeypatch.setattr(searching, "BASELINE", QUICK[1])
    monkeypatch.setattr("rankwright.auto.auto_ranker.BASELINE", QUICK[1])


def search(data, folder=None, **settings):
    chosen = {"trials": 4, "folds": 3, "threads": 1} | settings
    workers = chosen.pop("workers", 1)
    with SerialEngine() if workers == 1 else rw.open_engine(workers=workers) as engine:
        return rw.AutoRanker(**chosen).on(engine).fit(data, checkpoint=folder)


@pytest.fixture(scope="module")
def found(data):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(searching, "candidates", lambda data, seed: iter(QUICK))  # noqa: ARG005
        patched.setattr(searching, "BASELINE", QUICK[1])
        patched.setattr("rankwright.auto.auto_ranker.BASELINE", QUICK[1])
        return search(data)


def test_it_tells_what_it_tried_and_chose(found):
    report = found.report_
    assert len(report.tried) == 4
    assert sum(one.weight for one in report.tried) == pytest.approx(1)
    told = "\n".join(report.lines())
    assert "24 queries" in told
    assert "tried 4 configurations" in told
    assert "on new queries expect ndcg@10" in told
    assert "over BLMART()" in told or "BLMART() itself" in told
    assert report.estimate.low < report.estimate.mean < report.estimate.high
    assert report.visits == visits_of(found.trained_)


def test_the_file_is_that_of_the_chosen_ranker(found, data, tmp_path):
    found.save(tmp_path / "best.rw")
    loaded = rw.load(tmp_path / "best.rw")
    assert loaded.name == found.trained_.ranker
    assert np.array_equal(loaded.predict(data), found.predict(data))
    assert (tmp_path / "best.rw").stat().st_size == found.report_.bytes


def test_trials_are_reproducible_in_any_order_with_any_workers(found, data, tmp_path):
    order = np.random.default_rng(0).permutation(data.n_docs)
    mixed = rw.RankingDataset.from_arrays(
        data.features[order], data.labels[order], qid=data.qid[order], feature_names=data.feature_names
    )
    found.save(tmp_path / "one.rw")
    again = search(mixed, workers=2)
    again.save(tmp_path / "two.rw")
    assert (tmp_path / "one.rw").read_bytes() == (tmp_path / "two.rw").read_bytes()
    assert again.report_.estimate == found.report_.estimate


def test_a_killed_search_goes_on_from_its_trials(data, tmp_path, monkeypatch):
    whole = search(data, tmp_path)
    assert len(list((tmp_path / "trials").glob("*/*/checkpoint.rw"))) >= 3 * 2

    def no_trial(*_):
        raise AssertionError("a trial was made again")

    monkeypatch.setattr(searching, "make_trial", no_trial)
    again = search(data, tmp_path)
    assert again.report_.estimate == whole.report_.estimate
    assert np.array_equal(again.predict(data), whole.predict(data))


def test_a_store_of_other_data_is_refused(data, tmp_path):
    search(data, tmp_path)
    with pytest.raises(InputError, match="training data differ"):
        search(data.take_queries(np.arange(20)), tmp_path)


def test_ctrl_c_leaves_the_best_so_far(data, monkeypatch):
    calls = []
    make = searching.AutoSearch.make

    def interrupted(self, tasks):
        calls.append(tasks)
        if len(calls) == 3:
            raise KeyboardInterrupt
        make(self, tasks)

    monkeypatch.setattr(searching, "AT_A_TIME", 3)
    monkeypatch.setattr(searching.AutoSearch, "make", interrupted)
    found = search(data)
    assert found.report_.interrupted
    assert len(found.report_.tried) == 3
    assert found.predict(data).shape == (data.n_docs,)


def test_a_budget_is_kept(data, monkeypatch):
    endless = (TrialCandidate("lambdamart", {"n_trees": n, "max_leaves": 4}) for n in count(5))
    monkeypatch.setattr(searching, "candidates", lambda data, seed: endless)  # noqa: ARG005
    begin = time.process_time()
    found = search(data, trials=None, budget="4s")
    assert time.process_time() - begin < 8  # of this process; trials run in workers
    assert 3 < found.report_.seconds < 4 * 1.1


def test_a_short_budget_goes_to_what_can_be_measured_on_all_folds(data, monkeypatch):
    seconds = dict(zip(QUICK, (27.0, 3.0, 1.0, 2.0, 27.0), strict=True))  # as these trials say, whatever they took

    def told(lesson, task, report):
        outcome = make_trial(lesson, task, report)
        assert isinstance(outcome, TrialOutcome)
        return replace(outcome, seconds=seconds[task.candidate])

    monkeypatch.setattr(searching, "make_trial", told)
    monkeypatch.setattr(searching, "AT_A_TIME", len(QUICK))
    monkeypatch.setattr("rankwright.auto.auto_ranker.SerialEngine", ThreadEngine)  # so that what they say counts
    monkeypatch.setattr("rankwright.auto.auto_ranker.ThreadEngine", ThreadEngine)
    found = search(data, trials=None, budget=70).report_
    folds = {one.name: one.folds for one in found.tried}
    assert folds[QUICK[0].name] == 1  # two more folds of it would take more than is left
    assert folds[QUICK[1].name] == folds[QUICK[2].name] == folds[QUICK[3].name] == 3
    assert QUICK[4].name not in folds  # what it would take is known by its kind
    assert found.estimate is not None
    assert found.seconds < 70 * 1.1


def test_trials_in_this_process_are_counted_once(data):
    begin = time.process_time()
    found = search(data)
    assert found.report_.seconds <= time.process_time() - begin


def test_limits_are_kept_by_choosing_or_by_compressing(data):
    cheap = search(data, limit_cost=1)
    assert cheap.report_.visits <= 1
    assert not cheap.report_.compressed
    small = search(data, limit_size="8kB", trials=2)
    assert small.report_.bytes <= 8000


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"budget": "soon"}, "a budget reads like 90s, 10m or 1h30m"),
        ({"budget": "1m", "trials": 3}, "give one of them"),
        ({"budget": "0s"}, "budget must be above 0, got '0s'"),
        ({"limit_size": "small", "trials": 1}, "a size reads like 500kB or 5MB"),
        ({"limit_size": "0kB", "trials": 1}, "limit_size must be a byte or more, got '0kB'"),
    ],
)
def test_mistakes_are_told(settings, told, data):
    with pytest.raises(SettingError, match=told):
        rw.AutoRanker(folds=2, **settings).fit(data)


def test_validation_data_and_few_queries_are_refused(data):
    with pytest.raises(SettingError, match="cuts folds of the training data itself"):
        rw.AutoRanker(trials=1).fit(data, valid=data)
    with pytest.raises(SettingError, match="needs 10 labelled queries or more, got 3"):
        rw.AutoRanker(trials=1).fit(data.take_queries(np.arange(3)))


def test_texts_of_times_and_sizes():
    assert [seconds_of(text) for text in ("90s", "10m", "1h30m", 7)] == [90, 600, 5400, 7]
    assert [bytes_of(text) for text in ("500kB", "5MB", "12", 3.0)] == [5e5, 5e6, 12, 3]


def test_candidates_are_different_and_the_same_for_a_seed(data):
    def some(seed):
        return [one.key for one, _ in zip(candidates(data, seed), range(40), strict=False)]

    assert some(3) == some(3) != some(4)
    assert len(set(some(3))) == 40
    assert some(3)[: len(FIRST)] == [one.key for one in FIRST]
    for one, _ in zip(candidates(data, 0), range(30), strict=False):
        one.ranker("map").check()


def held_out(rng, n_candidates, quality=0.0):
    """Candidates whose scores are labels with noise, the first with less of it."""
    data = rw.synthetic.web_search(60, docs_per_query=8, seed=1)
    noise = rng.normal(size=(data.n_docs, n_candidates)) * 3
    scores = np.asfortranarray(np.asarray(data.labels)[:, None] + noise)
    scores[:, 0] += quality * np.asarray(data.labels)
    return HeldOut(data, scores, [f"kind {one}" for one in range(n_candidates)], "ndcg@10", 1)


def test_the_estimate_of_a_choice_among_equals_is_not_lifted_by_chance():
    gaps = []
    for seed in range(6):
        own = held_out(np.random.default_rng(seed), 12)
        counts = np.ones(60, np.int64)
        alone = [float(np.nanmean(own.values((one,)))) for one in range(12)]
        own.allowed = lambda members: len(members) == 1
        chosen = float(np.nanmean(own.values(own.chosen(counts))))
        assert chosen == pytest.approx(max(alone))
        gaps.append((chosen - np.mean(alone), float(np.nanmean(repeated_choices(own, 0))) - np.mean(alone)))
    naive, honest = np.mean(gaps, axis=0)
    assert naive > 0.02
    assert abs(honest) < naive / 2


def test_a_clearly_better_candidate_is_chosen_and_a_blend_where_it_gains():
    own = held_out(np.random.default_rng(0), 4, quality=20)
    own.allowed = lambda members: len(members) == 1
    assert own.chosen(np.ones(60, np.int64)) == (0,)
    alike = held_out(np.random.default_rng(0), 4)
    assert len(set(alike.chosen(np.ones(60, np.int64)))) > 1


def test_a_choice_begins_with_the_safest_candidate_unless_another_is_clearly_better():
    counts = np.ones(60, np.int64)
    alike = held_out(np.random.default_rng(0), 6)
    worths = [float(np.nanmean(alike.values((one,)))) for one in range(6)]
    best, second = np.argsort(worths)[::-1][:2].tolist()
    alike.safest = second
    alike.allowed = lambda members: len(members) == 1
    assert alike.chosen(counts) == (second,)
    alike.allowed = lambda members: second not in members
    assert best in alike.chosen(counts)
    better = held_out(np.random.default_rng(0), 6, quality=20)
    better.safest = 3
    assert better.chosen(counts) == (0,)


def test_an_interval_by_hand():
    one = Estimate.of(np.array([0.0, 1.0, 0.0, 1.0]), shift=0.1)
    assert one.mean == pytest.approx(0.6)
    assert one.error == pytest.approx(np.sqrt(1 / 3) / 2)
    assert (one.low + one.high) / 2 == pytest.approx(0.6)
    wider = Estimate.of(np.full(4, 0.5), one_choice=np.array([0.0, 1.0, 0.0, 1.0]))
    assert wider.mean == pytest.approx(0.5)
    assert wider.error == pytest.approx(np.sqrt(1 / 3) / 2)

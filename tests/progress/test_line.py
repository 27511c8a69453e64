from __future__ import annotations

import logging

import pytest

import rankwright as rw
from rankwright.progress.display import ProgressLine, clock_time, duration
from rankwright.progress.stages import STAGE, Stage, log


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def test_the_line_says_what_how_far_the_metric_and_the_time_left(clock):
    line = ProgressLine(clock)
    assert line.hear(Stage("training lambdamart"))
    clock.now = 10.0
    assert not line.hear(Stage("training lambdamart", 100, 500, "trees", "ndcg@10 0.4312, best 0.4330"))
    # Ten seconds for the first tree onwards: what was done before the first count may be an earlier run's.
    clock.now = 20.0
    line.hear(Stage("training lambdamart", 200, 500, "trees", "ndcg@10 0.4401, best 0.4401"))
    assert line.written() == (
        "training lambdamart: 200 of 500 trees, ndcg@10 0.4401, best 0.4401, 30 s left"  # (500 - 200) / 10 a second
    )
    drawn = line.drawn(100)
    assert len(drawn) <= 100
    assert drawn.startswith("training lambdamart  ━")
    assert drawn.endswith("200/500  ndcg@10 0.4401, best 0.4401  0:30 left")


@pytest.mark.parametrize("width", [20, 40, 60, 80, 200])
def test_the_line_never_is_wider_than_the_terminal(clock, width):
    line = ProgressLine(clock)
    line.hear(Stage("training a ranker of a very long name", 3, 7, "steps", "ndcg@10 0.5, best 0.6"))
    assert len(line.drawn(width)) <= width


def test_a_stage_without_an_end_shows_its_count_and_the_time_so_far(clock):
    line = ProgressLine(clock)
    line.hear(Stage("reading train.txt", 120_000, None, "documents"))
    clock.now = 3.0
    assert line.drawn(80) == "reading train.txt  120,000 documents  0:03"
    assert line.written() == "reading train.txt: 120,000 documents, 3 s so far"


def test_an_overall_stage_stays_while_others_come_and_go(clock):
    line = ProgressLine(clock)
    line.hear(Stage("Fold1, ranksvm", 1, 10, "experiments", "map 0.4", overall=True))
    line.hear(Stage("reading Fold2/train.txt"))
    assert line.drawn(80).startswith("Fold1, ranksvm  ")
    assert "reading Fold2/train.txt" in line.drawn(80)
    line.hear(Stage("Fold2, ranksvm", 10, 10, "experiments", overall=True))  # the end of it
    line.hear(Stage("measuring"))
    assert line.drawn(80).startswith("measuring")


def test_steps_of_an_earlier_run_do_not_count_as_speed(clock):
    line = ProgressLine(clock)
    line.hear(Stage("training", 300, 500))
    clock.now = 10.0
    line.hear(Stage("training", 310, 500))
    assert line.drawn(80).endswith("3:10 left")  # 190 steps at one a second


def test_what_is_left_at_the_end_is_the_last_count(clock):
    line = ProgressLine(clock)
    line.hear(Stage("training", 5, 5, "trees", "ndcg@10 0.5, best 0.5"))
    line.hear(Stage("measuring"))
    clock.now = 2.0
    assert line.finished() == "training: 5 of 5 trees, ndcg@10 0.5, best 0.5, 2 s"


@pytest.mark.parametrize(
    ("seconds", "clock_text", "words"),
    [(0.4, "0:00", "0.4 s"), (8, "0:08", "8 s"), (130, "2:10", "2 min 10 s"), (3730, "1:02:10", "1 h 2 min")],
)
def test_times(seconds, clock_text, words):
    assert (clock_time(seconds), duration(seconds)) == (clock_text, words)


def test_the_time_left_is_the_most_there_can_be_where_a_stage_may_end_early(clock):
    line = ProgressLine(clock)
    line.hear(Stage("choosing a length", 1, 400, "trees", may_end_early=True))
    clock.now = 10.0
    line.hear(Stage("choosing a length", 100, 400, "trees", may_end_early=True))
    assert line.written() == "choosing a length: 100 of 400 trees, at most 30 s left"  # 300 more at 10 a second
    assert line.drawn(80).endswith("100/400  at most 0:30 left")
    line.hear(Stage("choosing a length", 200, 400, "trees", "ndcg@10 0.9399, best 0.9462", may_end_early=True))
    assert line.drawn(66) == "choosing…  200/400  ndcg@10 0.9399, best 0.9462  at most 0:10 left"


@pytest.mark.parametrize(("settings", "may"), [({"early_stopping": 5}, True), ({}, False)])
def test_training_that_stops_early_says_so(settings, may):
    heard = Heard()
    log.addHandler(heard)
    log.setLevel(logging.DEBUG)
    try:
        train, valid = rw.synthetic.web_search(n_queries=20, seed=0).split(valid=0.5)
        rw.LambdaMART(n_trees=3, max_leaves=4, learning_rate=0.1, **settings).fit(train, valid=valid)
    finally:
        log.removeHandler(heard)
        log.setLevel(logging.NOTSET)
    trained = [stage for stage in heard.stages if stage.unit == "trees"]
    assert trained
    assert all(stage.may_end_early is may for stage in trained)


class Heard(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.stages: list[Stage] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.stages.append(getattr(record, STAGE))

"""The best step among means of neighbouring steps."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rankwright.errors import RankwrightError
from rankwright.training.loop import History, smoothed


def test_a_value_is_averaged_with_those_a_share_of_its_steps_away():
    values = [1.0, 2.0, 4.0, 8.0]
    # Steps 1 to 4 reach one step to either side at 0.3, step 4 two: ceil(0.3 · 4).
    expected = [(1 + 2) / 2, (1 + 2 + 4) / 3, (2 + 4 + 8) / 3, (2 + 4 + 8) / 3]
    assert_allclose(smoothed(values, 0.3), expected)


def test_no_share_changes_nothing():
    values = [0.3, 0.1, 0.2]
    assert smoothed(values, 0.0).tolist() == values


def test_a_lucky_step_is_not_the_best():
    values = np.concatenate([np.linspace(0.1, 0.5, 50), np.linspace(0.5, 0.2, 50)])
    values[8] = 0.6
    assert History(values=values.tolist()).best_step == 8
    assert 40 < (History(values=values.tolist(), smoothing=0.3).best_step or 0) < 60


def test_lower_can_be_better():
    values = [3.0, 1.0, 1.0, 1.0, 3.0, 5.0]
    assert History(values=values, smoothing=0.2, higher_is_better=False).best_step == 2


def test_a_history_is_read_back_with_its_smoothing():
    history = History(values=[0.1], smoothing=0.25)
    assert History.from_dict(history.to_dict()) == history
    with pytest.raises(RankwrightError, match="smoothing must lie between 0 and 1"):
        History.from_dict(history.to_dict() | {"smoothing": 7.0})

"""A gate: a new system fails where it loses more than is allowed, beyond chance."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import InputError, SettingError, UnknownNameError


def compared(losses, metrics=("mrr",)):
    """A comparison of an old and a new system: by query, 1 where the new one loses half of mrr, -1 where it gains."""
    n = len(losses)
    data = rw.RankingDataset.from_arrays(np.zeros((2 * n, 1)), [1, 0] * n, group=[2] * n)
    good, poor = [1.0, 0.0], [0.0, 1.0]
    old = np.concatenate([poor if one == -1 else good for one in losses])
    new = np.concatenate([poor if one == 1 else good for one in losses])
    return rw.compare({"old": old, "new": new}, data, list(metrics))


@pytest.mark.parametrize(
    ("losses", "allowed", "passed", "told"),
    [
        ([1] * 20, 0.1, False, "new is worse than old by 0.5000 in mrr"),
        ([1] * 20, 0.5, True, "within the 0.5 that is allowed"),
        ([1, 1] + [0] * 18, 0.01, True, "more than the 0.01 that is allowed, but that may be chance: p = "),
        ([-1] * 20, 0.0, True, "new is better than old by 0.5000 in mrr on 20 queries; a true loss of"),
        ([0] * 20, 0.0, True, "new is equal to old in mrr on 20 queries"),
        ([1] * 12 + [0] * 8, 0.1, False, "and that is hardly chance: p = "),
        ([1] * 12 + [0] * 8, 0.25, True, "but that may be chance: p = "),
    ],
)
def test_more_than_is_allowed_fails_where_it_is_no_chance(losses, allowed, passed, told):
    gate = compared(losses).gate({"mrr": allowed})
    assert gate.passed is passed
    assert gate.conclusion.startswith(f"gate {'passed' if passed else 'failed'}: ")
    assert told in gate.conclusion
    (check,) = gate.checks
    assert check.failed is not passed
    assert check.loss == pytest.approx(sum(losses) / 2 / len(losses))
    assert check.low <= check.loss <= check.high
    assert gate.conclusion in str(gate)
    assert len(gate.to_frame()) == 1
    json.dumps(gate.to_dict(), allow_nan=False)


def test_the_p_value_is_one_sided_and_counts_what_is_allowed():
    found = compared([1] * 15 + [-1] * 5)
    two_sided = found.against_best["mrr"]["new"].paired.p_value
    p_values = [found.gate({"mrr": allowed}).checks[0].p_value for allowed in (0.0, 0.1, 0.2, 0.3)]
    assert p_values[0] == pytest.approx(two_sided / 2)
    assert p_values == sorted(p_values)
    turned = found.gate({"mrr": 0.0}, old="new", new="old").checks[0]
    assert turned.p_value == pytest.approx(1 - p_values[0])
    assert not turned.failed


def test_several_metrics_are_corrected_together():
    found = compared([1] * 8 + [-1] + [0] * 11, ["mrr", "map"])
    alone = found.gate({"mrr": 0.05}).checks[0].p_value
    both = found.gate({"mrr": 0.05, "map": 0.05})
    assert [one.p_value for one in both.checks] == pytest.approx([2 * alone, 2 * alone])


def test_what_fails_is_told_first():
    gate = compared([1] * 20, ("p@1", "mrr")).gate({"p@1": 1.0, "mrr": 0.1})
    assert [one.failed for one in gate.checks] == [False, True]
    assert gate.conclusion.startswith("gate failed: new is worse than old by 0.5000 in mrr ")


def test_of_an_error_more_is_a_loss():
    def misses(_, scores):
        return scores[1]

    misses.higher_is_better = False  # type: ignore[attr-defined]
    data = rw.RankingDataset.from_arrays(np.zeros((20, 1)), [1, 0] * 10, group=[2] * 10)
    found = rw.compare({"old": [0.0, 0.2] * 10, "new": [0.0, 0.3] * 10}, data, [misses, "mrr"])
    gate = found.gate({misses: 0.0})
    assert not gate.passed
    assert gate.checks[0].loss == pytest.approx(0.1)
    assert found.gate({misses: 0.0}, old="new", new="old").passed


def test_a_gate_that_could_never_fail_is_refused():
    with pytest.raises(InputError, match=r"needs 5 queries or more, got 4: .* the gate would always pass"):
        compared([1] * 4).gate({"mrr": 0.0})
    assert not compared([1] * 5).gate({"mrr": 0.0}).passed


def test_wrong_questions_are_refused():
    found = compared([1] * 20)
    with pytest.raises(UnknownNameError, match="prod"):
        found.gate({"mrr": 0.0}, old="prod")
    with pytest.raises(UnknownNameError, match=r"ndcg@10.*mrr"):
        found.gate({"ndcg@10": 0.0})
    for allowed in (-0.1, float("nan"), float("inf")):
        with pytest.raises(SettingError, match="0 or more"):
            found.gate({"mrr": allowed})
    with pytest.raises(SettingError, match="needs a metric"):
        found.gate({})
    with pytest.raises(SettingError, match="both are called"):
        found.gate({"mrr": 0.0}, old="new")

"""The checks of a file's parts: what fits is given back, what does not is told in a line."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rankwright.container import checks
from rankwright.errors import ContainerError, InputError, MissingExtraError, ModuleError

HEADER = {"count": 3, "share": 0.5, "on": True, "name": "x", "list": [1, 2], "none": None}
NO_OBJECT: Any = []
ARRAYS = {"weights": np.arange(3.0), "flags": np.array([True, False])}


def test_parts_that_fit_are_given_back():
    assert checks.read_integer(HEADER, "count") == 3
    assert checks.read_number(HEADER, "count") == 3.0
    assert checks.read_number(HEADER, "share") == 0.5
    assert checks.read_field(HEADER, "on", bool) is True
    assert checks.read_optional_field(HEADER, "none", str) is None
    assert checks.read_optional_number(HEADER, "none") is None
    assert checks.read_list(HEADER, "list", int) == [1, 2]
    assert checks.read_number_list(HEADER, "list") == [1.0, 2.0]
    assert checks.read_array(ARRAYS, "weights", np.float64, (None,)) is ARRAYS["weights"]
    checks.check_alike(ARRAYS, ARRAYS)


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (lambda: checks.read_integer(HEADER, "absent"), "'absent' is not there"),
        (lambda: checks.read_integer(HEADER, "on"), "on must be a whole number, got True"),
        (lambda: checks.read_integer(HEADER, "share"), "share must be a whole number, got 0.5"),
        (lambda: checks.read_integer(HEADER, "count", most=2), "count must lie between 0 and 2, got 3"),
        (lambda: checks.read_number({"a": 10**400}, "a"), "a must be a finite number"),
        (lambda: checks.read_number({"a": float("nan")}, "a"), "a must be a finite number"),
        (lambda: checks.read_number(HEADER, "on"), "on must be a finite number"),
        (lambda: checks.read_field(HEADER, "name", list), "name must be a list, got 'x'"),
        (lambda: checks.read_list(HEADER, "list", str), r"list\[0\] must be text, got 1"),
        (lambda: checks.read_any_field(NO_OBJECT, "a"), "a is looked for in an object"),
        (lambda: checks.read_array(ARRAYS, "absent", np.float64, ()), "the array 'absent' is not there"),
        (lambda: checks.read_array(ARRAYS, "weights", np.float32, (3,)), "must be float32 of shape 3, got float64"),
        (
            lambda: checks.read_array(ARRAYS, "weights", np.float64, (3, None)),
            "of shape 3 × any, got float64 of shape 3",
        ),
        (lambda: checks.read_array({"a": np.array([0, np.inf])}, "a", np.float64, (2,)), "got inf at 1"),
        (lambda: checks.read_array({"a": np.array([1e200])}, "a", np.float64, (1,)), "up to 1e.100 in size"),
        (
            lambda: checks.read_array({"a": np.array([2], np.uint8).view(np.bool_)}, "a", np.bool_, (1,)),
            "'a' must lie between 0 and 1, got 2 to 2",
        ),
        (lambda: checks.check_names(["b"], ["a"]), "the arrays must be a, got b"),
        (lambda: checks.check_alike(ARRAYS, ARRAYS | {"weights": np.zeros(2)}), "must be float64 of shape 2"),
        (lambda: checks.check_alike(ARRAYS, ARRAYS, grown=("weights", "flags")), "as many rows as each other"),
        (lambda: checks.check_between("a", np.array([1, 9]), 0, 8), "'a' must lie between 0 and 8, got 1 to 9"),
    ],
)
def test_parts_that_do_not_fit_are_told(check, message):
    with pytest.raises(InputError, match=message):
        check()


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("a"), "'a' is not there"),
        (ZeroDivisionError(), "ZeroDivisionError"),
        (ValueError("two\n  lines"), "two lines"),
        (RecursionError("deep"), "deep"),
        (OverflowError("x" * 10_000), "x" * checks.LONGEST_REPORT + " …"),
    ],
)
def test_any_fault_becomes_a_line_about_the_file(error, told):
    with pytest.raises(ContainerError) as caught, checks.file_faults("a.rw", "model"):
        raise error
    assert str(caught.value) == f"a.rw: the parts of the model do not fit together: {told}"


@pytest.mark.parametrize("error", [MissingExtraError("this", "torch", "nets"), FileNotFoundError("a"), MemoryError()])
def test_faults_of_others_pass(error):
    with pytest.raises(type(error)) as caught, checks.file_faults("a.rw", "model"):
        raise error
    assert caught.value is error


def test_a_callers_module_stays_the_callers_fault():
    with pytest.raises(ModuleError, match=r"a\.rw: another module"), checks.file_faults("a.rw", "model"):
        raise ModuleError("another module")

"""Checkpoints that somebody changed: the line names the file, and nothing is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contracts.trained import after, learnable
from tests.fuzz.mutation import Parts

from rankwright.container.file import read_container
from rankwright.errors import ContainerError


def resume(name: str, folder: Path, change: Any) -> None:
    """Take two steps, change the checkpoint and sign it again, and take a third."""
    data = learnable().take_queries(np.arange(12))
    after(name, 2).fit(data, valid=data, checkpoint=folder)
    path = next(folder.rglob("*.rw"))
    parts = Parts.of(read_container(path))
    change(parts.header, parts.arrays)
    path.write_bytes(parts.signed())
    with pytest.raises(ContainerError) as caught:
        after(name, 3).fit(data, valid=data, checkpoint=folder)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def with_array(name: str, change: Any) -> Any:
    return lambda _, arrays: arrays.update({name: change(np.array(arrays[name]))})


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("lambdamart", lambda header, _: header.update(history=[])),
        ("lambdamart", lambda header, _: header["history"].update(values=["x", "y"])),
        ("lambdamart", lambda header, _: header["history"]["values"].pop()),
        ("lambdamart", lambda header, _: header.update(n_steps="2")),
        ("lambdamart", lambda header, _: header.update(n_steps=7)),
        ("lambdamart", lambda header, _: header.update(n_kept=3)),
        ("lambdamart", lambda header, _: header.update(identity=None)),
        ("lambdamart", lambda header, _: header.pop("n_steps")),
        ("lambdamart", with_array("kept.n_trees", lambda values: values + 5)),
        ("lambdamart", with_array("learner.right", lambda values: values - 1)),
        ("lambdamart", with_array("learner.threshold", lambda values: values + 1)),
        ("prank", with_array("learner.weights", lambda values: values[:, :1])),
        ("prank", with_array("kept.weights", lambda values: values[:1])),
        ("prank", with_array("learner.thresholds", lambda values: values * np.nan)),
        ("kernel-prank", with_array("learner.support", lambda values: values + 10**6)),
        ("kernel-prank", with_array("learner.n_support", lambda values: values + 10**6)),
        ("kernel-prank", with_array("kept.coefficients", lambda values: values[:1])),
        ("ranksvm", with_array("learner.weights", lambda values: values.astype(np.float32))),
        ("svmmap", with_array("learner.losses", lambda values: values[:0])),
        ("ranknet", with_array("learner.net.0.weight", lambda values: values[:1])),
        ("ranknet", with_array("learner.seen", lambda values: values[:1])),
        ("ranknet", with_array("learner.optimizer.mean", lambda values: values[:1])),
        ("sortnet", with_array("learner.pairs", lambda values: values + 10**9)),
        ("sortnet", with_array("learner.counts", lambda values: values[:1])),
        ("adarank", with_array("learner.chosen", lambda values: values + 100)),
        ("rankboost", with_array("learner.feature", lambda values: values + 100)),
        ("rankboost", with_array("learner.weight", lambda values: values * 1e39)),
        ("coordinate-ascent", with_array("learner.values", lambda values: values[:1])),
        ("bl-mart", with_array("feature", lambda values: values + 100)),
        ("bagging", lambda header, _: header.update(n_features=10**8)),
    ],
)
def test_a_checkpoint_whose_parts_do_not_fit_is_refused(name, change, tmp_path):
    resume(name, tmp_path, change)

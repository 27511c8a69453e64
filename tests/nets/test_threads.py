"""Nets trained at once by several threads of a process are those that each of them would have trained alone."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch

import rankwright as rw
from rankwright.catalog.kinds import KINDS, NET
from rankwright.catalog.rankers import ranker_named

N_FEATURES = 19
N_THREADS = 4


def drawing_module() -> torch.nn.Module:
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(N_FEATURES, 5), torch.nn.Dropout(0.3), torch.nn.Linear(5, 1))


RANKERS: dict[str, tuple[str, dict[str, Any]]] = {
    "ranknet": ("ranknet", {}),
    "ranknet of the paper": ("ranknet", {"mode": "paper"}),
    "ranknet with a wide layer": ("ranknet", {"hidden": (80,), "dropout": 0.2}),
    "lambdarank": ("lambdarank", {"hidden": (6,), "dropout": 0.2}),
    "net": ("net", {"hidden": (6,), "activation": "gelu", "dropout": 0.2}),
    "net of the user's own": ("net", {"module": drawing_module()}),
    "rankprop": ("rankprop", {"dropout": 0.2}),
    "listnet": ("listnet", {"hidden": (6,), "dropout": 0.2}),
}


@pytest.fixture(scope="module")
def data() -> rw.RankingDataset:
    rng = np.random.default_rng(3)
    return rw.RankingDataset.from_arrays(
        rng.standard_normal((160, N_FEATURES)), rng.integers(0, 3, 160), group=np.full(20, 8)
    )


def test_every_net_is_tried():
    assert {name for name, _ in RANKERS.values()} == {kind.name for kind in KINDS.values() if kind.model == NET}


def weights_after_fit(kind: str, data: rw.RankingDataset, threads: int) -> dict[str, np.ndarray]:
    name, settings = RANKERS[kind]
    ranker = ranker_named(name)().set_params(epochs=4, seed=5, threads=threads, **settings)
    weights: dict[str, np.ndarray] = ranker.fit(data).model_.state()[1]
    return weights


@pytest.mark.parametrize("kind", RANKERS)
def test_fits_at_once_are_those_of_a_single_fit(kind, data):
    alone = weights_after_fit(kind, data, threads=2)
    together = threading.Barrier(N_THREADS)

    def fit(_: int) -> dict[str, np.ndarray]:
        together.wait()
        return weights_after_fit(kind, data, threads=2)

    with ThreadPoolExecutor(N_THREADS) as pool:
        for other in pool.map(fit, range(N_THREADS)):
            assert other.keys() == alone.keys()
            for name, values in alone.items():
                np.testing.assert_array_equal(other[name], values, err_msg=name)


def test_different_fits_at_once_leave_torch_as_it_was(data):
    torch.manual_seed(7)
    before = torch.get_num_threads(), torch.get_rng_state()
    alone = {kind: weights_after_fit(kind, data, 1 + number % 3) for number, kind in enumerate(RANKERS)}
    with ThreadPoolExecutor(N_THREADS) as pool:
        jobs = {kind: pool.submit(weights_after_fit, kind, data, 1 + number % 3) for number, kind in enumerate(RANKERS)}
        for kind, job in jobs.items():
            for name, values in alone[kind].items():
                np.testing.assert_array_equal(job.result()[name], values, err_msg=f"{kind}: {name}")
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


class EnoughError(Exception):
    """Ends a training from outside."""


def test_scoring_does_not_wait_for_the_end_of_a_training(data):
    trained = ranker_named("rankprop")().set_params(epochs=1).fit(data)
    begun, scored = threading.Event(), threading.Event()

    def listen(_: object) -> None:
        begun.set()
        if scored.is_set():
            raise EnoughError

    with ThreadPoolExecutor(1) as pool:
        training = pool.submit(ranker_named("rankprop")().set_params(epochs=10**6).fit, data, listeners=[listen])
        assert begun.wait(60)
        assert len(trained.predict(data)) == data.n_docs
        scored.set()
        with pytest.raises(EnoughError):
            training.result(60)

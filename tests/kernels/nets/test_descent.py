"""Laws of the kernel that takes plain nets down: its twin's steps, on any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright import kernels, objectives
from rankwright.kernels import reference
from rankwright.kernels.records import LayeredNet, QueryWalk, StandardisedRows, StepRule
from rankwright.objectives.objective import batch_of

N_FEATURES = 19


def data_of(n_queries: int = 9, seed: int = 0) -> rw.RankingDataset:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 9, n_queries)
    features = rng.standard_normal((sizes.sum(), N_FEATURES)).astype(np.float32)
    features[rng.random(features.shape) < 0.05] = np.nan
    return rw.RankingDataset.from_arrays(
        features, rng.integers(0, 3, len(features)), group=sizes, document_weights=rng.random(len(features)) + 0.5
    )


def descend(kernel: Any, data: rw.RankingDataset, *, threads: int = 1, start: float = 0.3, **settings: Any) -> Any:
    """Weights, memory, scores, costs and the number of steps, after three steps."""
    hidden = settings.pop("hidden", (5,))
    widths = np.array([N_FEATURES, *hidden, 1])
    last_threshold = settings.pop("last_threshold", False)
    n_weights = int((widths[:-1] * widths[1:]).sum() + widths[1:-1].sum() + last_threshold)
    rng = np.random.default_rng(1)
    weights = (start * rng.standard_normal(n_weights)).astype(np.float32)
    objective = settings.pop("objective", objectives.PairwiseObjective())
    arguments = objective.bind(data).arguments
    order, starts = batch_of(data.groups, rng.permutation(data.n_queries))
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    scores, cost = np.full(data.n_docs, np.nan), np.full(len(order), np.nan)
    activation, dropout = settings.pop("activation", "relu"), settings.pop("dropout", 0.0)
    rule: dict[str, Any] = {"optimizer": "adam", "learning_rate": 0.01, "weight_decay": 0.0, "pull": 0.0} | settings
    taken = kernel(
        net=LayeredNet(widths, weights, last_threshold, activation, dropout),
        inputs=StandardisedRows(
            data.features, np.full(N_FEATURES, 0.1, np.float32), np.full(N_FEATURES, 1.5, np.float32)
        ),
        **arguments,
        rule=StepRule(**rule, mean=mean, square=square, n_steps=0),
        walk=QueryWalk(
            queries=order,
            starts=starts,
            keys=np.array([3, 2**62, 7]),
            batch_queries=-(-data.n_queries // 3),
            scores=scores,
            cost=cost if objective.has_cost else np.empty(0),
        ),
        threads=threads,
    )
    return weights, mean, square, scores, cost, taken


# The last threshold feels forces that sum to 0; what rounding leaves of them is not for Adam to amplify.
CASES: dict[str, dict[str, Any]] = {
    "linear": {"hidden": ()},
    "with a threshold": {"hidden": (), "last_threshold": True, "optimizer": "sgd"},
    "tanh": {"hidden": (5,), "activation": "tanh", "pull": 0.1},
    "two layers": {"hidden": (6, 3), "activation": "sigmoid", "weight_decay": 0.2},
    "gelu": {"hidden": (6, 3), "activation": "gelu"},
    "wide": {"hidden": (40, 17), "activation": "tanh"},
    "dropout": {"hidden": (7,), "dropout": 0.4, "optimizer": "sgd", "weight_decay": 0.2},
    "ranks matter": {"hidden": (4,), "objective": objectives.lambdarank("ndcg@3")},
    "sampled pairs": {"hidden": (2,), "objective": objectives.PairwiseObjective(sampled_pairs=1)},
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_the_kernel_takes_its_twins_steps(case):
    data = data_of()
    ours, twins = descend(kernels.descend_net, data, **case), descend(reference.descend_net, data, **case)
    for found, wanted in zip(ours, twins, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("threads", [2, 7])
def test_threads_change_no_bit(case, threads):
    data = data_of()
    alone = descend(kernels.descend_net, data, **case)
    together = descend(kernels.descend_net, data, threads=threads, **case)
    for found, wanted in zip(together, alone, strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("kernel", [kernels.descend_net, reference.descend_net])
def test_a_step_without_finite_scores_is_not_taken(kernel):
    weights, mean, *_, taken = descend(kernel, data_of(), hidden=(5, 5), start=1e20)
    assert taken == 0
    assert not mean.any()
    again, *_ = descend(kernel, data_of(), hidden=(5, 5), start=1e20)
    np.testing.assert_array_equal(weights, again)


def test_dropout_keeps_the_mean_of_what_units_give():
    data = data_of(n_queries=1500, seed=3)
    whole, thinned = (
        descend(kernels.descend_net, data, hidden=(32,), dropout=dropout, optimizer="sgd", learning_rate=1e-9)
        for dropout in (0.0, 0.5)
    )
    difference = thinned[3] - whole[3]
    assert difference.std() > 0.1
    assert abs(difference.mean()) < 4 * difference.std() / np.sqrt(len(difference))

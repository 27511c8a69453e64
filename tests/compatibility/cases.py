"""What was trained before the restructuring, as plain data: which class of `rankwright`, with which settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Case:
    """A ranker to train on the committed data: `kind` is a public class's name, a bag's `inner` ranker another case.

    What goes through torch, or a library of linear algebra, has the same bits only on the same machine: `near` cases
    are held to a tolerance elsewhere.
    """

    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    valid: bool = False
    near: bool = False
    inner: Case | None = None


# What was the default of trees when the files were written, and goes by the size of the data now.
DEFAULTS_OF_THEN: dict[str, Any] = {
    "learning_rate": 0.1, "query_fraction": 1.0, "feature_fraction": 1.0, "growth": "best-first", "smoothing": 0.0
}  # fmt: skip
HALF: dict[str, Any] = {"query_fraction": 0.5, "feature_fraction": 0.5}
TREES: dict[str, Any] = {"n_trees": 4, "max_leaves": 4, "min_docs_in_leaf": 5, "seed": 3} | DEFAULTS_OF_THEN
BAGS: dict[str, Any] = {"n_bags": 2}
NET: dict[str, Any] = {"epochs": 4, "hidden": (4,), "learning_rate": 0.02, "seed": 3}
SORTNET: dict[str, Any] = {"max_iter": 2, "epochs": 4, "hidden": 3, "learning_rate": 0.02, "seed": 3}
STEPS: dict[str, Any] = {"epochs": 4, "seed": 3}
ROUNDS: dict[str, Any] = {"n_rounds": 5, "seed": 3}
KERNEL: dict[str, Any] = {"kernel": "rbf", "landmarks": 6}

OTHER_FORCES = ("hinge", "spring:map", "softmax", "gain-softmax", "xendcg", "squared-error", "logistic-error")

CASES: Mapping[str, Case] = {
    "lambdamart": Case("LambdaMART", TREES),
    "lambdamart-paper": Case("LambdaMART", TREES | {"mode": "paper"}),
    "lambdamart-ranknet": Case("LambdaMART", TREES | {"objective": "ranknet"}),
    **{
        f"lambdamart-{name.replace(':', '-')}": Case("LambdaMART", TREES | {"n_trees": 2, "objective": name})
        for name in OTHER_FORCES
    },
    "lambdamart-map": Case("LambdaMART", TREES | {"metric": "map", "truncation": 3, "sigma": 2.0}),
    "lambdamart-sampled": Case(
        "LambdaMART",
        TREES | {"query_fraction": 0.5, "feature_fraction": 0.5, "max_depth": 2, "max_bins": 7, "l2": 1.0},
    ),
    "lambdamart-early-stopping": Case("LambdaMART", TREES | {"n_trees": 12, "early_stopping": 2}, valid=True),
    "lambdamart-monotone-categorical": Case("LambdaMART", TREES | {"monotone": {1: 1, 5: -1}, "categorical": (6,)}),
    "lambdamart-zscore": Case("LambdaMART", TREES | {"scaling": "zscore"}),
    "lambdamart-query-minmax": Case("LambdaMART", TREES | {"scaling": "query-minmax"}, valid=True),
    "lambdamart-unjudged": Case("LambdaMART", TREES | {"unjudged": 0.5}),
    "bl-mart": Case("BLMART", TREES | HALF | BAGS),
    "bl-mart-overfit": Case("BLMART", TREES | HALF | BAGS | {"overfit": True, "n_trees": 3}),
    "bl-mart-valid": Case("BLMART", TREES | HALF | BAGS | {"bootstrap": False, "bag_fraction": 0.6}, valid=True),
    "mart": Case("MART", TREES),
    "mart-logistic": Case("MART", TREES | {"loss": "logistic"}, valid=True),
    "bagboo": Case("BagBoo", TREES | BAGS | {"feature_fraction": 0.5}),
    "bagging": Case("Bagging", BAGS | {"seed": 3}, inner=Case("LambdaMART", TREES)),
    "bagging-default": Case("Bagging", {"n_bags": 1, "seed": 9}),
    "bagging-ranksvm-rank": Case(
        "Bagging", BAGS | {"seed": 3, "combine": "rank"}, valid=True, near=True, inner=Case("RankSVM", {"max_iter": 5})
    ),
    "bagging-sortnet": Case("Bagging", {"n_bags": 2, "seed": 3}, inner=Case("SortNet", SORTNET)),
    "bagging-ranknet": Case("Bagging", {"n_bags": 2, "seed": 3}, inner=Case("RankNet", NET), near=True),
    "ranknet": Case("RankNet", NET, near=True),
    "ranknet-linear": Case("RankNet", NET | {"hidden": ()}, valid=True, near=True),
    "ranknet-kernel": Case("RankNet", NET | KERNEL | {"hidden": ()}, near=True),
    "ranknet-paper": Case("RankNet", {"epochs": 3, "mode": "paper", "seed": 3}, near=True),
    "ranknet-ties": Case("RankNet", NET | {"ties": 0.3, "certainty": 1.0}, near=True),
    "ranknet-dropout": Case("RankNet", NET | {"hidden": (4, 3), "dropout": 0.3, "weight_decay": 0.01}, near=True),
    "lambdarank": Case("LambdaRank", NET, valid=True, near=True),
    "lambdarank-spring": Case("LambdaRank", NET | {"spring": 1.0}, near=True),
    # Adam would make steps of rounding errors: forces on a list sum to 0, and so does the gradient of the net's bias.
    "net": Case("NetRanker", NET | {"optimizer": "sgd"}, near=True),
    "net-softmax": Case("NetRanker", NET | {"optimizer": "sgd", "objective": "softmax"}, near=True),
    "net-squared": Case("NetRanker", NET | {"objective": "squared-error"}, near=True),
    "rankprop": Case("RankProp", NET, near=True),
    "sortnet": Case("SortNet", SORTNET),
    "sortnet-two-layers": Case(
        "SortNet", SORTNET | {"hidden": (3, 2), "cost": "logistic", "restart": False}, valid=True
    ),
    "linear-regression": Case("LinearRegression", {"seed": 3}, near=True),
    "prank": Case("PRank", STEPS),
    "prank-valid": Case("PRank", STEPS | {"early_stopping": 2}, valid=True),
    "kernel-prank": Case("KernelPRank", STEPS | {"max_support": 8}),
    "kernel-prank-quadratic": Case("KernelPRank", STEPS | {"features": "quadratic"}),
    "oap-bpm": Case("OAPBPM", STEPS | {"n_perceptrons": 4}),
    "ranksvm": Case("RankSVM", {"seed": 3}),
    "ranksvm-kernel": Case("RankSVM", KERNEL | {"position_weights": True, "seed": 3}, valid=True, near=True),
    "ranksvm-struct": Case("RankSVMStruct", {"max_iter": 30, "seed": 3}, near=True),
    "svmmap": Case("SVMMAP", {"max_iter": 30, "seed": 3}, near=True),
    "listnet": Case("ListNet", {"epochs": 6, "seed": 3}, valid=True),
    "listnet-hidden": Case("ListNet", NET, near=True),
    "smoothrank": Case("SmoothRank", {"max_iter": 4, "seed": 3}, near=True),
    "crr": Case("CRR", STEPS),
    "crr-logistic": Case("CRR", STEPS | {"loss": "logistic"}, valid=True),
    "adarank": Case("AdaRank", ROUNDS),
    "rankboost": Case("RankBoost", ROUNDS, valid=True),
    "frank": Case("FRank", ROUNDS),
    "boltzrank": Case("BoltzRank", STEPS),
    "boltzrank-pair-units": Case("BoltzRank", STEPS | {"pair_units": 2}, valid=True),
    "coordinate-ascent": Case("CoordinateAscent", {"n_sweeps": 2, "restarts": 2, "seed": 3}),
}


@dataclass(frozen=True)
class Interrupted:
    """Training that left a checkpoint after `begun` steps, to be continued until it has taken `ended`."""

    case: Case
    budget: str  # the setting that says how many steps to take
    begun: int
    ended: int


INTERRUPTED: Mapping[str, Interrupted] = {
    "lambdamart": Interrupted(Case("LambdaMART", TREES | {"query_fraction": 0.5}), "n_trees", 2, 5),
    "lambdamart-valid": Interrupted(Case("LambdaMART", TREES, valid=True), "n_trees", 2, 5),
    "mart": Interrupted(Case("MART", TREES), "n_trees", 2, 5),
    "bl-mart": Interrupted(Case("BLMART", TREES | HALF | {"n_trees": 2}), "n_bags", 2, 3),
    "bagging": Interrupted(Case("Bagging", {"seed": 3}, inner=Case("MART", TREES | {"n_trees": 2})), "n_bags", 2, 3),
    "ranknet": Interrupted(Case("RankNet", NET | {"dropout": 0.3}, near=True), "epochs", 2, 4),
    "sortnet": Interrupted(Case("SortNet", SORTNET), "max_iter", 1, 3),
    "prank": Interrupted(Case("PRank", STEPS), "epochs", 2, 4),
    "oap-bpm": Interrupted(Case("OAPBPM", STEPS | {"n_perceptrons": 3}), "epochs", 2, 4),
    "kernel-prank": Interrupted(Case("KernelPRank", STEPS | {"max_support": 6}), "epochs", 1, 3),
    "ranksvm": Interrupted(Case("RankSVM", {"seed": 3}), "max_iter", 1, 3),
    "svmmap": Interrupted(Case("SVMMAP", {"seed": 3}, near=True), "max_iter", 3, 8),
    "smoothrank": Interrupted(Case("SmoothRank", {"seed": 3}, near=True), "max_iter", 2, 4),
    "listnet": Interrupted(Case("ListNet", {"seed": 3}, valid=True), "epochs", 1, 3),
    "crr": Interrupted(Case("CRR", STEPS), "epochs", 2, 4),
    "adarank": Interrupted(Case("AdaRank", ROUNDS), "n_rounds", 2, 5),
    "rankboost": Interrupted(Case("RankBoost", ROUNDS, valid=True), "n_rounds", 2, 5),
    "frank": Interrupted(Case("FRank", ROUNDS), "n_rounds", 2, 5),
    "boltzrank": Interrupted(Case("BoltzRank", STEPS), "epochs", 2, 4),
    "coordinate-ascent": Interrupted(Case("CoordinateAscent", {"restarts": 2, "seed": 3}), "n_sweeps", 1, 3),
}

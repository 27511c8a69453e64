"""The rankers of the papers' tables, by the names that the tables give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from rankwright.catalog.rankers import ranker_named

# The name in our catalog, and the settings that the papers' name stands for.
NAMED: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "SVM-MAP": ("svmmap", {}),
    "RankSVM-Struct": ("ranksvm-struct", {}),
    "ListNet": ("listnet", {}),
    "SmoothRank": ("smoothrank", {}),
    "RankSVM": ("ranksvm", {}),
    "AdaRank-MAP": ("adarank", {"metric": "map"}),
    "AdaRank-NDCG": ("adarank", {"metric": "ndcg@10"}),
    "BoltzRank": ("boltzrank", {}),
    "FRank": ("frank", {}),
    "RankBoost": ("rankboost", {}),
    "CRR": ("crr", {}),
    "BagBoo": ("bagboo", {}),
}


def ranker_of_table(name: str, **settings: Any) -> Any:
    """The ranker that a paper's table calls by this name, with our defaults for what the paper does not say."""
    own, more = NAMED[name]
    make: Callable[..., Any] = ranker_named(own)
    known = make().get_params()
    return make(**{key: value for key, value in (dict(more) | settings).items() if key in known})

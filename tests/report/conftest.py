from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright.compression.curve import Compressed

HOSTILE = (
    "<script>alert('id')</script>",
    '"quoted" & <b>bold</b>',
    "שלום עולם",
    "مرحبا بالعالم",
    "🚀 emoji 👩‍🔬",
    "{{ 7 * 7 }} {% raw %}",
    "</script><script>document.title = 'taken'</script>",
    "$ink",
    "javascript:alert(1)",
    "'; DROP TABLE --",
)


def with_hostile_ids(data: rw.RankingDataset) -> rw.RankingDataset:
    """The data with query ids and document ids that look like code, quotes, other scripts and pictures."""
    queries = np.array([f"{HOSTILE[number % len(HOSTILE)]} {number}" for number in range(data.n_queries)])
    documents = np.array([f"{HOSTILE[row % len(HOSTILE)]}#{row}" for row in range(data.n_docs)])
    return rw.RankingDataset.from_arrays(
        data.features,
        data.labels,
        qid=np.repeat(queries, data.groups.sizes),
        document_ids=documents,
        feature_names=["__proto__", "constructor"]
        + [f"{name} <i>&" if name.endswith("7") else name for name in data.names[2:]],
    )


@pytest.fixture(scope="session")
def rankers_and_data():
    """Two small rankers and hostile documents that neither has seen."""
    data = with_hostile_ids(rw.synthetic.web_search(n_queries=60, seed=0))
    train, test = data.split(valid=0.4, seed=0)
    train, valid = train.split(valid=0.3, seed=0)
    forest = rw.LambdaMART(n_trees=8, max_leaves=5, threads=1).fit(train, valid=valid)
    net = rw.RankNet(epochs=3, seed=0, threads=1).fit(train, valid=valid)
    return {"<b>forest</b>": forest, "net": net}, test


@pytest.fixture(scope="session")
def comparison(rankers_and_data):
    rankers, test = rankers_and_data
    return rw.compare({**rankers, "one feature": test.in_source_order(test.features[:, 0])}, test)


@pytest.fixture
def compressed(small_data) -> Compressed:
    train, rest = small_data.split(valid=0.5, seed=0)
    return rw.compress(rw.LambdaMART(n_trees=8, max_leaves=4).fit(train), rest, means=["exact", "prune"], max_loss=0.05)

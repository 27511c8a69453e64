"""A plain net is the same, bit for bit, whether torch is installed or not."""

from __future__ import annotations

import json
import subprocess
import sys
from hashlib import sha256

import numpy as np
import pytest

import rankwright as rw

RANKERS = {
    "ranknet": lambda: rw.RankNet(epochs=3),
    "ranknet of the paper": lambda: rw.RankNet(mode="paper", epochs=3),
    "ranknet with a kernel": lambda: rw.RankNet(kernel="rbf", hidden=(), landmarks=20, epochs=3),
    "ranknet of given pairs": lambda: rw.RankNet(ties=0.3, epochs=3),
    "lambdarank": lambda: rw.LambdaRank(epochs=3),
    "wide lambdarank": lambda: rw.LambdaRank(hidden=(100, 70), activation="gelu", dropout=0.1, epochs=3),
    "net": lambda: rw.NetRanker("softmax", epochs=3, optimizer="sgd"),
    "net of a function": lambda: rw.NetRanker(rw.objectives.from_function(pull_to_label), epochs=3),
    "listnet": lambda: rw.ListNet(hidden=(9,), activation="sigmoid", epochs=3),
    "linear listnet": lambda: rw.ListNet(epochs=3),
    "rankprop": lambda: rw.RankProp(epochs=3),
    "sortnet": lambda: rw.SortNet(max_iter=1, epochs=3),
}


class NoTorch:
    """What importing asks first: torch is not there."""

    def find_spec(self, name, *_):
        if name.partition(".")[0] == "torch":
            raise ModuleNotFoundError(name)


def pull_to_label(scores, labels):
    return scores - labels


def digest(name: str) -> str:
    """A digest of the scores and weights of a ranker that was just trained."""
    data = rw.synthetic.web_search(n_queries=24, seed=3)
    ranker = RANKERS[name]().fit(data)
    arrays = ranker.to_state()[1]
    return sha256(
        b"".join(np.ascontiguousarray(part).tobytes() for part in (ranker.predict(data), *arrays.values()))
    ).hexdigest()


@pytest.fixture(scope="module")
def without_torch() -> dict[str, str]:
    """The digests of a process that cannot import torch."""
    run = subprocess.run([sys.executable, __file__], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(run.stdout)
    return found


@pytest.mark.parametrize("name", RANKERS)
def test_models_do_not_depend_on_torch(name, without_torch):
    pytest.importorskip("torch")
    assert digest(name) == without_torch[name]


def test_training_does_not_import_torch():
    code = (
        "import sys, rankwright as rw; d = rw.synthetic.web_search(n_queries=9); rw.RankNet(epochs=1).fit(d).predict(d)"
    )
    run = subprocess.run(
        [sys.executable, "-c", f"{code}; print('torch' in sys.modules)"], capture_output=True, text=True, check=True
    )
    assert run.stdout == "False\n"


if __name__ == "__main__":
    sys.meta_path.insert(0, NoTorch())
    sys.stdout.write(json.dumps({name: digest(name) for name in RANKERS}))

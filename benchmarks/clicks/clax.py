"""CLAX's side of `peers.py`: trains one model on arrays, with CLAX's own defaults, in CLAX's own environment.

python benchmarks/clicks/clax.py ARRAYS.npz pbm|ubm|dbn
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np
from clax import DynamicBayesianNetwork, PositionBasedModel, Trainer, UserBrowsingModel
from clax.utils.math import log1mexp
from flax import nnx
from optax import adamw

BATCH = 512
MODELS = {"pbm": PositionBasedModel, "ubm": UserBrowsingModel, "dbn": DynamicBayesianNetwork}


class Batches:
    """Batches of sessions that are in memory already: no time is lost on reading."""

    def __init__(self, pairs: np.ndarray, clicks: np.ndarray, shuffled: bool) -> None:
        self.pairs, self.clicks, self.shuffled = pairs, clicks, shuffled
        self.rng = np.random.default_rng(0)

    def __len__(self) -> int:
        return -(-len(self.pairs) // BATCH)

    def __iter__(self) -> Iterator[dict[str, np.ndarray]]:
        order = self.rng.permutation(len(self.pairs)) if self.shuffled else np.arange(len(self.pairs))
        positions = np.broadcast_to(np.arange(1, self.pairs.shape[1] + 1), (BATCH, self.pairs.shape[1]))
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            yield {
                "query_doc_ids": self.pairs[rows],
                "positions": positions[: len(rows)],
                "clicks": self.clicks[rows],
                "mask": np.ones(self.pairs[rows].shape, bool),
            }


def log_likelihood(model: nnx.Module, batches: Batches) -> float:
    """The mean over lists of the logarithm of the chance of all their clicks."""
    total, predict = 0.0, nnx.jit(lambda model, batch: model.predict_conditional_clicks(batch))
    for batch in batches:
        chances = predict(model, batch)
        logs = jnp.where(batch["clicks"] > 0, chances, log1mexp(chances))
        total += float(np.asarray(logs, np.float64).sum())
    return total / len(batches.pairs)


def main() -> None:
    arrays, name = np.load(sys.argv[1]), sys.argv[2]
    parts = {
        one: (arrays[f"{one}_pairs"], arrays[f"{one}_clicks"].astype(np.float32)) for one in ("train", "valid", "test")
    }
    sizes = {"query_doc_pairs": int(arrays["n_pairs"])} | ({} if name == "dbn" else {"positions": 10})
    start, processor = time.perf_counter(), time.process_time()
    model = MODELS[name](**sizes, rngs=nnx.Rngs(42))
    trainer = Trainer(optimizer=adamw(0.003), epochs=50)
    history = trainer.train(model, Batches(*parts["train"], True), Batches(*parts["valid"], False))
    found = {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "steps": len(history),
    }
    print("\n" + json.dumps(found | {"log-likelihood": log_likelihood(model, Batches(*parts["test"], False))}))


if __name__ == "__main__":
    main()

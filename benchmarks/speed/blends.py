"""Does a blend of five models score a list in the time of its parts?

A list of 100 documents with web-like features; two forests of 300 trees, two nets and a weighted sum, one thread.
The five are called one after another, then the blend of them, in turn, so that both find the same caches.

    python -m benchmarks.speed.blends
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side

import rankwright as rw

N_DOCS, CALLS, REPEATS = 100, 100, 40


def main() -> None:
    warnings.simplefilter("ignore")  # of nets that were trained for little
    train, rest = rw.synthetic.web_search(n_queries=60, seed=0).split(valid=0.5)
    kinds = [rw.LambdaMART(n_trees=300), rw.MART(n_trees=300), rw.RankNet(epochs=3), rw.ListNet(epochs=3), rw.RankSVM()]
    parts = [kind.fit(train) for kind in kinds]
    blend = rw.blend(parts, rest)
    rows = np.ascontiguousarray(np.resize(rest.features, (N_DOCS, rest.n_features)))
    query = rw.RankingDataset.from_arrays(rows, group=[N_DOCS])
    for ranker in (*parts, blend):
        ranker.set_params(threads=1)

    def one_by_one() -> object:
        for _ in range(CALLS):
            for ranker in parts:
                ranker.predict(query)
        return None

    def blended() -> object:
        for _ in range(CALLS):
            blend.predict(query)
        return None

    tasks = {"blend": blended, "its parts": one_by_one}
    timings = time_side_by_side(tasks, repeats=REPEATS, clock=time.process_time)
    share = timings["blend"].best / timings["its parts"].best
    notes: dict[str, object] = {
        "blend over its parts": f"{share:.2f}",
        "microseconds a list": f"{timings['blend'].best / CALLS * 1e6:.0f}",
    }
    report("A blend of five models, 100 documents", timings, "blend", notes)


if __name__ == "__main__":
    main()

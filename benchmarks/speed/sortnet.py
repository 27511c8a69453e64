"""SortNet: how fast it sorts and learns, and how well it ranks topic-distillation-like data beside its peers.

python -m benchmarks.speed.sortnet sort   rank 75 queries of 1,000 documents, against `sorted` and a comparator in torch
python -m benchmarks.speed.sortnet learn  the whole of Algorithm 3.1, 20 iterations
python -m benchmarks.speed.sortnet folds  five folds: MAP and P@10 beside RankNet of the same size and LambdaMART
"""

from __future__ import annotations

import argparse
import time
from functools import cmp_to_key
from typing import Any

import numpy as np
from benchmarks.helpers.records import leave
from benchmarks.helpers.timing import report, time_side_by_side

import rankwright as rw
from rankwright.comparators.net import ComparatorNet
from rankwright.comparators.sorting import most_comparisons, sort_documents

N_QUERIES, N_FEATURES, HIDDEN = 75, 44, 20
METRICS = ("map", "p@10")


def torch_comparator(net: ComparatorNet, features: Any) -> Any:
    """The same net as a torch module would have it, asked for one comparison at a time."""
    import torch

    torch.set_num_threads(1)  # one comparison is too small for more
    n, hidden = net.n_features, net.hidden[0]
    parts = np.split(net.weights, np.cumsum([n * hidden, n * hidden, hidden, hidden, hidden]))
    left, right = (torch.from_numpy(part.reshape(n, hidden).T.copy()) for part in parts[:2])
    first = torch.nn.Linear(2 * n, 2 * hidden)
    second = torch.nn.Linear(2 * hidden, 2)
    with torch.no_grad():
        first.weight.copy_(torch.cat([torch.cat([left, right], 1), torch.cat([right, left], 1)]))
        first.bias.copy_(torch.from_numpy(np.tile(parts[2], 2)))
        second.weight.copy_(torch.from_numpy(np.stack([np.concatenate(parts[3:5]), np.concatenate(parts[4:2:-1])])))
        second.bias.copy_(torch.from_numpy(np.repeat(parts[5], 2)))
    module = torch.nn.Sequential(first, torch.nn.Tanh(), second, torch.nn.Sigmoid())
    documents = torch.from_numpy(features)

    def compare(x: int, y: int) -> int:
        with torch.no_grad():
            wins, loses = module(torch.cat([documents[x], documents[y]])).tolist()
        return -1 if wins > loses else 1 if wins < loses else 0

    return compare


def sort_speed(repeats: int) -> None:
    data = rw.synthetic.topic_distillation(N_QUERIES, n_features=N_FEATURES)
    ranker = rw.SortNet(hidden=HIDDEN, max_iter=2, epochs=5).fit(data)
    assert ranker.scaling_ is not None
    scaled = ranker.scaling_.apply(data)
    compare = torch_comparator(ranker.net_, scaled.features)

    def by_python() -> list[list[int]]:
        return [sorted(range(docs.start, docs.stop), key=cmp_to_key(compare)) for docs in scaled.groups.slices()]

    start = time.perf_counter()
    python_order = by_python()
    python_seconds = time.perf_counter() - start
    tasks = {
        "the order alone": lambda: sort_documents(ranker.net_, scaled.features, scaled.groups, threads=2),
        "rank, scaling included": lambda: ranker.rank(data),
    }
    timings = time_side_by_side(tasks, repeats)
    ours = ranker.sort(data)
    same = np.mean(np.concatenate(python_order) == ours.rows)
    report(
        f"SortNet ranks {N_QUERIES} queries of up to 1000 documents",
        timings,
        "rank, scaling included",
        {
            "sorted with cmp_to_key and a torch net": f"{python_seconds:.1f} s, "
            f"{python_seconds / timings['rank, scaling included'].best:.0f} times rank",
            "comparisons": int(ours.n_comparisons.sum()),
            "of at most": int(most_comparisons(scaled.groups).sum()),
            "positions with the same document": f"{same:.2%}",
        },
    )


def learn_speed(repeats: int) -> None:
    data = rw.synthetic.topic_distillation(N_QUERIES, n_features=N_FEATURES)
    train, valid = data.split(valid=0.25, seed=0)
    held: dict[str, Any] = {}

    def learn() -> None:
        held["ranker"] = rw.SortNet(hidden=HIDDEN, max_iter=20).fit(train, valid=valid)

    timings = time_side_by_side({"Algorithm 3.1": learn}, repeats)
    ranker = held["ranker"]
    notes = {"iterations": len(ranker.iterations_), "map by iteration": np.round(ranker.history_.values, 4).tolist()}
    last = ranker.iterations_[-1]
    notes |= {"pairs at the end": last.n_pairs, "share of all pairs": f"{last.share_of_pairs:.2%}"}
    report("SortNet learns topic-distillation-like data", timings, "Algorithm 3.1", notes)


def rankers(seed: int) -> dict[str, Any]:
    return {
        f"SortNet, {HIDDEN} hidden": rw.SortNet(hidden=HIDDEN, select="map", seed=seed),
        f"RankNet, {HIDDEN} hidden": rw.RankNet(hidden=[HIDDEN], select="map", early_stopping=20, seed=seed),
        "LambdaMART": rw.LambdaMART(metric="map", early_stopping=50, seed=seed),
    }


def folds(seeds: int) -> None:
    data = rw.synthetic.topic_distillation(N_QUERIES, n_features=N_FEATURES)
    values: dict[str, dict[str, list[float]]] = {}
    for seed in range(seeds):
        for train, valid, test in data.letor_folds():
            for name, ranker in rankers(seed).items():
                scores = ranker.fit(train, valid=valid).predict(test)
                found = rw.evaluate(scores, test, METRICS)
                for metric in METRICS:
                    values.setdefault(name, {}).setdefault(metric, []).extend(found[metric].values.tolist())
    print("\nTopic-distillation-like data, five folds: means over test queries, and 95 % intervals")
    rows = []
    for name, by_metric in values.items():
        cells = []
        for metric, per_query in by_metric.items():
            by_query = np.mean(np.reshape(per_query, (seeds, -1)), axis=0)
            mean, half = by_query.mean(), 1.96 * by_query.std(ddof=1) / np.sqrt(len(by_query))
            cells.append(f"{metric} {mean:.4f} [{mean - half:.4f}, {mean + half:.4f}]")
        print(f"  {name:22s} " + "   ".join(cells))
        rows.append({"ranker": name, "mean and 95 % interval": "; ".join(cells)})
    leave("sortnet-folds", "SortNet on topic-distillation-like data, five folds", rows=rows, notes={"seeds": seeds})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=("sort", "learn", "folds"))
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=1)
    options = parser.parse_args()
    if options.question == "sort":
        sort_speed(options.repeats)
    elif options.question == "learn":
        learn_speed(options.repeats)
    else:
        folds(options.seeds)


if __name__ == "__main__":
    main()

"""How many times fewer nodes does a bagged model need, for how much of its NDCG@10 on held-out queries?

The model is BL-MART's: the mean of bags on bootstrap samples of the queries. It is compressed with the training
documents and made-up ones, labels unseen; the model is chosen on validation queries, and told is what it loses on test
queries. Sizes are options; the full size is 20 bags × 200 trees × 31 leaves on 2,500 queries, about 300,000 documents.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from benchmarks.helpers.places import RESULTS
from benchmarks.helpers.records import leave

import rankwright as rw
from rankwright.compression.curve import DEFAULT_MEANS, Compressed
from rankwright.data.dataset import RankingDataset
from rankwright.report.drawing import draw_compression
from rankwright.report.table_files import write_curve

METRIC = "ndcg@10"
RELATIVE_LOSS = 0.005  # of the metric that may be lost
ASKED, AIM = 10, 50  # times fewer nodes


def bagged_model(train: RankingDataset, options: argparse.Namespace) -> rw.BLMART:
    return rw.BLMART(
        n_bags=options.bags,
        n_trees=options.trees,
        max_leaves=options.leaves,
        query_fraction=1.0,
        feature_fraction=options.feature_fraction,
        overfit=True,
        seed=options.seed,
        threads=options.threads,
    ).fit(train)


def show(found: Compressed) -> None:
    original = found.original
    heads = {"means": -14, "trees": 6, "nodes": 8, "fewer": 7, "bytes": 10, "µs/doc": 8, "valid": 7, "test": 7}
    print("\n" + " ".join(head.ljust(-width) if width < 0 else head.rjust(width) for head, width in heads.items()))
    for point in found.points:
        fewer = "-" if not point.nodes else f"{(original.nodes or 0) / point.nodes:.1f}×"
        trees, nodes = ("-" if count is None else count for count in (point.trees, point.nodes))
        mark = "  chosen" if point is found.chosen else ""
        print(
            f"{point.means:14s} {trees:>6} {nodes:>8} {fewer:>7s} {point.bytes:>10d} {point.microseconds:8.2f} "
            f"{point.valid:7.4f} {point.test:7.4f}{mark}"
        )
    difference = found.difference
    relative = difference.difference / found.before.mean
    low, high = (end / found.before.mean for end in difference.interval)
    print(f"\nchosen on validation queries: {found.factor:.1f}× fewer nodes (asked {ASKED}×, aim {AIM}×)")
    print(f"on test queries {METRIC} {found.before.mean:.4f} becomes {found.after.mean:.4f}")
    print(f"that is {relative:+.2%} ({low:+.2%} to {high:+.2%})")
    within = [p for p in found.points if p.nodes and found.before.mean - p.test <= RELATIVE_LOSS * found.before.mean]
    best = max((original.nodes or 0) / (point.nodes or 1) for point in within)
    print(f"read off the test queries themselves, which flatters: {best:.1f}× within {RELATIVE_LOSS:.1%}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=2500)
    parser.add_argument("--held-out", type=int, default=2000, help="queries, half to choose on and half to test on")
    parser.add_argument("--bags", type=int, default=20)
    parser.add_argument("--trees", type=int, default=200)
    parser.add_argument("--leaves", type=int, default=31)
    parser.add_argument("--feature-fraction", type=float, default=0.5)
    parser.add_argument("--means", default=",".join(DEFAULT_MEANS))
    parser.add_argument("--student", type=json.loads, default={}, help="settings of the student, as JSON")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    data = rw.synthetic.web_search(options.queries + options.held_out, seed=options.seed)
    train = data.take_queries(np.arange(options.queries))
    half = options.queries + options.held_out // 2
    valid = data.take_queries(np.arange(options.queries, half))
    test = data.take_queries(np.arange(half, data.n_queries))
    size = f"{train.n_docs:,} × {train.n_features}"
    print(f"{options.bags} bags × {options.trees} trees × {options.leaves} leaves on {size}")
    model = bagged_model(train, options)
    start = time.perf_counter()
    reached = rw.evaluate(model.predict(valid), valid, [METRIC])[METRIC].mean
    found = rw.compress(
        model,
        train,
        valid=valid,
        test=test,
        means=options.means.split(","),
        metric=METRIC,
        max_loss=RELATIVE_LOSS * reached,
        student=rw.StudentParams(**options.student),
        seed=options.seed,
        threads=options.threads,
    )
    show(found)
    print(f"compressed in {time.perf_counter() - start:.0f} s")
    RESULTS.mkdir(exist_ok=True)
    name = f"compress-{options.bags}x{options.trees}x{options.leaves}-{options.queries}"
    write_curve(found, RESULTS / f"{name}.json")
    draw_compression(found, RESULTS / f"{name}.svg")
    rows = [
        {"means": point.means, "trees": point.trees, "nodes": point.nodes, "valid": point.valid, "test": point.test}
        for point in found.points
    ]
    question = f"Compressing {options.bags} bags × {options.trees} trees × {options.leaves} leaves, {METRIC}"
    leave(f"{name}-points", question, rows=rows, notes={"fewer nodes, chosen on other queries": f"{found.factor:.1f}×"})


if __name__ == "__main__":
    main()

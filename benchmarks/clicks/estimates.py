"""Do offline estimates find what another policy gets, and do their intervals hold it as often as they say?

    python -m benchmarks.clicks.estimates [--logs 1000]

A shop's recommendations under two policies (open-bandit: true propensities, three positions, rare clicks): what each
gets, by its own log and by the other's. Then 1,000 logs of 10,000 rows are simulated with the item and position click
rates of both logs, and 1,000 logs of lists by the position-based model: how many 95 % intervals hold the truth?
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from benchmarks.helpers.places import DATA
from benchmarks.helpers.records import show

import rankwright as rw
from rankwright import clicks

LOGS = DATA / "open-bandit"
N_ITEMS, N_POSITIONS, N_ROWS = 34, 3, 10_000


def read(policy: str) -> dict[str, np.ndarray]:
    cells = np.genfromtxt(LOGS / f"{policy}-men.csv.gz", delimiter=",", skip_header=1, usecols=range(2, 6))
    item, position, click, propensity = cells.T
    return {"item": item.astype(int), "position": position.astype(int) - 1, "click": click, "propensity": propensity}


def policy_of(log: dict[str, np.ndarray]) -> np.ndarray:
    """How likely the policy shows each item at each position: the mean of its propensities, which hardly change."""
    cells = log["item"] * N_POSITIONS + log["position"]
    shown = np.bincount(cells, minlength=N_ITEMS * N_POSITIONS)
    sums = np.bincount(cells, log["propensity"], minlength=N_ITEMS * N_POSITIONS)
    chances = np.divide(sums, shown, out=np.zeros(len(sums)), where=shown > 0).reshape(N_ITEMS, N_POSITIONS)
    policy: np.ndarray = chances / chances.sum(axis=0)
    return policy


def on_real_logs(logs: dict[str, dict[str, np.ndarray]]) -> list[dict[str, Any]]:
    rows = []
    for wanted, other in (("bts", "random"), ("random", "bts")):
        own, log = logs[wanted], logs[other]
        target = policy_of(own)[log["item"], log["position"]]
        itself = clicks.estimate(own["click"], own["propensity"], own["propensity"])
        row = {"policy": wanted, "its own log": itself.value, "low": itself.low, "high": itself.high}
        for kind in ("ips", "clipped", "self-normalised"):
            found = clicks.estimate(log["click"], log["propensity"], target, kind=kind, positions=log["position"] + 1)
            rows.append(row | {"from": other, "kind": kind, "estimate": found.value, "from low": found.low,
                               "from high": found.high, "effective": found.effective_size})  # fmt: skip
    return rows


def covered_shop(logs: dict[str, dict[str, np.ndarray]], n_logs: int) -> list[dict[str, Any]]:
    both = {name: np.concatenate([log[name] for log in logs.values()]) for name in ("item", "position", "click")}
    cells = both["item"] * N_POSITIONS + both["position"]
    shown = np.bincount(cells, minlength=N_ITEMS * N_POSITIONS)
    clicked = np.bincount(cells, both["click"], minlength=N_ITEMS * N_POSITIONS)
    rates = ((clicked + 1) / (shown + 1 / both["click"].mean())).reshape(N_ITEMS, N_POSITIONS)
    rng, rows = np.random.default_rng(0), []
    for made, wanted in (("random", "bts"), ("bts", "random")):
        old, new = policy_of(logs[made]), policy_of(logs[wanted])
        truth = float((new * rates).sum(axis=0).mean())
        for kind in ("ips", "self-normalised"):
            hits = refused = 0
            for _ in range(n_logs):
                position = rng.integers(0, N_POSITIONS, N_ROWS)
                item = np.empty(N_ROWS, np.int64)
                for place in range(N_POSITIONS):
                    own = position == place
                    item[own] = rng.choice(N_ITEMS, int(own.sum()), p=old[:, place])
                click = rng.random(N_ROWS) < rates[item, position]
                try:
                    found = clicks.estimate(click, old[item, position], new[item, position], kind=kind)
                except clicks.NoSupportError:
                    refused += 1
                    continue
                hits += found.low <= truth <= found.high
            covered = hits / max(n_logs - refused, 1)
            rows.append({"log of": made, "estimate of": wanted, "kind": kind, "covered": covered, "refused": refused})
    return rows


def covered_lists(n_logs: int) -> list[dict[str, Any]]:
    """Lists of ten by one ranker, of which another order is to be estimated."""
    data = rw.synthetic.web_search(30, docs_per_query=10, seed=0)
    old, new = data.features[:, 110], data.features[:, 100]
    chances = clicks.EXAMINATION
    attraction = clicks.click_chances(np.asarray(data.labels))
    new_rank = np.empty(data.n_docs, np.int64)
    for docs in data.groups.slices():
        new_rank[docs][np.argsort(-new[docs], kind="stable")] = np.arange(docs.stop - docs.start)
    truth = float((attraction * chances[np.minimum(new_rank, 9)])[new_rank < 10].mean())
    hits = {"ips": 0}
    for seed in range(n_logs):
        log = clicks.simulate(data, old, sessions=10, seed=seed)
        ranks = new_rank[np.asarray(log.document_ids)[log.documents].astype(np.int64)]
        for kind in hits:
            found = clicks.expected_clicks(log, ranks, chances, kind=kind)
            hits[kind] += found.low <= truth <= found.high
    return [{"log of": "lists", "estimate of": "another order", "kind": kind, "covered": n / n_logs, "refused": 0}
            for kind, n in hits.items()]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--logs", type=int, default=1000)
    given = parser.parse_args()
    logs = {policy: read(policy) for policy in ("random", "bts")}
    show(
        "clicks_estimates_real",
        "Click rates of two policies, by their own logs and by each other's",
        on_real_logs(logs),
    )
    rows = [*covered_shop(logs, given.logs), *covered_lists(given.logs)]
    show("clicks_estimates", f"95 % intervals that hold the truth, of {given.logs} logs", rows)


if __name__ == "__main__":
    main()

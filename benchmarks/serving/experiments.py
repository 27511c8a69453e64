"""Two rankers of known difference, interleaved for simulated users, looked at after every day: who is declared better?

An experiment ends when the sequential p-value falls to 0.05, or after all days. Told are how often the worse one was
declared better, the better one, and, where a ranker is interleaved with one that is as good, how often any was.

    python -m benchmarks.serving.experiments --runs 1000
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.helpers.records import leave

from rankwright.clicks.interleaving import interleaving_result, team_draft

N_DOCS, SHOWN, DAYS, LISTS_A_DAY, ALPHA = 20, 10, 20, 40, 0.05
NOISE_OF_A, NOISE_OF_B = 1.0, 1.6  # of scores around relevance: a is better


def experiment(seed: int, noise_of_b: float) -> str:
    """Who is declared better: "a", "b" or "" for nobody."""
    rng = np.random.default_rng(seed)
    lists, clicks = [], []
    for _ in range(DAYS):
        for _ in range(LISTS_A_DAY):
            relevance = rng.standard_normal(N_DOCS)
            orders = [
                np.argsort(-(relevance + noise * rng.standard_normal(N_DOCS))) for noise in (NOISE_OF_A, noise_of_b)
            ]
            shown = team_draft(orders[0].tolist(), orders[1].tolist(), SHOWN, seed=rng)
            # Users look less and less far down, and click what is relevant, and now and then what is not.
            looks = rng.random(SHOWN) < 1 / np.arange(1, SHOWN + 1)
            likes = rng.random(SHOWN) < np.where(relevance[list(shown.documents)] > 1, 0.7, 0.1)
            lists.append(shown)
            clicks.append((np.flatnonzero(looks & likes) + 1).tolist())
        result = interleaving_result(lists, clicks)
        if result.sequential_p_value <= ALPHA:
            return "a" if result.a_wins > result.b_wins else "b"
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=1000)
    args = parser.parse_args()
    known = [experiment(seed, NOISE_OF_B) for seed in range(args.runs)]
    alike = [experiment(10**6 + seed, NOISE_OF_A) for seed in range(args.runs)]
    result = {
        "runs": args.runs,
        "wrong_winner": known.count("b") / args.runs,
        "right_winner": known.count("a") / args.runs,
        "any_winner_of_two_alike": 1 - alike.count("") / args.runs,
    }
    print(result)
    leave("serving experiments", "Does interleaving find the better ranker, however often it is looked at?", **result)


if __name__ == "__main__":
    main()

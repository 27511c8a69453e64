"""Burges's example (2005): 1,000 documents, two relevant; the pairwise cost against winner takes all.

    python examples/winner_takes_all.py [winner-takes-all.svg]

The ranker has one relevant document on top and the other at the bottom. Moving the second up to rank 3 and the first
down to rank 2 corrects 996 of 998 wrong pairs and loses the winner.
"""

from __future__ import annotations

import sys

import numpy as np

import rankwright as rw
from rankwright.objectives import Objective, from_function, paper_lambdarank, ranknet
from rankwright.report.picture import write_picture
from rankwright.report.specs.theme import SERIES, Spec, chart, quantity, series, side_by_side

N_DOCS = 1000
FIRST, SECOND = 0, N_DOCS - 1  # the relevant documents' rows; row r starts at rank r
SCORES = np.linspace(3.0, -3.0, N_DOCS)
STEP = SCORES[0] - SCORES[1]

labels = np.zeros(N_DOCS)
labels[[FIRST, SECOND]] = 1
QUERY = rw.RankingDataset.from_arrays(np.zeros((N_DOCS, 0)), labels, group=[N_DOCS])


def on_the_way(share: float) -> np.ndarray:
    """The scores when so much of the move is done; at its end the relevant ones stand at ranks 2 and 3."""
    scores = SCORES.copy()
    scores[FIRST] += share * (SCORES[1] - 0.3 * STEP - SCORES[FIRST])
    scores[SECOND] += share * (SCORES[1] - 0.6 * STEP - SCORES[SECOND])
    return scores


def winner(scores, labels):
    """A λ-function of one's own: the best relevant document against the best other, and nothing else."""
    relevant = labels > 0
    best = np.flatnonzero(relevant)[scores[relevant].argmax()]
    rival = np.flatnonzero(~relevant)[scores[~relevant].argmax()]
    push = 1.0 / (1.0 + np.exp(scores[best] - scores[rival]))
    gradient = np.zeros(len(scores))
    gradient[[best, rival]] = -push, push
    return gradient


FORCES: dict[str, Objective] = {
    "every pair alike\n(ranknet)": ranknet(),
    "pairs by what a swap\ndoes to WTA": paper_lambdarank("wta"),
    "the best against\nits rival": from_function(winner),
}


def costs(shares: np.ndarray) -> dict[str, np.ndarray]:
    """The pairwise error, RankNet's cost and the cost of a wrong winner, at each share of the move."""
    points = [on_the_way(share) for share in shares]
    found = [rw.evaluate(scores, QUERY, metrics=["pair-error", "wta"]).results for scores in points]
    pairwise = ranknet().bind(QUERY, dtype=np.float64)
    return {
        "pair-error": np.array([result["pair-error"].mean for result in found]),
        "ranknet": np.array([pairwise(scores).cost[0] for scores in points]),
        "wta": np.array([result["wta"].mean for result in found]),
    }


def pulls() -> dict[str, np.ndarray]:
    """The force on each relevant document where the first has come second, as a share of both."""
    scores = SCORES.copy()
    scores[FIRST] = SCORES[1] - STEP / 2
    forces = {name: -objective.bind(QUERY)(scores).gradient[[FIRST, SECOND]] for name, objective in FORCES.items()}
    return {name: force / force.sum() for name, force in forces.items()}


def draw(path: str) -> None:
    """Draw what falls and what rises on the way, and which document each λ-function pulls."""
    about = "RankNet's cost falls on the way while the winner is lost; which document each λ-function pulls."
    write_picture(side_by_side([falls_and_rises(), who_is_pulled()], about), path)


def falls_and_rises() -> Spec:
    shares = np.linspace(0.0, 1.0, 101)
    along = costs(shares)
    shown = {
        "wrong pairs": along["pair-error"] / along["pair-error"][0],
        "RankNet's cost": along["ranknet"] / along["ranknet"][0],
        "WTA": along["wta"],
    }
    values = [
        {"cost": name, "share": 100 * share, "value": float(value)}
        for name, curve in shown.items()
        for share, value in zip(shares, curve, strict=True)
    ]
    encoding = {
        "x": quantity("share", "% of the move: D2 from rank 1000 to 3, D1 from 1 to 2"),
        "y": quantity("value", "cost (of pairs: as a share of the first)"),
        "color": series("cost", list(shown)),
    }
    title = "Pairs get better, the winner is lost"
    return chart(title, values, title=title, width=380, height=250, mark={"type": "line"}, encoding=encoding)


def who_is_pulled() -> Spec:
    values = [
        {"force": " ".join(name.split()), "document": document, "share": float(share)}
        for name, both in pulls().items()
        for document, share in zip(("D1", "D2"), both, strict=True)
    ]
    colours = {"domain": ["D1", "D2"], "range": [SERIES[0], "$line"]}
    encoding = {
        "x": quantity("share", "share of the pull upwards", axis={"format": "%"}, stack=True),
        "y": {"field": "force", "type": "nominal", "sort": None, "title": None},
        "color": {"field": "document", "type": "nominal", "title": None, "scale": colours},
    }
    title = "D1 at rank 2, D2 at rank 1000: who is pulled?"
    return chart(title, values, title=title, width=300, height=250, mark={"type": "bar"}, encoding=encoding)


def main(path: str | None) -> None:
    """Print the numbers of the example; draw them where a path is given."""
    along = costs(np.array([0.0, 1.0]))
    wrong = np.rint(along["pair-error"] * 2 * (N_DOCS - 2)).astype(int)
    print(f"wrong pairs     {wrong[0]} → {wrong[1]}")
    print(f"RankNet's cost  {along['ranknet'][0]:.1f} → {along['ranknet'][1]:.1f}")
    print(f"WTA cost        {along['wta'][0]:.0f} → {along['wta'][1]:.0f}")
    for name, (first, second) in pulls().items():
        print(f"{' '.join(name.split()):32} pulls D1 with {first:.1%}, D2 with {abs(second):.1%}")
    found = rw.diagnose(from_function(winner), [1, 0, 1, 0, 0])
    print(f"the best against its rival: has a cost: {found.has_cost}, convex: {found.is_convex}")
    if path is not None:
        draw(path)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)

"""A click log instead of judgments: what users looked at, what they would prefer, and a ranker that learned from it.

    python examples/click_log.py

The log is simulated, so that we know the truth: judgments that no step looks at, except to see how well it went.
"""

from __future__ import annotations

from typing import Any

import rankwright as rw


def main(n_queries: int = 200, sessions: int = 30, n_trees: int = 30) -> dict[str, Any]:
    judged = rw.synthetic.web_search(n_queries, docs_per_query=15, seed=0)
    train, test = judged.split(valid=0.4, seed=0)

    # The engine in use ranks by one feature. Users look at the top more often than at the bottom, whatever is there;
    # now and then neighbours change places, which is what tells position from relevance.
    shown_by = train.features[:, train.names.index("bm25.body")]
    log = rw.clicks.simulate(train, shown_by, sessions=sessions, swaps=0.2, seed=0)
    summary = rw.clicks.summarise_log(log)
    print(f"{summary.lists:,} lists of {summary.queries} queries, {summary.clicks:,} clicks")

    # How far down do users look? A click model tells, without judgments.
    seen, held_out = log.split(0.2, seed=0)
    model = rw.clicks.click_model("pbm").fit(seen)
    print("log-likelihood of held-out lists:", round(model.evaluate(held_out).log_likelihood, 4))
    print("examination by rank:", [round(float(chance), 2) for chance in model.examination(10)])

    # Three ways to learn: clicks as they are, clicks corrected for position, preferences between documents.
    rates = rw.clicks.click_rates(train, log)
    forest = {"n_trees": n_trees, "max_leaves": 7, "min_docs_in_leaf": 10, "seed": 0}
    rankers = {
        "clicks as they are": rw.LambdaMART(debias="none", **forest).fit(rates),
        "corrected for position": rw.LambdaMART(debias="auto", **forest).fit(rates),
        "preferences": rw.RankNet(epochs=20, seed=0).fit(rw.clicks.with_preferences(train, log, correct=True).data),
    }
    truth = rankers | {"shown order": test.features[:, test.names.index("bm25.body")]}
    found = rw.compare(truth, test, ["ndcg@10"])
    print(found)
    return {"comparison": found, "examination": model.examination(10)}


if __name__ == "__main__":
    main()

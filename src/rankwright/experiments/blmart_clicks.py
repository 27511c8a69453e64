"""The slides' example of click-through data, done again: from clicks to preferences to BL-MART.

Without a log, clicks are simulated on judged web-search-like data, and rankers trained on clicks are compared with the
one trained on judgments. With a log and human labels, the preferences of its clicks are compared with the labels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rankwright.bagging.blmart import BLMART
from rankwright.clicks.logs.reading import read_log
from rankwright.clicks.preferences import click_rates, with_preferences
from rankwright.clicks.rules import skip_above
from rankwright.clicks.simulation import simulate
from rankwright.clicks.votes import RULES, count_votes
from rankwright.formats.trec import read_qrels
from rankwright.metrics.evaluation import evaluate
from rankwright.synthetic import web_search
from rankwright.trees.lambdamart import LambdaMART

SLIDE_CLICKS = (2, 5, 7)
METRIC = "ndcg@10"


@dataclass(frozen=True, slots=True)
class ClickTable:
    """The slides' pairs, rows of figures by name, and what they say."""

    title: str
    pairs: list[tuple[int, int]]
    rows: dict[str, dict[str, float]]
    note: str

    def to_dict(self) -> dict[str, Any]:
        """The table in types JSON can hold."""
        return {"title": self.title, "pairs": [list(pair) for pair in self.pairs], "rows": self.rows, "note": self.note}


def on_simulated_clicks(
    *, queries: int = 300, sessions: int = 50, n_trees: int = 100, seed: int = 0, threads: int | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> ClickTable:  # fmt: skip
    """BL-MART trained on clicks in several ways, beside one trained on judgments."""
    data = web_search(2 * queries, docs_per_query=20, seed=seed)
    train, test = (data.take_queries(np.arange(queries) + first) for first in (0, queries))
    settings: dict[str, Any] = {"n_trees": n_trees, "max_leaves": 15, "learning_rate": 0.05, "seed": seed}
    settings |= {"threads": threads}
    few = train.take_queries(np.arange(max(2, queries // 100)))
    logging_ranker = LambdaMART(**settings | {"n_trees": 30, "min_docs_in_leaf": 5}).fit(few)
    log = simulate(train, logging_ranker.predict(train), sessions=sessions, seed=seed)
    rates = click_rates(train, log)
    ways: dict[str, Callable[[], Any]] = {
        "skip-above": lambda: with_preferences(train, log).data,
        "skip-above, corrected": lambda: with_preferences(train, log, correct=True).data,
        "click rates": lambda: rates,
        "click rates, debiased": lambda: rates,
        "judgments": lambda: train,
    }
    rows, reason = {"logging ranker": {METRIC: _measured(logging_ranker, test)}}, ""
    for name, made in ways.items():
        tell(f"training on {name}")
        debias = "auto" if name.endswith("debiased") else "none"
        ranker = BLMART(n_bags=5, debias=debias, **settings).fit(made())
        rows[name] = {METRIC: _measured(ranker, test)}
        reason = ranker.debiasing_.reason if ranker.debiasing_ is not None else reason
    naive, corrected, best = (rows[name][METRIC] for name in ("click rates", "click rates, debiased", "judgments"))
    note = (
        f"{reason}. Of the {best - naive:.3f} that judgments are ahead of click rates, debiasing recovers "
        f"{corrected - naive:.3f}. Skip-above only ever votes against the shown order, and needs its correction."
    )
    return ClickTable("BL-MART on simulated clicks", skip_above(SLIDE_CLICKS), rows, note)


def _measured(ranker: Any, test: Any) -> float:
    return evaluate(ranker.predict(test), test, [METRIC])[METRIC].mean


def on_log(log: str, labels: str) -> ClickTable:
    """How often the preferences of each rule agree with the labels of judges, and those of the shown order."""
    judged = read_qrels(labels)
    grade = {
        (str(q), str(d)): float(g) for q, d, g in zip(judged.query_ids, judged.document_ids, judged.labels, strict=True)
    }
    read = read_log(log)
    rows: dict[str, dict[str, float]] = {}
    for name, rule, correct in [
        *((rule, rule, False) for rule in RULES),
        ("skip-above, corrected", "skip-above", True),
    ]:
        votes = count_votes(read, rule, correct=correct)
        probability, weight = votes.preferred()
        agree = total = 0.0
        for pair in range(len(votes)):
            query = str(votes.query_ids[votes.queries[pair]])
            grades = [grade.get((query, str(votes.document_ids[one[pair]]))) for one in (votes.first, votes.second)]
            first, second = grades
            if first is None or second is None or first == second or probability[pair] == 0.5:
                continue
            total += weight[pair]
            agree += weight[pair] * ((probability[pair] > 0.5) == (first > second))
        rows[name] = {"pairs": float(len(votes)), "agreement": agree / total if total else 0.5}
    note = (
        "agreement: of the votes for pairs of different labels, the share that is for the better label; 0.5 is chance. "
        "Rules that only vote against the shown order fall below it where the labels follow that order."
    )
    return ClickTable("Preferences from clicks beside human labels", skip_above(SLIDE_CLICKS), rows, note)

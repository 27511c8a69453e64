"""trec_eval's numbers: pytrec_eval's on random runs, and trec_eval's own expected outputs."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rankwright.data.dataset import RankingDataset
from rankwright.formats.trec import Qrels, Run, read_qrels, read_run
from rankwright.metrics.evaluation import evaluate
from rankwright.metrics.runs import evaluate_run

pytestmark = pytest.mark.oracle


NAME_OF_THEIRS = {
    "map": "map",
    "ndcg": "ndcg",
    "recip_rank": "mrr",
    "bpref": "bpref",
    **{f"map_cut_{k}": f"map@{k}" for k in (1, 3, 5, 10, 30, 100)},
    **{f"ndcg_cut_{k}": f"ndcg@{k}" for k in (1, 3, 5, 10, 30, 100)},
    **{f"P_{k}": f"p@{k}" for k in (1, 3, 5, 10, 30, 100)},
    **{f"recall_{k}": f"recall@{k}" for k in (1, 3, 5, 10, 30, 100)},
    **{f"success_{k}": f"hit@{k}" for k in (1, 5, 10)},
}
METRICS = list(NAME_OF_THEIRS.values())


def random_qrels_and_run(seed: int):
    """Queries with nothing relevant, with nothing judged that was retrieved, in one of the two only; ties and gaps."""
    rng = np.random.default_rng(seed)
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query in range(40):
        documents = [f"d{number}" for number in rng.permutation(60)]
        judged = rng.choice(documents, size=rng.integers(1, 30), replace=False)
        retrieved = rng.choice(documents, size=rng.integers(1, 50), replace=False)
        highest = 1 if query % 7 == 0 else 4
        if query != 3:
            qrels[f"q{query}"] = {str(doc): int(rng.integers(-1, highest)) for doc in judged}
        if query != 5:
            scores = rng.integers(0, 10, size=len(retrieved)) + rng.choice([0.0, 1e-9, 1e-3], size=len(retrieved))
            run[f"q{query}"] = {str(doc): float(score) for doc, score in zip(retrieved, scores, strict=True)}
    return qrels, run


def flat(nested):
    rows = [(query, doc, value) for query, docs in nested.items() for doc, value in docs.items()]
    return tuple(list(column) for column in zip(*rows, strict=True))


@pytest.mark.parametrize("seed", range(4))
def test_every_query_of_a_random_run_agrees_with_pytrec_eval(seed):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = random_qrels_and_run(seed)
    measures = {"map", "ndcg", "recip_rank", "bpref", "map_cut.1,3,5,10,30,100", "ndcg_cut.1,3,5,10,30,100"}
    measures |= {"P.1,3,5,10,30,100", "recall.1,3,5,10,30,100", "success.1,5,10"}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(run)
    ours = evaluate_run(Run(*flat(run)), Qrels(*flat(qrels)), METRICS)
    assert sorted(theirs) == ours.query_ids.tolist()
    for their_name, our_name in NAME_OF_THEIRS.items():
        expected = [theirs[query][their_name] for query in ours.query_ids]
        np.testing.assert_allclose(ours[our_name].values, expected, rtol=1e-12, atol=1e-15, err_msg=our_name)
        assert ours[our_name].mean == pytest.approx(np.mean(expected), rel=1e-12)


def test_a_dataset_in_which_all_is_retrieved_agrees_with_pytrec_eval():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(0)
    sizes = rng.integers(1, 30, size=50)
    n = int(sizes.sum())
    labels, scores = rng.integers(0, 4, size=n), rng.integers(0, 12, size=n).astype(float)
    qid, docs = np.repeat(np.arange(50), sizes), np.array([f"d{row}" for row in rng.permutation(n)])
    nested: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, doc, label, score in zip(qid.astype(str), docs, labels, scores, strict=True):
        nested.setdefault(query, {})[str(doc)] = int(label)
        run.setdefault(query, {})[str(doc)] = float(score)
    theirs = pytrec_eval.RelevanceEvaluator(nested, {"map", "ndcg_cut.10", "recip_rank"}).evaluate(run)
    data = RankingDataset.from_arrays(np.zeros((n, 1)), labels, qid=qid, document_ids=docs)
    ours = evaluate(scores, data, ["map", "ndcg@10", "mrr"], "trec")
    for their_name, our_name in (("map", "map"), ("ndcg_cut_10", "ndcg@10"), ("recip_rank", "mrr")):
        expected = [theirs[str(query)][their_name] for query in range(50)]
        np.testing.assert_allclose(ours[our_name].values, expected, rtol=1e-12)


def read_expected(path: Path) -> dict[tuple[str, str], float]:
    """trec_eval's output, to four decimals: a number for each of its measures and each query, or `all`."""
    with gzip.open(path, "rt") as lines:
        rows = [line.split() for line in lines]
    return {(name, query): float(value) for name, query, value in rows if name in NAME_OF_THEIRS}


@pytest.mark.parametrize(
    ("expected", "run", "qrels", "convention", "complete"),
    [
        ("out.test.aq.gz", "results.test.gz", "qrels.test.gz", "trec", False),
        ("out.test.aqc.gz", "results.trunc.gz", "qrels.test.gz", "trec", True),
        ("out.test.aql.gz", "results.test.gz", "qrels.rel_level.gz", "trec(relevant>=2)", False),
    ],
)
def test_trec_evals_own_expected_outputs(real_data: Callable[[str], Path], expected, run, qrels, convention, complete):
    theirs = read_expected(real_data(f"trec-eval/{expected}"))
    evaluation = evaluate_run(
        read_run(real_data(f"trec-eval/{run}")),
        read_qrels(real_data(f"trec-eval/{qrels}")),
        METRICS,
        convention,
        complete=complete,
    )
    assert len(theirs) > 50
    place_of = {str(query): place for place, query in enumerate(evaluation.query_ids)}
    for (name, query), value in theirs.items():
        result = evaluation[NAME_OF_THEIRS[name]]
        ours = result.mean if query == "all" else result.values[place_of[query]]
        assert ours == pytest.approx(value, abs=0.500001e-4), (name, query)

"""RankNet's Tables 3 to 6: NDCG@15, pairs right and training times of PRank, OAP-BPM, RankProp and RankNet.

The paper's search-engine data is private: web-search-like data takes its place, with the paper's numbers of queries and
about as many training documents in each. The paper tests on lists of a thousand mostly unjudged documents, which is why
its NDCG is far lower; what can be compared is which system is better than which, and which takes longer.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.linear.perceptrons import OAPBPM, KernelPRank, PRank
from rankwright.nets.net_rankers import RankNet, RankProp
from rankwright.rankers.seen import SeenDataWarning
from rankwright.reproduce.experiment import RANKNET, PaperExperiment, Result, RunPart, Setup, grid_parts
from rankwright.reproduce.fold_values import THREADS, ahead, by_fold, figure_of, values_on
from rankwright.reproduce.outcome import Claim, Figure, Findings, PaperTable
from rankwright.synthetic import web_search

NAME = "ranknet-tables3-6"
NDCG, PAIRS = "ndcg@15", "pair-accuracy"
QUAD, LINEAR, OAP, PROP = "Quad PRank", "Linear PRank", "OAP-BPM", "RankProp"
ONE, TWO = "One layer net", "Two layer net"
SYSTEMS: Mapping[str, Callable[..., Any]] = {
    QUAD: lambda **more: KernelPRank(features="quadratic", **more),
    LINEAR: lambda **more: PRank(**more),
    OAP: lambda **more: OAPBPM(tau=0.3, n_perceptrons=100, **more),
    PROP: lambda **more: RankProp(hidden=(), **more),
    ONE: lambda **more: RankNet(hidden=(), **more),
    TWO: lambda **more: RankNet(hidden=(10,), **more),
}
PAPER_VALID = {QUAD: 0.379, LINEAR: 0.410, OAP: 0.455, PROP: 0.459, ONE: 0.479, TWO: 0.489}
PAPER_TEST = {QUAD: 0.327, LINEAR: 0.412, OAP: 0.454, PROP: 0.460, ONE: 0.477, TWO: 0.488}
PAPER_TRAIN = {ONE: 0.479, TWO: 0.500}
PAPER_MINUTES = {LINEAR: 11, PROP: 23, ONE: 67, TWO: 351, OAP: 623, QUAD: 2392}
PAPER_QUERIES = {"train": 11_336, "valid": 2834, "test": 2834}
PAPER_DOCS = {"train": 384_314, "valid": 2_726_714, "test": 2_715_175}
ABOUT_DATA = (
    "the paper's search-engine data is private, and web-search-like data takes its place; the paper tests on lists of "
    "a thousand mostly unjudged documents, which makes its NDCG far lower: which system is better, and which takes "
    "longer, can be compared"
)
OTHER_DATA = "web-search-like data takes the place of the paper's, whose 569 features and judges nobody else has"
OTHER_CODE = "the time of each system is that of its own code: the paper's, of 2005, was another for every one of them"
DOCS_PER_QUERY = 34  # 384,314 training documents of 11,336 queries


def parts(_: Setup) -> list[RunPart]:
    """A part for each system."""
    return grid_parts(NAME, "{system}", system=SYSTEMS)


@lru_cache(maxsize=1)
def _data(setup: Setup) -> dict[str, RankingDataset]:
    """Documents to train, to validate and to test on: two thirds, a sixth and a sixth of the queries."""
    sizes = setup.pick(PAPER_QUERIES, {"train": 400, "valid": 100, "test": 300}, {"train": 12, "valid": 6, "test": 6})
    data = web_search(sum(sizes.values()), docs_per_query=DOCS_PER_QUERY, seed=setup.seed)
    ends = np.cumsum([0, *sizes.values()])
    return {name: data.take_queries(np.arange(*ends[place : place + 2])) for place, name in enumerate(sizes)}


def run(setup: Setup, values: Mapping[str, Any]) -> Result:
    """A system's values on each part of the data, and the processor's seconds that training took."""
    data = _data(setup)
    ranker = SYSTEMS[values["system"]](epochs=setup.pick(100, 50, 2), select=NDCG, seed=setup.seed, threads=THREADS)
    start = time.process_time()
    ranker.fit(data["train"], valid=data["valid"])
    seconds = time.process_time() - start
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeenDataWarning)  # Table 5 is on the training queries
        measured = {name: values_on(ranker, part, [NDCG, PAIRS], "standard") for name, part in data.items()}
    sizes = {name: [part.n_queries, part.n_docs] for name, part in data.items()}
    return {"measured": measured, "training_seconds": seconds, "sizes": sizes}


def conclude(_: Setup, results: Mapping[str, Result]) -> Findings:
    """The four tables, and who is better than whom."""

    def values(system: str, part: str, metric: str = NDCG) -> list[Any]:
        return by_fold([{"values": results[system]["measured"][part]}], metric)

    quality = {
        system: {
            "validation": figure_of(values(system, "valid"), PAPER_VALID[system]),
            "test": figure_of(values(system, "test"), PAPER_TEST[system]),
            "test pairs right": figure_of(values(system, "test", PAIRS)),
        }
        for system in SYSTEMS
    }
    training = {
        system: {"training set": figure_of(values(system, "train"), PAPER_TRAIN[system])} for system in (ONE, TWO)
    }
    seconds = {system: results[system]["training_seconds"] for system in PAPER_MINUTES}
    times = {
        system: {"seconds": Figure(seconds[system], 60.0 * minutes), "times linear PRank": Figure(
            seconds[system] / max(seconds[LINEAR], 1e-9), minutes / PAPER_MINUTES[LINEAR])}
        for system, minutes in PAPER_MINUTES.items()
    }  # fmt: skip
    tables = [
        PaperTable("Table 3, queries and documents", _sizes(results[LINEAR]["sizes"]), 0),
        PaperTable("Table 4, mean NDCG@15", quality, 3),
        PaperTable("Table 5, mean NDCG@15", training, 3),
        PaperTable("Table 6, training time", times, 2),
    ]

    def beats(text: str, better: str, worse: str, part: str = "test") -> Claim:
        return ahead(text, values(better, part), values(worse, part), (better, worse), digits=3, otherwise=OTHER_DATA)

    claims = [
        *(beats(f"one layer of RankNet beats {other}", ONE, other) for other in (LINEAR, OAP, PROP)),
        beats("two layers beat one", TWO, ONE),
        beats("quadratic PRank is worse than linear PRank", LINEAR, QUAD),
        beats("on the training set two layers are better too", TWO, ONE, "train"),
        *_times(seconds),
    ]
    return Findings(tables, claims, [ABOUT_DATA])


def _sizes(sizes: Mapping[str, list[int]]) -> dict[str, dict[str, Figure]]:
    return {
        part: {
            "queries": Figure(float(queries), PAPER_QUERIES[part]),
            "documents": Figure(float(docs), PAPER_DOCS[part]),
        }
        for part, (queries, docs) in sizes.items()
    }


def _times(seconds: Mapping[str, float]) -> list[Claim]:
    told = ", ".join(f"{system} {taken:.2f} s" for system, taken in seconds.items())
    return [
        Claim("linear PRank trains fastest", min(seconds, key=lambda one: seconds[one]) == LINEAR, told, OTHER_CODE),
        Claim("quadratic PRank trains slowest", max(seconds, key=lambda one: seconds[one]) == QUAD, told, OTHER_CODE),
    ]


EXPERIMENT = PaperExperiment(NAME, RANKNET, "Web search: quality and training times", parts, run, conclude)

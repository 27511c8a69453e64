"""Writes what the tests in this folder hold later code against; say which part.

    python -m tests.compatibility.record data|models|trained|checkpoints|studies|public

`models` and `public` were written by the code before it was restructured and are kept for good. `trained`,
`checkpoints` and `studies` hold what training gives, bit for bit; they were written anew when data was first put in
the order of its keys, those of nets again when nets were first trained without torch and when they came to see
features in pieces by default, `trained/bagging-default` when settings left open came to go by the size of the data
and when the search for a length came to stop sooner, those of LambdaMART, BL-MART and the studies when LambdaMART
came to follow YetiRank's forces by default, and those of linear rankers when their sums came to be the same on every
processor. If files are written anew, the tests only compare the code with itself, so do that only when something
changes on purpose, and say so in the changelog.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from tests.compatibility.cases import CASES, INTERRUPTED
from tests.compatibility.public_commands import describe_commands, describe_documents
from tests.compatibility.public_names import describe_library, folded
from tests.compatibility.training import (
    CHECKPOINTS,
    MODELS,
    PUBLIC,
    SCORES,
    TRAIN,
    TRAINED,
    VALID,
    scored_data,
    train,
    with_budget,
)
from tests.compatibility.tuning import (
    ENDED,
    FINISHED,
    FOUND,
    N_BEFORE_THE_END,
    change_records,
    halving_search,
    random_search,
    without_places,
)

import rankwright as rw


def record_data() -> None:
    TRAIN.parent.mkdir(exist_ok=True)
    rng = np.random.default_rng(20)
    TRAIN.write_text(made_up_documents(rng, first_query=1, n_queries=12))
    VALID.write_text(made_up_documents(rng, first_query=101, n_queries=6))


def made_up_documents(rng: np.random.Generator, *, first_query: int, n_queries: int) -> str:
    """SVMlight lines: a useful feature, ties, a constant, counts, one with missing values, and categories."""
    lines = []
    for query in range(first_query, first_query + n_queries):
        n_docs = int(rng.integers(6, 11))
        useful, halves = rng.normal(size=n_docs).round(2), rng.integers(0, 3, n_docs) / 2
        counts = np.exp(rng.normal(2, 1, n_docs)).astype(int)
        other, category = rng.uniform(-1, 1, n_docs).round(1), rng.integers(0, 5, n_docs)
        worth = useful + halves + 0.2 * np.log1p(counts) + (category == 2) + 0.4 * rng.normal(size=n_docs)
        labels = np.digitize(worth, [1.0, 2.2])
        if query == first_query + 4:
            labels[:] = 1  # a query that asks for no order
        for doc in range(n_docs):
            absent = rng.random() < 0.1
            values = [useful[doc], halves[doc], 1, counts[doc], "nan" if absent else other[doc], category[doc]]
            features = " ".join(f"{index}:{value}" for index, value in enumerate(values, start=1))
            label = "nan" if rng.random() < 0.05 else labels[doc]  # some are unjudged
            lines.append(f"{label} qid:{query} {features}\n")
    return "".join(lines)


def record_models() -> None:
    shutil.rmtree(MODELS, ignore_errors=True)
    MODELS.mkdir()
    scores = {}
    for name, case in CASES.items():
        path = MODELS / f"{name}.rw"
        train(case).save(path)
        scores[name] = rw.load(path).predict(scored_data()).tolist()
    SCORES.write_text(a_line_each(scores) + "\n")


def record_trained() -> None:
    shutil.rmtree(TRAINED, ignore_errors=True)
    TRAINED.mkdir()
    for name, case in CASES.items():
        train(case).save(TRAINED / f"{name}.rw")


def record_checkpoints() -> None:
    shutil.rmtree(CHECKPOINTS, ignore_errors=True)
    for name, interrupted in INTERRUPTED.items():
        train(with_budget(interrupted, interrupted.begun), checkpoint=CHECKPOINTS / name)


def record_studies() -> None:
    for study in (FINISHED, ENDED):
        shutil.rmtree(study, ignore_errors=True)
    with TemporaryDirectory() as folder:
        printed = run_command(*random_search(FINISHED, Path(folder) / "model.rw"))
        report = run_command("tune", "--report", str(FINISHED), "--out", folder, "--json")
    found = {"random.tune": json.loads(printed), "random.report": json.loads(report), "halving.tune": halving_search()}
    for name, document in found.items():
        FOUND[name].write_text(json.dumps(without_places(document), indent=1) + "\n")
    with suppress(KeyboardInterrupt):
        halving_search(ENDED, listeners=[end_in_time])
    for study in (FINISHED, ENDED):
        change_records(study, host="recorded")
        (study / "claims.lock").unlink()


def end_in_time(progress: Any) -> None:
    if progress.done == N_BEFORE_THE_END:
        raise KeyboardInterrupt


def run_command(*arguments: str) -> str:
    """What the command prints."""
    main = "from rankwright.cli.app import main; main()"
    result = subprocess.run([sys.executable, "-c", main, *arguments], capture_output=True, text=True, check=True)
    return result.stdout


def record_public() -> None:
    with TemporaryDirectory() as folder:
        found = {
            "names": folded(describe_library()),
            "commands": describe_commands(),
            "documents": describe_documents(run_command, Path(folder)),
        }
    parts = [f"{json.dumps(part)}: {a_line_each(entries)}" for part, entries in found.items()]
    PUBLIC.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


def a_line_each(entries: Mapping[str, Any]) -> str:
    """JSON with a line for each entry: small, and its changes can be read."""
    lines = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in entries.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


PARTS: Mapping[str, Callable[[], None]] = {
    "data": record_data,
    "models": record_models,
    "trained": record_trained,
    "checkpoints": record_checkpoints,
    "studies": record_studies,
    "public": record_public,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("parts", nargs="+", choices=PARTS)
    for part in parser.parse_args().parts:
        PARTS[part]()


if __name__ == "__main__":
    main()

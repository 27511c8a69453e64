"""The two studies that were recorded: a finished one, and one interrupted while its trials were being continued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.compatibility.cases import DEFAULTS_OF_THEN
from tests.compatibility.training import HERE, TRAIN, train_data

import rankwright as rw

STUDIES = HERE / "studies"
FINISHED, ENDED = STUDIES / "random", STUDIES / "halving"
FOUND = {name: STUDIES / f"{name}.json" for name in ("random.tune", "random.report", "halving.tune")}
SPACE = STUDIES / "halving.space.json"
N_EXPERIMENTS = 6  # of the finished study
N_BEFORE_THE_END = 7  # six of the first round, and one of the second


def random_search(study: Path, model: Path) -> list[str]:
    """The command that made the finished study."""
    searched = ["--search", "max_leaves=2..5", "--search", "learning_rate=0.05..0.3:log"]
    then = {name: value for name, value in DEFAULTS_OF_THEN.items() if name != "learning_rate"} | {"debias": "none"}
    settings = [f"--set={name}={value}" for name, value in ({"n_trees": 3, "min_docs_in_leaf": 5} | then).items()]
    plan = ["--strategy", "random", "--trials", "3", "--folds", "2", "--workers", "1"]
    return ["tune", str(TRAIN), *searched, *settings, *plan, "--study", str(study), "--out", str(model), "--json"]


def halving_search(study: Path | None = None, **options: Any) -> dict[str, Any]:
    """The result of the search that was interrupted."""
    plan: dict[str, Any] = {"strategy": "halving", "trials": 3, "min_budget": 2, "eta": 2, "folds": 2}
    ranker = rw.LambdaMART(n_trees=4, min_docs_in_leaf=5, max_leaves=31, threads=1, debias="none", **DEFAULTS_OF_THEN)
    tuned = rw.tune(ranker, train_data(), space=str(SPACE), study=study, refits=False, workers=1, **plan, **options)
    return tuned.to_dict()


def records_of(study: Path) -> list[dict[str, Any]]:
    """The records of a study, those of one file after those of another."""
    texts = [path.read_text(encoding="utf-8") for path in sorted(study.glob("records/*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def change_records(study: Path, **changes: Any) -> None:
    """Change values in every record of a study."""
    for path in study.glob("records/*.jsonl"):
        records = [json.loads(line) | changes for line in path.read_text(encoding="utf-8").splitlines()]
        path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def without_places(document: dict[str, Any]) -> dict[str, Any]:
    """What a command printed, without the names of the files it wrote."""
    return {name: value for name, value in document.items() if name not in ("model", "study", "files")}

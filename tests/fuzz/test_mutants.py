"""Whatever a file holds, reading it gives something that works, or one line that names the file and the fault.

`make fuzz` tries many more mutants, each in a process that can be ended.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contracts.trained import COUNTING
from tests.fuzz.checkpoints import Checkpoints
from tests.fuzz.click_models import ClickModels
from tests.fuzz.collections import Collections
from tests.fuzz.data_files import DataFiles
from tests.fuzz.http_requests import HttpRequests
from tests.fuzz.judgment_files import JudgmentFiles
from tests.fuzz.models import Models
from tests.fuzz.specifications import Specifications
from tests.fuzz.studies import Studies
from tests.fuzz.subject import Refused, Subject, generator
from tests.fuzz.text_indexes import TextIndexes

from rankwright.catalog.rankers import RANKERS

PER_RANKER, PER_CHECKPOINT, STUDIES, CLICK_MODELS, DATA_FILES, COLLECTIONS = 300, 20, 100, 400, 120, 1500
SPECIFICATIONS, TEXT_INDEXES, JUDGMENTS = 600, 100, 210
HTTP = 30  # batches of requests
SEED = 16


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("seeds")


def judge_all(subject: Subject, seeds: Path, numbers: range, target: Path) -> int:
    """How many mutants were refused; a finding, or any other exception, fails the test."""
    n_refused = 0
    for number in numbers:
        own = target / f"{number}.rw"
        subject.make(seeds, generator(SEED, number), number, own)
        try:
            subject.judge(own)
        except Refused:
            n_refused += 1
        except Exception as error:
            error.add_note(f"mutant {number} of seed {SEED}")
            raise
    return n_refused


@pytest.mark.parametrize("name", RANKERS)
def test_model_files(name, seeds, tmp_path):
    models = Models()
    models.prepare(seeds / "models", [name])
    first = list(RANKERS).index(name)
    n_refused = judge_all(models, seeds / "models", range(first, PER_RANKER * len(RANKERS), len(RANKERS)), tmp_path)
    assert PER_RANKER / 2 < n_refused < PER_RANKER


@pytest.mark.parametrize("name", COUNTING)
def test_checkpoints(name, seeds, tmp_path):
    checkpoints = Checkpoints()
    checkpoints.prepare(seeds / "checkpoints", [name])
    first, all_of_them = 2 * COUNTING.index(name), 2 * len(COUNTING)
    for begun in (first, first + 1):  # without validation data, and with
        numbers = range(begun, PER_CHECKPOINT * all_of_them, all_of_them)
        judge_all(checkpoints, seeds / "checkpoints", numbers, tmp_path)


def test_studies(seeds, tmp_path):
    studies = Studies()
    studies.prepare(seeds / "studies")
    judge_all(studies, seeds / "studies", range(STUDIES), tmp_path)


def test_click_models(seeds, tmp_path):
    models = ClickModels()
    models.prepare(seeds / "click-models")
    models.warm_up(seeds / "click-models")
    n_refused = judge_all(models, seeds / "click-models", range(CLICK_MODELS), tmp_path)
    assert CLICK_MODELS / 2 < n_refused < CLICK_MODELS


def test_data_files(seeds, tmp_path):
    data = DataFiles()
    data.prepare(seeds / "data")
    data.warm_up(seeds / "data")
    n_refused = judge_all(data, seeds / "data", range(DATA_FILES), tmp_path)
    assert DATA_FILES / 4 < n_refused < DATA_FILES


def test_collections(seeds, tmp_path):
    collections = Collections()
    collections.prepare(seeds / "collections")
    collections.warm_up(seeds / "collections")
    n_refused = judge_all(collections, seeds / "collections", range(COLLECTIONS), tmp_path)
    assert COLLECTIONS / 10 < n_refused < COLLECTIONS


def test_specifications(seeds, tmp_path):
    specifications = Specifications()
    specifications.prepare(seeds / "specifications")
    specifications.warm_up(seeds / "specifications")
    n_refused = judge_all(specifications, seeds / "specifications", range(SPECIFICATIONS), tmp_path)
    assert SPECIFICATIONS / 10 < n_refused < SPECIFICATIONS


def test_text_indexes(seeds, tmp_path):
    indexes = TextIndexes()
    indexes.prepare(seeds / "indexes")
    n_refused = judge_all(indexes, seeds / "indexes", range(TEXT_INDEXES), tmp_path)
    assert TEXT_INDEXES / 2 < n_refused < TEXT_INDEXES


def test_files_of_judgments(seeds, tmp_path):
    files = JudgmentFiles()
    files.prepare(seeds / "judgments")
    files.warm_up(seeds / "judgments")
    n_refused = judge_all(files, seeds / "judgments", range(JUDGMENTS), tmp_path)
    assert JUDGMENTS / 4 < n_refused < JUDGMENTS


def test_requests(seeds, tmp_path, monkeypatch):
    monkeypatch.setattr("logging.root.manager.disable", 0)  # which the subject changes
    requests = HttpRequests()
    requests.prepare(seeds / "http")
    requests.warm_up(seeds / "http")
    judge_all(requests, seeds / "http", range(HTTP), tmp_path)

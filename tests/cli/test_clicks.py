"""`rankwright clicks`, `inspect LOG` and `train --pairs`."""

from __future__ import annotations

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import rankwright as rw
from rankwright.cli.app import app
from rankwright.errors import InputError, SettingError


@pytest.fixture
def files(tmp_path):
    data = rw.synthetic.web_search(8, docs_per_query=8, seed=1)
    ids = [f"d{row}" for row in range(data.n_docs)]
    data = rw.RankingDataset.from_arrays(data.features, data.labels, qid=data.qid, document_ids=ids)
    rw.write(data, tmp_path / "documents.csv")
    log = rw.clicks.simulate(data, data.features[:, 3], sessions=30, seed=0)
    lines = []
    for k, query in enumerate(log.queries):
        rows = slice(log.offsets[k], log.offsets[k + 1])
        shown = [str(log.document_ids[one]) for one in log.documents[rows]]
        positions = [place + 1 for place, click in enumerate(log.clicked[rows]) if click]
        lines.append(json.dumps({"query": str(log.query_ids[query]), "shown": shown, "clicks": positions}))
    (tmp_path / "log.jsonl").write_text("\n".join(lines))
    return tmp_path


def run(*arguments: object):
    return CliRunner().invoke(app, [str(one) for one in arguments])


def test_from_a_log_to_a_model(files):
    made = run(
        "clicks", files / "log.jsonl", "--features", files / "documents.csv", "--out", files / "train.csv", "--json"
    )
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert found["pairs"] > 10
    assert found["votes_against_shown_order"] == 1.0
    for ranker, setting in (("ranknet", "epochs=2"), ("lambdamart", "n_trees=3"), ("lambdarank", "epochs=2")):
        trained = run(
            "train", files / "train.csv", "--pairs", found["pairs_file"], "--ranker", ranker, "--set", setting,
            "--out", files / f"{ranker}.rw",
        )  # fmt: skip
        assert trained.exit_code == 0, trained.output
        assert rw.load(files / f"{ranker}.rw").name == ranker


def test_click_rates_with_positions_make_a_model_that_knows_its_bias(files):
    made = run(
        "clicks", files / "log.jsonl", "--features", files / "documents.csv", "--rates", "--out", files / "rates.csv",
        "--json",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    log = rw.clicks.read_log(files / "log.jsonl")
    assert json.loads(made.stdout)["shown"] == len(np.unique(log.documents))
    rates = rw.read(files / "rates.csv")
    assert rates.labels is not None
    assert np.nansum(rates.labels) * 30 == pytest.approx(log.n_clicks)
    trained = run("train", files / "rates.csv", "--ranker", "lambdamart", "--set", "n_trees=3", "--out", files / "m.rw")
    assert trained.exit_code == 0, trained.output
    assert rw.load(files / "m.rw").debiasing_ is not None


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--rates", "--model", "pbm"], "--rates goes with --features and --out"),
        (
            ["--model", "pbm", "--held-out", "0.0001"],
            "0 of 240 lists are held out: give a larger log or another --held-out",
        ),
    ],
)
def test_what_cannot_be_done_is_told_in_a_sentence(more, why, files):
    found = run("clicks", files / "log.jsonl", *more)
    assert isinstance(found.exception, InputError | SettingError)
    assert why in str(found.exception)


def test_models_are_fitted_saved_and_measured(files):
    found = run("clicks", files / "log.jsonl", "--model", "all", "--json")
    assert found.exit_code == 0, found.output
    assert set(json.loads(found.stdout)["models"]) == set(rw.clicks.CLICK_MODELS)
    assert run("clicks", files / "log.jsonl", "--model", "pbm", "--save", files / "pbm.rw").exit_code == 0
    assert rw.clicks.load_click_model(files / "pbm.rw").name == "pbm"


def test_inspect_tells_what_a_log_holds(files):
    found = run("inspect", files / "log.jsonl", "--json")
    assert found.exit_code == 0, found.output
    assert json.loads(found.stdout)["lists"] == 240
    assert "click rate by position" in run("inspect", files / "log.jsonl").output


def test_a_strict_reading_stops_at_the_first_fault(files):
    (files / "log.jsonl").write_text('{"query": "1", "shown": ["d0", "d1"], "clicks": [9]}\n')
    found = run("clicks", files / "log.jsonl", "--model", "pbm", "--strict")
    assert found.exit_code != 0
    assert "position 9 of 2" in str(found.exception)
    looked_at = run("inspect", files / "log.jsonl", "--strict")
    assert "position 9 of 2" in str(looked_at.exception)
    assert "goes with a click log" in str(run("inspect", files / "documents.csv", "--strict").exception)

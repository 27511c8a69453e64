"""`rankwright clicks`, `inspect LOG` and `train --pairs`."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from typer.testing import CliRunner

import rankwright as rw
from rankwright.cli.app import app
from rankwright.debiasing.held_out_orders import WorseThanShownWarning
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
        "clicks", files / "log.jsonl", "--features", files / "documents.csv", "--preferences",
        "--out", files / "train.csv", "--json",
    )  # fmt: skip
    assert made.exit_code == 0, made.output
    found = json.loads(made.stdout)
    assert found["pairs"] > 10
    assert found["held_out"]["queries"] == {"queries": 7, "metric": "ndcg@10", "values": {}, "gain": 0.0}
    assert found["votes_against_shown_order"] == 1.0
    for ranker, setting in (("ranknet", "epochs=2"), ("lambdamart", "n_trees=3"), ("lambdarank", "epochs=2")):
        trained = run(
            "train", files / "train.csv", "--pairs", found["pairs_file"], "--ranker", ranker, "--set", setting,
            "--out", files / f"{ranker}.rw",
        )  # fmt: skip
        assert trained.exit_code == 0, trained.output
        assert rw.load(files / f"{ranker}.rw").name == ranker


@pytest.mark.parametrize("way", [(), ("--rates",)])
def test_click_rates_with_positions_make_a_model_that_knows_its_bias(way, files):
    made = run(
        "clicks", files / "log.jsonl", "--features", files / "documents.csv", *way, "--out", files / "rates.csv",
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
        (["--rates", "--model", "pbm"], "--rates and --preferences go with --features and --out"),
        (
            ["--features", "documents.csv", "--out", "votes.csv", "--correct"],
            "--rule, --correct and --smoothing go with --preferences",
        ),
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


@pytest.fixture
def many(tmp_path):
    """Twenty queries whose lists follow relevance, as real engines' do, with documents known by their rows."""
    data = rw.synthetic.web_search(20, docs_per_query=8, seed=1)
    few = rw.RankingDataset.from_arrays(data.features[:, 100:], data.labels, qid=data.qid)
    rw.write(few, tmp_path / "documents.csv")
    rw.clicks.write_log(rw.clicks.simulate(few, np.asarray(few.labels), sessions=30, seed=0), tmp_path / "log.jsonl")
    return tmp_path


def test_what_ranks_worse_than_the_order_shown_is_told_before_training(many):
    arguments = "clicks", many / "log.jsonl", "--features", many / "documents.csv", "--out", many / "made.csv"
    with pytest.warns(WorseThanShownWarning, match="these preferences rank held-out lists worse than the order shown"):
        made = run(*arguments, "--preferences")
    assert made.exit_code == 0, made.output
    assert "held-out queries, by quick rankers: preferences" in made.stdout
    with pytest.warns(WorseThanShownWarning):
        found = json.loads(run(*arguments, "--preferences", "--json").stdout)["held_out"]
    for values in (found["lists"]["values"], found["queries"]["values"]):
        assert list(values) == ["preferences", "click rates", "the order shown", "a random order"]
        assert values["preferences"] < values["click rates"] < values["the order shown"]
    assert "train on click rates" in found["warnings"][0]


def test_the_first_example_of_the_help_writes_what_works(many):
    """Click rates, not preferences."""
    from rankwright.cli.clicks import EXAMPLES

    first = EXAMPLES.split("\n\n")[0].removeprefix("Example: rankwright ").split()
    names = {"log.jsonl.gz": many / "log.jsonl", "documents.parquet": many / "documents.csv"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WorseThanShownWarning)
        made = run(*(names.get(word, many / word if word.endswith(".parquet") else word) for word in first))
    assert made.exit_code == 0, made.output
    assert rw.read(many / "rates.parquet").positions is not None
    assert not list(many.glob("*.pairs"))


def test_a_log_from_a_pipe_is_read_once_for_all_that_is_asked(many):
    log = (many / "log.jsonl").read_text()
    arguments = ["clicks", "-", "--format", "jsonl", "--features", str(many / "documents.csv"), "--preferences",
                 "--correct", "--out", str(many / "made.csv"), "--model", "rank-rate", "--json"]  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", WorseThanShownWarning)
        found = json.loads(CliRunner().invoke(app, arguments, input=log).stdout)
    assert found["models"]["rank-rate"]["lists"] > 0
    assert found["held_out"]["queries"]["queries"] == 18


def test_inspect_tells_what_a_click_model_learned(files):
    assert run("clicks", files / "log.jsonl", "--model", "pbm", "--save", files / "pbm.rw").exit_code == 0
    shown = run("inspect", files / "pbm.rw")
    assert shown.exit_code == 0, shown.output
    assert "pbm: a chance of examination for each rank" in shown.stdout
    document = json.loads(run("inspect", files / "pbm.rw", "--json").stdout)
    assert document["kind"] == "click-model"
    assert document["examination"][0] == 1.0
    assert "--data goes with a ranker" in str(
        run("inspect", files / "pbm.rw", "--data", files / "documents.csv").exception
    )

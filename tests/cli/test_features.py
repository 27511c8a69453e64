"""`rankwright features`, and what models keep of texts, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.text.small_index import index_of

import rankwright as rw
from rankwright.text import FeatureSpecification

QRELS = "q1 0 a 2\nq1 0 b 1\nq1 0 d 0\nq2 0 c 1\nq2 0 a 0\nq9 0 a 1\n"


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    index_of(Path("INDEX"))
    Path("queries.tsv").write_text("q1\tred boat\nq2\tharbour\nq3\tnothing\n")
    Path("judged.qrels").write_text(QRELS)


@pytest.mark.usefixtures("texts")
def test_judged_documents_become_training_data_and_a_model(rankwright):
    command = ("features", "INDEX", "queries.tsv", "--qrels", "judged.qrels", "--out", "train.parquet")
    result = rankwright(*command, "--json")
    assert result.code == 0, result.stderr
    told = json.loads(result.stdout)
    assert (told["queries"], told["documents"], told["judged"], told["queries_left_out"]) == (2, 5, 5, 1)
    assert any("q9" in line for line in told["problems"])
    data = rw.read("train.parquet")
    assert list(data.feature_names) == told["names"]
    assert data.labels is not None
    assert data.labels.tolist() == [2, 1, 0, 1, 0]
    first = Path("train.parquet").read_bytes()
    assert rankwright(*command, "--cluster", "local", "--workers", "2").code == 0
    assert Path("train.parquet").read_bytes() == first

    how = ("--ranker", "ranksvm", "--with-statistics", "INDEX", "--terms", "5", "--out", "model.rw")
    trained = rankwright("train", "train.parquet", *how, "--json")
    assert trained.code == 0, trained.stderr
    assert json.loads(trained.stdout)["text_statistics"]["terms"] == 5
    shown = rankwright("inspect", "model.rw")
    assert "the commonest 5 terms of 4 documents" in shown.stdout
    assert "bm25 b=0.4 fields=title,body,url,* k1=0.9" in shown.stdout
    origin = rw.load("model.rw").trained_.features.origin
    assert origin is not None
    assert origin.specification.names == data.feature_names


@pytest.mark.usefixtures("texts")
def test_candidates_without_a_judgment_are_irrelevant_unless_said_otherwise(rankwright):
    common = ("features", "INDEX", "queries.tsv", "--qrels", "judged.qrels", "--candidates", "3", "--json")
    found = rankwright(*common, "--out", "a.parquet")
    assert found.code == 0, found.stderr
    data = rw.read("a.parquet")
    assert data.document_ids is not None
    assert data.labels is not None
    pairs = zip(data.qid.tolist(), data.document_ids.tolist(), strict=True)
    labels = dict(zip(pairs, data.labels.tolist(), strict=True))
    assert labels["q1", "a"] == 2
    assert labels["q1", "c"] == 0
    assert rankwright(*common, "--unjudged", "drop", "--out", "b.parquet").code == 0
    assert rw.read("b.parquet").n_docs < rw.read("a.parquet").n_docs
    assert rankwright("features", "INDEX", "queries.tsv", "--candidates", "2", "--out", "c.parquet").code == 0
    assert rw.read("c.parquet").labels is None


@pytest.mark.usefixtures("texts")
def test_specifications_are_shown_written_and_read(rankwright):
    shown = rankwright("features", "INDEX", "--show-spec", "mslr")
    assert shown.code == 0, shown.stderr
    Path("mine.toml").write_text(shown.stdout)
    result = rankwright(
        "features", "INDEX", "queries.tsv", "--qrels", "judged.qrels", "--spec", "mine.toml", "--out", "a.csv"
    )
    assert result.code == 0, result.stderr
    assert "only Parquet keeps the specification" in result.stderr
    assert rw.read("a.csv").feature_names == FeatureSpecification.from_toml(shown.stdout).names


@pytest.mark.usefixtures("texts")
def test_clicks_before_a_time(rankwright):
    Path("log.jsonl").write_text(
        '{"query": "q1", "shown": ["a", "b"], "clicks": [2], "time": "2024-01-01"}\n'
        '{"query": "q1", "shown": ["a", "b"], "clicks": [1], "time": "2024-03-01"}\n'
    )
    Path("spec.toml").write_text('[[features]]\nfamily = "clicks"\n[[features]]\nfamily = "shown"\n')
    common = (
        "features",
        "INDEX",
        "queries.tsv",
        "--qrels",
        "judged.qrels",
        "--spec",
        "spec.toml",
        "--out",
        "a.parquet",
    )
    assert rankwright(*common, "--clicks", "log.jsonl", "--at", "2024-02-01").code == 0
    assert rw.read("a.parquet").features[:2].tolist() == [[0, 1], [1, 1]]
    refused = rankwright(*common, "--clicks", "log.jsonl")
    assert refused.code == 2
    assert "before the row's time" in refused.stderr


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("queries.tsv", "--out", "f.parquet"), "give --qrels, --candidates or both"),
        (("queries.tsv", "--qrels", "judged.qrels"), "QUERIES and --out are needed"),
        (("queries.tsv", "--qrels", "judged.qrels", "--workers", "2", "--out", "f.parquet"), "--workers goes with"),
        (("queries.tsv", "--qrels", "judged.qrels", "--spec", "no.toml", "--out", "f.parquet"), "no.toml"),
        (("queries.tsv", "--candidates", "0", "--out", "f.parquet"), "candidates must be 1 or more"),
        (("queries.tsv", "--candidates", "2", "--at", "soon", "--out", "f.parquet"), "--at takes a date"),
        (
            ("queries.tsv", "--qrels", "judged.qrels", "--unjudged", "x", "--out", "f.parquet"),
            "unjudged must be one of",
        ),
        (("--show-spec", "all"), "--show-spec takes default or mslr"),
    ],
)
def test_what_cannot_be_computed_is_one_line(rankwright, arguments, message):
    result = rankwright("features", "INDEX", *arguments)
    assert result.code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not Path("f.parquet").exists()


@pytest.mark.usefixtures("texts")
def test_statistics_go_with_features_of_texts(rankwright):
    rw.write(rw.synthetic.web_search(n_queries=10, seed=0), "plain.parquet")
    result = rankwright("train", "plain.parquet", "--with-statistics", "INDEX", "--set", "n_trees=2", "--out", "m.rw")
    assert result.code == 2
    assert "does not tell how its features were made" in result.stderr
    assert not Path("m.rw").exists()
    assert "--terms goes with" in rankwright("train", "plain.parquet", "--terms", "3", "--out", "m.rw").stderr


LOG = """{"query": "q1", "hits": {"hits": [
 {"_id": "a", "fields": {"_ltrlog": [{"log": [{"name": "title", "value": 2.5}, {"name": "body"}]}]}},
 {"_id": "x", "fields": {"_ltrlog": [{"log": [{"name": "title", "value": 0.5}, {"name": "body", "value": 1}]}]}}]}}"""


@pytest.mark.usefixtures("texts")
def test_the_log_of_an_engine_is_joined_with_judgments(rankwright):
    Path("log.json").write_text(LOG)
    command = ("features", "--log", "log.json", "--qrels", "judged.qrels", "--out", "joined.csv")
    result = rankwright(*command, "--format", "elasticsearch")
    assert result.code == 0, result.stderr
    assert result.stdout.splitlines() == [
        "1 judged document with features, 1 query",
        "documents with features and no judgment: 1, first x of query q1",
        "documents with a judgment and no features: 5, first b of query q1, d of query q1, c of query q2, …",
        "feature body is absent in 1 document",
        "2 features",
    ]
    assert Path("joined.csv").read_text() == "qid,document_id,label,title,body\nq1,a,2,2.5,0\n"
    told = json.loads(rankwright(*command, "--unjudged", "zero", "--absent", "missing", "--json").stdout)
    assert (told["documents"], told["unjudged"], told["judged_without_features"]) == (2, 1, 5)
    assert Path("joined.csv").read_text().splitlines()[1:] == ["q1,a,2,2.5,", "q1,x,0,0.5,1"]
    assert "--strict: documents with features and no judgment: 1" in rankwright(*command, "--strict").stderr


@pytest.mark.usefixtures("texts")
def test_a_table_of_features_is_joined_with_judgments(rankwright):
    Path("table.csv").write_text("qid,docid,bm25\nq1,a,1.5\nq1,b,0.5\nq2,c,2\n")
    assert rankwright("features", "--log", "table.csv", "--qrels", "judged.qrels", "--out", "joined.csv").code == 0
    assert Path("joined.csv").read_text().splitlines()[1:] == ["q1,a,2,1.5", "q1,b,1,0.5", "q2,c,1,2"]


@pytest.mark.usefixtures("texts")
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--log", "log.json", "--out", "x.csv"), "--log needs --qrels and --out"),
        (("INDEX", "--log", "log.json", "--qrels", "judged.qrels", "--out", "x.csv"), "leave out the index"),
        (("INDEX", "queries.tsv", "--format", "solr", "--out", "x.csv"), "go with --log"),
        (("--qrels", "judged.qrels", "--out", "x.csv"), "INDEX is missing"),
    ],
)
def test_what_does_not_go_together_is_told(arguments, told, rankwright):
    Path("log.json").write_text(LOG)
    result = rankwright("features", *arguments)
    assert result.code == 2
    assert told in result.stderr
    assert result.stderr.count("\n") <= 2

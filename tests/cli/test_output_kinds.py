"""How existing files of each kind are recognised."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankwright as rw
from rankwright.cli.output_kinds import clicked, converted, exported, page, picture, scored
from rankwright.exchange.target_table import TARGETS

CONVERTED = {"shards": None, "target_format": None}
TEXTS = {
    "prose": "what I found out\n",
    "numbers": "0.5\n-1e-3\nnan\n",
    "svmlight": "2 qid:1 1:0.5\n0 qid:1 2:1\n",
    "csv": "qid,label,a\nq,1,0.5\n",
    "ranked": "query,document,rank,score\nq,d,1,0.5\n",
    "run": "301 Q0 d7 1 -0.9 mine\n",
    "qrels": "301 0 d7 1\n",
    "pairs": "0\t1\t1.0\t0.75\n",
    "objects": '{"query": "q", "document": 1, "score": 0.5}\n',
    "page": "<!doctype html>\n<html>",
    "svg": "<svg xmlns=",
}


def fitting(make, name, given, folder):
    """The texts that an output of that name may replace."""
    found = set()
    for kind, text in TEXTS.items():
        (folder / name).write_text(text)
        output = make(str(folder / name), given)[-1]
        if output.fits(str(folder / name)):
            found.add(kind)
    return found


@pytest.mark.parametrize(
    ("make", "name", "given", "wanted"),
    [
        (scored, "x.txt", {"style": None, "top": None}, {"numbers"}),
        (scored, "x.csv", {"style": None, "top": None}, {"ranked"}),
        (scored, "x.txt", {"style": None, "top": 3}, {"ranked"}),
        (scored, "x.jsonl", {"style": None, "top": None}, {"objects"}),
        (scored, "x.run", {"style": None, "top": None}, {"run"}),
        (scored, "x.parquet", {"style": None, "top": None}, set()),
        (converted, "x.txt", CONVERTED, {"svmlight"}),
        (converted, "x.csv", CONVERTED, {"csv", "ranked"}),
        (converted, "x.qrels", CONVERTED, {"qrels", "pairs"}),
        (converted, "x.parquet", CONVERTED, set()),
        (clicked, "x.pairs", {"rates": False}, {"pairs"}),
        (page, "x.html", {}, {"page"}),
        (picture, "x.svg", {}, {"svg"}),
    ],
)
def test_a_text_is_of_few_kinds(tmp_path, make, name, given, wanted):
    if make is clicked:  # whose preferences lie beside the documents

        def make(path, given):
            return clicked(str(Path(path).with_suffix(".csv")), given)

    assert fitting(make, name, given, tmp_path) == wanted


def test_columns_tell_tables_of_scores_from_documents(tmp_path, small_data):
    rw.write(small_data, tmp_path / "documents.parquet")
    given = {"style": None, "top": None}
    (output,) = scored(str(tmp_path / "documents.parquet"), given)
    assert not output.fits(output.path)


@pytest.fixture(scope="module")
def rankers():
    data = rw.synthetic.web_search(n_queries=20, seed=0)
    return {
        "forest": rw.LambdaMART(n_trees=3, max_leaves=4).fit(data),
        "linear": rw.RankSVM(scaling="zscore").fit(data),
    }


@pytest.mark.parametrize("name", TARGETS)
def test_every_export_may_be_written_again(tmp_path, rankers, name):
    for kind in TARGETS[name].takes:
        if kind in rankers:
            path = str(tmp_path / f"{kind}{TARGETS[name].suffix}")
            written = rw.export(rankers[kind], path, to=name, missing="never").files
            outputs = exported(path, {"to": name})
            assert {output.path for output in outputs} <= {*written}
            for output in outputs:
                assert output.fits(output.path), Path(output.path).read_bytes()[:80]
                Path(output.path).write_text(TEXTS["prose"])
                assert not output.fits(output.path)


def test_a_feature_set_that_was_filled_in_stays(tmp_path, rankers):
    path = str(tmp_path / "model.json")
    rw.export(rankers["forest"], path, to="plugin-xgboost", missing="never")
    output = exported(path, {"to": "plugin-xgboost"})[-1]
    written = Path(output.path)
    assert output.fits(output.path)
    written.write_text(written.read_text().replace("fill in: a query whose score is this feature", "title", 1))
    assert not output.fits(output.path)

"""Nothing that was public is gone or changed: names, commands and the shape of JSON documents."""

from __future__ import annotations

import json

import pytest
from tests.compatibility.differences import differences, unexplained
from tests.compatibility.public_commands import describe_commands, describe_documents
from tests.compatibility.public_names import describe_library, unfolded
from tests.compatibility.training import PUBLIC

# What changed on purpose: the beginning of the line that a test below complains with, `*` for anything, and the reason.
NO_STAND_IN = "settings are fields: a class shows its own defaults, and no stand-in for settings it does not have"
BY_SIZE = ("n_trees", "max_leaves", "min_docs_in_leaf", "learning_rate", "query_fraction", "feature_fraction")
CHANGED_ON_PURPOSE: dict[str, str] = {
    **{
        place: "settings of trees that are None go by the size of the data"
        for name in BY_SIZE
        for place in (f"names · *MART · constructor has lost or changed '[*]{name}=", f"documents · * · {name} was")
    },
    **{
        place: "settings of nets that are None go by the recipe"
        for name in ("epochs=100", "weight_decay=0.0", "weight_decay=0.01")
        for place in (
            f"names · * · constructor has lost or changed '[*]{name}'",
            f"documents · * · {name.partition('=')[0]} was",
        )
    },
    **{
        f"names · * · members · {name} is missing": NO_STAND_IN
        for name in ("warm_start", "metric", "early_stopping", "scaling", "device", "mode", "module", "optimizer")
    },
    **{f"names · * · members · {name} was": NO_STAND_IN for name in ("scaling", "select", "metric")},
    "documents · bag study · table · each · variance_change was": "no ranker's variance is 0 on these parts",
    "documents · quickstart · test · * is missing": "parts are drawn by keys: other single features are the best",
    "documents · compare folds · systems · * · against_best": "another of the two rankers is the best one now",
    "documents · quickstart · left_out is missing": "nets need no torch: no ranker is left out",
    "names · * · members · trains_beside_others was '= False'": "nets without torch train beside others",
    "names · evaluate · parameters has lost or changed 'data'": "data may be left out: labels and qid take its place",
    "commands · score · --format was": "the format of DATA, as in every command; --to says how scores are written",
    "commands · score · --from is missing": "it is --format, as in every command",
    "commands · cv · --valid is missing": "it is --valid-share: --valid is a file in other commands",
    "commands · compare · data was": "the metavar had brackets of its own",
    "commands · inspect · file was": "an index can be inspected, too: the metavar names it",
    **{
        f"commands · compare · --{option} is missing": "training and comparing rankers over folds is benchmark now"
        for option in ("folds", "rankers", "results", "select", "strategy", "trials", "cluster", "workers")
    },
    "commands · tune · --report was": "it writes a page, as in every command; --show shows a study",
    "commands · * · --per-query was": "it is a file, and the help says so",
    "commands · reproduce · experiment is missing": "several experiments may be named",
    "commands · reproduce · --data was": "data may be made in the likeness of the papers'",
    **{
        f"commands · reproduce · --{option} is missing": "an experiment is the paper's, in one of two sizes"
        for option in ("convention", "set", "threads", "labels")
    },
    "documents · reproduce · * is missing": "every experiment prints a document of the same form now",
    "names · * · parameters has lost or changed *metrics=('ndcg@5', 'ndcg@10', 'map', 'mrr')": "ndcg@10 comes first",
    "names · * · members · scales_itself is missing": "whether features are scaled elsewhere is the model's affair",
}


@pytest.fixture(scope="module")
def recorded():
    found = json.loads(PUBLIC.read_text(encoding="utf-8"))
    return found | {"names": unfolded(found["names"])}


def complaints(recorded, found, where):
    return unexplained(differences(recorded[where], found, where), CHANGED_ON_PURPOSE)


def test_names_are_as_they_were(recorded):
    assert complaints(recorded, describe_library(), "names") == []


def test_commands_are_as_they_were(recorded):
    assert complaints(recorded, describe_commands(), "commands") == []


@pytest.mark.usefixtures("experiments_here")
def test_documents_have_the_shape_they_had(recorded, rankwright, tmp_path):
    def run(*arguments):
        outcome = rankwright(*arguments)
        assert outcome.code == 0, outcome.stderr
        return outcome.stdout

    assert complaints(recorded, describe_documents(run, tmp_path), "documents") == []


class TestDifferences:
    def test_what_is_new_is_allowed(self):
        before, now = {"f": ["x", "*y=1"]}, {"f": ["x", "z=2", "*y=1", "*w=3"], "g": "attribute"}
        assert list(differences(before, now, "names")) == []

    @pytest.mark.parametrize(
        ("before", "now", "complaint"),
        [
            ({"f": "attribute"}, {}, "names · f is missing"),
            ({"f": "= 1"}, {"f": "= 2"}, "names · f was '= 1' and is '= 2'"),
            ({"f": ["x=1"]}, {"f": ["x=2"]}, "names · f has lost or changed 'x=1'"),
            ({"f": ["x"]}, {"f": ["x", "*y"]}, "names · f asks for '*y'"),
            ({"f": ["x", "y"]}, {"f": ["y", "x"]}, "names · f has ['x', 'y'] in another order: ['y', 'x']"),
        ],
    )
    def test_what_is_gone_or_changed_is_told(self, before, now, complaint):
        assert list(differences(before, now, "names")) == [complaint]

    def test_a_reason_silences_the_lines_that_begin_with_its_place(self):
        lines = ["names · f is missing", "names · g is missing"]
        assert unexplained(lines, {"names · f": "it was a mistake"}) == lines[1:]
        assert unexplained(lines, {}) == lines

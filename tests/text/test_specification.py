"""A specification is a value: it prints, parses back, and cannot hold nonsense."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.errors import RankwrightError
from rankwright.text import FeatureLine, FeatureSpecification, Field, default_specification, mslr_specification
from rankwright.text.families import FAMILIES, STATISTICS, NumberSetting
from rankwright.text.matching import MATCHED, MatchPlan
from rankwright.text.specification import read_specification

FIELDS = (
    Field("title", "text"), Field("body", "text"), Field("anchor", "text"), Field("url", "url"),
    Field("links", "links"), Field("price", "number"), Field("day", "date"),
)  # fmt: skip


def line_of(name: str, fields: tuple[str, ...] = ("title", "body"), **more: object) -> FeatureLine:
    family = FAMILIES[name]
    own = fields if family.source in ("text", "texts", "url", "number") else ()
    settings = {key: "mine" for key, one in family.settings.items() if getattr(one, "default", None) is None}
    return FeatureLine(name, own, STATISTICS if family.has_statistics else (), settings | dict(more))


@pytest.mark.parametrize("name", FAMILIES)
def test_every_family_prints_and_parses_back(name):
    spec = FeatureSpecification([line_of(name)])
    assert FeatureSpecification.from_toml(spec.to_toml()) == spec
    assert FeatureSpecification.from_dict(spec.to_dict()) == spec
    assert len(set(spec.names)) == len(spec.columns)
    assert hash(spec) == hash(FeatureSpecification.from_toml(spec.to_toml()))


@pytest.mark.parametrize("make", [default_specification, mslr_specification])
@pytest.mark.parametrize("n", range(1, len(FIELDS) + 1))
def test_specifications_of_fields_print_and_parse_back(make, n):
    spec = make(FIELDS[:n])
    assert FeatureSpecification.from_toml(spec.to_toml()) == spec


@given(st.data())
def test_lines_with_any_settings_print_and_parse_back(data):
    name = data.draw(st.sampled_from([name for name, family in FAMILIES.items() if family.source == "text"]))
    settings = {
        key: data.draw(st.floats(one.least, one.most))
        for key, one in FAMILIES[name].settings.items()
        if isinstance(one, NumberSetting)
    }
    spec = FeatureSpecification([line_of(name, ("títle", "a b", "*"), **settings)])
    assert FeatureSpecification.from_toml(spec.to_toml()) == spec


def test_the_page_on_features_has_every_family():
    page = (Path(__file__).parents[2] / "docs" / "features.md").read_text("utf-8")
    for name, family in FAMILIES.items():
        row = next((line for line in page.splitlines() if line.startswith(f"| `{name}` |")), "")
        assert row.endswith(f"| {family.about} |"), name
        assert all(f"`{setting}`" in row for setting in family.settings), name


def test_names_say_what_features_are():
    lines = [
        FeatureLine("bm25", ("title", "*"), settings={"b": 0.3}),
        FeatureLine("tf", ("body",), ("sum", "max"), log=True),
        FeatureLine("bm25f", ("title", "body"), settings={"weights": [2, 1]}),
        FeatureLine("clicks", settings={"queries": "other"}, log=True),
        FeatureLine("length", ("body",), name="how long {field} is"),
    ]
    assert FeatureSpecification(lines).names == (
        "bm25 of title (k1=1.2 b=0.3)", "bm25 of all fields (k1=1.2 b=0.3)", "log of sum of tf of body",
        "log of max of tf of body", "bm25f of title + body (k1=1.2 weights=2/1 b=0.75/0.75)",
        "log of clicks (queries=other)", "how long body is",
    )  # fmt: skip


def test_mslr_has_its_features_by_name_and_in_order():
    names = mslr_specification(FIELDS).names
    assert len(names) == 5 * 25 + 2 + 3
    assert names[:2] == ("covered query term number of body", "covered query term number of anchor")
    assert names[4] == "covered query term number of whole document"
    assert names[105] == "BM25 of body"  # MSLR's features 106 to 110
    assert names[125:] == ("number of slash in URL", "length of URL", "inlink number", "outlink number", "PageRank")
    assert len(mslr_specification(FIELDS[:1]).names) == 2 * 25


def test_the_plan_has_a_column_for_every_feature_of_words():
    spec = FeatureSpecification([line_of(name) for name in FAMILIES if FAMILIES[name].source in MATCHED])
    plan = MatchPlan.of(spec, ("title", "body"))
    assert len(plan.columns.measures) == len(spec.columns)
    assert plan.views[0] == ("title",)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ({"family": "bm52", "fields": ["title"]}, "did you mean 'bm25'"),
        ({"family": "bm25"}, "needs a list of fields"),
        ({"family": "bm25", "fields": ["title"], "k2": 1}, "unknown setting of bm25 'k2'"),
        ({"family": "bm25", "fields": ["title"], "b": 2}, "b of bm25 must lie between 0 and 1, got 2"),
        ({"family": "bm25", "fields": ["title"], "b": True}, "must lie between"),
        ({"family": "bm25", "fields": ["title"], "b": float("nan")}, "must lie between"),
        ({"family": "bm25", "fields": ["title"], "b": 10**400}, "must lie between"),
        ({"family": "bm25", "fields": ["title", "title"]}, "name 'title' twice"),
        ({"family": "bm25", "fields": [3]}, "must be a list of names"),
        ({"family": "bm25", "fields": ["title"], "statistics": ["sum"]}, "has no statistics"),
        ({"family": "tf", "fields": ["title"]}, "needs statistics"),
        ({"family": "tf", "fields": ["title"], "statistics": ["median"]}, "unknown statistic"),
        ({"family": "dirichlet", "fields": ["title"], "log": True}, "takes no log"),
        ({"family": "bm25f", "fields": ["title", "*"]}, "cannot look at '*'"),
        ({"family": "bm25f", "fields": ["title"], "weights": [1, 2]}, "a number for each of its 1 fields"),
        ({"family": "url_depth", "fields": ["*"]}, "cannot look at '*'"),
        ({"family": "page_rank", "fields": ["title"]}, "looks at no field"),
        ({"family": "clicks", "queries": "all"}, "must be 'same' or 'other' or 'any'"),
        ({"family": "function"}, "function of function must be a name"),
        ({"family": "length", "fields": ["title"], "absent": "zero"}, "absent must be"),
        ({"family": "length", "fields": ["ti,tle"]}, "a feature's name must have"),
        ({"fields": ["title"]}, "must have a family"),
        ("bm25", "must be a table"),
    ],
)
def test_what_makes_no_sense_is_one_line(line, problem):
    with pytest.raises(RankwrightError) as error:
        FeatureSpecification.from_dict({"version": 1, "features": [line]})
    assert problem in str(error.value)
    assert "\n" not in str(error.value)


def test_a_file_that_is_no_specification_is_named(tmp_path):
    for name, text in {
        "a.toml": "features = 3",
        "b.toml": "x = [",
        "c.json": "{",
        "d.toml": "version = 9\nfeatures=[]",
    }.items():
        (tmp_path / name).write_text(text)
        with pytest.raises(RankwrightError, match=name):
            read_specification(tmp_path / name)
    (tmp_path / "e.toml").write_bytes(b"\xff")
    with pytest.raises(RankwrightError, match=r"e\.toml"):
        read_specification(tmp_path / "e.toml")


def test_two_features_of_one_name_are_refused():
    with pytest.raises(RankwrightError, match="two features 'length of title'"):
        FeatureSpecification([FeatureLine("length", ("title",)), FeatureLine("length", ("title",))])

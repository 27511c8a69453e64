"""Conventions: their table, and their names."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankwright.errors import RankwrightError
from rankwright.metrics.convention import (
    CONVENTIONS,
    SUMMARIES,
    Convention,
    Empty,
    MapOver,
    PrecisionOver,
    Relevance,
    ScorePrecision,
    Short,
    Stop,
    Unjudged,
    parse_convention,
)
from rankwright.ranking.gains import DISCOUNTS, GAINS, Gain
from rankwright.ranking.order import Ties

positive = st.floats(0, 1000, exclude_min=True)
tables = st.lists(st.floats(0, 1e6), min_size=2, max_size=5).map(lambda gains: Gain.of_table(tuple(gains)))
conventions = st.builds(
    Convention,
    gain=st.one_of(st.sampled_from(list(GAINS.values())), tables),
    discount=st.sampled_from(list(DISCOUNTS.values())),
    empty=st.sampled_from(Empty),
    empty_map=st.one_of(st.none(), st.sampled_from(Empty)),
    short=st.sampled_from(Short),
    precision_over=st.sampled_from(PrecisionOver),
    map_over=st.sampled_from(MapOver),
    relevant=st.builds(Relevance, positive, st.booleans()),
    ties=st.sampled_from(Ties),
    scores=st.sampled_from(ScorePrecision),
    unjudged=st.sampled_from(Unjudged),
    stop=st.sampled_from(Stop),
    max_grade=positive,
    base=st.sampled_from(list(CONVENTIONS)),
)


@given(conventions)
def test_every_convention_prints_and_parses_back(convention):
    parsed = parse_convention(convention.name)
    assert parsed == convention
    assert parsed.name == convention.name
    assert hash(parsed) == hash(convention)


@pytest.mark.parametrize("name", CONVENTIONS)
def test_a_named_convention_prints_its_name(name):
    assert CONVENTIONS[name].name == str(parse_convention(name)) == name
    assert SUMMARIES[name]
    assert pickle.loads(pickle.dumps(CONVENTIONS[name])) == CONVENTIONS[name]


def test_no_two_named_conventions_are_the_same():
    assert len(set(CONVENTIONS.values())) == len(CONVENTIONS)
    assert SUMMARIES.keys() == CONVENTIONS.keys()


def test_a_change_is_named_beside_what_it_changes():
    convention = replace(CONVENTIONS["letor"], empty=Empty.SKIP, relevant=Relevance(2, inclusive=True))
    assert convention.name == "letor(empty=skip, relevant>=2)"
    assert Convention(empty=Empty.SKIP) == CONVENTIONS["skip-empty"]
    assert parse_convention(" letor( relevant >= 2,empty = skip )") == convention


def test_a_gain_of_ones_own_is_known_by_its_name():
    cube = Gain.of_function("cube", lambda labels: labels.astype(np.float64) ** 3)
    convention = Convention(gain=cube)
    assert convention.name == "standard(gain=cube)"
    assert parse_convention(convention.name, gains=[cube]) == convention
    with pytest.raises(RankwrightError, match="unknown gain 'cube'"):
        parse_convention(convention.name)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("leter", "did you mean 'letor'"),
        ("", "reads like"),
        ("letor(", "reads like"),
        ("letor(short)", "a rule reads like"),
        ("letor(gains=linear)", "did you mean 'gain'"),
        ("letor(gain=0/x)", "needs a number"),
        ("letor(ties=random)", "unknown ties"),
        ("letor(empty=zero, empty=one)", "is given twice"),
        ("letor(max_grade=0)", "max_grade"),
        ("letor(relevant>=0)", "label 0 cannot be relevant"),
        ("letor(relevant>=-1)", "0 or more"),
        ("letor(relevant>a)", "must read like"),
    ],
)
def test_what_cannot_be_is_refused_with_a_reason(text, message):
    with pytest.raises(RankwrightError, match=message):
        parse_convention(text)


def test_a_query_left_out_of_one_metric_is_left_out_of_all():
    assert replace(CONVENTIONS["catboost"], empty=Empty.SKIP).empty_of_map is Empty.SKIP
    assert CONVENTIONS["catboost"].empty_of_map is Empty.ZERO
    assert CONVENTIONS["lightgbm"].empty_of_map is Empty.ONE

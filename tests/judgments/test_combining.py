"""One label out of many grades: better than the mean where raters differ, the mean where nothing can be learned."""

from __future__ import annotations

import numpy as np
import pytest

import rankwright as rw
from rankwright import judgments
from rankwright.errors import InputError, UnknownNameError
from rankwright.judgments import Judgment, combine, gather
from rankwright.judgments.combining.simple_labels import majority_labels, mean_labels, median_labels


def table_of(grades: dict[str, np.ndarray]) -> judgments.Judgments:
    return gather(
        Judgment("q", f"d{row:04d}", rater, float(grade))
        for rater, own in grades.items()
        for row, grade in enumerate(own.tolist())
        if not np.isnan(grade)
    )


def three_raters(n: int = 400, seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    rng = np.random.default_rng(seed)
    truth = rng.choice(3, n, p=[0.6, 0.3, 0.1])
    careless = np.where(rng.random(n) < 0.6, rng.integers(0, 3, n), truth)
    careful = np.where(rng.random(n) < 0.1, (truth + 1) % 3, truth)
    return truth, {"careful": careful, "strict": np.maximum(truth - 1, 0), "careless": careless}


def error(labels: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean((labels - truth) ** 2)))


def test_a_model_of_raters_beats_the_mean_where_raters_differ():
    truth, grades = three_raters()
    made = combine(table_of(grades))
    assert error(made.labels, truth) < 0.75 * error(combine(table_of(grades), method="mean").labels, truth)
    assert made.raters is not None
    leniency = dict(zip(made.rater_ids.tolist(), made.raters.leniency.tolist(), strict=True))
    assert leniency["strict"] < -0.4 < leniency["careful"]
    careless = dict(zip(made.rater_ids.tolist(), made.raters.careless.tolist(), strict=True))
    assert careless["careless"] > 0.35 > careless["careful"]


@pytest.mark.parametrize("method", judgments.METHODS)
def test_labels_do_not_depend_on_the_order_of_rows(method):
    _, grades = three_raters(60)
    rows = list(table_of(grades).rows())
    shuffled = [rows[place] for place in np.random.default_rng(1).permutation(len(rows))]
    one, other = combine(gather(rows), method=method), combine(gather(shuffled), method=method)
    assert (one.labels == other.labels).all()
    assert (one.weights == other.weights).all()
    assert (one.chances == other.chances).all()
    assert (one.weights > 0).all()
    assert (one.weights <= 1).all()
    assert np.allclose(one.chances.sum(axis=1), 1)


def test_little_overlap_does_no_harm():
    """Raters who share nothing: every label is close to the only grade there is."""
    rng = np.random.default_rng(0)
    grades = {}
    for rater in range(20):
        own = np.full(100, np.nan)
        own[5 * rater : 5 * rater + 5] = rng.integers(0, 4, 5)
        grades[f"r{rater}"] = own
    given = np.nansum(np.stack(list(grades.values())), axis=0)
    made = combine(table_of(grades))
    assert made.share == 0.0  # nothing can be learned of raters
    assert made.labels.tolist() == given.tolist()
    assert made.told[0] == "too few grades overlap to learn what raters are like (0 could be held out)"


def test_where_the_mean_is_better_labels_are_drawn_to_it():
    copies = np.random.default_rng(0).integers(0, 4, 200)
    made = combine(table_of({"ann": copies, "bob": copies}))
    assert np.allclose(made.labels, copies, atol=0.05)


def a_crowd(n: int, n_raters: int, each: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """True grades of documents, and which raters graded which of them."""
    rng = np.random.default_rng(seed)
    asked = np.zeros((n_raters, n), np.bool_)
    for document in range(n):
        asked[rng.choice(n_raters, each, replace=False), document] = True
    return rng.choice(4, n), asked, rng


def by_rater(grades: np.ndarray, asked: np.ndarray) -> dict[str, np.ndarray]:
    return {f"r{rater:02d}": np.where(asked[rater], grades[rater], np.nan) for rater in range(len(asked))}


def test_copies_of_one_reading_count_once():
    truth, asked, rng = a_crowd(300, 40, 4, 0)
    grades = np.clip(np.rint(truth + rng.normal(0, 0.5, asked.shape)), 0, 3)
    grades[:16] = np.clip(np.rint(truth + rng.normal(0, 0.8, 300)), 0, 3)  # one reading, sixteen names
    made = combine(table_of(by_rater(grades, asked)))
    assert made.voice is not None
    assert made.to_dict()["one_voice"] == [f"r{rater:02d}" for rater in range(16)]
    assert "r00, r01, r02, r03, r04 and 11 more agree on 100% of what they share" in made.told[0]
    assert made.n_grades.sum() == 1200
    assert made.raters is not None
    assert (made.raters.leniency[:16] == made.raters.leniency[0]).all()
    mean = combine(table_of(by_rater(grades, asked)), method="mean")
    assert error(made.labels, truth) < 0.95 * error(mean.labels, truth)
    told = judgments.summarise_judgments(table_of(by_rater(grades, asked)))
    assert told.to_dict()["one_voice"] == made.to_dict()["one_voice"]
    assert made.told[0] in told.notes


def test_careful_raters_are_no_copies():
    truth, asked, rng = a_crowd(300, 40, 4, 1)
    grades = np.clip(np.rint(truth + rng.normal(0, 1.2, asked.shape)), 0, 3)
    grades[:16] = truth
    assert combine(table_of(by_rater(grades, asked))).voice is None


def test_few_raters_are_no_crowd_to_tell_copies_by():
    """Two careful raters may be the only ones to learn from, so that the careless third one is not believed as much."""
    rng = np.random.default_rng(0)
    truth = rng.choice(4, 400)
    careless = np.where(rng.random(400) < 0.6, rng.integers(0, 4, 400), truth)
    made = combine(table_of({"ann": truth, "bob": truth, "cy": careless}))
    assert made.voice is None
    assert error(made.labels, truth) < 0.1


def test_habits_that_no_kind_has_are_learned_from_those_who_share_them():
    """Half of the raters take the two lowest grades for each other."""
    truth, asked, rng = a_crowd(300, 60, 4, 2)
    grades = np.where(rng.random(asked.shape) < 0.1, rng.integers(0, 4, asked.shape), truth)
    grades[:20] = np.where(grades[:20] < 2, 1 - grades[:20], grades[:20])
    made = combine(table_of(by_rater(grades, asked)))
    assert made.voice is None
    assert error(made.labels, truth) < 0.25  # 0.37 where kinds answer as they are written down


def test_trusted_raters_are_the_measure():
    rng = np.random.default_rng(0)
    truth = rng.choice(4, 300, p=[0.3, 0.3, 0.2, 0.2])
    lenient = {f"m{n}": np.minimum(truth + 1, 3) for n in range(4)}  # most raters overrate
    expert = np.where(np.arange(300) < 60, truth, np.nan)
    table = table_of({**lenient, "expert": expert})
    rest = slice(60, None)
    alone, anchored = combine(table), combine(table, trusted=["expert"])
    assert error(anchored.labels[rest], truth[rest]) < 0.5 * error(alone.labels[rest], truth[rest])
    with pytest.raises(InputError, match="trusted rater 'nobody' has no judgment here"):
        combine(table, trusted=["nobody"])


def test_clicks_join_in_with_their_standard_errors():
    rng = np.random.default_rng(0)
    truth = rng.choice(3, 300)
    noisy = np.clip(truth + rng.integers(-1, 2, 300), 0, 2)
    other = np.clip(truth + rng.integers(-1, 2, 300), 0, 2)
    graded = list(table_of({"ann": noisy, "bob": other}).rows())
    rate = np.array([0.1, 0.3, 0.6])[truth]
    clicks = [
        Judgment("q", f"d{row:04d}", "clicks:pbm", float(rate[row] + rng.normal(0, 0.05)), "click", error=0.05)
        for row in range(300)
    ]
    alone, joined = combine(gather(graded)), combine(gather([*graded, *clicks]))
    assert error(joined.labels, truth) < 0.6 * error(alone.labels, truth)
    with pytest.raises(InputError, match="measurements alone say nothing of grades"):
        combine(gather(clicks))


def test_click_models_are_a_source():
    data = rw.synthetic.web_search(8, docs_per_query=8, seed=1)
    log = rw.clicks.simulate(data, data.features[:, 3], sessions=50, seed=0)
    model = rw.clicks.click_model("pbm").fit(log)
    table = judgments.judgments_of_clicks(model)
    assert [judgments.KINDS[kind] for kind in table.kinds] == ["click"]
    assert (table.errors > 0).all()
    people = gather([Judgment(str(one.query), one.document, "ann", 1.0) for one in list(table.rows())[:5]])
    both = judgments.joined_judgments(people, table)
    assert len(both) == len(people) + len(table)
    assert {one.kind for one in both.rows()} == {"person", "click"}


def test_tables_with_the_same_documents_are_joined():
    """Two thousand sorted ids, twice over: an order on which NumPy's unstable sorts of texts end the process."""
    people, model = (gather(Judgment("q", f"d{row}", rater, 1.0) for row in range(2000)) for rater in ("ann", "gpt"))
    both = judgments.joined_judgments(people, model)
    assert (len(both), both.n_pairs, len(both.document_ids)) == (4000, 2000, 2000)


def test_simple_rules_by_hand():
    counts, scale = np.array([[2.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), np.array([0.0, 1.0, 3.0])
    assert mean_labels(counts, scale)[:2].tolist() == [1.0, 0.5]
    assert median_labels(counts, scale)[:2].tolist() == [0.0, 0.5]
    assert majority_labels(counts, scale)[:2].tolist() == [0.0, 0.5]
    assert all(np.isnan(rule(counts, scale)[2]) for rule in (mean_labels, median_labels, majority_labels))


def training_data(n_queries: int = 6) -> tuple[rw.RankingDataset, judgments.Judgments]:
    data = rw.synthetic.web_search(n_queries, docs_per_query=8, seed=1)
    ids = [f"d{row}" for row in range(data.n_docs)]
    data = rw.RankingDataset.from_arrays(data.features, data.labels, qid=data.qid, document_ids=ids)
    rng = np.random.default_rng(0)
    made = [
        Judgment(str(query), name, rater, float(np.clip(label + rng.integers(-1, 2), 0, 4)))
        for query, name, label in zip(data.qid.tolist(), ids[:-1], np.asarray(data.labels).tolist(), strict=False)
        for rater in ("ann", "bob", "cy")
    ]
    return data, gather([*made, Judgment(str(data.qid[0]), "d0", "ann", other="d1"), Judgment("9", "none", "ann", 1.0)])


def test_training_takes_labels_weights_and_preferences():
    data, table = training_data()
    made = combine(table)
    assert made.n_missing_from(data) == 1
    labelled = made.labelled(data)
    assert np.isnan(np.asarray(labelled.labels)).sum() == 1  # the document that nobody judged
    gains = made.chances @ (2.0**made.scale - 1)
    row = np.asarray(labelled.document_ids).tolist().index("d3")
    own = made.document_ids[made.documents].tolist().index("d3")
    assert 2 ** float(np.asarray(labelled.labels)[row]) - 1 == pytest.approx(gains[own], rel=1e-5)
    assert labelled.document_weights is not None
    paired = made.preferences_for(data)
    pairs = paired.preferences
    assert pairs is not None
    assert (pairs.probability >= 0.5).all()
    scores = rw.LambdaMART(n_trees=5, min_docs_in_leaf=1).fit(paired).predict(paired)
    assert np.isfinite(scores).all()
    assert np.isfinite(rw.LambdaMART(n_trees=5, min_docs_in_leaf=1).fit(labelled).predict(labelled)).all()


def test_pairs_are_by_the_chance_that_one_is_better():
    _, table = training_data()
    data, _ = training_data()
    made = combine(table, method="mean")  # chances are the shares of grades
    pairs = made.preferences_for(data).preferences
    assert pairs is not None
    place_of = {name: place for place, name in enumerate(made.document_ids[made.documents].tolist())}
    names = np.asarray(data.document_ids).tolist()
    for pair in range(0, len(pairs), 17):
        better, worse = (made.chances[place_of[names[int(rows[pair])]]] for rows in (pairs.better, pairs.worse))
        ahead = sum(better[i] * worse[j] for i in range(len(better)) for j in range(i))
        behind = sum(worse[i] * better[j] for i in range(len(better)) for j in range(i))
        if {names[int(pairs.better[pair])], names[int(pairs.worse[pair])]} != {"d0", "d1"}:
            assert pairs.probability[pair] == pytest.approx(ahead / (ahead + behind), rel=1e-5)
            assert pairs.weight[pair] == pytest.approx(ahead + behind, rel=1e-5)


def test_what_cannot_be_combined_is_told():
    data, table = training_data()
    with pytest.raises(UnknownNameError, match="method to combine grades 'avarage'"):
        combine(table, method="avarage")
    with pytest.raises(InputError, match="there are no grades, only preferences"):
        combine(gather([Judgment("q", "a", "ann", other="b")]))
    many = gather([Judgment("q", f"d{n}", "ann", n / 10) for n in range(50)])
    with pytest.raises(InputError, match="there are 50 different grades, and a scale has 20 at most"):
        combine(many)
    elsewhere = combine(gather([Judgment("x", "y", "ann", 1.0)]))
    with pytest.raises(InputError, match="no document with a label is in the data"):
        elsewhere.labelled(data)
    assert str(combine(table)).startswith("36 labels from 106 grades, by ordinal")


def test_preferences_are_no_labels_which_is_told():
    made = combine(gather([Judgment("q", "a", "ann", 1.0), Judgment("q", "a", "bob", other="b")]))
    assert len(made) == made.to_dict()["preferences"] == 1
    assert made.told[0].startswith("1 preference is not in the labels")


@pytest.mark.parametrize(
    ("scale", "n_levels"), [((0, 4), 5), ((0, 19), 20), ((0, 100), 2), ((0, np.inf), 2), ((-1e18, 1e18), 2)]
)
def test_a_wide_scale_is_as_fine_as_its_grades(scale, n_levels):
    table = gather([Judgment("q", "a", "ann", 1.0), Judgment("q", "b", "bob", 2.0)])
    made = combine(table, scale=scale)
    assert len(made.scale) == n_levels
    assert made.labels == pytest.approx([1.0, 2.0])


def test_a_document_whose_grades_contradict_each_other_gets_no_label_and_is_told():
    told = [Judgment("q", "a", "ann", 1.0), Judgment("q", "a", "ann", 2.0), Judgment("q", "b", "ann", 2.0)]
    made = combine(gather(told))
    assert made.document_ids[made.documents].tolist() == ["b"]
    assert made.told[0].startswith("1 document judged twice by a rater with different grades: left out")
    assert made.to_dict()["repeats"] == {"judged twice": 0, "flipped": 1, "undecided": 1}
    with pytest.raises(InputError, match="left out, as no times tell which came last"):
        combine(gather(told[:2]))

"""Coefficients of agreement, against published examples and against each other."""

from __future__ import annotations

import numpy as np
import pytest

from rankwright.judgments import Judgment, gather, summarise_judgments
from rankwright.judgments.agreement import SharedCounts, cohen_kappa, fleiss_kappa, krippendorff_alpha
from rankwright.judgments.ratings import ratings_of

# Krippendorff (2011), "Computing Krippendorff's Alpha-Reliability", section E: four observers, twelve units.
UNITS = [
    "1,1,_,1", "2,2,3,2", "3,3,3,3", "3,3,3,3", "2,2,2,2", "1,2,3,4", "4,4,4,4", "1,1,2,1", "2,2,2,2", "_,5,5,5",
    "_,_,1,1", "_,_,3,_",
]  # fmt: skip
FLEISS = [
    [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1], [7, 7, 0, 0, 0],
    [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
]  # fmt: skip


def published():
    rows = [
        Judgment("q", f"u{unit:02d}", f"r{rater}", float(grade))
        for unit, grades in enumerate(UNITS)
        for rater, grade in enumerate(grades.split(","))
        if grade != "_"
    ]
    return gather(rows)


@pytest.mark.parametrize(("distance", "alpha"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_example(distance, alpha):
    found = krippendorff_alpha(SharedCounts.of(ratings_of(published())), distance)
    assert found.value == pytest.approx(alpha, abs=0.0006)
    assert found.n_pairs == 11
    assert found.interval.low < found.value < found.interval.high


def test_kappa_of_fleiss_example():
    counts = np.array(FLEISS, np.float64)
    found = fleiss_kappa(SharedCounts(counts, counts.sum(axis=1), np.arange(5.0)))
    assert found.value == pytest.approx(0.210, abs=0.0005)


def test_kappa_of_cohen_by_hand():
    table = np.array([[20.0, 5.0], [10.0, 15.0]])
    assert cohen_kappa(table).value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert cohen_kappa(np.diag([3.0, 4.0])).value == 1.0


def test_intervals_cover_what_they_should():
    """Two raters who are each right with chance .8: the intervals hold the α of endless data."""
    rng = np.random.default_rng(0)

    def shared(n: int) -> SharedCounts:
        truth = rng.integers(0, 3, n)
        counts = np.zeros((n, 3))
        for _ in range(2):
            given = np.where(rng.random(n) < 0.8, truth, rng.integers(0, 3, n))
            counts[np.arange(n), given] += 1
        return SharedCounts(counts, counts.sum(axis=1), np.arange(3.0))

    endless = {
        "alpha": krippendorff_alpha(shared(200_000), "nominal").value,
        "fleiss": fleiss_kappa(shared(200_000)).value,
    }
    inside = {"alpha": 0, "fleiss": 0}
    for _ in range(400):
        some = shared(200)
        for name, found in (("alpha", krippendorff_alpha(some, "nominal")), ("fleiss", fleiss_kappa(some))):
            inside[name] += found.interval.low <= endless[name] <= found.interval.high
    assert all(0.92 <= count / 400 <= 0.98 for count in inside.values()), inside


def test_a_summary_tells_who_is_strict_and_who_is_careless():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 150)
    grades = {
        "ann": truth,
        "bob": np.where(rng.random(150) < 0.1, (truth + 1) % 4, truth),
        "cy": np.maximum(truth - 1, 0),
        "dan": rng.integers(0, 4, 150),
        "eve": truth,
    }
    made = [
        Judgment("q", f"d{row}", rater, float(grade))
        for rater, own in grades.items()
        for row, grade in enumerate(own.tolist())
    ]
    found = summarise_judgments(gather([*made, Judgment("q", "d0", "fay", 1.0)]))
    verdicts = {one.rater: one.verdict for one in found.raters}
    assert verdicts["cy"] == "strict"
    assert "careless" in verdicts["dan"]
    assert verdicts["ann"] == verdicts["bob"] == ""
    assert verdicts["fay"] == "one judgment"
    assert found.n_rater_pairs == 15
    assert {pair["first"] for pair in found.rater_pairs if pair["kappa"].value == 1} == {"ann"}


def test_contradictions_are_counted():
    told = [
        Judgment("q", "a", "ann", 1.0, time=1.0),
        Judgment("q", "a", "ann", 2.0, time=2.0),  # the later one counts
        Judgment("q", "b", "ann", 1.0),
        Judgment("q", "b", "ann", 0.0),  # nobody knows which came last
        Judgment("q", "c", "ann", 1.0, time=1.0),
        Judgment("q", "c", "ann", 1.0, time=2.0),
        Judgment("q", "a", "bob", other="b"),
        Judgment("q", "b", "bob", other="a", time=3.0),
        Judgment("q", "b", "cy", other="c"),
        Judgment("q", "c", "dan", other="b"),
    ]
    found = summarise_judgments(gather(told))
    wanted = {"judged twice": 1, "flipped": 2, "undecided": 1, "preferences both ways": 2, "by one rater": 1}
    assert found.contradictions == wanted
    ratings = ratings_of(gather(told))
    assert ratings.scale[ratings.levels].tolist() == [2.0, 1.0]
    assert "no document was judged by two raters: agreement cannot be told" in found.notes
    assert str(found)


def test_one_shared_document_has_no_interval():
    found = summarise_judgments(gather([Judgment("q", "a", "ann", 1.0), Judgment("q", "a", "bob", 2.0)]))
    assert "nan" not in str(found)
    assert "1 document judged by two raters or more" in str(found)
    assert str(found.alpha["nominal"]) == "0.000"


def test_preferences_alone_have_a_summary():
    found = summarise_judgments(gather([Judgment("q", "a", "ann", other="b")]))
    assert found.counts["preferences"] == 1
    assert found.to_dict()["krippendorff_alpha"]["ordinal"]["value"] is None


def test_raters_who_copy_are_told():
    copies = [Judgment("q", f"d{n}", rater, float(n % 3)) for n in range(30) for rater in ("ann", "bob")]
    assert any("copies" in line for line in summarise_judgments(gather(copies)).notes)


def test_measurements_alone_have_a_summary():
    found = summarise_judgments(gather([Judgment("q", "a", "clicks", 0.3, "click", error=0.1)]))
    assert found.counts["click_raters"] == 1
    assert found.rater_pairs == []
    assert str(found)

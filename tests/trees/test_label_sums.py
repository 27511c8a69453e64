"""The mean label is exact: parts add up to the whole, in any order."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np

import rankwright as rw
from rankwright.trees.bins.binned import bin_dataset
from rankwright.trees.label_sums import UNIT, LabelSums, exact_sum, label_sums


def test_sums_are_exact():
    values = np.random.default_rng(0).normal(size=500) * 10.0 ** np.random.default_rng(1).integers(-30, 30, 500)
    expected = sum(map(Fraction, values.tolist()), Fraction(0))
    assert Fraction(exact_sum(values), 2**UNIT) == expected
    assert exact_sum(values[::-1].copy()) == exact_sum(values)
    assert exact_sum(np.empty(0)) == 0


def test_parts_add_up():
    data = rw.synthetic.web_search(n_queries=9, seed=1)
    weights = np.random.default_rng(0).random(data.n_docs).astype(np.float32)
    assert data.labels is not None
    labels = data.labels.copy()
    labels[::7] = np.nan
    data = replace(data, labels=labels, document_weights=weights, query_weights=np.arange(9, dtype=np.float32))
    binned = bin_dataset(data)
    for relevant in (False, True):
        parts = [
            label_sums(bin_dataset(data.take_queries(own), binned.mapper), relevant=relevant)
            for own in ([8, 0, 3], [1, 2], [4, 5, 6, 7])
        ]
        whole = label_sums(binned, relevant=relevant)
        assert sum(parts, LabelSums()) == whole
        of_rows = weights.astype(np.float64) * np.repeat(np.arange(9), data.groups.sizes)
        judged = ~np.isnan(labels)
        wanted = (labels > 0) if relevant else labels
        assert whole.mean is not None
        np.testing.assert_allclose(whole.mean, np.average(wanted[judged], weights=of_rows[judged]), rtol=1e-14)


def test_nothing_judged_has_no_mean():
    assert LabelSums().mean is None

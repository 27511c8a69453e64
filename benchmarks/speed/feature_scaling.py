"""How fast are features scaled, against the same in NumPy?"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from benchmarks.helpers.timing import report, time_side_by_side

from rankwright import synthetic
from rankwright.data.dataset import RankingDataset
from rankwright.features import scaling

N_QUERIES = 8400  # about a million documents
QUERIES_AT_A_TIME = 100


def sortnet_in_numpy(data: RankingDataset) -> np.ndarray:
    out = np.empty_like(data.features)
    for first in range(0, data.n_queries, QUERIES_AT_A_TIME):
        offsets = data.groups.offsets[first : first + QUERIES_AT_A_TIME + 1]
        rows, starts, sizes = slice(offsets[0], offsets[-1]), offsets[:-1] - offsets[0], np.diff(offsets)
        values = data.features[rows]
        missing = np.isnan(values)
        filled = np.where(missing, 0, values)
        known = np.add.reduceat(~missing, starts, axis=0, dtype=np.int64)
        mean = np.add.reduceat(filled.astype(np.float64), starts, axis=0) / np.maximum(known, 1)
        largest = np.maximum.reduceat(np.abs(filled), starts, axis=0)
        divisor = np.where(largest == 0, 1, largest)
        out[rows] = (values - np.repeat(mean, sizes, axis=0)) / np.repeat(divisor, sizes, axis=0)
    return out


def main() -> None:
    data = synthetic.web_search(N_QUERIES)
    fitted = {name: scaling.fit(name, data) for name in scaling.SCALINGS}
    assert np.allclose(fitted["sortnet"].apply(data).features, sortnet_in_numpy(data), atol=1e-6)
    tasks: dict[str, Callable[[], object]] = {
        "sortnet": lambda: fitted["sortnet"].apply(data),
        "sortnet, 1 thread": lambda: fitted["sortnet"].apply(data, threads=1),
        "sortnet in NumPy": lambda: sortnet_in_numpy(data),
        "query-minmax": lambda: fitted["query-minmax"].apply(data),
        "zscore, fitting": lambda: scaling.fit("zscore", data),
        "zscore": lambda: fitted["zscore"].apply(data),
        "log-counts": lambda: fitted["log-counts"].apply(data),
    }
    report("Scaling features of a million documents", time_side_by_side(tasks), "sortnet", {"data": repr(data)})


if __name__ == "__main__":
    main()

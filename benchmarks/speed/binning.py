"""How fast are raw features turned into bin codes, beside LightGBM's and XGBoost's own datasets?"""

from __future__ import annotations

import argparse

import lightgbm
import xgboost
from benchmarks.helpers.boosting import labels_of
from benchmarks.helpers.timing import report, time_side_by_side

from rankwright import synthetic
from rankwright.trees.bins.binned import bin_dataset


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--queries", type=int, default=6000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    data = synthetic.web_search(options.queries)
    labels, threads = labels_of(data), options.threads
    settings = {"num_threads": threads, "verbose": -1}
    timings = time_side_by_side(
        {
            "rankwright": lambda: bin_dataset(data, threads=threads),
            "rankwright, 63 bins": lambda: bin_dataset(data, max_bins=63, threads=threads),
            "rankwright, 1,000 bins": lambda: bin_dataset(data, max_bins=1000, threads=threads),
            "LightGBM": lambda: lightgbm.Dataset(data.features, labels, params=settings).construct(),
            "LightGBM, 63 bins": lambda: lightgbm.Dataset(
                data.features, labels, params=settings | {"max_bin": 63}
            ).construct(),
            "XGBoost": lambda: xgboost.QuantileDMatrix(data.features, labels, max_bin=256, nthread=threads),
        },
        repeats=options.repeats,
    )
    report(f"Binning {data.n_docs:,} × {data.n_features}, {threads} threads", timings, "rankwright")


if __name__ == "__main__":
    main()

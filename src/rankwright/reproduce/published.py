"""Figures that the papers print for data sets that have names, by set, ranker and metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Row = Mapping[str, float]  # by metric
Rows = Mapping[str, Row]  # by ranker


def _rows(metrics: Sequence[str], rows: Mapping[str, Sequence[float | None]]) -> dict[str, dict[str, float]]:
    return {
        name: {metric: value for metric, value in zip(metrics, values, strict=True) if value is not None}
        for name, values in rows.items()
    }


PLAIN, RANDOM = "LambdaMART", "LambdaMART with randomisation"
WITHOUT, WITH = "BL-MART without overfitting", "BL-MART with overfitting"

# The slides' tables of results.
SLIDES_TABLES: Mapping[str, Rows] = {
    "TD2004": _rows(
        ("ndcg@1", "ndcg@3", "ndcg@5", "map"),
        {
            "SVM-MAP": (0.2933, 0.3035, 0.3007, 0.2049),
            "RankSVM-Struct": (0.3467, 0.3371, 0.3192, 0.2196),
            "ListNet": (0.3600, 0.3573, 0.3325, 0.2231),
            "SmoothRank": (0.4000, 0.3832, 0.3555, 0.2326),
            "RankSVM": (0.4133, 0.3467, 0.3240, 0.2237),
            "AdaRank-MAP": (0.4133, 0.3757, 0.3602, 0.2189),
            "AdaRank-NDCG": (0.4267, 0.3688, 0.3514, 0.1936),
            "BoltzRank": (0.4767, 0.3902, 0.3635, 0.2390),
            "FRank": (0.4933, 0.3875, 0.3629, 0.2388),
            "RankBoost": (0.5067, 0.4295, 0.3878, 0.2614),
            "BagBoo": (0.5067, 0.4080, 0.3898, 0.2499),
            PLAIN: (0.4267, 0.3584, 0.3266, 0.2378),
            RANDOM: (0.4560, 0.4033, 0.3722, 0.2513),
            WITHOUT: (0.4947, 0.4217, 0.3886, 0.2649),
            WITH: (0.4947, 0.4270, 0.3948, 0.2684),
        },
    ),
    "MQ2007": _rows(
        ("ndcg@1", "ndcg@3", "mean-ndcg", "map"),
        {
            "RankSVM-Struct": (0.4096, 0.4063, 0.4966, 0.4645),
            "ListNet": (0.4002, 0.4091, 0.4988, 0.4652),
            "AdaRank-MAP": (0.3821, 0.3984, 0.4891, 0.4577),
            "AdaRank-NDCG": (0.3876, 0.4044, 0.4914, 0.4602),
            "RankBoost": (0.4134, 0.4072, 0.5003, 0.4662),
            "CRR": (None, None, 0.5000, 0.4660),
            "BagBoo": (0.4071, 0.4176, None, 0.4676),
            PLAIN: (0.4147, 0.4119, 0.5011, 0.4660),
            RANDOM: (0.4137, 0.4157, 0.5035, 0.4684),
            WITHOUT: (0.4197, 0.4217, 0.5079, 0.4726),
            WITH: (0.4200, 0.4224, 0.5093, 0.4731),
        },
    ),
    "MSLR-WEB10K": _rows(
        ("ndcg@1", "ndcg@3", "mean-ndcg", "map"),
        {
            PLAIN: (0.4580, 0.4467, 0.5693, 0.3670),
            RANDOM: (0.4628, 0.4487, 0.5706, 0.3684),
            WITHOUT: (0.4640, 0.4514, 0.5720, 0.3696),
            WITH: (0.4642, 0.4516, 0.5729, 0.3705),
        },
    ),
}

# LETOR 4.0's own baselines: means of the five test parts, by its script.
LETOR_METRICS = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "mean-ndcg")
LETOR_BASELINES: Mapping[str, Rows] = {
    "MQ2007": _rows(
        LETOR_METRICS,
        {
            "RankSVM-Struct": (0.4096, 0.4063, 0.4143, 0.4439, 0.4645, 0.4966),
            "ListNet": (0.4002, 0.4091, 0.4170, 0.4440, 0.4652, 0.4988),
            "AdaRank-MAP": (0.3821, 0.3984, 0.4070, 0.4335, 0.4577, 0.4891),
            "AdaRank-NDCG": (0.3876, 0.4044, 0.4102, 0.4369, 0.4602, 0.4914),
            "RankBoost": (0.4134, 0.4072, 0.4183, 0.4464, 0.4662, 0.5003),
        },
    ),
    "MQ2008": _rows(
        LETOR_METRICS,
        {
            "RankSVM-Struct": (0.3626, 0.4286, 0.4695, 0.2279, 0.4696, 0.4832),
            "ListNet": (0.3754, 0.4324, 0.4747, 0.2303, 0.4775, 0.4914),
            "AdaRank-MAP": (0.3754, 0.4370, 0.4794, 0.2288, 0.4764, 0.4915),
            "AdaRank-NDCG": (0.3826, 0.4420, 0.4821, 0.2307, 0.4824, 0.4950),
            "RankBoost": (0.3856, 0.4288, 0.4666, 0.2255, 0.4775, 0.4850),
        },
    ),
}

# The slides' five best configurations of each set: NDCG@3 on validation documents, then leaves, share of the rows in a
# leaf, learning rate, and the shares of queries and of features that are drawn for each tree.
SLIDES_BEST_CONFIGURATIONS: Mapping[str, Sequence[tuple[float, int, float, float, float, float]]] = {
    "TD2004": (
        (0.5120, 15, 0.0012, 0.05, 0.5, 0.1),
        (0.5110, 15, 0.0012, 0.1, 0.5, 0.5),
        (0.5107, 25, 0.0050, 0.1, 0.5, 0.5),
        (0.5082, 15, 0.0012, 0.05, 0.5, 0.1),
        (0.5057, 20, 0.0050, 0.1, 0.5, 1.0),
    ),
    "MQ2007": (
        (0.4249, 10, 0.0012, 0.05, 0.5, 0.5),
        (0.4246, 20, 0.0050, 0.05, 0.3, 0.5),
        (0.4244, 7, 0.0050, 0.1, 0.5, 0.3),
        (0.4242, 4, 0.0050, 0.1, 1.0, 0.1),
        (0.4240, 4, 0.0025, 0.05, 0.3, 0.1),
    ),
    "MSLR-WEB10K": (
        (0.4523, 70, 0.0025, 0.05, 1.0, 0.3),
        (0.4516, 70, 0.0025, 0.05, 1.0, 0.5),
        (0.4514, 70, 0.0025, 0.05, 1.0, 1.0),
        (0.4508, 40, 0.0025, 0.05, 1.0, 0.3),
        (0.4501, 40, 0.0025, 0.05, 0.5, 0.3),
    ),
}

# The slides' variance over ten samples of MSLR-WEB10K's first fold: the mean, and the variance times a million.
SLIDES_VARIANCE: Mapping[str, Mapping[str, tuple[float, float]]] = {
    PLAIN: {"ndcg@1": (0.4484, 18), "ndcg@3": (0.4395, 9.1), "mean-ndcg": (0.5640, 1.2), "map": (0.3657, 0.9)},
    RANDOM: {"ndcg@1": (0.4492, 22), "ndcg@3": (0.4421, 5.4), "mean-ndcg": (0.5647, 1.4), "map": (0.3665, 1.3)},
    WITHOUT: {"ndcg@1": (0.4516, 10), "ndcg@3": (0.4468, 7.8), "mean-ndcg": (0.5675, 1.5), "map": (0.3690, 0.9)},
    WITH: {"ndcg@1": (0.4528, 7), "ndcg@3": (0.4471, 4.4), "mean-ndcg": (0.5686, 0.8), "map": (0.3703, 0.5)},
}

# SortNet's tables, by depth 1 to 10.
DEPTHS = tuple(range(1, 11))
NDCG_AT = tuple(f"ndcg@{n}" for n in DEPTHS)
P_AT = tuple(f"p@{n}" for n in DEPTHS)


def _by_depth(ndcg: str, precision: str, average: float | None = None) -> dict[str, float]:
    """A row of a table: its NDCG and precision at depths 1 to 10 in hundredths, and MAP where it is printed."""
    values = [float(value) / 100 for value in (*ndcg.split(), *precision.split())]
    found = dict(zip((*NDCG_AT, *P_AT), values, strict=True))
    return found if average is None else found | {"map": average}


SORTNET_TABLE1: Mapping[str, Rows] = {
    "TD2003": {
        "10": _by_depth("34 36 35 33 33 33 34 34 33 34", "34 34 29 25 24 23 23 21 20 19", 0.23),
        "20": _by_depth("30 31 30 30 29 28 28 27 27 27", "30 30 27 25 22 20 19 17 16 15", 0.20),
        "30": _by_depth("36 29 29 28 27 27 28 27 27 28", "36 28 27 23 21 19 19 18 17 17", 0.21),
    },
    "TD2004": {
        "10": _by_depth("47 49 47 47 47 47 48 48 49 49", "47 45 39 37 35 33 32 30 28 27", 0.41),
        "20": _by_depth("47 54 54 52 52 53 53 54 54 55", "47 50 46 42 38 38 35 33 32 30", 0.45),
        "30": _by_depth("47 50 50 49 48 49 49 50 50 50", "47 47 42 38 35 34 32 31 28 26", 0.41),
    },
}
BY_MAP, BY_P10 = "SortNet, chosen by MAP", "SortNet, chosen by P@10"
SORTNET_TABLE2: Mapping[str, Rows] = {
    "TD2003": {
        "RankBoost": _by_depth("26 28 27 27 28 28 29 28 28 29", "26 27 24 23 22 21 21 19 18 18"),
        "RankSVM": _by_depth("42 37 38 36 35 34 34 34 34 34", "42 35 34 30 26 24 23 23 22 21"),
        "FRank": _by_depth("44 39 37 34 33 33 33 33 34 34", "44 37 32 26 23 22 21 21 20 19"),
        "ListNet": _by_depth("46 43 41 39 38 39 38 37 38 37", "46 42 36 31 29 28 26 24 23 22"),
        "AdaRank-MAP": _by_depth("42 32 29 27 24 23 22 21 20 19", "42 31 27 23 19 16 14 13 11 10"),
        "AdaRank-NDCG": _by_depth("52 41 37 35 33 31 30 29 28 27", "52 40 35 31 27 24 21 19 17 16"),
        BY_MAP: _by_depth("38 30 28 29 29 30 29 29 29 28", "38 29 25 25 24 24 21 20 18 17"),
        BY_P10: _by_depth("32 32 31 31 30 30 29 30 31 31", "32 31 29 27 25 23 21 21 20 20"),
    },
    "TD2004": {
        "RankBoost": _by_depth("48 47 46 44 44 45 46 46 46 47", "48 45 40 35 32 30 29 28 26 25"),
        "RankSVM": _by_depth("44 43 41 41 39 40 41 41 41 42", "44 41 35 33 29 27 26 25 24 23"),
        "FRank": _by_depth("44 47 45 43 44 45 46 45 46 47", "44 43 39 34 32 31 30 27 26 26"),
        "ListNet": _by_depth("44 43 44 42 42 42 43 45 46 46", "44 41 40 36 33 31 30 29 28 26"),
        "AdaRank-MAP": _by_depth("41 39 40 39 39 40 40 40 40 41", "41 35 34 30 29 28 26 24 23 22"),
        "AdaRank-NDCG": _by_depth("36 36 38 38 38 38 38 38 39 39", "36 32 33 30 28 26 24 23 22 21"),
        BY_MAP: _by_depth("48 52 53 50 50 50 49 50 51 51", "48 49 46 40 36 34 30 29 28 27"),
        BY_P10: _by_depth("43 50 47 47 46 47 47 48 48 49", "43 46 39 37 34 32 29 29 28 27"),
    },
}

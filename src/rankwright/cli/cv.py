"""`rankwright cv`: how well a ranker does on queries it was not trained on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli.options import metric_names, opt, reads_data
from rankwright.cli.output import print_json, print_shown, progress, write_per_query
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.tuning.folds import Folds

EXAMPLES = (
    "Example: rankwright cv data.txt --ranker lambdamart --folds 5 --set n_trees=100 --metrics ndcg@10,map\n\n"
    "Example: rankwright cv MQ2008 --ranker ranknet --metrics ndcg@3:letor"
)


@reads_data()
def cv(
    reading: dict[str, Any],
    data: str = shared.FOLDS_DATA,
    ranker: str = shared.RANKER,
    folds: int | None = shared.FOLDS,
    settings: list[str] | None = shared.SETTINGS,
    metrics: str | None = shared.METRICS,
    select: str | None = opt("The metric to choose steps by, such as ndcg@10."),
    valid_share: float | None = opt(
        "The share of each fold's training queries to hold back for choosing steps.", "SHARE"
    ),
    seeds: int = shared.FOLD_SEEDS,
    seed: int = opt("The seed of the folds, and the first seed of the ranker.", default=0),
    per_query: str | None = shared.PER_QUERY,
    cluster: str | None = shared.CLUSTER,
    workers: int | None = opt("How many folds to train at a time. Default: one per core."),
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Train on all folds but one and measure on that one, for each fold in turn.

    A LETOR folder has its own folds, with validation documents to choose steps by. The overall figure is the mean of
    the folds' means; its 95 % interval is that of the mean over all queries.
    """
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.metrics.evaluation import DEFAULT_METRICS
    from rankwright.tuning.cross_validation import cross_validate
    from rankwright.tuning.studies.study import announce_study

    chosen = ranker_from_text(ranker, settings or (), select=select)
    names = metric_names(metrics) or DEFAULT_METRICS
    how: dict[str, Any] = {"folds": folds or 5, "valid": valid_share, "metrics": names, "seeds": seeds, "seed": seed}
    where: dict[str, Any] = {"cluster": cluster, "workers": workers, "listeners": [announce_study]}
    with progress():
        found = cross_validate(chosen, _documents(data, folds, valid_share, format, reading), **how, **where)
    if per_query is not None:
        rows = found.per_query()
        columns = {name: [row[name] for row in rows] for name in ("query", "fold", *found.metrics)}
        write_per_query(per_query, columns, as_json=as_json)
    print_json(found.to_dict()) if as_json else print_shown(found.shown(), err=per_query == "-")


def _documents(
    data: str, folds: int | None, valid: float | None, format: str | None, reading: dict[str, Any]
) -> RankingDataset | Folds:
    from rankwright.formats.reading import has_folds, read

    if not has_folds(data):
        return read(data, format=format, **reading)
    require(folds is None and valid is None, f"{data} has folds of its own: leave out --folds and --valid-share")
    from rankwright.tuning.letor import letor_folds

    return letor_folds(data, format=format, **reading).testing

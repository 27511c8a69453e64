"""`rankwright blend`: several rankers as one model, by weights that queries they never saw have chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, given, opt, reads_data
from rankwright.cli.output import echo, print_json, print_table, progress, tell_written
from rankwright.cli.train import train_and_show
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.blending.blend import Blend

EXAMPLES = (
    'Example: rankwright blend train.txt --ranker bl-mart --ranker "ranknet epochs=20" --out blend.rw\n\n'
    "Example: rankwright blend held_out.txt --model forest.rw --model lightgbm.txt --out blend.rw"
)


@reads_data()
def blend(
    reading: dict[str, Any],
    data: str = arg("The documents to train on; with --model, judged queries that the models have not seen.", "DATA"),
    out: str = opt("The model file to write.", "OUT", default=..., writes=output_kinds.model),
    rankers: list[str] | None = opt(
        "A ranker to train, with settings after blanks; may be repeated. Default: bl-mart and ranknet.",
        "'NAME KEY=VALUE'",
        name="--ranker",
    ),
    models: list[str] | None = opt(
        "Instead: a trained model, ours or of another tool; may be repeated.", "MODEL", name="--model"
    ),
    combine: str | None = opt("mean (the default), rrf, combsum, combmnz or borda."),
    scores: str | None = opt("What makes scores comparable: z-score, rank, calibrated or min-max."),
    weights: str | None = opt("Numbers separated by commas, one a ranker. Default: learned."),
    metric: str | None = opt("The metric that weights are learned by. Default: ndcg@10."),
    folds: int | None = opt("How many folds of the queries weights are learned on. Default: 3."),
    valid: str | None = opt("With --ranker: documents to choose steps by.", "F"),
    test: str | None = shared.TEST_FILE,
    settings: list[str] | None = opt("A setting of the blend; may be repeated.", "KEY=VALUE", name="--set"),
    seed: int | None = shared.MODEL_SEED,
    threads: int | None = shared.THREADS,
    checkpoint: str | None = opt(
        "A folder to save finished trainings in; a killed run continues from them.",
        "DIR",
        writes=output_kinds.kept_folder,
    ),
    cluster: str | None = opt(
        "What trains: local (processes here), auto (Ray, started here), or the address of a Ray cluster."
    ),
    workers: int | None = opt("With --cluster: how many at a time. Default: one per core."),
    allow_empty: bool = shared.ALLOW_EMPTY,
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Blend several rankers into one model, which is scored, explained and served like any other.

    With --ranker, rankers are trained on all queries, and once without each fold of them; the scores of queries that a
    ranker has not seen tell how much it should count. With --model, trained models are joined by their scores of DATA.

    rankwright compress makes one forest of the blend, and tells what that costs.
    """
    from rankwright.catalog.settings import blend_of

    require(not (rankers and models), "--ranker trains rankers and --model takes trained ones: give one of them")
    require(cluster is not None or workers is None, "--workers goes with --cluster")
    own: dict[str, Any] = {
        "combine": combine,
        "scores": scores,
        "metric": metric,
        "folds": folds,
        "seed": seed,
        "threads": threads,
    }
    if weights is not None:
        own["weights"] = [shared.number_given(one, float, "--weights", low=0) for one in shared.separated(weights)]
    if not models:
        from rankwright.catalog.training import TrainingFiles

        chosen = blend_of(rankers or (), settings or (), **own)
        files = TrainingFiles(train=data, valid=valid, test=test, format=format, options=reading)
        where = {"checkpoint": checkpoint, "cluster": cluster, "workers": workers, "allow_empty": allow_empty}
        train_and_show(chosen, files, out, name=chosen.name, as_json=as_json, report=None, shown=(None, None), **where)
        if not as_json:
            _show(chosen)
        return
    told = "--model joins trained models: leave out --valid, --checkpoint, --cluster and --allow-empty"
    require(valid is None and checkpoint is None and cluster is None and not allow_empty, told)
    joined, measured = _joined(models, data, test, format, reading, settings or [], given(**own))
    joined.save(out)
    if as_json:
        tested = {} if measured is None else {"test": measured.to_dict()}
        print_json({"model": out, "ranker": joined.name} | joined.facts() | tested)
    else:
        _show(joined)
        if measured is not None:
            echo(f"test: {measured}")
    tell_written(out)


def _joined(
    models: list[str],
    data: str,
    test: str | None,
    format: str | None,
    reading: dict[str, Any],
    settings: list[str],
    own: dict[str, Any],
) -> tuple[Blend, Any]:
    """The blend of models in files, and what it reaches on the test documents."""
    from rankwright.blending.blend import Blend
    from rankwright.blending.blend import blend as join
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for
    from rankwright.catalog.training import evaluate_file
    from rankwright.formats.reading import DataFile
    from rankwright.settings.text import check_values, values_of

    values = values_of(settings) | own
    check_values(Blend, values, Blend.name)
    trained = [load(path) for path in models]
    widest = max(trained, key=lambda one: one.n_features_in_)
    with progress():
        joined = join(trained, read_for(widest.trained(), data, format=format, **reading), **values)
        file = None if test is None else DataFile(test, format=format, **reading)
        return joined, None if file is None else evaluate_file(joined, file, threads=joined.threads)


def _show(found: Blend) -> None:
    weights = found.facts()["weights_of_rankers"]
    rows = [[one["ranker"], f"{one['weight']:.3f}"] for one in weights]
    print_table(["ranker", "weight"], rows, numbers=["weight"])

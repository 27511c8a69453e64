"""`rankwright train`: data into a model file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rankwright.cli.options import AsJson, DataFormat
from rankwright.cli.output import print_json
from rankwright.cli.progress import training_progress
from rankwright.errors import require

if TYPE_CHECKING:
    from rankwright.metrics.evaluation import Evaluation
    from rankwright.rankers.ranker import Ranker

EXAMPLE = (
    "Example: rankwright train train.txt --valid valid.txt --ranker lambdamart --set n_trees=200 --set "
    "early_stopping=20 --out model.rw"
)


def train(
    data: Annotated[str, typer.Argument(metavar="TRAIN", help="The documents to train on.")],
    out: Annotated[str, typer.Option(metavar="MODEL", help="The model file to write.")],
    ranker: Annotated[str, typer.Option(help="Its name; `rankwright list rankers` tells which.")] = "lambdamart",
    valid: Annotated[str | None, typer.Option(metavar="F", help="Documents that choose the best model.")] = None,
    test: Annotated[str | None, typer.Option(metavar="F", help="Documents to measure the model on.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="A setting of the ranker; may be repeated.")
    ] = None,
    select: Annotated[str | None, typer.Option(help="The metric to choose by, such as ndcg@10.")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same model.")] = None,
    threads: Annotated[int | None, typer.Option(help="Default: every core.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(metavar="DIR", help="Where to save progress; a killed run goes on from it.")
    ] = None,
    initial_scores: Annotated[
        str | None,
        typer.Option(metavar="F", help="Scores to start from, a line a document of TRAIN; the model learns the rest."),
    ] = None,
    valid_initial_scores: Annotated[
        str | None, typer.Option(metavar="F", help="The same for the documents of --valid.")
    ] = None,
    format: DataFormat = None,
    as_json: AsJson = False,
) -> None:
    """Train a ranker and write its model file.

    Trees are trained without the features in memory: files may be larger than it. Ctrl-C stops early, keeps the best
    model so far and exits with 0; before the first step there is none to keep, and the exit code is 130.
    """
    train_file(
        data, out, ranker, valid, test, settings, select, seed, threads, checkpoint, format=format, as_json=as_json,
        initial_scores=initial_scores, valid_initial_scores=valid_initial_scores,
    )  # fmt: skip


def train_file(
    data: str,
    out: str,
    ranker: str,
    valid: str | None,
    test: str | None,
    settings: list[str] | None,
    select: str | None,
    seed: int | None,
    threads: int | None,
    checkpoint: str | None,
    *,
    format: str | None,
    as_json: bool,
    initial_scores: str | None = None,
    valid_initial_scores: str | None = None,
    cluster: str | None = None,
    workers: int | None = None,
) -> None:
    """Train the named ranker, on the workers of a cluster where one is named, write its model file, and tell of it."""
    from rankwright.catalog.scoring import evaluate_file
    from rankwright.catalog.settings import ranker_from_text
    from rankwright.formats.shards import file_or_shards

    require(out != "-", "a model goes to a file, not to standard output")
    chosen = ranker_from_text(ranker, settings or (), select=select, seed=seed, threads=threads)
    require(valid is not None or valid_initial_scores is None, "--valid-initial-scores goes with --valid")
    named = {"train": (data, initial_scores), "valid": (valid, valid_initial_scores), "test": (test, None)}
    with ExitStack() as spools:
        files = {
            name: spools.enter_context(file_or_shards(path, format=format, initial_scores=start).repeatable())
            for name, (path, start) in named.items()
            if path is not None
        }
        for file in files.values():
            file.check_readable()
        with training_progress() as listeners, _trained_by(chosen, cluster, workers):
            chosen.fit(files.pop("train"), valid=files.get("valid"), listeners=listeners, checkpoint=checkpoint)
        chosen.save(out)
        results = {name: evaluate_file(chosen, file, threads=threads) for name, file in files.items()}
    history: Any = chosen.history_
    if as_json:
        print_json(
            {"model": out, "ranker": ranker, "interrupted": history.interrupted, "watched": history.watched}
            | {"steps": len(history.values), "best_step": history.best_step, "best_value": history.best_value}
            | {name: result.to_dict() for name, result in results.items()}
        )
        return
    _tell(out, history, results)


@contextmanager
def _trained_by(ranker: Ranker, cluster: str | None, workers: int | None) -> Iterator[None]:
    """Have workers of `cluster` train the bags of `ranker` while the block lasts; None: threads of this process."""
    if cluster is None:
        require(workers is None, "--workers goes with --cluster")
        yield
        return
    from rankwright.bagging.bagged import Bagged
    from rankwright.cluster.engine import open_engine

    assert isinstance(ranker, Bagged)
    with open_engine(cluster, workers) as engine:
        ranker.on(engine)
        yield
        ranker.on(None)


def _tell(out: str, history: Any, results: dict[str, Evaluation]) -> None:
    if history.best_step is not None:
        which = "best" if history.chosen else "last"  # bags keep every step
        typer.echo(f"{which} {history.watched} {history.best_value:.4f} after step {history.best_step + 1}")
    for name, result in results.items():
        typer.echo(f"{name}: {result}")
    typer.echo(f"wrote {out}", err=True)

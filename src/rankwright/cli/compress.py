"""`rankwright compress`: a model file into a smaller one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, metric_names, opt, reads_data, separated
from rankwright.cli.output import echo, print_json, print_table, print_text, progress, tell_written
from rankwright.cli.reporting import check_report_option, origin, write_report

if TYPE_CHECKING:
    from rankwright.compression.curve import Compressed
    from rankwright.data.dataset import RankingDataset

EXAMPLES = (
    "Example: rankwright compress model.rw --data valid.txt --max-loss 0.002 --metric ndcg@10 --means "
    "exact,prune,distill --plot curve.svg --out small.rw"
)


@reads_data()
def compress(
    reading: dict[str, Any],
    model: str = arg("The file of a model made of trees.", "MODEL"),
    data: str = opt("Documents, ideally ones that the model was not trained on.", "F", default=...),
    out: str = opt("The model file to write.", "SMALL", default=..., writes=output_kinds.model),
    valid: str | None = opt("Documents to choose by. Default: a quarter of the queries of --data.", "F"),
    test: str | None = opt("Documents to measure the chosen model on. Default: another quarter.", "F"),
    means: str | None = opt("What to try, in this order: exact, prune, distill, net; separated by commas."),
    metric: str = opt("The metric that should be kept.", default="ndcg@10"),
    max_loss: float | None = opt("How much of the metric may be lost on the validation documents. Default: 0.002."),
    target_trees: int | None = opt("Instead of --max-loss: at most this many trees.", "N"),
    target_bytes: int | None = opt("Instead of --max-loss: a model file of at most this many bytes.", "N"),
    margin: float = opt(
        "How many standard errors of the loss to add to it before it is compared with --max-loss.", default=1.0
    ),
    settings: list[str] | None = opt(
        "A setting of the small model that learns from MODEL; may be repeated.", "KEY=VALUE", name="--set"
    ),
    curve: str | None = opt("Write a table of all models tried: .csv or .json.", "F", writes=output_kinds.curve),
    plot: str | None = opt("Draw the models tried: .svg, .png or .pdf.", "F", writes=output_kinds.picture),
    report: str | None = shared.REPORT_FILE,
    seed: int = opt("The same seed gives the same model.", default=0),
    threads: int | None = shared.THREADS,
    format: str | None = shared.DATA_FORMAT,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Make a model smaller and faster, and measure what that costs on held-out queries.

    There are four methods: exact removes branches and trees that change no score; prune keeps some of the trees and
    gives them new weights; distill and net train a small forest or a net to order pairs of documents as the model
    does.

    The smallest model within --max-loss is written, or the best one within a target.
    """
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for
    from rankwright.catalog.settings import student_from_text
    from rankwright.compression.curve import DEFAULT_MEANS
    from rankwright.compression.curve import compress as make_smaller
    from rankwright.report.drawing import draw_compression
    from rankwright.report.table_files import write_curve

    check_report_option(report, data, valid, test)
    metric_names(metric)
    student = student_from_text(settings or ())
    large = load(model).set_params(threads=threads)

    def read(path: str) -> RankingDataset:
        return read_for(large.trained(), path, format=format, **reading)

    with progress():
        given = (("valid", valid), ("test", test))
        parts: dict[str, Any] = {name: None if path is None else read(path) for name, path in given}
        goal: dict[str, Any] = {"max_loss": max_loss, "target_trees": target_trees, "target_bytes": target_bytes}
        how: dict[str, Any] = {"metric": metric, "margin": margin, "student": student, "seed": seed, "threads": threads}
        tried = DEFAULT_MEANS if means is None else separated(means)
        compressed = make_smaller(large, read(data), **parts, means=tried, **goal, **how)
    compressed.model.save(out)
    if curve is not None:
        write_curve(compressed, curve)
    if plot is not None:
        draw_compression(compressed, plot)
    print_json({"model": out} | compressed.to_dict()) if as_json else _show(compressed)
    tell_written(out, curve, plot)
    if report is not None:
        from rankwright.report.pages.result_pages import page_of_compressed

        files = {"documents": data, "validation documents": valid, "test documents": test}
        about = origin(files, {"given model": model, "chosen model": out}, seed)
        write_report(report, lambda: page_of_compressed(compressed, about, large))


def _show(compressed: Compressed) -> None:
    table = compressed.shown()
    print_table(table.columns, table.rows, numbers=table.numbers)
    mark, *facts = table.notes
    echo(f"{mark}\n")
    for fact in facts:
        print_text(fact)

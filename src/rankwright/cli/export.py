"""`rankwright export`: a model file into the format of another engine, with proof."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, arg, opt
from rankwright.cli.output import echo, print_json, tell_written
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.rankers.exported import Exported

EXAMPLES = (
    "Example: rankwright export model.rw --to onnx --verify --out model.onnx\n\n"
    "Example: rankwright export model.rw --to plugin-xgboost --lift --sample valid.txt --verify --out model.json"
)


def export(
    model: str = arg("A model file: ours, or one of LightGBM, XGBoost, CatBoost, RankLib or ONNX.", "MODEL"),
    to: str = opt("The target; `rankwright list targets` shows them.", "TARGET", default=...),
    out: str = opt(
        "The file to write; what goes with it is written beside it.", "F", default=..., writes=output_kinds.exported
    ),
    sample: str | None = opt("Documents to check the export with. Default: made-up ones on every threshold.", "DATA"),
    verify: bool = opt(
        "Run the target, or its rules where it cannot be run here; write nothing if a score differs.", default=False
    ),
    lift: bool = opt(
        "Add a constant that makes the lowest possible score 0, since Lucene refuses negative scores.", default=False
    ),
    missing: Literal["kept", "never"] = opt(
        "Whether documents may lack values: kept, or never, for targets without a rule for missing values.",
        default="kept",
    ),
    name: str | None = opt("What the model is called in the file. Default: the file's name."),
    as_json: bool = AS_JSON,
) -> None:
    """Write a model in the format of the engine that will run it, with sample documents and their expected scores.

    Trees, bags of them and compressed models go to ONNX, C, LightGBM, XGBoost, RankLib, Solr, Vespa, and the
    learning-to-rank plugins of Elasticsearch and OpenSearch; weighted sums and nets, with their scaling, to ONNX, C,
    Solr and model/linear. A model that a target cannot represent is refused, and the nearest target that can is named.

    Beside the file goes a sample of documents with their expected scores. Targets that add in float32 cannot give our
    scores to the last bit: how far rounding alone can change them is computed and printed.
    """
    from rankwright.exchange.exporting import export as write_export

    exported = write_export(model, out, to=to, sample=sample, verify=verify, lift=lift, missing=missing, name=name)
    print_json(exported.to_dict()) if as_json else _show(exported)
    tell_written(*exported.files)


def _show(exported: Exported) -> None:
    for verdict in exported.verdicts:
        echo(f"verified: {verdict}")
        if verdict.left_out:
            echo(f"  {counted(verdict.left_out, 'document was', 'documents were')} left out: see the limits below")
    echo(f"bound: scores of the sample may differ from ours by {exported.bound:.3g}, by rounding alone")
    if exported.lift:
        echo(f"lift: {exported.lift:.9g} was added to every score")
    for note in exported.notes:
        echo(f"note: {note}")
    for limit in exported.limits:
        echo(f"limit: not the same for {limit}")
    for absent in exported.absent:
        echo(f"not run: {absent}")

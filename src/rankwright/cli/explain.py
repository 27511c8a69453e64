"""`rankwright explain`: why documents rank as they do, and what features do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, DATA_FORMAT, REPORT_FILE, THREADS, arg, given, opt, reads_data, separated
from rankwright.cli.output import print_json, print_shown, progress, tell_written
from rankwright.cli.reporting import check_report_option, origin, write_report
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset

EXAMPLES = (
    "Example: rankwright explain model.rw test.txt --query 17\n\n"
    "Example: rankwright explain model.rw test.txt --query 17 --documents GX012,GX107 --plot why.png\n\n"
    "Example: rankwright explain model.rw test.txt --importance contribution"
)
OF_FEATURES = "What features do"
EACH = "each"


@reads_data(query="query_column")
def explain(
    reading: dict[str, Any],
    model: str = arg("The model file, ours or another tool's.", "MODEL"),
    data: str = arg("The documents; - is standard input.", "DATA"),
    query: str | None = opt("The query to explain; needed where DATA has several.", "Q"),
    documents: str | None = opt("Two documents of the query: why is one above the other?", "A,B"),
    top: int | None = opt("How many documents or features to show. Default: 10 documents, 12 features.", "K", min=1),
    cover: str | None = opt(
        "Forests: documents, as LightGBM counts, or curvature, as XGBoost. Not with --documents.", "COVER"
    ),
    background: str | None = opt("Documents to compare with, instead of a cover. Not with --documents.", "F"),
    plot: str | None = opt("Draw it: .svg, .png or .pdf.", "F", writes=output_kinds.picture),
    importance: str | None = opt(
        "How much features matter: contribution, permutation, or gain, count, weight.", "KIND", OF_FEATURES
    ),
    dependence: str | None = opt(
        "What a feature, by name or by number from 1, does to scores, value by value.", "FEATURE", OF_FEATURES
    ),
    ablation: list[str] | None = opt(
        "Train without these features, and test it on DATA; may be repeated. `each` leaves out each in turn.",
        "NAME=F1,F2,…",
        OF_FEATURES,
    ),
    train: str | None = opt("What --ablation trains on.", "TRAIN", OF_FEATURES),
    metric: str = opt("The metric of permutation and of ablation.", panel=OF_FEATURES, default="ndcg@10"),
    seed: int = opt("The seed of shuffles and intervals.", panel=OF_FEATURES, default=0),
    report: str | None = REPORT_FILE,
    format: str | None = DATA_FORMAT,
    as_json: bool = AS_JSON,
    threads: int | None = THREADS,
) -> None:
    """Explain a ranking: what each feature adds to scores, exactly, and what would swap two documents.

    For a query, contributions are shown less their mean over its documents: what all documents have in common moves
    none of them. For two documents, the difference is shown feature by feature, with the smallest change of one feature
    that swaps them, within what the feature is in DATA. --importance, --dependence and --ablation show what features do
    over all queries.
    """
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for
    from rankwright.explanations.feature_effects import ablation as ablate
    from rankwright.explanations.feature_effects import partial_dependence
    from rankwright.rankers.importance import feature_importance

    asked = [f"--{name}" for name in given(importance=importance, dependence=dependence, ablation=ablation)]
    require(len(asked) <= 1, f"{' and '.join(asked)} are different questions: ask one at a time")
    require(not asked or (query is None and documents is None), f"{''.join(asked)} is about all queries: leave --query")
    require((ablation is None) == (train is None), "--ablation trains on --train: give both")
    require(ablation is None or plot is None, "--ablation draws nothing: leave out --plot")
    check_report_option(report, data, background)
    with progress():
        ranker = load(model).set_params(threads=threads)

        def read(path: str) -> RankingDataset:
            return read_for(ranker.trained(), path, format=format, **reading)

        judged, shown = read(data), given(top=top)
        how: dict[str, Any] = {"seed": seed, "threads": threads}
        if importance is not None:
            found: Any = feature_importance(ranker, judged, importance, metric=metric, cover=cover, **how)
        elif dependence is not None:
            found, shown = partial_dependence(ranker, judged, dependence, **how), {}
        elif ablation is not None and train is not None:
            found, shown = ablate(ranker, read(train), judged, _groups(ablation), metric=metric, **how), {}
        else:
            known = None if background is None else read(background)
            pair = None if documents is None else separated(documents)
            found = ranker.explain(judged, query=query, documents=pair, cover=cover, background=known)
    if plot is not None:
        from rankwright.report.picture import write_picture
        from rankwright.report.specs.explanation_charts import explanation_chart

        write_picture(explanation_chart(found, **shown), plot)
        tell_written(plot)
    if as_json:
        print_json(found.to_dict(**shown) if query is not None and documents is None else found.to_dict())
    else:
        print_shown(found.table(**shown))
    if report is not None:
        from rankwright.report.pages.result_pages import page_of_explanation

        files = {"data": data, "background": background, "training documents": train}
        about = origin(files, {ranker.name: model}, seed)
        write_report(report, lambda: page_of_explanation(found, ranker, judged, about, top=top))


def _groups(texts: Sequence[str]) -> Mapping[str, Sequence[str]] | None:
    """The groups of features in the texts of `--ablation`; None where each feature is to be left out in turn."""
    if list(texts) == [EACH]:
        return None
    groups = {}
    for text in texts:
        name, sign, listed = text.partition("=")
        features = separated(listed)
        if not sign or not name or not features:
            raise SettingError(f"--ablation wants NAME=FEATURE,FEATURE… or {EACH}, got {text!r}")
        groups[name] = features
    return groups

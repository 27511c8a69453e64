"""`rankwright explain`: why documents rank as they do, and what features do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from rankwright.cli.data_options import reads_data
from rankwright.cli.options import AsJson, DataFormat, ReportFile, Threads, arg, opt
from rankwright.cli.reporting import check_asked, origin, write_asked
from rankwright.cli.talk.output import print_json, print_table, print_text, tell_written
from rankwright.cli.talk.voice import working
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.rankers.ranker import Ranker
    from rankwright.report.measured import Origin
    from rankwright.report.page.document import Page

EXAMPLES = (
    "Example: rankwright explain model.rw test.txt --query 17\n\n"
    "Example: rankwright explain model.rw test.txt --query 17 --documents GX012,GX107 --plot why.png\n\n"
    "Example: rankwright explain model.rw test.txt --importance contribution"
)
OF_FEATURES = "What features do"
EACH = "each"


@dataclass(frozen=True, slots=True)
class Subject:
    """What is explained: a ranker and documents."""

    ranker: Ranker
    documents: RankingDataset
    threads: int | None


@reads_data(hidden=("query",))
def explain(
    model: Annotated[str, arg("The model file, ours or another tool's.", "MODEL")],
    data: Annotated[str, arg("The documents; - is standard input.", "DATA")],
    query: Annotated[str | None, opt("The query to explain; needed where DATA has several.", "Q")] = None,
    documents: Annotated[str | None, opt("Two documents of the query: why is one above the other?", "A,B")] = None,
    top: Annotated[
        int | None, opt("How many documents or features to show. Default: 10 documents, 12 features.", "K", min=1)
    ] = None,
    cover: Annotated[
        str | None, opt("Forests: documents, as LightGBM counts, or curvature, as XGBoost.", "COVER")
    ] = None,
    background: Annotated[str | None, opt("Documents to compare with, instead of a cover.", "F")] = None,
    plot: Annotated[str | None, opt("Draw it: .svg, .png or .pdf.", "F")] = None,
    importance: Annotated[
        str | None,
        opt("How much features matter: contribution, permutation, or gain, count, weight.", "KIND", OF_FEATURES),
    ] = None,
    dependence: Annotated[
        str | None, opt("What a feature does to scores, value by value.", "FEATURE", OF_FEATURES)
    ] = None,
    ablation: Annotated[
        list[str] | None,
        opt(
            "Train without these features, and test it on DATA; may be repeated. `each` leaves out each in turn.",
            "NAME=F1,F2,…",
            OF_FEATURES,
        ),
    ] = None,
    train: Annotated[str | None, opt("What --ablation trains on.", "TRAIN", OF_FEATURES)] = None,
    metric: Annotated[str, opt("The metric of permutation and of ablation.", panel=OF_FEATURES)] = "ndcg@10",
    seed: Annotated[int, opt("The seed of shuffles and intervals.", panel=OF_FEATURES)] = 0,
    report: ReportFile = None,
    format: DataFormat = None,
    as_json: AsJson = False,
    threads: Threads = None,
    *,
    reading: dict[str, Any],
) -> None:
    """Explain a ranking: what each feature adds to scores, exactly, and what would swap two documents.

    For a query, contributions are shown less their mean over its documents: what all documents have in common moves
    none of them. For two documents, the difference is shown feature by feature, with the smallest change of one feature
    that swaps them. --importance, --dependence and --ablation show what features do over all queries.
    """
    from rankwright.catalog.rankers import load
    from rankwright.catalog.scoring import read_for

    asked = [name for name, value in (("--importance", importance), ("--dependence", dependence),
                                      ("--ablation", ablation)) if value is not None]  # fmt: skip
    require(len(asked) <= 1, f"{' and '.join(asked)} are different questions: ask one at a time")
    require(not asked or (query is None and documents is None), f"{''.join(asked)} is about all queries: leave --query")
    require((ablation is None) == (train is None), "--ablation trains on --train: give both")
    require(ablation is None or plot is None, "--ablation draws nothing: leave out --plot")
    _check_picture(plot)
    check_asked(report, data, background)
    with working():
        ranker = load(model).set_params(threads=threads)
        subject = Subject(ranker, read_for(ranker.trained(), data, format=format, **reading), threads)
        shown: dict[str, Any] = {} if top is None else {"top": top}
        if importance is not None:
            found: Any = _importance(subject, importance, metric, cover, seed)
        elif dependence is not None:
            found, shown = _dependence(subject, dependence, seed), {}
        elif ablation is not None:
            assert train is not None  # as was checked
            others = read_for(ranker.trained(), train, format=format, **reading)
            found, shown = _ablation(subject, ablation, others, metric, seed), {}
        else:
            known = None if background is None else read_for(ranker.trained(), background, format=format, **reading)
            pair = None if documents is None else [part.strip() for part in documents.split(",")]
            found = ranker.explain(subject.documents, query=query, documents=pair, cover=cover, background=known)
    if plot is not None:
        _draw(found, plot, shown)
    if as_json:
        print_json(found.to_dict(**shown) if query is not None and documents is None else found.to_dict())
    else:
        _show(found.table(**shown))
    about = origin({"data": data, "background": background, "training documents": train}, {ranker.name: model}, seed)
    write_asked(report, lambda: _page(found, subject, about, top))


def _page(found: Any, subject: Subject, about: Origin, top: int | None) -> Page:
    from rankwright.report.pages.explanation_page import page_of_explanation

    return page_of_explanation(found, subject.ranker, subject.documents, about, top=top)


def _check_picture(plot: str | None) -> None:
    """Raise where the picture could not be written, before anything is read."""
    if plot is not None:
        from rankwright.report.picture import picture_kind

        picture_kind(plot)


def _importance(subject: Subject, kind: str, metric: str, cover: str | None, seed: int) -> Any:
    from rankwright.rankers.importance import feature_importance

    return feature_importance(
        subject.ranker, subject.documents, kind, metric=metric, cover=cover, seed=seed, threads=subject.threads
    )


def _dependence(subject: Subject, feature: str, seed: int) -> Any:
    from rankwright.explanations.dependence import partial_dependence

    return partial_dependence(subject.ranker, subject.documents, feature, seed=seed, threads=subject.threads)


def _ablation(subject: Subject, groups: Sequence[str], train: RankingDataset, metric: str, seed: int) -> Any:
    from rankwright.explanations.ablation import ablation

    named = None if list(groups) == [EACH] else _groups(groups)
    return ablation(subject.ranker, train, subject.documents, named, metric=metric, seed=seed, threads=subject.threads)


def _groups(texts: Sequence[str]) -> Mapping[str, Sequence[str]]:
    groups = {}
    for text in texts:
        name, sign, listed = text.partition("=")
        features = [feature.strip() for feature in listed.split(",") if feature.strip()]
        if not sign or not name or not features:
            raise SettingError(f"--ablation wants NAME=FEATURE,FEATURE… or {EACH}, got {text!r}")
        groups[name] = features
    return groups


def _draw(found: Any, path: str, shown: Mapping[str, Any]) -> None:
    from rankwright.report.drawing import draw_explanation

    draw_explanation(found, path, **shown)
    tell_written(path)


def _show(table: Any) -> None:
    print_text(table.title)
    print_table(table.columns, table.rows, numbers=table.numbers)
    for note in table.notes:
        print_text(note)

"""`rankwright features`: queries and documents of an index, or the log of a search engine, into training data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from rankwright.cli import options as shared
from rankwright.cli import output_kinds
from rankwright.cli.options import arg, flag, given, opt
from rankwright.cli.output import echo, print_json, print_text, progress, tell, tell_written
from rankwright.errors import SettingError, require
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from rankwright.data.dataset import RankingDataset
    from rankwright.text.feature_rows import ChosenRows
    from rankwright.text.index.reading import Index
    from rankwright.text.specification import FeatureSpecification

EXAMPLES = (
    "Example: rankwright features INDEX queries.tsv --qrels judgments.qrels --out train.parquet\n\n"
    "Example: rankwright features INDEX queries.tsv --qrels judgments.qrels --candidates 1000 --spec features.toml "
    "--out train.parquet\n\n"
    "Example: rankwright features INDEX --show-spec default > features.toml\n\n"
    "Example: rankwright features --log responses.jsonl --format solr --qrels judgments.qrels --out train.parquet"
)
WHERE, CLICKS, LOGS = "Where features are computed", "Features of clicks", "Features that others computed"
SHOWN_SPECIFICATIONS = ("default", "mslr")


def features(
    index: str | None = arg("The index of the documents, as `rankwright index` builds it.", "INDEX", default=None),
    queries: str | None = arg("The queries: TSV, CSV, JSON lines or Parquet.", "QUERIES", default=None),
    qrels: str | None = opt(
        "Judgments, which become labels: qrels, a table, or a log of clicks. Queries without any are left out.", "F"
    ),
    candidates: int | None = opt(
        "Take so many of the best documents of each query by BM25. Default: the judged documents."
    ),
    unjudged: str | None = opt(
        "What documents without a judgment become: zero, keep (no label) or drop.", show_default="zero; drop with --log"
    ),
    spec: str | None = opt(
        "Which features: a .toml or .json file, or default or mslr. Default: default, made for the index's fields.", "F"
    ),
    show_spec: str | None = opt("Print this specification for the index's fields as TOML, and stop.", "default|mslr"),
    out: str | None = opt(
        "The file of documents to write: .parquet, which keeps the specification, or .csv, .tsv, .txt.",
        "DATA",
        writes=output_kinds.documents,
    ),
    clicks: str | None = opt("A log of shown lists and clicks with times, as JSON lines or CSV.", "F", CLICKS),
    at: str | None = opt(
        "The time of queries that have none: a date or seconds since 1970. Only earlier clicks count.", "TIME", CLICKS
    ),
    log: str | None = opt(
        "Responses of a search engine with features, as JSON or JSON lines, or any table of features with ids.",
        "F",
        LOGS,
    ),
    format: str | None = opt(
        "elasticsearch, opensearch, solr, vespa or table. Default: what the file looks like.", panel=LOGS
    ),
    asked: str | None = opt("The queries of responses that do not tell theirs, in order.", "F", LOGS, name="--queries"),
    document: str | None = opt(
        "The field that has the ids judgments know. Default: the engine's own id.", "FIELD", LOGS
    ),
    absent: str | None = opt(
        "What a feature is that the log leaves out: zero or missing.", panel=LOGS, show_default="zero"
    ),
    strict: bool = flag("--strict", "Refuse queries and judgments that cannot be used, instead of counting them."),
    cluster: str | None = opt(
        "What computes features: local (processes here), auto (Ray, started here), or the address of a Ray cluster. "
        "Default: threads.",
        "local|auto|ADDRESS",
        WHERE,
    ),
    workers: int | None = opt("With --cluster: how many at a time. Default: one per core.", panel=WHERE),
    threads: int | None = shared.THREADS,
    as_json: bool = shared.AS_JSON,
) -> None:
    """Compute features of queries and documents, as training data.

    Each query has its judged documents, or with --candidates its best documents by BM25. Which features there are says
    a specification; one that suits the index's fields is the default. A file of Parquet keeps the specification, and so
    does a model that is trained on it.

    With --log, features are those that a search engine logged beside its documents, or of any table with ids, joined
    with the judgments of --qrels; what is missing on either side is told.
    """
    from rankwright.text.index.reading import open_index

    of_logs = given(format=format, document=document, absent=absent)
    if log is not None:
        others = (index, queries, candidates, spec, show_spec, clicks, at, cluster, workers)
        require(not any(others), "--log has its features: leave out the index and what goes with it")
        if qrels is None or out is None:
            raise SettingError("--log needs --qrels and --out: the judgments, and the file to write")
        _join(log, qrels, out, asked, given(unjudged=unjudged) | of_logs, strict, as_json)
        return
    require(not of_logs and asked is None, "--format, --queries, --document and --absent go with --log")
    if index is None:
        raise SettingError("INDEX is missing: give the index of the documents, or --log")
    opened = open_index(index)
    if show_spec is not None:
        require(show_spec in SHOWN_SPECIFICATIONS, f"--show-spec takes {' or '.join(SHOWN_SPECIFICATIONS)}")
        echo(_specification(show_spec, opened).to_toml().rstrip())
        return
    if queries is None or out is None:
        raise SettingError("QUERIES and --out are needed: the queries, and the file to write")
    require(cluster is not None or workers is None, "--workers goes with --cluster")
    specification = _specification(spec or "default", opened)
    with progress():
        rows, problems = _rows(opened, queries, qrels, candidates, unjudged or "zero", at, strict, threads)
        how: dict[str, Any] = {"cluster": cluster, "workers": workers, "threads": threads}
        _write(_computed(opened, rows, specification, clicks, how), out)
    names = specification.names
    if as_json:
        counts = {"queries": len(rows.rows.query_ids), "documents": len(rows.rows.ordinals), "features": len(names)}
        print_json(counts | rows.to_dict() | {"problems": problems, "out": out, "names": list(names)})
        return
    for line in (*rows.lines(), *problems):
        print_text(line)
    echo(counted(len(names), "feature"))
    tell_written(out)


def _join(
    log: str, qrels: str, out: str, queries: str | None, how: dict[str, Any], strict: bool, as_json: bool
) -> None:
    """Join a log with judgments."""
    from rankwright.formats.file_formats import write
    from rankwright.text.collections.judged import read_judgments
    from rankwright.text.collections.queries import read_queries
    from rankwright.text.feature_logs import join_log

    with progress():
        judged = read_judgments(qrels, strict=strict)
        asked = None if queries is None else read_queries(queries, strict=strict)
        joined = join_log(log, judged, queries=asked, **how)
        if strict and (joined.without_features or joined.unjudged):
            raise SettingError(f"--strict: {joined.lines()[1]}")
        write(joined.data, out)
    problems = [*judged.problems.lines(), *([] if asked is None else asked.problems.lines())]
    if as_json:
        print_json(joined.to_dict() | {"problems": problems, "out": out, "names": list(joined.data.feature_names)})
        return
    for line in (*joined.lines(), *problems):
        print_text(line)
    echo(counted(joined.data.n_features, "feature"))
    tell_written(out)


def _specification(name: str, index: Index) -> FeatureSpecification:
    from rankwright.text.default_specification import default_specification, mslr_specification
    from rankwright.text.specification import read_specification

    made = {"default": default_specification, "mslr": mslr_specification}
    return made[name](index.fields) if name in made else read_specification(name)


def _rows(
    index: Index,
    queries: str,
    qrels: str | None,
    candidates: int | None,
    unjudged: str,
    at: str | None,
    strict: bool,
    threads: int | None,
) -> tuple[ChosenRows, list[str]]:
    """The documents of each query, and what was wrong in the files."""
    from rankwright.text.collections.field_kinds import seconds_of
    from rankwright.text.collections.judged import read_judgments
    from rankwright.text.collections.queries import read_queries
    from rankwright.text.feature_rows import choose_rows

    require(qrels is not None or candidates is not None, "give --qrels, --candidates or both")
    moment = None if at is None else seconds_of(at)
    require(at is None or moment is not None, f"--at takes a date or seconds since 1970, got {at!r}")
    asked = read_queries(queries, strict=strict)
    problems = asked.problems.lines()
    judged = None
    if qrels is not None:
        read = read_judgments(qrels, strict=strict)
        judged = read.of_known(asked, lambda ids: index.ordinals(ids) >= 0, qrels)
        problems += read.problems.lines()
    chosen = choose_rows(index, asked, judged, candidates=candidates, unjudged=unjudged, at=moment, threads=threads)
    return chosen, problems


def _computed(
    index: Index, chosen: ChosenRows, specification: FeatureSpecification, clicks: str | None, how: dict[str, Any]
) -> Iterator[RankingDataset]:
    """The features, some queries at a time: all of them may be more than memory has room for."""
    from rankwright.text.click_events import read_click_events
    from rankwright.text.features import FeatureSources, features_in_blocks

    events = None if clicks is None else read_click_events(clicks)
    return features_in_blocks(index, chosen.rows, specification, FeatureSources(events=events), **how)


def _write(data: Iterator[RankingDataset], out: str) -> None:
    from rankwright.formats.file_formats import format_of_name, write

    write(data, out)
    if format_of_name(out) != "parquet":
        tell("only Parquet keeps the specification: a model trained on this file will not know how features are made")

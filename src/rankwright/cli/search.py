"""`rankwright search`: an index asked in words, and its best documents as trained rankers order them."""

from __future__ import annotations

import os
import sys
import textwrap
from typing import TYPE_CHECKING, Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, THREADS, arg, flag, opt
from rankwright.cli.output import BOLD, PLAIN, echo, echo_escaped, print_json, print_text, progress, tell, tell_written
from rankwright.errors import SettingError, require
from rankwright.escapes import escaped_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankwright.search.session import SearchAnswer, SearchSession
    from rankwright.search.snippets import TextRun
    from rankwright.search.told import ShownList

EXAMPLES = (
    'Example: rankwright search INDEX "learning to rank"\n\n'
    'Example: rankwright search INDEX "cheap boats" --model ranker.rw --where year=1990..2000 --explain\n\n'
    "Example: rankwright search INDEX --queries queries.tsv --model ranker.rw --out ranker.run\n\n"
    "Example: rankwright search INDEX --model old.rw --model new.rw --queries queries.tsv --qrels judged.qrels --page"
)
MANY, PAGE = "Many queries", "The page"
SNIPPET_WIDTH = 78
STORE, METRIC = "judgments.db", "ndcg@10"
ONLY_QUERY = "1"  # what a run calls the query of the command line


def search(  # one check after another
    index: str = arg("The index, as `rankwright index` builds it.", "INDEX"),
    query: str | None = arg('What to search for; "words in quotes" stand together.', "QUERY", default=None),
    model: list[str] | None = opt(
        "A ranker trained on features of texts; may be repeated. A name may stand before it. Default: BM25F, all "
        "fields alike.",
        "[NAME=]MODEL",
    ),
    top: int | None = opt("How many documents to show. Default: 10, in a run 1000.", min=1),
    candidates: int = opt("How many documents of each query BM25 finds, for rankers to order.", default=1000, min=1),
    where: list[str] | None = opt(
        "Only documents with FIELD=WORDS, FIELD=NUMBER or FIELD=LOW..HIGH; may be repeated.", "FIELD=…"
    ),
    explain: bool = flag("--explain", "Say which features put each document where it is."),
    queries: str | None = opt("Search for all queries of this file: TSV, CSV, JSON lines or Parquet.", "F", MANY),
    out: str | None = opt(
        "Write what was found as a TREC run, which `evaluate --run` takes.",
        "RUN",
        MANY,
        writes=output_kinds.trec_run,
    ),
    trec: bool = flag("--trec", "Print a TREC run."),
    page: bool = flag("--page", "Open a local page to search, compare, try out and judge, until Ctrl-C.", PAGE),
    port: int | None = opt("The page's port. Default: 8377, or the next one that is free.", panel=PAGE),
    no_browser: bool = flag("--no-browser", "Print the page's address, and open no browser.", PAGE),
    judgments: str | None = opt(f"The store that judgments made on the page go to. Default: {STORE}.", "F", PAGE),
    rater: str | None = opt("Who judges. Default: your name on this machine.", "NAME", PAGE),
    qrels: str | None = opt("Judgments of --queries that were made before: qrels, a table or a click log.", "F", PAGE),
    metric: str | None = opt(f"The metric of the list of queries. Default: {METRIC}.", panel=PAGE),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Search an index by trained rankers, in the terminal or on a page to compare and judge.

    BM25 finds candidates, and the rankers order them.

    Each document is shown with its title, the part of its text that has the query's words, and its score. With
    several models, each list follows. --explain names the features that set a document apart from the others shown.

    --page serves a page on this machine alone, for whoever opens the address that is printed: lists side by side, why
    one document is above another, sliders, the list of --queries with their metric, and judging by keys.
    """
    from rankwright.search.filters import read_filters
    from rankwright.search.rankers import open_rankers
    from rankwright.search.session import SearchSession
    from rankwright.text.index.reading import open_index

    if not page:
        require(query is None or queries is None, "give a QUERY or --queries with a file of them, not both")
        require(query is not None or queries is not None, "give a QUERY, --queries with a file of them, or --page")
        of_page = (port, rater, qrels, judgments, metric)
        told = "--port, --no-browser, --rater, --qrels, --judgments and --metric go with --page"
        require(not no_browser and all(one is None for one in of_page), told)
        require(query is None or bool(query.strip()), "QUERY is empty: say what to search for")
    require(not (trec and as_json), "--trec and --json both print: give one of them")
    require(out is None or not trec, "--out writes a run and --trec prints it: give one of them")
    opened = open_index(index)
    session = SearchSession(opened, open_rankers(model or [], opened), candidates=candidates, threads=threads)
    if page:
        others = trec or as_json or explain or any(one is not None for one in (query, out, where, top))
        require(not others, "--page shows lists itself: leave out QUERY, --where, --top and what prints or writes")
        _serve(session, index, queries, qrels, judgments or STORE, rater, metric or METRIC, port, opens=not no_browser)
        return
    kept = read_filters(where or [], opened)
    if trec or out is not None:
        require(not explain, "--explain goes with lists, not with a run")
        _write_run(session, query, queries, out, top or candidates, kept, as_json=as_json)
    elif query is None:
        raise SettingError("many queries are written as a run: give --out RUN, or --trec to print it")
    else:
        _show(session, query, top or 10, kept, explain=explain, as_json=as_json)


def _show(session: SearchSession, query: str, top: int, where: dict[str, Any], *, explain: bool, as_json: bool) -> None:
    from rankwright.search.told import shown_list

    answer = session.search(query, where)
    lists = [shown_list(session, answer, name, top, explain=explain) for name in session.rankers]
    if as_json:
        print_json({"query": query, "candidates": len(answer), "lists": [one.to_dict() for one in lists]})
        return
    for place, one in enumerate(lists):
        if place:
            echo()
        _print_list(session, answer, one)


def _print_list(session: SearchSession, answer: SearchAnswer, shown: ShownList) -> None:
    from rankwright.search.told import found_line, reasons, why_text

    print_text(found_line(answer, shown, session.candidates))
    width = len(str(len(shown.documents)))
    indent = " " * (width + 2)
    for place, document in enumerate(shown.documents):
        name = "" if document.title_text == document.id else f"  [{escaped_line(document.id)}]"
        echo_escaped(f"\n{place + 1:>{width}}  {_shown(document.title)}{name}  {shown.scores[place]:.4g}")
        for line in _wrapped(document.snippet, indent):
            echo_escaped(line)
        if shown.why is not None:
            for line in textwrap.wrap(f"why: {why_text(reasons(shown.why, place))}", SNIPPET_WIDTH - len(indent)):
                echo(indent + line)


def _shown(runs: Sequence[TextRun]) -> str:
    """Runs for a terminal: the query's words are bold there, and between stars in a file."""
    before, after = (BOLD, PLAIN) if _has_colours() else ("*", "*")
    return "".join(
        f"{before}{escaped_line(run.text)}{after}" if run.is_marked else escaped_line(run.text) for run in runs
    )


def _has_colours() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def _wrapped(runs: Sequence[TextRun], indent: str) -> list[str]:
    """A snippet in lines; marks do not count towards their width."""
    words = [(word, run.is_marked) for run in runs for word in _pieces(run.text)]
    lines: list[list[tuple[str, bool]]] = [[]]
    for word, is_marked in words:
        if sum(len(one) for one, _ in lines[-1]) + len(word.rstrip()) > SNIPPET_WIDTH - len(indent) and lines[-1]:
            lines.append([])
        lines[-1].append((word, is_marked))
    from rankwright.search.snippets import TextRun

    return [indent + _shown([TextRun(word, mark) for word, mark in line]).rstrip() for line in lines if line]


def _pieces(text: str) -> list[str]:
    """Words with the blanks behind them, so that lines are cut between words."""
    pieces, at = [], 0
    for place, letter in enumerate(text):
        if letter == " ":
            pieces.append(text[at : place + 1])
            at = place + 1
    return [*pieces, text[at:]] if at < len(text) else pieces


def _write_run(
    session: SearchSession,
    query: str | None,
    queries: str | None,
    out: str | None,
    top: int,
    where: dict[str, Any],
    *,
    as_json: bool,
) -> None:
    from rankwright.formats.trec import write_run
    from rankwright.progress.stages import announce
    from rankwright.search.told import run_of
    from rankwright.text.collections.queries import Queries, read_queries

    names = list(session.rankers)
    require(len(names) == 1, f"a run is of one ranker, got {len(names)} models")
    asked = Queries([ONLY_QUERY], [query or ""]) if queries is None else read_queries(queries)
    with progress():
        found = run_of(
            session, asked, names[0], top, where, lambda done: announce("searching", done, len(asked), unit="queries")
        )
        write_run(found, out or "-", tag="-".join(names[0].split()) or "rankwright")
    for line in asked.problems.lines():
        tell(line)
    if as_json:
        print_json({"out": out, "queries": len(asked), "ranker": names[0]})
    tell_written(out)


def _serve(
    session: SearchSession,
    index: str,
    queries: str | None,
    qrels: str | None,
    store: str,
    rater: str | None,
    metric: str,
    port: int | None,
    *,
    opens: bool,
) -> None:
    """Serve the page, and say where."""
    import webbrowser

    from rankwright.cli.program import program
    from rankwright.metrics.metric_table import parse_metric
    from rankwright.search.judging import JudgingTask, check_store
    from rankwright.search.page.application import PageSettings
    from rankwright.search.page.serving import page_place, serve_page
    from rankwright.text.collections.judged import read_judgments
    from rankwright.text.collections.queries import read_queries
    from rankwright.web.server import require_server

    require_server()
    require(qrels is None or queries is not None, "--qrels judges queries: give them with --queries")
    parse_metric(metric)
    asked = None if queries is None else read_queries(queries)
    known = None
    if asked is not None and qrels is not None:
        known = read_judgments(qrels).of_known(asked, lambda ids: session.index.ordinals(ids) >= 0, qrels)
    task = JudgingTask(_user() if rater is None else rater)
    place = page_place(port)
    check_store(store)
    settings = PageSettings(
        store, task.rater, asked, known, metric, index_path=index, queries_path=queries, program=program()
    )
    tell(f"the page, until Ctrl-C: {place.first_url}")
    tell(f"judgments go to {store}")

    def open_browser() -> None:
        webbrowser.open(place.first_url)

    serve_page(session, settings, place, open_browser if opens else None)


def _user() -> str:
    """Who uses the machine."""
    from getpass import getuser

    try:
        return getuser()
    except (KeyError, OSError):
        return "me"

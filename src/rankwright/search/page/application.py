"""The page's addresses: what each shows, and who is let in."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.container.atomic import atomic_file
from rankwright.errors import FileFormatError, RankwrightError
from rankwright.search.judging import JudgedPairsOfStore, JudgingQueue, judgment_of, training_commands
from rankwright.search.measured import CONVENTION, METRIC, MeasuredQueries
from rankwright.search.page.access import TOKEN, PageAccess
from rankwright.search.page.address import PageState, options_of
from rankwright.search.page.judge_view import HERE, JudgeViews, judge_address, task_of
from rankwright.search.page.queries_view import queries_view
from rankwright.search.page.rendering import asset, fault_page, html, redirected, require_templates
from rankwright.search.page.search_view import SearchViews, facts_of
from rankwright.search.session import SearchSession
from rankwright.text.collections.judged import JudgedPairs
from rankwright.text.collections.queries import Queries
from rankwright.web.access_log import AccessLog
from rankwright.web.application import Application, Service, Shell, as_web_error
from rankwright.web.messages import Request, Response, WebError
from rankwright.web.metrics import MetricBoard
from rankwright.web.routes import Handler, Route

MOST_SUGGESTIONS = 12
WARM_LETTERS = 60
QUIET_SECONDS = 0.5  # without a request, after which nobody waits
FORM = "application/x-www-form-urlencoded"
PARTS = "x-parts"  # the header by which our script asks for the parts that change, without the frame around them


@dataclass(frozen=True, slots=True)
class PageSettings:
    """What the page is about, besides the index and the rankers."""

    store: str  # the file of judgments
    rater: str
    queries: Queries | None = None
    known: JudgedPairs | None = None  # judgments that were there before
    metric: str = METRIC
    convention: str = CONVENTION
    index_path: str = ""  # for the commands that train again
    queries_path: str | None = None
    program: str = "rankwright"  # as a shell calls it


@dataclass(slots=True, eq=False)
class SearchPage:
    """The page of a session."""

    session: SearchSession
    settings: PageSettings
    access: PageAccess
    judged: JudgedPairsOfStore = field(init=False)
    measured: MeasuredQueries | None = field(init=False, default=None)
    _known: dict[str, dict[str, float]] = field(init=False, default_factory=dict)
    _last_request: float = field(init=False, default=0.0)

    def __post_init__(self) -> None:
        require_templates()
        settings = self.settings
        self.judged = JudgedPairsOfStore(settings.store)
        if settings.known is not None:
            rows = zip(settings.known.query_ids, settings.known.document_ids, settings.known.grades, strict=True)
            for query, document, grade in rows:
                self._known.setdefault(query, {})[document] = float(grade)
        if settings.queries is not None:
            self.measured = MeasuredQueries(
                self.session, settings.queries, self.labels_of, settings.metric, settings.convention, self._is_quiet
            )
        rankers = tuple(self.session.rankers)
        self._queue = JudgingQueue(self.session, self.measured, rankers)
        self._search = SearchViews(self.session, self._labels_of_text, self.suggested)
        models = [f"{name}={one.path}" for name, one in self.session.rankers.items() if one.path]

        def commands() -> list[str]:
            queries = settings.queries_path if self._written is None else self._written
            return training_commands(
                settings.index_path, queries, settings.store, models, self.session.candidates, settings.program
            )

        self._judge = JudgeViews(self.session, self._queue, self.judged, commands)

    _queue: JudgingQueue = field(init=False)
    _search: SearchViews = field(init=False)
    _judge: JudgeViews = field(init=False)
    _beside: set[str] = field(init=False, default_factory=set)  # queries that were judged and are not in the list
    _written: str | None = field(init=False, default=None)  # the file that has them, too

    def application(self, shell: Shell | None = None) -> Application:
        """What the server runs."""
        shell = shell or Shell(access_log=AccessLog(None), board=MetricBoard(1))
        start: list[Callable[[], None]] = [self._open]
        stop: list[Callable[[], None]] = []
        if self.measured is not None:
            start.append(self.measured.start)
            stop.append(self.measured.stop)
        made = Application(Service(self.routes(), start=start, stop=stop), shell)
        shell.board.open()
        return made

    def routes(self) -> list[Route]:
        """The addresses. They are open to the shell: who may ask is told by the cookie, and in words for people."""
        return [
            Route("GET", "/", self._for_people(self.search, lets_in=True), open=True),
            Route("GET", "/queries", self._for_people(self.list_queries), open=True),
            Route("GET", HERE, self._for_people(self.judge), open=True),
            Route("POST", HERE, self._for_people(self.take_judgment, changes=True)),
            Route("POST", "/undo", self._for_people(self.undo, changes=True)),
            Route("GET", "/queries.tsv", self._for_people(self.queries_file), open=True),
            Route("GET", "/assets/{name}", self.give_asset, open=True),
            Route("GET", "/{name}", self._for_people(self.nothing), open=True),
            Route("GET", "/health", lambda _: Response(b"{}"), open=True),
        ]

    def _open(self) -> None:
        """Open the store in the process that writes to it, so that a fault is told before anybody judges."""
        self.judged.refresh()
        self._note_queries(one.query for one in self.judged.all())
        if self.session.index.n_documents:  # what a query needs of code and files is loaded before somebody asks
            (texts,) = self.session.index.stored(np.zeros(1, np.int64))
            self._search.of(PageState.of({"q": " ".join(texts.values())[:WARM_LETTERS]}, tuple(self.session.rankers)))
        gc.collect()
        gc.freeze()  # what is loaded stays: no collection goes through all of it while somebody types

    def _for_people(self, handler: Handler, *, changes: bool = False, lets_in: bool = False) -> Handler:
        """The handler for those who were let in; faults become pages."""

        def answer(request: Request) -> Response:
            self._last_request = time.monotonic()
            try:
                if lets_in and TOKEN in (options := options_of(request.query_string)):
                    return self._let_in(dict(options))
                (self.access.check_change if changes else self.access.check)(request.headers)
                found = handler(request)
                assert isinstance(found, Response)
                return found
            except RankwrightError as error:
                return fault_page(as_web_error(error))
            finally:
                self._last_request = time.monotonic()

        return answer

    def _let_in(self, options: dict[str, str]) -> Response:
        """Give a browser that knows the token its cookie, and an address without the token."""
        if not self.access.knows(options.pop(TOKEN)):
            raise WebError(HTTPStatus.UNAUTHORIZED, "the token is not that of this server: it may have been restarted")
        return redirected(PageState.of(options, tuple(self.session.rankers)).address() if options else "/",
                          (self.access.cookie_header(),))  # fmt: skip

    def _is_quiet(self) -> bool:
        return time.monotonic() - self._last_request > QUIET_SECONDS

    def labels_of(self, query: str) -> Mapping[str, float]:
        """What is known of a query's documents, by its id: what was judged here, and before that elsewhere."""
        return self._known.get(query, {}) | self.judged.labels_of(query)

    def _labels_of_text(self, text: str) -> Mapping[str, float]:
        return self.labels_of(self._queue.id_of(text))

    def suggested(self, text: str) -> list[str]:
        """Queries of the list that begin with a text, and others that have it."""
        if self.measured is None:
            return []
        wanted, texts = text.casefold(), self.measured.queries.texts
        begin = [one for one in texts if one.casefold().startswith(wanted)]
        more = [one for one in texts if wanted in one.casefold() and not one.casefold().startswith(wanted)]
        return list(dict.fromkeys([*begin, *more]))[:MOST_SUGGESTIONS]

    def search(self, request: Request) -> Response:
        """Lists of a query, side by side."""
        started = time.perf_counter()
        state = PageState.of(options_of(request.query_string), tuple(self.session.rankers))
        self.judged.refresh()
        view = self._search.of(state)
        milliseconds = (time.perf_counter() - started) * 1e3
        facts = facts_of(view) | {"filters": self._search.filters, "milliseconds": milliseconds}
        return self._page("search", request, view.state.address(), **facts)

    def list_queries(self, request: Request) -> Response:
        """The list of queries with their metric."""
        self.judged.refresh()
        options = options_of(request.query_string)
        view = None if self.measured is None else queries_view(self.measured, options, list(self.session.rankers))
        return self._page("queries", request, None, view=view)

    def judge(self, request: Request) -> Response:
        """A document to judge."""
        options = options_of(request.query_string)
        return self._judge_page(request, options)

    def _judge_page(self, request: Request, options: Mapping[str, str]) -> Response:
        task = task_of(options, self.settings.rater)
        try:
            view = self._judge.of(task, options)
        except RankwrightError as error:
            view = self._judge.failed(task, str(error))
        at = view.document
        address = judge_address(task, (at.item.query, at.item.document) if at else None)
        return self._page("judge", request, address, view=view)

    def take_judgment(self, request: Request) -> Response:
        """Write a judgment; when the answer arrives, it is on the disk."""
        form = self._form(request)
        task = task_of(form, self.settings.rater)
        judgment = judgment_of(form, task, self._queue.rankers)
        with _store_faults():
            self._note_queries([judgment.query])  # first, so that no judgment is without its query
            self.judged.add(judgment)
        return redirected(self._judge.after(task, (judgment.query, judgment.document)))

    def undo(self, request: Request) -> Response:
        """Take the judge's last judgment back, and show its document again."""
        form = self._form(request)
        task = task_of(form, self.settings.rater)
        with _store_faults():
            last = self.judged.take_back(task.rater, form.get("last", ""))
        return redirected(judge_address(task, None if last is None else (last.query, last.document)))

    @staticmethod
    def _form(request: Request) -> dict[str, str]:
        if request.kind != FORM:
            raise WebError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"a form is wanted, got {request.kind!r}")
        return options_of(request.body.decode("utf-8", "replace"))

    def queries_file(self, request: Request) -> Response:  # noqa: ARG002
        """All queries of the list, and those that were judged besides, as a file to train with."""
        self.judged.refresh()
        self._note_queries(one.query for one in self.judged.all())
        disposition = ("content-disposition", 'attachment; filename="queries.tsv"')
        return Response(self._all_queries(), 200, "text/tab-separated-values", (disposition,))

    def _all_queries(self) -> bytes:
        own = self.settings.queries
        rows = {} if own is None else dict(zip(own.ids, own.texts, strict=True))
        rows |= {name: name for name in sorted(self._beside)}
        lines = (f"{_one_cell(name)}\t{_one_cell(text)}\n" for name, text in rows.items())
        return "".join(lines).encode("utf-8", "replace")

    def _note_queries(self, names: Iterable[str]) -> None:
        """Write the file of queries anew, beside the store, where some are judged that the list does not have."""
        own = self.settings.queries
        new = set(names) - self._beside - set(() if own is None else own.ids)
        if not new:
            return
        self._beside |= new
        path = f"{Path(self.settings.store).with_suffix('')}.queries.tsv"
        with atomic_file(path) as file:
            file.write(self._all_queries())
        self._written = path

    def nothing(self, request: Request) -> Response:
        """What an address that leads nowhere shows."""
        raise WebError(HTTPStatus.NOT_FOUND, f"nothing is at {request.path!r}")

    def give_asset(self, request: Request) -> Response:
        """A style or a script."""
        found = asset(request.parts["name"])
        if found is None:
            raise WebError(HTTPStatus.NOT_FOUND, f"nothing is at {request.path!r}")
        return found

    def _page(self, name: str, request: Request, address: str | None, **values: Any) -> Response:
        """A page, or its parts where our script asks for them; `address` restores what is shown."""
        only_parts = request.headers.get(PARTS) is not None
        about: dict[str, Any] = {"tab": name, "only_parts": only_parts, "rankers": list(self.session.rankers)}
        index: dict[str, Any] = {"index": self.session.index, "candidates": self.session.candidates}
        headers = () if address is None else (("x-address", address.encode("ascii", "replace").decode()),)
        return html(f"{name}.html.j2", headers=headers, **about, **index, **values)


@contextmanager
def _store_faults() -> Iterator[None]:
    """A store that is locked or whose disk is full is our fault, which may pass: the browser keeps what it sent."""
    try:
        yield
    except (FileFormatError, OSError) as error:
        raise WebError(HTTPStatus.SERVICE_UNAVAILABLE, str(error)) from None


def _one_cell(text: str) -> str:
    return " ".join(text.split())

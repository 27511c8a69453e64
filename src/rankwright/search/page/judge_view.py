"""What the judging page shows: one document at a time, how far one is, and how far judges agree."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from rankwright.errors import RankwrightError, SettingError
from rankwright.judgments.judgment_table import Judgment
from rankwright.search.judging import (
    DEPTH,
    GRADES,
    JudgedPairsOfStore,
    JudgingQueue,
    JudgingTask,
    Pair,
    RaterAgreement,
    ToJudge,
    agreement_of,
)
from rankwright.search.session import SearchSession
from rankwright.search.snippets import Snippets, TextRun

LONGEST_SHOWN = 20_000  # characters of a field
HERE = "/judge"


@dataclass(frozen=True, slots=True)
class FieldText:
    """A field of a document, with the query's words marked."""

    name: str
    runs: Sequence[TextRun]
    is_cut: bool


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """The document to judge."""

    item: ToJudge
    title: Sequence[TextRun]
    fields: Sequence[FieldText]
    own: Judgment | None  # what this judge said before
    address: str
    skip: str

    @property
    def title_text(self) -> str:
        """The title without marks."""
        return "".join(run.text for run in self.title)


@dataclass(frozen=True, slots=True)
class JudgeView:
    """All that the page shows."""

    task: JudgingTask
    grades: Mapping[int, str]
    document: JudgedDocument | None
    n_done: int
    n_items: int | None
    n_queries: int
    counts: Mapping[str, int]
    agreement: RaterAgreement | None
    commands: Sequence[str]
    search: str  # the address of the query's lists
    fault: str = ""
    last: str = ""  # the judge's last judgment, which Undo takes back, and no other if it is sent twice

    @property
    def options(self) -> dict[str, str]:
        """What forms send along."""
        return task_options(self.task)


def task_of(options: Mapping[str, str], usual: str) -> JudgingTask:
    """The task that an address says."""
    depth = options.get("depth", str(DEPTH))
    if not depth.isdecimal():
        raise SettingError(f"the depth must be a whole number, got {depth!r}")
    return JudgingTask(
        options.get("who", "").strip() or usual,
        options.get("order", "pool"),
        int(depth),
        options.get("blind", "1") != "0",
        options.get("q", "").strip(),
    )


def task_options(task: JudgingTask) -> dict[str, str]:
    """What says the task in an address."""
    told = {"who": task.rater, "order": task.order, "depth": str(task.depth), "blind": "1" if task.is_blind else "0"}
    return told | ({"q": task.query} if task.query else {})


def judge_address(task: JudgingTask, at: Pair | None = None) -> str:
    """The address of a task, and of a document in it."""
    place = {} if at is None else {"query": at[0], "document": at[1]}
    return f"{HERE}?{urlencode(task_options(task) | place)}"


class JudgeViews:
    """Makes views of a queue and a store."""

    def __init__(
        self,
        session: SearchSession,
        queue: JudgingQueue,
        judged: JudgedPairsOfStore,
        commands: Callable[[], Sequence[str]],
    ) -> None:
        self._session, self._queue, self._judged, self._commands = session, queue, judged, commands

    def of(self, task: JudgingTask, options: Mapping[str, str]) -> JudgeView:
        """The document that the address names, or the first that the judge has not judged."""
        self._judged.refresh()
        at = (options.get("query", ""), options.get("document", ""))
        if all(at):
            item: ToJudge | None = self._queue.item(at[0], self._text_of(at[0], task), at[1])
        else:
            item = self._queue.following(task, self._judged, None)
        return self._view(task, None if item is None else self._document(task, item))

    def failed(self, task: JudgingTask, fault: str) -> JudgeView:
        """The page where there is nothing to judge, and why."""
        return self._view(task, None, fault)

    def after(self, task: JudgingTask, pair: Pair) -> str:
        """The address of what comes after a document."""
        try:
            item = self._queue.following(task, self._judged, pair)
        except RankwrightError:  # such as an order that is not known yet: its page says so, and the judgment is saved
            item = None
        return judge_address(task, None if item is None else (item.query, item.document))

    def _view(self, task: JudgingTask, document: JudgedDocument | None, fault: str = "") -> JudgeView:
        n_done, n_items = (0, None) if fault else self._queue.progress(task, self._judged)
        text = document.item.text if document else task.query
        last = self._judged.last_of(task.rater)
        return JudgeView(
            task,
            GRADES,
            document,
            n_done,
            n_items,
            self._queue.n_queries(),
            self._judged.counts(),
            agreement_of(self._judged),
            self._commands(),
            f"/?{urlencode({'q': text})}" if text else "/",
            fault,
            "" if last is None else last.identity,
        )

    def _text_of(self, query: str, task: JudgingTask) -> str:
        return self._queue.text_of(query) or task.query or query

    def _document(self, task: JudgingTask, item: ToJudge) -> JudgedDocument:
        index = self._session.index
        pair = (item.query, item.document)
        ordinals = index.ordinals([item.document])
        if ordinals[0] < 0:
            raise SettingError(f"the index has no document {item.document!r}")
        (stored,) = index.stored(ordinals)
        snippets = Snippets(index.analyser, index.fields, item.text)
        shown = snippets.document(item.document, stored)
        fields = [
            FieldText(name, snippets.marked(text[:LONGEST_SHOWN]), len(text) > LONGEST_SHOWN)
            for name, text in stored.items()
            if text.strip() and name != snippets.title_field
        ]
        own = self._judged.by_rater(task.rater).get(pair)
        following = self._queue.following(task, self._judged, pair)
        skip = judge_address(task, None if following is None else (following.query, following.document))
        return JudgedDocument(item, shown.title, fields, own, judge_address(task, pair), skip)

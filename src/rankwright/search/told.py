"""What a search found, as JSON, as TREC's run, and as lines for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rankwright.explanations.explanation import Explanation
from rankwright.formats.trec import Run
from rankwright.search.session import SearchAnswer, SearchSession
from rankwright.search.snippets import ShownDocument
from rankwright.text.candidates import Where
from rankwright.text.collections.queries import Queries

REASONS = 3  # of a document, in the terminal
LONGEST_TOLD = 200  # letters of a query


@dataclass(frozen=True, slots=True, eq=False)
class ShownList:
    """The first documents of one ranker's list, with scores, and why they stand where they do if that was asked."""

    ranker: str
    documents: list[ShownDocument]
    scores: list[float]
    why: Explanation | None

    def to_dict(self) -> dict[str, Any]:
        """The list in JSON's types."""
        return {"ranker": self.ranker, "documents": [self._document(place) for place in range(len(self.documents))]}

    def _document(self, place: int) -> dict[str, Any]:
        shown = self.documents[place]
        told: dict[str, Any] = {
            "document": shown.id,
            "rank": place + 1,
            "score": self.scores[place],
            "title": shown.title_text,
            "snippet": [{"text": run.text, "match": run.is_marked} for run in shown.snippet],
        }
        if self.why is not None:
            told["why"] = [
                {"feature": name, "value": value, "moves": moves} for name, value, moves in reasons(self.why, place)
            ]
        return told


def shown_list(session: SearchSession, answer: SearchAnswer, ranker: str, top: int, *, explain: bool) -> ShownList:
    """The first documents of a ranker's list."""
    ranked = answer.lists[ranker]
    places = ranked.order[:top].tolist()
    why = session.explanation(answer, ranker, places) if explain and places else None
    return ShownList(ranker, session.documents(answer, places), ranked.scores[places].tolist(), why)


def reasons(why: Explanation, place: int) -> list[tuple[str, float | None, float]]:
    """What moves a document against the others of the list: features with their values, the largest move first."""
    moves, values = why.centred[place], why.values[place].tolist()
    order = sorted(range(len(moves)), key=lambda feature: -abs(moves[feature]))
    return [
        (why.features[feature], None if values[feature] != values[feature] else values[feature], float(moves[feature]))
        for feature in order
        if moves[feature] != 0
    ]


def run_of(
    session: SearchSession, queries: Queries, ranker: str, top: int, where: Where | None, tick: Any
) -> Iterator[Run]:
    """What a ranker finds for many queries, query by query; `tick` is told how many are done."""
    for number, (name, text) in enumerate(zip(queries.ids, queries.texts, strict=True), start=1):
        answer = session.asked(text, where)
        ranked = answer.lists[ranker]
        places = ranked.order[:top]
        ids = session.index.ids(answer.ordinals[places])
        tick(number)
        if ids:
            yield Run([name] * len(ids), ids, ranked.scores[places])


def found_line(answer: SearchAnswer, shown: ShownList, candidates: int) -> str:
    """How much was found."""
    n, asked = len(answer), answer.query
    asked = repr(asked if len(asked) <= LONGEST_TOLD else f"{asked[:LONGEST_TOLD]}…")
    if not n:
        return f"nothing was found for {asked}"
    which = f"the best {n:,} by BM25" if n == candidates else f"{n:,} documents with words of the query"
    return f"{asked}: the first {len(shown.documents):,} of {which}, ordered by {shown.ranker}"


def plain(runs: Iterable[Any]) -> str:
    """Runs as one text, with *stars* around the query's words."""
    return "".join(f"*{run.text}*" if run.is_marked else run.text for run in runs)


def why_text(why: Sequence[tuple[str, float | None, float]]) -> str:
    """The largest reasons in a line."""
    return ", ".join(
        f"{moves:+.3g} {name} = {'missing' if value is None else format(value, '.4g')}"
        for name, value, moves in why[:REASONS]
    )

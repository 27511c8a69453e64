"""The live loop: lists that are served are noted, with who made them, and what users did with them comes back."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from http import HTTPStatus
from pathlib import Path
from typing import Annotated

import msgspec
import numpy as np

from rankwright.arrays import Float64Array
from rankwright.serve.decoding import RankQuestion, decoded
from rankwright.serve.features import Id
from rankwright.serve.journal import ClickEvent, Journal, ServedList
from rankwright.serve.models import ModelShelf
from rankwright.serve.ranking import RankAnswer, best_first
from rankwright.serve.segments import interleaving_of
from rankwright.serve.traffic import ShadowWatch, Traffic, drafted
from rankwright.web.messages import Request, Response, WebError, as_json
from rankwright.web.metrics import MetricBoard

ShortText = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class FeedbackRequest(msgspec.Struct, forbid_unknown_fields=True):
    """What a user did with a list: the documents that were clicked, none if it was only seen."""

    event_id: ShortText
    list_id: ShortText
    clicked: Annotated[list[Id], msgspec.Meta(max_length=1000)] = []


class FeedbackAnswer(msgspec.Struct):
    """The event is on the disk; `is_new` is false where this process had seen it before."""

    event_id: str
    is_new: bool


_decoder = msgspec.json.Decoder(FeedbackRequest)
_encoder = msgspec.json.Encoder()


class LiveLoop:
    """Shares traffic, notes lists and takes feedback; without a journal it only shares traffic."""

    def __init__(
        self, shelf: ModelShelf, traffic: Traffic, board: MetricBoard, journal: Journal | None, *, with_features: bool
    ) -> None:
        traffic.check(shelf)
        self._shelf, self._traffic, self._journal, self._with_features = shelf, traffic, journal, with_features
        self._shadow = None if traffic.shadow is None else ShadowWatch(board, traffic.shadow)
        self._board = board
        self._events = board.counter("rankwright_feedback_events_total", "Events that were put on the disk.")

    def served(self, question: RankQuestion, scores: Float64Array, answer: RankAnswer) -> None:
        """Change the answer to what is shown, and note it."""
        options, list_id = question.options, None
        if self._journal is not None:
            list_id = answer.list_id = self._journal.new_list_id()
        policy, teams, choices = f"{answer.model}@{answer.version}", "", None
        shared = self._traffic.is_shared and options.model is None
        if shared and self._traffic.interleaved is not None and len(scores):
            policy, teams, choices = self._interleave(question, scores, answer, list_id or "")
        if self._shadow is not None and options.model is None and len(scores):
            self._shadow.compare(answer.order, self._shelf.named(self._traffic.shadow), question)
        if self._journal is not None and list_id is not None:
            query = "" if options.query is None else options.query
            noted = ServedList(list_id, time.time(), query, [], policy, teams, choices)
            self._note(question, answer, noted)

    def _interleave(
        self, question: RankQuestion, scores: Float64Array, answer: RankAnswer, list_id: str
    ) -> tuple[str, str, tuple[list[Id], list[Id]]]:
        assert self._traffic.interleaved is not None
        second = self._shelf.named(self._traffic.interleaved[1])
        orders = best_first(scores), best_first(second.scores(question.features))
        rows, draft = drafted(self._traffic, *orders, question, list_id)
        answer.order = rows[: question.options.top]
        answer.shown_by = f"{answer.model}+{second.name}"
        ids = question.options.ids
        if ids is not None:
            answer.ids = [ids[row] for row in answer.order]
        # A model's choices beyond those that are taken do not matter: as many as are drafted, of each.
        length = len(draft.documents)
        choices = [[_id(row, ids) for row in order[: 2 * length].tolist()] for order in orders]
        policy = f"{answer.model}@{answer.version}+{second.name}@{second.version}"
        return policy, "".join(draft.teams), (choices[0], choices[1])

    def _note(self, question: RankQuestion, answer: RankAnswer, served: ServedList) -> None:
        assert self._journal is not None
        ids = question.options.ids
        served.shown = [_id(row, ids) for row in answer.order]
        if self._with_features:
            served.features = np.ascontiguousarray(question.features[answer.order]).tobytes()
        if served.shown:
            self._journal.serve(served)

    async def feedback(self, request: Request) -> Response:
        """Take an event, and answer when it is on the disk."""
        assert self._journal is not None
        asked: FeedbackRequest = decoded(_decoder, request.body)
        event = ClickEvent(asked.event_id, asked.list_id, asked.clicked, time.time())
        try:
            is_new = await self._journal.keep(event)
        except OSError as error:
            raise WebError(HTTPStatus.SERVICE_UNAVAILABLE, f"the event could not be kept: {error.strerror}") from None
        self._board.add(self._events)
        request.noted["list"] = asked.list_id
        return Response(_encoder.encode(FeedbackAnswer(asked.event_id, is_new)))

    async def experiment(self, _: Request) -> Response:
        """Tell which of two interleaved models users prefer so far; it may be asked as often as wanted."""
        assert self._journal is not None
        if self._traffic.interleaved is None:
            raise WebError(HTTPStatus.NOT_FOUND, "no two models are interleaved")
        a, b = self._traffic.interleaved
        # Not on the event loop, where requests would wait until all segments are read.
        found = await asyncio.to_thread(interleaving_of, Path(self._journal.folder))
        return as_json({"a": a, "b": b} | asdict(found))


def _id(row: int, ids: list[Id] | None) -> Id:
    return row if ids is None else ids[row]

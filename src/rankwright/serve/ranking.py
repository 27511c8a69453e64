"""`POST /v1/rank`: the order of a query's documents, their scores and, on request, what features add to them."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlencode

import msgspec
import numpy as np

from rankwright.arrays import Float64Array, IntArray
from rankwright.serve.decoding import RankQuestion, read_question
from rankwright.serve.features import Id
from rankwright.serve.models import WARM_UPS, ModelShelf
from rankwright.serve.scoring import WatchedScoring
from rankwright.web.messages import BINARY, JSON, Request, Response, WebError

EXPLAINED_FEATURES = 5  # of a document, where a request does not say how many


class Reason(msgspec.Struct):
    """What a feature adds to a score."""

    feature: str
    adds: float


class DocumentExplanation(msgspec.Struct):
    """The features that move a document's score most; `rest` is what all others add."""

    row: int
    features: list[Reason]
    rest: float


class RankAnswer(msgspec.Struct, omit_defaults=True):
    """The answer: `scores` in the order of the documents sent, `order` their rows, the best first."""

    model: str
    version: str
    order: list[int]
    scores: list[float]
    ids: list[Id] | None = None  # best first
    base: float | None = None  # the score that features add to
    explanations: list[DocumentExplanation] | None = None  # best first
    list_id: str | None = None  # by which feedback names what was shown
    shown_by: str | None = None  # how traffic was shared, where it is


_encoder = msgspec.json.Encoder()


def best_first(scores: Float64Array) -> IntArray:
    """The rows by score; of equal scores, the one that came first is first."""
    return np.argsort(-scores, kind="stable")


class RankHandler:
    """Answers /v1/rank; `served` is told of each list and may change the answer, `model_for` shares queries out."""

    def __init__(
        self,
        shelf: ModelShelf,
        scoring: WatchedScoring,
        most_documents: int,
        served: Callable[[RankQuestion, Float64Array, RankAnswer], None] | None = None,
        model_for: Callable[[Id | None], str | None] | None = None,
    ) -> None:
        self._shelf, self._scoring, self._most = shelf, scoring, most_documents
        self._served, self._model_for = served, model_for

    def __call__(self, request: Request) -> Response:
        """Rank the documents of a request."""
        question = read_question(request, self._shelf, self._most)
        options = question.options
        if self._model_for is not None and options.model is None:
            # All models that share requests take the same features.
            question.model = self._shelf.named(self._model_for(options.query) or question.model.name)
        request.noted |= {"model": question.model.name, "documents": len(question.features)}
        if options.ids is not None:
            check_ids(options.ids, len(question.features))
        scores = self._scoring.scores(question.model, question.features)
        if self._served is None and BINARY in (request.headers.get("accept") or ""):
            return Response(scores.astype("<f8").tobytes(), kind=BINARY)
        return Response(_encoder.encode(self._answered(question, scores)))

    def warm_up(self) -> None:
        """Read, score and answer once as requests will be, so that the first of them finds all of it in place."""
        for model in self._shelf:
            features = model.warm_documents()[: self._most]
            bodies = [(BINARY, features.tobytes())]
            if not model.trained.features.categories:
                bodies.append((JSON, _encoder.encode({"rows": features.tolist()})))
            for kind, body in bodies * WARM_UPS:
                request = Request("POST", "", urlencode({"model": model.name}), {"content-type": kind}, body)
                question = read_question(request, self._shelf, self._most)
                scores = model.scores(question.features)
                order = best_first(scores).tolist()
                _encoder.encode(RankAnswer(model.name, model.version, order, scores.tolist()))

    def _answered(self, question: RankQuestion, scores: Float64Array) -> RankAnswer:
        options, model = question.options, question.model
        order = best_first(scores)[: options.top]
        answer = RankAnswer(model.name, model.version, order.tolist(), scores.tolist())
        if options.ids is not None:
            answer.ids = [options.ids[row] for row in answer.order]
        if options.explain and len(scores):
            most = EXPLAINED_FEATURES if options.explain is True else int(options.explain)
            answer.base, answer.explanations = explained(question, answer.order, most)
        if self._served is not None:
            self._served(question, scores, answer)
        return answer


def check_ids(ids: list[Id], n_documents: int) -> None:
    """Raise unless there is an id for each document, each once."""
    if len(ids) != n_documents:
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, f"there are {len(ids)} ids of {n_documents} documents")
    if len({str(one) for one in ids}) != len(ids):
        raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, "two documents have the same id")


def explained(question: RankQuestion, order: list[int], most: int) -> tuple[float, list[DocumentExplanation]]:
    """For each row of the order, the features that add or take most."""
    values, base = question.model.contributions(question.features[order])
    names, told = question.model.features, []
    for row, own in zip(order, values, strict=True):
        largest = np.argsort(-np.abs(own), kind="stable")[:most].tolist()
        reasons = [Reason(names[place], float(own[place])) for place in largest if own[place] != 0]
        told.append(DocumentExplanation(row, reasons, float(own.sum() - sum(one.adds for one in reasons))))
    return base, told

"""`POST /v1/rerank` and `/v2/rerank`, in the shapes that clients of Cohere and Jina send: texts in, relevance out.

What scores texts is a `RerankScorer`: a model that was trained on text and carries the statistics that its features
need. A relevance in [0, 1] is 1 / (1 + e^-score), which keeps the order; the score itself is there too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from http import HTTPStatus
from time import time
from typing import Annotated, Any, Protocol
from uuid import uuid4

import msgspec
import numpy as np

from rankwright.arrays import Float64Array
from rankwright.rankers.text_scoring import DocumentScorer
from rankwright.serve.decoding import decoded
from rankwright.serve.features import check_documents
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.ranking import best_first
from rankwright.serve.scoring import WatchedScoring
from rankwright.web.messages import Request, Response, WebError, as_json, code_of


class RerankScorer(Protocol):
    """What can score texts for a query."""

    def score(self, query: str, documents: Sequence[str]) -> Float64Array:
        """A score for each document, of any size; larger is better."""


class TextScorers:
    """What scores texts for each model that was trained on texts with their statistics, made once for a version."""

    def __init__(self) -> None:
        self._made: dict[tuple[str, str], RerankScorer] = {}

    def __call__(self, model: ServedModel) -> RerankScorer | None:
        """The scorer of a model; None for one that cannot score texts."""
        trained = model.trained
        if trained.features.origin is None or trained.text_statistics is None:
            return None
        key = model.name, model.version
        if key not in self._made:
            self._made = {other: made for other, made in self._made.items() if other[0] != model.name}
            self._made[key] = _ModelTexts(DocumentScorer(trained), model.threads)
        return self._made[key]


class _ModelTexts:
    """A model's own scorer of texts, asked in the way of `RerankScorer`."""

    def __init__(self, scorer: DocumentScorer, threads: int) -> None:
        self._scorer, self._threads = scorer, threads

    def score(self, query: str, documents: Sequence[str]) -> Float64Array:
        """A score for each document; ages are counted from now."""
        return self._scorer.scores(query, documents, time=time(), threads=self._threads)


class TextDocument(msgspec.Struct):
    """A document that is an object: its text, and whatever else it has, which comes back with it."""

    text: str


class RerankRequest(msgspec.Struct):
    """What a client sends; members that it has besides, such as max_tokens_per_doc, are not looked at."""

    query: str
    documents: list[str | TextDocument]
    model: str | None = None
    top_n: Annotated[int, msgspec.Meta(ge=1)] | None = None
    return_documents: bool = False


class RerankedDocument(msgspec.Struct, omit_defaults=True):
    """A document by its place in the request."""

    index: int
    relevance_score: float
    score: float  # what the model said
    document: dict[str, str] | None = None


class RerankAnswer(msgspec.Struct):
    """The documents, the most relevant first."""

    id: str
    model: str
    results: list[RerankedDocument]
    usage: dict[str, int]
    meta: dict[str, Any]


_decoder = msgspec.json.Decoder(RerankRequest)
_encoder = msgspec.json.Encoder()
NO_TEXT = "{name} was not trained on text with its statistics, which reranking texts needs; /v1/rank takes its features"


def refused_rerank(error: WebError) -> Response:
    """What a client is told of an error, where clients of Cohere (`message`) and of Jina (`detail`) look for it."""
    told = {"message": str(error), "detail": str(error)}
    return replace(
        as_json(told | {"error": {"code": code_of(error.status), "message": str(error)}}, error.status),
        headers=error.headers,
    )


class RerankHandler:
    """Answers both addresses; `scorer_of` gives what scores texts for a model, None where nothing does."""

    def __init__(
        self,
        shelf: ModelShelf,
        scoring: WatchedScoring,
        most_documents: int,
        scorer_of: Callable[[ServedModel], RerankScorer | None],
    ) -> None:
        self._shelf, self._scoring, self._most, self._scorer_of = shelf, scoring, most_documents, scorer_of

    def __call__(self, request: Request) -> Response:
        """Order the texts of a request."""
        asked: RerankRequest = decoded(_decoder, request.body)
        model = self._shelf.named(asked.model)
        check_documents(len(asked.documents), self._most)
        request.noted |= {"model": model.name, "documents": len(asked.documents)}
        scorer = self._scorer_of(model)
        if scorer is None:
            raise WebError(HTTPStatus.UNPROCESSABLE_ENTITY, NO_TEXT.format(name=model.name))
        texts = [one if isinstance(one, str) else one.text for one in asked.documents]
        scores = self._scoring.timed(
            model, len(texts), lambda: np.asarray(scorer.score(asked.query, texts) if texts else [], np.float64)
        )
        return Response(_encoder.encode(_answer(asked, model, texts, scores)))


def relevance(scores: Float64Array) -> Float64Array:
    """Scores as numbers between 0 and 1, in the same order."""
    return 0.5 + 0.5 * np.tanh(0.5 * scores)


def _answer(asked: RerankRequest, model: ServedModel, texts: list[str], scores: Float64Array) -> RerankAnswer:
    share = relevance(scores)
    results = [
        RerankedDocument(
            row, float(share[row]), float(scores[row]), {"text": texts[row]} if asked.return_documents else None
        )
        for row in best_first(scores)[: asked.top_n].tolist()
    ]
    meta = {"api_version": {"version": "2"}, "billed_units": {"search_units": 0}}
    return RerankAnswer(str(uuid4()), model.name, results, {"total_tokens": 0}, meta)

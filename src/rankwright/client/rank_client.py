"""The client: one connection that stays open, typed answers, and the server's own words where it refuses."""

from __future__ import annotations

import http.client
import ssl
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

Id = str | int
Answer = TypeVar("Answer")
JSON, FLOATS = "application/json", "application/octet-stream"


class ServerRefusedError(Exception):
    """The server did not do what was asked.

    Attributes
    ----------
    status : int
        The HTTP status; 503 means that it may be tried again after `retry_after` seconds.
    message : str
        What the server says.
    retry_after : float or None
        How many seconds to wait, where the server says so.
    """

    def __init__(self, status: int, message: str, retry_after: float | None) -> None:
        super().__init__(f"{status}: {message}")
        self.status, self.message, self.retry_after = status, message, retry_after


class ReasonFor(msgspec.Struct):
    """What a feature adds to a score.

    Attributes
    ----------
    feature : str
        The feature's name.
    adds : float
        What it adds.
    """

    feature: str
    adds: float


class WhyDocument(msgspec.Struct):
    """Why a document has its score.

    Attributes
    ----------
    row : int
        The document's place in the request.
    features : list of ReasonFor
        The features that move its score most.
    rest : float
        What all others add.
    """

    row: int
    features: list[ReasonFor]
    rest: float


class Ranked(msgspec.Struct):
    """A ranked list.

    Attributes
    ----------
    model, version : str
        The model that ranked, and the version of its file.
    order : list of int
        Places of the documents in the request, the best first.
    scores : list of float
        A score for each document, in the order of the request.
    ids : list of str or int, optional
        Ids of the documents, the best first, where the request had any.
    base : float, optional
        The score that features add to, where explanations were asked for.
    explanations : list of WhyDocument, optional
        For each document, the best first, what its score is made of.
    list_id : str, optional
        What feedback calls this list, where the server keeps a journal.
    shown_by : str, optional
        Which side of an experiment made the list, where there is one.
    """

    model: str
    version: str
    order: list[int]
    scores: list[float]
    ids: list[Id] | None = None
    base: float | None = None
    explanations: list[WhyDocument] | None = None
    list_id: str | None = None
    shown_by: str | None = None


class ModelFacts(msgspec.Struct):
    """A model of the server.

    Attributes
    ----------
    name, version, ranker : str
        Its name, the version of its file, and what kind of ranker it is.
    features : list of str
        The features that each document must have, in the order of rows.
    categories : dict
        The categories of features that are texts.
    """

    name: str
    version: str
    ranker: str
    features: list[str]
    categories: dict[str, list[str]] = {}


class Feedback(msgspec.Struct):
    """What became of an event that was reported.

    Attributes
    ----------
    event_id : str
        The event's id: an event that is sent again under the same id counts once.
    is_new : bool
        Whether the process that answered had not seen it before.
    """

    event_id: str
    is_new: bool


class _Models(msgspec.Struct):
    default: str
    models: list[ModelFacts]


class RankClient:
    """Asks a server of rankers. A client is for one thread at a time; it connects again where a connection was lost.

    Parameters
    ----------
    url : str
        The server's address, such as "http://127.0.0.1:8000".
    token : str, optional
        A bearer token.
    timeout : float, default 10
        How many seconds to wait for an answer.
    tls : ssl.SSLContext, optional
        How to check the certificate of an https address; by default as browsers do.

    Examples
    --------
    >>> from rankwright.client import RankClient
    >>> client = RankClient("http://127.0.0.1:8000")  # connects with the first request
    >>> client.close()
    """

    def __init__(
        self, url: str, *, token: str | None = None, timeout: float = 10.0, tls: ssl.SSLContext | None = None
    ) -> None:
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"url must begin with http:// or https:// and name a host, got {url!r}")
        self._connection = (
            http.client.HTTPSConnection(parts.hostname, parts.port, timeout=timeout, context=tls)
            if parts.scheme == "https"
            else http.client.HTTPConnection(parts.hostname, parts.port, timeout=timeout)
        )
        self._path = parts.path.rstrip("/")
        self._headers = {} if token is None else {"Authorization": f"Bearer {token}"}

    def rank(
        self,
        documents: Sequence[Mapping[str, Any]] | None = None,
        *,
        rows: Sequence[Sequence[float | None]] | None = None,
        columns: Mapping[str, Sequence[Any]] | None = None,
        ids: Sequence[Id] | None = None,
        features: Sequence[str] | None = None,
        model: str | None = None,
        query: Id | None = None,
        top: int | None = None,
        explain: bool | int = False,
    ) -> Ranked:
        """Rank the documents of a query, given in one of three ways.

        Parameters
        ----------
        documents : sequence of mappings, optional
            Named features, document by document.
        rows : sequence of sequences, optional
            Features without names, in the model's order or that of `features`.
        columns : mapping, optional
            A column of values for each feature.
        ids : sequence of str or int, optional
            The documents' ids, which come back in order.
        features : sequence of str, optional
            The order of the features in `rows`.
        model : str, optional
            Which model to ask; by default the server's first.
        query : str or int, optional
            The query's id, for logs and experiments.
        top : int, optional
            How many of the best to put in order.
        explain : bool or int, default False
            Whether to tell what features add to scores, and of how many features.

        Returns
        -------
        Ranked
            Order and scores.
        """
        given: dict[str, Any] = {
            "documents": documents,
            "rows": rows,
            "columns": columns,
            "ids": ids,
            "features": features,
        }
        given |= {"model": model, "query": query, "top": top, "explain": explain or None}
        body = {name: value for name, value in given.items() if value is not None}
        return self._asked("POST", "/v1/rank", Ranked, msgspec.json.encode(body))

    def rank_floats(
        self,
        rows: Any,
        *,
        model: str | None = None,
        query: Id | None = None,
        top: int | None = None,
        explain: bool | int = False,
    ) -> Ranked:
        """Rank documents whose features are float32 in memory: the quickest way.

        Parameters
        ----------
        rows : array of float32, or bytes
            Features, row after row, in the model's order; NaN is missing. NumPy arrays will do.
        model, query, top, explain
            As for `rank`.

        Returns
        -------
        Ranked
            Order and scores.
        """
        given = {"model": model, "query": query, "top": top, "explain": int(explain) or None}
        options = urlencode({name: value for name, value in given.items() if value is not None})
        path = f"/v1/rank?{options}" if options else "/v1/rank"
        return self._asked("POST", path, Ranked, memoryview(rows).cast("B"), FLOATS)

    def click(self, list_id: str, *, clicked: Sequence[Id] = (), event_id: str | None = None) -> Feedback:
        """Report what a user clicked in a list; it is on the server's disk when this returns.

        Parameters
        ----------
        list_id : str
            The `list_id` of the ranked list.
        clicked : sequence of str or int
            The ids of the documents that were clicked, or their rows where they had no ids; none says that the list
            was seen and nothing in it was clicked.
        event_id : str, optional
            An id of your own for the event; sent again under it, an event counts once.

        Returns
        -------
        Feedback
            The event's id, and whether it is new.
        """
        event = {"event_id": event_id or str(uuid.uuid4()), "list_id": list_id, "clicked": list(clicked)}
        return self._asked("POST", "/v1/feedback", Feedback, msgspec.json.encode(event))

    def models(self) -> list[ModelFacts]:
        """Ask which models there are.

        Returns
        -------
        list of ModelFacts
            The models, the default first.
        """
        return self._asked("GET", "/v1/models", _Models).models

    def is_ready(self, model: str | None = None) -> bool:
        """Ask whether the server takes requests.

        Parameters
        ----------
        model : str, optional
            Whether it has this model, too.

        Returns
        -------
        bool
            False also where nothing answers.
        """
        path = "/ready" if model is None else f"/v2/models/{quote(model, safe='')}/ready"
        try:
            self._asked("GET", path, dict[str, Any])
        except (ServerRefusedError, OSError, http.client.HTTPException):
            return False
        return True

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        self._connection.close()

    def __enter__(self) -> RankClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(self, method: str, path: str, kind: type[Answer], body: Any = None, content: str = JSON) -> Answer:
        status, headers, answer = self._sent(method, self._path + path, body, {"Content-Type": content})
        if status >= 400:
            wait = headers.get("Retry-After")
            raise ServerRefusedError(status, _message(answer), None if wait is None else float(wait))
        return msgspec.json.decode(answer, type=kind)

    def _sent(self, method: str, path: str, body: Any, headers: dict[str, str]) -> tuple[int, Any, bytes]:
        is_reused = self._connection.sock is not None
        try:
            self._connection.request(method, path, body, self._headers | headers)
            response = self._connection.getresponse()
            return response.status, response.headers, response.read()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
            self._connection.close()
            if not is_reused:
                raise
        except BaseException:
            self._connection.close()  # what it would answer next belongs to this request
            raise
        # The server closed a connection that was not used for a while. Nothing is done twice: lists are only scored,
        # and events have ids.
        return self._sent(method, path, body, headers)


def _message(answer: bytes) -> str:
    try:
        return str(msgspec.json.decode(answer)["error"]["message"])
    except (msgspec.DecodeError, KeyError, TypeError):
        return answer[:200].decode("utf-8", "replace")

"""The server of rankers put together: routes, metrics, reloading."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from math import inf
from typing import Protocol

from rankwright.errors import MissingExtraError, require
from rankwright.serve.inference import INPUT, JSON_LENGTH, InferenceHandler, refused_inference
from rankwright.serve.journal import Journal
from rankwright.serve.live import FeedbackAnswer, FeedbackRequest, LiveLoop
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.openapi import openapi_page
from rankwright.serve.ranking import RankHandler
from rankwright.serve.reloading import CheckSample, Reloader
from rankwright.serve.reranking import RerankHandler, RerankScorer, TextScorers, refused_rerank
from rankwright.serve.scoring import WatchedScoring
from rankwright.serve.segments import SegmentWriter
from rankwright.serve.traffic import Traffic
from rankwright.web.application import Application, Service, Shell
from rankwright.web.limits import DAY
from rankwright.web.messages import Request, Response, as_json
from rankwright.web.routes import Route
from rankwright.web.warm_up import OwnRequest

SWITCH_SECONDS = 2e-4


@dataclass(frozen=True, slots=True)
class JournalSettings:
    """Where lists and events are kept, and when they become segments."""

    folder: str
    click_window: float = 1800.0  # seconds that a list waits for its clicks
    segment_seconds: float = 60.0  # between looks for lists that have waited
    with_features: bool = False  # whether features are kept too, as they were served

    def __post_init__(self) -> None:
        if find_spec("pyarrow") is None:
            raise MissingExtraError("a journal", "pyarrow", "frames")
        require(0 < self.segment_seconds <= DAY, f"segment_seconds must be above 0 and {DAY:g} at most")
        require(0 <= self.click_window < inf, "click_window must be finite, and 0 or more")


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What is served, and how models are replaced."""

    models: Sequence[tuple[str, str]]  # name and path, the default first
    threads: int = 1  # of a request
    reload_seconds: float = 1.0  # between looks at the files; 0 never looks
    check: CheckSample | None = None
    traffic: Traffic = field(default_factory=Traffic)
    journal: JournalSettings | None = None

    def __post_init__(self) -> None:
        names = [name for name, _ in self.models]
        require(bool(names), "there is no model to serve")
        require(len(set(names)) == len(names), f"two models have the same name: {', '.join(names)}")
        require(all(name and "/" not in name for name in names), "a model's name must not be empty or have a slash")
        require(0 <= self.reload_seconds <= DAY, f"reload_seconds must be 0 to {DAY:g}, got {self.reload_seconds:g}")


class RunsBeside(Protocol):
    """What each process runs beside its requests."""

    def start(self) -> None:
        """Begin."""

    def stop(self) -> None:
        """End."""


@dataclass(slots=True)
class RankServer:
    """Everything a server of rankers is made of, before it runs."""

    settings: ServeSettings
    shell: Shell = field(default_factory=Shell)
    scorer_of: Callable[[ServedModel], RerankScorer | None] = field(default_factory=TextScorers)
    models: Sequence[ServedModel] | None = None  # where they are read already
    shelf: ModelShelf = field(init=False)
    _scoring: WatchedScoring = field(init=False)
    _rank: RankHandler = field(init=False)
    _page: Response | None = field(init=False, default=None)
    service: Service = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.shelf = ModelShelf(
            self.models or [ServedModel.read(name, path, threads=settings.threads) for name, path in settings.models]
        )
        self._scoring = WatchedScoring(self.shelf, self.shell.board)
        beside: list[RunsBeside] = []
        journal, reloader = None, None
        if settings.journal is not None:
            kept = settings.journal
            journal = Journal(kept.folder, file_seconds=kept.segment_seconds)
            names = self.shelf.named(None).features if kept.with_features else ()
            how = {"seconds": kept.segment_seconds, "window": kept.click_window}
            beside += [journal, SegmentWriter(journal.folder, **how, feature_names=names)]
        if settings.reload_seconds:
            seconds, sample = settings.reload_seconds, settings.check
            board, taken = self.shell.board, self._scoring.drift.taken
            reloader = Reloader(self.shelf, board, sample=sample, seconds=seconds, taken=taken)
            beside.append(reloader)
        live = LiveLoop(
            self.shelf,
            settings.traffic,
            self.shell.board,
            journal,
            with_features=settings.journal is not None and settings.journal.with_features,
        )
        self.service = Service(
            self._routes(live, journal is not None),
            fork=[] if reloader is None else [reloader.fork],
            start=[tell_of_processes, hand_over_quickly, *(one.start for one in beside), self._rank.warm_up],
            stop=[one.stop for one in reversed(beside)],
            warm=[warm_request(model, self.shell.limits.documents) for model in self.shelf],
        )

    def take(self, model: ServedModel) -> None:
        """Take a model in place of the one of its name."""
        self.shelf.replace(model)
        self._scoring.drift.taken(model)

    def application(self) -> Application:
        """The application, with room for the metrics of all processes."""
        made = Application(self.service, self.shell)
        self.shell.board.open()
        return made

    def _routes(self, live: LiveLoop, has_journal: bool) -> list[Route]:
        most, traffic = self.shell.limits.documents, self.settings.traffic
        watched = has_journal or traffic.is_shared or traffic.shadow is not None
        self._rank = rank = RankHandler(
            self.shelf,
            self._scoring,
            most,
            live.served if watched else None,
            traffic.model_for if traffic.shares else None,
        )
        kept = [
            Route("POST", "/v1/feedback", live.feedback),
            Route("GET", "/v1/experiment", live.experiment),
        ]
        inference = InferenceHandler(self.shelf, self._scoring, most)
        rerank = RerankHandler(self.shelf, self._scoring, most, self.scorer_of)
        model = "/v2/models/{name}"
        return [
            Route("POST", "/v1/rank", rank),
            *(kept if has_journal else []),
            Route("POST", "/v1/rerank", rerank, refused=refused_rerank),
            Route("POST", "/v2/rerank", rerank, refused=refused_rerank),
            Route("GET", "/v1/models", self._list_models),
            Route("GET", "/v2", inference.server),
            Route("GET", "/v2/health/live", inference.live, open=True),
            Route("GET", "/v2/health/ready", inference.all_ready, open=True),
            *(
                Route(method, f"{model}{version}{end}", handler, refused=refused_inference)
                for version in ("", "/versions/{version}")
                for method, end, handler in (
                    ("GET", "", inference.metadata),
                    ("GET", "/ready", inference.ready),
                    ("POST", "/infer", inference.infer),
                )
            ),
            Route("GET", "/health", self._health, open=True),
            Route("GET", "/ready", self._health, open=True),
            Route("GET", "/metrics", self._metrics),
            Route("GET", "/openapi.json", self._openapi),
        ]

    def _list_models(self, _: Request) -> Response:
        """Tell which models there are, the default first, and what features they take."""
        return as_json({"default": self.shelf.default, "models": [model.facts() for model in self.shelf]})

    def _health(self, _: Request) -> Response:
        """Tell that this server answers; models are loaded and warm before it takes a request."""
        return as_json({"status": "ok"})

    def _metrics(self, _: Request) -> Response:
        """Give all metrics in Prometheus's text format."""
        return Response(self.shell.board.text().encode(), kind="text/plain; version=0.0.4; charset=utf-8")

    def _openapi(self, _: Request) -> Response:
        """Give this page."""
        if self._page is None:  # made once: it takes longer than scoring many queries
            page = openapi_page(self.service.routes, {"/v1/feedback": (FeedbackRequest, FeedbackAnswer)})
            self._page = as_json(page)
        return self._page


def warm_request(model: ServedModel, most: int) -> OwnRequest:
    """A request for scores by an address that keeps no journal."""
    features = model.warm_documents()[:most]
    head = as_json(
        {
            "inputs": [
                {
                    "name": INPUT,
                    "shape": list(features.shape),
                    "datatype": "FP32",
                    "parameters": {"binary_data_size": features.nbytes},
                }
            ]
        }
    ).body
    length = {JSON_LENGTH: str(len(head))}
    return OwnRequest("POST", f"/v2/models/{model.name}/infer", length, head + features.tobytes())


def hand_over_quickly() -> None:
    """Let a request wait for a thread beside it, such as one that reads a changed model, no longer than it takes."""
    sys.setswitchinterval(SWITCH_SECONDS)


def tell_of_processes() -> None:
    """Send what a process logs to standard error: which models it takes and refuses, and how requests failed."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")

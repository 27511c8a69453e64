"""The server of rankers put together: routes, metrics, reloading."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from rankwright.errors import require
from rankwright.serve.inference import InferenceHandler
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.serve.openapi import openapi_page
from rankwright.serve.ranking import RankHandler
from rankwright.serve.reloading import CheckSample, Reloader
from rankwright.serve.reranking import RerankHandler, TextScorer
from rankwright.web.application import Application, Service, Shell
from rankwright.web.messages import Request, Response, as_json
from rankwright.web.routes import Route


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """What is served, and how models are replaced."""

    models: Sequence[tuple[str, str]]  # name and path, the default first
    threads: int = 1  # of a request
    reload_seconds: float = 1.0  # between looks at the files; 0 never looks
    check: CheckSample | None = None

    def __post_init__(self) -> None:
        names = [name for name, _ in self.models]
        require(bool(names), "there is no model to serve")
        require(len(set(names)) == len(names), f"two models have the same name: {', '.join(names)}")
        require(all(name and "/" not in name for name in names), "a model's name must not be empty or have a slash")
        require(self.reload_seconds >= 0, f"reload_seconds must be 0 or more, got {self.reload_seconds}")


def no_text_scorer(_: ServedModel) -> TextScorer | None:
    """What scores texts where no model can."""
    return None


@dataclass(slots=True)
class RankServer:
    """Everything a server of rankers is made of, before it runs."""

    settings: ServeSettings
    shell: Shell = field(default_factory=Shell)
    scorer_of: Callable[[ServedModel], TextScorer | None] = no_text_scorer
    shelf: ModelShelf = field(init=False)
    service: Service = field(init=False)

    def __post_init__(self) -> None:
        settings = self.settings
        self.shelf = ModelShelf(
            [ServedModel.read(name, path, threads=settings.threads) for name, path in settings.models]
        )
        self.service = Service(self._routes(), start=[tell_of_processes])
        if settings.reload_seconds:
            reloader = Reloader(self.shelf, self.shell.board, sample=settings.check, seconds=settings.reload_seconds)
            self.service.start = [*self.service.start, reloader.start]
            self.service.stop = [reloader.stop]

    def application(self) -> Application:
        """The application, with room for the metrics of all processes."""
        made = Application(self.service, self.shell)
        self.shell.board.open()
        return made

    def _routes(self) -> list[Route]:
        most = self.shell.limits.documents
        inference = InferenceHandler(self.shelf, most)
        rerank = RerankHandler(self.shelf, most, self.scorer_of)
        model = "/v2/models/{name}"
        return [
            Route("POST", "/v1/rank", RankHandler(self.shelf, most)),
            Route("POST", "/v1/rerank", rerank),
            Route("POST", "/v2/rerank", rerank),
            Route("GET", "/v1/models", self._list_models),
            Route("GET", "/v2", inference.server),
            Route("GET", "/v2/health/live", self._health, open=True),
            Route("GET", "/v2/health/ready", self._health, open=True),
            *(
                Route(method, f"{model}{version}{end}", handler)
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
        return as_json(openapi_page(self.service.routes, {}))


def tell_of_processes() -> None:
    """Send what a process logs to standard error: which models it takes and refuses, and how requests failed."""
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")

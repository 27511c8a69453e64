"""The same application on Ray Serve, for more than one machine: replicas that Ray starts and ends with the load.

One actor keeps the models: it reads their files, looks at them again and again as `rankwright serve` does, and puts
each model that it takes into Ray's object store. A node has one copy of it there, which all its replicas read in place.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from rankwright.errors import MissingExtraError, SettingError, require
from rankwright.serve.application import RankServer, ServeSettings
from rankwright.serve.models import ServedModel, named_file
from rankwright.serve.reloading import CheckSample, Reloader
from rankwright.web.access_log import AccessLog
from rankwright.web.application import Shell
from rankwright.web.guard import Guard, read_tokens
from rankwright.web.limits import Limits
from rankwright.web.metrics import MetricBoard

try:
    import ray
    from ray import serve
    from starlette.responses import Response
except ImportError as error:
    raise MissingExtraError("serving on Ray", error.name or "ray", "serve-ray") from None

log = logging.getLogger(__name__)

REACHED_FROM_ANYWHERE = "0.0.0.0"  # what a proxy of Ray Serve counts as, wherever it listens
USUAL = Limits()
KEEPER_CPUS = 0.0  # it works when a file has changed, and hardly ever else


@dataclass(frozen=True, slots=True)
class RaySettings:
    """What is served on a cluster, to whom, and by how many replicas.

    Parameters
    ----------
    models : str or sequence of str
        Model files, each as MODEL or NAME=MODEL, the first the default; in one text, commas stand between them. They
        are read where Ray runs the actor that keeps them: on a cluster, in a folder that its nodes share.
    tokens : str, optional
        A file of bearer tokens, one a line, read where the application is built.
    open : bool, default False
        Let everybody in who reaches a proxy. Tokens or this must be given.
    allow_host, allow_origin : sequence of str, optional
        Names that clients may call the cluster by, any where there are none; origins whose pages may ask.
    check, check_loss : str and float, optional
        Labelled documents on which a changed model may lose so much of its NDCG@10 at most.
    reload_seconds : float, default 1
        How often model files are looked at, and replicas ask for changed models; 0 never.
    least_replicas, most_replicas : int, default 1 and 8
        Between how many replicas Ray chooses by the load.
    ongoing : float, default 4
        The requests under way in a replica that Ray aims at: with more, it starts another.
    cpus : float, default 1
        Processors that a replica takes.
    threads : int, default 1
        Threads that score a request.
    max_body, max_documents, max_seconds, max_waiting
        Limits of a request and of a replica, as those of `rankwright serve`.
    """

    models: str | Sequence[str]
    tokens: str | None = None
    open: bool = False
    allow_host: Sequence[str] = ()
    allow_origin: Sequence[str] = ()
    check: str | None = None
    check_loss: float = 0.05
    reload_seconds: float = 1.0
    least_replicas: int = 1
    most_replicas: int = 8
    ongoing: float = 4.0
    cpus: float = 1.0
    threads: int = 1
    max_body: int = USUAL.body
    max_documents: int = USUAL.documents
    max_seconds: float = USUAL.seconds
    max_waiting: int = USUAL.waiting

    def __post_init__(self) -> None:
        replicas = f"got {self.least_replicas} and {self.most_replicas}"
        require(
            1 <= self.least_replicas <= self.most_replicas, f"least_replicas must be 1 to most_replicas, {replicas}"
        )
        require(self.ongoing > 0, f"ongoing must be above 0, got {self.ongoing}")

    def files(self) -> tuple[tuple[str, str], ...]:
        """The models by name."""
        given = self.models.split(",") if isinstance(self.models, str) else self.models
        return tuple(named_file(one) for one in given)

    def limits(self) -> Limits:
        """What a replica takes at once."""
        return Limits(self.max_body, self.max_documents, self.max_seconds, self.max_waiting)

    def guard(self) -> Guard:
        """Who is let in."""
        tokens = () if self.tokens is None else read_tokens(self.tokens)
        given = {"hosts": tuple(self.allow_host), "origins": tuple(self.allow_origin), "tokens": tokens}
        try:
            return Guard.for_address(REACHED_FROM_ANYWHERE, **given, open=self.open)
        except SettingError:
            raise SettingError("other machines reach a cluster: give tokens, or open to let everybody in") from None


def application(arguments: Mapping[str, Any] | RaySettings) -> serve.Application:
    """The application for `serve.run`, or for a Serve file whose `import_path` is `rankwright.serve.ray:application`.

    Parameters
    ----------
    arguments : mapping or RaySettings
        What is served: the members of `RaySettings`.

    Returns
    -------
    ray.serve.Application
        The application; running it again replaces it without a pause.
    """
    settings = arguments if isinstance(arguments, RaySettings) else _settings(arguments)
    settings.files()  # what is wrong is told here, not in the log of a replica
    limits = settings.limits()
    keeper = serve.deployment(
        ModelKeeper, name="models", num_replicas=1, ray_actor_options={"num_cpus": KEEPER_CPUS}
    ).bind(settings)
    replicas = serve.deployment(
        RankReplica,
        name="rank",
        ray_actor_options={"num_cpus": settings.cpus},
        # A replica computes on its event loop; what it has not begun waits for another replica.
        max_ongoing_requests=limits.waiting,
        max_queued_requests=limits.waiting * settings.most_replicas,
        autoscaling_config={
            "min_replicas": settings.least_replicas,
            "max_replicas": settings.most_replicas,
            "target_ongoing_requests": settings.ongoing,
        },
    )
    return replicas.bind(settings, settings.guard(), keeper)


def _settings(arguments: Mapping[str, Any]) -> RaySettings:
    """Arguments as a Serve file or `serve run` gives them, where numbers may be texts."""
    known = {one for one in RaySettings.__dataclass_fields__}
    for name in arguments:
        require(name in known, f"unknown argument {name!r}; there are {', '.join(sorted(known))}")
    try:
        return msgspec.convert(dict(arguments), RaySettings, strict=False)
    except msgspec.ValidationError as error:
        raise SettingError(f"arguments of the application: {error}") from None


class ModelKeeper:
    """Keeps the models of a cluster: reads their files, takes changed ones that pass, and hands them to replicas."""

    def __init__(self, settings: RaySettings) -> None:
        from rankwright.formats.reading import read
        from rankwright.serve.models import ModelShelf

        self._models = [ServedModel.read(name, path, threads=settings.threads) for name, path in settings.files()]
        self._shelf, self._board = ModelShelf(self._models), MetricBoard()
        self._kept = {model.name: (model.version, ray.put(model)) for model in self._models}
        sample = None if settings.check is None else CheckSample(read(settings.check), most_lost=settings.check_loss)
        if settings.reload_seconds:
            reloader = Reloader(
                self._shelf, self._board, sample=sample, seconds=settings.reload_seconds, taken=self._taken
            )
            self._board.open()
            reloader.start()

    def _taken(self, model: ServedModel) -> None:
        self._kept[model.name] = model.version, ray.put(model)

    def newer_than(self, versions: Mapping[str, str]) -> list[Any]:
        """References to the models of which somebody has another version, or none."""
        return [kept for name, (version, kept) in self._kept.items() if versions.get(name) != version]


class RankReplica:
    """One replica: the application, asked by Ray Serve's proxies."""

    def __init__(self, settings: RaySettings, guard: Guard, keeper: Any) -> None:
        self._settings, self._guard, self._keeper = settings, guard, keeper
        self._server: RankServer | None = None
        self._begins = asyncio.Lock()

    async def __call__(self, request: Any) -> Response:
        """Answer a request of Starlette's, as Ray Serve hands it over."""
        if self._server is None:
            await self._begin()
        exchange = ProxiedExchange(request)
        await self._application.__rsgi__(ProxiedScope.of(request), exchange)
        return exchange.response

    async def check_health(self) -> None:
        """Have the models before the first request: Ray asks this of a new replica, and then again and again."""
        if self._server is None:
            await self._begin()

    async def _begin(self) -> None:
        async with self._begins:
            if self._server is not None:
                return
            models = await self._newer({})
            names = tuple((model.name, model.path) for model in models)
            shell = Shell(self._settings.limits(), self._guard, AccessLog(None), MetricBoard())
            server = RankServer(ServeSettings(names, self._settings.threads, reload_seconds=0), shell, models=models)
            self._application = server.application()
            self._application.__rsgi_init__(None)
            self._server = server
            if self._settings.reload_seconds:
                self._following = asyncio.create_task(self._follow(server))

    async def _follow(self, server: RankServer) -> None:
        """Take the models that the keeper has taken."""
        while True:
            await asyncio.sleep(self._settings.reload_seconds)
            try:
                for model in await self._newer({one.name: one.version for one in server.shelf}):
                    server.take(model)
            except Exception:
                log.exception("asking for changed models failed")

    async def _newer(self, versions: Mapping[str, str]) -> list[ServedModel]:
        """Models of other versions, as they lie in this node's object store."""
        return [await kept for kept in await self._keeper.newer_than.remote(versions)]


@dataclass(frozen=True, slots=True)
class ProxiedScope:
    """What the application asks of a request's head."""

    method: str
    path: str
    query_string: str
    headers: Any
    client: str
    authority: str | None = None

    @classmethod
    def of(cls, request: Any) -> ProxiedScope:
        """The head of a request of Starlette's."""
        came_from = "" if request.client is None else f"{request.client.host}:{request.client.port}"
        query = request.scope.get("query_string", b"").decode("latin-1")
        return cls(request.method, request.scope["path"], query, request.headers, came_from)


@dataclass(slots=True)
class ProxiedExchange:
    """The body of a request of Starlette's as it arrives, and the answer."""

    request: Any
    response: Response = field(default_factory=Response)

    async def __call__(self) -> bytes:
        """The whole body."""
        whole: bytes = await self.request.body()
        return whole

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """The body as it arrives."""
        async for part in self.request.stream():
            yield part

    def response_bytes(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        """Answer."""
        self.response = Response(body, status, dict(headers))

    def response_empty(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Answer a request that wants the head alone."""
        self.response = Response(None, status, dict(headers))

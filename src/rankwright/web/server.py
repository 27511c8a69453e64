"""Granian, told what it is to run: several processes on one port, forked so that they share what was loaded before."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from rankwright.errors import MissingExtraError, SettingError, require
from rankwright.web.limits import Limits

EXTRA = "serve"


@dataclass(frozen=True, slots=True)
class ServerPlace:
    """Where a server listens, in how many processes, and its certificate if it has one."""

    address: str = "127.0.0.1"
    port: int = 8000
    processes: int = 1
    certificate: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        require(0 < self.port < 65536, f"a port lies between 1 and 65535, got {self.port}")
        require(self.processes >= 1, f"processes must be 1 or more, got {self.processes}")
        require((self.certificate is None) == (self.key is None), "--tls-certificate and --tls-key go together")
        for path in (self.certificate, self.key):
            require(path is None or Path(path).is_file(), f"{path}: there is no such file")

    @property
    def url(self) -> str:
        """What clients are told."""
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{'http' if self.certificate is None else 'https'}://{host}:{self.port}"


def require_server() -> None:
    """Raise unless what serving needs is installed, and the system can share what was loaded among processes."""
    try:
        import granian
        import msgspec
    except ImportError as error:
        raise MissingExtraError("serving", error.name or "granian", EXTRA) from None
    del granian, msgspec
    if not hasattr(os, "fork"):
        raise SettingError("serving needs a system whose processes can be forked: Linux or macOS")


def run_server(application: Any, place: ServerPlace, limits: Limits, patience: float | None = None) -> None:
    """Serve until a signal ends it; requests that were taken are answered first.

    `patience` is for how many seconds they are waited for, and with them whoever has begun to send a request and does
    not go on; by default as long as a request may take.
    """
    require_server()
    from granian.constants import HTTPModes, Interfaces, Loops
    from granian.http import HTTP1Settings
    from granian.server import Server

    check_place(place)
    # This is the server's own process. Forked ones share the models that are loaded, and the numbers of metrics.
    multiprocessing.set_start_method("fork", force=True)
    server = Server(
        "rankwright",
        address=place.address,
        port=place.port,
        interface=Interfaces.RSGI,
        http=HTTPModes.http1,
        loop=Loops.auto,
        websockets=False,
        workers=place.processes,
        backlog=max(128, limits.connections),
        backpressure=limits.connections,
        http1_settings=HTTP1Settings(header_read_timeout=int(limits.header_seconds * 1000)),
        log_enabled=False,
        respawn_failed_workers=True,
        workers_kill_timeout=cast("int", limits.seconds + 1 if patience is None else patience),  # a float does as well
        ssl_cert=None if place.certificate is None else Path(place.certificate),
        ssl_key=None if place.key is None else Path(place.key),
    )

    def load(*_: Any) -> Any:  # in each process
        for one in (signal.SIGINT, signal.SIGTERM):  # until granian takes them: this is no copy of the process above
            signal.signal(one, signal.SIG_DFL)
        application.fork()
        if place.certificate is None:  # with TLS, connecting takes longer than what this would save
            application.ask_by_wire(place.address, place.port)
        return application

    server.serve(target_loader=load, wrap_loader=False)


def check_place(place: ServerPlace) -> None:
    """Raise unless the address is free, and the certificate is one."""
    import ssl

    _require_free(place)
    if place.certificate is not None:
        try:
            ssl.create_default_context(ssl.Purpose.CLIENT_AUTH).load_cert_chain(
                place.certificate, place.key, _no_password
            )
        except (ssl.SSLError, SettingError) as error:
            told = "are not a certificate and its key, both as PEM and the key without a password"
            raise SettingError(f"{place.certificate} and {place.key} {told}: {error}") from None


def _no_password() -> str:
    """Asked for where a key is encrypted: nobody is there to type it."""
    raise SettingError("the key wants a password")


def _require_free(place: ServerPlace) -> None:
    """Raise if something listens there already: several processes may share a port, and would share it with that."""
    import socket

    try:
        with socket.create_server((place.address, place.port), family=_family(place.address)):
            pass
    except OSError as error:
        raise SettingError(f"{place.address}:{place.port} cannot be listened at: {error.strerror}") from None


def _family(address: str) -> Any:
    import socket

    return socket.AF_INET6 if ":" in address else socket.AF_INET

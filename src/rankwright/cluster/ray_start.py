"""A Ray of our own on this machine, or the connection to one that runs.

Our own Ray listens on the loopback address alone, has no dashboard, sends no usage statistics, and keeps its files in a
folder that is removed at the end.
"""

from __future__ import annotations

import logging
import os
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import ray
from ray._private import ray_constants

from rankwright.container.locks import scratch_folder
from rankwright.errors import ClusterError, require

LOOPBACK = "127.0.0.1"
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # the default of later versions; without it this version warns
}
SECONDS_TO_ANSWER = 10.0
LONGEST_FOLDER = 40  # letters: Ray puts sockets below it, whose names the system limits to 107


@contextmanager
def started_ray(n_cpus: int) -> Iterator[None]:
    """A Ray on this machine while the block lasts."""
    with scratch_folder("ray", _short_folder()) as folder:
        try:
            with _on_loopback():
                _init(
                    address="local",
                    num_cpus=n_cpus,
                    include_dashboard=False,
                    _node_ip_address=LOOPBACK,
                    _temp_dir=folder,
                )
            yield
        finally:
            ray.shutdown()


@contextmanager
def joined_ray(address: str) -> Iterator[None]:
    """The cluster at `address` while the block lasts; one that this process has joined already stays joined."""
    if ray.is_initialized():
        yield
        return
    _check_reachable(address)
    on_loopback = _on_loopback() if address.startswith(f"{LOOPBACK}:") else nullcontext()
    try:
        with on_loopback:
            _init(address=address)
        yield
    finally:
        ray.shutdown()


def _check_reachable(address: str) -> None:
    """Raise where nobody listens at `address`: Ray itself would ask again for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    require(
        bool(host) and port.isdecimal(), f"a cluster is local, auto, or the HOST:PORT of a Ray cluster, got {address!r}"
    )
    try:
        socket.create_connection((host, int(port)), SECONDS_TO_ANSWER).close()
    except OSError as error:
        raise ClusterError(f"there is no Ray cluster to join at {address}: {error}") from None


@contextmanager
def _on_loopback() -> Iterator[None]:
    """Have Ray keep the loopback address, as it does on systems where it knows no clusters.

    Elsewhere it takes "127.0.0.1" for the address that others see, and listens there: whoever reaches it can run code.
    """
    earlier, ray_constants.ENABLE_RAY_CLUSTER = ray_constants.ENABLE_RAY_CLUSTER, False
    try:
        yield
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = earlier
    if ray.util.get_node_ip_address() != LOOPBACK:
        raise ClusterError(f"this version of Ray, {ray.__version__}, cannot be kept to {LOOPBACK}")


def _init(**options: object) -> None:
    """Start or join; what workers print stays in Ray's files, since stdout here is for results."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        ray.init(log_to_driver=False, logging_level=logging.ERROR, **options)
    except (ConnectionError, OSError, RuntimeError, ValueError) as error:
        where = options["address"]
        what = "Ray cannot be started here" if where == "local" else f"there is no Ray cluster to join at {where}"
        raise ClusterError(f"{what}: {error}") from None


def _short_folder() -> str:
    usual = tempfile.gettempdir()
    return usual if len(usual) <= LONGEST_FOLDER - 23 else "/tmp"

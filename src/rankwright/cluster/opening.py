"""Engines by the place where their tasks run."""

from __future__ import annotations

import socket

from rankwright.cluster.engine import Engine
from rankwright.cluster.in_process import SerialEngine
from rankwright.errors import MissingExtraError


def open_engine(cluster: str | None = None, workers: int | None = None) -> Engine:
    """Open an engine that runs many tasks at a time, on processes of this machine or on a Ray cluster.

    Parameters
    ----------
    cluster : str, optional
        Where tasks run: None or "local" for processes of this machine (on Windows, one task after another in this
        process), "auto" for a Ray that is started here and ends with the engine, or the HOST:PORT of a running Ray
        cluster.
    workers : int, optional
        How many tasks run at a time, 1 or more. By default one per core.

    Returns
    -------
    Engine
        An engine to use in a `with` block. Give it to `tune`, `cross_validate` and `nested_cross_validation`, or to the
        `on` method of a bagged ranker; or call its own `share` and `run`.

    Examples
    --------
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> with rw.open_engine(workers=1) as engine:
    ...     bags = rw.BLMART(n_bags=2, n_trees=3).on(engine).fit(data)
    >>> bags.n_bags_
    2
    """
    if cluster is None or cluster == "local":
        if not hasattr(socket, "send_fds"):
            return SerialEngine(workers)
        from rankwright.cluster.local_engine import LocalEngine

        return LocalEngine(workers)
    try:
        from rankwright.cluster.ray_engine import RayEngine
    except ModuleNotFoundError as error:
        if error.name != "ray":
            raise
        raise MissingExtraError("a cluster", "ray", "cluster") from None
    return RayEngine(cluster, workers)

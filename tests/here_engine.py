"""An engine for tests that do not depend on where tasks run."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable
from typing import Any

from rankwright.cluster.engine import Done


class HereEngine:
    """Runs tasks in this process, one after another."""

    workers = threads = 1

    def __init__(self) -> None:
        self.ran = 0  # tasks, in all

    def share(self, value: Any, *, key: str | None = None) -> Any:  # noqa: ARG002
        return value

    def free(self) -> None:
        return None

    def run(
        self, function: Callable[..., Any], tasks: Iterable[Any], *, shared: Any = None, listener: Any = None
    ) -> Generator[Done, None, None]:
        for number, task in enumerate(tasks):
            self.ran += 1
            yield Done(number, function(shared, task, listener), 1.0, "here")

    def __enter__(self) -> HereEngine:
        return self

    def __exit__(self, *_: object) -> None:
        return None

"""A file that lets training go on after it was killed at any moment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rankwright.container.file import Container, read_container, write_container
from rankwright.errors import InputError
from rankwright.training.loop import Progress

KIND = "checkpoint"
FILE_NAME = "checkpoint.rw"
SECONDS_BETWEEN = 5.0  # at most so much work is lost

State = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]


@dataclass(slots=True)
class Checkpoint:
    """Saves the state of a training run in a folder, every few seconds and at its end.

    `identity` says what is being trained on what: a checkpoint of another run is refused, not continued.
    """

    folder: Path
    identity: Mapping[str, Any]
    state: Callable[[], State]
    seconds_between: float = SECONDS_BETWEEN
    _last: float = field(default_factory=time.monotonic)

    @property
    def path(self) -> Path:
        """The file that holds the state."""
        return self.folder / FILE_NAME

    def load(self) -> Container | None:
        """The state saved before, None where there is none."""
        if not self.path.exists():
            return None
        saved = read_container(self.path, KIND)
        if saved.header["identity"] != dict(self.identity):
            differing = sorted(
                name for name in self.identity if saved.header["identity"].get(name) != self.identity[name]
            )
            raise InputError(
                f"{os.fspath(self.path)} is the checkpoint of another run: {', '.join(differing) or 'its settings'} "
                f"differ; choose another folder, or remove the file"
            )
        return saved

    def __call__(self, progress: Progress) -> None:
        """Save where enough time has passed or the last step was taken."""
        if progress.step + 1 == progress.n_steps or time.monotonic() - self._last >= self.seconds_between:
            self.save()

    def save(self) -> None:
        """Write the state now."""
        self.folder.mkdir(parents=True, exist_ok=True)
        header, arrays = self.state()
        write_container(self.path, KIND, {"identity": dict(self.identity)} | dict(header), arrays)
        self._last = time.monotonic()

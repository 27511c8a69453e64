"""A file from which training continues after it was killed at any moment."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from rankwright.container.atomic import remove_unfinished
from rankwright.container.checks import file_faults, read_field
from rankwright.container.file import Container, read_container, write_container
from rankwright.errors import InputError
from rankwright.training.loop import Listener, Progress

KIND = "checkpoint"
FILE_NAME = "checkpoint.rw"
SECONDS_BETWEEN = 5.0  # at most so much work is lost

State = tuple[Mapping[str, Any], Mapping[str, NDArray[Any]]]


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The file in a folder that holds the state of a training run.

    `identity` says what is being trained on what: a checkpoint of another run is refused, not continued.
    """

    folder: Path
    identity: Mapping[str, Any]

    @property
    def path(self) -> Path:
        """The file that holds the state."""
        return self.folder / FILE_NAME

    def load(self) -> Container | None:
        """The state saved before, None where there is none."""
        remove_unfinished(self.folder)
        if not self.path.exists():
            return None
        saved = read_container(self.path, KIND)
        with file_faults(self.path, "checkpoint"):
            identity = read_field(saved.header, "identity", dict)
        if identity != dict(self.identity):
            differing = sorted(name for name in self.identity if identity.get(name) != self.identity[name])
            raise InputError(
                f"{os.fspath(self.path)} is the checkpoint of another run: {', '.join(differing) or 'its settings'} "
                f"differ; choose another folder, or remove the file"
            )
        return saved

    def save(self, header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Write the state."""
        self.folder.mkdir(parents=True, exist_ok=True)
        write_container(self.path, KIND, {"identity": dict(self.identity)} | dict(header), arrays)

    def saver(self, state: Callable[[], State]) -> Listener:
        """A listener that writes the state every few seconds, and after the last step."""
        last = time.monotonic()

        def save_in_time(progress: Progress) -> None:
            nonlocal last
            if progress.step + 1 == progress.n_steps or time.monotonic() - last >= SECONDS_BETWEEN:
                self.save(*state())
                last = time.monotonic()

        return save_in_time

"""torch's process-wide switches, set for a while and put back."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def torch_settings(threads: int, device: str = "cpu") -> Iterator[None]:
    """In this block torch uses so many threads and, on an accelerator, algorithms with reproducible results."""
    before = torch.get_num_threads()
    was_deterministic = torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(threads)
    if device != "cpu":
        torch.use_deterministic_algorithms(True, warn_only=True)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(was_deterministic)


@contextmanager
def torch_seed(seed: int) -> Iterator[None]:
    """In this block torch draws from `seed`; afterwards it goes on as if nothing had been drawn."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        yield

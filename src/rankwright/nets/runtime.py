"""torch's process-wide switches, set for a while and put back.

Threads that use them take turns: the number of threads and the random numbers of torch belong to the whole process, so
that two trainings at once would draw each other's numbers.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import torch


class _Turn(threading.local):
    """Whether it is this thread's turn."""

    is_here = False


_in_use, _next = threading.Lock(), threading.Lock()
_turn = _Turn()


@contextmanager
def _in_turn() -> Iterator[None]:
    """In this block no other thread of ours has torch's switches; a thread may enter it again from inside."""
    if _turn.is_here:
        yield
        return
    with _next:  # who waits here is next: a training that ends one epoch and begins another cannot overtake it
        _in_use.acquire()
    _turn.is_here = True
    try:
        yield
    finally:
        _turn.is_here = False
        _in_use.release()


@contextmanager
def torch_settings(threads: int, device: str = "cpu") -> Iterator[None]:
    """In this block torch uses so many threads and, on an accelerator, algorithms with reproducible results."""
    with _in_turn():
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
    with _in_turn(), torch.random.fork_rng():
        torch.manual_seed(seed)
        yield

"""An exchange between processes on any machines, through PyTorch's collectives over TCP (gloo).

Workers find each other through a small store, which worker 0 keeps. Both listen only on the address by which the other
workers know this machine.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torch
from torch import distributed

from rankwright.arrays import IntArray
from rankwright.cluster.crew import MeetingPlace, PeerLostError

TORCH: Any = distributed  # its type hints leave out what is used here
# How long a worker waits for another, which may have more documents. A dead worker is noticed much sooner.
MOST_SECONDS = 1800.0


class Meeting:
    """Where the workers of a crew find each other: a store that listens on `address`, kept by one of them."""

    def __init__(self, address: str, patience: float) -> None:
        with socket.create_server((address, 0)) as server:
            self.place = address, int(server.getsockname()[1])
            self.store = _store(self.place, patience, listening=server.detach())


def _store(place: tuple[str, int], patience: float, listening: int | None = None) -> Any:
    own: dict[str, Any] = {} if listening is None else {"master_listen_fd": listening}
    longest = timedelta(seconds=patience)
    return TORCH.TCPStore(*place, is_master=listening is not None, wait_for_workers=False, timeout=longest, **own)


def _found_store(place: MeetingPlace) -> Any:
    """The store that another worker keeps. If that worker has ended, connecting fails at once."""
    socket.create_connection(place.store, timeout=place.patience).close()
    return _store(place.store, place.patience / 2)  # torch tries twice


class GlooExchange:
    """One worker's end of an exchange; see `Exchange`.

    If another worker dies or closes its end, this end raises a `PeerLostError` and closes too, so that all
    others notice.
    """

    def __init__(self, place: MeetingPlace, address: str, meeting: Meeting | None) -> None:
        self.rank, self.size = place.rank, place.size
        self.bytes_sent = 0  # to other workers, as far as the algorithms of gloo are known
        options = TORCH.ProcessGroupGloo._Options()
        options._devices = [TORCH.ProcessGroupGloo.create_device(hostname=address)]
        options._timeout = timedelta(seconds=place.patience)
        try:
            store = _found_store(place) if meeting is None else meeting.store
            self._group: Any = TORCH.ProcessGroupGloo(store, self.rank, self.size, options)
        except (OSError, RuntimeError) as error:
            host, port = place.store
            raise PeerLostError(f"worker {self.rank} did not find the others at {host}:{port}: {error}") from None
        self._group.set_timeout(timedelta(seconds=MOST_SECONDS))

    def add_up(self, values: IntArray) -> None:
        """Replace each value by its sum over the workers."""
        self.bytes_sent += 2 * values.nbytes * (self.size - 1) // self.size
        self._do(lambda group: group.allreduce([torch.from_numpy(values)]))

    def trade(self, out: IntArray, sizes: IntArray, into: IntArray) -> None:
        """Send `sizes[w]` values to worker w, those for worker 0 first, and fill `into` with what each sent here."""
        self.bytes_sent += 8 * int(len(out) - sizes[self.rank])
        own = [len(into) // self.size] * self.size
        received, sent = torch.from_numpy(into), torch.from_numpy(out)
        self._do(lambda group: group.alltoall_base(received, sent, own, sizes.tolist()))

    def gather(self, own: IntArray, into: IntArray) -> None:
        """Fill `into` with the values of each worker, worker 0 first."""
        self.bytes_sent += own.nbytes * (self.size - 1)
        parts = list(torch.from_numpy(into).view(self.size, -1))
        self._do(lambda group: group.allgather([parts], [torch.from_numpy(own)]))

    def close(self) -> None:
        """Close the connections: whoever waits for this worker gets an error."""
        self._group = None

    def _do(self, begin: Callable[[Any], Any]) -> None:
        if self._group is None:
            raise PeerLostError(f"the exchange of worker {self.rank} is closed")
        try:
            begin(self._group).wait()
        except RuntimeError as error:
            self.close()
            raise PeerLostError(f"worker {self.rank} lost another one: {error}") from None

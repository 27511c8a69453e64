"""Where the page is, unless another port is asked for; whoever links to it need not load it."""

from __future__ import annotations

ADDRESS = "127.0.0.1"
PORT = 8377


def page_url(port: int = PORT) -> str:
    """The page's address, which says nothing else."""
    return f"http://{ADDRESS}:{port}/"

"""A client of `rankwright serve`, of the standard library and msgspec: it can be copied out of the package."""

from rankwright.client.rank_client import (
    Feedback,
    ModelFacts,
    RankClient,
    Ranked,
    ReasonFor,
    ServerRefusedError,
    WhyDocument,
)

__all__ = ["Feedback", "ModelFacts", "RankClient", "Ranked", "ReasonFor", "ServerRefusedError", "WhyDocument"]

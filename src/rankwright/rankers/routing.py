"""What a ranker tells scikit-learn of the metadata it takes, and in which form it takes it."""

from __future__ import annotations

from typing import Any, Self

from sklearn.utils.metadata_routing import MetadataRequest

from rankwright.data.frames import is_frame, values_of


class PlainRequest(MetadataRequest):  # type: ignore[misc]  # scikit-learn ships no types
    """A request that hands on columns as NumPy's arrays.

    scikit-learn cuts metadata into folds as it cuts NumPy's arrays, which the arrays of pandas that hold Arrow's texts
    (`frame["query"].values`) do not take.
    """

    @classmethod
    def of(cls, request: MetadataRequest) -> Self:
        """The same request, for plain columns."""
        plain = cls(owner=request.owner)
        plain.__dict__.update(request.__dict__)
        return plain

    def __sklearn_clone__(self) -> Self:
        return self.of(super().__sklearn_clone__())

    def _route_params(self, *, params: Any, **how: Any) -> Any:
        plain = {name: value if is_frame(value) else values_of(value) for name, value in params.items()}
        return super()._route_params(params=plain, **how)

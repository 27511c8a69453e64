"""What click models tell: estimates of relevance, and how well clicks were foretold."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rankwright.arrays import Float64Array, IdArray, Int32Array, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class RelevanceEstimates:
    """How relevant a click model thinks each document of a query is, and how sure it is.

    Attributes
    ----------
    queries, documents : array of int32
        The query and the document, as places in `query_ids` and `document_ids`.
    mean : array of float64
        The chance that a user who examines the document clicks it and, for models that know satisfaction, is satisfied.
    deviation, low, high : array of float64
        The standard deviation of the chance of a click, and the interval in which it lies.
    shown : array of int64
        How often the document was shown.
    query_ids, document_ids : array of int64 or str
        The ids.
    """

    queries: Int32Array
    documents: Int32Array
    mean: Float64Array
    deviation: Float64Array
    low: Float64Array
    high: Float64Array
    shown: IntArray
    query_ids: IdArray
    document_ids: IdArray


@dataclass(frozen=True, slots=True, eq=False)
class ClickEvaluation:
    """How well a click model foretells the clicks of a log.

    Attributes
    ----------
    log_likelihood : float
        The mean over lists of the logarithm of the chance of all their clicks, each given those above it.
    conditional_perplexity : float
        2 to the mean surprise in bits at each rank given the clicks above it, averaged over ranks; 1 is perfect.
    perplexity : float
        The same without knowing any clicks.
    conditional_at, perplexity_at : array of float64
        Both at each rank.
    of_list : array of float64
        The log-likelihood of each list.
    counts : array of int64
        How often each list was seen.
    queries : array of int32
        The query of each list.
    """

    log_likelihood: float
    conditional_perplexity: float
    perplexity: float
    conditional_at: Float64Array
    perplexity_at: Float64Array
    of_list: Float64Array
    counts: IntArray
    queries: Int32Array

    def to_dict(self) -> dict[str, Any]:
        """Return the figures in types that JSON can hold.

        Returns
        -------
        dict
            All but those of single lists.
        """
        return {
            "lists": int(self.counts.sum()),
            "log_likelihood": self.log_likelihood,
            "conditional_perplexity": self.conditional_perplexity,
            "perplexity": self.perplexity,
            "conditional_perplexity_at": self.conditional_at.tolist(),
            "perplexity_at": self.perplexity_at.tolist(),
        }

"""Texts scored by a ranker that knows how its features are made, without an index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rankwright.arrays import Float64Array, thread_count
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.errors import InputError
from rankwright.rankers.trained import TrainedRanker
from rankwright.text.index.reading import Index
from rankwright.text.matching import KnownTexts
from rankwright.text.origin import OwnFunction
from rankwright.text.statistics import COMMONEST_TERMS, TextStatistics
from rankwright.text.text_features import Document, TextFeatures


class DocumentScorer:
    """Scores documents that come as texts; made once, it can be asked often.

    Parameters
    ----------
    ranker : ranker or TrainedRanker
        A ranker that was trained on features of texts. It keeps what weighs terms where it was trained
        `--with-statistics`.
    functions : mapping from str to function, optional
        The functions of your own that its features need, where `load` was not given them.
    known : Index, optional
        An index that weighs terms, in place of what the ranker keeps.
    """

    def __init__(
        self, ranker: Any, functions: Mapping[str, OwnFunction] | None = None, known: KnownTexts | None = None
    ) -> None:
        trained = ranker if isinstance(ranker, TrainedRanker) else ranker.trained()
        origin = trained.features.origin
        known = trained.text_statistics if known is None else known
        if origin is None:
            raise InputError("the ranker does not know how its features are made: it was trained on numbers")
        if known is None:
            raise InputError("the ranker keeps no statistics of texts: train it with statistics of the index")
        self._trained: TrainedRanker = trained
        self._features = TextFeatures(origin, known, functions or trained.functions)

    def dataset(
        self, query: str, documents: Sequence[Document | str], *, time: float = np.nan, threads: int | None = None
    ) -> RankingDataset:
        """The features that the ranker sees.

        Parameters
        ----------
        query : str
            The query's text.
        documents : sequence of mapping, or of str
            The texts of each document by field, or its only text.
        time : float, optional
            The query's time in seconds since 1970, where features look at ages.
        threads : int, optional
            How many threads to use.

        Returns
        -------
        RankingDataset
            A query with its documents.
        """
        features = self._features.of(query, documents, time=time, threads=thread_count(threads))
        origin = self._features.origin
        return RankingDataset(
            features=features,
            labels=None,
            groups=Groups.of_sizes([len(features)]),
            feature_names=origin.specification.names,
            feature_origin=origin.to_json(),
        )

    def scores(
        self, query: str, documents: Sequence[Document | str], *, time: float = np.nan, threads: int | None = None
    ) -> Float64Array:
        """A score for each document, larger is better.

        Parameters
        ----------
        query : str
            The query's text.
        documents : sequence of mapping, or of str
            The texts of each document by field, or its only text.
        time : float, optional
            The query's time in seconds since 1970, where features look at ages.
        threads : int, optional
            How many threads to use.

        Returns
        -------
        array of float64, shape (n_documents,)
            The scores that the same documents would have in the index.
        """
        if not len(documents):
            return np.zeros(0)
        return self._trained.predict(self.dataset(query, documents, time=time, threads=threads), threads=threads)


def score_texts(
    ranker: Any,
    query: str,
    documents: Sequence[Document | str],
    *,
    functions: Mapping[str, OwnFunction] | None = None,
    time: float = np.nan,
    threads: int | None = None,
) -> Float64Array:
    """Score documents that are in no index.

    Parameters
    ----------
    ranker : ranker
        A ranker that was trained on features of texts, with statistics of the index.
    query : str
        The query's text.
    documents : sequence of mapping, or of str
        The texts of each document by field, or its only text.
    functions : mapping from str to function, optional
        The functions of your own that its features need.
    time : float, optional
        The query's time in seconds since 1970, where features look at ages.
    threads : int, optional
        How many threads to use.

    Returns
    -------
    array of float64, shape (n_documents,)
        A score for each document, larger is better.
    """
    return DocumentScorer(ranker, functions).scores(query, documents, time=time, threads=threads)


def with_statistics_of(trained: TrainedRanker, index: Index, n_terms: int = COMMONEST_TERMS) -> TrainedRanker:
    """The ranker with what scoring texts needs of the index that its features were made of."""
    origin = trained.features.origin
    if origin is None:
        raise InputError(
            "statistics of an index go with features of texts, and the data does not tell how its features were made: "
            "train on what `rankwright features` wrote as Parquet"
        )
    if origin.fields != tuple(index.fields) or dict(origin.analyser) != index.analyser.to_dict():
        raise InputError(f"{index.path} has other fields or another analyser than the index that features were made of")
    return replace(trained, text_statistics=TextStatistics.of_index(index, n_terms))

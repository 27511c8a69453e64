"""Features that a model needs and a dataset lacks, computed for the dataset's documents from an index."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rankwright.arrays import text_ids
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError
from rankwright.text.collections.queries import Queries
from rankwright.text.features import FeatureSources, QueryDocuments, features_of
from rankwright.text.index.reading import Index
from rankwright.text.origin import FeatureOrigin
from rankwright.text.specification import FeatureSpecification


def rows_in_index(data: RankingDataset, index: Index, queries: Queries) -> QueryDocuments:
    """The queries and documents of a dataset, as an index knows them.

    Parameters
    ----------
    data : RankingDataset
        Documents with ids of queries and documents.
    index : Index
        The index that has the documents.
    queries : Queries
        The texts of the queries.

    Returns
    -------
    QueryDocuments
        The rows of the dataset in its own order, with its labels.
    """
    if data.document_ids is None or data.query_ids is None:
        raise InputError("the documents need ids of queries and documents to be found in an index")
    text_of = dict(zip(queries.ids, queries.texts, strict=True))
    asked = text_ids(data.query_ids).tolist()
    unknown = next((query for query in asked if query not in text_of), None)
    if unknown is not None:
        raise InputError(f"the queries have no text of query {unknown!r}, of which there are documents")
    documents = text_ids(data.document_ids).tolist()
    ordinals = index.ordinals(documents)
    if len(ordinals) and ordinals.min() < 0:
        lacking = documents[int(np.argmin(ordinals))]
        raise InputError(f"the index {index.path} has no document {lacking!r}")
    return QueryDocuments(asked, [text_of[query] for query in asked], data.groups.offsets, ordinals, data.labels)


def with_features_of(
    origin: FeatureOrigin | None,
    data: RankingDataset,
    index: Index,
    queries: Queries,
    *,
    sources: FeatureSources | None = None,
    threads: int | None = None,
) -> RankingDataset:
    """Add the features that a model needs and a dataset lacks.

    Parameters
    ----------
    origin : FeatureOrigin or None
        How the model's features are made; None for a model that does not know, for which nothing is added.
    data : RankingDataset
        Documents with ids of queries and documents; features that they have are kept.
    index : Index
        The index of the documents, whose texts must become terms as those of the model's did.
    queries : Queries
        The texts of the queries.
    sources : FeatureSources, optional
        A log of clicks, vectors and functions, where the features need them.
    threads : int, optional
        How many threads to use.

    Returns
    -------
    RankingDataset
        The documents, with further columns.
    """
    if origin is None:
        return data
    lacking = [line for line in origin.specification.lines if {one.name for one in line.columns()} - set(data.names)]
    if not lacking:
        return data
    if origin.opened_analyser().fingerprint != index.analyser.fingerprint:
        raise InputError(f"the index {index.path} makes terms of texts in another way than the model's features")
    made = features_of(
        index, rows_in_index(data, index, queries), FeatureSpecification(lacking), sources, threads=threads
    )
    added = [place for place, name in enumerate(made.feature_names) if name not in set(data.names)]
    features = np.column_stack([data.dense().features, made.features[:, added]])
    names = (*data.names, *(made.feature_names[place] for place in added))
    return replace(data.with_features(features, names, data.categories), feature_origin=None)

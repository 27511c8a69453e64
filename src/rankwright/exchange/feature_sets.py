"""Skeletons of what an engine must be told about features: their names, with the queries left to fill in."""

from __future__ import annotations

import json

from rankwright.exchange.subject import Subject
from rankwright.exchange.target import ExportOptions

TO_FILL = "fill in: a query whose score is this feature"


def plugin_feature_set(subject: Subject, options: ExportOptions) -> dict[str, bytes]:
    """The feature set of the plugins of Elasticsearch and OpenSearch."""
    features = [
        {"name": name, "params": ["keywords"], "template_language": "mustache",
         "template": {"match": {TO_FILL: "{{keywords}}"}}}
        for name in subject.names
    ]  # fmt: skip
    document = {"featureset": {"name": f"{options.name}_features", "features": features}}
    return {".featureset.json": _text(document)}


def solr_features(subject: Subject, options: ExportOptions) -> dict[str, bytes]:
    """The features of Solr's store; a feature that may lack its value has NaN as its default."""
    params = {"q": TO_FILL}
    features = [
        {"store": f"{options.name}_features", "name": name, "class": "org.apache.solr.ltr.feature.SolrFeature",
         "params": params | ({"defaultValue": "NaN"} if options.missing == "kept" else {})}
        for name in subject.names
    ]  # fmt: skip
    return {".features.json": _text(features)}


def _text(document: object) -> bytes:
    return (json.dumps(document, indent=2) + "\n").encode()

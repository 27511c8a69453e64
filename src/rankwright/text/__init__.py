"""Documents and queries: collections read, indexed, searched, and turned into features."""

# ruff: noqa: F401
# mypy: implicit-reexport

import inspect

from rankwright.text.analysis import Analyser
from rankwright.text.candidates import Candidates, top_documents
from rankwright.text.click_events import ClickEvents, read_click_events
from rankwright.text.collections.documents import Collection, DocumentBatch, read_documents
from rankwright.text.collections.field_kinds import Field
from rankwright.text.collections.judged import JudgedPairs, read_judgments
from rankwright.text.collections.queries import Queries, read_queries
from rankwright.text.default_specification import default_specification, mslr_specification
from rankwright.text.families import FAMILIES
from rankwright.text.feature_logs import join_log
from rankwright.text.feature_rows import ChosenRows, choose_rows
from rankwright.text.features import FeatureSources, QueryDocuments, features_in_blocks, features_of
from rankwright.text.index.building import build_index
from rankwright.text.index.reading import Index, open_index
from rankwright.text.joining import JoinedData, join_judgments
from rankwright.text.origin import FeatureOrigin, function_fingerprint
from rankwright.text.page_rank import page_rank
from rankwright.text.scorers import BM25, BM25F, DPH, Dirichlet
from rankwright.text.specification import FeatureColumn, FeatureLine, FeatureSpecification, read_specification
from rankwright.text.statistics import TextStatistics
from rankwright.text.text_features import TextFeatures
from rankwright.text.vectors import DocumentVectors, document_vectors, fuse_candidates, nearest_documents

__all__ = sorted(name for name, value in globals().items() if not name.startswith("_") and not inspect.ismodule(value))

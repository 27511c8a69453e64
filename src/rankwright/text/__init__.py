"""Documents and queries: collections read, indexed, searched, and turned into features."""

# ruff: noqa: F401
# mypy: implicit-reexport

import inspect

from rankwright.text.analysis import Analyser
from rankwright.text.candidates import Candidates, top_documents
from rankwright.text.collections.documents import Collection, DocumentBatch, read_documents
from rankwright.text.collections.field_kinds import Field
from rankwright.text.collections.judged import JudgedPairs, read_judgments
from rankwright.text.collections.queries import Queries, read_queries
from rankwright.text.feature_logs import join_log
from rankwright.text.index.building import build_index
from rankwright.text.index.reading import Index, open_index
from rankwright.text.joining import JoinedData, join_judgments
from rankwright.text.scorers import BM25, BM25F, DPH, Dirichlet

__all__ = sorted(name for name, value in globals().items() if not name.startswith("_") and not inspect.ismodule(value))

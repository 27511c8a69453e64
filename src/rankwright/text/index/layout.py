"""What the files of a segment are called, and how many documents and terms they speak of.

terms        term_bytes, term_starts         the terms in the order of their bytes
postings     posting_starts                  where the postings of each term begin
             posting_documents               the documents that have the term in any field, in order
             counts.FIELD                    how often the field has it, in as many bytes as the largest count needs
statistics   frequencies.FIELD               in how many documents the field has the term
             occurrences.FIELD               how often it does in all
bounds       block_starts                    where the blocks of each term begin
             block_most.FIELD                the largest count in a block of postings
             block_least.FIELD               the least length of a field that has the term
streams      stream_starts.FIELD             where the terms of each document begin
             stream_tokens.FIELD             the terms of all documents, in the order of the text
documents    id_bytes, id_starts, id_order   their ids, and their order by id
             numbers.FIELD                   numbers and dates
             link_starts                     where the links of each document begin
             target_bytes, target_starts     the ids that links lead to
stored       stored_bytes                    texts, compressed in blocks of documents
             stored_starts, stored_first     where each block begins, and its first document
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankwright.text.collections.field_kinds import LINKS, Field

POSTINGS_IN_BLOCK = 128
MOST_DOCUMENTS = 2**31 - 1  # of an index
DOCUMENTS_IN_STORED_BLOCK = 64
CHARACTERS_IN_STORED_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class IndexLayout:
    """Which of the fields are texts, and which numbers."""

    fields: tuple[Field, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        """The fields whose words are indexed."""
        return tuple(field.name for field in self.fields if field.is_text)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The fields that are numbers or dates."""
        return tuple(field.name for field in self.fields if not field.is_text and field.kind != LINKS)


def field_files(kind: str, n_fields: int) -> Sequence[str]:
    """The names of the files of that kind, one for each field: by number, for a name may hold what no file's may."""
    return [f"{kind}.{number}" for number in range(n_fields)]

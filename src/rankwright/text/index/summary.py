"""What an index holds, told to people and to programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rankwright.memory import gigabytes
from rankwright.text.index.reading import Index


def index_summary(index: Index) -> dict[str, Any]:
    """What an index holds, as `--json` tells it.

    Parameters
    ----------
    index : Index
        The index.

    Returns
    -------
    dict
        Numbers of documents and terms, fields with their sizes, the analyser, and the bytes on the disk.
    """
    totals = index.totals()
    texts = {
        name: {"tokens": int(tokens), "documents": int(having)}
        for name, tokens, having in zip(index.text_fields, totals.tokens, totals.documents_with_field, strict=True)
    }
    fields = [{"name": field.name, "kind": field.kind} | texts.get(field.name, {}) for field in index.fields]
    return {
        "documents": index.n_documents,
        "terms": sum(segment.files.length("term_starts") - 1 for segment in index.segments),
        "fields": fields,
        "segments": [segment.n_documents for segment in index.segments],
        "analyser": index.analyser.to_dict(),
        "bytes": index.n_bytes(),
        "fingerprint": index.fingerprint,
    }


def index_rows(index: Index) -> Iterator[tuple[str, str]]:
    """The labels and texts that show a person what an index holds."""
    found = index_summary(index)
    yield "documents", f"{found['documents']:,}"
    segments = found["segments"]
    yield "terms", f"{found['terms']:,}" + (f", in {len(segments)} segments" if len(segments) > 1 else "")
    for place, field in enumerate(found["fields"]):
        told = f"{field['name']}  {field['kind']}"
        if "tokens" in field:
            mean = field["tokens"] / max(found["documents"], 1)
            told += f", {field['documents']:,} documents, {field['tokens']:,} terms, {mean:,.1f} a document"
        yield ("fields" if place == 0 else ""), told
    yield "analyser", analyser_text(index)
    yield "size", gigabytes(found["bytes"]) if found["bytes"] >= 1e9 else f"{found['bytes'] / 1e6:,.1f} MB"


def analyser_text(index: Index) -> str:
    """How the index's texts became terms, in a line."""
    analyser = index.analyser
    rules = "Unicode's rules"
    words = f"words by {analyser.tokeniser_name or rules}"
    stems = f"stems of {analyser.language}" if analyser.stem and analyser.language else "no stems"
    if isinstance(analyser.stop_words, bool):
        left_out = (
            f"stop words of {analyser.language}" if analyser.stop_words and analyser.language else "no stop words"
        )
    else:
        left_out = f"{len(analyser.stop_words):,} stop words"
    return ", ".join([words, stems, left_out])

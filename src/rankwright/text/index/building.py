"""How an index is built: documents read in runs, runs analysed by threads, all of them merged into a segment."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import numpy as np

from rankwright.arrays import thread_count, whole_number
from rankwright.container.locks import locked_file
from rankwright.container.outputs import check_output_folder
from rankwright.errors import InputError, SettingError, require, require_input
from rankwright.progress.stages import announce
from rankwright.text.analysis import Analyser
from rankwright.text.collections.documents import Collection, DocumentBatch
from rankwright.text.collections.faults import CollectionFault
from rankwright.text.collections.field_kinds import LINKS, NUMBER, TEXT, Field
from rankwright.text.index.array_files import ArrayFiles, ArrayFolder
from rankwright.text.index.layout import MOST_DOCUMENTS, IndexLayout
from rankwright.text.index.manifest import SEGMENT_PREFIX, Manifest, SegmentRecord, is_index, read_manifest
from rankwright.text.index.merging import MergeSettings, in_order, merge
from rankwright.text.index.reading import Index, open_index
from rankwright.text.index.runs import RunDocuments, runs_of, write_run

DEFAULT_MEMORY = 1 << 30
LEAST_MEMORY = 64 << 20
MOST_RUN = 16 << 20  # characters: longer runs are merged no faster
SHARE_OF_RUN = 20  # of the memory of a thread, what the characters of its run may take: tokens and postings need more
MOST_SEGMENTS = 8  # more are merged into one
MOST_RUNS = 32  # more are merged into longer ones on the way
LOCK, SCRATCH = ".lock", ".building-"


def build_index(
    collection: Collection | Iterable[DocumentBatch],
    out: str | os.PathLike[str],
    *,
    analyser: Analyser | None = None,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    append: bool = False,
) -> Index:
    """Index a collection of documents.

    Parameters
    ----------
    collection : Collection or iterable of DocumentBatch
        The documents, as `read_documents` gives them.
    out : path
        The folder of the index. An index that is there is replaced when the new one is complete.
    analyser : Analyser, optional
        How texts become terms; English by default. With `append`, it must be that of the index, or left out.
    memory : int, default 1 GB
        The bytes that the build may use, about; less memory takes more, smaller runs.
    threads : int, optional
        How many threads analyse documents; every core by default. The files do not depend on it.
    append : bool, default False
        Whether documents are added to the index at `out`; those whose ids it has are left out and counted.

    Returns
    -------
    Index
        The index, open.

    Examples
    --------
    >>> from rankwright.text import read_documents
    >>> from rankwright.text.index.building import build_index
    >>> documents = [{"id": "a", "title": "Red boats"}, {"id": "b", "title": "A boat"}]
    >>> import tempfile
    >>> index = build_index(read_documents(documents), tempfile.mkdtemp() + "/index")
    >>> index.statistics(["boat"]).any_frequency
    array([2])
    """
    require(whole_number(memory, "memory", least=0) >= LEAST_MEMORY, f"memory must be {LEAST_MEMORY:,} bytes or more")
    check_output_folder(out)
    folder = Path(out)
    if not append and not is_free_or_index(folder):
        raise SettingError(f"{os.fspath(out)} is a folder with other things in it: name a new folder")
    if append and not is_index(folder):
        raise SettingError(f"{os.fspath(out)} is no index to append to")
    resources = BuildResources(memory, thread_count(threads))
    with _build_lock(folder):
        old = open_index(folder, tokeniser=analyser.tokeniser if analyser else None) if append else None
        batches, layout = _batches_of(collection)
        if old is None:
            manifest = Manifest(layout, analyser or Analyser(), ())
        else:
            manifest = read_manifest(folder, old.analyser.tokeniser)
            _check_same(old, layout, analyser)
            old.require_analyser()
            batches = _new_documents(batches, old, collection)
        _build(batches, manifest, folder, resources)
    return open_index(folder, tokeniser=manifest.analyser.tokeniser)


@dataclass(frozen=True, slots=True)
class BuildResources:
    """The memory and the threads of a build."""

    memory: int
    threads: int

    @property
    def run_characters(self) -> int:
        """How many characters a run has, about."""
        return min(self.memory // (SHARE_OF_RUN * (self.threads + 1)), MOST_RUN)


def _batches_of(collection: Collection | Iterable[DocumentBatch]) -> tuple[Iterator[DocumentBatch], IndexLayout]:
    if isinstance(collection, Collection):
        return collection.batches(), IndexLayout(collection.fields)
    batches = iter(collection)
    first = next(batches, None)
    if first is None:
        raise InputError("there are no documents to index")
    fields = [Field(name, TEXT) for name in first.texts] + [Field(name, NUMBER) for name in first.numbers]
    if first.links is not None:
        fields.append(Field("links", LINKS))
    return chain([first], batches), IndexLayout(tuple(fields))


def _check_same(old: Index, layout: IndexLayout, analyser: Analyser | None) -> None:
    if analyser is not None and analyser.fingerprint != old.analyser.fingerprint:
        raise InputError(f"{old.path} has another analyser, {old.analyser.to_dict()}: leave it out, or index anew")
    kinds = {field.name: field.kind for field in old.fields}
    for field in layout.fields:
        if kinds.get(field.name) != field.kind:
            found = f"which is a {kinds[field.name]} there" if field.name in kinds else "which it does not have"
            raise InputError(f"{old.path}: the new documents have a field {field.name!r} ({field.kind}), {found}")


def _new_documents(
    batches: Iterable[DocumentBatch], old: Index, collection: Collection | Iterable[DocumentBatch]
) -> Iterator[DocumentBatch]:
    """The documents whose ids the index does not have."""
    for batch in batches:
        known = old.ordinals(batch.ids) >= 0
        if isinstance(collection, Collection):
            for place in np.flatnonzero(known).tolist():
                collection.problems.note(CollectionFault.IN_INDEX, old.path, found=batch.ids[place])
        yield _without(batch, known.tolist()) if known.any() else batch


def _without(batch: DocumentBatch, left_out: Sequence[bool]) -> DocumentBatch:
    kept = [place for place, out in enumerate(left_out) if not out]
    return DocumentBatch(
        [batch.ids[place] for place in kept],
        {name: [texts[place] for place in kept] for name, texts in batch.texts.items()},
        {name: values[kept] for name, values in batch.numbers.items()},
        None if batch.links is None else [batch.links[place] for place in kept],
    )


@contextmanager
def _build_lock(folder: Path) -> Iterator[None]:
    """Hold the folder of an index, which is made where it is not there; two builds at once are refused."""
    is_new = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with locked_file(folder / LOCK):
            try:
                yield
            finally:
                _remove_strangers(folder)
                if is_new and not is_index(folder):
                    (folder / LOCK).unlink(missing_ok=True)
                    folder.rmdir()
    except BlockingIOError:
        raise SettingError(f"{os.fspath(folder)} is being built by another process: wait until it is done") from None


def is_free_or_index(path: str | os.PathLike[str]) -> bool:
    """Whether nothing is lost if an index is built there: it is one, is not there, or holds what killed builds left."""
    folder = Path(path)
    if not folder.is_dir():
        return not folder.exists()
    return is_index(folder) or all(
        one.name == LOCK or one.name.startswith((SCRATCH, SEGMENT_PREFIX)) for one in folder.iterdir()
    )


def _remove_strangers(folder: Path) -> None:
    """Remove segments and scratch folders that the manifest does not name: of old indexes, and of killed builds."""
    named = {segment.name for segment in read_manifest(folder).segments} if is_index(folder) else set()
    for path in folder.iterdir():
        if path.name.startswith((SCRATCH, SEGMENT_PREFIX)) and path.name not in named:
            shutil.rmtree(path, ignore_errors=True)


def _build(batches: Iterable[DocumentBatch], manifest: Manifest, folder: Path, resources: BuildResources) -> None:
    """Add the documents to those of the manifest, as a segment, and write the new manifest."""
    scratch = Path(tempfile.mkdtemp(prefix=SCRATCH, dir=folder))
    layout = manifest.layout
    settings = MergeSettings(len(layout.texts), len(layout.numbers), resources.memory, resources.threads)
    sources = _analysed_runs(batches, manifest, scratch, resources, settings)
    segments = list(manifest.segments)
    if sources:
        segments.append(_merged(sources, scratch, folder, settings))
    require_input(bool(segments), "there are no documents to index")
    n_documents = sum(segment.n_documents for segment in segments)
    require_input(n_documents <= MOST_DOCUMENTS, f"an index has {MOST_DOCUMENTS:,} documents at most")
    if len(segments) > MOST_SEGMENTS:
        parts = [ArrayFiles(folder / segment.name, segment.arrays) for segment in segments]
        for part in parts:
            part.check()
        segments = [_merged(parts, scratch, folder, settings)]
    Manifest(layout, manifest.analyser, tuple(segments)).write(folder)


def _analysed_runs(
    batches: Iterable[DocumentBatch],
    manifest: Manifest,
    scratch: Path,
    resources: BuildResources,
    settings: MergeSettings,
) -> list[ArrayFiles]:
    """The documents as runs; where there are many, neighbours become longer ones, for each takes memory in a merge."""
    n_done = 0

    def analysed(numbered: tuple[int, RunDocuments]) -> tuple[ArrayFiles, int]:
        number, run = numbered
        path = scratch / f"run-{number}"
        path.mkdir()
        return write_run(run, manifest.analyser, ArrayFolder(path)).files(temporary=True), len(run)

    announce("indexing")
    sources: list[ArrayFiles] = []
    n_merged = 0
    runs = enumerate(runs_of(batches, manifest.layout, resources.run_characters))
    for source, n_documents in in_order(analysed, runs, resources.threads):
        sources.append(source)
        n_done += n_documents
        if len(sources) - n_merged == MOST_RUNS:
            path = Path(tempfile.mkdtemp(prefix="runs-", dir=scratch))
            longer = merge(sources[n_merged:], ArrayFolder(path), settings).files(temporary=True)
            sources[n_merged:] = [longer]
            n_merged += 1
        announce("indexing", n_done, unit="documents")
    return sources


def _merged(sources: Sequence[ArrayFiles], scratch: Path, folder: Path, settings: MergeSettings) -> SegmentRecord:
    """The sources as one segment of the index; it is not part of it until the manifest says so."""
    path = Path(tempfile.mkdtemp(prefix="segment-", dir=scratch))
    path.chmod(folder.stat().st_mode & 0o777)
    segment = merge(sources, ArrayFolder(path), settings)
    segment.sync()
    record = SegmentRecord.of_folder(segment)
    target = folder / record.name
    if target.exists():  # the same documents were indexed before
        shutil.rmtree(path)
    else:
        path.rename(target)
    return record

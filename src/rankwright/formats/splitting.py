"""A file of documents cut into several between its queries: by shares, or into folds in LETOR's form.

Rows are copied as they stand, with all columns and comments, in the order that they have. Which queries go where
depends on their ids, the seed and, for folds, how many documents they have: the order of rows has no effect. Memory
holds the query of each row, and one block of rows at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from os import fspath
from pathlib import Path, PurePath
from typing import IO, Any

import numpy as np

from rankwright.arrays import IntArray
from rankwright.container.outputs import check_output_folder
from rankwright.data.dataset import RankingDataset
from rankwright.data.groups import Groups
from rankwright.data.splits import k_fold, split_queries
from rankwright.errors import FileFormatError, InputError, Message, Parameter, SettingError, require
from rankwright.formats.blocks import Reader
from rankwright.formats.file_formats import FORMATS, TEXT_SUFFIXES, format_of, suffix_of
from rankwright.formats.parquet import ParquetReader, copy_parquet_rows
from rankwright.formats.pipeline import read_queries
from rankwright.formats.reading import reader_of
from rankwright.formats.sidecars import FEATURE_NAMES_FILE, QUERY_SUFFIX, feature_names_of
from rankwright.formats.storage.places import FilePath
from rankwright.formats.storage.streams import atomic_output, atomic_text_output, input_name, is_standard, spooled

USUAL_SHARE = 0.2
FEWEST_FOLDS, MOST_FOLDS = 3, 50
ENDING_OF = {"svmlight": ".txt"}  # where the source shows none; LETOR's files end so
WITHOUT_USE = ("absent", "features", "drop", "categories")  # options of reading that would change what is written


@dataclass(frozen=True, slots=True)
class SplitPart:
    """A file that was written, and how much is in it."""

    path: str
    queries: int
    documents: int


@dataclass(frozen=True, slots=True)
class SplitFiles:
    """The files that a file was cut into, and its format, which they all have."""

    format: str
    parts: tuple[SplitPart, ...]

    def to_dict(self) -> dict[str, Any]:
        """The split in types JSON can hold."""
        return asdict(self)


def split_file(
    source: FilePath,
    folder: FilePath,
    *,
    valid: float | None = None,
    test: float | None = None,
    folds: int | None = None,
    seed: int = 0,
    format: str | None = None,
    **options: Any,
) -> SplitFiles:
    """Cut a file into train, valid and test by shares of the queries, or into folders Fold1, Fold2, … in LETOR's form.

    Of `valid` and `test`, those that are given make a part; where neither is, both do, with a fifth of the queries
    each. `options` are those of `read`.
    """
    if folds is not None and (valid is not None or test is not None):
        shares_given = Parameter("valid" if test is None else "test")
        raise SettingError(Message(Parameter("folds"), " goes without shares: leave out ", shares_given))
    for name in WITHOUT_USE:
        require(name not in options, f"rows are copied as they are: leave out {name}")
    shares, contents = _shares(valid, test), _contents(valid, test, folds)
    name = format_of(source) if format is None else format
    targets = split_targets(source, folder, valid=valid, test=test, folds=folds, format=name)
    with spooled(source) as paths:
        reader = reader_of(paths, name, options)
        _check_names(targets, reader)
        data = read_queries(paths, reader)
        part_of_query = _part_of_query(data, list(shares.values()), folds, seed)
        with _new_files(targets) as files:
            part_of_row = data.in_source_order(part_of_query[data.groups.query_of_row])
            _copy(reader, fspath(paths[0]), part_of_row, _files_of_parts(files, list(contents.values())))
        _write_beside(targets, contents, data, part_of_query, reader)
    return SplitFiles(name, tuple(_described(targets, contents, data.groups, part_of_query)))


Contents = Mapping[str, Sequence[int]]  # the parts that each file holds, by its name without an ending


def _shares(valid: float | None, test: float | None) -> dict[str, float]:
    """The shares that are asked for, by the part that they make."""
    if valid is test is None:
        valid = test = USUAL_SHARE
    shares = {name: share for name, share in (("valid", valid), ("test", test)) if share is not None}
    for name, share in shares.items():
        require(0 < share < 1, Message(Parameter(name), f" must be a share between 0 and 1, got {share}"))
    return shares


def _contents(valid: float | None, test: float | None, n_folds: int | None) -> Contents:
    if n_folds is None:
        return {name: [part] for part, name in enumerate(["train", *_shares(valid, test)])}
    wanted = f"folds must be {FEWEST_FOLDS} to {MOST_FOLDS}: one part to test on, one to validate on, the rest to train"
    require(FEWEST_FOLDS <= n_folds <= MOST_FOLDS, f"{wanted}; got {n_folds}")
    contents: dict[str, Sequence[int]] = {}
    for fold in range(n_folds):
        vali, test = (fold + n_folds - 2) % n_folds, (fold + n_folds - 1) % n_folds  # Fold1 tests on the last part
        contents[f"Fold{fold + 1}/train"] = [part for part in range(n_folds) if part not in (vali, test)]
        contents |= {f"Fold{fold + 1}/vali": [vali], f"Fold{fold + 1}/test": [test]}
    return contents


def _part_of_query(data: RankingDataset, shares: Sequence[float], n_folds: int | None, seed: int) -> IntArray:
    """The part that each query is drawn for, by ids in their order, whatever order the rows are in."""
    ids = np.arange(data.n_queries) if data.query_ids is None else data.query_ids
    order = np.argsort(ids, kind="stable")
    if n_folds is None:
        test = shares[1] if len(shares) > 1 else None
        drawn: Sequence[IntArray] = split_queries(data.groups, valid=shares[0], test=test, seed=seed, order=order)
    else:
        drawn = [fold.test for fold in k_fold(data.groups, n_folds, seed=seed, order=order)]
    part_of = np.empty(data.n_queries, np.int64)
    for part, queries in enumerate(drawn):
        part_of[queries] = part
    return part_of


def _ending(source: FilePath, format: str) -> str:
    """The ending of the source, by which its format and its compression are known again; else a usual one."""
    suffix = "" if is_standard(source) else suffix_of(source)
    if suffix in (*FORMATS[format].suffixes, *TEXT_SUFFIXES):
        name = PurePath(source).name
        return name[name.lower().rindex(suffix) :]
    return ENDING_OF.get(format, FORMATS[format].suffixes[0])


def split_targets(
    source: FilePath,
    folder: FilePath,
    *,
    valid: float | None = None,
    test: float | None = None,
    folds: int | None = None,
    format: str | None = None,
) -> list[Path]:
    """The files that `split_file` writes."""
    ending = _ending(source, format_of(source) if format is None else format)
    check_output_folder(folder)
    return [Path(folder) / f"{name}{ending}" for name in _contents(valid, test, folds)]


def _check_names(targets: Sequence[Path], reader: Reader) -> None:
    """Raise where names of other features would be replaced."""
    for folder in dict.fromkeys(path.parent for path in targets):
        file = folder / FEATURE_NAMES_FILE
        if _names_of(reader) and file.exists() and feature_names_of(file) != _names_of(reader):
            raise InputError(f"{file} has the names of other features: name another folder")


def _names_of(reader: Reader) -> tuple[str, ...]:
    """The names that stand beside the source, not in it."""
    return tuple(getattr(reader, "own_names", ()))


@contextmanager
def _new_files(targets: Sequence[Path]) -> Iterator[list[IO[bytes]]]:
    """A file for each path, which appears complete or not at all; folders that stay empty are removed."""
    made = [parent for path in targets for parent in (path.parent.parent, path.parent) if not parent.exists()]
    try:
        for path in targets:
            path.parent.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            yield [stack.enter_context(atomic_output(path)) for path in targets]
    except BaseException:
        for folder in reversed(list(dict.fromkeys(made))):
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        raise


def _files_of_parts(files: Sequence[IO[bytes]], contents: Sequence[Sequence[int]]) -> list[list[IO[bytes]]]:
    """For each part, the files that hold it."""
    n_parts = 1 + max(part for parts in contents for part in parts)
    return [[file for file, parts in zip(files, contents, strict=True) if part in parts] for part in range(n_parts)]


def _copy(reader: Reader, path: str, part_of_row: IntArray, files_of: Sequence[Sequence[IO[bytes]]]) -> None:
    if isinstance(reader, ParquetReader):
        n_rows = copy_parquet_rows(path, part_of_row, files_of)
    else:
        n_rows = _copy_lines(reader, path, part_of_row, files_of)
    if n_rows != len(part_of_row):
        raise FileFormatError(input_name(path), "was changed while it was being split")


def _copy_lines(reader: Reader, path: str, part_of_row: IntArray, files_of: Sequence[Sequence[IO[bytes]]]) -> int:
    row, every_file = 0, dict.fromkeys(file for files in files_of for file in files)
    for shared, lines in reader.copied_lines(path):
        for file in every_file if shared else ():
            file.write(shared)
        parts = part_of_row[row : row + len(lines)]
        for part in np.unique(parts).tolist():
            text = b"".join(lines[place] for place in np.flatnonzero(parts == part).tolist())
            for file in files_of[part]:
                file.write(text)
        row += len(lines)
    return row


def _write_beside(
    targets: Sequence[Path], contents: Contents, data: RankingDataset, part_of_query: IntArray, reader: Reader
) -> None:
    """Write what stands beside the source: the names of features, and the sizes of queries that have no ids."""
    names = _names_of(reader)
    for folder in dict.fromkeys(path.parent for path in targets) if names else ():
        with atomic_text_output(folder / FEATURE_NAMES_FILE) as file:
            file.writelines(f"{name}\n" for name in names)
    if data.query_ids is None:
        for path, parts in zip(targets, contents.values(), strict=True):
            with atomic_text_output(Path(f"{path}{QUERY_SUFFIX}")) as file:
                file.writelines(f"{size}\n" for size in data.groups.sizes[np.isin(part_of_query, parts)].tolist())


def _described(
    targets: Sequence[Path], contents: Contents, groups: Groups, part_of_query: IntArray
) -> Iterator[SplitPart]:
    for path, parts in zip(targets, contents.values(), strict=True):
        chosen = np.isin(part_of_query, parts)
        yield SplitPart(str(path), int(chosen.sum()), int(groups.sizes[chosen].sum()))

"""The door: a trained ranker to a file of another engine, with documents and scores that prove it."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path
from typing import Any

import numpy as np

from rankwright.arrays import Float32Array, as_features
from rankwright.catalog.rankers import load_trained
from rankwright.container.atomic import atomic_file
from rankwright.container.outputs import destination, inputs_kept, refuse_inputs
from rankwright.data.dataset import RankingDataset
from rankwright.errors import InputError, RankwrightError, require, require_type
from rankwright.exchange.subject import (
    KIND_WORDS,
    BlendSubject,
    ForestSubject,
    NotExportableError,
    Subject,
    subject_of,
)
from rankwright.exchange.target import ExportOptions, Missing, Target, Written
from rankwright.exchange.target_table import target_named
from rankwright.exchange.verifying import beyond_limits, bound_of, made_up, verify
from rankwright.formats.reading import read_wide
from rankwright.rankers.exported import Exported, Verdict
from rankwright.rankers.known_features import with_width
from rankwright.rankers.trained import TrainedRanker

MOST_SAMPLE_ROWS = 200  # that are written beside the model
MOST_VERIFIED_ROWS = 20_000  # of the user's


FEATURES_STAY = (
    "the engine must compute the features: how they are made of texts stays in the model file, as `inspect` shows"
)


ONE_BY_ONE = "scores documents one by one, and this blend compares each score with those of its list"
ONE_KIND = "holds trees or one net, and this blend is of several kinds"


class VerificationError(RankwrightError, RuntimeError):
    """A target gave other scores than ours."""


def export(
    ranker: Any,
    path: str | os.PathLike[str],
    *,
    to: str,
    sample: Any = None,
    verify: bool = False,
    lift: bool = False,
    missing: Missing = "kept",
    name: str | None = None,
) -> Exported:
    """Write a trained ranker in the format of another engine, with documents and scores that prove it.

    Parameters
    ----------
    ranker : ranker or path
        A trained ranker, or a model file: ours, or one of another tool that `load` reads.
    path : path
        The file to write. Beside it go a sample of documents with their expected scores, and what else the target
        needs: a header, a skeleton of the feature set.
    to : str
        The target; `rankwright list targets` shows them.
    sample : RankingDataset, path or array, optional
        Documents for the sample; made-up ones on every threshold unless given.
    verify : bool, default False
        Whether to run the target, or a strict evaluator of its rules where it cannot be run here. A difference beyond
        rounding is an error, and then nothing is written.
    lift : bool, default False
        Whether to add the constant that makes the least score of a forest 0: Lucene refuses negative scores.
    missing : {"kept", "never"}, default "kept"
        `never` says that documents never lack a value, so that targets without a side for them can be had.
    name : str, optional
        What the model is called in the file; the file's name unless given.

    Returns
    -------
    Exported
        The files, notes, limits, and verdicts.

    Examples
    --------
    >>> import tempfile
    >>> import rankwright as rw
    >>> data = rw.synthetic.web_search(n_queries=20, seed=0)
    >>> ranker = rw.LambdaMART(n_trees=3, max_leaves=4).fit(data)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     report = rw.export(ranker, f"{folder}/model.json", to="plugin-xgboost", verify=True)
    >>> report.verdicts[0].passed, report.verdicts[0].by
    (True, 'by rule, not run')
    """
    require(missing in ("kept", "never"), f"missing must be kept or never, got {missing!r}")
    require_type(path, (str, os.PathLike), "path", "the name of a file")
    target = target_named(to)
    trained = _trained(ranker)
    subject, added = _lifted(subject_of(trained), lift)
    if isinstance(subject, BlendSubject) and subject.kind not in target.takes:
        raise NotExportableError(
            f"{target.name} {ONE_BY_ONE if subject.is_of_lists else ONE_KIND}: take onnx, or compress the blend into "
            f"one forest (rankwright compress)"
        )
    options = ExportOptions(name=Path(path).stem if name is None else name, missing=missing)
    written = target.write(subject, options)
    rows = made_up(subject, missing=missing == "kept")
    given = None if sample is None else _sample_rows(sample, trained)
    if given is not None:
        rows = np.concatenate([given[:MOST_VERIFIED_ROWS], rows])
    verdicts, absent = _verified(target, subject, options, written, rows) if verify else ([], [])
    shown = _shown_rows(written, rows if given is None else given)
    files = dict(written.files)
    if target.feature_set is not None:
        files[target.feature_set_ending] = target.feature_set(subject, options)
    files |= {".sample.csv": _sample_text(subject, written, shown)}
    with inputs_kept(one for one in (ranker, sample) if isinstance(one, str | os.PathLike)):
        names = _write_all(Path(path), files)
    return Exported(
        target=target.name,
        files=names,
        notes=(*written.notes, *_told_of_texts(trained)),
        limits=tuple(limit.text for limit in written.limits),
        lift=added,
        offset=written.offset,
        bound=float(bound_of(subject, shown, target.sums).max(initial=0.0)),
        verdicts=tuple(verdicts),
        absent=tuple(absent),
    )


def _trained(ranker: Any) -> TrainedRanker:
    if isinstance(ranker, TrainedRanker):
        return ranker
    if not hasattr(ranker, "trained"):
        return load_trained(ranker)
    found: TrainedRanker = ranker.trained()
    return found


def _lifted(subject: Subject, lift: bool) -> tuple[Subject, float]:
    if not lift:
        return subject, 0.0
    if not isinstance(subject, ForestSubject):
        raise InputError(f"{KIND_WORDS[subject.kind]} has no lowest score that could be lifted to 0: lift is for trees")
    lifted = subject.lifted()
    return lifted, lifted.base_score - subject.base_score


def _verified(
    target: Target, subject: Subject, options: ExportOptions, written: Written, rows: Float32Array
) -> tuple[list[Verdict], list[str]]:
    verdicts, absent = verify(target, subject, options, written, rows)
    if not verdicts:
        raise InputError(f"nothing that runs {target.name} is at hand: {'; '.join(absent)}")
    failed = [verdict for verdict in verdicts if not verdict.passed]
    if failed:
        raise VerificationError(f"{target.name} gives other scores than this ranker, nothing was written: {failed[0]}")
    return verdicts, absent


def _sample_rows(sample: Any, trained: TrainedRanker) -> Float32Array:
    width = None if trained.takes_any_width else trained.n_features
    if isinstance(sample, str | os.PathLike):
        sample = read_wide(os.fspath(sample), width)
    if isinstance(sample, RankingDataset):
        sample = with_width(sample, trained.n_features) if trained.takes_any_width else sample
        sample = sample.in_source_order(sample.dense("a sample to prove exports by").features)
    rows = as_features(sample)
    if rows.shape[1] != trained.n_features:
        raise InputError(f"the sample has {rows.shape[1]} features, the ranker {trained.n_features}")
    return rows


def _shown_rows(written: Written, rows: Float32Array) -> Float32Array:
    """A few of the rows that the target can score, spread over all of them."""
    kept = rows[~beyond_limits(written, rows)]
    places = np.linspace(0, max(len(kept) - 1, 0), min(len(kept), MOST_SAMPLE_ROWS)).astype(np.int64)
    return np.ascontiguousarray(kept[places])


def _sample_text(subject: Subject, written: Written, rows: Float32Array) -> bytes:
    """Documents with the scores that the target must give them, within the bound of each."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\n")
    table.writerow(["expected_score", *subject.names])
    scores = subject.scores(rows) + written.offset
    for score, row in zip(scores.tolist(), rows.tolist(), strict=True):
        table.writerow([repr(score), *(f"{value:.9g}" for value in row)])
    return out.getvalue().encode()


def _write_all(path: Path, files: dict[str, bytes]) -> tuple[str, ...]:
    """Write the files: the model under its path, the others beside it; the model last, so that it is never alone."""
    names = {ending: path if ending == "" else path.with_suffix(ending) for ending in files}
    if len(set(names.values())) != len(names):
        raise InputError(f"{path} would be overwritten by a file that goes beside it: give the model another ending")
    for name in names.values():
        refuse_inputs(destination(name), name)  # before any of them is written
    for ending in reversed(list(files)):
        with atomic_file(names[ending]) as file:
            file.write(files[ending])
    return tuple(os.fspath(names[ending]) for ending in files)


def _told_of_texts(trained: TrainedRanker) -> tuple[str, ...]:
    return () if trained.features.origin is None else (FEATURES_STAY,)

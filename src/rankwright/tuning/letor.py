"""Settings chosen on the validation documents of a LETOR folder's folds, and tested on their test documents."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from rankwright.cluster.engine import Engine
from rankwright.formats.reading import fold_folders, read_fold
from rankwright.rankers.ranker import Ranker
from rankwright.tuning.cross_validation import CrossValidation
from rankwright.tuning.folds import Folds, given_folds
from rankwright.tuning.tuner import Tuned, tune


class LetorFolds(NamedTuple):
    """The folds of a LETOR folder, measured on `vali` to choose settings by, and measured on `test`."""

    choosing: Folds
    testing: Folds


def letor_folds(folder: str | os.PathLike[str], **reading: Any) -> LetorFolds:
    """The folds Fold1, Fold2, … of a folder; steps are chosen on `vali` in both forms.

    `reading` are options of `read`.
    """
    found = [read_fold(path, **reading) for path in fold_folders(folder)]
    return LetorFolds(
        given_folds([(fold.train, fold.vali, fold.vali) for fold in found]),
        given_folds([(fold.train, fold.vali, fold.test) for fold in found]),
    )


class TunedOnLetor(NamedTuple):
    """What the search found on the validation documents, and what that reaches on the test documents."""

    tuned: Tuned
    tested: CrossValidation


def tune_on_letor(
    ranker: Ranker | str,
    folder: str | os.PathLike[str],
    *,
    cluster: str | None = None,
    workers: int | None = None,
    engine: Engine | None = None,
    reading: Mapping[str, Any] | None = None,
    **options: Any,
) -> TunedOnLetor:
    """One configuration for all folds, chosen by the mean over their validation documents, and its test values.

    `reading` are options of `read`, `options` further ones of `tune`. Folds overlap: there is no set of documents to
    train one model on.
    """
    folds = letor_folds(folder, **(reading or {}))
    where: dict[str, Any] = {"cluster": cluster, "workers": workers, "engine": engine}
    tuned = tune(ranker, folds.choosing, **where, **options)
    return TunedOnLetor(tuned, tuned.tested_on(folds.testing, **where))

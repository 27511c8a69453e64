"""Drift while serving: documents are counted in the bins of the model's profile, and metrics tell how far they moved.

One request in sixteen is counted, so that counting costs next to nothing. When enough were counted, all counts are
halved: what was served lately weighs more than what was served long ago.
"""

from __future__ import annotations

from collections.abc import Iterator

from rankwright.arrays import Float32Array, Float64Array
from rankwright.profile.spread import N_BINS, Spread, stability_index
from rankwright.serve.models import ModelShelf, ServedModel
from rankwright.web.metrics import MetricBoard, heading, labels_text

COUNTED_REQUESTS = 16  # of which one is
REMEMBERED = 20_000  # documents, after which counts are halved
LEAST_DOCUMENTS = 200  # for an index that says anything


class DriftWatch:
    """Counts for each model that has a profile; the places of its counts are shared by all processes."""

    def __init__(self, shelf: ModelShelf, board: MetricBoard) -> None:
        self._shelf, self._board, self._requests = shelf, board, 0
        # Room for the features and the scores of each model; a model that takes its place has as many.
        self._places = {model.name: board.table((model.n_features + 1) * (N_BINS + 1)) for model in shelf}
        board.computed(self._lines)

    def scored(self, model: ServedModel, features: Float32Array, scores: Float64Array) -> None:
        """Count some of the documents that were scored."""
        self._requests += 1
        profile = model.trained.findings.profile
        if profile is None or self._requests % COUNTED_REQUESTS != 1:
            return
        counts = self._counts(model)
        counts[:-1] += profile.features.counted(features)
        if profile.scores is not None:
            counts[-1:] += profile.scores.counted(scores.astype("f4")[:, None])
        if counts[0].sum() > REMEMBERED:
            counts /= 2

    def taken(self, model: ServedModel) -> None:
        """Begin anew for a model that took another's place: its bins are others."""
        self._counts(model)[:] = 0

    def _counts(self, model: ServedModel) -> Float64Array:
        """This process's counts, a row for each feature and one for scores."""
        n_rows = model.n_features + 1
        return self._board.own(self._places[model.name], n_rows * (N_BINS + 1)).reshape(n_rows, N_BINS + 1)

    def _lines(self) -> Iterator[str]:
        name, told = "rankwright_feature_psi", "Population stability index against the training data."
        yield from heading(name, "gauge", told)
        scores = []
        for model in self._shelf:
            for column, label, value in self._indexes(model):
                if column == model.n_features:
                    scores.append(f"rankwright_score_psi{labels_text((('model', model.name),))} {value:.6g}")
                else:
                    yield f"{name}{labels_text((('model', model.name), ('feature', label)))} {value:.6g}"
        yield from heading("rankwright_score_psi", "gauge", "The same of scores.")
        yield from scores

    def _indexes(self, model: ServedModel) -> Iterator[tuple[int, str, float]]:
        """The index of each feature and of the scores, once enough documents were counted."""
        profile = model.trained.findings.profile
        if profile is None:
            return
        n_rows = model.n_features + 1
        total = self._board.total(self._places[model.name], n_rows * (N_BINS + 1)).reshape(n_rows, N_BINS + 1)
        if total[0].sum() < LEAST_DOCUMENTS:
            return
        for column, value in enumerate(stability_index(profile.features.counts, total[:-1])):
            yield column, model.features[column], float(value)
        spread: Spread | None = profile.scores
        if spread is not None:
            yield n_rows - 1, "", float(stability_index(spread.counts, total[-1:])[0])

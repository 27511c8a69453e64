"""`--human` and `--model-labels` of `evaluate` and `compare`: metrics from few human labels and many by a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankwright.cli.judgment_options import read_given
from rankwright.cli.options import metric_names, opt
from rankwright.cli.output import print_json, print_shown
from rankwright.errors import SettingError, require

if TYPE_CHECKING:
    from rankwright.judgments.prediction_powered import PoweredEvaluation
    from rankwright.metrics.evaluation import ScoredLists

PANEL = "Few human labels"
FEW_LABELS = {
    "human": opt("Labels by people: of all documents of some queries, drawn at random.", "F", PANEL),
    "model_labels": opt("Labels by a model, of all queries. Default: the labels of DATA.", "F", PANEL),
}


@dataclass(frozen=True, slots=True)
class FewLabels:
    """What the command line says of both kinds of labels, and of the metrics to estimate."""

    human: str | None
    model_labels: str | None
    metrics: str | None
    convention: str | None
    threads: int | None

    def check(self, **others: Any) -> None:
        """Raise, before any work, where something is missing or does not go together."""
        require(self.human is not None, "--model-labels goes with --human, the labels by people")
        require(self.convention != "all", "--human needs one convention, not all")
        given = [name for name, value in others.items() if value is not None]
        option = f"--{given[0].replace('_', '-')}" if given else ""
        require(not given, f"{option} does not go with --human: leave one of them out")

    def estimated(self, lists: Mapping[str, ScoredLists], *, is_run: bool) -> PoweredEvaluation:
        """The estimates of all systems."""
        from rankwright.judgments.prediction_powered import DEFAULT_METRICS, powered_evaluation

        names = metric_names(self.metrics) or list(DEFAULT_METRICS)
        rules = self.convention or ("trec" if is_run else "standard")
        if self.human is None:
            raise SettingError("--model-labels goes with --human, the labels by people")
        by_model = None if self.model_labels is None else read_given([self.model_labels], {})
        return powered_evaluation(lists, read_given([self.human], {}), by_model, names, rules, threads=self.threads)

    def show(self, found: PoweredEvaluation, *, as_json: bool) -> None:
        """Print the estimates."""
        print_json(found.to_dict()) if as_json else print_shown(found.shown())


def run_lists(qrels: str, run: str) -> ScoredLists:
    """What a run retrieved, with the labels of qrels."""
    from rankwright.formats.trec import read_qrels, read_run
    from rankwright.metrics.runs import joined_lists

    return joined_lists(read_run(run), read_qrels(qrels), complete=True)


def unlabelled(scores: Any, documents: Any) -> ScoredLists:
    """What was scored, with the labels of the documents, where they have any."""
    from rankwright.judgments.prediction_powered import unlabelled_lists

    return unlabelled_lists(scores, documents)

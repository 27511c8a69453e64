"""What every bagged ranker shares: how and where its bags are trained."""

from __future__ import annotations

from rankwright.arrays import thread_count
from rankwright.bagging.bag_maker import BagFiles, BagMaker, BagWork
from rankwright.bagging.bags import TrainedBags, train_bags
from rankwright.bagging.plan import BagPlan
from rankwright.bagging.settings import OF_BAGS, BagSettings
from rankwright.data.dataset import RankingDataset
from rankwright.rankers.learning import TrainingRun
from rankwright.rankers.ranker import TrainedByWorkers
from rankwright.training.digest import Digests, earlier_identity, run_identity


class Bagged(TrainedByWorkers, BagSettings):
    """Trains bags on threads of this process, or by the workers of the engine given to `on`."""

    @property
    def n_bags_(self) -> int:
        """How many bags were trained."""
        return self.model_.n_steps

    @property
    def oob_score_(self) -> float | None:
        """The value of `select` on queries out of the bag; None where there is nothing to measure."""
        score: float | None = self.model_.oob_score  # type: ignore[attr-defined]  # models of bags have one
        return score

    def _plan(self) -> BagPlan:
        return BagPlan(**{name: getattr(self, name) for name in OF_BAGS}, seed=self.seed)

    def _workers(self) -> int:
        """How many bags this process trains at a time."""
        return min(thread_count(self.threads), self.n_bags)

    def _threads_of_a_bag(self) -> int:
        return thread_count(self.threads) // self._workers() if self._engine is None else self._engine.threads

    def _train(
        self,
        documents: RankingDataset,
        valid: RankingDataset | None,
        work: BagWork,
        digests: tuple[str, str | None],
        run: TrainingRun,
        earlier_digests: Digests | None = None,
    ) -> TrainedBags:
        """Train the bags with `work`; the metric watched after each bag is the ranker's history."""
        self.data_digest_, settings = digests[0], self._lasting_settings()
        trained = train_bags(
            BagMaker(documents, valid, work, self._plan(), self.selected_metric),
            BagFiles(run.folder, run_identity(*digests, settings), earlier_identity(earlier_digests, settings)),
            engine=self._engine,
            listeners=run.listeners,
            workers=self._workers(),
            threads=thread_count(self.threads),
            parts=self.watched_parts_,
        )
        self.history_, self.watched_ = trained.history, trained.watched
        return trained

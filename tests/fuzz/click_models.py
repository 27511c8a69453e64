"""Files of every click model: a mutant is refused in one line, or is a model that works."""

from __future__ import annotations

import shutil
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzz.mutation import Parts, mutant_of
from tests.fuzz.subject import quiet, refusing, require

from rankwright import clicks
from rankwright.container.file import read_container


class ClickModels:
    """The file of each click model, fitted to a small log."""

    def prepare(self, seeds: Path) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        for name in clicks.CLICK_MODELS:
            path = seeds / f"{name}.rw"
            if not path.exists():
                clicks.click_model(name, iterations=5).fit(small_log()).save(path)

    def warm_up(self, seeds: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            for path in sorted(seeds.glob("*.rw")):
                self.judge(Path(shutil.copy(path, folder)))

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        names = list(clicks.CLICK_MODELS)
        target.write_bytes(mutant_of(_parts(seeds / f"{names[number % len(names)]}.rw"), rng).signed())

    def judge(self, target: Path) -> None:
        model = refusing(lambda: clicks.load_click_model(target), target.name)
        with quiet():
            found = model.evaluate(small_log())
            relevance, examination = model.relevance(), model.examination(3)
            drawn = model.sample(small_log(), seed=0)
            again = target.with_name("again.rw")
            model.save(again)
            same = clicks.load_click_model(again)
        require(np.isfinite(found.log_likelihood), "a log-likelihood that is not finite")
        require(bool(np.isfinite(relevance.mean).all()), "relevance that is not finite")
        require(len(examination) == 3, "no examination of three ranks")
        require(drawn.n_lists == small_log().n_lists, "lists that were lost")
        require(same.relevance().mean.tobytes() == relevance.mean.tobytes(), "another relevance once saved again")


@cache
def small_log() -> clicks.ClickLog:
    rng = np.random.default_rng(0)
    shown = [rng.permutation([f"d{n}" for n in range(6)])[:4].tolist() for _ in range(60)]
    clicked = [(np.flatnonzero(rng.random(4) < 0.4) + 1).tolist() for _ in range(60)]
    return clicks.ClickLog.from_lists([f"q{n % 7}" for n in range(60)], shown, clicked)


@cache
def _parts(path: Path) -> Parts:
    return Parts.of(read_container(path))

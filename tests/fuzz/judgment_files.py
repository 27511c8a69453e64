"""Files of judgments in every format, and stores: a mutant is refused in one line, or gives a table that works."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import numpy as np
from tests.fuzz.foreign import mutant_of
from tests.fuzz.subject import quiet, refusing, require

from rankwright import judgments
from rankwright.errors import RankwrightError

FORMATS = ("judged.csv", "judged.jsonl", "judged.parquet", "book.csv", "book.json", "judged.qrels", "judged.db")


class JudgmentFiles:
    """A small file of each format in turn."""

    def prepare(self, seeds: Path) -> None:
        seeds.mkdir(parents=True, exist_ok=True)
        if (seeds / FORMATS[-1]).exists():
            return
        for ending in ("csv", "jsonl", "parquet"):
            judgments.write_judgments(some(), seeds / f"judged.{ending}")
        ann = some().take((some().raters == 0) & some().is_grade)
        _, first = np.unique(ann.pair_keys, return_index=True)
        judgments.write_judgments(ann.take(first), seeds / "judged.qrels")
        (seeds / "book.csv").write_text("query,docid,ann,bob\n" + "".join(f"q{n},d{n},{n % 3},\n" for n in range(20)))
        pairs = [
            {"query_text": "q", "doc_id": f"d{n}", "judgements": [{"rating": n % 3, "user_email": "a"}]}
            for n in range(9)
        ]
        (seeds / "book.json").write_text(json.dumps({"query_doc_pairs": pairs}))
        with judgments.JudgmentStore(seeds / "judged.db") as store:
            store.add_table(some())

    def warm_up(self, seeds: Path) -> None:
        target = seeds.parent / "mutant.judged"
        for name in FORMATS:
            target.write_bytes(f"{name}\n".encode() + (seeds / name).read_bytes())
            self.judge(target)

    def make(self, seeds: Path, rng: np.random.Generator, number: int, target: Path) -> None:
        name = FORMATS[number % len(FORMATS)]
        target.write_bytes(f"{name}\n".encode() + mutant_of((seeds / name).read_bytes(), rng))

    def judge(self, target: Path) -> None:
        name, _, content = target.read_bytes().partition(b"\n")
        path = target.with_name(f"mutant-{name.decode()}")
        for beside in ("", "-wal", "-shm"):
            Path(f"{path}{beside}").unlink(missing_ok=True)
        path.write_bytes(content)
        table = refusing(lambda: judgments.read_judgments(path), path.name)
        with quiet():
            _use(table)


def _use(table: judgments.Judgments) -> None:
    """Summarise and combine, as users do; what cannot be combined is told in one line."""
    try:
        told = judgments.summarise_judgments(table)
        labels = judgments.combine(table)
    except RankwrightError as error:
        require("\n" not in str(error), f"several lines: {error}")
        return
    require(told.counts["judgments"] == len(table), "judgments that were lost")
    require(bool(np.isfinite(labels.labels).all()), "labels that are not finite")
    low, high = labels.scale[0], labels.scale[-1]
    slack = 1e-6 * max(1.0, abs(low), abs(high))
    inside = (labels.labels >= low - slack) & (labels.labels <= high + slack)
    require(bool(inside.all()), "labels outside the scale")


@cache
def some() -> judgments.Judgments:
    rng = np.random.default_rng(0)
    made = []
    for number in range(60):
        rater = ("ann", "bob", "cy")[number % 3]
        query, document = f"q{rng.integers(4)}", f"d{rng.integers(6)}"
        if number % 10 == 0:
            made.append(judgments.Judgment(query, document, rater, other="d99"))
        else:
            made.append(
                judgments.Judgment(query, document, rater, float(rng.integers(4)), time=float(number), comment="so")
            )
    return judgments.gather(made)

"""The files and frames of somebody who uses the tool for the first time."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.cli.app import main

pandas = pytest.importorskip("pandas")

WIDTH = 6  # features


def documents(seed: int) -> rw.RankingDataset:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(5, 15, size=20)
    features = rng.normal(size=(int(sizes.sum()), WIDTH)).astype(np.float32)
    labels = np.clip(np.round(features[:, 0] + features[:, 1] + 1), 0, 4)
    queries = np.repeat([f"s{seed}-{number}" for number in range(20)], sizes)
    return rw.RankingDataset.from_arrays(features, labels, qid=queries, feature_names=[f"f{n}" for n in range(WIDTH)])


def frame_of(data: rw.RankingDataset) -> Any:
    """A table with names of its own, and a column that is no feature."""
    frame = rw.to_pandas(data).rename(columns={"qid": "search", "label": "stars"})
    return frame.assign(url=[f"http://{row}.example" for row in range(len(frame))])


@pytest.fixture(scope="package")
def mine(tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """What a newcomer has: a table, its features, labels and queries, and files of the same."""
    folder = tmp_path_factory.mktemp("hour")
    train, test = documents(1), documents(2)
    frame = frame_of(train)
    for name, data in {"train": train, "test": test}.items():
        frame_of(data).to_csv(folder / f"{name}.csv", index=False)
        rw.write(rw.RankingDataset.from_arrays(data.features, data.labels, qid=data.qid), folder / f"{name}.txt")
    ranker = rw.LambdaMART(n_trees=3, max_leaves=4, threads=1).fit(train)
    ranker.save(folder / "model.rw")
    (folder / "short.txt").write_text("0.5\n0.1\n")
    (folder / "flat.csv").write_text("qid,label,a\n" + "".join(f"{row // 4},1,{row}\n" for row in range(12)))
    (folder / "alone.csv").write_text("qid,label,a\n" + "".join(f"{row},{row % 3},{row}\n" for row in range(12)))
    (folder / "clicks.csv").write_text(
        "qid,label,position,a\n" + "".join(f"{row // 4},{row % 2},{row % 4},{row}\n" for row in range(12))
    )
    lines = (folder / "test.txt").read_text().splitlines(keepends=True)
    (folder / "shuffled.txt").write_text("".join(lines[::2] + lines[1::2]))
    (folder / "nameless.csv").write_text("7,1,0.5\n7,0,0.25\n")
    (folder / "commas.csv").write_text("qid;label;a\n7;1;0,5\n")
    (folder / "log.jsonl").write_text('{"query": "1", "shown": ["a", "b"], "clicks": [2]}\n')
    (folder / "a.run").write_text("7 Q0 d1 1 0.5 mine\n")
    (folder / "wrong.toml").write_text('[tool.rankwright]\nqeury = "search"\n')
    features = frame[list(train.feature_names)]
    return SimpleNamespace(
        folder=folder, frame=frame, X=features, y=frame["stars"], qid=frame["search"], data=train, test=test,
        ranker=ranker, scores=np.asarray(train.features[:, 0]),
    )  # fmt: skip


@pytest.fixture
def told(
    mine: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., str]:
    """Runs a command in the folder of the files, and gives the one line that it prints before it fails."""

    def run(*arguments: str) -> str:
        monkeypatch.chdir(Path(mine.folder))
        monkeypatch.setattr(sys, "argv", ["rankwright", *arguments])
        with pytest.raises(SystemExit) as exit_:
            main()
        stderr = capsys.readouterr().err
        assert exit_.value.code == 2, stderr
        last = stderr.strip().splitlines()[-1]
        assert last.startswith("error: "), stderr
        return last.removeprefix("error: ")

    return run

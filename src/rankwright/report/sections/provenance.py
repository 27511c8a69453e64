"""Do it again: settings, seeds, versions, digests, and the command."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from rankwright.data.dataset import RankingDataset
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.page.document import Block, Commands, Facts, PageTable, Section
from rankwright.tables.text import ShownTable, short
from rankwright.training.digest import data_digest

PIECE = 1 << 20  # bytes that a file is read by
PACKAGES = ("rankwright", "numpy", "scipy", "scikit-learn")


def provenance_section(rankers: Mapping[str, Ranker], data: RankingDataset | None, origin: Origin) -> Section:
    """All that it takes to make the same numbers again."""
    blocks: list[Block] = []
    if origin.command is not None:
        blocks.append(Commands([("The command that made this page", origin.command)]))
    blocks.append(Facts(list(_versions(origin)), "Versions and seeds"))
    files = list(_files(origin))
    digest = [] if data is None else [["documents measured on, as they were read", "xxh3-128", data_digest(data)]]
    trained = [[f"training data of {name}", "xxh3-128", ranker.trained().training_data]
               for name, ranker in rankers.items() if ranker.trained().training_data]  # fmt: skip
    rows = files + digest + trained
    if rows:
        blocks.append(PageTable(ShownTable("Digests", ["of", "kind", "digest"], rows)))
    if rankers:
        blocks.append(PageTable(settings_table(rankers)))
    lead = "The same versions, settings, seeds and files give the same numbers."
    return Section("again", "Do it again", lead, tuple(blocks))


def settings_table(rankers: Mapping[str, Ranker]) -> ShownTable:
    """The settings of rankers, a column each; those that no ranker changed from its default are left out."""
    given = {name: {**ranker.trained().settings, **_chosen(ranker)} for name, ranker in rankers.items()}
    changed: dict[str, None] = {}
    for name, ranker in rankers.items():
        default = type(ranker)().get_params()
        for setting, value in given[name].items():
            if setting == "seed" or short(value) != short(default.get(setting)):
                changed[setting] = None
    columns = ["setting", *rankers]
    rows = [[setting, *(_shown(own.get(setting)) for own in given.values())] for setting in changed]
    return ShownTable("Settings that differ from their defaults", columns, rows, columns[1:])


def _chosen(ranker: Ranker) -> dict[str, Any]:
    return {name: f"{value} (by the data)" for name, value in ranker.chosen_.items()}


def _shown(value: Any) -> str:
    return "–" if value is None else short(value)


def _versions(origin: Origin) -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue
    yield "Python", platform.python_version()
    yield "system", f"{platform.system()} {platform.machine()}"
    if origin.seed is not None:
        yield "seed of intervals and tests", str(origin.seed)


def _files(origin: Origin) -> Iterator[list[str]]:
    named = {**origin.files, **{f"model {name}": path for name, path in origin.models.items()}}
    for role, path in named.items():
        if Path(path).is_file():
            yield [f"{role}: {path}", "sha-256", file_digest(path)]


def file_digest(path: str) -> str:
    """The SHA-256 digest of a file, as `sha256sum` prints it."""
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while piece := file.read(PIECE):
            digest.update(piece)
    return digest.hexdigest()

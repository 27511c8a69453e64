"""What stands behind results: how models learnt, what they look at and take, the data, and how to do it all again."""

from __future__ import annotations

import copy
import hashlib
import platform
import timeit
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from rankwright.data.dataset import RankingDataset
from rankwright.errors import RankwrightError
from rankwright.profile.data_summary import NumberRange, Summary, summarise
from rankwright.rankers.importance import CONTRIBUTION, FeatureImportance, feature_importance
from rankwright.rankers.ranker import Ranker
from rankwright.report.measured import Origin
from rankwright.report.page.document import Block, Chart, Commands, Facts, PageTable, Remarks, Section
from rankwright.report.specs.curves import learning_curves
from rankwright.report.specs.explanation_charts import importance_bars
from rankwright.tables.text import ShownTable, short
from rankwright.training.digest import data_digest
from rankwright.training.loop import History

SHOWN_IMPORTANCES = 15
MOST_DOCUMENTS = 1000  # that contributions are counted on, where there are more
TIMED_DOCS = 2000
REPEATS = 5
MOST_FACTS = 3
# How facts read whose names do not simply follow their numbers, and the others' names where there is one of them.
FACT_WORDS = {
    "most_leaves": "at most {} leaves a tree",
    "fewest_trees_of_a_bag": "at least {} trees a bag",
    "hidden": "{} hidden neurons",
    "iteration": "taken from iteration {}",
    "source": "read from {}",
    "of": "each a {}",
}
SINGULAR = {"trees": "tree", "leaves": "leaf", "bags": "bag", "epochs": "epoch", "rounds": "round", "steps": "step"}


def learning_section(rankers: Mapping[str, Ranker]) -> Section | None:
    """A chart for each watched metric; None where no ranker was trained with validation data."""
    by_metric: dict[str, dict[str, History]] = {}
    for name, ranker in rankers.items():
        history = ranker.history_
        if history.values:
            own = by_metric.setdefault(str(history.watched), {})
            own[name] = history
            for part, values in ranker.watched_.items():
                if len(values):
                    own[f"{name} on {part}"] = replace(history, values=list(values), smoothing=0.0)
    blocks: list[Block] = [Chart(learning_curves(own), _caption(own)) for own in by_metric.values()]
    without = [name for name, ranker in rankers.items() if not ranker.history_.values]
    if not blocks:
        return None
    lead = "The watched metric on validation documents after each step; the dot is the step that was kept."
    if without:
        lead += f" Without validation documents in training: {', '.join(without)}."
    return Section("learning", "Learning curves", lead, tuple(blocks))


def _caption(histories: Mapping[str, History]) -> str:
    told = []
    for name, history in histories.items():
        ends = "interrupted" if history.interrupted else "stopped early" if history.stopped_early else "ended"
        # The words and the number that `rankwright train` prints.
        which = "best" if history.chosen else "last"
        best = f"{which} {history.best_value:.4f} after step {(history.best_step or 0) + 1:,}"
        if history.smoothing > 0 and history.chosen:
            best += f" (the mean around it is {history.best_mean:.4f})"
        told.append(f"{name}: {best}, {ends} after {len(history.values):,} steps")
    smooth = any(history.smoothing > 0 and history.chosen for history in histories.values())
    how = " The strong line is the mean over neighbouring steps, which the step was chosen by." if smooth else ""
    return f"{'; '.join(told)}.{how}"


def importances_section(rankers: Mapping[str, Ranker], data: RankingDataset | None) -> Section | None:
    """A chart for each ranker that can tell; None where none can."""
    blocks: list[Block] = []
    counted_on = None if data is None else _some(data)
    for name, ranker in rankers.items():
        found = _importance(ranker, counted_on)
        if found is not None and np.count_nonzero(found.values):
            spec = importance_bars(found, SHOWN_IMPORTANCES) | {"title": name}
            sampled = _sampled(data, counted_on) if found.kind == CONTRIBUTION else ""
            blocks.append(Chart(spec, f"{found.meaning}{sampled}. The lines are 95 % intervals."))
    if not blocks:
        return None
    lead = (
        "The features that matter most. What they add is counted exactly, minus its mean over each query: "
        "what all documents of a query have in common moves none of them."
    )
    return Section("importances", "What the models look at", lead, tuple(blocks))


def _importance(ranker: Ranker, data: RankingDataset | None) -> FeatureImportance | None:
    """How much features matter by contribution, or by what the model alone tells; None where neither can be had."""
    for kind in (*([] if data is None else [CONTRIBUTION]), *ranker.importance_kinds[:1]):
        with suppress(RankwrightError):
            return feature_importance(ranker, data, kind)
    return None


def _sampled(data: RankingDataset | None, counted_on: RankingDataset | None) -> str:
    """Why there are fewer queries than the data has; nothing where all are counted."""
    if data is None or counted_on is None or counted_on.n_queries == data.n_queries:
        return ""
    return f" of {data.n_queries:,}: an even sample of about {MOST_DOCUMENTS:,} documents, which keeps the report quick"


def _some(data: RankingDataset) -> RankingDataset:
    """Queries spread evenly over the data, which have about `MOST_DOCUMENTS` documents together."""
    if data.n_docs <= MOST_DOCUMENTS:
        return data
    n = max(1, data.n_queries * MOST_DOCUMENTS // data.n_docs)
    return data.take_queries(np.unique(np.linspace(0, data.n_queries - 1, n).astype(np.int64)))


def _models_section(rankers: Mapping[str, Ranker], data: RankingDataset | None, origin: Origin) -> Section | None:
    """A row for each ranker."""
    if not rankers:
        return None
    rows = [
        [
            name,
            ranker.name,
            made_of(ranker),
            f"{int(ranker.used_features().sum()):,} of {ranker.n_features_in_:,}",
            size_text(_bytes_of(ranker, origin.models.get(name))),
            *([] if data is None else [f"{microseconds(ranker, data):.2f} µs"]),
        ]
        for name, ranker in rankers.items()
    ]
    columns = ["system", "ranker", "made of", "features used", "file", *([] if data is None else ["time a document"])]
    note = (
        f"Time to score a document: the best of {REPEATS} runs with one thread over {TIMED_DOCS:,} documents "
        "or fewer, on the machine that made this page."
    )
    table = ShownTable("", columns, rows, columns[3:], [] if data is None else [note])
    return Section("models", "Size and speed", "What it takes to keep and to run each model.", (PageTable(table),))


def made_of(ranker: Ranker) -> str:
    """The first figures of a model, in words."""
    facts = {name: value for name, value in ranker.facts().items() if isinstance(value, int | float | str)}
    told = [_fact(name, value) for name, value in list(facts.items())[:MOST_FACTS]]
    return ", ".join(told) or "–"


def _fact(name: str, value: float | str) -> str:
    """A figure with what it counts: `1 tree`, `31 leaves`, `at most 7 leaves a tree`."""
    shown = f"{value:,}" if isinstance(value, int) else short(value)
    if name in FACT_WORDS:
        return FACT_WORDS[name].format(shown)
    word = name.replace("_", " ")
    return f"{shown} {SINGULAR.get(word, word)}" if value == 1 else f"{shown} {word}"


def _bytes_of(ranker: Ranker, path: str | None) -> int | None:
    """The size of the model file, as it lies on the disk or as it would be written; None where it cannot be."""
    if path is not None and Path(path).is_file():
        return Path(path).stat().st_size
    with TemporaryDirectory() as folder:
        target = Path(folder, "model.rw")
        try:
            ranker.save(target)
        except (ValueError, TypeError, OSError):  # a model with parts of the user's own
            return None
        return target.stat().st_size


def size_text(size: int | None) -> str:
    """A number of bytes in a unit that people read."""
    if size is None:
        return "–"
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB" if size >= 1e3 else f"{size} B"


def microseconds(ranker: Ranker, data: RankingDataset) -> float:
    """The time to score a document with one thread: the best of several runs on some of the documents."""
    alone = copy.copy(ranker)
    alone.threads = 1
    n_queries = int(np.searchsorted(data.groups.offsets[1:], TIMED_DOCS)) + 1
    documents = data.take_queries(np.arange(min(n_queries, data.n_queries)))
    seconds = timeit.repeat(lambda: alone.predict(documents), repeat=REPEATS, number=1)
    return 1e6 * min(seconds) / max(documents.n_docs, 1)


MOST_NAMES = 6


def background_sections(
    rankers: Mapping[str, Ranker], data: RankingDataset | None, origin: Origin
) -> tuple[Section | None, ...]:
    """The sections at the end of a page: the data, size and speed of models, and what it takes to do it again."""
    about_data = None if data is None else _data_section(data)
    return about_data, _models_section(rankers, data, origin), _provenance_section(rankers, data, origin)


def _data_section(data: RankingDataset) -> Section:
    """Figures of the documents that were measured on, and warnings about them."""
    summary = summarise(data)
    blocks: list[Block] = [Facts(list(_rows(summary)))]
    if summary.labels:
        rows = [
            [label, f"{count:,}", f"{count / max(1, summary.documents):.1%}"] for label, count in summary.labels.items()
        ]
        blocks.append(PageTable(ShownTable("Labels", ["label", "documents", "share"], rows, ["documents", "share"])))
    if summary.remarks:
        blocks.append(Remarks([f"{line[:1].upper()}{line[1:]}." for line in summary.remarks], warns=True))
        lead = "What is in the documents, and below the figures what deserves a second look."
    else:
        lead = "What is in the documents. Nothing in it looks suspicious."
    return Section("data", "The data", lead, tuple(blocks))


def _rows(summary: Summary) -> Iterator[tuple[str, str]]:
    yield "queries", f"{summary.queries:,}"
    yield "with nothing relevant", f"{summary.queries_with_nothing_relevant:,}"
    yield "with one label only", f"{summary.queries_with_one_label:,}"
    yield "documents", f"{summary.documents:,}"
    if summary.documents_per_query is not None:
        yield "documents a query", _spread(summary.documents_per_query)
    if summary.unjudged:
        yield "unjudged documents", f"{summary.unjudged:,}"
    if not summary.labels and summary.label_spread is not None:
        yield "labels", _spread(summary.label_spread)
    yield "features", f"{summary.features:,}"
    share = summary.missing_values / max(1, summary.documents * summary.features)
    yield "missing values", f"{share:.2%}" if summary.missing_values else "none"
    yield "constant features", _listed(summary.constant_features)
    yield "duplicate features", _listed([" = ".join(group) for group in summary.duplicate_features])


def _spread(spread: NumberRange) -> str:
    return f"{spread.smallest:,g} to {spread.largest:,g}, median {spread.median:,g}"


def _listed(names: list[str] | tuple[str, ...]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return (", ".join(names[:MOST_NAMES]) + more) or "none"


PACKAGES = ("rankwright", "numpy", "scipy", "scikit-learn")


def _provenance_section(rankers: Mapping[str, Ranker], data: RankingDataset | None, origin: Origin) -> Section:
    """All that it takes to make the same numbers again."""
    blocks: list[Block] = []
    if origin.command is not None:
        blocks.append(Commands([("The command that made this page", origin.command)]))
    blocks.append(Facts([*_versions(origin), *_seeds(rankers)], "Versions and seeds"))
    rows = list(_files(origin))
    if data is not None:
        rows.append(["documents measured on, as they were read", "xxh3-128", data_digest(data)])
    trained = {name: ranker.trained().training_data for name, ranker in rankers.items()}
    rows += [[f"training data of {name}", "xxh3-128", digest] for name, digest in trained.items() if digest]
    if rows:
        blocks.append(PageTable(ShownTable("Digests", ["of", "kind", "digest"], rows)))
    settings = _settings_table(rankers)
    if settings.rows:
        blocks.append(PageTable(settings))
    lead = "The same versions, settings, seeds and files give the same numbers."
    return Section("again", "Do it again", lead, tuple(blocks))


def _settings_table(rankers: Mapping[str, Ranker]) -> ShownTable:
    """The settings of rankers, a column each; those that no ranker changed from its default are left out."""
    given = {
        name: {**ranker.trained().settings, **{own: f"{value} (by the data)" for own, value in ranker.chosen_.items()}}
        for name, ranker in rankers.items()
    }
    defaults = {name: type(ranker)().get_params() for name, ranker in rankers.items()}
    changed = dict.fromkeys(
        setting
        for name, own in given.items()
        for setting, value in own.items()
        if short(value) != short(defaults[name].get(setting))
    )
    columns = ["setting", *rankers]
    rows = [
        [setting, *("–" if own.get(setting) is None else short(own[setting]) for own in given.values())]
        for setting in changed
    ]
    return ShownTable("Settings that differ from their defaults", columns, rows, columns[1:])


def _versions(origin: Origin) -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            yield package, version(package)
    yield "Python", platform.python_version()
    yield "system", f"{platform.system()} {platform.machine()}"
    if origin.seed is not None:
        yield "seed of intervals and tests", str(origin.seed)


def _seeds(rankers: Mapping[str, Ranker]) -> Iterator[tuple[str, str]]:
    """The seed that each ranker was trained with, also where it is the default."""
    for name, ranker in rankers.items():
        seed = ranker.trained().settings.get("seed")
        if seed is not None:
            yield f"seed of {name}", str(seed)


def _files(origin: Origin) -> Iterator[list[str]]:
    named = {**origin.files, **{f"model {name}": path for name, path in origin.models.items()}}
    for role, path in named.items():
        if Path(path).is_file():
            with Path(path).open("rb") as file:
                yield [f"{role}: {path}", "sha-256", hashlib.file_digest(file, "sha256").hexdigest()]

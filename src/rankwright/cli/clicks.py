"""`rankwright clicks`: a click log into data to train on, or into a click model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, THREADS, arg, flag, given, opt
from rankwright.cli.output import echo, print_json, print_table, progress, tell, tell_written
from rankwright.errors import require
from rankwright.tables.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankwright.clicks.logs.click_log import ClickLog
    from rankwright.clicks.logs.log_files import LogFile
    from rankwright.clicks.preferences import ClickData
    from rankwright.clicks.votes import PairVotes
    from rankwright.data.dataset import RankingDataset

EXAMPLES = (
    "Example: rankwright clicks log.jsonl.gz --features documents.parquet --out rates.parquet\n\n"
    "Example: rankwright clicks log.jsonl --features documents.parquet --preferences --correct --out votes.parquet\n\n"
    "Example: rankwright clicks log.jsonl.gz --model pbm --held-out 0.2 --save pbm.rw"
)
PAIRS, MODELS = "Data to train on", "A click model"


NOTHING_TO_DO = (
    "say what to make of the log: data to train on (--features DOCUMENTS --out DATA) or click models (--model all); "
    "`rankwright inspect LOG` describes it"
)


def clicks(
    log: str = arg("The click log: JSON lines, CSV, Parquet or Yandex's blocks.", "LOG"),
    features: str | None = opt(
        "The documents of the log, with their features and ids of queries and documents.", "F", PAIRS
    ),
    out: str | None = opt("The data to write.", "DATA", PAIRS, writes=output_kinds.clicked),
    rates: bool | None = opt(
        "Write click rates as labels, with positions (the default), or preferences beside DATA, as .pairs.",
        panel=PAIRS,
        name="--rates/--preferences",
    ),
    rule: str | None = opt(
        "Which preferences: skip-above, last-click, skip-above-and-next, next or fair-pairs.",
        panel=PAIRS,
        show_default="skip-above",
    ),
    correct: bool = flag("--correct", "Preferences: compare votes with how many a place usually gets.", PAIRS),
    smoothing: float | None = opt(
        "Preferences: imagined votes for each document of a pair.", "X", PAIRS, min=0.0, show_default="1"
    ),
    model: str | None = opt(
        "Fit this click model: pbm, ubm, dbn, sdbn, dcm, cascade, …; all for all of them.", panel=MODELS
    ),
    held_out: float = opt("The share of the lists to measure models on.", panel=MODELS, default=0.2),
    save: str | None = opt("The file to write the model to.", "MODEL", MODELS, writes=output_kinds.model),
    plot: str | None = opt(
        "Draw how likely each rank is examined: an .svg, .png or .pdf.", "PICTURE", MODELS, writes=output_kinds.picture
    ),
    seed: int = opt("The same seed holds out the same lists.", default=0),
    strict: bool = flag("--strict", "Stop at the first event that cannot be read."),
    format: str | None = opt("jsonl, csv, parquet or yandex. Default: what the file looks like."),
    threads: int | None = THREADS,
    as_json: bool = AS_JSON,
) -> None:
    """Turn a click log into data to train on, or fit click models to it.

    With --features and --out, write the documents of the log, with the click rate of each and the position at which it
    was shown; `rankwright train DATA` frees them from position bias. With --preferences, write the pairs of documents
    of which users preferred one instead, with the share of the votes as probability and their number as weight;
    `rankwright train DATA --pairs PAIRS` trains any pairwise ranker on them. Both ways, quick rankers that learn from
    the data are compared with the order shown, on held-out lists, and a warning says if they are worse.

    With --model, fit a click model, and measure on held-out lists how well it predicts clicks.
    """
    from rankwright.clicks.logs.log_files import LogFile, read_log, whole_log
    from rankwright.formats.storage.streams import is_read_once

    require((features is None) == (out is None), "--features and --out go together")
    require(features is not None or model is not None, NOTHING_TO_DO)
    require(out is not None or rates is None, "--rates and --preferences go with --features and --out")
    shapes_preferences = correct or rule is not None or smoothing is not None
    require(rates is False or not shapes_preferences, "--rule, --correct and --smoothing go with --preferences")
    require(save is None or model != "all", "--save goes with one model")
    require(0 < held_out < 1, f"--held-out is a share between 0 and 1, got {held_out}")
    require(model is not None or (save is None and plot is None), "--save and --plot go with --model")
    file = LogFile(log, format=format, strict=strict, threads=threads)
    whole = whole_log(file, threads=threads) if is_read_once(log) else None
    found: dict[str, Any] = {}
    if features is not None and out is not None:
        with progress():
            if rates is False:
                how = given(rule=rule, correct=correct, smoothing=smoothing)
                found, lines = _write_preferences(file if whole is None else whole, features, out, how, seed, threads)
            else:
                shown = whole_log(file, threads=threads) if whole is None else whole
                found, lines = _write_rates(shown, features, out, seed, threads)
        found["problems"] = file.problems
        if not as_json:
            _show_written(lines, file, out, found.get("pairs_file"))
    if model is not None:
        merged = whole or read_log(log, format=format, strict=strict, merge=True, threads=threads)
        found["models"] = _fit_models(merged, model, held_out, seed, threads, save)
        _show_models(found["models"], plot, save, as_json)
    if as_json:
        print_json(found)


def _write_preferences(
    log: ClickLog | LogFile, features: str, out: str, how: dict[str, Any], seed: int, threads: int | None
) -> tuple[dict[str, Any], list[str]]:
    """Write the documents and their preferences; what was written, for JSON and in lines for people."""
    from dataclasses import replace

    from rankwright.clicks.logs.click_log import ClickLog
    from rankwright.clicks.logs.log_files import lists_of_queries
    from rankwright.clicks.preferences import with_preferences
    from rankwright.clicks.simulation import known_queries
    from rankwright.clicks.votes import count_votes
    from rankwright.debiasing.held_out_orders import sampled_queries
    from rankwright.formats.file_formats import write
    from rankwright.formats.sidecars import write_pairs

    documents, ids = _named_documents(features)
    made = with_preferences(documents, log, **how, threads=threads)
    sample = sampled_queries(made.data)
    lists = log if isinstance(log, ClickLog) else lists_of_queries(log, known_queries(sample))
    votes_of = partial(count_votes, **{name: value for name, value in how.items() if name != "smoothing"})
    found, compared = _compared(sample, lists, votes_of, seed, threads)
    pairs = output_kinds.pairs_beside(out)
    data = replace(made.data, source_rows=None, **ids)
    write(replace(data, preferences=None), out)
    write_pairs(data, pairs)
    found |= {"data": out, "pairs_file": pairs, "queries": data.n_queries, "documents": data.n_docs}
    found |= {"pairs": made.n_pairs, "pairs_without_features": made.n_lost}
    return found | {"votes_against_shown_order": made.votes.against_order}, [*_told(made), *compared]


def _write_rates(
    log: ClickLog, features: str, out: str, seed: int, threads: int | None
) -> tuple[dict[str, Any], list[str]]:
    """Write the documents with their click rates; what was written, for JSON and in lines for people."""
    from dataclasses import replace

    import numpy as np

    from rankwright.clicks.preferences import click_rates
    from rankwright.debiasing.held_out_orders import sampled_queries
    from rankwright.formats.file_formats import write

    documents, ids = _named_documents(features)
    data = click_rates(documents, log)
    found, compared = _compared(sampled_queries(data), log, None, seed, threads)
    data = replace(data, source_rows=None, **ids)
    write(data, out)
    n_shown = int((~np.isnan(np.asarray(data.labels))).sum())
    found |= {"data": out, "queries": data.n_queries, "documents": data.n_docs, "shown": n_shown}
    line = f"click rates of {n_shown:,} shown documents of {data.n_docs:,}, in {counted(data.n_queries, 'query')}"
    return found, [line, *compared]


def _named_documents(features: str) -> tuple[RankingDataset, dict[str, Any]]:
    """The documents, all with ids, and the ids to give up again when they are written.

    Documents without ids are known by their rows, which are others in a part of the data.
    """
    from dataclasses import replace

    from rankwright.clicks.simulation import known_documents, known_queries
    from rankwright.formats.reading import read

    data = read(features)
    unnamed = {} if data.document_ids is not None else {"document_ids": None}
    return replace(data, document_ids=known_documents(data), query_ids=known_queries(data)), unnamed


def _compared(
    data: RankingDataset,
    log: ClickLog,
    votes_of: Callable[[ClickLog], PairVotes] | None,
    seed: int,
    threads: int | None,
) -> tuple[dict[str, Any], list[str]]:
    """How what can be learned compares with the order shown, for JSON and in lines for people; it may warn."""
    import warnings

    from rankwright.clicks.preferences import click_rates
    from rankwright.debiasing import held_out_orders as orders

    by_lists = orders.orders_of_lists(data, log, votes_of, seed=seed)
    by_queries = orders.orders_of_queries(click_rates(data, log), seed=seed, threads=threads)
    found = orders.RouteComparison(by_lists, by_queries)
    for text in found.warnings:
        warnings.warn(text, orders.WorseThanShownWarning, stacklevel=2)
    return {"held_out": found.to_dict()}, found.told


def _show_written(lines: list[str], file: LogFile, *paths: str | None) -> None:
    echo("\n".join(lines))
    for problem, count in file.problems.items():
        tell(f"{problem}: {count:,} (first in {file.first_problems[problem]})")
    tell_written(*paths)


def _show_models(fitted: dict[str, Any], plot: str | None, save: str | None, as_json: bool) -> None:
    """Draw what was measured, and print it unless it becomes a part of a JSON document."""
    if plot is not None:
        from rankwright.report.drawing import draw_examination

        draw_examination({name: one["examination"] for name, one in fitted.items()}, plot)
    if not as_json:
        columns = ["log-likelihood", "conditional perplexity", "perplexity"]
        keys = [column.replace("-", "_").replace(" ", "_") for column in columns]
        rows = [[name, *(f"{one[key]:.4f}" for key in keys)] for name, one in fitted.items()]
        print_table(["model", *columns], rows, numbers=columns)
        tell_written(plot, save)


def _told(made: ClickData) -> list[str]:
    data, votes = made.data, made.votes
    of = f"{counted(data.n_queries, 'query')} and {counted(data.n_docs, 'document')}"
    return [
        f"{counted(made.n_pairs, 'pair')} of {of}; "
        f"{counted(made.n_lost, 'pair has', 'pairs have')} a document without features",
        f"{votes.against_order:.1%} of the votes are for the document that was shown lower ({votes.rule})",
    ]


def _fit_models(
    whole: ClickLog, model: str, held_out: float, seed: int, threads: int | None, save: str | None
) -> dict[str, Any]:
    """What each model reaches on the held-out lists; a model that is saved is fitted to all lists."""
    from rankwright.clicks.models.named_models import CLICK_MODELS, click_model

    names = list(CLICK_MODELS) if model == "all" else [model]
    train, held = whole.split(held_out, seed=seed)
    require(
        bool(train.n_lists and held.n_lists),
        f"models are measured on held-out lists, and {held.n_lists:,} of {counted(whole.n_lists, 'list')} are held "
        "out: give a larger log or another --held-out",
    )
    measured: dict[str, Any] = {}
    for name in names:
        fitted = click_model(name, threads=threads).fit(train)
        measured[name] = fitted.evaluate(held).to_dict() | {"examination": fitted.examination().tolist()}
    if save is not None:
        click_model(names[0], threads=threads).fit(whole).save(save)
    return measured

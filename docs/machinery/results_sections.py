"""The sections of docs/results.md that tell of other libraries and of speed, from the records that benchmarks left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from rankwright.tables.text import markdown_table

Record = Mapping[str, Any]
MODULE = "python -m benchmarks."


def anchor(title: str) -> str:
    """What the site calls a heading in links."""
    return "-".join("".join(one if one.isalnum() or one in " -_" else "" for one in title.lower()).split())


def comparisons(benchmarks: Mapping[str, Record]) -> Iterator[str]:
    """How well rankers rank, ours and the peers'."""
    yield "## Beside other libraries: how well they rank"
    yield (
        "These are cross-validations by query: every library sees the same folds, and one evaluator measures all of "
        "them. Differences are paired by query; the mean over the data sets has a 95 % interval (bootstrap, stratified "
        "by set) and a p-value (randomisation test), with Holm's correction for the number of systems compared. "
        "*Tuned* means the same for every tool: eight settings from its own search space, including its defaults, are "
        "tried, and the best is trained again on all training queries. Each setting is measured on a quarter of the "
        "training queries or, with `folds=3`, on all of them, held out in three parts; with `folds=3` the defaults "
        "stay unless another setting is better by more than its standard error."
    )
    records = sorted((one for one in benchmarks.values() if "metrics" in one), key=lambda one: int(one["place"]))
    for record in records:
        alike = [one for one in records if one["systems"] == record["systems"]]
        yield from _quality(record, elsewhere={own for one in alike for own in one["metrics"]["ndcg@10"]["sets"]})


def _quality(record: Record, elsewhere: set[str]) -> Iterator[str]:
    first, *others = record["systems"]
    yield f"### {record['title']}"
    for metric, found in record["metrics"].items():
        columns = ["set", "queries", f"`{first}`", *(f"less `{other}`" for other in others)]
        rows = [
            [own, f"{told['queries']:,}", f"{told['first']:.4f}", *(_gap(told["others"][other]) for other in others)]
            for own, told in found["sets"].items()
        ]
        pooled = [_pooled(found["others"][other]) for other in others]
        rows.append(["mean of sets", "", f"{found['first']:.4f}", *pooled])
        yield f"{metric}, ± one standard error; * marks p < .05 after Holm's correction over the sets."
        yield markdown_table(columns, rows, numbers=columns[1:])
    seconds = ", ".join(f"`{system}` {taken:,.0f} s" for system, taken in record["seconds"].items())
    lacking = {own: missing for own, missing in record["left_out"].items() if own not in elsewhere}
    left_out = [own for own, missing in lacking.items() if len(missing) < len(record["systems"])]
    yield (
        f"At most {record['folds']} folds of each set; {_versions(record)}. Training and scoring took, by the clock "
        f"and on a machine that did other work too: {seconds}. "
        + (f"Left out, because not every system was tested on it: {', '.join(left_out)}. " if left_out else "")
        + f"Command: `{record['command']}`"
    )


def _gap(told: Mapping[str, float]) -> str:
    return f"{told['difference']:+.4f} ± {told['error']:.4f}{'*' if told['p_value'] < 0.05 else ''}"


def _pooled(told: Mapping[str, float]) -> str:
    return f"{told['difference']:+.4f} ({told['low']:+.4f} to {told['high']:+.4f}), p {told['p_value']:.4f}"


def speed(benchmarks: Mapping[str, Record], scripts: Mapping[str, str]) -> Iterator[str]:
    """A row for each script of benchmarks/, and a table for each record that one left."""
    records = [record for record in benchmarks.values() if "metrics" not in record]
    yield "## Every benchmark"
    yield (
        "Each script in `benchmarks/` answers a question; its last results are below. Times hold for the day, the "
        "machine and the versions that each table names; the tools compared took turns, and ratios are between their "
        "best times. Some scripts have not been run here: they need other data or libraries, or hours."
    )
    rows = [[f"`{MODULE}{script}`", question, _runs(script, records)] for script, question in scripts.items()]
    yield markdown_table(["script", "question", "here"], rows)
    for record in records:
        yield from _record(record)


def _runs(script: str, records: list[Record]) -> str:
    own = [record for record in records if f"{record['command']} ".startswith(f"{MODULE}{script} ")]
    if script == "quality.rankers":
        return f"[run](#{anchor('Beside other libraries: how well they rank')})"
    return ", ".join(f"[{one['date']}](#{anchor(one['question'])})" for one in own) or "not run here"


def _record(record: Record) -> Iterator[str]:
    yield f"### {record['question']}"
    yield _timing(record) if "seconds" in record else _rows(record["rows"])
    if record["notes"]:
        yield "\n".join(f"- {name}: {value}" for name, value in record["notes"].items())
    machine = ", ".join(
        f"{value} {name}" if name == "processors" else str(value) for name, value in record["machine"].items()
    )
    yield f"{record['date']}, {machine}; {_versions(record)}. Command: `{record['command']}`"


def _timing(record: Record) -> str:
    ours = min(record["seconds"][record["ours"]])
    best, ratio = "seconds, best of the repeats", "times ours"
    rows = [[name, f"{min(taken):.4f}", f"{min(taken) / ours:.2f}"] for name, taken in record["seconds"].items()]
    return markdown_table(["", best, ratio], rows, numbers=[best, ratio])


def _rows(rows: list[Mapping[str, Any]]) -> str:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    numbers = [column for column in columns if all(isinstance(row.get(column, 0), int | float) for row in rows)]
    return markdown_table(
        columns, [[_text(row.get(column, "")) for column in columns] for row in rows], numbers=numbers
    )


def _text(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _versions(record: Record) -> str:
    return ", ".join(f"{library} {number}" for library, number in record["versions"].items())

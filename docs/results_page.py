"""Writes docs/results.md from docs/results.json: `make results` runs it, and a test compares.

The JSON holds what `rankwright reproduce all --quick` and the benchmarks wrote. Experiments that it lacks are run;
benchmarks whose results stand in benchmarks/results are taken from there. Nothing on the page is typed by hand.

    python docs/results_page.py                         run what is missing, and write the page
    python docs/results_page.py --again sortnet-table1  run an experiment anew (its parts too), and write the page
    python docs/results_page.py --clicks DIR            run blmart-clicks on a log with labels too
"""

from __future__ import annotations

import argparse
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwright.reproduce.experiment import QUICK, Setup
from rankwright.reproduce.registry import EXPERIMENTS
from rankwright.reproduce.running import PARTS_FOLDER, reproduce
from rankwright.reproduce.shown import shown_tables, verdict_table
from rankwright.reproduce.sources import find_sources
from rankwright.tables.text import markdown_table

HERE = Path(__file__).parent
PAGE, KEPT = HERE / "results.md", HERE / "results.json"
BENCHMARKS = HERE.parent / "benchmarks" / "results"
OUT = HERE.parent / "out"
ON_CLICKS = "blmart-clicks, on a log"
DIGITS = 7  # of the numbers that are kept
INTRODUCTION = """# Results

This page is made by `make results` from what the commands on it wrote; nothing is typed by hand. The papers' tables and
figures come from `rankwright reproduce all --quick`: **small data and few trees**, so that anybody can run it again in
minutes. Without `--quick` the sizes are the papers'. [Reproducing the papers](reproduce.md) tells what each experiment
does. Sets whose name ends in "-like" are made in the likeness of a set that cannot be shipped: their figures cannot be
compared with the paper's one to one, and what is judged there is which ranker is better than which.
"""


def page(results: Mapping[str, Any]) -> str:
    """The whole page."""
    experiments = list(results["experiments"].values())
    sections = [
        INTRODUCTION,
        *_machines(results),
        *_verdicts(experiments),
        *_failures(experiments),
        *_peers(results["benchmarks"]),
        "## The papers' tables and figures",
        *(section for one in experiments for section in _experiment(one)),
        *_missing(results),
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _machines(results: Mapping[str, Any]) -> Iterator[str]:
    yield "## Machine and versions"
    told = {json.dumps(one["machine"], sort_keys=True) for one in results["experiments"].values()}
    for machine_ in sorted(told):
        facts = json.loads(machine_)
        yield markdown_table(["what", "which"], [[name, str(value)] for name, value in facts.items()])
    yield "Times of experiments are seconds of processors: they depend little on what else the machine did."


def _verdicts(experiments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Verdicts"
    table = verdict_table(experiments)
    rows = [[f"[{row[0]}](#{_anchor(row[0])})", *row[1:]] for row in table.rows]
    yield markdown_table(table.columns, rows, numbers=table.numbers)
    yield f"{table.notes[0].capitalize()}. A statement is undecided where chance alone could do as much (95 %)."


def _failures(experiments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## What did not come out"
    rows = [
        [f"[{one['experiment']}](#{_anchor(one['experiment'])})", claim["text"], claim["answer"], claim["found"]]
        for one in experiments
        for claim in one["claims"]
        if claim["holds"] is not True
    ]
    yield markdown_table(["experiment", "statement", "here", "by which numbers"], rows)
    made = sorted({source["name"] for one in experiments for source in one["data"] if source["kind"] == "made"})
    yield (
        f"Why: {', '.join(made)} are made, and smaller than the papers' sets; what depends on the real ones cannot "
        "come out there for certain. Undecided statements lack queries: the intervals tell how many points chance is "
        "worth."
    )


def _peers(benchmarks: Mapping[str, Any]) -> Iterator[str]:
    yield "## Beside other libraries"
    for name, record in benchmarks.items():
        yield from _quality(name, record) if "metrics" in record else _timing(record)


def _quality(name: str, record: Mapping[str, Any]) -> Iterator[str]:
    first, *others = record["systems"]
    yield f"### {name}: `{first}` less the others"
    for metric, found in record["metrics"].items():
        columns = ["set", "queries", f"`{first}`", *(f"less `{other}`" for other in others)]
        rows = [
            [own, f"{told['queries']:,}", f"{told['first']:.4f}", *(_gap(told["others"][other]) for other in others)]
            for own, told in found["sets"].items()
        ]
        pooled = [_pooled(found["others"][other]) for other in others]
        rows.append(["mean of sets", "", f"{found['first']:.4f}", *pooled])
        yield f"{metric}, ± one standard error, paired by query; * is p < .05 after Holm's correction over the sets."
        yield markdown_table(columns, rows, numbers=columns[1:])
    seconds = ", ".join(f"`{system}` {taken:,.0f} s" for system, taken in record["seconds"].items())
    versions = ", ".join(f"{library} {number}" for library, number in record["versions"].items())
    yield (
        f"At most {record['folds']} folds of each set; {versions}. Training and scoring took, on the wall and beside "
        f"whatever else the machine did: {seconds}. Command: `{record['command']}`"
    )


def _gap(told: Mapping[str, float]) -> str:
    return f"{told['difference']:+.4f} ± {told['error']:.4f}{'*' if told['p_value'] < 0.05 else ''}"


def _pooled(told: Mapping[str, float]) -> str:
    return f"{told['difference']:+.4f} ({told['low']:+.4f} to {told['high']:+.4f}), p {told['p_value']:.4f}"


def _timing(record: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {record['question']}"
    ours = min(record["seconds"][record["ours"]])
    rows = [[name, f"{min(taken):.4f}", f"{min(taken) / ours:.2f}"] for name, taken in record["seconds"].items()]
    yield markdown_table(
        ["", "seconds, best of the repeats", "times ours"], rows, numbers=["seconds, best of the repeats", "times ours"]
    )
    yield from (f"{key}: {value}" for key, value in record["notes"].items())
    yield f"Command: `{record['command']}`"


def _experiment(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {document['experiment']}"
    yield f"{document['title']}, of {document['paper']}."
    yield f"**{document['verdict'].capitalize()}**: {document['sentence']}."
    yield from (table.markdown() for table in shown_tables(document))
    yield "\n".join(f"- {note}" for note in document["notes"])
    yield f"Command: `{document['command']}`, {document['processor_seconds']:.0f} s of processors."


def _missing(results: Mapping[str, Any]) -> Iterator[str]:
    missing = [name for name in EXPERIMENTS if name not in results["experiments"]]
    if missing:
        yield f"Not run: {', '.join(missing)}."


def _anchor(name: str) -> str:
    return "".join(letter for letter in name.lower().replace(" ", "-") if letter.isalnum() or letter == "-")


def collected(kept: Mapping[str, Any], again: Sequence[str], clicks: str | None) -> dict[str, Any]:
    """The kept results, those of experiments that were missing, and those of benchmarks that were run here."""
    experiments = {name: one for name, one in kept["experiments"].items() if name not in again}
    for name in again:
        shutil.rmtree(OUT / "reproduce-quick" / PARTS_FOLDER / name, ignore_errors=True)
    missing = [name for name in EXPERIMENTS if name not in experiments]
    found = reproduce(missing, Setup(QUICK), out=OUT / "reproduce-quick", workers=1) if missing else []
    experiments |= {one.experiment.name: one.to_dict() for one in found}
    if clicks is not None:
        setup = Setup(QUICK, given=find_sources(clicks))
        (on_log,) = reproduce(["blmart-clicks"], setup, out=OUT / "reproduce-clicks", workers=1)
        experiments[ON_CLICKS] = on_log.to_dict() | {"experiment": ON_CLICKS}
    order = [*EXPERIMENTS, ON_CLICKS]
    benchmarks = dict(kept["benchmarks"])
    for path in sorted(BENCHMARKS.glob("*.json")):
        record = json.loads(path.read_text())
        # A record without its command stays off the page: every number there can be made again.
        if isinstance(record, dict) and "command" in record and record.keys() & {"metrics", "question"}:
            benchmarks[path.stem] = record
    return {
        "experiments": {name: rounded(experiments[name]) for name in order if name in experiments},
        "benchmarks": {name: rounded(record) for name, record in benchmarks.items()},
    }


def rounded(value: Any) -> Any:
    """The same with few digits, so that the file stays small."""
    if isinstance(value, dict):
        return {name: rounded(one) for name, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def main() -> None:
    """Run what is missing, and write the JSON and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", nargs="*", default=[], choices=list(EXPERIMENTS), help="experiments to run anew")
    parser.add_argument("--clicks", help="a folder with a click log and its labels")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text()) if KEPT.exists() else {"experiments": {}, "benchmarks": {}}
    results = collected(kept, options.again, options.clicks)
    KEPT.write_text(json.dumps(results, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")


if __name__ == "__main__":
    main()

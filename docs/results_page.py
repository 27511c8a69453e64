"""Writes docs/results.md and docs/letor.md from docs/results.json: `make results` runs it, and a test compares.

The JSON holds what `rankwright reproduce` and the benchmarks wrote. Experiments that it lacks, or of which it has a run
that kept no reasons, are run with `--quick`; those of the papers' sizes are taken from out/reproduce-full, where
`rankwright reproduce NAME --out out/reproduce-full` left them. Long experiments on real sets are kept part by part in
docs/records. Records of benchmarks are taken from benchmarks/results, and comparisons of quality are made from the
results that are kept there. Nothing on the pages is typed by hand.

    python docs/results_page.py                         run what is missing, and write the page
    python docs/results_page.py --no-runs               run nothing: take in what commands have left, and write the page
    python docs/results_page.py --again sortnet-table1  run an experiment anew (its parts too), and write the page
    python docs/results_page.py --clicks DIR            run blmart-clicks on a log with labels too, at full size
    python docs/results_page.py --sets DIR              run blmart-tables and sortnet-table2 on real sets, too: hours
    python docs/results_page.py --records DIR           conclude from the records of runs on the real sets in DIR
"""

from __future__ import annotations

import argparse
import ast
import json
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rankwright.reproduce.experiment import FULL, QUICK, Setup
from rankwright.reproduce.experiment_table import EXPERIMENTS, experiment_named
from rankwright.reproduce.outcome import shown_tables, verdict_table
from rankwright.reproduce.records import record_path, rounded
from rankwright.reproduce.running import PARTS_FOLDER, reproduce
from rankwright.reproduce.sources import MADE, find_sources
from rankwright.tables.text import markdown_table

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "machinery"), str(HERE.parent)]  # for the sections, and for benchmarks

from headlines import PICTURE, TABLES, headlines, picture  # noqa: E402
from letor_page import REBUILT, letor_page  # noqa: E402
from results_sections import anchor, comparisons, speed  # noqa: E402

PAGE, KEPT = HERE / "results.md", HERE / "results.json"
LETOR_PAGE, RECORDS, IMAGES = HERE / "letor.md", HERE / "records", HERE / "images"
SCRIPTS = HERE.parent / "benchmarks"
BENCHMARKS = SCRIPTS / "results"
OUT = HERE.parent / "out"
FULL_OUT, QUICK_OUT = (OUT / f"reproduce-{name}" for name in ("full", "quick"))
ON_CLICKS = "blmart-clicks, on a log"
ON_SETS = ("blmart-tables", "blmart-variance", "blmart-overfitting", "blmart-tuning", "sortnet-table2")
ON_MORE_SETS = ("blmart-tables", "sortnet-table2")  # on sets that the papers do not have
DIGITS = 7  # of the numbers that are kept
# A script that another runs, and one that compares two versions of the code.
NO_QUESTION = {"clicks.clax", "speed.before_and_after"}
NO_REASON = "the run that is shown kept no reason"
INTRODUCTION = """# Results

`make results` generates this page from the output of the commands on it; nothing is typed by hand. The papers' tables
and figures come from `rankwright reproduce`. Where the table of verdicts says *full*, data and models have the
papers' sizes (*full, so far* where a run of days is not at its end: what is concluded is concluded from the parts
that are done); where it says *quick*, they come from `--quick`: **small data and few trees**. [Reproducing the
papers](reproduce.md) explains what each experiment does, and [References](references.md) has the papers. Data sets
whose name ends in "-like" are synthetic and resemble a set that cannot be shipped: their figures cannot be compared
with the paper's one to one, and what is judged there is which ranker is better than which.
"""
ON_MQ2007 = "on MQ2007"  # how names of experiments on that set end


def page(results: Mapping[str, Any]) -> str:
    """The whole page."""
    experiments = list(results["experiments"].values())
    sections = [
        INTRODUCTION,
        *([REBUILT] if any(one["experiment"].endswith(ON_MQ2007) for one in experiments) else []),
        *headlines(results),
        *_verdicts(experiments),
        *_failures(experiments),
        *comparisons(results["benchmarks"]),
        "## The papers' tables and figures",
        *(section for one in experiments for section in _experiment(one)),
        *_missing(results),
        *speed(_without_letor(results["benchmarks"]), results["scripts"]),
        *_machines(experiments),
    ]
    return "\n\n".join(section.strip() for section in sections) + "\n"


def _without_letor(benchmarks: Mapping[str, Any]) -> dict[str, Any]:
    """The records that have no page of their own."""
    return {name: record for name, record in benchmarks.items() if "letor" not in record}


def _machines(experiments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Machine and versions"
    told: dict[str, dict[str, None]] = {}
    for one in experiments:
        for name, value in one["machine"].items():
            told.setdefault(name, {})[str(value)] = None
    yield markdown_table(["what", "which"], [[name, ", ".join(sorted(values))] for name, values in told.items()])
    yield (
        "Times of experiments are processor seconds: they depend little on what else the machine did. Each benchmark "
        "names its versions below its table."
    )


def _verdicts(experiments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## Verdicts"
    table = verdict_table(experiments)
    sizes = [_size(one) for one in experiments]
    rows = [[_linked(row[0]), size, *row[1:]] for row, size in zip(table.rows, sizes, strict=True)]
    yield markdown_table([table.columns[0], "size", *table.columns[1:]], rows, numbers=table.numbers)
    note = table.notes[0].capitalize()
    yield f"{note}. A statement is undecided if chance alone could explain the difference (95 %)."


def _size(document: Mapping[str, Any]) -> str:
    """The size of a run; how far it is where it is not at its end; what a quick one would take at the paper's size."""
    done, wanted = document["parts"], document.get("parts_wanted", document["parts"])
    if done < wanted:
        return f"{document['size']}, so far: {done:,} of {wanted:,} parts"
    hours = _full_hours(document)
    return document["size"] if hours is None else f"{document['size']}; full takes about {_shortly(hours)}"


def _full_hours(document: Mapping[str, Any]) -> float | None:
    """The processor hours that a quick run on made sets would take at the paper's size, by the documents of its trees.

    None where time does not go by these.
    """
    work = experiment_named(document["experiment"].partition(",")[0]).work
    if document["size"] != QUICK or work is None or any(source["kind"] != MADE for source in document["data"]):
        return None
    return float(document["processor_seconds"] * work(Setup(FULL)) / work(Setup(QUICK)) / 3600)


def _shortly(hours: float) -> str:
    """Processor hours, or days."""
    return f"{hours:,.0f} processor hours" if hours < 48 else f"{hours / 24:,.0f} processor days"


def _failures(experiments: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    yield "## What did not come out, and why"
    for one in experiments:
        failed = [claim for claim in one["claims"] if claim["holds"] is not True]
        if failed:
            yield f"**{_linked(one['experiment'])}**"
            yield "\n".join(f"- {_failure(claim)}" for claim in failed)


def _failure(claim: Mapping[str, Any]) -> str:
    """A statement, what became of it, by which numbers, and why."""
    answer = claim["answer"].capitalize()
    return f"*{claim['text']}*. {answer}: {claim['found']}. **Why**: {claim.get('why', NO_REASON)}."


def _linked(experiment: str) -> str:
    return f"[{experiment}](#{anchor(experiment)})"


def _experiment(document: Mapping[str, Any]) -> Iterator[str]:
    yield f"### {document['experiment']}"
    yield f"{document['title']}, of {document['paper']}."
    yield f"**{document['verdict'].capitalize()}**: {document['sentence']}."
    yield from (table.markdown() for table in shown_tables(document))
    yield "\n".join(f"- {note}" for note in document["notes"])
    yield f"Command: `{document['command']}`, {document['processor_seconds']:.0f} processor seconds."


def _missing(results: Mapping[str, Any]) -> Iterator[str]:
    missing = [name for name in EXPERIMENTS if name not in results["experiments"]]
    if missing:
        yield f"Not run: {', '.join(missing)}."


def collected(
    kept: Mapping[str, Any],
    again: Sequence[str] = (),
    *,
    runs: bool = True,
    clicks: str | None = None,
    sets: str | None = None,
    records: str | None = None,
) -> dict[str, Any]:
    """The kept results, those of experiments that were missing, and those of benchmarks that were run here."""
    for name in again:
        shutil.rmtree(QUICK_OUT / PARTS_FOLDER / name, ignore_errors=True)
    experiments = {name: one for name, one in kept["experiments"].items() if name not in again}
    whole = [name for name, one in experiments.items() if one["size"] == FULL]
    experiments |= dict(_left(QUICK_OUT, QUICK, [*again, *whole])) | dict(_left(FULL_OUT, FULL, again))
    missing = [name for name in EXPERIMENTS if name not in experiments or not _has_reasons(experiments[name])]
    if missing and runs:
        found = reproduce(missing, Setup(QUICK), out=QUICK_OUT, workers=1)
        experiments |= {one.experiment.name: one.to_dict() for one in found}
    if clicks is not None:
        experiments = _with(experiments, _on_data({"blmart-clicks": ON_CLICKS}, clicks, "reproduce-full-clicks"))
    if sets is not None:
        experiments = _with(experiments, _on_data(dict.fromkeys(ON_MORE_SETS, ""), sets, "reproduce-full-sets"))
    if records is not None:
        experiments = _with(experiments, _from_records(records))
    places = {name: place for place, name in enumerate(EXPERIMENTS)}
    order = sorted(experiments, key=lambda name: (places[name.partition(",")[0]], name))
    return {
        "experiments": {name: rounded(experiments[name], DIGITS) for name in order},
        "benchmarks": {
            name: rounded(record, DIGITS) for name, record in sorted((_usable(kept["benchmarks"]) | _records()).items())
        },
        "scripts": _questions(),
    }


def _left(folder: Path, size: str, without: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The experiments of that size that `rankwright reproduce` left in a folder, but for some."""
    for name in EXPERIMENTS:
        path = folder / f"{name}.json"
        if path.exists() and name not in without:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["size"] == size:
                yield name, document


def _has_reasons(document: Mapping[str, Any]) -> bool:
    return all("why" in claim for claim in document["claims"])


def _on_data(names: Mapping[str, str], folder: str, out: str) -> dict[str, Any]:
    """Experiments on data that is here, under the names that are given, or those of the sets."""
    found = reproduce(list(names), Setup(FULL, given=find_sources(folder)), out=OUT / out, workers=1)
    return dict(_named(one.to_dict(), names[one.experiment.name]) for one in found)


def _with(experiments: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    """The experiments and new ones, each of which takes the place of the same experiment on the same data."""
    of_new = {_work_of(one) for one in new.values()}
    return {name: one for name, one in experiments.items() if _work_of(one) not in of_new} | dict(new)


def _work_of(document: Mapping[str, Any]) -> tuple[str, ...]:
    """What tells an experiment on some data from others, whatever it is called on the page."""
    return document["experiment"].partition(",")[0], *(source["name"] for source in document["data"])


def _named(document: Mapping[str, Any], name: str = "") -> tuple[str, dict[str, Any]]:
    """The name on the page of an experiment on given data, and its document under that name."""
    sets = " and ".join(source["name"] for source in document["data"])
    told = name or f"{document['experiment']}, on {sets}"
    return told, {**document, "experiment": told}


def _from_records(folder: str) -> dict[str, Any]:
    """What follows from the parts that records have of experiments on these sets."""
    setup = Setup(FULL, given=find_sources(folder))
    where = OUT / f"reproduce-{'-'.join(source.name for source in setup.given)}"
    names = [name for name in ON_SETS if record_path(RECORDS, _runs_parts(name, setup), setup).exists()]
    found = reproduce(names, setup, out=where, record=RECORDS, so_far=True)
    return dict(_named(one.to_dict()) for one in found)


def _runs_parts(name: str, setup: Setup) -> str:
    """The experiment whose parts this one takes."""
    return experiment_named(name).parts(setup)[0].of


def _records() -> dict[str, Any]:
    """What benchmarks left here."""
    found = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in sorted(BENCHMARKS.glob("*.json"))}
    return _usable(found) | _comparisons()


def _usable(records: Mapping[str, Any]) -> dict[str, Any]:
    """The records that tell their command and what it ran with: every number of the page can be made again."""
    wanted = ({"command", "date", "question"}, {"command", "title", "metrics", "place"})
    return {
        name: record
        for name, record in records.items()
        if isinstance(record, dict) and any(record.keys() >= keys for keys in wanted)
    }


def _comparisons() -> dict[str, Any]:
    """Comparisons by the results of `benchmarks.quality.rankers` that are kept here."""
    if not (BENCHMARKS / "quality").is_dir():
        return {}
    from benchmarks.quality.stored import COMPARISONS, stored

    found = {name: stored(name) for name in COMPARISONS}
    return {name: record for name, record in found.items() if record is not None}


def _questions() -> dict[str, str]:
    """The first line of every script of benchmarks/ that can be run."""
    found = {}
    for path in sorted(SCRIPTS.glob("*/*.py")):
        name = f"{path.parent.name}.{path.stem}"
        code = ast.parse(path.read_text(encoding="utf-8"))
        has_main = any(isinstance(one, ast.FunctionDef) and one.name == "main" for one in code.body)
        if has_main and path.parent.name != "helpers" and name not in NO_QUESTION:
            found[name] = " ".join((ast.get_docstring(code) or "").split("\n\n")[0].split()).rstrip(":")
    return found


def main() -> None:
    """Run what is missing, and write the JSON and the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", nargs="*", default=[], choices=list(EXPERIMENTS), help="experiments to run anew")
    parser.add_argument("--clicks", help="a folder with a click log and its labels")
    parser.add_argument("--sets", help="a folder with real data sets, as their authors ship them")
    parser.add_argument("--records", help="a folder with the real sets that runs were recorded on")
    parser.add_argument("--no-runs", action="store_true", help="run no experiment")
    options = parser.parse_args()
    kept = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {"experiments": {}, "benchmarks": {}}
    runs = not options.no_runs
    results = collected(
        kept, options.again, runs=runs, clicks=options.clicks, sets=options.sets, records=options.records
    )
    KEPT.write_text(json.dumps(results, indent=0, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(results), encoding="utf-8")
    LETOR_PAGE.write_text(letor_page(results["benchmarks"]), encoding="utf-8")
    if TABLES in results["experiments"]:
        (IMAGES / PICTURE).write_text(picture(results["experiments"][TABLES]), encoding="utf-8")


if __name__ == "__main__":
    main()

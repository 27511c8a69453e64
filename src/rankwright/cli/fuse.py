"""`rankwright fuse`: several TREC runs made into one."""

from __future__ import annotations

from rankwright.cli import output_kinds
from rankwright.cli.options import AS_JSON, arg, opt, separated
from rankwright.cli.output import print_json, progress, tell_written
from rankwright.errors import SettingError, require

EXAMPLES = (
    "Example: rankwright fuse bm25.run dense.run --out fused.run\n\n"
    "Example: rankwright fuse bm25.run dense.run --method combsum --weights 1,0.5 --out fused.run"
)


def fuse(
    runs: list[str] = arg("TREC runs of the same queries, two or more.", "RUN"),
    out: str = opt("The TREC run to write; - is standard output.", "F", default=..., writes=output_kinds.trec_run),
    method: str = opt("rrf, combsum, combmnz or borda.", default="rrf"),
    normalisation: str | None = opt(
        "How to normalise scores, for combsum and combmnz: min-max, max, sum, z-score or none. Default: min-max."
    ),
    weights: str | None = opt("How much each run counts: numbers separated by commas. Default: 1 for each."),
    k: float = opt("For rrf: larger values make the first ranks stand out less.", default=60.0),
    tag: str | None = opt("The name of the fused run, one word. Default: the method."),
    as_json: bool = AS_JSON,
) -> None:
    """Fuse TREC runs into one: by reciprocal ranks, by sums of normalised scores, or by Borda's count.

    The fused run has the queries and documents of all runs. `rankwright compare --fuse` compares it with its parts.
    """
    from rankwright.formats.trec import read_run, write_run
    from rankwright.ranking.fusion import fuse as fuse_runs

    told = "--json and the run cannot both go to standard output: name a file with --out"
    require(not (as_json and out == "-"), told)
    shares = None if weights is None else [_number(text) for text in separated(weights)]
    with progress():
        found = fuse_runs([read_run(path) for path in runs], method, normalisation=normalisation, weights=shares, k=k)
        write_run(found, out, tag=tag or method)
    if as_json:
        sizes = {"queries": len(set(found.query_ids.tolist())), "documents": len(found.scores)}
        print_json({"out": out, "runs": runs, "method": method, "tag": tag or method} | sizes)
    elif out != "-":
        tell_written(out)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"--weights takes numbers separated by commas, found {text!r}") from None

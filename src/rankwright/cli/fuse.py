"""`rankwright fuse`: several TREC runs made into one."""

from __future__ import annotations

from rankwright.cli import output_kinds
from rankwright.cli.options import arg, opt, separated
from rankwright.cli.output import progress, tell_written
from rankwright.errors import SettingError

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
) -> None:
    """Fuse TREC runs into one: by reciprocal ranks, by sums of normalised scores, or by Borda's count.

    The fused run has the queries and documents of all runs. `rankwright compare --fuse` compares it with its parts.
    """
    from rankwright.formats.trec import read_run, write_run
    from rankwright.ranking.fusion import fuse as fuse_runs

    shares = None if weights is None else [_number(text) for text in separated(weights)]
    with progress():
        found = fuse_runs([read_run(path) for path in runs], method, normalisation=normalisation, weights=shares, k=k)
        write_run(found, out, tag=tag or method)
    if out != "-":
        tell_written(out)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise SettingError(f"--weights takes numbers separated by commas, found {text!r}") from None

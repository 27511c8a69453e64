"""How many lines of code are there, without docstrings, comments and blank lines, in all and by folder?

    python -m benchmarks.helpers.count_lines [src/rankwright] [--endings .py]

C++ is counted with `--endings .cpp .hpp`, by its lines that hold more than a comment.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import tokenize
from collections import Counter
from pathlib import Path

NO_CODE = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER)
CPP_COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|("(?:\\.|[^"\\\n])*")', re.DOTALL)


def python_lines(text: str) -> set[int]:
    """The numbers of the lines that hold code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in NO_CODE:
            lines.update(range(token.start[0], token.end[0] + 1))
    return lines - docstring_lines(ast.parse(text))


def docstring_lines(tree: ast.Module) -> set[int]:
    lines: set[int] = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            lines.update(range(docstring.lineno, (docstring.end_lineno or docstring.lineno) + 1))
    return lines


def count(path: Path) -> int:
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".py", ".pyi"):
        return len(python_lines(text))
    without_comments = CPP_COMMENT.sub(lambda found: found[1] or "", text)
    return sum(bool(line.strip()) for line in without_comments.splitlines())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", nargs="?", type=Path, default=Path("src/rankwright"))
    parser.add_argument("--endings", nargs="+", default=[".py"])
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    files: Counter[str] = Counter()
    for path in sorted(options.folder.rglob("*")):
        if path.suffix in options.endings:
            inside = path.relative_to(options.folder).parts
            folder = inside[0] if len(inside) > 1 else "."
            counts[folder] += count(path)
            files[folder] += 1
    for folder, lines in counts.most_common():
        print(f"{lines:7,} {files[folder]:5} files   {folder}")
    print(f"{counts.total():7,} {files.total():5} files   {options.folder}")


if __name__ == "__main__":
    main()

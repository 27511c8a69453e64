"""The command line: its commands and options, and the shape of the JSON documents they print."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.compatibility.training import MODELS, TRAIN, VALID

Run = Callable[..., str]  # runs a command and gives what it printed

SMALL = ["--set", "n_trees=2", "--set", "max_leaves=3", "--set", "min_docs_in_leaf=5"]
LISTED = ("rankers", "metrics", "conventions", "objectives", "strategies", "spaces")


def describe_commands() -> dict[str, Any]:
    """Each command's options by their flags, and its arguments by their places."""
    return {
        name: {" ".join([*one.opts, *one.secondary_opts]): describe_option(one) for one in command.params}
        for name, command in commands().items()
    }


def commands() -> dict[str, Any]:
    """The commands behind the app."""
    from typer.main import get_command

    from rankwright.cli.app import app

    group: Any = get_command(app)
    return {"": group} | dict(group.commands)


def describe_option(option: Any) -> str:
    default = option.default() if callable(option.default) else option.default
    facts = [f"default {default!r}", f"metavar {option.metavar}" if option.metavar else ""]
    facts += ["required" if option.required else "", "repeated" if option.multiple or option.nargs != 1 else ""]
    return ", ".join(filter(None, facts))


def describe_documents(run: Run, folder: Path) -> dict[str, Any]:
    """The shape of what each command prints with `--json`; `list rankers` is written out."""
    documents = {title: shape_of(json.loads(run(*command, "--json"))) for title, command in json_commands(folder)}
    lines = run("score", str(MODELS / "lambdamart.rw"), str(VALID), "--to", "jsonl").splitlines()
    listed = json.loads(run("list", "rankers", "--json"))["rankers"]
    return documents | {
        "score --format jsonl": shape_of([json.loads(line) for line in lines]),
        "rankers": {
            ranker["name"]: {key: repr(value) for key, value in ranker["settings"].items()} for ranker in listed
        },
    }


def json_commands(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Commands that print a JSON document, each with a title; they write to `folder`."""
    train, valid, model, letor = str(TRAIN), str(VALID), str(folder / "model.rw"), letor_folder(folder)
    lambdamart, mart = str(MODELS / "lambdamart.rw"), str(MODELS / "mart.rw")
    plan = ["--folds", "2", "--workers", "1"]
    search = ["--search", "max_leaves=2..4", "--trials", "2", *plan, *SMALL[:2], *SMALL[4:]]
    yield from ((f"list {what}", ["list", what]) for what in LISTED)
    yield "inspect data", ["inspect", train]
    yield "inspect forest", ["inspect", lambdamart, "--data", valid]
    yield "inspect linear", ["inspect", str(MODELS / "ranksvm.rw")]
    yield "inspect net", ["inspect", str(MODELS / "ranknet.rw")]
    yield "inspect sortnet", ["inspect", str(MODELS / "sortnet.rw"), "--data", valid]
    yield "inspect bagging", ["inspect", str(MODELS / "bagging.rw")]
    yield "inspect bl-mart", ["inspect", str(MODELS / "bl-mart.rw")]
    yield "inspect objective", ["inspect", "--objective", "lambdarank:ndcg@10"]
    yield "convert", ["convert", train, str(folder / "train.csv")]
    yield "train", ["train", train, "--valid", valid, "--test", valid, *SMALL, "--out", model]
    yield "evaluate", ["evaluate", valid, "--model", lambdamart]
    yield "evaluate all", ["evaluate", valid, "--model", lambdamart, "--convention", "all"]
    yield "compare", ["compare", valid, "--model", f"a={lambdamart}", "--model", f"b={mart}"]
    yield (
        "compare folds",
        ["benchmark", letor, "--rankers", "ranksvm,prank", "--trials", "1", "--workers", "1"],
    )
    yield (
        "compress",
        [
            "compress",
            lambdamart,
            "--data",
            train,
            "--valid",
            valid,
            "--test",
            valid,
            "--means",
            "exact,prune",
            "--out",
            model,
        ],
    )
    yield "bag", ["bag", train, "--test", valid, "--bags", "2", *SMALL, "--out", model]
    yield (
        "bag study",
        [
            "bag",
            train,
            "--test",
            valid,
            "--bags",
            "2",
            *SMALL,
            "--study",
            "--samples",
            "2",
            "--out",
            str(folder / "variance"),
        ],
    )
    yield "cv", ["cv", train, *SMALL, *plan]
    yield "tune", ["tune", train, *search, "--study", str(folder / "study"), "--out", model]
    yield "tune report", ["tune", "--show", str(folder / "study")]
    yield "tune nested", ["tune", train, *search, "--nested", "2"]
    yield (
        "reproduce",
        ["reproduce", "ranknet-figure1", "--quick", "--workers", "1", "--out", str(folder / "reproduced")],
    )
    yield "quickstart", ["quickstart"]


def letor_folder(folder: Path) -> str:
    """A folder of two folds, as LETOR has them."""
    for number in (1, 2):
        fold = folder / "letor" / f"Fold{number}"
        fold.mkdir(parents=True)
        for name, source in (("train", TRAIN), ("vali", VALID), ("test", VALID)):
            shutil.copy(source, fold / f"{name}.txt")
    return str(folder / "letor")


def shape_of(value: Any) -> Any:
    """Keys and types: a list is described by what its elements have together."""
    if isinstance(value, dict):
        return {key: shape_of(item) for key, item in value.items()}
    if isinstance(value, list):
        return {"each": together([shape_of(item) for item in value])}
    return "null" if value is None else type(value).__name__


def together(shapes: list[Any]) -> Any:
    if shapes and all(isinstance(shape, dict) for shape in shapes):
        keys = dict.fromkeys(key for shape in shapes for key in shape)
        return {key: together([shape[key] for shape in shapes if key in shape]) for key in keys}
    return " or ".join(sorted({shape if isinstance(shape, str) else "object" for shape in shapes}))

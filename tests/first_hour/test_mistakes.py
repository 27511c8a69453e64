"""The mistakes of a first hour, and what a user is told.

Each row is something that a newcomer does, and the part of the message that says what to do about it. The messages are
meant to be read: change a row when a message becomes clearer.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import rankwright as rw
from rankwright.errors import RankwrightError

COLUMNS = ["--query", "search", "--label", "stars", "--drop", "url"]

COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "no column has a usual name": (
        ["train", "train.csv", "--out", "x.rw"],
        ["there is no query column: found 'search', 'stars'", "--query NAME"],
    ),
    "a misspelt column": (
        ["train", "train.csv", "--query", "serach", "--out", "x.rw"],
        ["there is no column 'serach': found 'search', 'stars'"],
    ),
    "a text column among the features": (
        ["train", "train.csv", "--query", "search", "--label", "stars", "--out", "x.rw"],
        ["train.csv:2: column 'url': wanted a number, found 'http://0.example'", "--drop url"],
    ),
    "a column that is dropped and not there": (
        ["train", "train.csv", *COLUMNS[:-1], "link", "--out", "x.rw"],
        ["there is no column 'link'"],
    ),
    "columns of a table for LETOR text": (
        ["train", "train.txt", "--query", "search", "--out", "x.rw"],
        ["svmlight files have no --query, --label and the like here"],
    ),
    "a misspelt option in a config file": (
        ["evaluate", "test.csv", "--model", "model.rw", "--config", "wrong.toml"],
        ["unknown option in wrong.toml 'qeury'; did you mean 'query'?"],
    ),
    "a config file that is not there": (
        ["evaluate", "test.csv", "--model", "model.rw", "--config", "none.toml"],
        ["none.toml: no such file"],
    ),
    "a misspelt metric": (
        ["evaluate", "test.txt", "--scores", "nothing.txt", "--metrics", "ndgc@10"],
        ["unknown metric 'ndgc@10'; did you mean 'ndcg@10'?"],
    ),
    "a metric without its cutoff": (
        ["evaluate", "test.txt", "--scores", "nothing.txt", "--metrics", "precision"],
        ["metric p needs a cutoff, such as p@10"],
    ),
    "a misspelt metric to choose by": (
        ["train", "train.txt", "--select", "nDGC@10", "--out", "x.rw"],
        ["unknown metric 'nDGC@10'; did you mean 'ndcg@10'?"],
    ),
    "a misspelt ranker": (
        ["train", "train.txt", "--ranker", "lambdamrat", "--out", "x.rw"],
        ["unknown ranker 'lambdamrat'; did you mean 'lambdamart'?"],
    ),
    "a misspelt setting": (
        ["train", "train.txt", "--set", "ntrees=5", "--out", "x.rw"],
        ["unknown setting of lambdamart 'ntrees'; did you mean 'n_trees'?"],
    ),
    "a setting of the wrong type": (
        ["train", "train.txt", "--set", "n_trees=many", "--out", "x.rw"],
        ["n_trees must be a whole number or none, got 'many'"],
    ),
    "a file that is not there": (["train", "trian.txt", "--out", "x.rw"], ["trian.txt: no such file"]),
    "labels that are all equal": (
        ["train", "flat.csv", "--out", "x.rw"],
        ["nothing for lambdamart to learn from: all 12 labels are 1", "--allow-empty"],
    ),
    "one document a query": (
        ["train", "alone.csv", "--out", "x.rw"],
        ["each of the 12 queries has one document", "--allow-empty"],
    ),
    "positions that nobody uses": (
        ["train", "clicks.csv", "--ranker", "mart", "--out", "x.rw"],
        ["mart does not learn from positions", "--drop"],
    ),
    "early stopping without validation data": (
        ["train", "train.txt", "--set", "early_stopping=5", "--out", "x.rw"],
        ["early_stopping needs validation data: give --valid"],
    ),
    "watching without validation data": (
        ["train", "train.txt", "--watch", "test.txt", "--out", "x.rw"],
        ["--watch goes with --valid"],
    ),
    "nothing to evaluate": (["evaluate", "test.txt"], ["give --scores, one number a line, --model, or --run"]),
    "scores of other documents": (
        ["evaluate", "test.txt", "--scores", "short.txt"],
        ["short.txt", "has 2 scores, but the data has"],
    ),
    "a model as scores": (["evaluate", "test.txt", "--scores", "model.rw"], ["model.rw"]),
    "data in the place of a model": (["score", "test.txt", "model.rw"], ["test.txt"]),
    "a misspelt format": (
        ["train", "train.txt", "--format", "svmlite", "--out", "x.rw"],
        ["unknown format 'svmlite'; did you mean 'svmlight'?"],
    ),
    "a ranker as Python calls it": (
        ["train", "train.txt", "--ranker", "LambdaMART", "--out", "x.rw"],
        ["unknown ranker 'LambdaMART'; did you mean 'lambdamart'?"],
    ),
    "a setting as an option": (
        ["train", "train.txt", "--n-trees", "3", "--out", "x.rw"],
        ["--n-trees; n_trees is a setting of lambdamart: --set n_trees=3"],
    ),
    "a setting of another ranker as an option": (
        ["train", "train.txt", "--ranker", "ranknet", "--n-epochs=3", "--out", "x.rw"],
        ["--n-epochs; epochs is a setting of ranknet: --set epochs=3"],
    ),
    "a metric to train for": (
        ["train", "train.txt", "--metric", "map", "--out", "x.rw"],
        ["--metric; metric is a setting of lambdamart: --set metric=map"],
    ),
    "a metric to measure": (
        ["evaluate", "test.txt", "--model", "model.rw", "--metric", "map"],
        ["did you mean --metrics map?"],
    ),
    "a setting without its sign": (
        ["train", "train.txt", "--set", "n_trees", "3", "--out", "x.rw"],
        ["--set takes KEY=VALUE", "--set n_trees=3"],
    ),
    "a setting as another tool calls it": (
        ["train", "train.txt", "--set", "n_estimators=3", "--out", "x.rw"],
        ["unknown setting of lambdamart 'n_estimators'; did you mean 'n_trees'?"],
    ),
    "an option as another tool calls it": (
        ["train", "train.txt", "--n-jobs", "2", "--out", "x.rw"],
        ["did you mean --threads 2?"],
    ),
    "models without their option": (
        ["compare", "test.txt", "model.rw", "other.rw"],
        ["rankwright compare test.txt --model model.rw --model other.rw"],
    ),
    "a model before the data": (
        ["evaluate", "model.rw", "test.txt"],
        ["rankwright evaluate test.txt --model model.rw"],
    ),
    "runs without their option": (
        ["compare", "a.run", "b.run"],
        ["rankwright compare --qrels QRELS --run a.run --run b.run"],
    ),
    "one argument too many": (
        ["train", "train.txt", "more.txt", "--out", "x.rw"],
        ["`rankwright train` has no place for more.txt; it takes TRAIN, and options"],
    ),
    "a command of another tool": (["predict", "model.rw", "test.txt"], ["'predict'; did you mean 'score'?"]),
    "a misspelt command": (["evalaute", "test.txt"], ["'evalaute'; did you mean 'evaluate'?"]),
    "an option of another command": (["compare", "test.txt", "--rankers", "mart"], ["`rankwright benchmark` has it"]),
    "an option before its command": (
        ["--seed", "3", "train", "train.txt"],
        ["there is no option --seed before a command; options stand after the command: rankwright train --seed"],
    ),
    "an option of one command, without it": (["--rankers", "mart"], ["rankwright benchmark --rankers"]),
    "an option of many commands, without one": (["--json"], ["rankwright COMMAND --json"]),
    "the version, in short": (["-V"], ["did you mean rankwright --version?"]),
    "a misspelt option before any command": (["--versoin"], ["did you mean rankwright --version?"]),
    "a command as an option": (["--train", "train.txt"], ["did you mean rankwright train?"]),
    "an option that no command has": (["--foo"], ["there is no option --foo before a command; `rankwright --help`"]),
    "a ranker as its tool is called": (
        ["train", "train.txt", "--ranker", "XGBoost", "--out", "x.rw"],
        ["unknown ranker 'XGBoost'; did you mean 'lambdamart'?"],
    ),
    "a format as another tool calls it": (
        ["train", "train.txt", "--format", "libsvm", "--out", "x.rw"],
        ["unknown format 'libsvm'; did you mean 'svmlight'?"],
    ),
    "an argument that is missing": (
        ["train", "--out", "x.rw"],
        ["`rankwright train` needs TRAIN: rankwright train TRAIN --out MODEL. TRAIN: The documents to train on"],
    ),
    "an option that is missing": (["export", "model.rw"], ["needs --to: rankwright export MODEL --to TARGET --out F"]),
    "words for a number": (
        ["train", "train.txt", "--seed", "one", "--out", "x.rw"],
        ["--seed takes a whole number, got 'one'"],
    ),
    "a number out of its range": (["score", "model.rw", "test.txt", "--top", "0"], ["--top must be 1 or more, got 0"]),
    "a decimal comma in an option": (
        ["split", "test.txt", "--test", "0,2", "--out", "parts"],
        ["--test takes a number, got '0,2'; decimals are written with a point"],
    ),
    "a decimal comma in a setting": (
        ["train", "train.txt", "--set", "learning_rate=0,1", "--out", "x.rw"],
        ["learning_rate must be a number or none, got '0,1'; decimals are written with a point"],
    ),
    "a share above one": (["split", "test.txt", "--test", "1.5", "--out", "parts"], ["--test must be a share between"]),
    "folds and shares": (
        ["split", "test.txt", "--folds", "3", "--test", "0.2", "--out", "parts"],
        ["--folds goes without shares: leave out --test"],
    ),
    "a model as scores, without its option": (
        ["evaluate", "test.txt", "--scores", "model.rw"],
        ["model.rw: is a model file; wanted text. Is it the value of another option, such as --model?"],
    ),
    "judgments by their option": (
        ["evaluate", "--run", "a.run", "--qrels", "qrels"],
        ["the judgments come first: rankwright evaluate QRELS --run RUN"],
    ),
    "a system without a name": (
        ["compare", "test.txt", "--model", "=model.rw", "--model", "b=model.rw"],
        ["a system is NAME=FILE or FILE, got '=model.rw'"],
    ),
    "a system without a file": (
        ["compare", "test.txt", "--model", "a=model.rw", "--model", "b="],
        ["a system is NAME=FILE or FILE, got 'b='"],
    ),
    "a run as a table": (["fuse", "a.run", "b.run", "--out", "x.csv"], ["a TREC run is not written as '.csv'"]),
    "a click log as data": (
        ["train", "log.jsonl", "--out", "x.rw"],
        ["This looks like a click log: `rankwright clicks`"],
    ),
    "a run as data": (["train", "a.run", "--out", "x.rw"], ["This looks like a TREC run: --run takes it"]),
    "a log, and nothing to do with it": (["clicks", "log.jsonl"], ["say what to make of the log", "--model all"]),
    "a search without its size": (["tune", "train.txt"], ["say how many configurations to try: give --trials"]),
    "a variable of the shell that is not set": (["train", "", "--out", "x.rw"], ["TRAIN is empty: name a file"]),
    "an option without a name": (
        ["train", "train.txt", "--valid", "", "--out", "x.rw"],
        ["--valid is empty: name a file, or leave --valid out"],
    ),
    "a model without a name": (["evaluate", "test.txt", "--model", ""], ["--model is empty: name a file"]),
    "a folder without a name": (["quickstart", "--out", ""], ["the name of an output is empty: name a folder"]),
    "an argument as an option": (
        ["score", "--model", "model.rw", "test.txt"],
        ["MODEL is given without an option: rankwright score MODEL DATA"],
    ),
    "an option of many other commands": (["quickstart", "--seed", "3"], ["`rankwright quickstart --help` shows"]),
    "one of two words": (
        ["export", "model.rw", "--to", "c", "--missing", "maybe", "--out", "x.c"],
        ["--missing takes kept or never, got 'maybe'"],
    ),
    "a share of lists above one": (
        ["clicks", "log.jsonl", "--model", "pbm", "--held-out", "2"],
        ["--held-out is a share between 0 and 1, got 2.0"],
    ),
    "help as a command": (["help", "train"], ["unknown command 'help'; did you mean '--help'?"]),
    "an engine as a target": (
        ["export", "model.rw", "--to", "elasticsearch", "--out", "x.json"],
        ["unknown target 'elasticsearch'; did you mean 'plugin-xgboost'?"],
    ),
    "a table without a header": (
        ["train", "nameless.csv", "--out", "x.rw"],
        ["the first line holds values", "all 3 in their order", "--names qid,label,f1,…"],
    ),
    "decimal commas": (
        ["train", "commas.csv", "--out", "x.rw"],
        ["commas.csv:2: column 'a': wanted a number, found '0,5'; decimals are written with a point: `tr , . <"],
    ),
    "rows in any order": (["score", "model.rw", "shuffled.txt"], ["comes back", "--whole takes rows in any order"]),
    "more threads than there are numbers": (
        ["train", "train.txt", "--threads", "2147483648", "--out", "x.rw"],
        ["threads must be between 1 and 1,024, got 2147483648"],
    ),
    "two systems are needed": (
        ["compare", "test.txt", "--model", "model.rw"],
        ["a comparison needs two systems or more, got 1"],
    ),
}


@pytest.mark.parametrize("mistake", COMMANDS)
def test_a_command_tells_what_to_do(mistake: str, told: Callable[..., str]) -> None:
    arguments, parts = COMMANDS[mistake]
    message = told(*arguments)
    for part in parts:
        assert part in message, message


Mine = SimpleNamespace
SMALL: dict[str, Any] = {"n_trees": 2, "max_leaves": 4, "threads": 1}


def ranker(**settings: Any) -> rw.LambdaMART:
    return rw.LambdaMART(**(SMALL | settings))


anything: Any = rw  # so that types are wrong on purpose

CALLS: dict[str, tuple[Callable[[Mine], Any], list[str]]] = {
    "a number as text": (
        lambda my: ranker(n_trees="10").fit(my.data),
        ["n_trees must be a whole number or none, got '10'"],
    ),
    "a number as objective": (lambda my: ranker(objective=3).fit(my.data), ["objective must be text", "a function"]),
    "a misspelt setting, in Python": (lambda _: anything.LambdaMART(n_tree=3), ["did you mean n_trees=…?"]),
    "the number of trees as others call it": (
        lambda _: anything.LambdaMART(n_estimators=3),
        ["LambdaMART has no argument 'n_estimators'; did you mean n_trees=…? It has"],
    ),
    "a misspelt setting to change": (
        lambda _: rw.LambdaMART().set_params(n_tree=3),
        ["LambdaMART.set_params has no argument 'n_tree'; did you mean n_trees=…? It has"],
    ),
    "a misspelt setting of a bag's ranker": (
        lambda _: rw.Bagging(rw.MART()).set_params(ranker__num_leaves=3),
        ["MART.set_params has no argument 'num_leaves'; did you mean max_leaves=…?"],
    ),
    "leaves as others call them": (lambda _: anything.LambdaMART(num_leaves=3), ["did you mean max_leaves=…?"]),
    "a setting by place": (lambda _: anything.LambdaMART(100), ["LambdaMART takes its settings by name"]),
    "validation data as others call it": (
        lambda my: anything.LambdaMART().fit(my.X, my.y, qid=my.qid, eval_set=[(my.X, my.y)]),
        ["LambdaMART.fit has no argument 'eval_set'; did you mean valid=(X, y, qid)?"],
    ),
    "query ids by place": (
        lambda my: anything.LambdaMART().fit(my.X, my.y, my.qid),
        ["LambdaMART.fit takes X and y alone by place: fit(X, y, qid=…)"],
    ),
    "a misspelt objective": (
        lambda my: ranker(objective="lamdarank").fit(my.data),
        ["unknown objective 'lamdarank'; did you mean 'lambdarank'?"],
    ),
    "a misspelt metric to choose by, without validation data": (
        lambda my: ranker(select="ndgc@10").fit(my.data),
        ["did you mean 'ndcg@10'?"],
    ),
    "fit without labels": (
        lambda my: ranker().fit(my.X.to_numpy()),
        ["requires y to be passed"],
    ),
    "a frame without usual names": (
        lambda my: ranker().fit(my.frame),
        ["there is no query column: found 'search', 'stars'", "qid="],
    ),
    "a frame with only one of them named": (
        lambda my: ranker().fit(my.frame, qid="search"),
        ["there is no label column", "label="],
    ),
    "a frame with a column of addresses": (
        lambda my: ranker().fit(
            my.frame.assign(url=[f"{row}" * 3 for row in range(len(my.frame))])
            .loc[my.frame.index.repeat(9)]
            .assign(url=lambda frame: [f"u{row}" for row in range(len(frame))]),
            label="stars",
            qid="search",
        ),
        ["column 'url' holds", "different texts", "drop="],
    ),
    "labels among the features": (
        lambda my: ranker().fit(my.X.assign(label=my.y), my.y, qid=my.qid),
        ["column 'label' of X holds the labels themselves"],
    ),
    "a column's name with arrays": (
        lambda my: ranker().fit(my.X.to_numpy(), my.y.to_numpy(), qid="search"),
        ["qid='search' would name a column of a frame"],
    ),
    "labels of other rows": (
        lambda my: ranker().fit(my.X, my.y[:-1], qid=my.qid),
        ["labels must have", "values, got"],
    ),
    "negative labels": (
        lambda my: ranker().fit(my.X, my.y - 5, qid=my.qid),
        ["labels must be finite and 0 or more"],
    ),
    "labels that are words": (
        lambda my: ranker().fit(my.X, ["good"] * len(my.X), qid=my.qid),
        ["labels must hold numbers"],
    ),
    "texts for a ranker of numbers": (
        lambda my: rw.RankSVM(max_iter=1).fit(my.X.assign(color="red"), my.y, qid=my.qid),
        ["ranksvm learns from numbers, and 'color' holds texts"],
    ),
    "prediction before training": (
        lambda my: rw.LambdaMART().predict(my.X),
        ["this LambdaMART is not trained: call fit first"],
    ),
    "columns that are missing later": (
        lambda my: my.ranker.predict(my.X.drop(columns=["f0", "f3"])),
        ["the data lacks 'f0', 'f3', which the ranker was trained on"],
    ),
    "arrays of another width": (
        lambda my: ranker().fit(my.X.to_numpy(), my.y, qid=my.qid).predict(my.X.to_numpy()[:, :4]),
        ["4 features", "6 features"],
    ),
    "validation data of the wrong kind": (
        lambda my: ranker().fit(my.data, valid=0.2),
        ["valid must be a RankingDataset, a file, a frame, (X, y, qid)", "got float"],
    ),
    "positions": (
        lambda my: rw.MART(**SMALL).fit(my.X, my.y, qid=my.qid, position=np.zeros(len(my.X), int)),
        ["mart does not learn from positions"],
    ),
    "scores and data swapped": (
        lambda my: rw.evaluate(my.data, my.scores),
        ["scores come first, data second"],
    ),
    "nothing to measure against": (lambda my: rw.evaluate(my.scores), ["give data, or labels="]),
    "scores of other documents, in Python": (
        lambda my: rw.evaluate(my.scores[:5], my.data),
        ["scores must have", "got 5"],
    ),
    "a misspelt metric, in Python": (
        lambda my: rw.evaluate(my.scores, my.data, "NDGC@10"),
        ["unknown metric 'NDGC@10'; did you mean 'ndcg@10'?"],
    ),
    "a metric that is a number": (lambda my: anything.evaluate(my.scores, my.data, [10]), ["a metric must be a name"]),
    "an unknown convention": (
        lambda my: rw.evaluate(my.scores, my.data, convention="ltor"),
        ["unknown convention 'ltor'; did you mean 'letor'?"],
    ),
    "systems without names": (
        lambda my: anything.compare([my.scores, my.scores], my.data),
        ["systems must be a mapping of names"],
    ),
    "an id that is not there": (lambda my: my.data["s1-99"], ["there is no query 's1-99'", "s1-0"]),
    "a model file that is none": (lambda my: rw.load(my.folder / "train.csv"), ["train.csv"]),
}


@pytest.mark.parametrize("mistake", CALLS)
def test_python_tells_what_to_do(mistake: str, mine: Mine) -> None:
    call, parts = CALLS[mistake]
    with pytest.raises(RankwrightError) as raised:
        call(mine)
    message = str(raised.value)
    assert "\n" not in message, message
    for part in parts:
        assert part in message, message


def test_there_are_forty() -> None:
    assert len(COMMANDS) + len(CALLS) >= 40

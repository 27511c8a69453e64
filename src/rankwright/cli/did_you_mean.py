"""Command lines that cannot be understood, answered with what to type instead."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import Any

from rankwright.errors import SettingError
from rankwright.settings.other_names import meant_by

# What other tools call our commands.
COMMAND_MEANT = {
    **dict.fromkeys(("predict", "rank", "apply", "infer"), "score"),
    **dict.fromkeys(("fit", "learn"), "train"),
    **dict.fromkeys(("eval", "test", "measure", "metrics"), "evaluate"),
    **dict.fromkeys(("info", "describe", "show", "stats", "head"), "inspect"),
    **dict.fromkeys(("cross-validate", "crossval", "kcv"), "cv"),
    **dict.fromkeys(("search", "optimize", "optimise"), "tune"),
    **dict.fromkeys(("partition", "folds", "sample"), "split"),
    **dict.fromkeys(("dump", "deploy", "save"), "export"),
    **dict.fromkeys(("prune", "distill", "shrink"), "compress"),
    **dict.fromkeys(("demo", "start", "init", "example"), "quickstart"),
    **dict.fromkeys(("merge", "combine"), "fuse"),
    **dict.fromkeys(("shap", "importance"), "explain"),
    "help": "--help",
}
SET, MODEL, SCORES, RUN, QRELS = "--set", "--model", "--scores", "--run", "--qrels"
# What is said otherwise in one command than in others.
INSTEAD = {
    ("evaluate", QRELS): "the judgments come first: rankwright evaluate QRELS --run RUN",
    ("export", "--format"): "--to names the target: `rankwright list targets`",
    ("split", "--train"): "train gets what --valid and --test leave",
}
MOST_HOMES = 3  # commands that an answer names
ROOT_OPTIONS = ("--help", "--version")
RUN_ENDINGS = (".run", ".trec")


def unknown_option(command: Any, option: str, given: Sequence[str], homes: Sequence[str]) -> SettingError:
    """The answer to an option that a command does not have; `homes` are the commands that have it."""
    name, value = _plainly(option), _value_after(option, given)
    ranker, settings = _settings_given(command, given)
    flags = {_plainly(flag): flag for flag in flags_of(command)}
    near = meant_by(name, [*flags, *settings])
    places = [_place(one) for one in _places(command)]
    if name.upper() in places:
        meant = f"{name.upper()} is given without an option: rankwright {' '.join([command.name, *places])}"
    elif near in flags:
        meant = f"did you mean {' '.join(filter(None, [flags[near], value]))}?"
    elif near is not None:
        meant = f"{near} is a setting of {ranker}: {SET} {near}={value or 'VALUE'}"
    elif (command.name, option) in INSTEAD:
        meant = INSTEAD[command.name, option]
    elif 0 < len(homes) <= MOST_HOMES:
        meant = " and ".join(f"`rankwright {home}`" for home in homes) + (" has it" if len(homes) == 1 else " have it")
    else:
        meant = f"`rankwright {command.name} --help` shows those that there are"
    return SettingError(f"`rankwright {command.name}` has no option {option}; {meant}")


def option_before_command(root: Any, option: str, given: Sequence[str]) -> SettingError:
    """The answer to an option before any command that only commands have, or none."""
    homes = [name for name, command in root.commands.items() if option in flags_of(command)]
    asked = next((word for word in given if word in homes), None)
    near = meant_by(_plainly(option), [*map(_plainly, ROOT_OPTIONS), *root.commands])
    if asked or (homes and _plainly(option) not in root.commands):
        asked = asked or (homes[0] if len(homes) == 1 else "COMMAND")
        meant = f"options stand after the command: rankwright {asked} {option}"
    elif near is not None:
        meant = f"did you mean rankwright {near if near in root.commands else f'--{near}'}?"
    else:
        meant = "`rankwright --help` shows the commands, and `rankwright COMMAND --help` the options of one"
    return SettingError(f"there is no option {option} before a command; {meant}")


def what_is_missing(command: Any, missing: Any) -> SettingError:
    """The answer to a command without an argument or option that it needs."""
    needed = [one for one in command.params if one.required]
    typed = " ".join(f"{one.opts[0]} {one.metavar or 'VALUE'}" if _is_option(one) else _place(one) for one in needed)
    name = missing.opts[0] if _is_option(missing) else _place(missing)
    return SettingError(
        f"`rankwright {command.name}` needs {name}: rankwright {command.name} {typed}. {name}: {missing.help}"
    )


def left_over(command: Any, params: Mapping[str, Any], extra: Sequence[str], given: Sequence[str]) -> SettingError:
    """The answer to arguments that a command has no place for; `params` are those that it has."""
    for flag, key, value in zip(given, given[1:], given[2:], strict=False):
        if flag == SET and "=" not in key and not value.startswith("-"):
            return SettingError(f"{SET} takes KEY=VALUE, and {key} {value} is two words: {SET} {key}={value}")
    places = _places(command)
    if {MODEL, SCORES, RUN} <= set(flags_of(command)):
        files = [*(params[one.name] for one in places if params.get(one.name)), *extra]
        typed = " ".join([command.name, *_named_files(files, given)])
        meant = f"models, scores and runs are named by options: rankwright {typed}"
    else:
        wanted = " ".join(map(_place, places)) or "no arguments"
        meant = f"it takes {wanted}, and options"
    return SettingError(f"`rankwright {command.name}` has no place for {' '.join(extra)}; {meant}")


def _named_files(files: Sequence[str], given: Sequence[str]) -> Iterator[str]:
    """The files as a command should be given them: data first, where it is there, then each with its option."""
    flags = {
        file: MODEL if _is_model(file) else RUN if PurePath(file).suffix in RUN_ENDINGS else SCORES for file in files
    }
    if RUN in flags.values():
        yield from () if QRELS in given else (QRELS, "QRELS")
    else:
        data = next((file for file, flag in flags.items() if flag == SCORES), "DATA")
        flags.pop(data, None)
        yield data
    for file, flag in flags.items():
        yield from (flag, file)


def _plainly(option: str) -> str:
    return option.lstrip("-").replace("-", "_")


def flags_of(command: Any) -> list[str]:
    """The options of a command, as they are typed."""
    return [flag for one in command.params if _is_option(one) for flag in one.opts]


def _places(command: Any) -> list[Any]:
    """The arguments of a command, which have places and no names."""
    return [one for one in command.params if not _is_option(one)]


def _is_option(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "option")


def _place(argument: Any) -> str:
    """What the help shows for an argument."""
    return str(argument.metavar or argument.name)


def _value_after(option: str, given: Sequence[str]) -> str:
    """What was given to an option, if anything was."""
    for word, following in zip(given, [*given[1:], "-"], strict=True):
        name, equals, value = word.partition("=")
        if name == option:
            return value if equals else "" if following.startswith("-") else following
    return ""


def _settings_given(command: Any, given: Sequence[str]) -> tuple[str, Collection[str]]:
    """The ranker that is asked for, and its settings, where the command takes settings of one."""
    option = next((one for one in command.params if one.name == "ranker"), None)
    if option is None or SET not in flags_of(command):
        return "", ()
    from rankwright.catalog.kinds import kind_named
    from rankwright.settings.setting import settings_of

    name = _value_after("--ranker", given) or str(option.default)
    return name, settings_of(kind_named(name).settings)


def _is_model(path: str) -> bool:
    from rankwright.container.file import SUFFIX, is_container
    from rankwright.imports.format_table import source_of

    return PurePath(path).suffix == SUFFIX or is_container(path) or source_of(path) is not None

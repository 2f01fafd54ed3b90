"""The functions of dpspec on rules of statistical disclosure control: what each command prints, and the values behind it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from dpspec import CommandAnswer
from dpspec.plugin import ParameterError
from dpspec_disclosure.outputs import (
    check_outputs,
    checked_data,
    checked_text,
    compared_data,
    compared_text,
    rules_data,
    rules_text,
)
from dpspec_disclosure.rules import compare_rules, read_rules

AnyPath = str | Path


def rules_check(folder: AnyPath, rules: AnyPath) -> CommandAnswer:
    """Hold every \\*.csv in a folder to a file of rules of disclosure control. `value` has what was found.

    Args:
        folder: the folder, with those in it.
        rules: the rule file.
    """
    found = check_outputs(Path(folder), read_rules(str(rules)))
    return CommandAnswer("rules-check", found.word.exit_code, checked_data(found), partial(checked_text, found), value=found)


def rules_compare(first: AnyPath, second: AnyPath, total: int | None = None) -> CommandAnswer:
    """Which of two rule files lets more be inferred. `value` is the comparison.

    Args:
        first, second: the rule files.
        total: of magnitudes, look at cells up to this total; 12, where it is left out.
    """
    one, two = read_rules(str(first)), read_rules(str(second))
    if one.kind == two.kind == "counts" and total is not None:
        raise ParameterError("total", "is of magnitudes: all counts are checked", "leave it out")
    found = compare_rules(one, two, total or 12)
    return CommandAnswer("rules-compare", 0, compared_data(found), partial(compared_text, found), value=found)


def rules_show(path: AnyPath) -> CommandAnswer:
    """What a rule file means: each step with its definition, formula and source. `value` has the rules.

    Args:
        path: the rule file.
    """
    chain = read_rules(str(path))
    return CommandAnswer("rules-show", 0, rules_data(chain), partial(rules_text, chain), value=chain)

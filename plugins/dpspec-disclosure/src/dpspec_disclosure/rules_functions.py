"""The functions of dpspec on rules of statistical disclosure control: what each command prints, and the values behind it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from dpspec import CommandAnswer
from dpspec.plugin import ParameterError
from dpspec.plugin.applications import write_folder, write_whole
from dpspec_disclosure.audit import AttackQuestion, audit_data, audit_tables, audit_text, certificate as audit_certificate
from dpspec_disclosure.outputs import (
    check_outputs,
    checked_data,
    checked_text,
    compared_data,
    compared_text,
    rules_data,
    rules_text,
    unprotected,
)
from dpspec_disclosure.rules import compare_rules, read_rules
from dpspec_disclosure.suppression_design import codes_of, design_data, design_suppression, design_text, protected_tables

AnyPath = str | Path


def rules_audit(
    *folders: AnyPath, rules: AnyPath, later: str = "same", certificate: AnyPath | None = None, secret: str | None = None,
    known: Sequence[str] = (), records: AnyPath | None = None,
) -> CommandAnswer:  # fmt: skip
    """Which suppressed cells published tables determine together. `value` has the range of each.

    Args:
        folders: one release each, the first one first.
        rules: the rule file.
        later: how each population follows from the one before: same, grows, any, or changes=N.
        certificate: write the proofs into this file; it holds the numbers of cells that can be recomputed.
        secret: an attribute that attackers want to learn of one person.
        known: the attributes that they know of that person.
        records: a file of all records, for the attacker who knows all but one.
    """
    if not folders:
        raise ParameterError("folders", "needs at least one folder of tables")
    if secret is None and (known or records is not None):
        raise ParameterError("known" if known else "records", "needs a secret that is to be learned", "name it as secret")
    question = (
        None
        if secret is None
        else AttackQuestion(secret=secret, known=tuple(known), records=None if records is None else Path(records))
    )
    found = audit_tables([Path(folder) for folder in folders], read_rules(str(rules)), later, question)
    if certificate is not None:
        write_whole(Path(certificate), json.dumps(audit_certificate(found)) + "\n")
    return CommandAnswer("rules-audit", found.word.exit_code, audit_data(found), partial(audit_text, found), value=found)


def rules_design(
    folder: AnyPath, rules: AnyPath, keep: Sequence[str] = (), by: str = "cells", out: AnyPath | None = None
) -> CommandAnswer:
    """The pattern of suppression with the least disclosure among all that keep a level of detail. `value` is the design.

    Args:
        folder: the unprotected tables.
        rules: the rule file.
        keep: attributes with commas, such as "region,age": cells of no other attributes stay published.
        by: "cells", "records" or "total": the cost of a suppressed cell.
        out: write the protected tables into this new folder.
    """
    chain = read_rules(str(rules))
    if by not in {"cells", "records", "total"}:
        raise ParameterError("by", "must be cells, records or total", value=by)
    cells, contents = unprotected(Path(folder), chain)
    found = design_suppression(cells, contents, chain, [codes_of(text) for text in keep], by)
    if out is not None:
        write_folder(Path(out), protected_tables(found, chain.columns.suppressed[0], Path(folder)))
    return CommandAnswer("rules-design", found.exit_code, design_data(found), partial(design_text, found), value=found)


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
    """The definition of each step of a rule file, with formula and source. `value` has the rules.

    Args:
        path: the rule file.
    """
    chain = read_rules(str(path))
    return CommandAnswer("rules-show", 0, rules_data(chain), partial(rules_text, chain), value=chain)

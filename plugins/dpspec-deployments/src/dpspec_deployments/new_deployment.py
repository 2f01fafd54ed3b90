"""`dpspec new deployment`: a file about a real release, from answers about its five blocks and its metadata.

Missing answers are not guessed: a budget is then not stated, another block is assumed, and the file says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import attrs

from dpspec.plugin.applications import KINDS_OF_PRODUCT, TRUST, parameters

if TYPE_CHECKING:
    from dpspec.plugin import Registry

HOW = ("stated", "inferred", "assumed")
SILENT = "no source that was read says it"
TO_WRITE = "facts are published exactly, and they are not in this file yet"


@attrs.frozen(kw_only=True)
class DeploymentQuestion:
    """One question.

    Args:
        key: its name.
        words: the question.
        choices: the answers that there are; () for any text.
        default: the answer of an empty line; None where one is needed, "" where nothing need be said.
    """

    key: str
    words: str
    choices: tuple[str, ...] = ()
    default: str | None = ""


Asking = Callable[[DeploymentQuestion], str]


def deployment_text(name: str, ask: Asking, registry: Registry) -> str:
    """The text of a new file.

    Args:
        name: its id.
        ask: answers a question; its own answer to it is taken as it is.
        registry: the names of input and output divergences.
    """
    lines = ["schema = 1", f"id = {_text(name)}", ""]
    facts = {question.key: ask(question) for question in _FACTS}
    lines[2:2] = [f"title = {_text(facts['product'])}"]
    source, title, url = "publication", ask(_TITLE), ask(_URL)
    lines += ["[deployment]", *(f"{key} = {_text(answer)}" for key, answer in facts.items() if answer), ""]
    lines += ["[[source]]", f"id = {_text(source)}", f"title = {_text(title)}", *([f"url = {_text(url)}"] if url else [])]
    own = ask(_OWN) == "yes"
    lines += [*([f"publisher = {_text(facts['publisher'])}"] if own else []), ""]
    unit = ask(_UNIT)
    attributes = [name.strip() for name in ask(_ATTRIBUTES).split(",") if name.strip()]
    space = [
        "# two categories each: a stand-in, to be replaced",
        'type = "records"',
        f"unit = {_text(unit)}",
        f"attributes = [{', '.join(f'{{ name = {_text(name)}, count = 2 }}' for name in attributes)}]",
    ]
    blocks: dict[str, tuple[list[str], str]] = {
        "space": (space, "assumed"),
        "multiverse": _exact(ask),
        "input_divergence": _change(ask, unit, registry),
        "output_divergence": ([], ""),
        "budget": ([], ""),
    }
    blocks["output_divergence"], blocks["budget"] = _measure(ask, registry)
    facts_to_write = any(line.startswith("#") for line in blocks["multiverse"][0])
    lines += ["[provenance]"]
    for block, (_, how) in blocks.items():
        because = TO_WRITE if facts_to_write and block == "multiverse" else SILENT
        if how == "inferred":
            words = f"From what is the {block.replace('_', ' ')} inferred?"
            because = ask(DeploymentQuestion(key=f"{block}_because", words=words, default=SILENT))
        origin = f"source = {_text(source)}" if how == "stated" else f"because = {_text(because or SILENT)}"
        lines += [f"{block} = {{ how = {_text(how)}, {origin} }}"]
    for block, (written, _) in blocks.items():
        lines += ["", f"[{block}]", *written]
    return "\n".join([*lines, "", *_REST])


def _text(answer: str) -> str:
    """A text of TOML."""
    return json.dumps(answer, ensure_ascii=True)


_FACTS = (
    DeploymentQuestion(key="publisher", words="Who published it?", default=None),
    DeploymentQuestion(key="product", words="What was published?", default=None),
    DeploymentQuestion(key="published", words="When (2021-08-12, 2021-08 or 2021)?", default=None),
    DeploymentQuestion(key="region", words="Whom or what does it describe?"),
    DeploymentQuestion(key="kind", words="What is it?", choices=KINDS_OF_PRODUCT),
    DeploymentQuestion(key="trust", words="Who sees the data as they are?", choices=TRUST),
    DeploymentQuestion(key="release", words="One release, or many?", choices=("one", "many")),
    DeploymentQuestion(key="access", words="Is it interactive?", choices=("interactive", "non-interactive")),
    DeploymentQuestion(key="period", words="After what time is the budget renewed (such as day, or 14 days)?"),
)
_TITLE = DeploymentQuestion(key="source", words="Where is that written (a title)?", default=None)
_URL = DeploymentQuestion(key="url", words="At which address?")
_OWN = DeploymentQuestion(key="own", words="Did the publisher write that?", choices=("yes", "no"), default="no")
_UNIT = DeploymentQuestion(key="unit", words="Block 3: whose data is one change about?", default="person")
_ATTRIBUTES = DeploymentQuestion(key="attributes", words="Block 1: which attributes do records have (a, b, c)?", default="value")
_EXACT = DeploymentQuestion(
    key="exact",
    words="Block 2: are facts published exactly, without noise?",
    choices=("none", "some", "unknown"),
    default="unknown",
)


def _how(block: str) -> DeploymentQuestion:
    words = f"Is the {block.replace('_', ' ')} stated in that source, inferred from it, or assumed?"
    return DeploymentQuestion(key=f"{block}_how", words=words, choices=HOW, default="assumed")


def _exact(ask: Asking) -> tuple[list[str], str]:
    answer = ask(_EXACT)
    if answer == "none":
        return ["invariants = []"], ask(_how("multiverse"))
    note = ["# the facts that are published exactly: write them here"] if answer == "some" else []
    return [*note, "invariants = []"], "assumed"


def _change(ask: Asking, unit: str, registry: Registry) -> tuple[list[str], str]:
    names = _taking(registry, "input_divergences", ({"unit"},))
    default = "symmetric-difference" if "symmetric-difference" in names else names[0]
    question = DeploymentQuestion(key="input_divergence", words="Block 3: what is one change?", choices=names, default=default)
    return [f"type = {_text(ask(question))}", f"unit = {_text(unit)}"], ask(_how("input_divergence"))


def _measure(ask: Asking, registry: Registry) -> tuple[tuple[list[str], str], tuple[list[str], str]]:
    names = _taking(registry, "output_divergences", (set(), {"delta"}))
    default = "mult" if "mult" in names else names[0]
    chosen = ask(
        DeploymentQuestion(key="output_divergence", words="Block 4: how is protection measured?", choices=names, default=default)
    )
    kind = registry.get("output_divergences", chosen)
    written = [f"type = {_text(chosen)}"]
    if parameters(kind):
        written += [f"delta = {_text(ask(DeploymentQuestion(key='delta', words='At which delta?', default=None)))}"]
    measure = written, ask(_how("output_divergence"))
    name = kind.budget_parameters[0]
    number = ask(DeploymentQuestion(key="budget", words=f"Block 5: which {name} is published (empty: none)?"))
    if not number:
        return measure, (["stated = false"], "assumed")
    return measure, ([f"{name} = {_text(number)}"], ask(_how("budget")))


def _taking(registry: Registry, kind: str, wanted: Sequence[set[str]]) -> tuple[str, ...]:
    """The registered names of a kind whose parameters are these."""
    return tuple(
        name
        for name in registry.names(kind)
        if {parameter.name for parameter in parameters(registry.get(kind, name))} in [*wanted]
    )


_REST = (
    "# What is released, where its mechanism is published:",
    "# [mechanism]",
    '# type = "..."',
    "",
    "# Printed numbers, each with the formula that must give it:",
    "# [[expect]]",
    '# what = "epsilon at 1e-10"',
    '# epsilon = "17.14"',
    '# tolerance = "0.01"',
    '# because = "printed to two decimals"',
    '# route = { type = "zcdp-to-approximate-cks", rho = "2.56", delta = "1e-10" }',
    "",
    "# What was done outside of the guarantee:",
    "# [[unaccounted]]",
    '# step = "regions under 300 users dropped by the true count"',
    '# effect = "a missing region discloses its true count"',
    "",
)


def from_answers(given: Mapping[str, str]) -> Asking:
    """Answers by their keys; what is missing is answered by an empty line.

    >>> from_answers({"unit": "user"})(_UNIT), from_answers({})(_UNIT)
    ('user', 'person')
    """
    return lambda question: given.get(question.key) or question.default or ""

"""Checks the statements of a verdict and its file, other than the steps of a proof: each field is recomputed.

The constant, whether it is tight, the slack, the scope, the attaining pair and the sentence of the verdict follow from the claim
and the steps; title, identifier, hash and claim are those of the specification file. The rest is listed as believed.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import attrs

from dpspec_checker.json_files import MOST_BYTES, toml_tables
from dpspec_checker.lower_bound import on_pair, pair_reaches
from dpspec_checker.numbers import ExactValue, JsonTable, UnknownFormula, at_most, linear, need, product, read, surely
from dpspec_checker.pairs import BLOCKS
from dpspec_checker.universes import least_and_most

SCOPE, METHOD, EVERY = "the whole space", "derived", "every universe"

ORDER = ("sensitivity", "noise", "sizes", "sample", "path", "post-process")
"""The steps of a proof, in their order."""

EXIT_CODES = {
    "holds": 0, "miniature": 7, "recorded": 6, "unchecked": 5, "undecided": 3, "refuted": 1, "missed": 1, "plugin": 4,
    "invalid": 2,
}  # fmt: skip
SEVEREST_FIRST = (2, 4, 1, 3, 5, 7, 6, 0)

KEYS: dict[str, tuple[str, ...]] = {
    "run": ("format", "command", "exit_code", "files"),
    "file": ("path", "outcome", "id", "title", "sha256", "scope", "obligations"),
    "obligation": (
        "name", "outcome", "detail", "exchanged", "grown", "unproved", "claim", "verdict", "value", "replay",
    ),
    "verdict": (
        "outcome", "method", "scope", "reason", "constant", "vacuous_universes", "universes", "witness", "findings",
        "assumptions", "proof", "provenance",
    ),
    "universe": (
        "label", "datasets", "pairs", "constant", "bound", "outcome", "vacuous", "tight", "slack", "attained",
    ),
    "step": ("step", "says", "citation", "data"),
    "origin": ("role", "name", "plugin", "distribution", "version"),
}  # fmt: skip
"""The keys of `dpspec verify --format json` that are known here; any other is listed as not checked."""

DATA_KEYS = {
    "sensitivity": {"unit", "replaced", "added", "within", "views", "kept", "changes", "answers", "largest_only", "tied"},
    "noise": {"bounds", "largest"}, "sizes": {"records"}, "sample": {"rate", "size", "least"}, "path": {"metric"},
    "post-process": {"reads"},
}  # fmt: skip
"""The data of each step that is known here. Any other key may be a hypothesis: a step with one is not rechecked."""

VIEW_KEYS: dict[str, tuple[str, ...]] = {
    "NoisyCount": ("noise", "may_be_coarser"), "Report": ("laws",), "NoisyDistinct": ("noise",),
    "NoisySum": ("noise", "least", "most"),
    "Chosen": ("cells", "rate"), "NoisyLargest": ("cells", "rate", "noise_name"),
    "FirstAboveThreshold": ("query_scale", "threshold_scale"), "ShownCounts": ("ratio", "threshold"),
    "CountMeanSketch": ("epsilon", "width", "hashes", "telling"),
}  # fmt: skip
LAW_KEYS: dict[str, tuple[str, ...]] = {
    "LaplaceLaw": ("center", "decay"), "TwoSidedGeometricLaw": ("center", "decay"), "GaussianLaw": ("center", "accuracy"),
    "DiscreteGaussianLaw": ("center", "variance"), "FiniteLaw": ("weights", "total"), "ExponentialLaw": ("probabilities",),
}  # fmt: skip
"""The data of each kind of view and of each family of laws; those of other kinds are not known here at all."""

ROUNDED = Fraction(1, 10**15)
"""Ends of an inexact constant are decimals of 17 digits, rounded to the safe side."""

MOST_TEXT = 300
"""The parameters of a view are listed with so many characters at most."""

SHOWN_MORE = Fraction(1, 10**6)
"""The lower end of an inexact constant is what its pair shows: it is not smaller than that by more than this share."""


@attrs.frozen(kw_only=True)
class StatedVerdict:
    """A verdict with the claim and the steps that it rests on.

    Args:
        claim: the blocks of the specification.
        steps: the data of each step of the proof.
        obligation: the obligation that the verdict is about, as `dpspec verify --format json` writes it.
    """

    claim: JsonTable
    steps: JsonTable
    obligation: JsonTable

    @property
    def verdict(self) -> JsonTable:
        found: JsonTable = self.obligation["verdict"]
        return found

    @property
    def universe(self) -> JsonTable:
        rows = self.verdict["universes"]
        need(isinstance(rows, list) and len(rows) == 1, "a proof is about all universes at once, in one row")
        found: JsonTable = rows[0]
        return found

    def ends(self) -> tuple[ExactValue, ExactValue]:
        """Both ends of the constant."""
        constant = self.verdict["constant"]
        need(set(constant) == {"lower", "upper"} == set(self.universe["constant"]), "the constant is no pair of ends")
        need(constant == self.universe["constant"], "the constant of the verdict is not that of its universes")
        return read(constant["lower"]), read(constant["upper"])


# --- the verdict ---------------------------------------------------------------------------------------


def check_constant(stated: StatedVerdict) -> str:
    """The upper end is what the proof shows; bound, tightness and slack follow from both ends and the budget."""
    lower, upper = stated.ends()
    texts, universe = stated.verdict["constant"], stated.universe
    largest, bound = read(stated.steps["noise"]["largest"]), least_and_most(stated.claim)[0]
    shown = stated.steps["noise"]["largest"]
    need(_rounded_up(largest, upper), f"the upper end is {texts['upper']}, and the proof shows {shown}")
    need(at_most(lower, upper), "the lower end of the constant is above the upper end")
    given = read(universe["bound"])
    need(at_most(given, bound) and at_most(bound, given), f"the bound is {universe['bound']}, and the budget allows {bound}")
    is_exact = at_most(lower, upper) and at_most(upper, lower)
    need(is_exact == (texts["lower"] == texts["upper"]), "an exact constant has one text, and two ends differ")
    is_tight = is_exact and at_most(bound, lower)
    need(universe["tight"] is is_tight, f"the constant is {'' if is_tight else 'not '}tight")
    need(_is_slack(universe["slack"], lower, upper, bound, is_exact=is_exact, is_tight=is_tight), "the slack is another one")
    return f"at most {texts['upper']}, with a bound of {universe['bound']}{', tight' if is_tight else ''}"


def _rounded_up(exact: ExactValue, given: ExactValue) -> bool:
    """Whether a number is another one, or that one rounded up."""
    most = product(ExactValue(1 + ROUNDED), exact)
    return at_most(exact, given) and most is not None and at_most(given, most)


def _is_slack(
    text: Any, lower: ExactValue, upper: ExactValue, bound: ExactValue, *, is_exact: bool, is_tight: bool
) -> bool:  # fmt: skip
    """Whether a text is bound - constant: exactly where both are sums, else rounded to six digits."""
    if bound.infinite:
        return bool(text == ("0" if lower.infinite else "inf"))
    if upper.infinite or is_tight:
        return bool(text == ("-inf" if upper.infinite else "0"))
    if not isinstance(text, str):
        return False
    if is_exact and not (bound.root or lower.root):
        shown = linear([(Fraction(1), bound), (Fraction(-1), lower)])
        return read(text) == shown
    rounded = Fraction(text)
    allowed = abs(rounded) / 10**5 + Fraction(1, 10**12)

    def off() -> Any:
        return abs(bound.ball() - upper.ball() - ExactValue(rounded).ball())

    return surely(lambda: bool(off() < ExactValue(allowed).ball()), lambda: bool(off() > ExactValue(allowed).ball()))


def check_pair(stated: StatedVerdict, views: list[JsonTable], rate: Fraction) -> str:
    """The lower end is what the attaining pair shows.

    Args:
        stated: the verdict.
        views: the views whose answers can differ inside a universe.
        rate: the probability with which a record takes part.
    """
    lower, upper = stated.ends()
    pair = stated.universe["attained"]
    if pair is None:
        need(lower == ExactValue(), "no pair shows the lower end of the constant")
        return "the lower end is 0, which needs no pair"
    moves, apart = on_pair(stated.claim, views, rate, pair)
    text = stated.verdict["constant"]["lower"]
    reached = pair_reaches(stated.claim, rate, moves, apart, lower)
    need(reached, f"the two datasets at distance {apart} do not show a constant of {text}")
    more = product(ExactValue(1 + SHOWN_MORE), lower)
    if "post-process" not in stated.steps and not at_most(upper, lower):
        least = ExactValue(SHOWN_MORE) if lower == ExactValue() else more
        shows_more = least is not None and pair_reaches(stated.claim, rate, moves, apart, least)
        need(not shows_more, f"the two datasets show more than {text}")
    return f"two datasets at distance {apart} show {text}; {sum(moves.values())} answers differ"


def check_scope(stated: StatedVerdict) -> str:
    """The words and counts of a verdict that a proof gives, and the sentence that sums it up."""
    verdict, universe, obligation = stated.verdict, stated.universe, stated.obligation
    for kind, table in (("obligation", obligation), ("verdict", verdict), ("universe", universe)):
        need_keys(kind, table)
    lists = ("findings", "assumptions", "provenance")
    need(all(isinstance(verdict[key], list) for key in lists), f"{', '.join(lists)} are no lists")
    fixed = {"outcome": "verified", "method": METHOD, "scope": SCOPE, "reason": "", "vacuous_universes": 0, "witness": None}
    for key, value in fixed.items():
        need(_same(verdict[key], value), f"{key} is not {value!r}")
    rows = {"label": EVERY, "datasets": None, "pairs": None, "outcome": "verified", "vacuous": False}
    for key, value in rows.items():
        need(_same(universe[key], value), f"{key} of the universes is not {value!r}")
    empty: JsonTable = {"exchanged": [], "grown": [], "unproved": "", "value": None, "replay": None}
    for key, value in empty.items():
        need(_same(obligation[key], value), f"{key} of a proved claim is not {value!r}")
    constant = verdict["constant"]
    constant_text = constant["lower"] if constant["lower"] == constant["upper"] else f"[{constant['lower']}, {constant['upper']}]"
    note = _recorded_in(obligation["detail"])
    need(obligation["outcome"] == ("missed" if note == "refuted" else "holds"), "the outcome is not that of a verified claim")
    sentence = f"verified{'' if note == 'verified' else f' (recorded as {note})'}: constant {constant_text}, {SCOPE}"
    need(obligation["detail"] == sentence, f"the detail is not {sentence!r}")
    return f"{SCOPE}, {METHOD}"


def _recorded_in(detail: Any) -> str:
    """The verdict that a file is said to record, by the sentence of an obligation."""
    found = re.match(r"verified \(recorded as (refuted|undecided)\): ", detail)
    return found[1] if found else "verified"


def _same(value: Any, wanted: Any) -> bool:
    return type(value) is type(wanted) and value == wanted


def check_order(names: list[str]) -> str:
    """The steps come in their order, each once."""
    need(names == [name for name in ORDER if name in names], f"the steps are not in the order {', '.join(ORDER)}")
    return f"{len(names)} steps in their order"


def _rates(sample: Mapping[str, Any]) -> str | None:
    """The probabilities with which records take part, as the sentence has them: of one sample of all, or of those of views."""
    rates = sample["rates"] if "rates" in sample else [sample["rate"]] if "rate" in sample else []
    return " ".join(map(str, rates)) or None  # numbers in sentences are compared without commas


def check_words(rows: list[JsonTable]) -> str:
    """The numbers in the sentences of the steps are those of their data."""
    for row in rows:
        need_keys("step", row)
    data = {row["step"]: row["data"] for row in rows}
    sensitivity, says = data["sensitivity"], {row["step"]: row["says"] for row in rows}
    need(all(isinstance(text, str) for text in says.values()), "a step says nothing")
    changes = sensitivity["changes"]
    most = max((len(c["moves"]) + sum(max(map(len, cases)) for cases in c["groups"]) for c in changes), default=0)
    expected = {
        "sensitivity": {
            r"record replaced for (\S+?)[,;]": sensitivity["replaced"], r"added or removed for (\S+?)[,;]": sensitivity["added"],
            r"for at most (\S+) in all between": sensitivity["within"], r"; (\S+) kinds? of change": len(changes),
            r"moves at most (\S+) of the answers": most, r"answers of (\S+) views?": len(sensitivity["views"]),
            r"of at most (\S+) records inside": max((c["times"] for c in changes), default=0) or None,
            r"largest tied part has (\S+) attributes?": sensitivity.get("tied", {}).get("attributes"),
            r"\((\S+) partial patterns?\)": sensitivity.get("tied", {}).get("patterns"),
        },
        "noise": {r"at most (\S+) apart": data["noise"]["largest"]},
        "sample": {r"with probability (.+), which": _rates(data.get("sample", {}))},
    }  # fmt: skip
    count = 0
    for step, patterns in expected.items():
        for pattern, value in patterns.items():
            for number in re.findall(pattern, says.get(step, "").replace("no more", "0 more")):
                count += 1
                need(value is not None and number.replace(",", "") == str(value), f"{step} says {number}, and its data {value}")
    return f"{count} numbers in the sentences are those of the data"


def need_known(name: str, data: Any) -> None:
    """Leave a step unchecked whose data have parts that are not known here: they may be hypotheses."""
    if not isinstance(data, dict):
        raise UnknownFormula("the data of the step are no table")
    _only(data, DATA_KEYS.get(name, set()), "step")
    for view in data.get("views", ()):
        _only(view, {"kind", "table", "fixed", "contributions", *VIEW_KEYS.get(view["kind"], view)}, "view")
        for bound in view.get("contributions", ()):
            _only(bound, {"most", "in_cell", "by", "where"}, "contribution")
    for change in data.get("changes", ()):
        _only(change, {"price", "added", "moves", "members", "times", "groups"}, "change")
        need(type(change["times"]) is int and type(change["price"]) is int, "a change is not counted by whole numbers")
    for view in data.get("views", ()):
        if "table" not in view:
            raise UnknownFormula(f"a view of kind {view['kind']} is not known here")
    tables = [*(view["table"] for view in data.get("views", ())), *data.get("kept", ()), *data.get("reads", ())]
    for table in tables:
        if isinstance(table, dict):
            _only(table, {"attributes", "unit", "where"}, "table")
    laws = [law for pair in data.get("answers", ()) for law in pair]
    laws += [law for view in data.get("views", ()) for law in (view.get("noise"), *view.get("laws", ())) if law is not None]
    for law in laws:
        _only(law, {"family", *LAW_KEYS.get(law["family"], law)}, "law")
        need(set(LAW_KEYS.get(law["family"], law)) <= set(law), f"a {law['family']} has not all of its parameters")


def _only(table: JsonTable, known: set[str], what: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise UnknownFormula(f"a {what} has data that are not known here: {', '.join(unknown)}")


# --- what is believed ----------------------------------------------------------------------------------


def believed(obligation: JsonTable) -> tuple[str, ...]:
    """What a proof rests on and this checker does not check, one line each."""
    verdict = obligation["verdict"]
    lines = _believed(verdict, {row.get("step"): row for row in verdict["proof"]}, obligation)
    return tuple(" ".join(line.split()) for line in lines)  # a text of the file begins no line of its own


def _believed(verdict: JsonTable, rows: dict[Any, JsonTable], obligation: JsonTable) -> Iterator[str]:
    data = rows.get("sensitivity", {}).get("data")
    views = data.get("views") if isinstance(data, dict) else None
    yield "structure: the mechanism of the file has the views that are listed, and nothing else sees the data"
    if isinstance(data, dict) and "tied" in data:
        yield "sensitivity: the number of partial patterns of the largest tied part"
    yield from (f"structure: {times} x {text}" for text, times in Counter(map(_view_text, views or ())).items())
    if "post-process" in rows:
        yield "post-processing: what else is released is computed from the answers and from the facts that the step lists"
        yield "post-processing: that it does not hide the difference which attains the constant"
    assumptions = verdict.get("assumptions")
    for line in assumptions if isinstance(assumptions, list) and assumptions else ["none is stated"]:
        yield f"assumption: {line or '(empty)'}"
    findings = verdict.get("findings")
    for finding in findings if isinstance(findings, list) else [findings]:
        yield f"finding, not checked: {finding.get('text') if isinstance(finding, dict) else finding}"
    yield "wording of the steps (says, citation), except for its numbers"
    stated = verdict.get("provenance")
    origins = [one for one in stated if isinstance(one, dict)] if isinstance(stated, list) else []
    versions = sorted({f"{one.get('distribution')} {one.get('version')}" for one in origins})
    yield f"provenance, not checked: {', '.join(versions) or 'none is stated'}"
    tables = [("obligation", obligation), ("verdict", verdict), *(("step", row) for row in verdict["proof"])]
    universes = verdict.get("universes")
    tables += [("universe", row) for row in universes] if isinstance(universes, list) else []
    tables += [("origin", row) for row in origins]
    for kind, table in tables:
        yield from unknown_keys(kind, table)


def _view_text(view: Any) -> str:
    """A view in one line: what it is, the table that it reads, and its parameters."""
    if not isinstance(view, dict) or not isinstance(view.get("table"), dict):
        return str(view)
    table = view["table"]
    where = "".join(f", where {name} is in {_value_text(of)}" for name, of in table.get("where", {}).items())
    rest = {key: value for key, value in view.items() if key not in ("kind", "table", "fixed")}
    attributes = " x ".join(map(str, table.get("attributes", ()))) or "nothing"
    text = f"{view.get('kind')} of {table.get('unit')} records by {attributes}{where}"
    rest_text = ", ".join(f"{key} {_value_text(value)}" for key, value in rest.items())
    return f"{text}; {rest_text[:MOST_TEXT]}{'...' if len(rest_text) > MOST_TEXT else ''}"


def _value_text(value: Any) -> str:
    """Data in one line."""
    if isinstance(value, dict):
        return "(" + ", ".join(f"{key} {_value_text(entry)}" for key, entry in value.items()) + ")"
    return "[" + ", ".join(map(_value_text, value)) + "]" if isinstance(value, list) else str(value)


def need_keys(kind: str, table: JsonTable) -> None:
    """Reject a table in which something is missing that a verdict states."""
    missing = [key for key in KEYS[kind] if key not in table]
    need(not missing, f"the {kind} states no {', '.join(missing)}")


def unknown_keys(kind: str, table: Any) -> Iterator[str]:
    """The keys of a table that are not known here."""
    for key in sorted(set(table) - set(KEYS[kind])) if isinstance(table, dict) else ():
        yield f"{kind}, not checked: {key}"


# --- the file ------------------------------------------------------------------------------------------


@attrs.frozen(kw_only=True)
class SpecificationFile:
    """The specification file that a verdict names.

    Args:
        content: its bytes.
        data: its tables.
    """

    content: bytes
    data: JsonTable

    @classmethod
    def found(cls, name: Any, beside: Path) -> SpecificationFile:
        """Read a file by its path, from the current directory or from where the verdict is.

        Raises:
            UnknownFormula: it cannot be read.
        """
        if not isinstance(name, str) or "\0" in name:
            raise UnknownFormula("no specification file is named")
        try:
            path = next((path for path in (Path(name), beside / name) if path.is_file()), None)
        except OSError as problem:  # a name that no file can have
            raise UnknownFormula(f"the specification file cannot be looked up ({problem.strerror})") from None
        if path is None:
            raise UnknownFormula(f"the specification file {name} is not here; run the command where it was verified")
        try:
            with path.open("rb") as file:
                content = file.read(MOST_BYTES + 1)
            need(len(content) <= MOST_BYTES, f"{name} is larger than {MOST_BYTES} bytes")
            return cls(content=content, data=toml_tables(content.decode("utf-8")))
        except (OSError, ValueError) as problem:
            raise UnknownFormula(f"{name} cannot be read ({type(problem).__name__})") from None

    def check_title(self, row: JsonTable) -> str:
        """Hash, identifier and title are those of the file."""
        digest = hashlib.sha256(self.content).hexdigest()
        if row.get("sha256") is None:
            raise UnknownFormula("the verdict has no hash of the file")
        need(row["sha256"] == digest, "the file is another one: its SHA-256 is not that of the verdict")
        for key in ("id", "title"):
            need(row[key] == self.data.get(key), f"the {key} of the file is another one")
        return f"SHA-256 {digest[:12]}..., id and title"

    def check_outcome(self, row: JsonTable) -> str:
        """The outcome of a file is the worst of its obligations, and its scope that of its proofs."""
        need_keys("file", row)
        names = [one["name"] for one in row["obligations"]]
        need(len(set(names)) == len(names), "two obligations have the same name")
        self._need_every(names)
        codes = [EXIT_CODES[one["outcome"]] for one in row["obligations"]]
        need(EXIT_CODES[row["outcome"]] == worst_code(codes), "the outcome is not the worst of the obligations")
        if any((one.get("verdict") or {}).get("method") == "sampled" for one in row["obligations"]):
            raise UnknownFormula("the scope of a file with sampled verdicts is not known here")
        assumed = [block for block, one in self.data.get("provenance", {}).items() if one.get("how") == "assumed"]
        made_up = [block for block in assumed if block in ("space", "mechanism")]
        stand = "stand in for others" if len(made_up) > 1 else "stands in for another"
        tail = f"; the {' and the '.join(made_up)} {stand}" if made_up else ""
        need(row["scope"] == f"{SCOPE}, by a proof{tail}", "the scope of the file is another one")
        believed = [one for one in row["obligations"] if not (one.get("verdict") or {}).get("proof")]
        where = f", where what is believed of {len(believed)} of {len(codes)} obligations is right" if believed else ""
        return f"{row['outcome']}{tail}, {SCOPE}{where}"

    def _need_every(self, names: list[str]) -> None:
        """Reject obligations that are not those of the file, each in its place: of one that is left out nothing would be said."""
        miniatures, wanted = self.data.get("miniature", []), self._wanted()
        if miniatures and "mechanism" in self.data and names[:1] != ["claim"]:
            raise UnknownFormula("whether the claim is proved in addition to its miniatures is not known here")
        if miniatures and names[:1] == ["claim"]:
            wanted = [("claim", False), *wanted]
        for place, (text, is_part) in enumerate(wanted):
            name = names[place] if place < len(names) else ""
            same = name.startswith(text) if is_part else re.sub(r" \(\d+\)$", "", name) == text or name == text
            need(same, f"{text} is not among the obligations, or not in its place")
        need(len(names) == len(wanted), "the file has fewer obligations")

    def _wanted(self) -> list[tuple[str, bool]]:
        """The names of the obligations of the file, in their order, and whether more may follow: whose view, which share."""
        data, budget = self.data, self.data.get("budget", {})
        is_unpublished = budget.get("stated") is False or ("at_least" in budget and "at_most" not in budget)
        has_claim = is_unpublished or not data.get("expect") or any(key in data for key in ("mechanism", "claim", "deployment"))
        own = [f"claim on miniature: {one['title']}" for one in data.get("miniature", [])] or ["claim"] * has_claim
        steps = [] if data.get("claim", {}).get("verdict") == "refuted" else data.get("unaccounted", [])
        return [
            *((name, False) for name in own),
            *((f"part: {one['title']}", True) for one in data.get("part", [])),
            *((f"counterexample: {one['title']}", False) for one in data.get("counterexample", [])),
            *((f"number: {one['what']}", False) for one in data.get("expect", [])),
            *((f"unaccounted: {one['step']}", False) for one in steps),
        ]

    def check_claim(self, obligation: JsonTable, claim: JsonTable) -> str:
        """What was proved is what the file claims, in its blocks or in those of one of its parts."""
        own = {block: self.data.get(block, {"invariants": []} if block == "multiverse" else None) for block in BLOCKS}
        name = re.sub(r" \(\d+\)$", "", str(obligation["name"]))
        recorded = self.data.get("claim", {}).get("verdict", "verified")
        if name.startswith("part: "):
            parts = [one for one in self.data.get("part", ()) if name.removeprefix("part: ").startswith(str(one.get("title")))]
            candidates = [({**own, **{b: one[b] for b in BLOCKS if b in one}}, one.get("verdict", recorded)) for one in parts]
        else:
            need(name == "claim", f"the file has no obligation {name!r}")
            candidates = [(own, recorded)]
        given = {block: _plain(claim[block], block) for block in BLOCKS}
        fitting = [held for blocks, held in candidates if {b: _plain(blocks[b], b) for b in BLOCKS} == given]
        if not fitting:
            different = [b for blocks, _ in candidates for b in BLOCKS if _plain(blocks[b], b) != given[b]]
            need(False, f"the claim is not that of the file: {', '.join(dict.fromkeys(different)) or 'no such part'}")
        need(_recorded_in(obligation["detail"]) in fitting, "the file records another verdict of the claim")
        return "the claim is that of the file, block by block"


def worst_code(codes: list[int]) -> int:
    return min(codes, key=SEVEREST_FIRST.index, default=5)


def _plain(value: Any, block: str) -> Any:
    """A block without what it would say by default, and with numbers in one form."""
    numeric = block in ("output_divergence", "budget")
    if block == "multiverse" and value == {"type": "trivial"}:
        return {"invariants": []}  # one universe, as it is written by default
    if isinstance(value, list):
        return [_plain(entry, block) for entry in value]
    if not isinstance(value, dict):
        return value
    default = {"unit": "person"}
    if value.get("type") == "swapping":
        default = {"unit": "household", "form": "s23-full"}
    found = {}
    for key, entry in value.items():
        if key in default and entry == default[key]:
            continue
        found[key] = _number_of(entry) if numeric and key not in ("type", "label", "match", "attribute") else _plain(entry, block)
    return found


def _number_of(value: Any) -> Any:
    if isinstance(value, (list, dict)):
        return _plain(value, "budget")
    try:
        return read(value)
    except (ValueError, ArithmeticError):
        return value

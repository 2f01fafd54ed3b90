"""This package beside others on the same functions: a plain baseline, OpenDP, dp-accounting; and figures of four more.

    python -m benchmarks.peers [--seconds 30] [--only NAME,NAME] [--write benchmarks/peers.json]

* Plain baseline, in the same run: two samples on neighbours among short datasets, cells of outputs, Clopper-Pearson bounds by
  scipy with Bonferroni over what is tested, at 1e-9 in all; what anyone would write in an afternoon. It can refute only.
* OpenDP and dp-accounting, in the same run where they are installed: they say the loss of a mechanism that they were told. The
  plain code of the same mechanism is judged at that loss (which must not be refuted) and at 4/5 of it (which must be).
* DP-Auditorium, DP-Sniper, StatDP and dp-recorder are not installable beside this package. Their figures were measured elsewhere
  on the mechanism zoo, each with the pair told; they stand here as they were written down.
"""

from __future__ import annotations

import argparse
import collections
import importlib.util
import itertools
import json
import math
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.faults import FAULTS
from benchmarks.faults.check import at_least, at_most, breaks, cells, datasets, distance, outcome
from benchmarks.faults.entry import Fault, lists, rows, specification
from benchmarks.faults.run import judged, processor_seconds, versions
from dpspec import PrivacySpec
from dpspec.verifier.entry import verify_claim

ERROR = 1e-9
BASELINE_PAIRS = 60
BASELINE_DATASETS = 200
TESTED = 10

MEASURED_ELSEWHERE = (
    ("DP-Auditorium, hockey-stick, 200,000 draws a side, level 5 %", "9 of 11", "0 of 3", "5 s each"),
    ("DP-Auditorium, hockey-stick, 20,000 draws a side, level 1e-9", "5 of 11", "0 of 3", "1.5 s each"),
    ("DP-Sniper, logistic, 9 million draws, level 10 %", "8 of 11", "0 of 3", "7 to 18 s each"),
    ("DP-Sniper, logistic, 9 million draws, level 1e-9", "7 of 11", "0 of 3", "7 to 18 s each"),
    ("StatDP, its own patterns, level 5 %", "10 of 10 that it can express", "0 of 3", "1.5 to 13 s each"),
    ("dp-recorder, its own seven examples (marked code)", "7 of 7", "", "3.4 s"),
)
"""Engine, wrong ones found, right ones refuted, time; on the public zoo, the pair of datasets given to all."""


# --- the plain baseline ----------------------------------------------------------------------------


def baseline_pairs(fault: Fault) -> list[tuple[Any, Any]]:
    """Neighbours among the first short datasets, chosen evenly; the pair of the corpus is not told."""
    tried = list(itertools.islice(datasets(fault), BASELINE_DATASETS))
    found = [(x, y) for x, y in itertools.combinations(tried, 2) if distance(fault, x, y) == 1]
    return found[:: max(1, len(found) // BASELINE_PAIRS)][:BASELINE_PAIRS]


def gain(fault: Fault, apart: float, p: float, q: float) -> float:
    """By how much frequencies exceed the claim, in its own units of probability or of loss."""
    if fault.claim[0] == "approximate":
        return p - math.exp(fault.size) * q - float(Fraction(fault.claim[2]))
    bound = math.sqrt(2 * fault.size) * apart if fault.claim[0] == "concentrated" else fault.size * apart
    return math.log(p / q) - bound


class Samples:
    """Outputs of one function on some datasets, as counts of cells; every instance draws anew."""

    def __init__(self, function: Any, seed: int) -> None:
        self.function, self.rng = function, np.random.default_rng(seed)
        self.counts: dict[str, collections.Counter[Any]] = collections.defaultdict(collections.Counter)
        self.draws: collections.Counter[str] = collections.Counter()

    def more(self, dataset: Any, number: int) -> None:
        for _ in range(number):
            self.counts[repr(dataset)].update(set(cells(outcome(self.function, dataset, self.rng))))
        self.draws[repr(dataset)] += number

    def until(self, looked_at: list[Any], end: float) -> None:
        """Chunks on every dataset in turn, until this second of processor time."""
        while processor_seconds() < end and min((self.draws[repr(dataset)] for dataset in looked_at), default=0) < 100_000:
            for dataset in looked_at:
                self.more(dataset, 100)


def baseline(fault: Fault, side: str, seconds: float) -> dict[str, Any]:
    """Half of the time looks for cells, half tests the ten best on fresh draws."""
    start, chosen = processor_seconds(), baseline_pairs(fault)
    first = Samples(getattr(fault, side), 0)
    first.until(list({repr(dataset): dataset for pair in chosen for dataset in pair}.values()), start + seconds / 2)
    ranked = []
    for x, y in itertools.chain(chosen, ((y, x) for x, y in chosen)):
        p, q, n, m = first.counts[repr(x)], first.counts[repr(y)], first.draws[repr(x)], first.draws[repr(y)]
        apart = distance(fault, x, y)
        gains = ((gain(fault, apart, k / n, (q[cell] + 1) / (m + 1)) * math.sqrt(k), repr(cell)) for cell, k in p.items())
        ranked += [(*best, x, y) for best in [max(gains, default=None)] if best is not None]
    ranked.sort(key=lambda found: -found[0])
    line = {"outcome": "undecided", "pair": "", "event": ""}
    for place, (_, cell, x, y) in enumerate(ranked[:TESTED]):
        fresh = Samples(getattr(fault, side), 1 + place)
        fresh.until([x, y], processor_seconds() + seconds / 2 / TESTED)
        hits = [{repr(c): k for c, k in fresh.counts[repr(dataset)].items()}.get(cell, 0) for dataset in (x, y)]
        level = ERROR / (2 * TESTED)
        bounds = at_least(hits[0], fresh.draws[repr(x)], level), at_most(hits[1], fresh.draws[repr(y)], level)
        if breaks(fault.claim, fault.size, distance(fault, x, y), *bounds):
            line = {"outcome": "refuted", "pair": f"{list(x)} / {list(y)}", "event": cell}
            break
    return {**line, "seconds": round(processor_seconds() - start, 2)}


# --- OpenDP and dp-accounting -----------------------------------------------------------------------


class Known(NamedTuple):
    """A mechanism that another library knows, and its plain code.

    Args:
        name: what it is.
        library: which module says its loss.
        says: the loss, asked of that library.
        code: the plain function.
        claim: the specification for a loss.
    """

    name: str
    library: str
    says: Callable[[], float]
    code: Callable[[Any, Any], Any]
    claim: Callable[[Fraction], PrivacySpec]


def laplace_count(dataset: Any, rng: Any) -> float:
    return len(dataset) + rng.laplace(0, 2)


def laplace_total(dataset: Any, rng: Any) -> float:
    return sum(dataset) + rng.laplace(0, 6)


def geometric_count(dataset: Any, rng: Any) -> int:
    ratio = math.exp(-1 / 2)
    return len(dataset) + int(rng.geometric(1 - ratio)) - int(rng.geometric(1 - ratio))


def gaussian_count(dataset: Any, rng: Any) -> float:
    return len(dataset) + rng.normal(0, 2)


def response(dataset: Any, rng: Any) -> list[bool]:
    return [bit if rng.random() < 0.75 else not bit for bit in dataset]


def sampled_gaussian_count(dataset: Any, rng: Any) -> float:
    return sum(rng.random() < 0.25 for _ in dataset) + rng.normal(0, 1)


def opendp_noise(maker: str, scale: float, *, real: bool, moved: int = 1) -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)) if real else (
        dp.atom_domain(T=int), dp.absolute_distance(T=int)
    )  # fmt: skip
    return float(getattr(dp.m, maker)(*space, scale=scale).map(float(moved) if real else moved))


def opendp_response() -> float:
    import opendp.prelude as dp

    dp.enable_features("contrib")
    return float(dp.m.make_randomized_response_bool(prob=0.75).map(1))


def accounted(sigma: float, rate: float, delta: float) -> float:
    from dp_accounting.pld import privacy_loss_distribution as pld

    return float(pld.from_gaussian_mechanism(sigma, sampling_prob=rate).get_epsilon_for_delta(delta))


RECORDS = lists("r", most=5)
KNOWN = (
    Known("count, Laplace of scale 2", "opendp", lambda: opendp_noise("make_laplace", 2.0, real=True), laplace_count,
          lambda loss: specification(RECORDS, ("pure", loss))),
    Known("sum of 0..3, Laplace of scale 6", "opendp", lambda: opendp_noise("make_laplace", 6.0, real=True, moved=3),
          laplace_total,
          lambda loss: specification(lists(0, 1, 3), ("pure", loss))),
    Known("count, geometric of scale 2", "opendp", lambda: opendp_noise("make_geometric", 2.0, real=False), geometric_count,
          lambda loss: specification(RECORDS, ("pure", loss))),
    Known("count, Gaussian of sigma 2, rho", "opendp", lambda: opendp_noise("make_gaussian", 2.0, real=True), gaussian_count,
          lambda loss: specification(RECORDS, ("concentrated", loss))),
    Known("response of three, truth 3/4", "opendp", opendp_response, response,
          lambda loss: specification(rows(False, True, length=3), ("pure", loss))),
    Known("count, Gaussian of sigma 2, delta 1/100", "dp_accounting", lambda: accounted(2.0, 1.0, 0.01), gaussian_count,
          lambda loss: specification(RECORDS, ("approximate", loss, "1/100"))),
    Known("sampled 1/4, Gaussian of sigma 1, delta 1/100", "dp_accounting", lambda: accounted(1.0, 0.25, 0.01),
          sampled_gaussian_count, lambda loss: specification(RECORDS, ("approximate", loss, "1/100"))),
)  # fmt: skip


def rounded_up(loss: float) -> Fraction:
    """The number that the other library says, up to a millionth above."""
    return Fraction(math.ceil(loss * 10**6 + 1), 10**6)


def against(known: Known, seconds: float) -> dict[str, Any]:
    """Their number; our outcome at it and at 4/5 of it; times."""
    begun = processor_seconds()
    loss = known.says()
    theirs = processor_seconds() - begun
    line: dict[str, Any] = {"case": known.name, "library": known.library, "says": loss, "their_seconds": round(theirs, 3)}
    for word, size in (("at", rounded_up(loss)), ("below", rounded_up(loss) * Fraction(4, 5))):
        begun = processor_seconds()
        line[word] = verify_claim(known.code, known.claim(size), seconds=seconds).outcome.value
        line[f"{word}_seconds"] = round(processor_seconds() - begun, 2)
    return line


# --- the run ---------------------------------------------------------------------------------------


def both(place: int, side: str, seconds: float) -> dict[str, Any]:
    """One function of the corpus: the baseline, and ours."""
    theirs, ours = baseline(FAULTS[place], side, seconds), judged((place, side, seconds, 0))
    line = {
        "name": FAULTS[place].name,
        "side": side,
        "baseline": theirs,
        "ours": {k: ours[k] for k in ("outcome", "seconds", "pair")},
    }
    ratio = theirs["seconds"] / max(ours["seconds"], 0.01)
    print(
        f"{line['name']:34} {side:7} baseline {theirs['outcome']:10}{theirs['seconds']:6.1f} s   ours {ours['outcome']:10}"
        f"{ours['seconds']:6.1f} s   x{ratio:.2g}",
        flush=True,
    )
    return {**line, "ratio": round(ratio, 3)}


def counted(lines: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    return {
        who: dict(collections.Counter(f"{line['side']} {line[who]['outcome']}" for line in lines)) for who in ("baseline", "ours")
    }


PART = {"opendp": "prelude", "dp_accounting": "pld"}
"""What is used of a library: older versions do not have it."""


def libraries(seconds: float) -> list[dict[str, Any]]:
    found = []
    for library in ("opendp", "dp_accounting"):
        if not (importlib.util.find_spec(library) and importlib.util.find_spec(f"{library}.{PART[library]}")):
            print(f"{library} is not installed: its lines are left out")
            continue
        for known in KNOWN:
            if known.library == library:
                found.append(against(known, seconds))
                line = found[-1]
                ours = (f"{line[word]} ({line[f'{word}_seconds']:.1f} s)" for word in ("at", "below"))
                print(f"{line['case']:48} {library}: {line['says']:.6f}; ours at it, at 4/5: {', '.join(ours)}", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--only", default="", help="names of the corpus, with commas; none for the libraries alone")
    parser.add_argument("--write", type=Path)
    given = parser.parse_args()
    for engine, wrong, right, clock in MEASURED_ELSEWHERE:
        print(f"measured elsewhere: {engine}: wrong ones found {wrong}; right ones refuted {right or 'none tried'}; {clock}")
    known = libraries(given.seconds)
    names = set(filter(None, given.only.split(",")))
    places = [i for i, fault in enumerate(FAULTS) if not names or fault.name in names]
    lines = [both(place, side, given.seconds) for place in places for side in ("wrong", "mended")]
    print(json.dumps(counted(lines), indent=1))
    if given.write:
        elsewhere = [dict(zip(("engine", "wrong", "right", "time"), row, strict=True)) for row in MEASURED_ELSEWHERE]
        kept = {"versions": versions("opendp", "dp-accounting"), "seconds": given.seconds, "totals": counted(lines)}
        kept |= {"libraries": known, "corpus": lines, "measured_elsewhere": elsewhere}
        given.write.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()

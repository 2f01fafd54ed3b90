"""Kill a mutant: plausible mistakes, put one by one into a copy of the checkout; do the tests see them?

    python tests/mutants.py                      all against the default tests
    python tests/mutants.py --profile slow       against the default and the slow ones
    python tests/mutants.py universes sampler    those whose name contains one of the words

To save time, the tests that stand nearest to the changed file run first, in one process, and a failure there settles the matter:
they are part of the default run. Only what they do not see meets all other tests of the profile. Not collected by pytest.
A text that is no longer there exactly once is an error: choose the same mistake in the new text.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = {"near": 300, "others": 3600}
"""Seconds after which tests that do not end are seen to be wrong. A single test is given up earlier, by conftest.py."""

ENDLESS = "(the tests do not end)"
KEPT = ("dpspec", "plugins", "tests", "specs", "docs", "reproductions", "benchmarks")


class Mutant(NamedTuple):
    """One mistake.

    Args:
        name: what was done wrong.
        file: the file.
        old, new: one text of it, and what stands there instead.
        near: the tests that run first.
    """

    name: str
    file: str
    old: str
    new: str
    near: str


MUTANTS = (
    Mutant(
        "exact engine: the lower end of a bracket verifies",
        "dpspec/verifier/exhaustive.py",
        "if ratio.upper <= bound and not",
        "if ratio.lower <= bound and not",
        "tests/verify/test_exhaustive.py tests/unit/test_exact.py",
    ),
    Mutant(
        "exact engine: one order of each pair only",
        "dpspec/verifier/exhaustive.py",
        "choose = itertools.combinations if self.is_symmetric else itertools.permutations",
        "choose = itertools.combinations",
        "tests/verify/test_exhaustive.py",
    ),
    Mutant(
        "rules: budgets compared the wrong way round",
        "dpspec/reason/rules.py",
        "allowed is not None and given <= allowed:",
        "allowed is not None and allowed <= given:",
        "tests/compare/test_rules.py",
    ),
    Mutant(
        "rules: two datasets need not share a universe",
        "dpspec/reason/rules.py",
        "labels(left, premise.space)} & {*",
        "labels(left, premise.space)} | {*",
        "tests/compare/test_rules.py tests/attacks/test_hypotheses.py",
    ),
    Mutant(
        "checker: least and most of two budgets exchanged",
        "plugins/dpspec-checker/src/dpspec_checker/check.py",
        "at_most(least_and_most(before)[1], least_and_most(after)[0])",
        "at_most(least_and_most(before)[0], least_and_most(after)[1])",
        "plugins/dpspec-checker/tests/test_check.py",
    ),
    Mutant(
        "checker: a dropped - 1 in a conversion",
        "plugins/dpspec-checker/src/dpspec_checker/conversions.py",
        '_log(target["delta"]) / (rational(_order(source)) - 1)',
        '_log(target["delta"]) / rational(_order(source))',
        "plugins/dpspec-checker/tests/test_check.py",
    ),
    Mutant(
        "conversions: divided by the order instead of what it is above 1",
        "plugins/dpspec-divergences/src/dpspec_divergences/from_renyi.py",
        "(log - order.log()) / beyond",
        "(log - order.log()) / order",
        "plugins/dpspec-divergences/tests/test_conversions.py plugins/dpspec-divergences/tests/test_conversion_numbers.py",
    ),
    Mutant(
        "ledger: universes of two parts are not united",
        "dpspec/composition.py",
        "if len(proper) <= 1:",
        "if len(proper) <= 2:",
        "tests/ledger/test_compose.py",
    ),
    Mutant(
        "risk: one of both orders is enough",
        "dpspec/risks/attack_bounds.py",
        "if all(value.upper <= bound for value in values):",
        "if any(value.upper <= bound for value in values):",
        "tests/risk plugins/dpspec-attackers/tests/test_testers.py",
    ),
    Mutant(
        "brackets: the rest of a series is its first term",
        "dpspec/laws/integers.py",
        "return total + hull(arb(0), (term / (1 - ratio)).upper())",
        "return total + hull(arb(0), term.upper())",
        "tests/laws/test_noise.py tests/laws/test_slopes.py",
    ),
    Mutant(
        "brackets: a dropped term where a cell is spread",
        "dpspec/laws/atoms.py",
        "q_high = (cell.p - bottom * cell.q) / (cell.high.exp() - bottom)",
        "q_high = (cell.p - bottom * cell.q) / cell.high.exp()",
        "tests/laws/test_sandwich.py",
    ),
    Mutant(
        "reader: the line of a fault is one too small",
        "dpspec/specfile/reader.py",
        'fault.line = text.count("\\n", 0, place) + 1',
        'fault.line = text.count("\\n", 0, place)',
        "tests/specfile/test_positions.py tests/specfile/test_limits.py",
    ),
    Mutant(
        "release: persons go to the household at the sorted place",
        "dpspec/grammar/table_files.py",
        "owner = order[place].astype(np.int64)",
        "owner = place.astype(np.int64)",
        "plugins/dpspec-tables/tests/test_reading.py",
    ),
    Mutant(
        "release: a household of the stated size is too large",
        "dpspec/specfile/table_input.py",
        "over = np.flatnonzero(held > most)",
        "over = np.flatnonzero(held >= most)",
        "plugins/dpspec-tables/tests/test_reading.py plugins/dpspec-release/tests/test_draw.py",
    ),
    Mutant(
        "sampler: <= for < in a coin",
        "plugins/dpspec-noise/src/dpspec_noise/samplers.py",
        "source.below(denominator, len(numerators)) < numerators",
        "source.below(denominator, len(numerators)) <= numerators",
        "plugins/dpspec-noise/tests/test_samplers.py::test_certain_coins",
    ),
    Mutant(
        "randomness: cycles of length one in a derangement",
        "dpspec/base/randomness.py",
        "length = (word % (n - 1)).astype(np.int64) + 2",
        "length = (word % (n - 1)).astype(np.int64) + 1",
        "tests/randomness/test_arrangement.py",
    ),
    Mutant(
        "swapping: a dropped factorial",
        "plugins/dpspec-census/src/dpspec_census/stratum.py",
        "(orders // math.factorial(s))",
        "orders",
        "plugins/dpspec-census/tests/test_swapping_law.py",
    ),
    Mutant(
        "TopDown: a measurement weighs as its variance",
        "plugins/dpspec-census/src/dpspec_census/topdown.py",
        "largest / variance",
        "variance / largest",
        "plugins/dpspec-census/tests/test_topdown.py",
    ),
    Mutant(
        "plain code: a loop that is left is not given that it is left",
        "plugins/dpspec-code/src/dpspec_code/automatic/path.py",
        "return {target: chance / leaving for target, chance in others.items()}",
        "return others",
        "plugins/dpspec-code/tests/test_automatic.py",
    ),
    Mutant(
        "sampling engine: the certified mean is not divided by",
        "plugins/dpspec-code/src/dpspec_code/sampled/null.py",
        "return gained - sum(counts) * math.log(self.largest_mean)",
        "return gained",
        "plugins/dpspec-code/tests/sampled/test_null.py",
    ),
    Mutant(
        "budgets by universe: not rescaled",
        "dpspec/reason/rules.py",
        "values=tuple((label, grown(entry)) for label, entry in values)",
        "values=tuple(values)",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "budgets by universe: one of another kind stays as it is",
        "dpspec/reason/rules.py",
        "return budget if source == target and factor <= 1 else None",
        "return budget if source == target else None",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "budgets by universe: a universe without a number is passed over",
        "dpspec/reason/rules.py",
        "        except NotInUniverseError:  # a table without a number for the universe\n            return None",
        "        except NotInUniverseError:  # a table without a number for the universe\n            continue",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "budgets by universe: the checker lets one grow less",
        "plugins/dpspec-checker/src/dpspec_checker/check.py",
        "need(within_numbers([constant, given], allowed), f\"the budget of",
        "need(at_most(given, allowed), f\"the budget of",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "budgets by universe: the checker passes over what is not named",
        "plugins/dpspec-checker/src/dpspec_checker/universes.py",
        "yield from ([read(budget[\"otherwise\"])] if \"otherwise\" in budget else [])",
        "yield from ()",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "shortened proof: the path step is left out",
        "dpspec/verifier/proof.py",
        "        if not self.sensitivity.is_single(changes):\n",
        "        if False:\n",
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_proofs.py",
    ),
    Mutant(
        "shortened proof: bounds add up for every divergence",
        "dpspec/verifier/proof.py",
        "if not known.is_single(changes) and not known.is_metric:",
        "if False:",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "shortened proof: the checker asks for no path step",
        "plugins/dpspec-checker/src/dpspec_checker/proofs.py",
        "return \"path\" not in self.steps and not self.is_single",
        "return False",
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_proofs.py",
    ),
    Mutant(
        "shortened proof: the checker believes any pair",
        "plugins/dpspec-checker/src/dpspec_checker/statements.py",
        "    need(reached, f",
        "    need(True, f",
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_stated.py",
    ),
    Mutant(
        "shortened proof: the checker reads no hash",
        "plugins/dpspec-checker/src/dpspec_checker/statements.py",
        "need(row[\"sha256\"] == digest,",
        "need(bool(digest),",
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_stated.py",
    ),
    Mutant(
        "partial search: what some pairs show is exact",
        "dpspec/risks/candidates.py",
        "return Sense.EQUALS if self.complete or self.above else Sense.AT_LEAST",
        "return Sense.EQUALS",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: a cut at the limit of work is exact",
        "dpspec/risks/candidates.py",
        "complete=self.complete and is_whole",
        "complete=self.complete",
        "tests/risk/test_candidates.py",
    ),
    Mutant(
        "partial search: the strongest attacker is exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/full_knowledge.py",
        "self._about(looked.sense, ",
        "self._about(Sense.EQUALS, ",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: the independent record is exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/independent_records.py",
        "relation = Sense.EQUALS if complete else Sense.AT_LEAST",
        "relation = Sense.EQUALS",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: membership is exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/membership/strong.py",
        "self._said(looked.sense, loss",
        "self._said(Sense.EQUALS, loss",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: the restricted tester is exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/tester.py",
        "at(level=level), looked.sense, power",
        "at(level=level), Sense.EQUALS, power",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: the tester is exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/tester.py",
        "self._powers(looked.sense, theorem",
        "self._powers(Sense.EQUALS, theorem",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: counts of one block are exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/counts.py",
        "self.of_pairs((), looked.sense, ",
        "self.of_pairs((), Sense.EQUALS, ",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "partial search: counts of several levels are exact",
        "plugins/dpspec-attackers/src/dpspec_attackers/counts.py",
        "                looked.sense,\n",
        "                Sense.EQUALS,\n",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "candidates: one order of a distance that is not symmetric",
        "dpspec/risks/candidates.py",
        "min(forth, spec.distance(right, left)) if both_ways else forth",
        "forth",
        "tests/risk/test_candidates.py",
    ),
    Mutant(
        "candidates: pairs of laws are one in both orders",
        "dpspec/laws/atoms.py",
        "return FiniteDichotomy, self.exact_atoms()",
        "return FiniteDichotomy, frozenset((self.exact_atoms(), self.reverse().exact_atoms()))",
        "tests/risk/test_candidates.py",
    ),
    Mutant(
        "universes: candidates of no common one are not reported",
        "dpspec/risks/candidates.py",
        "        else:\n            unpromised = True",
        "        else:\n            unpromised = False",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "sample: others who are counted are taken to be hidden",
        "dpspec/verifier/lower_bound.py",
        "if size is None and (gone, come) == (0, 1) and hidden:",
        "if size is None and (gone, come) == (0, 1):",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "sample: replaced records are taken to be sampled",
        "plugins/dpspec-checker/src/dpspec_checker/proofs.py",
        "need(added is not None and (within is None or within < replaced),",
        "need(True,",
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_proofs.py",
    ),
    Mutant(
        "ledger: deltas do not add up",
        "plugins/dpspec-divergences/src/dpspec_divergences/output.py",
        "delta += measured.delta if is_a(measured, MultDelta) else 0",
        "delta = max(delta, measured.delta if is_a(measured, MultDelta) else 0)",
        "tests/attacks/test_optional_variants.py",
    ),
)


def copy(folder: Path) -> None:
    """The checkout without what a run leaves behind."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc", ".hypothesis", "*.egg-info")
    for name in KEPT:
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, folder / path.name)
    for hidden in (".ci", ".pre-commit-hooks.yaml"):
        if (ROOT / hidden).is_dir():
            shutil.copytree(ROOT / hidden, folder / hidden)


def surroundings(folder: Path) -> dict[str, str]:
    """The packages come from the copy: what is on PYTHONPATH goes before what is installed."""
    sources = [folder, *(path.parent / "src" for path in (folder / "plugins").glob("*/pyproject.toml"))]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "PYTHONPYCACHEPREFIX": str(folder / "cache"),
        "PYTHONDONTWRITEBYTECODE": "",
    }


def failures(folder: Path, patience: int, *arguments: str) -> list[str]:
    """The tests that fail."""
    command = [sys.executable, "-m", "pytest", "-n", "0", "-q", "--no-header", "--tb=no", *arguments]
    try:
        done = subprocess.run(
            command, cwd=folder, env=surroundings(folder), capture_output=True, text=True, check=False, timeout=patience
        )
    except subprocess.TimeoutExpired:
        return [ENDLESS]
    failed = [line.partition(" ")[2] for line in done.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    if done.returncode not in (0, 1, 5) and not failed:
        failed = [f"pytest ended with {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}"]
    return [line.split(" - ")[0] for line in failed]


def seen(mutant: Mutant, folder: Path, options: list[str], *, near_only: bool) -> str | None:
    """The test that fails with the mistake and passes without it; None when there is none."""
    path, near = folder / mutant.file, mutant.near.split()
    right = path.read_text(encoding="utf-8")
    others = {} if near_only else {"others": [f"--ignore={place}" for place in near]}
    for which, places in {"near": near, **others}.items():
        passed_over: list[str] = []
        while True:
            path.write_text(right.replace(mutant.old, mutant.new), encoding="utf-8")
            try:
                found = failures(folder, PATIENCE[which], "-x", *options, *passed_over, *places)
            finally:
                path.write_text(right, encoding="utf-8")
            if not found:
                break
            if found[0] == ENDLESS or not failures(folder, PATIENCE[which], *options, found[0]):
                return found[0]
            passed_over.append(f"--deselect={found[0]}")
            print(f"         fails without a mistake too: {found[0]}", flush=True)
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only mutants whose name contains one of these")
    parser.add_argument("--profile", default="fast", help="of pytest: fast (default) or slow")
    parser.add_argument("--near-only", action="store_true", help="run the nearest tests alone")
    given = parser.parse_args()
    chosen = [m for m in MUTANTS if not given.words or any(word in m.name for word in given.words)]
    for mutant in chosen:
        count = (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old)
        if count != 1:
            raise SystemExit(f"{mutant.name}: {count} times in {mutant.file}: {mutant.old}")
    survived = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy(folder)
        options = ["--profile", given.profile]
        for mutant in chosen:
            begun = time.monotonic()
            found = seen(mutant, folder, options, near_only=given.near_only)
            survived += found is None
            word = "NOT SEEN" if found is None else "seen    "
            print(f"{word} {mutant.name} [{time.monotonic() - begun:.0f} s] {found or ''}", flush=True)
    print(f"{len(chosen) - survived} of {len(chosen)} are seen by --profile {given.profile}")
    return int(survived > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Kill a mutant: plausible mistakes, put one by one into a copy of the checkout; do the tests see them?

    python tests/mutants.py                      all against the default tests
    python tests/mutants.py --profile slow       against the default and the slow ones
    python tests/mutants.py universes sampler    those whose name contains one of the words

To save time, the tests that stand nearest to the changed file run first, in one process, and a failure there settles the matter:
they are part of the default run. Only what they do not see meets all other tests of the profile. Not collected by pytest.
A text that is no longer there exactly once is an error: choose the same mistake in the new text.

Fifty were chosen from the source alone, by a reader who had not seen a test. Of them 23 were seen at first, by the tests that
stand nearest to them or import the changed module. Tests that see 26 others were written. One is no mistake: the margins of all
numbers are never known where the margin of one is not, so that the condition it removes decides nothing.

Of 42 others, chosen in the same way from the modules that decide verdicts, 15 were seen by the tests of their area. One changes
no result: each conversion checks by itself what the condition that it removes checks. The other 26 come last; the tests that bear
the names of these modules see them now.
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
PLACES = "tests/meta/test_mutants.py"
"""It looks for the right texts, and so fails with every mistake."""
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
        "multiverses: two datasets need not share a universe",
        "dpspec/blocks/multiverse.py",
        "labels(left, space) if label in theirs]",
        "labels(left, space)]",
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
        "dpspec/comparison/composition.py",
        "if len(proper) <= 1:",
        "if len(proper) <= 2:",
        "tests/ledger/test_composition.py",
    ),
    Mutant(
        "risk: one of both orders is enough",
        "dpspec/risks/attack_bounds.py",
        "if all(value.upper <= bound for value in values):",
        "if any(value.upper <= bound for value in values):",
        "tests/risk plugins/dpspec-attackers/tests/test_tester.py",
    ),
    Mutant(
        "brackets: the rest of a series is its first term",
        "dpspec/laws/integers.py",
        "return total + hull(arb(0), (term / (1 - ratio)).upper())",
        "return total + hull(arb(0), term.upper())",
        "tests/laws/test_integers.py tests/laws/test_slopes.py",
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
        "tests/specfile/test_maker.py tests/specfile/test_reader.py",
    ),
    Mutant(
        "release: persons go to the household at the sorted place",
        "dpspec/grammar/table_files.py",
        "rows.append(order[place] if len(order) else order)",
        "rows.append(place if len(order) else order)",
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
        "tests/randomness/test_randomness.py",
    ),
    Mutant(
        "swapping: a dropped factorial",
        "plugins/dpspec-census/src/dpspec_census/stratum.py",
        "(orders // math.factorial(s))",
        "orders",
        "plugins/dpspec-census/tests/test_swapping.py",
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
        "return {target: probability / leaving for target, probability in others.items()}",
        "return others",
        "plugins/dpspec-code/tests/test_sampler.py",
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
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_statements.py",
    ),
    Mutant(
        "shortened proof: the checker reads no hash",
        "plugins/dpspec-checker/src/dpspec_checker/statements.py",
        "need(row[\"sha256\"] == digest,",
        "need(bool(digest),",
        "tests/attacks/test_optional_variants.py plugins/dpspec-checker/tests/test_statements.py",
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
        "at(level=level), looked.sense, power, theorem",
        "at(level=level), Sense.EQUALS, power, theorem",
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
        "delta = sum((measured.delta * n for measured",
        "delta = sum((measured.delta for measured",
        "tests/attacks/test_optional_variants.py",
    ),
    Mutant(
        "infinite budget: datasets at distance 0 may have any laws",
        "dpspec/verifier/exhaustive.py",
        "if ratio.upper <= bound and not (distance == 0 and divergence.upper > 0):",
        "if ratio.upper <= bound:",
        ("tests/verify/test_exhaustive.py tests/verify/test_without_number.py tests/exact_engine tests/verify/test_measure.py"),
    ),
    Mutant(
        "empty universes: a claim about no universe is verified",
        "dpspec/verifier/exhaustive.py",
        "if len(found.vacuous) == len(found.universes):",
        "if 0 < len(found.vacuous) == len(found.universes):",
        (
            "tests/verify/test_mechanisms.py tests/verify/test_exhaustive.py tests/verify/test_broken_plugins.py "
            "tests/attacks/test_optional_variants.py"
        ),
    ),
    Mutant(
        "no published number: a claim beyond the number that it is at least is refuted",
        "dpspec/verifier/exhaustive.py",
        "if kept.outcome is Outcome.VERIFIED:\n            return kept",
        "if kept.outcome is not Outcome.UNDECIDED:\n            return kept",
        "tests/verify/test_without_number.py tests/verify/test_exhaustive.py",
    ),
    Mutant(
        "no published number: a budget between two bounds is judged at the lower one",
        "dpspec/blocks/budget.py",
        "return self.at_least if self.at_most is None else self.at_most",
        "return self.at_most if self.at_least is None else self.at_least",
        "tests/verify/test_without_number.py tests/verify/test_proof.py tests/compare/test_rules.py",
    ),
    Mutant(
        "no published number: the premise is taken at its least number",
        "dpspec/comparison/compare.py",
        "premise.budget.uniform(), INFINITY",
        "premise.budget.least(), ZERO",
        "tests/verify/test_without_number.py tests/compare/test_compare.py tests/compare/test_claim_status.py",
    ),
    Mutant(
        "budgets by universe: pairs at a finite distance in one order alone are passed over",
        "dpspec/reason/rules.py",
        "if not spec.distance(x, y).is_infinite or not spec.distance(y, x).is_infinite)",
        "if not spec.distance(x, y).is_infinite)",
        (
            "tests/compare/test_rules.py tests/compare/test_pair_by_pair.py tests/attacks/test_hypotheses.py "
            "tests/attacks/test_optional_variants.py"
        ),
    ),
    Mutant(
        "smaller spaces: distances may depend on the whole space",
        "dpspec/reason/rules.py",
        "if reason is None or not premise.input_divergence.grows_on_subspaces:",
        "if reason is None:",
        "tests/compare/test_rules.py tests/attacks/test_hypotheses.py tests/compare/test_inherited_promises.py",
    ),
    Mutant(
        "finer universes: what is not decided is determined",
        "dpspec/reason/rules.py",
        'if found.answer is not True:\n                return\n            reason = f"its',
        'if found.answer is False:\n                return\n            reason = f"its',
        (
            "tests/compare/test_rules.py tests/attacks/test_hypotheses.py tests/compare/test_inside_universes.py "
            "tests/compare/test_inherited_promises.py"
        ),
    ),
    Mutant(
        "units: a path of neighbours stays in the universe",
        "dpspec/reason/rules.py",
        "if spec.input_divergence.is_neighbour_form and spec.multiverse.induced_by() != ():",
        "if spec.input_divergence.is_neighbour_form and spec.multiverse.induced_by() is None:",
        "tests/unit/test_units.py tests/compare/test_rules.py tests/compare/test_compare.py",
    ),
    Mutant(
        "repeated releases: of equal promises the last one is counted",
        "dpspec/comparison/composition.py",
        "found[key] = pairs, before + n",
        "found[key] = pairs, n",
        "tests/ledger/test_account.py tests/ledger/test_equal_files.py tests/cli/test_compose.py",
    ),
    Mutant(
        "repeated releases: a file that is named twice is counted once",
        "dpspec/comparison/composition.py",
        "often[file] = often.get(file, 0) + times",
        "often[file] = times",
        "tests/ledger/test_equal_files.py tests/cli/test_times.py tests/cli/test_compose.py tests/cli/test_ledger.py",
    ),
    Mutant(
        "ledger: what is proved is the lower end of the constant",
        "dpspec/verifier/standing.py",
        "else verdict.constant.upper",
        "else verdict.constant.lower",
        (
            "tests/verify/test_standing.py tests/compare/test_claim_status.py tests/ledger/test_composition.py "
            "tests/cli/test_ledger.py tests/cli/test_words.py"
        ),
    ),
    Mutant(
        "sample of a fixed size: a record replaced is one of one more",
        "dpspec/verifier/sensitivity.py",
        "return Fraction(size, least + is_added) if size < least + is_added else Fraction(1)",
        "return Fraction(size, least + 1) if size < least + 1 else Fraction(1)",
        (
            "tests/attacks/test_dropped_hypotheses_of_proofs.py tests/verify/test_proof.py "
            "tests/attacks/test_sampled_compositions.py tests/attacks/test_nested_sizes.py"
        ),
    ),
    Mutant(
        "sizes: a sample has as many records as the dataset",
        "dpspec/verifier/sensitivity.py",
        "return least if self.structure.sampled == 1 else 0, most",
        "return least, most",
        (
            "tests/attacks/test_numbers_of_records.py tests/attacks/test_nested_sizes.py "
            "tests/attacks/test_dropped_hypotheses_of_proofs.py tests/verify/test_proof.py"
        ),
    ),
    Mutant(
        "sizes: a space without a largest size keeps within any",
        "dpspec/verifier/sensitivity.py",
        "(most is None or most > law.most)",
        "most is not None and most > law.most",
        (
            "tests/attacks/test_numbers_of_records.py tests/attacks/test_nested_sizes.py "
            "tests/attacks/test_dropped_hypotheses_of_proofs.py tests/verify/test_proof.py"
        ),
    ),
    Mutant(
        "post-processing: facts that are not seen to be fixed are read",
        "dpspec/verifier/sensitivity.py",
        "if fixed is None or fixed.answer is not True:",
        "if fixed is None or fixed.answer is False:",
        (
            "tests/verify/test_sensitivity.py tests/attacks/test_dropped_hypotheses_of_proofs.py "
            "tests/verify/test_proof.py tests/verify/test_dropped_invariants.py tests/attacks/test_hostile_claims.py"
        ),
    ),
    Mutant(
        "sample of a fixed size: others that differ are taken to be alike",
        "dpspec/verifier/lower_bound.py",
        "come == 1 and gone <= 1 and len(base) <= 1:",
        "come == 1 and gone <= 1:",
        (
            "tests/verify/test_lower_bound.py tests/attacks/test_dropped_hypotheses_of_proofs.py "
            "tests/verify/test_proof.py tests/attacks/test_sampled_compositions.py "
            "tests/attacks/test_optional_variants.py"
        ),
    ),
    Mutant(
        "universe of a table: of several budgets the smallest",
        "dpspec/risks/engine.py",
        "value=max(values)",
        "value=min(values)",
        "tests/risk/test_engine.py tests/cli/test_risk.py tests/risk/test_secrets.py tests/risk/test_mechanism_pairs.py",
    ),
    Mutant(
        "converse: an invariant that is not known to be determined is",
        "dpspec/comparison/converse.py",
        "if found.answer is True:",
        "if found.answer is not False:",
        "tests/compare/test_converse.py",
    ),
    Mutant(
        "products: what separates one of several promises separates all",
        "dpspec/comparison/compare.py",
        "binding = [j for j, (covered, _) in enumerate(premise) if covered.may_constrain(goal)]",
        "binding: list[int] = []",
        "tests/verify/test_products.py tests/compare/test_compare.py tests/compare/test_order_of_many.py",
    ),
    Mutant(
        "one-sided: a sample of a fixed size is looked at in one order",
        "dpspec/laws/samples.py",
        "ways = (self.pair, self.pair.reverse())",
        "ways = (self.pair, self.pair)",
        (
            "tests/laws/test_samples.py tests/laws/test_sampled_composition.py "
            "tests/laws/test_moments.py tests/attacks/test_dropped_hypotheses_of_proofs.py"
        ),
    ),
    Mutant(
        "secret parameters: the first of very many values are all",
        "dpspec/specfile/document.py",
        "return known and all(parameter.is_listed for parameter in self.parameters)",
        "return all(parameter.is_listed for parameter in self.parameters)",
        "tests/verify/test_secret_parameters.py",
    ),
    Mutant(
        "products: a promise to a share of the units is one to all",
        "dpspec/specfile/document.py",
        " and theirs <= ours",
        "",
        "tests/verify/test_products.py tests/compare/test_claim_status.py",
    ),
    Mutant(
        "incomplete search: the first of many datasets show what invariants determine",
        "dpspec/blocks/multiverse.py",
        "return None, listed and seen == size  #",
        "return None, listed  #",
        "tests/verify/test_universes_of_strangers.py tests/compare/test_rules.py tests/compare/test_converse.py",
    ),
    Mutant(
        "bounded contributions: a cell holds what one kind may",
        "dpspec/grammar/views.py",
        "return self.in_cell if set(self.by) <= {*table.attributes, *single} else None",
        "return self.in_cell",
        (
            "tests/unit/test_views.py tests/verify/test_proof.py tests/attacks/test_derived_made.py "
            "tests/attacks/test_derived_nested.py tests/attacks/test_dropped_hypotheses_of_proofs.py"
        ),
    ),
    Mutant(
        "paths: records are added and removed in a space of a fixed size",
        "plugins/dpspec-divergences/src/dpspec_divergences/paths.py",
        "sizes_vary = space.most is None or space.least < space.most",
        "sizes_vary = True",
        (
            "plugins/dpspec-divergences/tests/test_paths.py tests/compare/test_rules.py "
            "tests/attacks/test_hypotheses.py"
        ),
    ),
    Mutant(
        "infinite budget: its worst pair is that of equal laws",
        "plugins/dpspec-divergences/src/dpspec_divergences/output.py",
        "return _response(Fraction(1), Fraction(1)), _response(Fraction(1), Fraction(1))",
        "return _response(Fraction(1), deltas[0]), _response(Fraction(1), deltas[1])",
        (
            "plugins/dpspec-divergences/tests/test_output.py "
            "plugins/dpspec-divergences/tests/test_conversions.py tests/ledger/test_account.py"
        ),
    ),
    Mutant(
        "account: blocks that the file assumes are no caveat",
        "plugins/dpspec-accounts/src/dpspec_accounts/totals.py",
        "        *map(str, document.assumed),\n",
        "",
        (
            "plugins/dpspec-accounts/tests/test_account.py plugins/dpspec-accounts/tests/test_totals.py "
            "plugins/dpspec-accounts/tests/test_command.py plugins/dpspec-accounts/tests/test_five_mistakes.py"
        ),
    ),
    Mutant(
        "account: a total without an exact form counts all periods",
        "plugins/dpspec-accounts/src/dpspec_accounts/account.py",
        '[charge for charge in counted if charge.content.get("period") == period]',
        "[*counted]",
        (
            "plugins/dpspec-accounts/tests/test_periods.py plugins/dpspec-accounts/tests/test_totals.py "
            "plugins/dpspec-accounts/tests/test_account.py plugins/dpspec-accounts/tests/test_independent_totals.py"
        ),
    ),
    Mutant(
        "filter: a sample of a fixed size is drawn from any number of records",
        "plugins/dpspec-noise/src/dpspec_noise/combinators.py",
        (
            "if found.drawn is not None:\n"
            '            raise grammar.NoStructure(\n                "it draws a sample of a fixed size from the records'
        ),
        (
            "if False:\n"
            '            raise grammar.NoStructure(\n                "it draws a sample of a fixed size from the records'
        ),
        (
            "tests/attacks/test_dropped_hypotheses_of_proofs.py tests/attacks/test_derived_nested.py "
            "tests/attacks/test_nested_sizes.py tests/attacks/test_numbers_of_records.py"
        ),
    ),
    Mutant(
        "composed samples: of several queries on one sample the first is enough",
        "plugins/dpspec-noise/src/dpspec_noise/combinators.py",
        "if len(found.views) != 1 or found.views[0].table.unit != space.units[0]:",
        "if found.views[0].table.unit != space.units[0]:",
        (
            "tests/attacks/test_sampled_compositions.py tests/attacks/test_dropped_hypotheses_of_proofs.py "
            "tests/attacks/test_derived_nested.py tests/verify/test_proof.py"
        ),
    ),
    Mutant(
        "universes: neighbours of a centre share one with each other",
        "plugins/dpspec-flavours/src/dpspec_flavours/universes/neighbourhoods.py",
        "return has_centre and are_neighbours(left, right, self.relation, space)",
        "return are_neighbours(left, right, self.relation, space)",
        (
            "plugins/dpspec-flavours/tests/test_neighbourhoods.py plugins/dpspec-flavours/tests/test_family.py "
            "tests/conformance/test_first_party.py"
        ),
    ),
    Mutant(
        "budgets by part: the least is that of the parts that are not listed",
        "plugins/dpspec-flavours/src/dpspec_flavours/universes/part_budgets.py",
        "return None if self.otherwise is None else min(self.otherwise, *(row.value for row in self.values))",
        "return self.otherwise",
        (
            "plugins/dpspec-flavours/tests/test_part_budgets.py plugins/dpspec-flavours/tests/test_family.py "
            "tests/attacks/test_optional_variants.py tests/conformance/test_first_party.py"
        ),
    ),
    Mutant(
        "one-sided: a policy with fewer sensitive records protects more",
        "plugins/dpspec-flavours/src/dpspec_flavours/streams/personal.py",
        "fewer = set(other.sensitive) <= set(self.sensitive)",
        "fewer = set(other.sensitive) >= set(self.sensitive)",
        (
            "plugins/dpspec-flavours/tests/test_personal.py plugins/dpspec-flavours/tests/test_family.py "
            "tests/conformance/test_first_party.py tests/compare/test_rules.py"
        ),
    ),
    Mutant(
        "swapping: every printed form reads the strata with different records",
        "plugins/dpspec-census/src/dpspec_census/swap_budget.py",
        'b = size.largest_varied if self.form == "s23-full" else size.largest',
        "b = size.largest_varied",
        (
            "plugins/dpspec-census/tests/test_swap_budget.py plugins/dpspec-census/tests/test_stratum_rate.py "
            "plugins/dpspec-census/tests/test_swap_theorem.py"
        ),
    ),
    Mutant(
        "safetab: a person in more groups than count is counted in all",
        "plugins/dpspec-census/src/dpspec_census/safetab/adaptive.py",
        "if planned.population.most_met() > planned.population.most:",
        "if False:",
        (
            "plugins/dpspec-census/tests/safetab/test_safetab_claims.py "
            "plugins/dpspec-census/tests/safetab/test_adaptive.py"
        ),
    ),
    Mutant(
        "rules: a secondary suppression is taken for one by the rules",
        "plugins/dpspec-disclosure/src/dpspec_disclosure/rules.py",
        'if value is None and (self.columns.secondary or self.kind == "magnitudes"):',
        'if value is None and self.kind == "magnitudes":',
        (
            "plugins/dpspec-disclosure/tests/test_audit.py plugins/dpspec-disclosure/tests/test_rules.py "
            "plugins/dpspec-disclosure/tests/test_suppression_design.py"
        ),
    ),
    Mutant(
        "exposure: exchanges of two records show all that three can do",
        "plugins/dpspec-disclosure/src/dpspec_disclosure/exposure.py",
        "exact = unknown == 2 and not self.margins.partial",
        "exact = not self.margins.partial",
        (
            "plugins/dpspec-disclosure/tests/test_exposure.py "
            "plugins/dpspec-disclosure/tests/test_exposed_records.py plugins/dpspec-disclosure/tests/test_exposure_command.py"
        ),
    ),
    Mutant(
        "evidence: what samples refute is proved",
        "plugins/dpspec-deployments/src/dpspec_deployments/evidence.py",
        '    if verdict.method == "sampled":\n        whole = False\n',
        "",
        "plugins/dpspec-deployments/tests/test_deployments.py plugins/dpspec-deployments/tests/test_certificate.py",
    ),
    Mutant(
        "evidence: a proof with one step rechecked holds",
        "plugins/dpspec-deployments/src/dpspec_deployments/evidence.py",
        "True if again == len(steps) else None",
        "True if again else None",
        "plugins/dpspec-deployments/tests/test_deployments.py plugins/dpspec-deployments/tests/test_certificate.py",
    ),
    Mutant(
        "accuracy: margins of all numbers hold although some are not known",
        "plugins/dpspec-release/src/dpspec_release/accuracy.py",
        "return None if self.unknown else joint_coverage([(one.coverage_of_all,",
        "return joint_coverage([(one.coverage_of_all,",
        "plugins/dpspec-release/tests/test_accuracy.py plugins/dpspec-release/tests/test_margins_cover.py",
    ),
    Mutant(
        "release: under a refuted claim with --unverified",
        "plugins/dpspec-release/src/dpspec_release/draw.py",
        "if judged.is_false:",
        "if judged.is_false and not options.unverified:",
        (
            "plugins/dpspec-release/tests/test_command.py plugins/dpspec-release/tests/test_draw.py "
            "plugins/dpspec-release/tests/test_guard.py tests/cli/test_words.py"
        ),
    ),
    Mutant(
        "release: records in batches may change places",
        "plugins/dpspec-release/src/dpspec_release/kept.py",
        "        if self.kept.in_order:\n            columns.insert(",
        "        if False:\n            columns.insert(",
        (
            "plugins/dpspec-release/tests/test_streams.py plugins/dpspec-release/tests/test_keys.py "
            "plugins/dpspec-release/tests/test_draw.py plugins/dpspec-release/tests/test_sorted_release.py"
        ),
    ),
    Mutant(
        "plain code: a function that keeps a state is refuted by its counts",
        "plugins/dpspec-code/src/dpspec_code/sampled/engine.py",
        "if state is not None and (winner is not None or any(",
        "if state is not None and (winner is None and any(",
        (
            "plugins/dpspec-code/tests/attacks/test_plain_code.py plugins/dpspec-code/tests/sampled/test_faults.py "
            "plugins/dpspec-code/tests/sampled/test_engine.py plugins/dpspec-code/tests/sampled/test_false_alarms.py"
        ),
    ),
    Mutant(
        "plain code: a drawn whole number is never a written one",
        "plugins/dpspec-code/src/dpspec_code/automatic/coupling.py",
        "return holes[0] == holes[-1] if len(holes) == 2 else holes[0] in _WHOLE",
        "return holes[0] == holes[-1] if len(holes) == 2 else False",
        (
            "plugins/dpspec-code/tests/attacks/test_choices_of_code.py "
            "plugins/dpspec-code/tests/attacks/test_noise_of_code.py "
            "plugins/dpspec-code/tests/attacks/test_other_noise_of_code.py plugins/dpspec-code/tests/test_sampler.py"
        ),
    ),
    Mutant(
        "crosscheck: a run without time has found nothing",
        "plugins/dpspec-code/src/dpspec_code/crosscheck.py",
        'return "" if self.made >= FEWEST else f"there was no time for more than {count(self.made, \'run\')}"',
        'return ""',
        (
            "plugins/dpspec-code/tests/attacks/test_plain_code.py plugins/dpspec-code/tests/test_limit.py "
            "plugins/dpspec-code/tests/test_sampler.py plugins/dpspec-code/tests/test_case.py "
            "plugins/dpspec-code/tests/test_judge.py"
        ),
    ),
    Mutant(
        "attack: a value whose program did not end is impossible",
        "plugins/dpspec-attackers/src/dpspec_attackers/table_attacks.py",
        "            if found is None:\n                return AttackGuess(best=(), undecided=True)\n",
        "            if found is None:\n                continue\n",
        "plugins/dpspec-attackers/tests/test_experiment.py",
    ),
    Mutant(
        "attack: a target that is undecided is wrong in both worlds",
        "plugins/dpspec-attackers/src/dpspec_attackers/experiment.py",
        "({1}, {0}), ({1, None}, {0, None})",
        "({1}, {0}), ({1}, {0})",
        "plugins/dpspec-attackers/tests/test_experiment.py",
    ),
    Mutant(
        "checker: a space without a largest size keeps within any",
        "plugins/dpspec-checker/src/dpspec_checker/proofs.py",
        "need(most is None or (limit is not None and limit <= most),",
        "need(most is None or limit is None or limit <= most,",
        (
            "plugins/dpspec-checker/tests/test_proofs.py plugins/dpspec-checker/tests/test_statements.py "
            "plugins/dpspec-checker/tests/test_tampered.py"
        ),
    ),
    Mutant(
        "checker: sums that recompute a cell may have another value",
        "plugins/dpspec-checker/src/dpspec_checker/cell_bounds.py",
        "if any(left.values()) or not (value == low == high):",
        "if any(left.values()):",
        (
            "plugins/dpspec-disclosure/tests/test_audit.py plugins/dpspec-checker/tests/test_check.py "
            "plugins/dpspec-checker/tests/test_tampered.py"
        ),
    ),
    Mutant(
        "event by event: what is given is rounded down",
        "dpspec/reason/event_by_event.py",
        "bound = bracket.upper if up else bracket.lower",
        "bound = bracket.lower",
        "tests/compare/test_event_by_event.py",
    ),
    Mutant(
        "event by event: a symmetric divergence bounds one order of a pair",
        "dpspec/reason/event_by_event.py",
        "for ordered in (pair, pair[::-1]) if divergence.is_symmetric else (pair,):",
        "for ordered in (pair,):",
        "tests/compare/test_event_by_event.py",
    ),
    Mutant(
        "pair by pair: what is granted is rounded down",
        "dpspec/reason/pair_by_pair.py",
        "bracket.upper if paths else bracket.lower for",
        "bracket.lower for",
        "tests/compare/test_pair_by_pair.py",
    ),
    Mutant(
        "pair by pair: a bound on one order is one on the other",
        "dpspec/reason/pair_by_pair.py",
        "both = spec.output_divergence.is_symmetric or spec.input_divergence.is_symmetric",
        "both = True",
        "tests/compare/test_pair_by_pair.py",
    ),
    Mutant(
        "small spaces: a dataset has the largest budget of its universes",
        "dpspec/reason/small_spaces.py",
        "return min(map(spec.bound, held), default=INFINITY)",
        "return max(map(spec.bound, held), default=INFINITY)",
        "tests/compare/test_small_spaces.py",
    ),
    Mutant(
        "small spaces: a pair has the largest budget of its universes",
        "dpspec/reason/small_spaces.py",
        "value = min(spec.bound(",
        "value = max(spec.bound(",
        "tests/compare/test_small_spaces.py",
    ),
    Mutant(
        "conversions: laws at distance 0 may differ",
        "dpspec/grammar/rule.py",
        "        whole = whole and source.separates_laws()  # different datasets may be at distance 0\n",
        "",
        "tests/unit/test_rule.py",
    ),
    Mutant(
        "conversions: a budget at a distance is that of one unit",
        "dpspec/grammar/rule.py",
        "scaled = value if apart == 1 else source",
        "scaled = value if True else source",
        "tests/unit/test_rule.py",
    ),
    Mutant(
        "conversions: a formula is tried on laws that are within the budget one way",
        "dpspec/grammar/rule.py",
        "if max(both) <= constant:",
        "if min(both) <= constant:",
        "tests/unit/test_rule.py",
    ),
    Mutant(
        "claims of all mechanisms: the least distance does not count",
        "dpspec/grammar/spec.py",
        "allowed = bound * least",
        "allowed = bound",
        "tests/unit/test_spec.py",
    ),
    Mutant(
        "claims of all mechanisms: one bound of an event is enough",
        "dpspec/grammar/spec.py",
        "events is not None and all(",
        "events is not None and any(",
        "tests/unit/test_spec.py",
    ),
    Mutant(
        "open budgets: the least number is the lower bound although an upper one is published",
        "dpspec/blocks/budget.py",
        "return self.at_least if self.at_most is None else self.at_most",
        "return self.at_most if self.at_least is None else self.at_least",
        "tests/unit/test_spec.py",
    ),
    Mutant(
        "products: a promise to a share of the units is separated",
        "dpspec/comparison/compare.py",
        "if goal.share is not None or separating",
        "if separating",
        "tests/compare/test_compare.py",
    ),
    Mutant(
        "products: a promise that a party sees does not constrain the release",
        "dpspec/comparison/compare.py",
        "if covered.may_constrain(goal)]",
        "if covered.includes(goal)]",
        "tests/compare/test_compare.py",
    ),
    Mutant(
        "theorems: one about another distance proves a claim",
        "dpspec/verifier/proof.py",
        "if (found.input_divergence, found.output_divergence) != (spec.input_divergence, spec.output_divergence):",
        "if found.output_divergence != spec.output_divergence:",
        "tests/verify/test_proof.py",
    ),
    Mutant(
        "theorems: a pair that is never compared shows something",
        "dpspec/verifier/proof.py",
        "compared = shown is not None and not all(result.is_vacuous for result in shown.universes)",
        "compared = shown is not None",
        "tests/verify/test_proof.py",
    ),
    Mutant(
        "proofs: a pair has the largest budget of its universes",
        "dpspec/verifier/proof.py",
        "return min(bound for _, bound in self._bounds(found))",
        "return max(bound for _, bound in self._bounds(found))",
        "tests/verify/test_proof.py",
    ),
    Mutant(
        "pairs: laws for some numbers of records are compared without the others",
        "dpspec/verifier/lower_bound.py",
        "if self.sensitivity.sizes and self.structure.publishes_views:",
        "if False:",
        "tests/verify/test_lower_bound.py",
    ),
    Mutant(
        "pairs: one order is enough where one of the two is symmetric",
        "dpspec/verifier/lower_bound.py",
        "self.spec.output_divergence.is_symmetric and self.spec.input_divergence.is_symmetric",
        "self.spec.output_divergence.is_symmetric or self.spec.input_divergence.is_symmetric",
        "tests/verify/test_lower_bound.py",
    ),
    Mutant(
        "miniatures: they hold beside a proof that did not decide",
        "dpspec/verifier/obligations.py",
        "proved = found.outcome is Outcome.VERIFIED and small.word is Word.MINIATURE",
        "proved = small.word is Word.MINIATURE",
        "tests/verify/test_obligations.py",
    ),
    Mutant(
        "laminar parts: a condition with two categories fixes an attribute",
        "dpspec/verifier/laminar.py",
        "if len(categories) == 1}",
        "if categories}",
        "tests/verify/test_laminar.py",
    ),
    Mutant(
        "pairs: a record that is replaced among many is one more",
        "dpspec/verifier/lower_bound.py",
        "largest, most = least + 1 - gone.total(), sizes_of",
        "largest, most = least + 1, sizes_of",
        "tests/verify/test_lower_bound.py",
    ),
    Mutant(
        "members: as many as lie in one cell",
        "dpspec/verifier/members.py",
        "limits = [in_cell * own]",
        "limits = [in_cell]",
        "tests/verify/test_members.py",
    ),
    Mutant(
        "cells: mass that may be singular is not possible",
        "dpspec/laws/dichotomy.py",
        "possible += cell.p if cell.high == arb.pos_inf() else 0",
        "possible += cell.p if cell.is_singular else 0",
        "tests/laws/test_dichotomy.py",
    ),
    Mutant(
        "sums of brackets: the lower end is rounded up",
        "dpspec/laws/dichotomy.py",
        "lower=number(sum((rational_end(term.lower, -1)",
        "lower=number(sum((rational_end(term.lower, 1)",
        "tests/laws/test_dichotomy.py",
    ),
    Mutant(
        "members: what stays a member stays where the household is counted no more",
        "dpspec/verifier/members.py",
        "        if kept and inside[0] and inside[1]:\n",
        "        if kept:\n",
        "tests/verify/test_members.py",
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


def put(path: Path, text: str) -> None:
    """Replace a text. It is dated a second later than the last one: bytecode is recognised by the second and by the length."""
    later = path.stat().st_mtime + 1
    path.write_text(text, encoding="utf-8")
    os.utime(path, (later, later))


def seen(mutant: Mutant, folder: Path, options: list[str], *, near_only: bool) -> str | None:
    """The test that fails with the mistake and passes without it; None when there is none."""
    path, near = folder / mutant.file, mutant.near.split()
    right = path.read_text(encoding="utf-8")
    others = {} if near_only else {"others": [f"--ignore={place}" for place in [*near, PLACES]]}
    for which, places in {"near": near, **others}.items():
        passed_over: list[str] = []
        while True:
            put(path, right.replace(mutant.old, mutant.new))
            try:
                found = failures(folder, PATIENCE[which], "-x", *options, *passed_over, *places)
            finally:
                put(path, right)
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

"""TopDown against swapping for the 2020 Census, computed from the specification files and printed as a page:

    python -m reproductions.topdown_vs_swapping > docs/topdown-vs-swapping.md

Every number on the page comes from a comparison, a yardstick or a ledger of this run (Bailie, Gong, Meng and Drechsler 2024;
Bailie, Gong and Meng 2023).

It consists of the setting, each scheme, a telling pair, the arguments that separate them, and every derivation.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import cast

import attrs
import click
from dpspec_census.swap_budget import SwappingBudget
from dpspec_checker.check import check_derivation

from dpspec.api import compare, find_yardsticks, read
from dpspec.base.errors import IncompatibleBlocksError
from dpspec.base.exact import Number, rounded_up
from dpspec.base.params import evolve
from dpspec.base.words import Word
from dpspec.blocks.parts import Membership, own_attributes, wording_of
from dpspec.blocks.space import Dataset, DatasetSpace
from dpspec.comparison.compare import Answer, Comparison, Implication
from dpspec.comparison.composition import Composition, Part, compose
from dpspec.comparison.yardstick import Attack, Yardstick, YardstickSide, attacks
from dpspec.extension import installed
from dpspec.grammar.spec import PrivacySpec
from dpspec.report.comparison import claim_status


@attrs.frozen(kw_only=True)
class Setting:
    """What is assumed and chosen: the largest household, in persons, and the delta of approximate privacy."""

    largest_household: int
    delta: str


@attrs.frozen(kw_only=True)
class Scheme:
    """One swapping scheme against TopDown.

    Args:
        name: of the scheme.
        match: the attributes that form its strata.
        swaps: its specification at swap rates 5 % and 50 %.
        comparison: TopDown (left) with it at 5 % (right).
        yardsticks: of TopDown as stated with it, at 5 % and 50 %.
        parts: TopDown added up part by part, per household.
        by_parts: of that with the scheme at 5 %.
        accepted: of each common yardstick at 5 %, whether the checker accepts both derivations.
        verified: the verified claim of TopDown for persons (left) with that of the scheme by universe, each with its mechanism.
    """

    name: str
    match: tuple[str, ...]
    swaps: tuple[PrivacySpec, ...]
    comparison: Comparison
    yardsticks: tuple[tuple[Yardstick, ...], ...]
    parts: Composition
    by_parts: tuple[Yardstick, ...]
    accepted: tuple[bool, ...]
    verified: Comparison

    @property
    def common(self) -> tuple[Yardstick, ...]:
        """The common yardsticks at swap rate 5 %."""
        return tuple(one for one in self.yardsticks[0] if one.is_common)

    def per_household(self, place: int = 0) -> Yardstick:
        """The yardstick on all distances, in the output divergence of TopDown, at one of the two rates."""
        return self._of(self.yardsticks[place], neighbours=False)

    def per_household_by_parts(self) -> Yardstick:
        return self._of(self.by_parts, neighbours=False)

    def exchanged(self) -> tuple[Yardstick, Yardstick]:
        """On neighbours: in the output divergence of TopDown, and in the one that is neither's own."""
        near = [one for one in self.common if one.spec.input_divergence.is_neighbour_form]
        own = (self.comparison.left.output_divergence, self.comparison.right.output_divergence)
        return self._of(self.common, neighbours=True), next(one for one in near if one.spec.output_divergence not in own)

    def _of(self, found: tuple[Yardstick, ...], *, neighbours: bool) -> Yardstick:
        standard = self.comparison.left.output_divergence
        common = (one for one in found if one.is_common and one.spec.output_divergence == standard)
        return next(one for one in common if one.spec.input_divergence.is_neighbour_form == neighbours)


@attrs.frozen(kw_only=True)
class SchemePair:
    """Two datasets in words, whether they share a universe of the swap, and how far apart they are."""

    words: tuple[str, str]
    together: bool
    households: Number
    persons: Number


def in_words(value: Number | None) -> str:
    """A number with two decimals, or as the whole number that it is.

    >>> from dpspec import ln, number
    >>> in_words(number(1529)), in_words(ln(3))
    ('1,529', '1.10')
    """
    if value is None:
        return "none"
    whole = not value.is_infinite and value.is_rational and value.as_fraction().denominator == 1
    return f"{float(value):,.0f}" if whole else f"{float(value):,.2f}"


# --- the arguments --------------------------------------------------------------------------------


def separations(schemes: Sequence[Scheme]) -> Iterator[str]:
    """Mechanisms that satisfy one promise and violate the other, by scheme, in both directions."""
    yield "## What separates them"
    yield ""
    yield "Each mechanism satisfies the first promise and violates the second. The engine refutes the second promise on the two"
    yield "datasets x and x', and verifies the first on a small instance. The argument proves the first on every dataset."
    yield ""
    for scheme in schemes:
        yield f"### {scheme.name}"
        yield ""
        yield from _separation("TopDown, not swapping", scheme.comparison, forward=True)
        yield from _separation("Swapping, not TopDown", scheme.comparison, forward=False)
    yield ""


def _separation(words: str, comparison: Comparison, *, forward: bool) -> Iterator[str]:
    way = comparison.forward if forward else comparison.backward
    found = way.separation
    if found is None:
        yield f"**{words}:** {way.answer.value}.\n"
        return
    left, right = wording_of(comparison.right.space).in_words(found.left, found.right)
    checked = f"{found.checks[0]}; {found.checks[1]}"
    rows = (("mechanism", found.mechanism), ("argument", found.argument), ("x", left), ("x'", right), ("engine", checked))
    yield from _table(("", words), rows)



def derivations(schemes: Sequence[Scheme]) -> Iterator[str]:
    """Both sides of every common measure at swap rate 5 %; equal derivations of several schemes are printed once."""
    accepted, asked = sum(sum(scheme.accepted) for scheme in schemes), sum(len(scheme.accepted) for scheme in schemes)
    yield "## Derivations"
    yield ""
    yield "Every step has a citation. `dpspec compare A B --yardstick --format json` prints derivations as data, for files on one"
    yield "space, and `dpspec check-derivation` verifies them. This checker shares no code with the search. Of the derivations on"
    yield f"this page it accepts {2 * accepted} of {2 * asked}."
    found: dict[tuple[str, ...], list[str]] = {}
    for scheme in schemes:
        for one in scheme.common:
            where = f"### For {one.spec.input_divergence.in_words()}, by {one.spec.output_divergence.in_words()}"
            for words, side in (("TopDown", one.left), ("swapping", one.right)):
                found.setdefault((where, words, *_side(side)), []).append(scheme.name)
    headed: dict[str, list[str]] = {}
    for (where, words, *steps), names in found.items():
        held = "all schemes" if len(names) == len(schemes) else ", ".join(names)
        headed.setdefault(where, []).extend([f"* {words}, {held}: {steps[0]}", *steps[1:]])
    for where, lines in headed.items():
        yield from ("", where, "", *lines)
    yield ""


def _side(side: YardstickSide) -> Iterator[str]:
    yield f"{side.derivation.premise.budget.parameter} = {in_words(side.derivation.premise.budget.uniform())} as stated"
    for step in side.derivation.steps:
        budget, constant = step.after.budget, step.parameters.get("constant")
        factor = f", factor {constant}" if constant is not None else ""
        tight = ", tight" if step.rule in side.tight else ""
        yield f"  * `{step.rule}`{factor}{tight}: {budget.parameter} = {in_words(budget.uniform())} [{step.citation}]"


# --- the page -------------------------------------------------------------------------------------


def page(schemes: Sequence[Scheme], pairs: Sequence[SchemePair], setting: Setting) -> str:
    """The whole page."""
    parts = [_answer(schemes, pairs[0], setting), _stated(schemes), _assumed(setting), _per_household(schemes, setting)]
    parts.insert(2, _verified(schemes))
    parts += [_by_parts(schemes[0], setting), _exchanged(schemes, setting), _per_person(schemes[0], pairs), _attackers(schemes)]
    return "\n".join(itertools.chain(*parts, separations(schemes), derivations(schemes)))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _span(values: Iterable[Number | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{in_words(min(known))} to {in_words(max(known))}"


def _answer(schemes: Sequence[Scheme], pair: SchemePair, setting: Setting) -> Iterator[str]:
    firsts = [scheme.per_household() for scheme in schemes]
    ways = [way for scheme in schemes for way in (scheme.comparison.forward, scheme.comparison.backward)]
    separated = sum(way.separation is not None for way in ways)
    topdown, most = schemes[0].comparison.left, setting.largest_household
    rho, parts = in_words(topdown.budget.uniform()), in_words(schemes[0].per_household_by_parts().left.budget)
    epsilons = _span(scheme.swaps[0].budget.uniform() for scheme in schemes)
    swapped, link = _span(one.right.budget for one in firsts), "#common-measure-1-zero-concentrated-privacy-per-household"
    yield f"""# TopDown or swapping for the 2020 Census: which promise is stronger?

`python -m reproductions.topdown_vs_swapping > docs/topdown-vs-swapping.md` generates this page. Its numbers are computed from the
files in `specs/` (sources: Bailie, Gong and Meng 2023; Bailie et al. 2024) and rounded to two decimals. Nothing is measured on
census data.

## The answer

* **Neither promise contains the other.** {len(schemes)} swapping schemes were compared with TopDown in both directions. In
  {separated} of {len(ways)} cases the exact engine confirms a mechanism that satisfies one promise and violates the other
  ([what separates them](#what-separates-them)).
* **The published numbers must not be compared.** TopDown's rho = {rho} is zero-concentrated privacy per person. Swapping's
  epsilon = {epsilons} (swap rate 5 %) is pure privacy per household, and swapping publishes more facts exactly.
* **The same is true of verified claims.** {_verified_in_short(schemes)}
  ([verified claims](#verified-claims-and-mechanisms)).
* **In one common unit both have upper bounds, and no order follows from them.** Consider the datasets that agree on everything
  that swapping publishes exactly. Among these, both promises imply zero-concentrated privacy *per household*. If no household
  has more than N = {most} persons, rho = {in_words(firsts[0].left.budget)} follows from TopDown's and rho =
  {swapped} from swapping's ([common measure 1]({link})).
  These are the numbers that the known rules derive, and not the least numbers that hold. So a larger upper bound is no
  weaker promise.
* **That unit does not show the difference between them.** Swapping publishes exactly how many households of each composition a
  stratum has, and promises nothing about it. TopDown protects this number with noise. No budget shows this.
* **Per person** TopDown states rho = {rho}. Swapping has no finite budget per person: it allows a mechanism that
  distinguishes two datasets at person distance {pair.persons} ([per person](#per-person)).
* **Neither number stops one attacker**, who tests whether two given households have exchanged their places
  ([one attacker](#one-attacker)).
* **TopDown's number is the stated one.** As stated, per person, it is refuted for the mechanism, because person records do
  not determine which housing units are vacant. Persons and housing units can instead be added up, each in their own unit. In
  this way the four files spend rho = {parts} per household under the same assumption ([TopDown by parts](#topdown-by-parts)).
"""


def _stated(schemes: Sequence[Scheme]) -> Iterator[str]:
    topdown = schemes[0].comparison.left
    rho = in_words(topdown.budget.uniform())
    yield f"""## The promises as stated

**TopDown**, P.L. 94-171 and DHC together: rho = {rho} of zero-concentrated privacy for
{topdown.input_divergence.in_words()}, given these facts, published exactly:
"""
    yield from (f"* {invariant}" for invariant in topdown.multiverse.invariants or ())
    yield """
**Swapping**: epsilon of pure privacy for one household replaced by another, given two exact tables of households, strata by
members and strata by place. Strata are the published variables and the kind of unit. Epsilon is that of the swapping theorem for
the algorithm that draws derangements (Bailie, Gong and Meng 2023, swapping theorem), with the published stratum size b.
"""
    head = ("scheme", "strata", "b", "epsilon at 5 %", "epsilon at 50 %", "TopDown implies it", "it implies TopDown")
    yield from _table(head, (_scheme_row(scheme) for scheme in schemes))


def _scheme_row(scheme: Scheme) -> tuple[str, ...]:
    stratum = getattr(scheme.swaps[0].budget, "largest_stratum", 0)
    ways = (scheme.comparison.forward, scheme.comparison.backward)
    answers = ["yes" if way.derivation is not None else "unknown" if way.separation is None else "no" for way in ways]
    return (
        scheme.name,
        " x ".join(scheme.match),
        f"{stratum:,}",
        *(in_words(swap.budget.uniform()) for swap in scheme.swaps),
        *answers,
    )


def _verified_in_short(schemes: Sequence[Scheme]) -> str:
    held = [scheme for scheme in schemes if all(standing.word in _TRUE for _, standing in scheme.verified.about)]
    apart = sum(scheme.verified.relation is Implication.INCOMPARABLE for scheme in held)
    return (
        f"TopDown for persons and swapping by\n  universe are each verified on the whole space in {len(held)} of {len(schemes)} "
        f"schemes. In {apart} of these neither implies the other"
    )


_TRUE = (Word.VERIFIED, Word.DERIVED)


def _verified(schemes: Sequence[Scheme]) -> Iterator[str]:
    """What was checked of the two methods themselves: their claims, and whether one implies the other."""
    (topdown, _), _ = schemes[0].verified.about
    yield f"""## Verified claims and mechanisms

The numbers above are promises as published. The claims below belong to files that name their mechanism, and each is proved on
the whole space. One is `{topdown.id}` (TopDown, per person, inside the universes of its invariants). The others are, for each
scheme, swapping with the budget of the swapping theorem in each universe. `dpspec compare` determines whether every mechanism
that satisfies one promise satisfies the other.
"""
    head = ("scheme", "claim of TopDown", "claim of swapping", "TopDown implies it", "it implies TopDown")
    rows = []
    for scheme in schemes:
        status = [claim_status(standing) for _, standing in scheme.verified.about]
        ways = (scheme.verified.forward, scheme.verified.backward)
        rows.append((scheme.name, *status, *(_ANSWERS[way.answer] for way in ways)))
    yield from _table(head, rows)


_ANSWERS = {Answer.IMPLIES: "yes", Answer.SEPARATED: "no", Answer.UNKNOWN: "unknown"}


def _assumed(setting: Setting) -> Iterator[str]:
    yield f"""## What is assumed

* *Stated largest household: N = {setting.largest_household} persons.* We chose this number, and no source states it. The option
  `--largest-household N` changes it. Both common measures exclude datasets with a larger household. Group quarters are
  households of this space too, and the assumption covers them.
* *One dataset space.* Where a scheme matches on household size, TopDown is restated on the space with that attribute. TopDown
  does not use it. Removing it changes none of its invariants and makes no person distance larger.
* *Swapping's b is that of the 2020 file.* In a universe with a larger stratum the same swap rate gives a larger epsilon.
* *The strongest budget is the least derived one.* The budget of a common measure is the least that the registered rules derive,
  with one step for each block. Some mechanism attains each step that is marked tight. We do not claim that one mechanism
  attains the whole chain.
"""


def _per_household(schemes: Sequence[Scheme], setting: Setting) -> Iterator[str]:
    most = setting.largest_household
    yield f"""## Common measure 1: zero-concentrated privacy per household

The blocks are: datasets whose households have at most {most} persons; the universes of the swap, whose invariants determine
those of TopDown; one household replaced by another; zero-concentrated privacy. All numbers are rho. One household replaced
changes at most N = {most} persons, so TopDown's rho is multiplied by $N^2$. For swapping, pure epsilon implies

$$
\\rho = \\frac{{\\varepsilon}}{{2}} \\tanh \\varepsilon ,
$$

since two different datasets of one universe are at least two households apart. Both promises imply the larger number of a row.
Two upper bounds do not show which of the two methods needs more.
"""
    head = ("scheme", "swapping at 5 %", "swapping at 50 %", "TopDown as stated", "TopDown by parts", "both imply (stated, 5 %)")
    rows = []
    for scheme in schemes:
        first, second, parts = scheme.per_household(0), scheme.per_household(1), scheme.per_household_by_parts()
        numbers = (first.right.budget, second.right.budget, first.left.budget, parts.left.budget, first.spec.budget.uniform())
        rows.append((scheme.name, *map(in_words, numbers)))
    yield from _table(head, rows)


def _by_parts(scheme: Scheme, setting: Setting) -> Iterator[str]:
    yield f"""### TopDown by parts

Each file starts in its own unit and is converted to households of at most {setting.largest_household} persons
inside TopDown's universes. There {scheme.parts.rule} ({scheme.parts.citation}).
"""
    rows = [
        (part.id, in_words(part.spec.budget.uniform()), part.spec.input_divergence.in_words(), in_words(line.amount))
        for line in scheme.parts.lines
        for part in (line.part,)
    ]
    total = in_words(scheme.parts.spec.budget.uniform())
    yield from _table(("file", "rho as stated", "for", "rho per household"), [*rows, ("together", "", "", total)])


def _exchanged(schemes: Sequence[Scheme], setting: Setting) -> Iterator[str]:
    near = schemes[0].exchanged()[0].spec
    yield f"""## Common measure 2: two households exchange their places

Inside the swap's universes no two datasets differ in one household only. In small datasets, the nearest ones are those in which
two households have exchanged their places ({near.input_divergence.in_words()}).
An (epsilon, delta) guarantee follows for such neighbours only; here delta = {setting.delta}.
Swapping's numbers are those of a worst pair, randomised response at 2 epsilon. TopDown's are bounds: rho times $N^2$ and $2^2$,
and epsilon from that rho by the best known formula.
"""
    head = ("scheme", "rho, swapping at 5 %", "rho, TopDown as stated", "epsilon, swapping at 5 %", "epsilon, TopDown as stated")
    rows = []
    for scheme in schemes:
        one, other = scheme.exchanged()
        rows.append((scheme.name, *(in_words(side.budget) for side in (one.right, one.left, other.right, other.left))))
    yield from _table(head, rows)


def _per_person(scheme: Scheme, pairs: Sequence[SchemePair]) -> Iterator[str]:
    topdown, pair, shared = scheme.comparison.left, pairs[0], sum(one.together for one in pairs)
    rho = in_words(topdown.budget.uniform())
    yield f"""## Per person

TopDown states rho = {rho} for {topdown.input_divergence.in_words()}, also in the smaller universes of the swap.

Swapping has no finite budget per person, in any standard that distinguishes equal laws from different ones. The two datasets
below have the same persons at each place and differ in who lives with whom. They share a universe of the swap in {shared} of
{len(pairs)} schemes, at household distance {pair.households} and person distance {pair.persons}. Swapping's promise allows a
mechanism that distinguishes them: randomised response to "is it x?", which spends epsilon on one unit of household distance.
No multiple of a distance 0 covers that. Under TopDown's promise per person, as stated, nothing may depend on who lives with
whom beyond what the persons show.
"""
    yield from _table(("dataset", "households"), zip(("x", "x'"), pair.words, strict=True))


def _attackers(schemes: Sequence[Scheme]) -> Iterator[str]:
    yield """## One attacker

The attacker tests two given datasets of one universe, in which two households have exchanged their places, with 5 % false
alarms. Power is the largest over all mechanisms that satisfy the promise. Odds are those of one dataset against the other.
"""
    rows = []
    for scheme in schemes:
        near = next(pair for pair in attacks(scheme.yardsticks[0]) if pair[0].spec.input_divergence.is_neighbour_form)
        rows.append((scheme.name, *(word for attack in near for word in (_power(attack), _odds(attack)))))
    head = ("scheme", "power, TopDown as stated", "posterior / prior odds", "power, swapping at 5 %", "posterior / prior odds")
    yield from _table(head, rows)


def _power(attack: Attack) -> str:
    if attack.power is None:
        return "not known"
    top = attack.power.upper
    return "no bound below 1 - 10^-6" if float(top) > 1 - 1e-6 else f"at most {rounded_up(top, 6)}"


def _odds(attack: Attack) -> str:
    return "no bound" if attack.loss is None else f"at most e^{rounded_up(attack.loss)}"


# --- the command ----------------------------------------------------------------------------------


TOPDOWN = "topdown-2020-pl-dhc"
VERIFIED = "topdown-2020-pl-persons"
PARTS = ("topdown-2020-pl-persons", "topdown-2020-pl-housing-units", "topdown-2020-dhc-persons", "topdown-2020-dhc-housing-units")
SCHEMES = (
    "state-county", "state-size-county", "county-tract", "county-size-tract", "blockgroup-block", "blockgroup-size-block",
)  # fmt: skip
"""The rows of the table of ways to swap the 2020 Census (Bailie, Gong and Meng 2023), in their order."""
RATES = (Fraction(1, 20), Fraction(1, 2))
LARGEST = 10
"""The default of the largest household: our choice, as in specs/ledger-2020; the sources state none."""


def scheme(name: str, specs: Path, setting: Setting) -> Scheme:
    """One swapping scheme against TopDown: comparison, yardsticks at both swap rates, and TopDown by its parts."""
    swap = read(specs / f"swapping-2020-{name}.dpspec.toml").spec
    topdown = read(specs / f"{TOPDOWN}.dpspec.toml").spec.replace(space=swap.space)
    budget = cast("SwappingBudget", swap.budget)
    swaps = tuple(swap.replace(budget=evolve(budget, swap_rate=rate)) for rate in RATES)
    found = tuple(_yardsticks(topdown, one, setting) for one in swaps)
    parts = together(swap, specs, setting)
    return Scheme(
        name=name,
        match=budget.match,
        swaps=swaps,
        comparison=compare(topdown, swap),
        yardsticks=found,
        parts=parts,
        by_parts=_yardsticks(parts.spec, swap, setting),
        accepted=tuple(_accepted(one) for one in found[0] if one.is_common),
        verified=compare(
            specs / f"{VERIFIED}.dpspec.toml", specs / "swapping-2020" / f"swapping-2020-{name}-by-universe.dpspec.toml"
        ),
    )


def _yardsticks(left: PrivacySpec, right: PrivacySpec, setting: Setting) -> tuple[Yardstick, ...]:
    return find_yardsticks(left, right, largest_household=setting.largest_household, at={"delta": setting.delta})


def _accepted(one: Yardstick) -> bool:
    """Whether the checker, which shares no code with the search, accepts both derivations."""
    return all(check_derivation(proof.data(installed().registry)).accepted for proof in one.proofs())


def together(swap: PrivacySpec, specs: Path, setting: Setting) -> Composition:
    """What the four TopDown releases promise together per household: persons times N, housing units as they are."""
    space = _limited(swap.space, setting)
    parts = [read(specs / f"{name}.dpspec.toml") for name in PARTS]
    stated = [Part(id=part.id, spec=part.spec.replace(space=space)) for part in parts]
    return compose(stated, like=stated[0].spec.replace(input_divergence=swap.input_divergence))


def _limited(space: DatasetSpace, setting: Setting) -> DatasetSpace:
    members = Membership.found_in(space)
    limited = None if members is None else members.with_most("person", "household", setting.largest_household)
    if limited is None:
        raise IncompatibleBlocksError("space", "has no persons in households", "give the files of the census", value=space.name)
    return limited


def exchange(comparison: Comparison) -> SchemePair:
    """Two datasets of one swapping universe with the same persons at each place, living together differently."""
    swap = comparison.right
    place = {a.name: next(a.values()) for a in own_attributes(swap.space, "household")}
    place |= {"size": "2"} if "size" in place else {}

    def household(block: str, *persons: list[str]) -> list[object]:
        return [list({**place, "block": block}.values()), list(persons)]

    one, two = ["0", "0"], ["1", "0"]
    left = [household("0", one, one), household("0", two, two), household("1", one, two), household("1", one, two)]
    right = [household("0", one, two), household("0", one, two), household("1", one, one), household("1", two, two)]
    datasets: tuple[Dataset, Dataset] = (swap.space.dataset(left), swap.space.dataset(right))
    persons = comparison.left.input_divergence
    return SchemePair(
        words=wording_of(swap.space).in_words(*datasets),
        together=swap.multiverse.share_universe(*datasets, swap.space),
        households=swap.input_divergence.distance(*datasets, swap.space),
        persons=persons.distance(*datasets, swap.space),
    )


@click.command()
@click.option("--largest-household", type=click.IntRange(1), default=LARGEST, show_default=True, help="Assumed: no more persons.")
@click.option("--delta", default="1e-10", show_default=True, help="Of approximate privacy, in (0, 1).")
@click.option("--specs", type=click.Path(file_okay=False, path_type=Path), default=Path("specs"), show_default=True,
              help="The directory of the specification files.")  # fmt: skip
def main(largest_household: int, delta: str, specs: Path) -> None:
    """Print the comparison of TopDown with the six swapping schemes of the 2020 Census as a Markdown page."""
    setting = Setting(largest_household=largest_household, delta=delta)
    with click.progressbar(SCHEMES, label="comparing", file=sys.stderr) as names:
        schemes = tuple(scheme(name, specs, setting) for name in names)
    click.echo(page(schemes, [exchange(single.comparison) for single in schemes], setting), nl=False)


if __name__ == "__main__":
    main()

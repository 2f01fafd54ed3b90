"""The text of the comparison of TopDown with swapping, as Markdown; `topdown_vs_swapping` computes what it says."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence

from dpspec.exact import Number
from dpspec.yardstick import Attack, Yardstick, attacks
from dpspec_census.comparison_arguments import derivations, separations
from dpspec_census.comparison_of_schemes import Pair, Scheme, Setting, told


def page(schemes: Sequence[Scheme], pairs: Sequence[Pair], setting: Setting) -> str:
    """The whole page."""
    parts = [_answer(schemes, pairs[0], setting), _stated(schemes), _assumed(setting), _per_household(schemes, setting)]
    parts += [_by_parts(schemes[0], setting), _exchanged(schemes, setting), _per_person(schemes[0], pairs), _attackers(schemes)]
    return "\n".join(itertools.chain(*parts, separations(schemes), derivations(schemes)))


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    yield from (f"| {' | '.join(row)} |" for row in rows)
    yield ""


def _span(values: Iterable[Number | None]) -> str:
    known = [value for value in values if value is not None]
    return f"{told(min(known))} to {told(max(known))}"


def _break_even(one: Yardstick) -> int:
    """The largest N at which TopDown's stated rho per household, rho N^2, is at most that of the swap."""
    rho, swap = one.left.derivation.premise.budget.uniform(), one.right.budget
    if rho is None or swap is None:
        raise ValueError("both budgets are single numbers in the files of the 2020 Census")
    return next(n for n in itertools.count() if rho * (n + 1) ** 2 > swap)


def _answer(schemes: Sequence[Scheme], pair: Pair, setting: Setting) -> Iterator[str]:
    firsts = [scheme.per_household() for scheme in schemes]
    ways = [way for scheme in schemes for way in (scheme.comparison.forward, scheme.comparison.backward)]
    separated, evens = sum(way.separation is not None for way in ways), [_break_even(one) for one in firsts]
    topdown, most = schemes[0].comparison.left, setting.largest_household
    rho, parts = told(topdown.budget.uniform()), told(schemes[0].per_household_by_parts().left.budget)
    epsilons = _span(scheme.swaps[0].budget.uniform() for scheme in schemes)
    swapped, link = _span(one.right.budget for one in firsts), "#yardstick-1-zero-concentrated-privacy-per-household"
    yield f"""# TopDown or swapping for the 2020 Census: which promise is stronger?

This page is what `python -m dpspec_census.topdown_vs_swapping > docs/topdown-vs-swapping.md` prints. Its numbers are computed
from the files in `specs/` (sources: B-N1 to B-N3, B-T10, B-T11, B-T13) and rounded to two decimals; nothing is measured on
census data.

## The answer

* **Neither promise contains the other.** The question was asked of {len(schemes)} swapping schemes, in both directions. In
  {separated} of {len(ways)} cases there is a mechanism that keeps the one promise and breaks the other, run by the exact engine
  ([what separates them](#what-separates-them)).
* **The printed numbers must not be compared.** TopDown's rho = {rho} is zero-concentrated privacy per person. Swapping's epsilon
  = {epsilons} (swap rate 5 %) is pure privacy per household, given more facts that are published exactly.
* **In one common unit the order depends on the size of households.** Among datasets that agree on all that swapping publishes
  exactly, both promises imply zero-concentrated privacy *per household*. Assuming that no household has more than
  N = {most} persons, what is derived is rho = {told(firsts[0].left.budget)} from TopDown's and rho =
  {swapped} from swapping's ([yardstick 1]({link})).
  TopDown's is the smaller one {_up_to(evens)}. These are upper bounds
  by the known rules, not the least numbers that hold.
* **That unit leaves out what separates them.** Swapping publishes exactly how many households of each composition a stratum has
  and promises nothing about it; TopDown covers it with noise. No budget shows this.
* **Per person** TopDown states rho = {rho}; swapping has no finite budget: it allows two datasets at person distance
  {pair.persons} to be told apart ([per person](#per-person)).
* **Neither number stops one attacker** who tests whether two given households have exchanged their places
  ([one attacker](#one-attacker)).
* **TopDown's number is the stated one.** As stated, per person, it is refuted for the mechanism, because person records do
  not tell which housing units are vacant (B-X6). Added up part by part, persons and housing units each in their own unit, the
  four files spend rho = {parts} per household under the same assumption ([TopDown by parts](#topdown-by-parts)).
"""


def _stated(schemes: Sequence[Scheme]) -> Iterator[str]:
    topdown = schemes[0].comparison.left
    rho = told(topdown.budget.uniform())
    yield f"""## The promises as stated

**TopDown**, P.L. 94-171 and DHC together: rho = {rho} of zero-concentrated privacy (`d-nor`), per unit of
`{topdown.input_divergence}`, given these facts, published exactly:
"""
    yield from (f"* {invariant}" for invariant in topdown.multiverse.invariants or ())
    yield """
**Swapping**: epsilon of pure privacy (`mult`), per unit of `hamming (household)`, given two exact tables of households, strata by
members and strata by place. Strata are the printed variables and the kind of unit; epsilon is that of the swapping theorem
for the algorithm that draws derangements (B-T11), with the stratum size b that is printed.
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
        *(told(swap.budget.uniform()) for swap in scheme.swaps),
        *answers,
    )


def _up_to(evens: Sequence[int]) -> str:
    """For which N, by the largest one of each scheme."""
    if min(evens) == 0:
        return f"for N up to {max(evens)} in some schemes, and for no N in others" if max(evens) else "for no N"
    return f"only for N up to {min(evens)} or {max(evens)}, depending on the scheme"


def _assumed(setting: Setting) -> Iterator[str]:
    yield f"""## What is assumed

* *Stated largest household: N = {setting.largest_household} persons.* Stated means: a parameter of this page
  (`--largest-household N`), our choice and no fact of a source. Datasets with a larger household are left out of both
  yardsticks. Group quarters are households of this space too, and the assumption covers them.
* *One dataset space.* Where a scheme matches on household size, TopDown is restated on the space with that attribute: TopDown
  does not look at it, and forgetting it changes none of its invariants and makes no person distance larger.
* *Swapping's b is that of the 2020 file.* In a universe with a larger stratum the same swap rate gives a larger epsilon (B-S6).
* *Strongest means derived.* A yardstick's budget is the least that the registered rules derive, one step for each block. Steps
  marked tight are attained by some mechanism; that the whole chain is, is not claimed.
"""


def _per_household(schemes: Sequence[Scheme], setting: Setting) -> Iterator[str]:
    most = setting.largest_household
    yield f"""## Yardstick 1: zero-concentrated privacy per household

Blocks: datasets whose households have at most {most} persons; the universes of the swap, whose invariants determine those of
TopDown; `hamming (household)`; `d-nor`. All numbers are rho. One household replaced changes at most N = {most} persons, so
TopDown's rho is multiplied by N^2; pure epsilon implies rho = epsilon tanh(epsilon/2), since distances are whole. Both promises
imply the larger number of a row.
"""
    head = ("scheme", "swapping at 5 %", "swapping at 50 %", "TopDown as stated", "TopDown by parts", "both imply (stated, 5 %)", "TopDown as stated is the smaller one for N up to")  # fmt: skip  # noqa: E501
    rows = []
    for scheme in schemes:
        first, second, parts = scheme.per_household(0), scheme.per_household(1), scheme.per_household_by_parts()
        numbers = (first.right.budget, second.right.budget, first.left.budget, parts.left.budget, first.spec.budget.uniform())
        rows.append((scheme.name, *map(told, numbers), str(_break_even(first) or "none")))
    yield from _table(head, rows)


def _by_parts(scheme: Scheme, setting: Setting) -> Iterator[str]:
    yield f"""### TopDown by parts

Each file in its own unit, led to households of at most {setting.largest_household} persons inside TopDown's universes;
there {scheme.parts.rule} ({scheme.parts.citation}).
"""
    rows = [
        (line.part.id, told(line.part.spec.budget.uniform()), f"`{line.part.spec.input_divergence}`", told(line.amount))
        for line in scheme.parts.lines
    ]
    total = told(scheme.parts.spec.budget.uniform())
    yield from _table(("file", "rho as stated", "per unit of", "rho per household"), [*rows, ("together", "", "", total)])


def _exchanged(schemes: Sequence[Scheme], setting: Setting) -> Iterator[str]:
    near = schemes[0].exchanged()[0].spec
    yield f"""## Yardstick 2: two households exchange their places

Inside the swap's universes no two datasets differ in one household alone (B-S2). The nearest ones that small datasets show
are those in which two households have exchanged their places, `{near.input_divergence}`. An (epsilon, delta) follows
for such neighbours only; here delta = {setting.delta}. Swapping's numbers are those of a worst pair, randomised response at
2 epsilon; TopDown's are bounds: rho times N^2 and 2^2, and epsilon from that rho by the best known formula.
"""
    head = ("scheme", "rho, swapping at 5 %", "rho, TopDown as stated", "epsilon, swapping at 5 %", "epsilon, TopDown as stated")
    rows = []
    for scheme in schemes:
        one, other = scheme.exchanged()
        rows.append((scheme.name, *(told(side.budget) for side in (one.right, one.left, other.right, other.left))))
    yield from _table(head, rows)


def _per_person(scheme: Scheme, pairs: Sequence[Pair]) -> Iterator[str]:
    topdown, pair, shared = scheme.comparison.left, pairs[0], sum(one.together for one in pairs)
    rho = told(topdown.budget.uniform())
    yield f"""## Per person

TopDown states rho = {rho} per unit of `{topdown.input_divergence}`, also in the smaller universes of the swap.

Swapping has no finite budget per person, in any standard that tells equal laws from others. The two datasets below have the
same persons at each place and differ in who lives with whom. They share a universe of the swap in {shared} of {len(pairs)}
schemes, at household distance {pair.households} and person distance {pair.persons}. Swapping's promise allows a mechanism that
tells them apart (randomised response to "is it x?", which spends epsilon on one unit of household distance), and no multiple of
a distance 0 covers that (B-S5). TopDown's promise per person, as stated, lets nothing depend on who lives with whom beyond what
the persons show.
"""
    yield from (f"* {letter} = {words}" for letter, words in zip(("x", "x'"), pair.words, strict=True))
    yield ""


def _attackers(schemes: Sequence[Scheme]) -> Iterator[str]:
    yield """## One attacker

The attacker tests two given datasets of one universe in which two households have exchanged their places, with 5 % false
alarms. Power is the largest over all mechanisms that keep the promise; odds are those of the one dataset against the other.
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
    top = float(attack.power.upper)
    return "no bound below 1 - 10^-6" if top > 1 - 1e-6 else f"at most {top:.6f}"


def _odds(attack: Attack) -> str:
    return "no bound" if attack.loss is None else f"at most e^{told(attack.loss)}"

"""Privacy losses of many releases, against dp-accounting, riskcal and prv_accountant.

Ours is a proved interval; a peer gives a point, which is meant as an upper bound.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

from benchmarks.measure import Line

DELTA = "1e-10"
MANY = 10_000

PERSONS = (104, 1440, 447, 687, 1256, 165)
"""Persons' shares of the levels from the nation to the block, in 4099ths (Kifer et al. 2022, Table 4)."""
HOUSING = tuple(map(Fraction, ("1/205", "1/205", "7/82", "364/1025", "1759/4100", "99/820")))
QUERIES = """0 3773/4097 3126/4097 1567/4102 1705/4099 5/4097
52/4097 6/4097 10/4097 4/2051 3/4099 9/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
130/4097 12/4097 28/4097 1933/4102 1055/4099 21/4097
130/4097 12/4097 28/4097 10/2051 9/4099 21/4097
26/4097 6/4097 10/4097 5/4102 3/4099 5/4097
26/241 2/241 101/4097 67/4102 24/4099 71/4097
189/241 230/4097 754/4097 241/2051 1288/4099 3945/4097"""
"""What each query gets of a level (Kifer et al. 2022, Table 5)."""


def ledger_2020() -> Counter[Fraction]:
    """The rho* of the 71 measurements of the 2020 redistricting file, equal ones counted."""
    rows = [tuple(map(Fraction, row.split())) for row in QUERIES.splitlines()]
    persons = [Fraction("2.56") * Fraction(share, 4099) * row[i] for i, share in enumerate(PERSONS) for row in rows if row[i]]
    return Counter(persons + [Fraction("0.07") * share for share in HOUSING])


def census() -> Any:
    """Two cells change by 1 in each measurement, with sigma^2 = 1/rho*."""
    from dpspec.laws.integers import DiscreteGaussianShift
    from dpspec.laws.loss import compose

    return compose((DiscreteGaussianShift(1, 1 / rho), 2 * count) for rho, count in ledger_2020().items())


def their_census(pld: Any, interval: float) -> Any:
    total = None
    for rho, count in ledger_2020().items():
        one = pld.from_discrete_gaussian_mechanism(math.sqrt(1 / rho), value_discretization_interval=interval)
        power = one.self_compose(2 * count)
        total = power if total is None else total.compose(power)
    return total


def theirs(run: Callable[[Any], object]) -> Callable[[Path, int], object]:
    """A line of dp-accounting."""

    def peer(_: Path, __: int) -> object:
        import logging

        from dp_accounting.pld import privacy_loss_distribution as pld

        logging.disable(logging.WARNING)
        return run(pld)

    return peer


def composed(name: str, what: str, ours: Callable[[int], object], run: Callable[[Any], object] | None, **further: Any) -> Line:
    """A line against dp-accounting."""
    peer = None if run is None else theirs(run)
    return Line(name=name, what=what, work=lambda _, size: ours(size), peer=peer, needs=("dp_accounting",), **further)


# --- the lines -----------------------------------------------------------------------------------


def gaussians(size: int) -> object:
    """sigma^2 = 40,000 + 7 i: exact, since mu^2 adds."""
    from dpspec.base.exact import number
    from dpspec.laws.continuous import GaussianShift
    from dpspec.laws.loss import compose

    return compose((GaussianShift(number(Fraction(1, 40_000 + 7 * i))), 1) for i in range(size)).epsilon_at(DELTA)


def their_gaussians(pld: Any) -> object:
    total = pld.from_gaussian_mechanism(math.sqrt(40_000))
    for i in range(1, MANY):
        total = total.compose(pld.from_gaussian_mechanism(math.sqrt(40_000 + 7 * i)))
    return total.get_epsilon_for_delta(1e-10)


def different(size: int) -> object:
    """Discrete Gaussians of `size` different scales."""
    from dpspec.laws.integers import DiscreteGaussianShift
    from dpspec.laws.loss import compose

    return compose((DiscreteGaussianShift(1, Fraction(400 + 7 * i)), 1) for i in range(size)).epsilon_at("1e-6")


def their_different(pld: Any) -> object:
    total = pld.from_discrete_gaussian_mechanism(20.0)
    for i in range(1, 100):
        total = total.compose(pld.from_discrete_gaussian_mechanism(math.sqrt(400 + 7 * i)))
    return total.get_epsilon_for_delta(1e-6)


def one_discrete(sigma: int) -> Line:
    def ours(_: int) -> object:
        from dpspec.laws.integers import DiscreteGaussianShift

        return DiscreteGaussianShift(1, Fraction(sigma**2)).epsilon_at("1e-6")

    def run(pld: Any) -> object:
        return pld.from_discrete_gaussian_mechanism(sigma).get_epsilon_for_delta(1e-6)

    what = f"epsilon at 1e-6 of one discrete Gaussian, sigma = {sigma}"
    return composed(f"discrete-gaussian-{sigma}", what, ours, run, counted=(1,), goal_of_peer=0.1, is_quick=sigma == 10)


def curve(_: int) -> object:
    pair = census()
    return [pair.hockey_stick(Fraction(i, 2)) for i in range(1, 41)]


def laplace(size: int) -> object:
    """Laplace noise of scale 100, so many times."""
    from dpspec.base.exact import number
    from dpspec.laws.continuous import LaplaceShift
    from dpspec.laws.loss import compose

    return compose([(LaplaceShift(number(Fraction(1, 100))), size)]).epsilon_at(DELTA)


def response(size: int) -> object:
    """Randomised response with the truth told in 201 of 400 answers, so many times."""
    from dpspec.laws.atoms import FiniteDichotomy
    from dpspec.laws.loss import compose

    return compose([(FiniteDichotomy((1005, 995), (995, 1005), 2000, 2000), size)]).epsilon_at(DELTA)


# --- training runs -------------------------------------------------------------------------------

PEER_WIDTH = 1e-3
"""The peer's error of epsilon, either way: ours is 4e-5 from end to end, for which the peer needs minutes."""


def training(steps: int) -> object:
    """Both orders of Gaussian noise of sigma 4 on samples of rate 1/100, so many steps: epsilon at 1e-5."""
    from dpspec.base.exact import number
    from dpspec.laws.continuous import GaussianShift
    from dpspec.laws.loss import compose
    from dpspec.laws.samples import sampled

    step = sampled(GaussianShift(number("1/16")), Fraction(1, 100))
    return [compose([(pair, steps)]).epsilon_at("1e-5") for pair in (step, step.reverse())]


def their_training(_: Path, steps: int) -> object:
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    step = PoissonSubsampledGaussianMechanism(noise_multiplier=4, sampling_probability=0.01)
    accountant = PRVAccountant(prvs=[step], max_self_compositions=[steps], eps_error=PEER_WIDTH, delta_error=1e-8)
    return accountant.compute_epsilon(delta=1e-5, num_self_compositions=[steps])


# --- what the best test at level 5 % reaches -----------------------------------------------------


def pairs() -> Iterator[tuple[str, str, Callable[[], Any], Callable[[Any], object]]]:
    """Names, releases, their pairs of laws, and the losses that the peer discretises."""

    def gaussian() -> Any:
        from dpspec.base.exact import number
        from dpspec.laws.continuous import GaussianShift

        return GaussianShift(number(1))

    def discrete() -> Any:
        from dpspec.laws.integers import DiscreteGaussianShift
        from dpspec.laws.products import power

        return power(DiscreteGaussianShift(1, Fraction(25)), 50)

    def noisy() -> Any:
        from dpspec.base.exact import number
        from dpspec.laws.continuous import LaplaceShift
        from dpspec.laws.products import power

        return power(LaplaceShift(number("1/10")), 100)

    def answers() -> Any:
        from dpspec.laws.atoms import FiniteDichotomy

        near = tuple(math.comb(100, k) * 11**k * 10 ** (100 - k) for k in range(101))
        return FiniteDichotomy(near, near[::-1], 21**100, 21**100)

    yield "gaussian", "a Gaussian, mu = 1", gaussian, lambda _: None
    yield "discrete", "50 discrete Gaussians, sigma = 5", discrete, lambda pld: pld.from_discrete_gaussian_mechanism(5.0).self_compose(50)
    yield "laplace", "100 Laplace releases, scale 10", noisy, lambda pld: pld.from_laplace_mechanism(10.0).self_compose(100)
    yield (
        "responses", "100 randomised responses, odds 11 to 10", answers,
        lambda pld: pld.from_randomized_response(20 / 21, 2).self_compose(100),
    )  # fmt: skip


def tests() -> Iterator[Line]:
    for name, what, pair, losses in pairs():

        def power(_: Path, __: int, pair: Callable[[], Any] = pair) -> object:
            from dpspec.laws.trade_off import largest_power

            return largest_power(pair(), Fraction(1, 20))

        def advantage(_: Path, __: int, pair: Callable[[], Any] = pair) -> object:
            return pair().total_variation()

        def peer(_: Path, __: int, losses: Callable[[Any], Any] = losses, *, of_power: bool = True) -> object:
            from dp_accounting.pld import privacy_loss_distribution as pld
            from riskcal import analysis

            lost = losses(pld)
            if of_power:
                return analysis.get_beta_from_gdp(1.0, 0.05) if lost is None else analysis.get_beta_from_pld(lost, alpha=0.05)
            return analysis.get_advantage_from_gdp(1.0) if lost is None else analysis.get_advantage_from_pld(lost)

        def peer_of_advantage(folder: Path, size: int, peer: Callable[..., object] = peer) -> object:
            return peer(folder, size, of_power=False)

        same: dict[str, Any] = {"needs": ("riskcal", "dp_accounting"), "counted": (1,)}
        yield Line(name=f"power-{name}", what=f"power at 5 %: {what}", work=power, peer=peer, goal_of_peer=0.1, **same)
        yield Line(name=f"advantage-{name}", what=f"advantage: {what}", work=advantage, peer=peer_of_advantage, **same)


LINES = (
    composed(
        "gaussians", "10,000 different Gaussians", gaussians, their_gaussians, sizes=(1250, 2500, 5000, MANY),
        counted=(1250, 2500, 5000, MANY), goal=0.05, bound=1.1, repeats=1,
    ),
    composed(
        "different-mechanisms", "epsilon at 1e-6 of 100 different discrete Gaussians", different, their_different, sizes=(100,),
        counted=(5, 10, 20, 40), goal=0.05, is_quick=True,
    ),
    *map(one_discrete, (1, 10, 100)),
    composed(
        "census-ledger", "epsilon of the 71 measurements of 2020", lambda _: census().epsilon_at(DELTA),
        lambda pld: their_census(pld, 1e-4).get_epsilon_for_delta(1e-10), counted=(1,), goal=0.02, is_quick=True,
    ),
    composed(
        "census-curve", "their delta at 40 values of epsilon", curve,
        lambda pld: their_census(pld, 1e-3).get_delta_for_epsilon([i / 2 for i in range(1, 41)]), counted=(1,), goal=0.05,
    ),
    composed(
        "laplace-10000", "epsilon of Laplace noise 10,000 times", laplace,
        lambda pld: pld.from_laplace_mechanism(100).self_compose(MANY).get_epsilon_for_delta(1e-10), sizes=(1250, 2500, 5000, MANY),
        counted=(1250, 2500, 5000, MANY), goal=0.015, bound=1.1,
    ),
    composed(
        "responses-10000", "epsilon of randomised response 10,000 times", response,
        lambda pld: pld.from_randomized_response(0.995, 2).self_compose(MANY).get_epsilon_for_delta(1e-10), sizes=(MANY,),
        counted=(MANY,),
    ),
    Line(
        name="training-10000", what="epsilon of 10,000 sampled steps, both orders; the peer at 50 times the width",
        work=lambda _, size: training(size), peer=their_training, needs=("prv_accountant",), sizes=(1250, 2500, 5000, MANY),
        counted=(1250, 2500, 5000, MANY), goal=1, goal_of_peer=0.1, bound=1.1,
    ),
    Line(
        name="training-million", what="epsilon of a million sampled steps, both orders", work=lambda _, size: training(size),
        sizes=(1_000_000,), counted=(1_000_000,), goal=2,
    ),
    *tests(),
)  # fmt: skip
